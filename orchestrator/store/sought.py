"""Which runs are asked for, as far as a database finds them by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from orchestrator.store.contract import Head

LAST = 2**63 - 1
"""No time and no number is greater."""


class Sought(NamedTuple):
    """What runs must have to be listed; None: whatever they have."""

    flow_id: str | None = None
    status: str | None = None
    flow: str | None = None
    started_from: int = 0
    """Microseconds, like the next one; both are included."""
    started_until: int = LAST
    value: bytes | None = None
    """JSON of one of its attributes, or an attribute that is not kept as it is."""

    def having(self, name: Literal["flow_id", "status", "flow"], value: str) -> Sought:
        if name == "flow_id":
            return self._replace(flow_id=value)
        return self._replace(status=value) if name == "status" else self._replace(flow=value)

    @property
    def is_vain(self) -> bool:
        """No run has it: no text of theirs has a NUL, and PostgreSQL cannot even look for that."""
        return any("\0" in text for text in (self.flow_id, self.status, self.flow) if text is not None)

    def fits(self, head: Head) -> bool:
        """But for `value`, which the head does not show."""
        return (
            self.started_from <= head.started_at <= self.started_until
            and (self.flow_id is None or self.flow_id == head.flow_id)
            and (self.status is None or self.status == head.status)
            and (self.flow is None or self.flow == head.flow)
        )


ANY_RUN = Sought()
