"""The properties that the author asks for under `verify` (language.md, section 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from orchestrator.definition.model import Json, Path
from orchestrator.verify.analysis import Analysis
from orchestrator.verify.properties import Check
from orchestrator.verify.properties.findings import kept, proved, violated
from orchestrator.verify.report import PropertyReport
from orchestrator.verify.tracing import counterexample


def check_authored(analysis: Analysis) -> Iterator[PropertyReport]:
    for index, item in enumerate(analysis.flow.verify.get("properties", ())):
        path: Path = ("verify", "properties", index)
        if "mutual_exclusion" in item:
            yield _mutual_exclusion(analysis, list(item["mutual_exclusion"]), path)
        elif item.get("always_closes"):
            yield _always_closes(analysis, path)
        elif "never" in item:
            yield _never(analysis, item["never"], path)
        elif "conserved" in item:
            yield from _conserved(analysis, item["conserved"], path)


def _mutual_exclusion(analysis: Analysis, steps: list[str], path: Path) -> PropertyReport:
    name = f"mutual_exclusion: {', '.join(steps)}"
    number = next(
        (n for n, state in analysis.running() if _count(analysis.executing(state), steps) > 1), None
    )
    listed = ", ".join(f"`{step}`" for step in steps)
    if number is None:
        return _bounded(analysis, name, steps, f"at most one execution of {listed} is under way at a time")
    return violated(
        name,
        "VER007",
        f"two executions of {listed} can be under way at once",
        path,
        counterexample(analysis.graph, number, blamed=steps),
        help="let them take a token: one message of a channel that is seeded once",
    )


def _always_closes(analysis: Analysis, path: Path) -> PropertyReport:
    pumped = [number for number, _ in analysis.graph.pumped]
    can_close = analysis.leading_to([*analysis.closed, *pumped], analysis.unaided)
    number = next((n for n, _ in analysis.running() if n not in can_close), None)
    if number is None or not analysis.graph.is_complete:
        return kept(
            analysis, "always_closes", "VER007", "every run can close, whatever clients do or leave undone"
        )
    return violated(
        "always_closes",
        "VER007",
        "a run can come to where it never closes",
        path,
        counterexample(analysis.graph, number),
        help="give the flow a `timeout`, or every wait another way to end",
    )


def _never(analysis: Analysis, pair: Json, path: Path) -> PropertyReport:
    one, other = pair["step"], pair["with"]
    name = f"never: {one} with {other}"
    need = 2 if one == other else 1
    number = next(
        (
            n
            for n, state in analysis.running()
            if analysis.executing(state)[one] >= need and analysis.executing(state)[other] >= need
        ),
        None,
    )
    if number is None:
        message = f"`{one}` and `{other}` are never under way together"
        return _bounded(analysis, name, list(dict.fromkeys((one, other))), message)
    return violated(
        name,
        "VER007",
        f"`{one}` and `{other}` can be under way together",
        path,
        counterexample(analysis.graph, number, blamed=(one, other)),
        help="put one after the other, or let both take one token",
    )


def _bounded(analysis: Analysis, name: str, steps: list[str], message: str) -> PropertyReport:
    """Proved where a token or an invariant says so."""
    is_shared = any(
        section.is_exclusive and all(section.members.get(step) for step in steps)
        for section in analysis.sections
    )
    if is_shared:
        return proved(name, "VER007", f"{message}, for any number of branches")
    invariant = analysis.proof_of_bound(steps, 1)
    if invariant is not None:
        return proved(name, "VER007", f"{message}, for any number of branches: {invariant}")
    return kept(analysis, name, "VER007", message)


def _conserved(analysis: Analysis, channel: str, path: Path) -> Iterator[PropertyReport]:
    """Channels named here are sections of their own (holding.py); the report is `token_conservation`."""
    if all(section.channel != channel for section in analysis.sections):
        yield violated(
            f"conserved: {channel}",
            "VER007",
            f"nobody takes a message of `{channel}` and gives it back: it carries no tokens",
            path,
            None,
            help="name the channel whose messages are tokens",
        )


def _count(executing: Counter[str], steps: list[str]) -> int:
    return sum(executing[step] for step in steps)


CHECKS: dict[str, Check] = {"authored": check_authored}
