"""`orchestrator worker`: execute the runs of a store."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.options import Concurrency, Db, Flows

Retention = Annotated[
    str | None,
    typer.Option(
        "--retention",
        metavar="DURATION",
        help="Delete runs this long after they closed (30d). Env ORCHESTRATOR_RETENTION; default: never.",
        show_default=False,
    ),
]


def worker(
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End when there is nothing to do.")
    ] = False,
    horizon: Annotated[
        str,
        typer.Option("--horizon", metavar="DURATION", help="With --until-idle: also what is due within it."),
    ] = "0s",
    concurrency: Concurrency = 8,
    retention: Retention = None,
    queues: Annotated[
        str | None,
        typer.Option(
            "--queues",
            metavar="QUEUE,…",
            help="Take only work of these flow types (Order) or steps (Order/Charge); others take the rest.",
            show_default=False,
        ),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            "--metrics-port",
            metavar="PORT",
            min=0,
            max=65535,
            help="Serve http://127.0.0.1:PORT/metrics for Prometheus; 0 chooses a free port.",
            show_default=False,
        ),
    ] = None,
    flows: Flows = None,
    db: Db = None,
) -> None:
    """Execute runs until stopped.

    SIGTERM and Ctrl-C drain: what runs is finished, the rest is handed back.
    """
    from orchestrator.cli.working import work

    work(
        db,
        flows,
        concurrency,
        until_idle=until_idle,
        horizon=horizon,
        retention=retention,
        queues=queues,
        metrics_port=metrics_port,
    )
