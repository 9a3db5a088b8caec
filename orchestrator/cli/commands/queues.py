"""`orchestrator queues …`: how much of which work is done at a time, by all workers of a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.options import Db, Format, Output

app = typer.Typer(
    no_args_is_help=True, help="Route work to queues, and limit them: set, list, remove, apply."
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the queue.", show_default=False)]
Routes = Annotated[
    list[str] | None,
    typer.Option(
        "--route",
        metavar="FLOW[/STEP]",
        help="What stands in the queue: a flow type, a step, or * for all that no other queue has; may be "
        "repeated. Replaces the routes that it had.",
        show_default=False,
    ),
]
Concurrency = Annotated[
    str | None,
    typer.Option(
        "--concurrency",
        metavar="N|none",
        help="How many handlers of it may run at a time, on all workers; 0: none is begun.",
        show_default=False,
    ),
]
RateOption = Annotated[
    str | None,
    typer.Option(
        "--rate",
        metavar="N/TIME|none",
        help="How many attempts may begin in a time: 100/1m, 5/s.",
        show_default=False,
    ),
]
Burst = Annotated[
    int | None,
    typer.Option("--burst", metavar="N", min=1, help="With --rate: how many may begin at once. Default: 1."),
]
PriorityOption = Annotated[
    str | None,
    typer.Option("--priority", metavar="high|normal|low", help="What is begun first.", show_default=False),
]
Within = Annotated[
    str | None,
    typer.Option(
        "--within",
        metavar="QUEUE|none",
        help="The queue whose limits hold for this one, too.",
        show_default=False,
    ),
]


@app.command("set")
def set_queue(
    name: Name,
    route: Routes = None,
    concurrency: Concurrency = None,
    rate: RateOption = None,
    burst: Burst = None,
    priority: PriorityOption = None,
    within: Within = None,
    db: Db = None,
    output: Output = Format.TEXT,
) -> None:
    """Make a queue, or change what is given of one. It holds for all workers at once.

    What waits goes by the new settings, what runs is counted and goes on.
    """
    from orchestrator.cli.output import emit
    from orchestrator.cli.queue_commands import QueueChange, change_queue
    from orchestrator.cli.queue_values import queues_as_text

    change = QueueChange(route, concurrency, rate, burst, priority, within)
    emit(change_queue(db, name, change), output, lambda queue: queues_as_text([queue]))


@app.command("list")
def list_queues(db: Db = None, output: Output = Format.TEXT) -> None:
    """Show the queues, and what is in them: with a worker, and ready for one."""
    from orchestrator.cli.output import emit
    from orchestrator.cli.queue_commands import find_queues
    from orchestrator.cli.queue_values import queues_as_text

    emit(find_queues(db), output, queues_as_text)


@app.command()
def remove(name: Name, db: Db = None) -> None:
    """Remove a queue; what stands in it stands in none, without limits."""
    from orchestrator.cli.queue_commands import drop_queue
    from orchestrator.cli.terminal import note

    drop_queue(db, name)
    note(f"{name} is removed")


@app.command()
def apply(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A TOML file with a table for each queue."),
    ] = Path("pyproject.toml"),
    db: Db = None,
    output: Output = Format.TEXT,
) -> None:
    """Make the queues those of a file, and no others.

    A table for each queue: [tool.orchestrator.queues.NAME] in pyproject.toml, [NAME] in another file. Keys:
    routes, concurrency, rate, burst, priority, within.
    """
    from orchestrator.cli.output import emit
    from orchestrator.cli.queue_commands import apply_file
    from orchestrator.cli.queue_values import queues_as_text

    emit(apply_file(db, file), output, queues_as_text)
