"""`orchestrator worker`: execute the runs of a store."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.options import Concurrency, Db, Flows, LogFormat, LogLevel, Traces

Retention = Annotated[
    str | None,
    typer.Option(
        "--retention",
        "--prune-after",
        metavar="DURATION",
        help="Delete runs this long after they closed (30d). Env ORCHESTRATOR_RETENTION; default: never.",
        show_default=False,
    ),
]
Horizon = Annotated[
    str,
    typer.Option("--horizon", metavar="DURATION", help="With --until-idle: also what is due within it."),
]
Queues = Annotated[
    str | None,
    typer.Option(
        "--queues",
        metavar="QUEUE,…",
        help="Take only work of these queues (`orchestrator queues`), flow types (Order) or steps "
        "(Order/Charge); others take the rest.",
        show_default=False,
    ),
]
Processes = Annotated[
    int | None,
    typer.Option(
        "--processes",
        metavar="N",
        min=0,
        max=1024,
        help="Processes for handlers that compute. Default: one a processor if there are such handlers.",
        show_default=False,
    ),
]
RunInProcess = Annotated[
    list[str] | None,
    typer.Option(
        "--run-in-process",
        metavar="NAME",
        help="Call this handler (module:function) or the handlers of this step (Order/Charge) in a process "
        "of its own; may be repeated.",
        show_default=False,
    ),
]
MetricsPort = Annotated[
    int | None,
    typer.Option(
        "--metrics-port",
        metavar="PORT",
        min=0,
        max=65535,
        help="Serve /metrics for Prometheus, /healthz and /readyz for probes; 0 chooses a free port.",
        show_default=False,
    ),
]
MetricsHost = Annotated[
    str,
    typer.Option(
        "--metrics-host",
        metavar="ADDRESS",
        help="Address of that port; 0.0.0.0 is every one, for probes and scrapes from elsewhere.",
    ),
]
TracesOption = Annotated[
    Traces | None,
    typer.Option(
        "--traces",
        help="Where OpenTelemetry traces of runs go; needs the extra orchestrator[otel].",
        show_default=False,
    ),
]
Format = Annotated[
    LogFormat,
    typer.Option("--log-format", help="What is said on stderr: text, or one JSON object a line."),
]
Level = Annotated[
    LogLevel | None,
    typer.Option(
        "--log-level",
        help="The least that is logged. Default: info; as text, events of runs only when it is given.",
        show_default=False,
    ),
]


def worker(
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End when there is nothing to do.")
    ] = False,
    horizon: Horizon = "0s",
    concurrency: Concurrency = 8,
    retention: Retention = None,
    queues: Queues = None,
    processes: Processes = None,
    run_in_process: RunInProcess = None,
    metrics_port: MetricsPort = None,
    metrics_host: MetricsHost = "127.0.0.1",
    traces: TracesOption = None,
    log_format: Format = LogFormat.TEXT,
    log_level: Level = None,
    flows: Flows = None,
    db: Db = None,
) -> None:
    """Execute runs until stopped.

    SIGTERM and Ctrl-C drain: what runs is finished, the rest is handed back.
    """
    from orchestrator.cli.serving import WorkerOptions, serve

    serve(
        WorkerOptions(
            db=db,
            flows=flows,
            concurrency=concurrency,
            until_idle=until_idle,
            horizon=horizon,
            retention=retention,
            queues=queues,
            processes=processes,
            run_in_process=run_in_process,
            metrics_port=metrics_port,
            metrics_host=metrics_host,
            traces=traces,
            log_format=log_format,
            log_level=log_level,
        )
    )
