"""All that importing handlers and reading their source tells of flows: `lint --handlers`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from orchestrator.binding.annotated import check_annotations
from orchestrator.binding.answers import check_answers
from orchestrator.binding.check import UNKNOWN, context_name, locate
from orchestrator.binding.declaring import declaring
from orchestrator.binding.endurance import check_endurance
from orchestrator.binding.findings import PythonPlace, find_problem, problem_at
from orchestrator.binding.idleness import check_undone, check_unused
from orchestrator.binding.importing import Imported
from orchestrator.binding.invoke import BoundHandler
from orchestrator.binding.judgement import UNDECLARED, judge, verb_of
from orchestrator.binding.method import Method, methods_of
from orchestrator.binding.registry import Bindings
from orchestrator.binding.relatives import Relatives
from orchestrator.binding.source.deeds import Act, Deeds, deeds_of
from orchestrator.binding.source.files import FunctionSource, PythonFiles, is_wrapped
from orchestrator.binding.source.returns import returns_of
from orchestrator.definition.model import Flow
from orchestrator.definition.model import Path as Place
from orchestrator.definition.problem import Problem

NOISY_IMPORT = "REF015"
SLOW_IMPORT = "REF016"
SLOW_SECONDS = 1.0
"""An import that takes longer is told; every command that works on runs waits for it."""


class Survey:
    """Of the flows of `files`, checked one by one. What a function may do, any of its flows may allow."""

    def __init__(self, files: Iterable[str | Path] = ()) -> None:
        self._relatives = Relatives(files)
        self._files = PythonFiles()
        self._imported: set[str] = set()
        """Modules: only the first import of each prints and takes its time."""

    def check(self, flow: Flow) -> list[Problem]:
        """Imports the handlers of a flow that was loaded from a file; calls none of them."""
        directory = Path.cwd()
        try:
            bindings = Bindings(flow)
        finally:
            os.chdir(directory)  # a module may have gone elsewhere
        problems = locate(flow, bindings.problems())
        imports = bindings.imports()
        for name, imported in imports.items():
            if imported.module is not None and name not in self._imported:
                self._imported.add(name)
                problems += _import_problems(flow, name, imported)
        for bound in bindings.handlers():
            problems += self._check_handler(bound)
        if not any(problem.code == UNKNOWN for problem in problems):  # else one may be meant that is misspelt
            problems += self._check_modules(flow, imports)
        return problems

    def _check_modules(self, flow: Flow, imports: Mapping[str, Imported]) -> Iterator[Problem]:
        for position, name in enumerate(flow.handlers):
            module = imports[name].module
            if module is not None and self._relatives.is_first(flow, name):
                used = self._relatives.names_in(flow, name)
                yield from check_unused(flow, _module_place(flow, position), module, used, self._files)

    def _check_handler(self, bound: BoundHandler) -> Iterator[Problem]:
        method = bound.method
        source = self._files.source_of(bound.function)
        yield from check_annotations(method, bound.function, source, takes_input=bound.takes_input)
        if source is None:
            return
        sharers = self._relatives.sharers(method)
        deeds, returns = _deeds(bound, source, self._files), returns_of(source, self._files)
        if is_wrapped(bound.function):
            deeds.is_whole, returns = False, returns.certain()
        yield from _check_deeds(method, sharers, deeds)
        yield from check_undone(method, deeds, source)
        yield from check_answers(method, sharers, returns)
        yield from check_endurance(method, deeds, source)


def _deeds(bound: BoundHandler, source: FunctionSource, files: PythonFiles) -> Deeds:
    if not bound.takes_context:
        return Deeds()
    return deeds_of(source, context_name(bound.function), files)


def _check_deeds(method: Method, sharers: Sequence[Method], deeds: Deeds) -> Iterator[Problem]:
    """What one sharer may do is reported only if it is always done: the function can know where it is."""
    seen: set[tuple[str, str]] = set()
    written = {deed.name for deed in deeds.found if deed.act is Act.SET_ENTRY}  # and may be read after that
    for deed in deeds.found:
        if deed.act is Act.READ_ENTRIES and (deed.name in written or None in written):
            continue
        verdict = judge(method, deed)
        if verdict is None or not (deed.is_always or all(judge(each, deed) for each in sharers)):
            continue
        if (verdict.code, verdict.message) in seen:
            continue
        seen.add((verdict.code, verdict.message))
        fix = declaring(method, verb_of(deed), deed.name or "") if verdict.code == UNDECLARED else None
        yield find_problem(
            method,
            verdict.code,
            f"`{method.handler.name}` {verdict.message}",
            place=PythonPlace(deed.file, deed.node, "here"),
            help=verdict.help,
            fix=fix,
        )


def _import_problems(flow: Flow, name: str, imported: Imported) -> Iterator[Problem]:
    path = _module_place(flow, flow.handlers.index(name)) if name in flow.handlers else _user_of(flow, name)
    if imported.output:
        first = imported.output.strip().partition("\n")[0][:40]
        help = "print in functions only: a module is imported by every command, and twice by some"
        yield problem_at(flow, NOISY_IMPORT, f"importing `{name}` prints: {first}", path, help=help)
    if imported.seconds > SLOW_SECONDS:
        text = f"importing `{name}` takes more than {SLOW_SECONDS:g} s"
        help = "every command that works on runs waits for it: import in functions what takes long"
        yield problem_at(flow, SLOW_IMPORT, text, path, help=help)


def _module_place(flow: Flow, position: int) -> Place:
    assert flow.source is not None
    return ("handlers", position) if flow.source.parts(("handlers",)) else ("handlers",)


def _user_of(flow: Flow, module: str) -> Place:
    """The first handler that names the module itself."""
    names = (m for m in methods_of(flow) if m.handler.name.startswith(f"{module}:"))
    return next(((*method.path, "handler") for method in names), ())
