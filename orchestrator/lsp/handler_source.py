"""Where the Python function of a handler stands, found without importing anything."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path


@dataclass(frozen=True)
class FunctionPlace:
    """`line` and columns count from 1; `signature` is the line that begins it."""

    file: Path
    line: int
    column: int
    end_column: int
    signature: str = ""
    description: str = ""


def find_handler(name: str, modules: Sequence[str], directories: Iterable[Path]) -> FunctionPlace | None:
    """`function` in one of the modules, or `module:function`."""
    places = list(directories)
    module, colon, function = name.partition(":")
    for each in [module] if colon else modules:
        found = _find_function(each, function if colon else name, places)
        if found is not None:
            return found
    return None


def find_module(name: str, directories: Iterable[Path]) -> Path | None:
    """Its file. Parent packages are looked at, not run."""
    path: list[str] | None = [str(directory) for directory in directories] + sys.path
    file: str | None = None
    PathFinder.invalidate_caches()
    for part in name.split("."):
        if path is None or not part:
            return None
        try:
            # By its last name alone: a full one would make Python look for the imported parent.
            spec = PathFinder.find_spec(part, path)
        except (ImportError, ValueError, OSError):
            return None
        if spec is None:
            return None
        locations = spec.submodule_search_locations
        path = list(locations) if locations is not None else None
        file = spec.origin
    return Path(file) if file is not None and file.endswith(".py") and Path(file).is_file() else None


def list_functions(
    modules: Sequence[str], directories: Iterable[Path]
) -> Iterator[tuple[str, FunctionPlace]]:
    """The public functions of modules, in order."""
    places = list(directories)
    for module in modules:
        file = find_module(module, places)
        for node in _body(file) if file is not None else ():
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
                assert file is not None
                yield node.name, _place(file, node)


def list_choices(modules: Sequence[str], directories: Iterable[Path]) -> dict[str, FunctionPlace]:
    """The words that the modules give to `choose`, each with where it is first said."""
    places = list(directories)
    found: dict[str, FunctionPlace] = {}
    for module in modules:
        file = find_module(module, places)
        for node in _body(file) if file is not None else ():
            assert file is not None
            for line, column, word in _choices_in(node):
                found.setdefault(word, FunctionPlace(file, line, column + 1, column + 1))
    return found


def _choices_in(node: ast.stmt) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    for each in ast.walk(node):
        match each:
            case ast.Call(
                func=ast.Name(id="choose") | ast.Attribute(attr="choose"),
                args=[ast.Constant(value=str(word)), *_],
            ):
                found.append((each.lineno, each.col_offset, word))
    return sorted(found)


def search_directories(file: Path, roots: Iterable[Path]) -> list[Path]:
    """Where handlers of a flow may be: the project's roots, then the directories above the file."""
    return list(dict.fromkeys([*roots, *file.parents]))


def _find_function(module: str, function: str, directories: list[Path]) -> FunctionPlace | None:
    file = find_module(module, directories)
    if file is None:
        return None
    body: Sequence[ast.stmt] = _body(file)
    found: FunctionPlace | None = None
    for part in function.split("."):
        node = next((each for each in reversed(body) if part in _names_of(each)), None)
        if node is None:
            return None
        found = _place(file, node)
        body = node.body if isinstance(node, ast.ClassDef) else ()
    return found


def _names_of(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.ImportFrom(names=names) | ast.Import(names=names):
            return [alias.asname or alias.name for alias in names]
        case _:
            return []


def _body(file: Path) -> Sequence[ast.stmt]:
    try:
        return ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ()


def _place(file: Path, node: ast.stmt) -> FunctionPlace:
    column = node.col_offset + 1
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return FunctionPlace(file, node.lineno, column, column)
    prefix = "async def " if isinstance(node, ast.AsyncFunctionDef) else "def "
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    signature = f"{prefix}{node.name}({ast.unparse(node.args)}){returns}"
    start = column + len(prefix)
    description = (ast.get_docstring(node) or "").split("\n\n")[0]
    return FunctionPlace(file, node.lineno, start, start + len(node.name), signature, description)
