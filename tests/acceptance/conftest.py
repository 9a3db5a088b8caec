"""Fixtures of the acceptance tests."""

from __future__ import annotations

from pathlib import Path

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


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.write("flows/hello.flow.yaml", HELLO)
    place.write("flows/ask.flow.yaml", ASK)
    place.write("handlers/__init__.py", "")
    place.write("handlers/hello.py", HELLO_HANDLERS)
    return place
