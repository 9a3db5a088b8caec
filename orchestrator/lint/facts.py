"""What rules know of a flow, computed once and only when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from orchestrator.definition.codes import CODES
from orchestrator.definition.model import Flow, Path
from orchestrator.definition.problem import Fix, LabelledSpan, Problem, Span
from orchestrator.definition.source import Source
from orchestrator.definition.symbols import SymbolTable
from orchestrator.graph.crowds import Crowds
from orchestrator.graph.holding import sections
from orchestrator.graph.paths import Paths
from orchestrator.graph.section import Evidence, Section
from orchestrator.graph.subjects import Setting
from orchestrator.graph.usage import Usage, usages
from orchestrator.lint.rounds import Rounds
from orchestrator.lint.uses import Uses


class Facts:
    """One flow and its text. Add what several rules share as a `cached_property`."""

    def __init__(self, flow: Flow) -> None:
        assert flow.source is not None
        self.flow = flow
        self.source: Source = flow.source

    def problem(
        self,
        code: str,
        message: str,
        path: Path,
        *,
        is_key: bool = False,
        also: Sequence[tuple[Path, str]] = (),
        help: str = "",
        fix: Fix | None = None,
        severity: str | None = None,
        confidence: str | None = None,
    ) -> Problem:
        """At the value of `path` (or its key); `also`: further places with what to say there.

        Of a declaration (`("steps", "Pack")`) those show the name, not all that is declared.
        """
        spans = tuple(
            LabelledSpan(self.source.path, self.span(place, is_key=_is_declaration(place)), label)
            for place, label in also
        )
        return self.text_problem(
            code,
            message,
            self.span(path, is_key=is_key),
            spans=spans,
            help=help,
            fix=fix,
            severity=severity,
            confidence=confidence,
        )

    def text_problem(
        self,
        code: str,
        message: str,
        span: Span,
        *,
        spans: tuple[LabelledSpan, ...] = (),
        help: str = "",
        fix: Fix | None = None,
        severity: str | None = None,
        confidence: str | None = None,
    ) -> Problem:
        """At a place of the text."""
        about = CODES[code]
        return Problem(
            code,
            message,
            self.source.path,
            span,
            help=help,
            severity=severity or about.severity,
            confidence=confidence or about.confidence,
            flow=self.flow.name,
            spans=spans,
            fix=fix,
        )

    def span(self, path: Path, *, is_key: bool = False) -> Span:
        location = self.source.locate(path)
        return location.key if is_key and location.key is not None else location.value

    @cached_property
    def paths(self) -> Paths:
        return Paths(self.flow)

    @cached_property
    def symbols(self) -> SymbolTable:
        """Every name of the document with its places."""
        from orchestrator.definition.mentions import find_symbols

        return find_symbols(self.source, self.source.document())

    @cached_property
    def uses(self) -> Uses:
        return Uses(self.flow)

    @cached_property
    def setting(self) -> Setting:
        return Setting(self.flow)

    @cached_property
    def crowds(self) -> Crowds:
        return Crowds(self.flow, self.paths)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Of channels that surely carry tokens."""
        return tuple(each for each in sections(self.flow, self.crowds) if each.evidence is not Evidence.WEAK)

    @cached_property
    def usages(self) -> dict[str, Usage]:
        return usages(self.flow)

    @cached_property
    def rounds(self) -> Rounds:
        return Rounds(self.flow, self.crowds)


_DECLARATIONS = frozenset({"attributes", "channels", "joins", "rpcs", "steps", "types"})


def _is_declaration(path: Path) -> bool:
    return len(path) == 2 and path[0] in _DECLARATIONS
