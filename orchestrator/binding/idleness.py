"""What is there and never used: functions that no flow binds, effects that `may` allows and nobody does."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Collection, Iterator

from orchestrator.binding.findings import PythonPlace, find_problem, problem_at
from orchestrator.binding.judgement import acts_of, allowed
from orchestrator.binding.method import Method
from orchestrator.binding.source.deeds import Deeds
from orchestrator.binding.source.files import FunctionSource, PythonFile, PythonFiles
from orchestrator.definition.model import Flow, Path
from orchestrator.definition.problem import Problem

UNUSED_HANDLER = "REF010"
UNDONE_EFFECT = "REF017"


def check_unused(
    flow: Flow, path: Path, module: types.ModuleType, used: Collection[str], files: PythonFiles
) -> Iterator[Problem]:
    """Public functions of the module itself that are not in `used`, nor spoken of in the module."""
    for name, value in list(vars(module).items()):
        if name.startswith("_") or not isinstance(value, types.FunctionType):
            continue
        if value.__module__ != module.__name__ or any(each.split(".")[0] == name for each in used):
            continue
        source = files.source_of(value)
        if source is None or source.node.name != name or _is_mentioned(name, source.file):
            continue
        if _is_imported(name, value, module):
            continue
        yield problem_at(
            flow,
            UNUSED_HANDLER,
            f"`{name}` of `{module.__name__}` is the handler of no step ({source.file.place(source.node)})",
            path,
            place=PythonPlace(source.file, source.node, "bound nowhere"),
            help=f"bind it, take it out, or call it `_{name}`",
        )


def _is_imported(name: str, function: object, module: types.ModuleType) -> bool:
    """Whether a module that is loaded has it by `from … import`."""
    others = [each for each in list(sys.modules.values()) if isinstance(each, types.ModuleType)]
    return any(each is not module and vars(each).get(name) is function for each in others)


def _is_mentioned(name: str, file: PythonFile) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(file.tree))


def check_undone(method: Method, deeds: Deeds, source: FunctionSource) -> Iterator[Problem]:
    """Said only where the whole handler is read, and does nothing of that kind by a name made at run time."""
    if not deeds.is_whole:
        return
    for verb in ("publish", "set", "cancel"):
        done = {deed.name for deed in deeds.found if deed.act in acts_of(verb)}
        for name, span in allowed(method, verb).items():
            if name in done or None in done:
                continue
            said = "demands of" if span.minimum else "allows"
            yield find_problem(
                method,
                UNDONE_EFFECT,
                f"`may` {said} `{method.handler.name}` to {verb} `{name}`, which it never does",
                place=PythonPlace(source.file, source.node, f"does not {verb} {name}"),
                at=_place_under_may(method, verb, name),
                help="take it out of `may`: diagrams and checks believe what stands there",
                severity="error" if span.minimum else None,
            )


def _place_under_may(method: Method, verb: str, name: str) -> Path:
    assert method.flow.source is not None
    path = (*method.path, "may", verb)
    if name in method.flow.source.parts(path):
        return (*path, name)
    return (*path, list(allowed(method, verb)).index(name))
