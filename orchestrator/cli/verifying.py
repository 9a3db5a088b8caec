"""What `verify` and `check` do: verify every flow, play what is violated, leave out what is accepted."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from orchestrator.cli.counterexamples import replay_all
from orchestrator.cli.standard_input import read_standard_input
from orchestrator.cli.terminal import is_terminal
from orchestrator.definition.catalogue import read_file
from orchestrator.definition.model import Flow
from orchestrator.definition.nearness import did_you_mean
from orchestrator.definition.parse import parse
from orchestrator.definition.problem import Problem, sort_key
from orchestrator.errors import UsageError
from orchestrator.lint.files import STANDARD_INPUT, STDIN, listed_files, shown_path
from orchestrator.lint.suppression import not_looked_for, suppress
from orchestrator.verify.problems import Replay, undecided, violations
from orchestrator.verify.report import FlowReport

MAXIMUM_STATES = 200_000
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Bounds:
    """None: the flow's own `verify:`, or the default."""

    fan_out: tuple[int, ...] | None = None
    max_states: int = MAXIMUM_STATES
    properties: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Verified:
    """One flow. `problems` by position of the property, those that a comment accepts left out."""

    report: FlowReport
    replays: dict[int, Replay]
    problems: dict[int, Problem]
    accepted: frozenset[int] = frozenset()
    others: tuple[Problem, ...] = ()
    """What was not decided; suppressions without use."""

    @property
    def all_problems(self) -> list[Problem]:
        return [*self.problems.values(), *self.others]

    @property
    def path(self) -> str:
        return self.report.flow.source.path if self.report.flow.source is not None else ""


@dataclass(frozen=True)
class Verification:
    """Of all files. `broken`: the problems of files that give no flow."""

    verified: list[Verified]
    broken: list[Problem]
    files: list[str] = field(default_factory=list)

    def problems(self) -> list[Problem]:
        found = list(self.broken)
        for each in self.verified:
            found += each.all_problems
        return sorted(found, key=sort_key)


def verify_paths(
    paths: Sequence[str], bounds: Bounds, trace_directory: Path | None = None, *, text: str | None = None
) -> Verification:
    """Raises UsageError for paths without flows, and for a property that nobody knows.

    `text`: standard input, where it has been read before.
    """
    verified: list[Verified] = []
    broken: list[Problem] = []
    files = listed_files(paths)
    if STANDARD_INPUT in map(str, files) and len(files) > 1:
        raise UsageError("standard input (-) is verified alone")
    with _progress() as tell:
        for number, file in enumerate(files, start=1):
            place = f"verify {shown_path(file)} ({number} of {len(files)})"
            tell(place)
            flow, problems = _read(file, text)
            if flow is None:
                broken += problems
            else:
                verified.append(verify(flow, bounds, trace_directory, partial(_tell_states, tell, place)))
    if bounds.properties:
        _require_known(bounds.properties, verified)
    return Verification(verified, broken, [shown_path(file) for file in files])


def _tell_states(tell: Tell, place: str, count: int) -> None:
    tell(f"{place}: {count:,} states")


def verify(
    flow: Flow,
    bounds: Bounds,
    trace_directory: Path | None = None,
    progress: Callable[[int], None] | None = None,
) -> Verified:
    from orchestrator.verify.verifying import verify_flow

    report = verify_flow(
        flow,
        fan_out=bounds.fan_out,
        max_states=bounds.max_states,
        properties=bounds.properties,
        progress=progress,
    )
    return conclude(report, replay_all(report, trace_directory))


def conclude(report: FlowReport, replays: dict[int, Replay]) -> Verified:
    """The report as problems, without those that a comment in the file accepts."""
    found = violations(report, replays)
    limit = undecided(report)
    all_found = [*found.values(), *([limit] if limit is not None else [])]
    source = report.flow.source
    if source is None:
        return Verified(report, replays, found, others=(limit,) if limit is not None else ())
    left = suppress(all_found, source.text, source.path, unchecked=_said_by_lint())
    kept = {index: problem for index, problem in found.items() if any(problem is each for each in left)}
    others = tuple(each for each in left if not any(each is problem for problem in found.values()))
    return Verified(report, replays, kept, frozenset(found) - frozenset(kept), others)


def _said_by_lint() -> frozenset[str]:
    """Suppressions of what the linter finds, and the form of comments, are the linter's business."""
    return not_looked_for(has_rules=False, has_verifier=True) | {"MET001", "MET002"}


def _read(file: Path, text: str | None) -> tuple[Flow | None, list[Problem]]:
    if str(file) == STANDARD_INPUT:
        return parse(read_standard_input() if text is None else text, STDIN)
    return read_file(file, shown_path(file))


def _require_known(names: Sequence[str], verified: Sequence[Verified]) -> None:
    """Everybody's properties, and the author's own of the flows that were looked at."""
    from orchestrator.verify.properties import all_checks

    usual = [name for name, _ in all_checks() if name != "authored"]
    own = [each.name for one in verified for each in one.report.properties]
    known = list(dict.fromkeys([*usual, *own]))
    for name in names:
        if name not in known:
            help = did_you_mean(name, known) or f"known: {', '.join(known)}"
            raise UsageError(f"--property: there is no property `{name}`; {help}")


@contextmanager
def _progress() -> Iterator[Tell]:
    """On a terminal's stderr: which flow is being searched."""
    if not is_terminal(sys.stderr):
        yield lambda text: None
        return
    from rich.console import Console

    with Console(stderr=True).status("verify") as status:
        yield status.update
