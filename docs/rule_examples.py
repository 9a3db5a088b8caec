"""Looks at the examples of an explanation as their users would: in files of a directory of their own."""

from __future__ import annotations

import importlib
import io
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from pathlib import Path

from orchestrator.cli.verifying import Bounds, verify_paths
from orchestrator.definition.explanations import Example
from orchestrator.definition.finders import finders
from orchestrator.definition.problem import Problem
from orchestrator.lint.runner import lint_paths
from orchestrator.simulate.rehearsal import read_rehearsals


@contextmanager
def laid_out(example: Example) -> Iterator[None]:
    """The working directory has the example's files; modules among them are forgotten afterwards."""
    modules = [name.removesuffix(".py") for name in example.files if name.endswith(".py")]
    before = sys.dont_write_bytecode
    with tempfile.TemporaryDirectory() as directory, chdir(directory):
        for name in example.files:
            Path(name).write_bytes(example.content(name))
        sys.dont_write_bytecode = True
        sys.path.insert(0, directory)
        importlib.invalidate_caches()
        try:
            yield
        finally:
            sys.path.remove(directory)
            sys.dont_write_bytecode = before
            for module in modules:
                sys.modules.pop(module, None)


def look_at(code: str, example: Example) -> list[Problem]:
    """What is found in the example of a code. To be called where it is `laid_out`."""
    if example.name.endswith(".rehearsal.yaml"):
        return list(read_rehearsals(Path(example.name)).problems)
    if finders(code) == {"verifier"}:
        return _verify(example)
    with redirect_stdout(io.StringIO()):  # modules of an example may print as they are imported
        return lint_paths([Path()], has_handlers=any(name.endswith(".py") for name in example.files))


def _verify(example: Example) -> list[Problem]:
    return verify_paths([example.name], Bounds()).problems()
