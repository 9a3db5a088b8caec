"""Whatever a function looks like, reading it ends, and raises nothing."""

from __future__ import annotations

import argparse
import asyncio.base_events
import dataclasses
import difflib
import heapq
import inspect
import typing
import unittest.case
from collections.abc import Iterator
from types import ModuleType

import pytest

from orchestrator.binding.source.deeds import Act, deeds_of
from orchestrator.binding.source.files import FunctionSource, PythonFiles
from orchestrator.binding.source.patience import stubborn_loops, swallowed_cancels, waiting_loops
from orchestrator.binding.source.returns import returns_of

MODULES = [argparse, asyncio.base_events, dataclasses, difflib, heapq, inspect, typing, unittest.case]
FILES = PythonFiles()


def sources(module: ModuleType) -> Iterator[FunctionSource]:
    classes = [each for each in vars(module).values() if isinstance(each, type)]
    for value in [*vars(module).values(), *(each for kind in classes for each in vars(kind).values())]:
        source = None if isinstance(value, type) else FILES.source_of(value)
        if source is not None:
            yield source


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_functions_of_the_standard_library_are_read(module: ModuleType) -> None:
    read = list(sources(module))
    assert len(read) > 5
    for source in read:
        for name in source.function.__code__.co_varnames[:2]:
            assert {deed.act for deed in deeds_of(source, name, FILES).found} <= set(Act)
        returns = returns_of(source, FILES)
        assert returns.words == returns.waits == []
        found = [*stubborn_loops(source), *waiting_loops(source), *swallowed_cancels(source)]
        assert all(hasattr(node, "lineno") for node in found)


def test_a_file_is_read_once_however_many_functions_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr("orchestrator.binding.source.files._read", read.append)
    files = PythonFiles()
    assert files.source_of(argparse.ArgumentParser.parse_args) is None
    assert files.source_of(argparse.ArgumentParser.error) is None
    assert read == [argparse.__file__]
