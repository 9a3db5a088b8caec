"""Stories of runs, shortly written: `"Start-1 > 1: Work-1 Work-2"` is a decision and what it starts."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from pathlib import Path

from orchestrator.cli.rehearsal_text import write_rehearsal
from orchestrator.simulate.flows import FlowSource
from orchestrator.simulate.performance import rehearse
from orchestrator.simulate.rehearsal import parse_rehearsals
from orchestrator.simulate.retelling import Retelling, retell
from orchestrator.simulate.storyline import Beat, BeatKind, Given, Storyline
from tests.support.play import flow_of

_BEAT = re.compile(
    r"(?P<who>[\w-]+) (?P<sign>[>!?~@]) ?(?P<what>[^:\[]*)(?:\[(?P<given>.*)\])?(?:: (?P<starts>.*))?"
)
_KINDS = {
    ">": BeatKind.DECIDED,
    "!": BeatKind.FAILED,
    "?": BeatKind.SATISFIED,
    "~": BeatKind.WAIT_FOR,
    "@": BeatKind.CHILD_CLOSED,
}


def beat(text: str) -> Beat:
    """`A-1 > 2 [publishes c = 1]: B-1`, `A-1 !: R-1`, `A-1 ? timer`, `A-1 ~ [wait = any_of a b]`, …

    Of clients and the run: `publish c`, `rpc approve > 1: B-1`, `deadline > 1`, `completed`.
    """
    first, _, rest = text.partition(" ")
    if first == "publish":
        return Beat(BeatKind.PUBLISHED, rest)
    if first in ("rpc", "deadline", "completed"):
        kind = {"rpc": BeatKind.RPC, "deadline": BeatKind.TIMED_OUT, "completed": BeatKind.COMPLETED}[first]
        name, _, rest = rest.partition(" > ") if first == "rpc" else ("", "", rest.removeprefix("> "))
        decision, _, starts = rest.partition(":")
        return Beat(
            kind, name.strip(), decision=int(decision) if decision else None, starts=tuple(starts.split())
        )
    found = _BEAT.fullmatch(text)
    assert found is not None, text
    kind, what = _KINDS[found["sign"]], found["what"].split()
    is_decision = kind is BeatKind.DECIDED
    return Beat(
        kind,
        found["who"].rpartition("-")[0],
        found["who"],
        decision=int(what[0]) if is_decision else None,
        otherwise_count=what.count("otherwise"),
        conditions=() if is_decision else tuple(what),
        starts=tuple((found["starts"] or "").split()),
        given=tuple(_given(each) for each in (found["given"] or "").split(", ") if each),
    )


def _given(text: str) -> Given:
    what, _, value = text.partition(" = ")
    return Given(what, int(value) if value.isdecimal() else value)


def story(
    beats: str,
    status: str = "RUNNING",
    active: str = "",
    unread: Mapping[str, int] | None = None,
    *,
    is_at_rest: bool = False,
) -> Storyline:
    lines = [line for line in textwrap.dedent(beats).splitlines() if line]
    return Storyline(tuple(map(beat, lines)), status, tuple(active.split()), unread or {}, is_at_rest)


def retold(flow: str, told: Storyline, directory: Path) -> Retelling:
    """The definition is written to the directory, for rehearsals of it."""
    (directory / "told.flow.yaml").write_text(textwrap.dedent(flow), encoding="utf-8")
    parsed = flow_of(flow)
    return retell(parsed, told, FlowSource(parsed, directory))


def rehearsal_text(retelling: Retelling) -> str:
    assert retelling.take is not None, retelling.reason
    return write_rehearsal(retelling.take, flow_path="told.flow.yaml", name="told")


def differences_of(text: str, directory: Path) -> list[str]:
    """What a rehearsal of `told.flow.yaml` shows."""
    parsed = parse_rehearsals(text, directory / "told.rehearsal.yaml")
    assert parsed.file is not None, [problem.concise() for problem in parsed.problems]
    performance = rehearse(parsed.file, parsed.file.rehearsals[0])
    return [difference.message for difference in performance.differences]
