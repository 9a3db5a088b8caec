"""Two definitions of one flow, and which name of the old is which of the new."""

from __future__ import annotations

from functools import cached_property

from msgspec import Struct

from orchestrator.core.migration.advice import advise
from orchestrator.core.migration.outlook import Outlook
from orchestrator.core.migration.renaming import NO_RENAMING, Renaming
from orchestrator.core.migration.verdicts import Standing, step_place
from orchestrator.core.reach import Reach, reach_of
from orchestrator.core.state import TIMEOUT_STEP, Execution, Phase
from orchestrator.definition.model import Flow, Step


class Comparison:
    def __init__(self, old: Flow, new: Flow, renaming: Renaming = NO_RENAMING) -> None:
        self.old = old
        self.new = new
        self.renaming = renaming

    @cached_property
    def old_outlook(self) -> Outlook:
        return Outlook(self.old)

    @cached_property
    def new_outlook(self) -> Outlook:
        return Outlook(self.new)

    @cached_property
    def old_reach(self) -> Reach:
        return reach_of(self.old)

    @cached_property
    def new_reach(self) -> Reach:
        return reach_of(self.new)

    @cached_property
    def advised(self) -> tuple[Comparison, list[str]]:
        """Under the names that are likely as well, and those as `--map` takes them."""
        renaming, texts = advise(self.old, self.new, self.renaming)
        return self.renamed(renaming), texts

    def renamed(self, renaming: Renaming) -> Comparison:
        """The same definitions under another renaming; what is known of them is kept."""
        other = Comparison(self.old, self.new, renaming)
        other.old_outlook, other.new_outlook = self.old_outlook, self.new_outlook
        return other

    def target(self, step: str) -> Step | None:
        """What a step of the old definition is in the new."""
        if step == TIMEOUT_STEP:
            return self.new.on_timeout
        return self.new.steps.get(self.renaming.step(step))

    def source(self, step: str) -> Step | None:
        return self.old.on_timeout if step == TIMEOUT_STEP else self.old.steps[step]


class Stand(Struct, frozen=True):
    """An execution, or statically any execution of a step in one phase."""

    step: str
    """Of the old definition."""
    standing: Standing
    execution: Execution | None = None
    """None: judged by what the definitions say alone."""
    is_calling_wait_for: bool = False
    """With RUNNING: which handler is at work."""

    @property
    def place(self) -> str:
        return step_place(self.step, self.standing)

    @property
    def phase(self) -> Phase:
        if self.execution is not None:
            return self.execution.phase
        if self.standing is Standing.RUNNING:
            return Phase.WAIT_FOR if self.is_calling_wait_for else Phase.EXECUTE
        return Phase(self.standing.value)


def stand_of(execution: Execution, *, is_leased: bool) -> Stand:
    if is_leased and execution.phase is not Phase.WAITING:
        return Stand(execution.step, Standing.RUNNING, execution)
    return Stand(execution.step, Standing(execution.phase.value), execution)
