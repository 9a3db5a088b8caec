"""`orchestrator migrate`: live runs move to another version of their flow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.options import Db, Format, Mapping, NewVersion, OldVersion, Output

if TYPE_CHECKING:
    from orchestrator.core.migration.comparison import Comparison
    from orchestrator.engine.client import Client
    from orchestrator.engine.migrating import LiveRun, Migration


def migrate(
    old: OldVersion,
    new: NewVersion,
    mapping: Mapping = None,
    flow_id: Annotated[
        list[str] | None,
        typer.Option("--flow-id", metavar="ID", help="Only this run; may be repeated.", show_default=False),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option("--where", metavar="EXPR", help="Only runs for which this holds, as `list --where`."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would become of each run.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    db: Db = None,
    output: Output = Format.TEXT,
) -> int:
    """Move the live runs of OLD to NEW: each that can go on from where it is, in one commit of its own.

    A run that cannot is left as it is, and says why. Exit 0: all were moved; 1: some were left.
    """
    from orchestrator.cli.output import emit
    from orchestrator.cli.questions import confirm
    from orchestrator.cli.session import open_client
    from orchestrator.cli.terminal import note
    from orchestrator.cli.versions import compare_versions
    from orchestrator.engine.migrating import Migration, migrate_runs, reasons, survey

    with open_client(db) as client:
        case = compare_versions(old, new, mapping, client)
        demand_executable(case)
        runs = list(survey(client.engine, case, flow_ids=flow_id or (), where=where))
        elsewhere = not_there(flow_id or (), runs, client)
        if not runs:
            note(nothing_to_do(case, client))
        rows = [row(Migration(run, False, reasons(run.obstacles)), is_planned=True) for run in runs]
        movable_count = sum(not run.obstacles for run in runs)
        if movable_count and not dry_run:
            if not yes:
                note(as_text(rows))
            confirm(f"Move {movable_count} of {len(runs)} live runs to {case.new.hash[:19]}?", yes)
            moved = migrate_runs(client.engine, case, iter(runs))
            rows = [row(each, is_planned=False) for each in moved]
    rows += elsewhere
    emit(rows, output, as_text)
    left_count = sum(each["result"] == "left" for each in rows)
    note(f"{len(rows) - left_count} {'could be moved' if dry_run else 'moved'}, {left_count} left")
    return 1 if left_count else 0


def not_there(asked: Sequence[str], runs: Sequence[LiveRun], client: Client) -> list[dict[str, Any]]:
    """Runs that were named and are closed, or have another definition. Raises NotFound."""
    found = {run.flow_id for run in runs}
    rows = []
    for flow_id in dict.fromkeys(asked):
        if flow_id in found:
            continue
        run = client.describe(flow_id)
        is_open = run["status"] == "RUNNING"
        reason = f"its definition is {run['definition']}" if is_open else f"it is closed: {run['status']}"
        place = {"flow_id": flow_id, "run_id": run["run_id"], "result": "left", "verdict": None, "places": []}
        rows.append({**place, "reason": reason})
    return rows


def demand_executable(case: Comparison) -> None:
    from orchestrator.definition.catalogue import check_executable
    from orchestrator.errors import DefinitionInvalid, UsageError

    if case.old.hash == case.new.hash:
        raise UsageError("OLD and NEW are the same definition: texts, layout and `version` do not count")
    unfit = check_executable(case.new)
    if unfit:
        raise DefinitionInvalid(f"{case.new.name} cannot be executed by this release", tuple(unfit))


def nothing_to_do(case: Comparison, client: Client) -> str:
    """Say what live runs of the flow there are, since OLD may not be what they have."""
    from collections import Counter

    counts = Counter(
        run["definition"] for run in client.search("status == 'RUNNING'") if run["flow"] == case.old.name
    )
    said = f"no live run that is asked for has the definition {case.old.hash}"
    if not counts:
        return f"{said}; no run of {case.old.name} is live"
    found = "\n".join(f"  {hash} ({count} live)" for hash, count in counts.items())
    return f"{said}; live runs of {case.old.name} have\n{found}"


def row(outcome: Migration, *, is_planned: bool) -> dict[str, Any]:
    run = outcome.run
    if outcome.reason:
        result = "left"
    else:
        result = "can_move" if is_planned else "moved" if outcome.is_moved else "left"
    return {
        "flow_id": run.flow_id,
        "run_id": run.run_id,
        "result": result,
        "verdict": run.verdict.value,
        "places": [place for place in run.places if place.startswith("step:")],
        "reason": outcome.reason or None,
    }


def as_text(rows: Sequence[dict[str, Any]]) -> str:
    from orchestrator.cli.layout import columns
    from orchestrator.cli.terminal import bare

    if not rows:
        return ""
    cells = [
        [
            bare(each["flow_id"]),
            ", ".join(place.removeprefix("step:") for place in each["places"]) or "-",
            each["result"].replace("_", " "),
            bare(each["reason"] or ""),
        ]
        for each in rows
    ]
    return "\n".join("".join(line).rstrip() for line in columns(cells))
