"""Names, fields and functions inside an expression."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.definition.cel_library import GLOBAL, MACROS, MEMBER
from orchestrator.definition.expressions import Environment
from orchestrator.definition.kinds import ANY_KIND, Kind, member_kind, members_of, schema_of
from orchestrator.definition.types import Type
from orchestrator.lsp.cursor_place import CursorPlace
from orchestrator.lsp.document import Document
from orchestrator.lsp.expression_scope import environment_at, kind_of_text, type_text
from orchestrator.lsp.expression_text import macro_variables, split_word
from orchestrator.lsp.proposal import Proposal

_LIST_MACROS = ("all", "exists", "exists_one", "map", "filter")
_LITERALS = ("true", "false", "null")


def propose_in_expression(document: Document, place: CursorPlace, expression: str) -> Iterator[Proposal]:
    """What may follow; `expression` ends at the cursor."""
    flow = place.flow_of(document)
    if flow is None:
        return
    environment = environment_at(flow, place.table, place.path)
    for name, over in macro_variables(expression):
        environment = _with_variable(environment, name, over)
    unfinished = split_word(expression)
    if unfinished.before is None:
        yield from _propose_names(environment)
    else:
        kind = kind_of_text(unfinished.before, environment)
        if kind is not None:
            yield from _propose_members(kind.element if kind.name == "optional" and kind.element else kind)


def _with_variable(environment: Environment, name: str, over: str) -> Environment:
    kind = kind_of_text(over, environment)
    element = kind.element if kind is not None and kind.element is not None else ANY_KIND
    return environment.with_name(name, Type(schema_of(element), environment.types))


def _propose_names(environment: Environment) -> Iterator[Proposal]:
    for name, (_, kind) in environment.names.lets.items():
        yield Proposal(name, "name", detail=type_text(kind), description="A `let` name of this step.")
    for name, kind in environment.names.kinds.items():
        yield Proposal(name, "name", detail=_short(kind))
    for name in (
        *(each for each in GLOBAL if "@" not in each),
        "has",
        "cel.bind",
        "math.greatest",
        "math.least",
    ):
        yield Proposal(name, "function", text=f"{name}(")
    yield from (Proposal(word, "value") for word in _LITERALS)


def _propose_members(kind: Kind) -> Iterator[Proposal]:
    names, _ = members_of(kind)
    for name in names:
        yield Proposal(name, "field", detail=_short(member_kind(kind, name)))
    macros = _LIST_MACROS if kind.name in ("list", "map", "any") and not names else ()
    for name in macros:
        assert name in MACROS
        yield Proposal(name, "function", text=f"{name}(")
    for name, signature in MEMBER.items():
        if {kind.name, "any"} & signature.params[0] or kind.name == "any":
            yield Proposal(name, "function", text=f"{name}(")


def _short(kind: Kind) -> str:
    text = type_text(kind)
    return text if len(text) <= 60 else kind.word
