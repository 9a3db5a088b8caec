"""Fixtures of the acceptance tests."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest

from tests.acceptance.command import Place

HELLO = """\
flow: Hello
description: Greets.
handlers: handlers.hello
input: string
output: string
start: Greet
steps:
  Greet:
    description: Say it.
    execute: {handler: greet, retry: {maximum_attempts: 1}}
    result: {name: greeting, type: string}
    graceful_complete: ${greeting}
"""
HELLO_HANDLERS = """\
def greet(name):
    if name == "nobody":
        raise ValueError("there is nobody to greet")
    print("greeting", name)
    return f"hello {name}"
"""
ASK = """\
flow: Ask
description: Waits for an answer.
input: string
output: string
channels:
  answer: {type: string, external: true}
  inner: string  # lint: ignore[REF006] for tests of what clients may not do
attributes:
  mood: {type: string, initial: calm}
start: Wait
verify: {external: {answer: [1]}}
steps:
  Wait:
    wait_for:
      until: {channel: answer}
    graceful_complete: "${input} ${wait.answer.message} ${attributes.mood}"
"""


def write_flows(place: Place) -> None:
    place.write("flows/hello.flow.yaml", HELLO)
    place.write("flows/ask.flow.yaml", ASK)
    place.write("handlers/__init__.py", "")
    place.write("handlers/hello.py", HELLO_HANDLERS)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    write_flows(place)
    return place


@pytest.fixture(scope="session")
def place_with_runs(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """To be copied."""
    place = Place(tmp_path_factory.mktemp("with_runs"))
    write_flows(place)
    assert place.type("start", "flows/ask.flow.yaml", "--id", "a-1", "--input", '"x"').code == 0
    assert place.type("run", "flows/hello.flow.yaml", "--id", "h-1", "--input", '"Ada"').code == 0
    return place


@pytest.fixture
def begun(place_with_runs: Place, tmp_path: Path) -> Place:
    """With a run `a-1` that waits, and one, `h-1`, that is closed."""
    copytree(place_with_runs.directory, tmp_path, dirs_exist_ok=True)
    return Place(tmp_path)
