"""One thing that may be written at the cursor."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Proposal:
    """`kind` is a kind of symbol, or one of key, outcome, value, name, field, function."""

    label: str
    kind: str
    detail: str = ""
    description: str = ""
    text: str = ""
    """What is written; the label where empty."""

    @property
    def new_text(self) -> str:
        return self.text or self.label

    def before_colon(self) -> Proposal:
        """The colon of the key is there already."""
        return replace(self, text=self.new_text.split(": ")[0])
