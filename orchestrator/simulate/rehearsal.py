"""A `*.rehearsal.yaml` to rehearsals, or to all problems of the file in one go."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path as FilePath
from typing import NamedTuple

from orchestrator.definition.catalogue import SUFFIX as FLOW_SUFFIX
from orchestrator.definition.catalogue import read_file
from orchestrator.definition.durations import parse_time
from orchestrator.definition.model import Flow, Json, Path, SubflowCondition
from orchestrator.definition.nearness import did_you_mean
from orchestrator.definition.parse import read_document
from orchestrator.definition.presence import require
from orchestrator.definition.problem import Problem, Span, sort_key
from orchestrator.definition.reading import Fields, Reading
from orchestrator.errors import InvalidValue, UsageError
from orchestrator.simulate.forms import CHILD, FILE, REHEARSAL, STATUSES, read_keys
from orchestrator.simulate.parse_acts import read_acts
from orchestrator.simulate.parse_expectations import implied_status, read_expectations
from orchestrator.simulate.parse_replies import REAL_WORD, read_handlers
from orchestrator.simulate.script import STARTS_AT, UNTIL, Rehearsal, RehearsalFile, ScriptedChild

SUFFIX = ".rehearsal.yaml"


class Parsed(NamedTuple):
    """`file` is None where there are problems."""

    file: RehearsalFile | None
    problems: list[Problem]


def find_rehearsals(paths: Iterable[str | FilePath]) -> list[FilePath]:
    """Files as given, every `*.rehearsal.yaml` under directories, the one beside a flow.

    Raises UsageError where there is none.
    """
    found: dict[FilePath, None] = {}
    for path in map(FilePath, paths):
        require(path)
        if path.is_dir():
            files = sorted(path.rglob("*" + SUFFIX))
            if not files:
                raise UsageError(f"there is no *{SUFFIX} under {path}")
            found.update(dict.fromkeys(files))
        elif path.name.endswith(FLOW_SUFFIX):
            beside = path.with_name(path.name.removesuffix(FLOW_SUFFIX) + SUFFIX)
            if not beside.exists():
                raise UsageError(f"there is no rehearsal beside {path}: write {beside}")
            found[beside] = None
        else:
            found[path] = None
    return list(found)


def read_rehearsals(path: str | FilePath) -> Parsed:
    """The rehearsals of one file, of the flow that it names; or the problems of either."""
    path = FilePath(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "this is not UTF-8"
        problem = Problem("YML013", f"the file cannot be read: {reason}", str(path), Span(1, 1, 1, 1))
        return Parsed(None, [problem])
    return parse_rehearsals(text, path)


def parse_rehearsals(text: str, path: FilePath) -> Parsed:
    """The same of a text that is to stand at `path`."""
    source, node, problems = read_document(text, str(path))
    if problems:
        return Parsed(None, problems)
    reading = Reading(source)
    fields = read_keys(reading, {} if node is None else node, (), FILE, "the file")
    if fields is None:
        return Parsed(None, reading.problems)
    flow, flow_path, problems = _read_flow(fields, path)
    rehearsals = _read_all(fields, flow) if flow is not None else ()
    problems = sorted([*problems, *reading.problems], key=sort_key)
    if problems or flow is None:
        return Parsed(None, problems)
    return Parsed(RehearsalFile(source, flow, flow_path, rehearsals), [])


def _read_flow(fields: Fields, path: FilePath) -> tuple[Flow | None, str, list[Problem]]:
    named = fields.text("flow")
    default = path.name.removesuffix(SUFFIX) + FLOW_SUFFIX
    flow_path = path.parent / (named or default)
    if not flow_path.is_file():
        help = "" if named else "name it: `flow: some.flow.yaml`, relative to this file"
        at: Path = ("flow",) if "flow" in fields else ()
        fields.reading.report("RHS004", at, f"there is no flow {flow_path}", help=help)
        return None, str(flow_path), []
    flow, problems = read_file(flow_path)
    if flow is not None:
        names = {"step": flow.steps, "channel": flow.channels, "attribute": flow.attributes, "rpc": flow.rpcs}
        fields.reading.names.update({kind: list(declared) for kind, declared in names.items()})
    return flow, str(flow_path), problems


def _read_all(fields: Fields, flow: Flow) -> tuple[Rehearsal, ...]:
    if not fields.require("rehearsals", help="a list of rehearsals, each with a `name`"):
        return ()
    path = fields.at("rehearsals")
    items = fields.reading.read_list(fields["rehearsals"], path, "`rehearsals`") or []
    read = [_read_rehearsal(fields.reading, item, (*path, i), flow) for i, item in enumerate(items)]
    rehearsals = tuple(rehearsal for rehearsal in read if rehearsal is not None)
    seen: dict[str, Path] = {}
    for rehearsal in rehearsals:
        first = seen.setdefault(rehearsal.name, (*rehearsal.path, "name"))
        if first[:-1] != rehearsal.path:
            fields.reading.report(
                "SCH014",
                (*rehearsal.path, "name"),
                f"there are two rehearsals `{rehearsal.name}`",
                labels={"first here": first},
            )
    return rehearsals


def _read_rehearsal(reading: Reading, node: Json, path: Path, flow: Flow) -> Rehearsal | None:
    fields = read_keys(reading, node, path, REHEARSAL, "a rehearsal")
    if fields is None or not fields.require("name", help="say in a few words what is shown"):
        return None
    name = fields.text("name")
    _check_start(fields, flow)
    starts_at = STARTS_AT
    if "starts_at" in fields:
        try:
            starts_at = parse_time(fields["starts_at"])
        except ValueError as error:
            reading.report("SCH011", fields.at("starts_at"), f"`starts_at`: {error}")
    until = fields.duration("until")
    handlers = fields.values.get("handlers", {})
    return Rehearsal(
        name=name,
        path=path,
        flow_id=fields.text("flow_id") or slug(name),
        description=fields.text("description"),
        input=fields.values.get("input"),
        has_input="input" in fields,
        attributes=fields.values.get("attributes") or {},
        timeout=fields.duration("timeout"),
        delay=fields.duration("delay"),
        starts_at=starts_at,
        until=UNTIL if until is None else until,
        replies=read_handlers(reading, handlers, fields.at("handlers"), flow),
        children=_read_children(fields, flow),
        acts=read_acts(reading, fields["events"], fields.at("events"), flow) if "events" in fields else (),
        expectations=read_expectations(reading, fields["expect"], fields.at("expect"), flow)
        if "expect" in fields
        else (implied_status({}, path),),
    )


def _check_start(fields: Fields, flow: Flow) -> None:
    """What the start would refuse is a mistake of the rehearsal."""
    reading = fields.reading
    if "attributes" in fields:
        for name, _, at in reading.read_named(fields["attributes"], fields.at("attributes"), "`attributes`"):
            reading.read_reference(name, at, "attribute", is_key=True)
    start = flow.steps[flow.start] if flow.start is not None else None
    types = [t for t in (flow.input, start.input if start is not None else None) if t is not None]
    if "input" in fields and not types:
        reading.report("TYP005", fields.at("input"), f"flow {flow.name} takes no input", is_about_key=True)
    if "input" not in fields and fields.has_unknown:
        return
    for type in types:
        try:
            type.check(fields.values.get("input"))
        except InvalidValue as error:
            at = fields.at("input") if "input" in fields else (*fields.path, "name")
            reading.report("TYP002", at, f"input of {flow.name}: {error.message}", help=f"it is: {type.text}")
            return


def _read_children(fields: Fields, flow: Flow) -> dict[str, ScriptedChild]:
    if "subflows" not in fields:
        return {}
    reading = fields.reading
    known = list(dict.fromkeys(_child_types(flow)))
    children: dict[str, ScriptedChild] = {}
    for name, value, at in reading.read_named(fields["subflows"], fields.at("subflows"), "`subflows`"):
        if name not in known:
            help = did_you_mean(name, known) or f"subflows of the flow: {', '.join(known) or 'none'}"
            reading.report(
                "REF005", at, f"no step waits for a subflow `{name}`", help=help, is_about_key=True
            )
        elif value != REAL_WORD and (child := _read_child(reading, value, at)) is not None:
            children[name] = child
    return children


def _read_child(reading: Reading, node: Json, path: Path) -> ScriptedChild | None:
    fields = read_keys(reading, node, path, CHILD, "a scripted subflow")
    if fields is None:
        return None
    status = fields.values.get("status", "COMPLETED")
    reading.read_word(status, fields.at("status"), "`status`", STATUSES[1:])
    outputs: list[Json] = []
    if "output" in fields:
        fields.exclude("output", ["outputs"])
        outputs = [fields["output"]]
    elif "outputs" in fields:
        outputs = (
            reading.read_list(fields["outputs"], fields.at("outputs"), "`outputs`", allows_empty=True) or []
        )
    if status != "COMPLETED":
        fields.refuse(["output", "outputs"], f"has no place here: a run that is {status} gives no output")
    error = fields.values.get("error")
    if error is not None:
        read = read_keys(reading, error, fields.at("error"), ("type", "message"), "`error`")
        error = {"type": read.text("type"), "message": read.text("message")} if read is not None else None
    takes = fields.duration("takes") or ScriptedChild().takes
    return ScriptedChild(str(status), tuple(outputs), error, takes)


def _child_types(flow: Flow) -> Iterator[str]:
    for step in flow.steps.values():
        for condition in step.wait_for.conditions if step.wait_for is not None else ():
            if isinstance(condition, SubflowCondition):
                yield condition.flow


def slug(name: str) -> str:
    """`a reviewer withdraws` → `a-reviewer-withdraws`; a flow id never has `/`, `$` or `:`."""
    return re.sub(r"[^\w]+", "-", name.lower()).strip("-") or "rehearsal"
