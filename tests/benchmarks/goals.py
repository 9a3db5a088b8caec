"""What is to be reached, workload by workload: absolute figures, shares of the floor, multiples of others."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    bound: float
    of: str | None = None
    """A system, or another workload of ours: `bound` is a multiple of its figure."""
    is_limit: bool = False
    """At most, not at least."""

    def is_reached(self, figure: float, reference: float | None) -> bool | None:
        """None: there is nothing to compare with."""
        if self.of is not None:
            if not reference:
                return None
            figure /= reference
        return figure <= self.bound if self.is_limit else figure >= self.bound

    @property
    def text(self) -> str:
        sign = "≤" if self.is_limit else "≥"
        bound = f"{self.bound:,g}" if self.bound >= 1000 else f"{self.bound:g}"
        return f"{sign} {bound}" if self.of is None else f"{sign} {bound} x {self.of}"


@dataclass(frozen=True)
class Row:
    workload: str
    what: str
    figure: str
    unit: str
    goals: tuple[Goal, ...]
    is_time: bool = False
    """Less is better."""


def _least(bound: float, of: str | None = None) -> Goal:
    return Goal(bound, of)


def _most(bound: float) -> Goal:
    return Goal(bound, is_limit=True)


def _parked(workload: str, create: float, resume: float) -> tuple[Row, ...]:
    return (
        Row(workload, "10,000 runs parked, 8 clients: make", "creates_s", "runs/s", (_least(create),)),
        Row(workload, "the same: go on, until closed", "resumes_s", "runs/s", (_least(resume),)),
        Row(workload, "the same: memory", "kb_per_run", "KB a run", (_most(0.5),), is_time=True),
        Row(workload, "the same: at rest", "idle_cores", "cores", (_most(0.02),), is_time=True),
    )


def _long(workload: str, stored: float) -> tuple[Row, ...]:
    return (
        Row(workload, "1,000th step against the 10th", "slowdown", "times", (_most(1.1),), is_time=True),
        Row(workload, "the same: stored", "bytes_per_step", "bytes a step", (_most(stored),), is_time=True),
    )


def _latency(workload: str, what: str, median: float, tail: float) -> tuple[Row, ...]:
    return (
        Row(workload, what, "p50_ms", "ms, p50", (_most(median),), is_time=True),
        Row(workload, "the same", "p99_ms", "ms, p99", (_most(tail),), is_time=True),
    )


ROWS = (
    Row("W1c1", "flows of 10 steps, one at a time", "steps_s", "steps/s", (_least(1.0, "floor"),)),
    Row("W1c1-pg", "the same", "steps_s", "steps/s", (_least(1.3, "floor"),)),
    Row(
        "W1c100",
        "100 of them in flight",
        "steps_s",
        "steps/s",
        (_least(20_000), _least(50, "DBOS")),
    ),
    Row("W1c100-pg", "the same", "steps_s", "steps/s", (_least(12_000), _least(40, "DBOS"))),
    Row("W2", "1,000 parallel branches and a join", "branches_s", "branches/s", (_least(20_000),)),
    Row("W2x", "10,000 of them", "branches_s", "branches/s", (_least(20_000),)),
    Row("W2-pg", "1,000", "branches_s", "branches/s", (_least(12_000),)),
    Row("W2x-pg", "10,000", "branches_s", "branches/s", (_least(12_000),)),
    *_latency("W3", "message to handler, in one process", 1, 4),
    *_latency("W3p", "across processes", 2, 6),
    Row("W3-pg", "in one process", "p50_ms", "ms, p50", (), is_time=True),
    *_latency("W3p-pg", "across processes", 3, 8),
    *_parked("W4", 6_000, 4_500),
    *_parked("W4-pg", 3_500, 2_200),
    Row("W5", "a fresh process, a new file, 3 steps, exit", "seconds", "s", (_most(0.45),), is_time=True),
    Row("W5", "`--help`", "help_s", "s", (_most(0.15),), is_time=True),
    *_long("W6", 120),
    *_long("W6-pg", 300),
    Row("W7x1-pg", "handlers with 0.5 ms of CPU, one worker process", "steps_s", "steps/s", ()),
    Row("W7x2-pg", "two", "steps_s", "steps/s", (_least(1.8, "W7x1-pg"),)),
    Row("W7x4-pg", "four", "steps_s", "steps/s", ()),
    Row("W9", "W1c100 beside a handler that computes", "steps_s", "steps/s", (_least(1_000),)),
    Row("W9p", "the same, it in a process of its own", "steps_s", "steps/s", (_least(10_000),)),
    Row("W8-lint", "lint of 2,000 lines, warm", "seconds", "s", (_most(0.05),), is_time=True),
    Row("W8-verify", "verify, 200 editors, warm", "seconds", "s", (_most(0.02),), is_time=True),
)
