"""Rules about channels and attributes that nobody needs, or nobody serves (REF006 to REF009)."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.definition.model import Attribute, Channel
from orchestrator.definition.problem import Fix, Problem
from orchestrator.lint.editing import removal
from orchestrator.lint.facts import Facts
from orchestrator.lint.rules import Rule


def check_channels(facts: Facts) -> Iterator[Problem]:
    for channel in facts.flow.channels.values():
        use = facts.uses.channels[channel.name]
        if not use.waits and not use.publishers and not use.readers:
            yield _unused_channel(facts, channel)
        elif use.waits and not use.publishers and not channel.is_external:
            yield _never_published(facts, channel)
        elif use.publishers and not use.waits and not use.readers and not channel.leftover:
            yield facts.problem(
                "REF008",
                f"{use.publishers[0].who} publishes to `{channel.name}`, and no step waits on it",
                use.publishers[0].path,
                is_key=True,
                also=[(channel.path, "declared here")],
                help="wait on it, or say `leftover: true` where its messages may stay unread",
            )


def _unused_channel(facts: Facts, channel: Channel) -> Problem:
    what = "clients may publish to it, and no step waits on it" if channel.is_external else "nobody uses it"
    return facts.problem(
        "REF006",
        f"channel `{channel.name}` is neither waited on nor published to: {what}",
        channel.path,
        is_key=True,
        help="remove the declaration",
        fix=None if _is_named_in_verify(facts, channel.name) else _deletion(facts, channel),
    )


def _never_published(facts: Facts, channel: Channel) -> Problem:
    use = facts.uses.channels[channel.name]
    first = use.waits[0]
    return facts.problem(
        "REF007",
        f"`{first.step.name}` waits on `{channel.name}`, and nobody publishes to it",
        (*first.condition.path, "channel"),
        also=[
            (channel.path, "not external: clients cannot"),
            *(((*each.condition.path, "channel"), f"`{each.step.name}` waits too") for each in use.waits[1:]),
        ],
        help="publish to it in a step or an RPC, or declare it with `external: true`",
    )


def check_attributes(facts: Facts) -> Iterator[Problem]:
    """What handlers and clients read is not seen, so an attribute that something writes is never reported."""
    for attribute in facts.flow.attributes.values():
        use = facts.uses.attributes[attribute.name]
        if use.writers or (attribute.initial is not None and (use.readers or facts.uses.has_handlers)):
            continue
        if use.readers:
            yield facts.problem(
                "REF009",
                f"attribute `{attribute.name}` is read and never written: it is null unless a client sets it",
                attribute.path,
                is_key=True,
                also=[(use.readers[0].path, f"{use.readers[0].who} reads it")],
                help="set it, or give it an `initial` value",
                severity="info",
                confidence="heuristic",
            )
        elif not use.others and attribute.index is None and not attribute.sync:
            yield _unused_attribute(facts, attribute)


def _unused_attribute(facts: Facts, attribute: Attribute) -> Problem:
    return facts.problem(
        "REF009",
        f"attribute `{attribute.name}` is never read and never written",
        attribute.path,
        is_key=True,
        help="remove the declaration, or let a handler write it: `may: {set: [" + attribute.name + "]}`",
        fix=_deletion(facts, attribute),
    )


def _deletion(facts: Facts, declaration: Channel | Attribute) -> Fix | None:
    """Not safe where clients may know the channel."""
    edit = removal(facts.source, declaration.path)
    is_safe = not (isinstance(declaration, Channel) and declaration.is_external)
    return Fix(f"delete `{declaration.name}`", (edit,), is_safe) if edit is not None else None


def _is_named_in_verify(facts: Facts, channel: str) -> bool:
    verify = facts.flow.verify
    properties = [each.get("conserved") for each in verify.get("properties", ()) if isinstance(each, dict)]
    return channel in verify.get("external", {}) or channel in properties


RULES: list[Rule] = [check_channels, check_attributes]
