"""`orchestrator attributes …`: what a run remembers."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.options import Db, FlowId, Format, Output

app = typer.Typer(no_args_is_help=True, help="Attributes of a run: get, set, wait.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="An attribute of the flow.", show_default=False)]
Key = Annotated[
    str | None,
    typer.Option("--key", metavar="KEY", help="Entry of an attribute map.", show_default=False),
]


@app.command("get")
def get_attributes(
    flow_id: FlowId,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Only this one; null where it is not set.")
    ] = None,
    key: Key = None,
    db: Db = None,
    output: Output = Format.TEXT,
) -> None:
    """Print the attributes that are set, or one of them; also of a closed run."""
    from orchestrator.cli.output import emit, one_line
    from orchestrator.cli.session import open_client
    from orchestrator.errors import UsageError

    with open_client(db) as client:
        if name is None:
            if key is not None:
                raise UsageError("--key names an entry of one attribute map: give its NAME too")
            emit(client.attributes(flow_id), output, _as_lines)
            return
        emit(client.attribute(flow_id, name, key=key), output, one_line)


@app.command("set")
def set_attributes(
    flow_id: FlowId,
    values: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE...",
            help="VALUE is JSON, @file or - (stdin); null deletes; a map takes its entries.",
            show_default=False,
        ),
    ],
    db: Db = None,
    output: Output = Format.TEXT,
) -> None:
    """Write attributes of a run, all in one commit."""
    from orchestrator.cli.output import emit
    from orchestrator.cli.session import open_client
    from orchestrator.cli.terminal import note
    from orchestrator.cli.values import parse_assignments

    assigned = parse_assignments(values, "NAME=VALUE")
    with open_client(db) as client:
        client.set_attributes(flow_id, assigned)
    note(f"set {', '.join(assigned)} of {flow_id}")
    emit({"flow_id": flow_id, "attributes": list(assigned)}, output, lambda _: "")


@app.command("wait")
def wait_for_attribute(
    flow_id: FlowId,
    name: Name,
    value: Annotated[
        str | None,
        typer.Argument(metavar="[VALUE]", help="JSON; without it: until the attribute is set."),
    ] = None,
    comparison: Annotated[
        str | None, typer.Option("--comparison", metavar="OP", help="== (default), !=, <, <=, > or >=.")
    ] = None,
    key: Key = None,
    timeout: Annotated[
        str | None,
        typer.Option("--timeout", metavar="DURATION", help="How long, e.g. 30s; without it for ever."),
    ] = None,
    db: Db = None,
    output: Output = Format.TEXT,
) -> None:
    """Wait until an attribute has a value, and print it.

    Exit 3 timed out, 4 when the run is closed without.
    """
    from orchestrator.cli.options import parse_span
    from orchestrator.cli.output import emit, one_line
    from orchestrator.cli.session import open_client
    from orchestrator.cli.values import parse_value
    from orchestrator.engine import arguments

    limit = parse_span(timeout, "--timeout")
    wanted = arguments.json(parse_value(value, "VALUE"), "VALUE")
    if comparison is None:
        comparison = "!=" if value is None else "=="
    with open_client(db) as client:
        found = client.wait_for_attribute(
            flow_id, name, wanted, comparison=comparison, key=key, timeout=limit
        )
    emit(found, output, one_line)


def _as_lines(attributes: dict[str, object]) -> str:
    from orchestrator.cli.layout import columns
    from orchestrator.cli.output import compact

    return "\n".join("".join(row) for row in columns([[n, compact(v, 200)] for n, v in attributes.items()]))
