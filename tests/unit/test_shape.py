"""The house stays easy to see: small files, small functions, plain names, imports that go down only."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "orchestrator").rglob("*.py")) + sorted((ROOT / "handlers").rglob("*.py"))
MAX_FILE_LINES = 450
MAX_FUNCTION_LINES = 50
VAGUE = re.compile(r"Manager|Helper|Util|Base|Impl|Info|Data(?![a-z])")


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def parsed() -> Iterator[tuple[Path, ast.Module]]:
    for path in SOURCES:
        yield path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))


def test_no_file_is_long() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {str(path.relative_to(ROOT)): n for path, n in lengths.items() if n > MAX_FILE_LINES} == {}


def test_no_function_is_long() -> None:
    found = {
        f"{path}:{function.lineno} {function.name}": (function.end_lineno or 0) - function.lineno + 1
        for path, tree in parsed()
        for function in functions(tree)
    }
    assert {where: length for where, length in found.items() if length > MAX_FUNCTION_LINES} == {}


def test_no_class_has_a_vague_name() -> None:
    found = [
        f"{path}:{node.lineno} {node.name}"
        for path, tree in parsed()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and VAGUE.search(node.name)
    ]
    assert found == []


def test_nothing_is_left_to_do() -> None:
    marks = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in SOURCES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if marks.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("library", "homes"),
    [
        ("sqlalchemy", {"store"}),
        ("networkx", {"graph"}),
        ("typer", {"cli"}),
        ("rich", {"cli"}),
        ("pygls", {"lsp"}),
        ("lsprotocol", {"lsp"}),
        ("yaml", {"definition", "cli"}),
        ("opentelemetry", {"engine"}),
        ("cryptography", {"store"}),
    ],
)
def test_a_library_stays_in_its_home(library: str, homes: set[str]) -> None:
    importing = re.compile(rf"^\s*(import|from) {library}\b", re.MULTILINE)
    found = {
        path.relative_to(ROOT / "orchestrator").parts[0]
        for path in (ROOT / "orchestrator").rglob("*.py")
        if importing.search(path.read_text(encoding="utf-8"))
    }
    assert found <= homes


def test_imports_go_down_only() -> None:
    command = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
