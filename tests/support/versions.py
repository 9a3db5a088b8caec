"""Versions of one flow that differ in a few respects: for property tests of migration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from orchestrator.definition.model import Flow
from orchestrator.definition.parse import parse

Draw = Any
Options = Mapping[str, str]

CHOICES: dict[str, tuple[str, ...]] = {
    "signal": ("go", "ready"),
    "signal_type": ("integer", "number", "any", "string"),
    "part": ("Part", "Share"),
    "part_input": ("integer", "number", "any"),
    "part_wait": ("none", "until", "any_of", "all_of", "two", "counted", "waits for nothing but time"),
    "part_reads": ("nothing", "message", "fired", "local"),
    "part_work": ("none", "work", "other", "locked", "typed"),
    "part_options": ("none", "short", "routed"),
    "part_ends": ("report", "by another step", "channel"),
    "recovery": ("none", "plain", "reads failure"),
    "collect": ("all", "active", "first", "channel"),
    "collect_reads": ("messages", "by_branch", "nothing"),
    "total": ("initial", "set by the first", "absent"),
    "total_name": ("total", "amount"),
    "token": ("none", "section"),
    "deadline": ("none", "fail", "handler"),
    "join_name": ("parts", "shares"),
    "after": ("complete", "one more step", "waits once more"),
}


@st.composite
def options(draw: Draw) -> dict[str, str]:
    return {name: draw(st.sampled_from(choices)) for name, choices in CHOICES.items()}


@st.composite
def two_versions(draw: Draw) -> tuple[dict[str, str], dict[str, str]]:
    old = draw(options())
    changed = draw(st.lists(st.sampled_from(sorted(CHOICES)), min_size=1, max_size=3, unique=True))
    return old, {**old, **{name: draw(st.sampled_from(CHOICES[name])) for name in changed}}


def build(chosen: Options) -> Flow | None:
    """None: these do not go together."""
    flow, _ = parse(_text(chosen), "version.flow.yaml")
    return flow


def _text(o: Options) -> str:
    return "\n".join(
        [
            "flow: Versions",
            *_declarations(o),
            "start: Begin",
            "steps:",
            *_begin(o),
            *_part(o),
            *_further_steps(o),
            *_collect(o),
            *(["on_timeout: {execute: work, force_complete: late}"] if o["deadline"] == "handler" else []),
        ]
    )


def _declarations(o: Options) -> list[str]:
    attribute = {"initial": "{type: integer, initial: 1}", "set by the first": "integer"}.get(o["total"])
    policy = {
        "fail": "timeout: {after: 500d, policy: fail}",
        "handler": "timeout: {after: 500d, policy: handler}",
    }
    return [
        *([policy[o["deadline"]]] if o["deadline"] in policy else []),
        "channels:",
        f"  {o['signal']}: {{type: {o['signal_type']}, external: true}}",
        "  more: {type: integer, external: true}",
        "  again: {type: integer, external: true}",
        "  finished: any",
        *(["  token: integer"] if o["token"] == "section" else []),
        *(["attributes:", f"  {o['total_name']}: {attribute}"] if attribute else []),
        "joins:",
        f"  {o['join_name']}: any",
    ]


def _begin(o: Options) -> list[str]:
    options = {
        "short": ", options: {execute: {timeout: 5m}}",
        "routed": ", options: {on_failure: Excuse}",
    }.get(o["part_options"], "")
    sets = f"\n    set: {{{o['total_name']}: 3}}" if o["total"] == "set by the first" else ""
    seed = "\n    publish: {token: 1}" if o["token"] == "section" else ""
    return [
        f"  Begin:{sets}{seed}",
        f"    join: {o['join_name']}",
        "    go_to_many:",
        f'      - {{for_each: [1, 2], step: {o["part"]}, input: "${{item}}"{options}}}',
        "      - Collect",
    ]


def _wait(o: Options) -> str:
    signal = f"{{channel: {o['signal']}, id: signal}}"
    token = ["{channel: token}"] if o["token"] == "section" else []
    kind = o["part_wait"]
    if token and kind in ("none", "until", "any_of", "counted"):
        return f"all_of: [{', '.join([signal, *token])}]"
    forms = {
        "until": f"until: {signal}",
        "any_of": f"any_of: [{signal}, {{timer: 3d, id: late}}]",
        "all_of": f"all_of: [{', '.join([signal, '{channel: more}', *token])}]",
        "two": "any_combination_of: [[signal, more], [late]]\n      conditions: {signal: {channel: "
        + o["signal"]
        + "}, more: {channel: more}, late: {timer: 9d}}",
        "counted": f"until: {{channel: {o['signal']}, id: signal, at_least: 1, at_most: 2}}",
        "waits for nothing but time": "until: {timer: 1d, id: late}",
    }
    return forms.get(kind, "")


def _part(o: Options) -> list[str]:
    wait = _wait(o)
    work = {
        "work": "execute: work",
        "other": "execute: other",
        "locked": f"execute: {{handler: work, locks: [{o['total_name']}]}}",
        "typed": "execute: work\n    result: integer",
    }.get(o["part_work"], "")
    local = '\n      local: {base: "${input}"}' if o["part_reads"] == "local" and wait else ""
    route = "on_failure: Excuse" if o["recovery"] != "none" or o["part_options"] == "routed" else ""
    lines = [f"  {o['part']}:", f"    input: {o['part_input']}"]
    lines += [f"    wait_for:\n      {wait}{local}"] if wait else []
    lines += [f"    {text}" for text in (work, route) if text]
    return [*lines, *_part_decision(o, wait)]


def _part_decision(o: Options, wait: str) -> list[str]:
    value = "${input}"
    if o["part_reads"] == "message" and "signal" in wait and "at_most" not in wait:
        value = "${wait.signal.message}"
    if o["part_reads"] == "fired" and "late" in wait:
        value = "${wait.late.fired ? 1 : 0}"
    if o["part_reads"] == "local" and wait:
        value = "${local.base}"
    effects = ["token: 1"] if o["token"] == "section" else []
    if o["part_ends"] == "channel":
        effects.append(f'finished: "{value}"')
    publish = [f"    publish: {{{', '.join(effects)}}}"] if effects else []
    if o["part_ends"] == "by another step":
        return [*publish, f'    go_to: {{step: Hand, input: "{value}"}}']
    report = [f'    report: {{{o["join_name"]}: "{value}"}}'] if o["part_ends"] == "report" else []
    return [*publish, *report, "    dead_end: true"]


def _further_steps(o: Options) -> list[str]:
    told = "publish: {finished: 0}" if o["part_ends"] == "channel" else f"report: {{{o['join_name']}: 0}}"
    if o["token"] == "section":
        told = "publish: {token: 1, finished: 0}" if "finished" in told else f"publish: {{token: 1}}, {told}"
    lines = []
    if o["part_ends"] == "by another step":
        report = f'report: {{{o["join_name"]}: "${{input}}"}}'
        lines.append(f"  Hand: {{input: any, execute: work, {report}, dead_end: true}}")
    if o["recovery"] != "none" or o["part_options"] == "routed":
        reads = 'decide: [{when: "failure.attempts > 99", force_fail: no}, {' + told + ", dead_end: true}]"
        plain = f"{told}, dead_end: true"
        lines.append(f"  Excuse: {{input: any, {reads if o['recovery'] == 'reads failure' else plain}}}")
    return lines


def _collect(o: Options) -> list[str]:
    if o["collect"] == "channel":
        wait, name = "{channel: finished, for: 2}", "finished"
    else:
        need = {"all": "", "active": ", need: active", "first": ", need: first"}[o["collect"]]
        wait, name = f"{{join: {o['join_name']}, id: parts{need}}}", "parts"
    given = {"messages": f"${{wait.{name}.messages}}", "by_branch": f"${{wait.{name}.by_branch}}"}
    output = given.get(o["collect_reads"], "done")
    lines = ["  Collect:", f"    wait_for: {{until: {wait}}}"]
    last = f'graceful_complete: "{output}"'
    if o["after"] == "complete" and o["total"] == "absent":
        return [*lines, f"    {last}"]
    read = f"${{attributes.{o['total_name']} + 1}}" if o["total"] != "absent" else "1"
    hold = "wait_for: {until: {channel: again}}, " if o["after"] == "waits once more" else ""
    return [
        *lines,
        '    go_to: {step: Last, input: "' + output + '"}',
        f'  Last: {{input: any, {hold}graceful_complete: "{read}"}}',
    ]
