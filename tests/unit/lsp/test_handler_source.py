"""Python functions are found by reading, never by importing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from orchestrator.lsp.handler_source import find_handler, find_module, list_functions


@pytest.fixture
def root(tmp_path: Path) -> Path:
    package = tmp_path / "rooms" / "kitchen"
    package.mkdir(parents=True)
    (tmp_path / "rooms" / "hall.py").write_text("import missing_module\n\n\ndef greet(name): ...\n")
    (package / "__init__.py").write_text("raise RuntimeError\n")
    (package / "stove.py").write_text(
        "from x import boil\n\nfry = boil\n\nclass Pan:\n    def cook(self): ...\n"
    )
    (tmp_path / "broken.py").write_text("def f(:\n")
    return tmp_path


def test_a_module_in_a_directory_without_init(root: Path) -> None:
    assert find_module("rooms.hall", [root]) == root / "rooms" / "hall.py"


def test_a_module_in_a_package_that_cannot_be_imported(root: Path) -> None:
    assert find_module("rooms.kitchen.stove", [root]) == root / "rooms" / "kitchen" / "stove.py"
    assert not [name for name in sys.modules if name.startswith("rooms")]


@pytest.mark.parametrize(
    "name", ["nowhere", "rooms.nowhere", "rooms.hall.deeper", "", "rooms..hall", "rooms", "sys"]
)
def test_what_is_no_file_is_no_module(root: Path, name: str) -> None:
    assert find_module(name, [root]) is None


def test_the_first_module_with_the_name_counts(root: Path) -> None:
    found = find_handler("greet", ["rooms.kitchen.stove", "rooms.hall"], [root])
    assert found is not None
    assert (found.file.name, found.line, found.column, found.end_column) == ("hall.py", 4, 5, 10)
    assert found.signature == "def greet(name)"


@pytest.mark.parametrize(("name", "line"), [("boil", 1), ("fry", 3), ("Pan", 5), ("Pan.cook", 6)])
def test_names_that_are_imported_assigned_or_in_a_class(root: Path, name: str, line: int) -> None:
    found = find_handler(f"rooms.kitchen.stove:{name}", [], [root])
    assert found is not None
    assert found.line == line


@pytest.mark.parametrize(
    "name", ["rooms.hall:nobody", "broken:f", "rooms.kitchen.stove:Pan.wash", ":x", "rooms.hall:"]
)
def test_a_function_that_is_not_there(root: Path, name: str) -> None:
    assert find_handler(name, [], [root]) is None


def test_a_change_of_the_file_shows_at_once(root: Path) -> None:
    assert find_module("rooms.new", [root]) is None
    (root / "rooms" / "new.py").write_text("def f(): ...\n\ndef g(): ...\n")
    assert [name for name, _ in list_functions(["rooms.new"], [root])] == ["f", "g"]
