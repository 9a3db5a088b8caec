"""The executable `orchestrator`: commands, errors, exit codes. Heavy imports happen inside commands."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from typing import Annotated

import typer

from orchestrator.cli.arguments import Command
from orchestrator.cli.commands import (
    attributes,
    check,
    database,
    describe,
    diff,
    explain,
    graph,
    history,
    init,
    lint,
    list_runs,
    lsp,
    migrate,
    pausing,
    publish,
    queues,
    rehearse,
    render,
    rpc,
    run,
    show,
    start,
    steer,
    stop,
    time_travel,
    verify,
    wait,
    watch,
    worker,
)
from orchestrator.cli.failures import INTERRUPTED, is_json_asked, report
from orchestrator.cli.streams import drop


def show_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            text = version("orchestrator")
        except PackageNotFoundError:
            text = "not installed"
        typer.echo(f"orchestrator {text}")
        raise typer.Exit


def options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Declare flow graphs in YAML, bind Python handlers by name, execute them durably."""


COMMANDS: dict[str, Callable[..., object]] = {
    "init": init.init,
    "lint": lint.lint,
    "verify": verify.verify,
    "check": check.check,
    "lsp": lsp.lsp,
    "graph": graph.graph,
    "render": render.render,
    "show": show.show,
    "rehearse": rehearse.rehearse,
    "diff": diff.diff,
    "run": run.run,
    "start": start.start,
    "worker": worker.worker,
    "publish": publish.publish,
    "rpc": rpc.rpc,
    "describe": describe.describe,
    "explain": explain.explain,
    "history": history.history,
    "list": list_runs.list_runs,
    "wait": wait.wait,
    "watch": watch.watch,
    "stop": stop.stop,
    "skip-timer": steer.skip_timer,
    "retry-now": steer.retry_now,
    "config": steer.config,
    "time-travel": time_travel.time_travel,
    "migrate": migrate.migrate,
    "pause": pausing.pause,
    "resume": pausing.resume,
}
GROUPS: dict[str, typer.Typer] = {"attributes": attributes.app, "queues": queues.app, "db": database.app}


def app_of(names: Collection[str]) -> typer.Typer:
    """The command line with these commands and groups; typer takes 2 ms to make each."""
    app = typer.Typer(
        name="orchestrator",
        help="Declare flow graphs in YAML, bind Python handlers by name, execute them durably.",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(options)
    for name, command in COMMANDS.items():
        if name in names:
            app.command(name, cls=Command)(command)
    for name, group in GROUPS.items():
        if name in names:
            for registered in group.registered_commands:
                registered.cls = Command
            app.add_typer(group, name=name)
    return app


app = app_of({*COMMANDS, *GROUPS})


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """Only with the command that is named, where one is: the others would say nothing."""
    asked = arguments[0] if arguments else ""
    return app_of([asked]) if asked in COMMANDS or asked in GROUPS else app


def invoke(arguments: Sequence[str]) -> int:
    """Run one command line; the exit code."""
    try:
        code = _run(arguments)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    try:
        return _flush(code, arguments)
    except KeyboardInterrupt:
        drop(sys.stdout)
        return INTERRUPTED


def _run(arguments: Sequence[str]) -> int:
    try:
        code = app_for(arguments)(list(arguments), prog_name="orchestrator", standalone_mode=False)
    except BrokenPipeError:
        return 0  # its reader had enough (`… | head`)
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # as typer tells of it
            return 0
        raise
    except Exception as error:
        return report(error, is_json_asked(arguments))
    return code if isinstance(code, int) else 0


def _flush(code: int, arguments: Sequence[str]) -> int:
    """What cannot be written is told once, and not tried again when the interpreter ends."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        drop(sys.stdout)
    except OSError as error:
        drop(sys.stdout)
        return code or report(error, is_json_asked(arguments))
    return code


def main() -> None:
    sys.exit(invoke(sys.argv[1:]))
