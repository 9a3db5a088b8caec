"""`orchestrator db …`: care for the store."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.options import Db, Format, Output

app = typer.Typer(
    no_args_is_help=True, help="Care for the store: upgrade, status, prune, vacuum, export, import."
)
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@app.command()
def upgrade(
    force: Annotated[bool, typer.Option("--force", help="Although workers seem to be alive.")] = False,
    db: Db = None,
    output: Output = Format.TEXT,
) -> None:
    """Make the database one of this release; made when it is not there.

    Refused while workers are alive: they are of the earlier release. A database of a newer one is refused.
    """
    from orchestrator.cli.output import emit
    from orchestrator.cli.settings import resolve_settings
    from orchestrator.cli.terminal import note
    from orchestrator.store.opening import upgrade_store, without_password

    named = resolve_settings(db).db
    before, after = upgrade_store(named, is_forced=force)
    url = without_password(named)
    if before == after:
        note(f"{url} is at schema version {after}: there is nothing to do")
    else:
        note(f"{url} is at schema version {after} now, " + (f"it was at {before}" if before else "it is new"))
    emit({"db": url, "before": before, "after": after}, output, lambda _: "")


@app.command()
def status(db: Db = None, output: Output = Format.TEXT) -> None:
    """Show what is in the store: sizes, runs by status, the oldest ones, work, workers, pauses."""
    from orchestrator.cli.output import emit
    from orchestrator.cli.session import now, open_client
    from orchestrator.cli.surveys import survey_as_text
    from orchestrator.engine.upkeep import survey

    with open_client(db) as client:
        found = survey(client.engine)
    emit(found, output, lambda shown: survey_as_text(shown, now()))


@app.command()
def prune(
    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than",
            metavar="DURATION",
            help="Runs that closed longer ago, e.g. 30d. Default: `retention` under [tool.orchestrator].",
        ),
    ] = None,
    before: Annotated[
        str | None,
        typer.Option("--before", metavar="TIME", help="Runs that closed before a date or time, in UTC."),
    ] = None,
    batch: Annotated[
        int, typer.Option("--batch", min=1, help="Runs in one transaction; others have their turn between.")
    ] = 100,
    yes: Yes = False,
    db: Db = None,
    output: Output = Format.TEXT,
) -> None:
    """Delete runs that closed long ago, with all that belongs to them, and definitions no run uses any more.

    Workers may go on meanwhile. `db vacuum` gives the space back.
    """
    from orchestrator.cli.output import emit
    from orchestrator.cli.pruning import prune_store

    emit(prune_store(db, older_than, before, batch, is_confirmed=yes), output, lambda _: "")


@app.command()
def vacuum(db: Db = None, output: Output = Format.TEXT) -> None:
    """Give back the space of what was deleted. Everybody else waits meanwhile."""
    from orchestrator.cli.output import emit
    from orchestrator.cli.session import open_client
    from orchestrator.cli.surveys import size_text
    from orchestrator.cli.terminal import note

    with open_client(db) as client:
        store = client.engine.store
        before = sum(store.sizes())
        store.vacuum()
        after = sum(store.sizes())
    note(f"{size_text(before)} before, {size_text(after)} now")
    emit({"bytes_before": before, "bytes_after": after}, output, lambda _: "")


@app.command()
def export(
    flow_ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]", help="Only the runs of these flow ids.")
    ] = None,
    file: Annotated[
        str | None,
        typer.Option("--file", "-O", metavar="FILE", help="Where to write; - is stdout, the default."),
    ] = None,
    db: Db = None,
) -> None:
    """Write whole runs, with history, messages, attributes and definitions, as JSON lines."""
    from orchestrator.cli.session import open_client
    from orchestrator.cli.transfers import write_lines
    from orchestrator.engine.transfer import export_runs

    with open_client(db) as client:
        write_lines(export_runs(client.engine, flow_ids or ()), file)


@app.command(name="import")
def import_(
    file: Annotated[str, typer.Argument(metavar="FILE", help="What `db export` wrote; - is standard input.")],
    yes: Yes = False,
    db: Db = None,
    output: Output = Format.TEXT,
) -> None:
    """Take in exported runs: all or, when a flow id is already there, none."""
    from orchestrator.cli.output import emit
    from orchestrator.cli.transfers import read_runs

    emit(read_runs(db, file, is_confirmed=yes), output, lambda _: "")
