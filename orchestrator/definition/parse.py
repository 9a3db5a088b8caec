"""A `*.flow.yaml` to a typed definition, or to all problems of the file in one go. Nothing is executed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from orchestrator.definition.document import compose_document, construct, replace_control_characters
from orchestrator.definition.gaps import GAP_CODES, MOST_GAPS, NO_GAPS, fill_gaps
from orchestrator.definition.hash import hash_definition
from orchestrator.definition.model import Durability, Flow, Json, Path, Step
from orchestrator.definition.parse_declarations import (
    read_attributes,
    read_channels,
    read_flow_timeout,
    read_joins,
    read_modules,
    read_types,
    read_verify,
)
from orchestrator.definition.parse_handlers import Declared
from orchestrator.definition.parse_steps import Surroundings, read_rpc, read_step, read_timeout_handler
from orchestrator.definition.parse_values import read_type
from orchestrator.definition.parse_waits import read_config
from orchestrator.definition.problem import Edit, Fix, LabelledSpan, Problem, Span, line_starts, sort_key
from orchestrator.definition.quoting import quoted
from orchestrator.definition.reading import Fields, Reading, shown
from orchestrator.definition.scopes import Scopes
from orchestrator.definition.source import Source
from orchestrator.definition.types import ANY, Type

SIZE_LIMIT = 1024 * 1024
LANGUAGE = 1
_HIDES_THE_REST = {"YML011", "YML015"}
"""What is left of the document would only give follow-up problems."""
_QUOTED_LIMIT = 50
"""Each unquoted expression costs another look at the whole file."""
_KINDS = {
    "steps": "step",
    "channels": "channel",
    "attributes": "attribute",
    "joins": "join",
    "rpcs": "rpc",
    "types": "type",
}


def parse(text: str, path: str) -> tuple[Flow | None, list[Problem]]:
    """The flow, None where there are problems; problems in file order."""
    return _parse(text, path, quoted_count=0)


def _parse(text: str, path: str, quoted_count: int) -> tuple[Flow | None, list[Problem]]:
    source, node, problems = read_document(text, path)
    codes = {problem.code for problem in problems}
    rest = fill_gaps(source, node, problems) if codes & GAP_CODES else NO_GAPS
    if rest is None or source.is_unreadable or codes & _HIDES_THE_REST:
        return None, _with_problems_behind(text, path, problems, quoted_count)
    reading = Reading(source)
    try:
        flow = _read_flow(reading, node)
    except RecursionError:
        flow = None
        help = "types that refer to each other in a long row have to be shortened"
        reading.report("YML015", (), "types or values are nested too deeply", help=help)
    name = node.get("flow") if isinstance(node, dict) else None
    places = {(problem.span.line, problem.span.column) for problem in problems}
    found = problems + [
        replace(problem, flow=name) if isinstance(name, str) else problem
        for problem in reading.problems
        if (problem.span.line, problem.span.column) not in places and rest.has(problem)
    ]
    if found or flow is None:
        return None, sorted(found, key=sort_key)
    return replace(flow, hash=hash_definition(node), source=source), []


def parse_partly(text: str, path: str) -> Flow | None:
    """What can be understood of a flow that may have problems, for editors; never to be executed."""
    source, node, _ = read_document(text, path)
    flow = None if source.is_unreadable else _read_flow(Reading(source), node)
    return replace(flow, source=source) if flow is not None else None


def _with_problems_behind(text: str, path: str, problems: list[Problem], quoted_count: int) -> list[Problem]:
    """An unquoted expression stops the YAML reader: quote it, and see what else the file has."""
    unquoted = next((problem for problem in problems if problem.code == "YML017"), None)
    if unquoted is None or quoted_count == _QUOTED_LIMIT:
        return problems
    span = unquoted.span
    line_start = line_starts(text)[span.line - 1]
    start, end = line_start + span.column - 1, line_start + span.end_column - 1
    instead = quoted(text[start:end])
    mended = text[:start] + instead + text[end:]
    if mended == text:
        return problems
    added = len(instead) - (end - start)
    _, behind = _parse(mended, path, quoted_count + 1)
    if any(problem.code == "YML017" and _is_within(problem.span, span, added) for problem in behind):
        return problems
    return sorted([unquoted, *(_moved_back(problem, span, added) for problem in behind)], key=sort_key)


def _is_within(found: Span, quoted_at: Span, added: int) -> bool:
    """Quoting it did not help."""
    return found.line == quoted_at.line and quoted_at.column <= found.column < quoted_at.end_column + added


def _moved_back(problem: Problem, quoted_at: Span, added: int) -> Problem:
    """A position in the mended text as one in the text as written."""

    def back(line: int, column: int) -> int:
        if line != quoted_at.line or column <= quoted_at.column:
            return column
        return max(quoted_at.column, column - (added if column > quoted_at.end_column else 1))

    def moved(span: Span) -> Span:
        column, end_column = back(span.line, span.column), back(span.end_line, span.end_column)
        return span._replace(column=column, end_column=max(end_column, column + 1))

    fix = problem.fix
    if fix is not None:
        fix = replace(fix, edits=tuple(Edit(moved(edit.span), edit.text) for edit in fix.edits))
    spans = tuple(replace(labelled, span=moved(labelled.span)) for labelled in problem.spans)
    return replace(problem, span=moved(problem.span), spans=spans, fix=fix)


def read_document(text: str, path: str) -> tuple[Source, Json, list[Problem]]:
    """The document as plain JSON with its positions; problems of the YAML text alone."""
    problems: list[Problem] = []

    def report(
        code: str,
        message: str,
        span: Span,
        *,
        help: str = "",
        first: Span | None = None,
        fix: Fix | None = None,
    ) -> None:
        spans = (LabelledSpan(path, first, "first here"),) if first is not None else ()
        problems.append(Problem(code, message, path, span, help=help, spans=spans, fix=fix))

    bare = Source(path, text)
    byte_count = len(text.encode("utf-8", "surrogatepass"))
    if byte_count > SIZE_LIMIT:
        report("YML011", f"the file has {byte_count} bytes, more than {SIZE_LIMIT}", Span(1, 1, 1, 1))
        return bare, None, problems
    readable, controls = replace_control_characters(text)
    for span, name in controls[:MOST_GAPS]:
        help = 'write it as an escape in quotes: "\\u…"'
        report("YML014", f"character {name} is not allowed in YAML", span, help=help)
    if len(controls) > MOST_GAPS:
        return bare, None, problems
    root = compose_document(readable, report)
    node = construct(root, report) if root is not None else None
    if root is None:
        lines = {span.line for span, _ in controls}
        problems = [p for p in problems if p.code == "YML014" or p.span.line not in lines]
    return Source(path, text, root), node, sorted(problems, key=sort_key)


def _read_flow(reading: Reading, node: Json) -> Flow | None:
    if node is None:
        reading.report("YML012", (), "the file is empty", help="declare a flow: `flow: Name`")
        return None
    fields = reading.read_mapping(node, (), "flow", "the flow")
    if fields is None:
        return None
    name = None
    if fields.require("flow", help="the flow's type: `flow: Name`"):
        name = reading.read_identifier(fields["flow"], fields.at("flow"), "flow type")
    _check_language(fields)
    for key, kind in _KINDS.items():
        if isinstance(fields.values.get(key), dict):
            reading.names[kind] = {entry: None for entry in fields[key] if not entry.startswith("x-")}
    types = read_types(reading, fields["types"], fields.at("types")) if "types" in fields else {}
    given, output = (_read_optional_type(fields, key, types) for key in ("input", "output"))
    attributes = (
        read_attributes(reading, fields["attributes"], fields.at("attributes"), types)
        if "attributes" in fields
        else {}
    )
    channels = (
        read_channels(reading, fields["channels"], fields.at("channels"), types)
        if "channels" in fields
        else {}
    )
    joins = read_joins(reading, fields["joins"], fields.at("joins"), types) if "joins" in fields else {}
    start = None
    if "start" in fields:
        start = reading.read_reference(fields["start"], fields.at("start"), "step")
    inputs = _read_step_inputs(fields, start, given, types)
    scopes = Scopes(attributes=attributes, channels=channels, joins=joins, flow_input=given, types=types)
    around = Surroundings(Declared(attributes, channels, inputs, types), joins, scopes, output)
    flow = Flow(
        name=name or "",
        input=given,
        output=output,
        attributes=attributes,
        channels=channels,
        joins=joins,
        start=start,
        types=types,
        description=fields.text("description"),
    )
    flow = _add_steps(fields, flow, around)
    return _add_settings(fields, flow)


def _read_optional_type(fields: Fields, key: str, types: Mapping[str, Json]) -> Type | None:
    if key not in fields:
        return None
    return read_type(fields.reading, fields[key], fields.at(key), types) or ANY


def _check_language(fields: Fields) -> None:
    reading = fields.reading
    if "language" in fields:
        node = fields["language"]
        if isinstance(node, bool) or node != LANGUAGE or not isinstance(node, int):
            message = f"language {shown(node)} is not known to this release"
            reading.report("SCH007", fields.at("language"), message, help=f"write language: {LANGUAGE}")
    for key in ("version", "$schema"):
        is_number = isinstance(fields.values.get(key), int | float) and not isinstance(fields[key], bool)
        if key in fields and not (key == "version" and is_number):
            fields.text(key)


def _read_step_inputs(
    fields: Fields, start: str | None, given: Type | None, types: Mapping[str, Json]
) -> dict[str, Type | None]:
    """What each declared step takes; the start step's defaults to the flow's."""
    inputs: dict[str, Type | None] = {}
    if not isinstance(fields.values.get("steps"), dict):
        return inputs
    for name, node in fields["steps"].items():
        inputs[name] = None
        if not isinstance(node, dict):
            inputs[name] = given if name == start else None
        elif "input" in node:
            path: Path = (*fields.at("steps"), name, "input")
            inputs[name] = read_type(fields.reading, node["input"], path, types) or ANY
            if name == start:
                _check_start_input(fields.reading, path, name, given, inputs[name])
        elif name == start:
            inputs[name] = given
    return inputs


def _check_start_input(reading: Reading, path: Path, name: str, given: Type | None, own: Type | None) -> None:
    """The start input is checked against both types, so one of them has to be within the other."""
    if given is None or own is None:
        return
    why_not = given.fits(own)
    if why_not is not None and own.fits(given) is not None:
        message = f"the start step `{name}` takes {own.text}, and the flow's input is {given.text}: {why_not}"
        reading.report("TYP003", path, message, labels={"the flow's input": ("input",)})


def _add_steps(fields: Fields, flow: Flow, around: Surroundings) -> Flow:
    reading = fields.reading
    steps, rpcs = {}, {}
    if "steps" in fields:
        context = _context_of_steps(fields)
        for name, node, path in reading.read_named(fields["steps"], fields.at("steps"), "`steps`"):
            reading.read_identifier(name, path, "step", is_key=True)
            step = _known_step(reading, name, node, path, around, context)
            if step is not None:
                steps[name] = step
    if "rpcs" in fields:
        for name, node, path in reading.read_named(fields["rpcs"], fields.at("rpcs"), "`rpcs`"):
            reading.read_identifier(name, path, "RPC", is_key=True)
            rpc = read_rpc(reading, name, node, path, around)
            if rpc is not None:
                rpcs[name] = rpc
    on_timeout = None
    if "on_timeout" in fields:
        if "on_timeout" in reading.names["step"]:
            message = "step `on_timeout` has the name under which the timeout handler is known"
            path = (*fields.at("steps"), "on_timeout")
            labels = {"the timeout handler": fields.at("on_timeout")}
            help = "choose another name"
            reading.report("NAM001", path, message, help=help, is_about_key=True, labels=labels)
        on_timeout = read_timeout_handler(reading, fields["on_timeout"], fields.at("on_timeout"), around)
    return replace(flow, steps=steps, rpcs=rpcs, on_timeout=on_timeout)


_KNOWN_STEPS: dict[tuple[str, str, str], Step] = {}
_MOST_KNOWN = 5_000
"""Steps without problems, by context, name and JSON: an edit of one step reads one step anew."""


def _known_step(
    reading: Reading, name: str, node: Json, path: Path, around: Surroundings, context: str
) -> Step | None:
    key = (context, name, json.dumps(node))
    step = _KNOWN_STEPS.get(key)
    if step is not None:
        return step
    count_before = len(reading.problems)
    step = read_step(reading, name, node, path, around)
    if step is not None and len(reading.problems) == count_before:
        if len(_KNOWN_STEPS) >= _MOST_KNOWN:
            _KNOWN_STEPS.clear()
        _KNOWN_STEPS[key] = step
    return step


def _context_of_steps(fields: Fields) -> str:
    """Everything outside of a step that its meaning can depend on: all but the bodies of the others."""
    steps = fields.values["steps"]
    inputs = steps
    if isinstance(steps, dict):
        inputs = {
            name: [node["input"]] if isinstance(node, dict) and "input" in node else isinstance(node, dict)
            for name, node in steps.items()
        }
    return json.dumps([inputs, {key: value for key, value in fields.values.items() if key != "steps"}])


def _add_settings(fields: Fields, flow: Flow) -> Flow:
    reading = fields.reading
    handlers: tuple[str, ...] = ()
    if "handlers" in fields:
        handlers = read_modules(reading, fields["handlers"], fields.at("handlers"))
    durability = Durability.SYNC
    if "config" in fields:
        config = read_config(reading, fields["config"], fields.at("config"))
        durability = Durability(config.get("durability", durability))
    verify = read_verify(reading, fields["verify"], fields.at("verify")) if "verify" in fields else {}
    version = str(fields["version"]) if "version" in fields else None
    return replace(
        flow,
        handlers=handlers,
        timeout=read_flow_timeout(fields),
        durability=durability,
        verify=verify,
        version=version,
    )
