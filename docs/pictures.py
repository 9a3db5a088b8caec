"""The diagrams on docs/explanation/diagrams.md."""

from __future__ import annotations

from pathlib import Path

from orchestrator.definition.catalogue import load
from orchestrator.render.image import render
from orchestrator.render.overlay import Mark, MarkState, RunOverlay

FLOWS = Path(__file__).parents[1] / "flows"

HALF_WAY = RunOverlay(
    title="edit-1, RUNNING",
    marks={
        "StartContractEdits": (Mark(MarkState.DONE),),
        "EnterContractEdit": (
            Mark(MarkState.DONE, 2),
            Mark(MarkState.WAITING, 2, "for contractEditToken.for 1"),
        ),
        "EditContract": (Mark(MarkState.DONE, 2),),
        "SaveContractEdit": (
            Mark(MarkState.RETRYING, 1, "attempt 2 in 800ms: the edit of Dev could not be saved"),
        ),
        "FinishContractEdits": (Mark(MarkState.WAITING, 1, "for contractEditFinished.for 4"),),
    },
    taken={
        "StartContractEdits/1": 1,
        "EnterContractEdit/1": 2,
        "EditContract/1": 1,
        "EditContract/2": 1,
    },
    queued={"contractEditFinished": 1},
)
"""Four reviewers: one has withdrawn, one is saving, two wait."""


def flow_picture() -> str:
    """A flow, with the key to its signs."""
    return render(load(FLOWS / "contract_edit.flow.yaml"), "svg", legend=True).decode()


def run_picture() -> str:
    """The same flow with a run painted on it."""
    return render(load(FLOWS / "contract_edit.flow.yaml"), "svg", overlay=HALF_WAY).decode()
