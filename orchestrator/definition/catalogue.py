"""Definitions from files and directories."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from orchestrator.definition.executable import check_executable as check_executable
from orchestrator.definition.model import Flow
from orchestrator.definition.parse import SIZE_LIMIT
from orchestrator.definition.parse import parse as parse
from orchestrator.definition.presence import as_path, as_paths, is_directory, reason
from orchestrator.definition.problem import LabelledSpan, Problem, Span
from orchestrator.errors import DefinitionInvalid, NotFound, UsageError

SUFFIX = ".flow.yaml"


def load(path: str | Path) -> Flow:
    """The flow of one file; raises DefinitionInvalid with all its problems."""
    flow, problems = read_file(path)
    if flow is None:
        raise DefinitionInvalid(_summarize(problems), tuple(problems))
    return flow


load_flow = load
"""The name that applications use."""


def read_file(path: str | Path, shown_path: str | None = None) -> tuple[Flow | None, list[Problem]]:
    """The flow of one file, or its problems (also those of a file that cannot be read)."""
    place = as_path(path)
    shown = shown_path or str(path)
    try:
        if place.stat().st_size > SIZE_LIMIT:
            return None, [_unreadable(shown, f"the file has more than {SIZE_LIMIT} bytes", "YML011")]
        raw = place.read_bytes()
    except (OSError, ValueError) as error:
        return None, [_unreadable(shown, f"the file cannot be read: {reason(error)}")]
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        start = raw.rfind(b"\n", 0, error.start) + 1
        column = len(raw[start : error.start].decode("utf-8", "replace")) + 1
        problem = Problem(
            "YML013",
            "this is not UTF-8",
            shown,
            Span(line, column, line, column + 1),
            help="save the file as UTF-8",
        )
        return None, [problem]
    return parse(text, shown)


def find_files(paths: Iterable[str | Path]) -> list[Path]:
    """Files as given, one or several, and every `*.flow.yaml` under directories, in a fixed order, each once.

    Hidden directories below them (`.venv`, `.git`) are passed over.
    """
    found: dict[Path, None] = {}
    for path in as_paths(paths):
        if is_directory(path):
            found.update(dict.fromkeys(_files_under(path)))
        else:
            found[path] = None
    return list(found)


def _files_under(directory: Path) -> list[Path]:
    found = []
    for place, names, file_names in os.walk(directory):
        names[:] = [name for name in names if not name.startswith(".")]
        found += [Path(place, name) for name in file_names if name.endswith(SUFFIX)]
    return sorted(found)


class Catalogue:
    """Flows by type, path and hash. A flow type is unique in a catalogue."""

    def __init__(self, flows: Iterable[Flow] = ()) -> None:
        self._by_type: dict[str, Flow] = {}
        self._by_path: dict[str, Flow] = {}
        self._by_hash: dict[str, Flow] = {}
        for flow in flows:
            self.add(flow)

    @classmethod
    def of_paths(cls, paths: Iterable[str | Path]) -> Catalogue:
        """All flows of files and directories; raises DefinitionInvalid with the problems of all files."""
        catalogue = cls()
        problems: list[Problem] = []
        for path in find_files(paths):
            flow, found = read_file(path)
            problems.extend(found)
            if flow is not None:
                problems.extend(catalogue._refuse_twin(flow) or ())
                if flow.name not in catalogue._by_type:
                    catalogue.add(flow)
        if problems:
            raise DefinitionInvalid(_summarize(problems), tuple(problems))
        return catalogue

    @property
    def flows(self) -> tuple[Flow, ...]:
        return tuple(self._by_type.values())

    def add(self, flow: Flow) -> None:
        if not isinstance(flow, Flow):
            raise UsageError(f"a catalogue has flows, such as `load_flow` gives, not {flow!r}"[:200])
        problems = self._refuse_twin(flow)
        if problems:
            raise DefinitionInvalid(_summarize(problems), tuple(problems))
        self._by_type[flow.name] = flow
        self._by_hash[flow.hash] = flow
        if flow.source is not None:
            self._by_path[_resolved(Path(flow.source.path))] = flow

    def by_type(self, name: str) -> Flow:
        if name not in self._by_type:
            known = ", ".join(f"`{known}`" for known in sorted(self._by_type)) or "none"
            raise NotFound(f"no flow `{name}` in the catalogue; known: {known}")
        return self._by_type[name]

    def find(self, name: str) -> Flow | None:
        return self._by_type.get(name)

    def by_path(self, path: str | Path) -> Flow:
        flow = self._by_path.get(_resolved(as_path(path)))
        if flow is None:
            raise NotFound(f"no flow at {path} in the catalogue")
        return flow

    def by_hash(self, hash: str) -> Flow:
        if hash not in self._by_hash:
            raise NotFound(f"no flow with the definition {hash} in the catalogue")
        return self._by_hash[hash]

    def _refuse_twin(self, flow: Flow) -> list[Problem]:
        """A second file with the same flow type."""
        twin = self._by_type.get(flow.name)
        if twin is None or twin.source is None or flow.source is None:
            return []
        if _resolved(Path(twin.source.path)) == _resolved(Path(flow.source.path)):
            return []
        span, first = (each.locate(("flow",)).value for each in (flow.source, twin.source))
        return [twin_problem(flow.name, flow.source.path, span, twin.source.path, first)]


def twin_problem(name: str, path: str, span: Span, first_path: str, first: Span) -> Problem:
    """A flow type declared in two files; `span` and `first` are where they name it."""
    return Problem(
        "NAM008",
        f"flow type `{name}` is already declared in {first_path}",
        path,
        span,
        help="flow types are unique in a catalogue",
        flow=name,
        spans=(LabelledSpan(first_path, first, "first declared here"),),
    )


def _resolved(path: Path) -> str:
    try:
        return str(path.resolve())
    except (OSError, ValueError, RuntimeError):
        return str(path)  # no file can be there


def _unreadable(path: str, message: str, code: str = "YML013") -> Problem:
    return Problem(code, message, path, Span(1, 1, 1, 1))


def _summarize(problems: list[Problem]) -> str:
    more = len(problems) - 1
    return problems[0].concise() + (f" (and {more} more problem{'s' if more > 1 else ''})" if more else "")
