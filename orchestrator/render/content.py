"""What a diagram of a flow says: cards, links and rails, in the layers asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orchestrator.definition.model import Attribute, Channel, Decision, Flow, Join
from orchestrator.graph.query import movements_of, next_steps, steps_in_reading_order, with_otherwise
from orchestrator.render.card_rows import Pen, movement_multiplicity
from orchestrator.render.cards import Card, Diagram, Link, Rail, Tap
from orchestrator.render.overlay import RunOverlay

ON_TIMEOUT = "timeout_handler:on_timeout"


def compose(flow: Flow, layers: frozenset[str], overlay: RunOverlay | None = None) -> Diagram:
    """Cards in reading order; rails only for what a card is wired to, and for every channel."""
    pen = Pen(flow, layers, overlay)
    cards = [pen.step_card(flow.steps[name]) for name in steps_in_reading_order(flow)]
    cards += [pen.rpc_card(rpc) for rpc in flow.rpcs.values()]
    if flow.on_timeout is not None:
        cards.append(pen.timeout_card(flow.on_timeout))
    is_controlled = "control" in layers
    return Diagram(
        name=flow.name,
        description=flow.description,
        cards=tuple(cards),
        links=tuple(_faded(_links(flow), cards)) if is_controlled else (),
        rails=tuple(_rails(flow, layers, cards, overlay)),
        routes=tuple(_routes(flow)),
        status=overlay.title if overlay else "",
        states=frozenset(card.state for card in cards if card.state),
        trace=overlay.trace if overlay else None,
    )


def _links(flow: Flow) -> list[Link]:
    links = []
    if flow.start is not None:
        links.append(Link("start", "", f"step:{flow.start}", "start", "start"))
    for step in flow.steps.values():
        links += _links_of(f"step:{step.name}", step.name, step.decisions, "go_to")
    for rpc in flow.rpcs.values():
        links += _links_of(f"rpc:{rpc.name}", f"rpc:{rpc.name}", rpc.decisions, "rpc_start")
    if flow.on_timeout is not None:
        links += _links_of(ON_TIMEOUT, "on_timeout", flow.on_timeout.decisions, "timeout")
    return links


def _links_of(card: str, name: str, decisions: Sequence[Decision], kind: str) -> list[Link]:
    links = []
    for suffix, decision, _ in with_otherwise(decisions):
        movements = movements_of(decision)
        for movement in movements:
            is_parallel = len(movements) > 1 or movement.for_each is not None
            links.append(
                Link(
                    source=card,
                    port=port_of(suffix),
                    target=f"step:{movement.step}",
                    kind="fan_out" if is_parallel and kind == "go_to" else kind,
                    ref=f"decision:{name}/{suffix}",
                    label=movement_multiplicity(movement),
                    title=f"{card.partition(':')[2]} → {movement.step}",
                    is_parallel=is_parallel,
                )
            )
    return links


def _faded(links: Sequence[Link], cards: Sequence[Card]) -> list[Link]:
    """Arrows look like the decisions that they leave."""
    faded = {(card.ref, row.port) for card in cards for row in card.rows if row.is_faded}
    return [replace(link, is_faded=(link.source, link.port) in faded) for link in links]


def port_of(suffix: str) -> str:
    """Port of a decision's row: `d2`, `d2o` for its `otherwise`."""
    number, _, rest = suffix.partition("/")
    return "d" + number + "o" * rest.count("otherwise")


def _routes(flow: Flow) -> list[tuple[str, str]]:
    """For each recovery step the deepest step that fails into it: it then stands below all of them."""
    depth = _depths(flow)
    sources: dict[str, list[str]] = {}
    for step in flow.steps.values():
        if step.on_failure is not None and step.on_failure.step != step.name:
            sources.setdefault(step.on_failure.step, []).append(step.name)
    return [
        (f"step:{recovery}", f"step:{max(failing, key=lambda name: (depth.get(name, 0), name))}")
        for recovery, failing in sources.items()
    ]


def _depths(flow: Flow) -> dict[str, int]:
    """Distance of each step from the roots over movements, breadth first."""
    roots = [flow.start] if flow.start is not None else list(flow.steps)[:1]
    for rpc in flow.rpcs.values():
        roots += next_steps(rpc)
    depth: dict[str, int] = {}
    level = [name for name in roots if name in flow.steps]
    while level:
        for name in level:
            depth.setdefault(name, len(depth))
        level = [
            target
            for name in level
            for _, decision, _ in with_otherwise(flow.steps[name].decisions)
            for target in (movement.step for movement in movements_of(decision))
            if target in flow.steps and target not in depth
        ]
        level = list(dict.fromkeys(level))
    return depth


def _rails(
    flow: Flow, layers: frozenset[str], cards: Sequence[Card], overlay: RunOverlay | None
) -> list[Rail]:
    wired = {tap.rail for tap in taps_of(cards)}
    rails: list[Rail] = []
    if "channels" in layers:
        for number, channel in enumerate(flow.channels.values()):
            unread = overlay.queued.get(channel.name, 0) if overlay else 0
            rails.append(_channel_rail(channel, number, unread))
    if "control" in layers:
        joins = [join for join in flow.joins.values() if f"join:{join.name}" in wired]
        rails += [_join_rail(join) for join in joins]
    if "attributes" in layers:
        rails += [
            _attribute_rail(attribute)
            for attribute in flow.attributes.values()
            if f"attribute:{attribute.name}" in wired
        ]
    if "failure" in layers:
        rails += [
            Rail(f"failure:{name}", "failure", name, title=f"failures that {name} recovers from")
            for name in flow.steps
            if f"failure:{name}" in wired
        ]
    return rails


def taps_of(cards: Sequence[Card]) -> list[Tap]:
    return [
        entry.tap for card in cards for row in card.rows for entry in row.entries if entry.tap is not None
    ]


def _channel_rail(channel: Channel, number: int, unread: int) -> Rail:
    notes = [channel.type.text]
    if channel.is_map:
        notes.append("one per key")
    if channel.is_external:
        notes.append("clients publish")
    if channel.delivery.value != "queued":
        notes.append(channel.delivery.value)
    if channel.capacity is not None:
        notes.append(f"at most {channel.capacity}")
    return Rail(
        ref=f"channel:{channel.name}",
        kind="channel",
        name=channel.name,
        notes=tuple(notes),
        title=channel.description or f"channel {channel.name}",
        badge=f"{unread} queued" if unread else "",
        color=number,
    )


def _join_rail(join: Join) -> Rail:
    return Rail(f"join:{join.name}", "join", join.name, ("join of " + join.type.text,), join.description)


def _attribute_rail(attribute: Attribute) -> Rail:
    notes = (attribute.type.text, *(["one per key"] if attribute.is_map else []))
    return Rail(f"attribute:{attribute.name}", "attribute", attribute.name, notes, attribute.description)
