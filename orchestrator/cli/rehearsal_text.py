"""Rehearsals written by the program, as files for people."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.simulate.scripting import rehearsal_of
from orchestrator.simulate.takes import Take

_WIDTH = 110


def write_rehearsal(
    take: Take, *, flow_path: str, name: str, description: str = "", comment: Sequence[str] = ()
) -> str:
    """The text of a `*.rehearsal.yaml`; `flow_path` relative to where it is to stand."""
    import yaml

    document = {"flow": flow_path, "rehearsals": [rehearsal_of(take, name, description)]}
    body = yaml.dump(
        document,
        Dumper=yaml.SafeDumper,
        sort_keys=False,
        allow_unicode=True,
        width=_WIDTH,
        default_flow_style=None,
    )
    head = "".join(f"# {' '.join(line.splitlines())}".rstrip() + "\n" for line in comment)
    return head + str(body)
