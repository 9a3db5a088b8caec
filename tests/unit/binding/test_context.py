"""What `ctx` gives, does and refuses (language.md 6.2)."""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest

from orchestrator import Context
from orchestrator.binding.context import Services
from orchestrator.binding.invoke import Returned
from orchestrator.binding.method import MethodKind
from orchestrator.binding.mistakes import (
    HandlerMistake,
    InvalidResult,
    NotLoaded,
    UndeclaredEffect,
    UnknownName,
)
from orchestrator.core.events import Message, Record, Write
from orchestrator.core.state import RecoveredFailure
from orchestrator.definition.model import May, MayRange
from orchestrator.errors import InvalidValue
from tests.support.calls import START, call


def with_context(
    use: Callable[[Context], Any], given: dict[str, Any] | None = None, **binding: Any
) -> Returned:
    def handler(ctx: Context) -> Any:
        return use(ctx)

    return call(handler, given=given, **binding)


def seen(use: Callable[[Context], Any], **given: Any) -> Any:
    return with_context(use, given).result


def run_all(*actions: Callable[[Context], Any]) -> Callable[[Context], None]:
    def run(ctx: Context) -> None:
        for action in actions:
            action(ctx)

    return run


@pytest.mark.rule(54)
def test_the_context_tells_who_and_where() -> None:
    def use(ctx: Context) -> Any:
        names = "flow flow_id run_id run_attempt step step_execution_id from_step_execution_id attempt"
        more = ["started_at", "wait_for_failed", "failure", "cancelled"]
        return {name: getattr(ctx, name) for name in [*names.split(), *more]}

    assert seen(use, attempt=3, run_attempt=2) == {
        "flow": "OrderFlow",
        "flow_id": "order-7",
        "run_id": "run-1",
        "run_attempt": 2,
        "step": "Charge",
        "step_execution_id": "Charge-2",
        "from_step_execution_id": "__start__",
        "attempt": 3,
        "started_at": "2030-01-01T00:00:00Z",
        "wait_for_failed": False,
        "failure": None,
        "cancelled": False,
    }


@pytest.mark.rule(50)
def test_the_idempotency_key_is_flow_id_and_execution_in_every_attempt() -> None:
    assert seen(lambda ctx: ctx.idempotency_key, attempt=1) == "order-7/Charge-2"
    assert seen(lambda ctx: ctx.idempotency_key, attempt=9) == "order-7/Charge-2"


@pytest.mark.rule(153)
def test_a_recovery_handler_sees_the_failure() -> None:
    failure = RecoveredFailure("CardRefused", "no money", 2, "Charge-1", "NOT_COMPLETED")

    def use(ctx: Context) -> Any:
        assert ctx.failure is not None
        return [ctx.failure.type, ctx.failure.message, ctx.failure.attempts, ctx.failure.progress]

    assert seen(use, failure=failure) == ["CardRefused", "no money", 2, "NOT_COMPLETED"]


def test_cancellation_and_client_come_from_the_engine() -> None:
    def handler(ctx: Context) -> Any:
        return [ctx.cancelled, ctx.client]

    services = Services(client="client", is_cancelled=lambda: True)
    assert call(handler, services=services).result == [True, "client"]
    with pytest.raises(HandlerMistake, match="no client here"):
        with_context(lambda ctx: ctx.client)


def test_log_records_carry_the_ids_of_the_call(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="orchestrator.handlers"):
        with_context(lambda ctx: ctx.logger.info("charged %d", 5, extra={"amount": 5}))
    record = caplog.records[0]
    assert record.getMessage() == "charged 5"
    assert record.name == "orchestrator.handlers.OrderFlow.Charge"
    assert (record.__dict__["flow_id"], record.__dict__["step_execution_id"]) == ("order-7", "Charge-2")
    assert record.__dict__["amount"] == 5


# --- Attributes ---


def test_attributes_read_what_is_committed_and_null_where_unset() -> None:
    def use(ctx: Context) -> Any:
        return [
            ctx.attributes["status"],
            ctx.attributes["notes"],
            ctx.attributes.get("notes", ["none"]),
            "status" in ctx.attributes,
            "notes" in ctx.attributes,
            list(ctx.attributes),
        ]

    result = seen(use, attributes={"status": "new"})
    assert result == ["new", None, ["none"], True, False, ["status", "notes"]]


@pytest.mark.rule(53)
def test_attributes_read_the_writes_of_the_same_call() -> None:
    def use(ctx: Context) -> Any:
        ctx.attributes["status"] = "paid"
        del ctx.attributes["notes"]
        return [ctx.attributes["status"], ctx.attributes["notes"]]

    returned = with_context(use, {"attributes": {"status": "new", "notes": ["n"]}})
    assert returned.result == ["paid", None]
    assert returned.effects.writes == (Write("status", "paid"), Write("notes", None))


def test_changing_what_was_read_changes_neither_the_run_nor_the_staged_write() -> None:
    committed = {"notes": ["one"]}

    def use(ctx: Context) -> Any:
        ctx.attributes["notes"].append("lost")
        ctx.attributes["notes"] = [*ctx.attributes["notes"], "two"]
        ctx.attributes["notes"].append("lost")
        return ctx.attributes["notes"]

    returned = with_context(use, {"attributes": committed})
    assert committed == {"notes": ["one"]}
    assert returned.result == ["one", "two"]
    assert returned.effects.writes == (Write("notes", ["one", "two"]),)


def test_map_entries_are_read_and_written_one_by_one() -> None:
    def use(ctx: Context) -> Any:
        progress = ctx.attributes["progress"]
        progress["payment"] = "done"
        ctx.attributes["progress"][7] = "packed"
        del progress["old"]
        return [progress["payment"], progress["absent"], progress.get("absent", "-"), dict(progress.items())]

    returned = with_context(use, {"attribute_maps": {"progress": {"old": "x", "kept": "y"}}})
    assert returned.result == ["done", None, "-", {"kept": "y", "payment": "done", "7": "packed"}]
    assert returned.effects.writes == (
        Write("progress", "done", "payment"),
        Write("progress", "packed", "7"),
        Write("progress", None, "old"),
    )


def test_none_deletes_all_entries_of_a_map() -> None:
    def use(ctx: Context) -> Any:
        ctx.attributes["progress"] = None
        ctx.attributes["progress"]["new"] = "n"
        return [dict(ctx.attributes["progress"].items()), ctx.attributes["progress"]["old"]]

    returned = with_context(use)
    assert returned.result == [{"new": "n"}, None]
    assert returned.effects.writes == (Write("progress", None), Write("progress", "n", "new"))


@pytest.mark.rule(102)
def test_reading_entries_that_are_not_loaded_names_the_remedy() -> None:
    with pytest.raises(NotLoaded, match=r"declare `loads: \[progress\]`"):
        with_context(lambda ctx: len(ctx.attributes["progress"]))
    with pytest.raises(NotLoaded, match=r"declare `loads: \[{progress: payment}\]`"):
        with_context(lambda ctx: ctx.attributes["progress"]["payment"])


def test_a_partly_loaded_map_gives_only_the_entries_asked_for() -> None:
    given = {"attribute_maps": {"progress": {"payment": None}}, "partly_loaded": frozenset({"progress"})}
    assert with_context(lambda ctx: ctx.attributes["progress"]["payment"], given).result is None
    with pytest.raises(NotLoaded):
        with_context(lambda ctx: ctx.attributes["progress"]["other"], given)
    with pytest.raises(NotLoaded):
        with_context(lambda ctx: list(ctx.attributes["progress"]), given)


@pytest.mark.rule(102)
def test_writing_to_a_map_needs_no_loading() -> None:
    def use(ctx: Context) -> Any:
        ctx.attributes["progress"]["payment"] = "done"
        return ctx.attributes["progress"]["payment"]

    assert with_context(use).result == "done"


# --- Channels ---


def test_publishing_keeps_the_order() -> None:
    use = run_all(
        lambda ctx: ctx.publish("token", "a"),
        lambda ctx: ctx.publish("tasks", {"n": 1}, key=5),
        lambda ctx: ctx.publish("token", "b"),
    )
    assert with_context(use).effects.publishes == (
        Message("token", "a"),
        Message("tasks", {"n": 1}, "5"),
        Message("token", "b"),
    )


@pytest.mark.rule(95)
def test_sizes_include_what_this_call_publishes() -> None:
    def use(ctx: Context) -> Any:
        ctx.publish("token", "a")
        ctx.publish("tasks", 1, key="x")
        ctx.publish("latest", 1)
        ctx.publish("latest", 2)
        channels = ctx.channels
        return [
            channels["token"].size,
            channels["tasks"].size,
            channels["tasks"]["x"].size,
            channels["tasks"]["y"].size,
            channels["tasks"]["z"].size,
            channels["latest"].size,
        ]

    sizes = {"token": 2, "tasks": 3, "latest": 1}
    given = {"channel_sizes": sizes, "map_channel_sizes": {"tasks": {"y": 3}}}
    assert with_context(use, given).result == [3, 4, 1, 3, 0, 1]


@pytest.mark.rule(102)
def test_unread_messages_are_there_if_loaded() -> None:
    messages = {("token", None): ["a", "b"]}
    assert seen(lambda ctx: ctx.channels["token"].messages, messages=messages) == ["a", "b"]
    with pytest.raises(NotLoaded, match=r"declare `loads: \[{channel: token}\]`"):
        with_context(lambda ctx: ctx.channels["token"].messages)


# --- Waits, locals, events ---

RESULTS = {
    "approval": {"satisfied": True, "messages": ["yes"], "message": "yes"},
    "many": {"satisfied": True, "messages": ["a", "b"]},
    "none": {"satisfied": False, "messages": [], "message": None},
    "deadline": {"satisfied": False, "fired": True},
    "each": [{"satisfied": True, "messages": [1], "message": 1, "item": "x", "key": "k"}],
}


@pytest.mark.rule(82)
def test_wait_results_are_read_as_attribute_and_as_item() -> None:
    def use(ctx: Context) -> Any:
        wait = ctx.wait
        return [
            wait.approval.message,
            wait["approval"].satisfied,
            wait.many.messages,
            wait.none.message,
            [wait.deadline.fired, wait.deadline.satisfied],
            [(result.item, result.key, result.message) for result in wait.each],
            list(wait),
        ]

    assert seen(use, wait=RESULTS) == [
        "yes", True, ["a", "b"], None, [True, False], [["x", "k", 1]], list(RESULTS),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda ctx: ctx.wait.many.message, "`many` took 2 messages: read `.messages`"),
        (lambda ctx: ctx.wait.aproval, "no condition `aproval`; did you mean `approval`"),
        (lambda ctx: ctx.wait.deadline.message, "the result of `deadline` has no `message`"),
    ],
)
def test_a_wrong_read_of_a_wait_says_what_there_is(use: Callable[[Context], Any], message: str) -> None:
    with pytest.raises(HandlerMistake, match=message):
        with_context(use, {"wait": RESULTS})


@pytest.mark.rule(47)
def test_locals_are_written_by_wait_for_and_read_by_execute() -> None:
    from orchestrator import skip

    def wait(ctx: Context) -> Any:
        ctx.local["period"] = ctx.local.get("period", 0) + 1
        assert ctx.local.period == 1
        return skip()

    effects = call(wait, kind=MethodKind.WAIT_FOR).effects
    assert effects.locals == {"period": 1}
    assert seen(lambda ctx: [ctx.local.period, ctx.local["period"]], locals={"period": 1}) == [1, 1]
    with pytest.raises(UnknownName, match="no local `perod`; did you mean `period`"):
        with_context(lambda ctx: ctx.local.perod, {"locals": {"period": 1}})


def _write_local(ctx: Context) -> None:
    ctx.local["x"] = 1


def test_execute_cannot_write_locals() -> None:
    with pytest.raises(HandlerMistake, match="only wait_for handlers write locals"):
        with_context(_write_local)


@pytest.mark.rule(55)
def test_recorded_events_have_unique_names() -> None:
    use = run_all(lambda ctx: ctx.record_event("called", {"n": 1}), lambda ctx: ctx.record_event("paid"))
    assert with_context(use).effects.records == (Record("called", {"n": 1}), Record("paid", None))
    twice = run_all(lambda ctx: ctx.record_event("called"), lambda ctx: ctx.record_event("called"))
    with pytest.raises(HandlerMistake, match="recorded `called` twice"):
        with_context(twice)


# --- Refusals ---


def _set(name: str, value: Any) -> Callable[[Context], None]:
    def use(ctx: Context) -> None:
        ctx.attributes[name] = value

    return use


@pytest.mark.rule(10)
@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda ctx: ctx.attributes["stats"], "no attribute `stats`; did you mean `status`"),
        (lambda ctx: ctx.attributes.get("stats", 1), "no attribute `stats`"),
        (_set("stats", 1), "no attribute `stats`"),
        (lambda ctx: ctx.publish("tokn"), "no channel `tokn`; did you mean `token`"),
        (lambda ctx: ctx.channels["tokn"].size, "no channel `tokn`"),
        (lambda ctx: ctx.cancel("Shipp"), "no step `Shipp`; did you mean `Ship`"),
    ],
)
def test_undeclared_names_are_refused_at_once(use: Callable[[Context], Any], message: str) -> None:
    with pytest.raises(UnknownName, match=message):
        with_context(use)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (_set("status", "x"), r"Charge may not set `status`: declare `may: {set: \[status\]}`"),
        (lambda ctx: ctx.publish("token", "a"), r"may not publish `token`: declare `may: {publish: \[to"),
        (lambda ctx: ctx.cancel("Ship"), r"may not cancel `Ship`: declare `may: {cancel: \[Ship\]}`"),
    ],
)
def test_what_may_does_not_list_is_refused_at_once(use: Callable[[Context], Any], message: str) -> None:
    with pytest.raises(UndeclaredEffect, match=message):
        with_context(use, may=None)


def test_more_often_than_may_says_is_refused_at_once() -> None:
    use = run_all(lambda ctx: ctx.publish("token", "a"), lambda ctx: ctx.publish("token", "b"))
    with pytest.raises(UndeclaredEffect, match="may publish `token` at most once in one call"):
        with_context(use, may=May(publish={"token": MayRange(1, 1)}))


def test_cancelling_a_step_twice_counts_once() -> None:
    ship, refund = (lambda ctx: ctx.cancel("Ship")), (lambda ctx: ctx.cancel("Refund"))
    may = May(cancel={"Ship": MayRange(1, 1), "Refund": MayRange()})
    assert with_context(run_all(ship, ship, refund), may=may).effects.cancels == ("Ship", "Refund")


@pytest.mark.rule(101)
@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (_set("status", 5), InvalidValue, "the attribute `status` is not string"),
        (_set("notes", [float("nan")]), InvalidValue, "the attribute `notes` is not JSON: nan"),
        (_set("progress", {"a": "b"}), HandlerMistake, "`progress` is a map: write its entries"),
        (lambda ctx: ctx.publish("token", 5), InvalidValue, "a message to `token` is not string"),
        (lambda ctx: ctx.publish("token"), InvalidValue, "a message to `token` is not string"),
        (lambda ctx: ctx.publish("token", "a", key="k"), HandlerMistake, "`token` is no channel map"),
        (lambda ctx: ctx.publish("tasks", 1), HandlerMistake, "say which instance"),
        (lambda ctx: ctx.publish("tasks", 1, key=""), HandlerMistake, "text that is not empty"),
        (lambda ctx: ctx.record_event("x", object()), InvalidResult, "the event `x` is not JSON"),
        (lambda ctx: ctx.record_event(""), HandlerMistake, "the name of a recorded event is text"),
    ],
)
def test_wrong_values_raise_inside_the_handler(
    use: Callable[[Context], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        with_context(use)


NOT_NAMES: dict[str, Any] = {
    "a number": 3,
    "true": True,
    "nothing": None,
    "a list": ["status"],
    "an object": {},
    "bytes": b"status",
}
NAMED: dict[str, tuple[Callable[[Context, Any], Any], str]] = {
    "publish": (lambda ctx, name: ctx.publish(name, "x"), "channels are named by text, not .*there are `la"),
    "cancel": (lambda ctx, name: ctx.cancel(name), "steps are named by text, not .*there are `Charge`"),
    "attributes": (
        lambda ctx, name: ctx.attributes[name],
        "attributes are named by text.* `notes`",
    ),
    "get": (lambda ctx, name: ctx.attributes.get(name), "attributes are named by text"),
    "set": (lambda ctx, name: _set(name, "x")(ctx), "attributes are named by text"),
    "in": (lambda ctx, name: name in ctx.attributes, "attributes are named by text"),
    "channels": (lambda ctx, name: ctx.channels[name].size, "channels are named by text"),
    "wait": (lambda ctx, name: ctx.wait[name], "conditions are named by text, not .*there are `go`"),
    "a result": (lambda ctx, name: ctx.wait["go"][name], "fields are named by text, not .*`satisfied`"),
    "local": (lambda ctx, name: ctx.local[name], "locals are named by text, not .*there are `attempt`"),
    "record_event": (lambda ctx, name: ctx.record_event(name), "name of a recorded event is text"),
}


@pytest.mark.parametrize("name", NOT_NAMES.values(), ids=NOT_NAMES)
@pytest.mark.parametrize("what", NAMED)
def test_what_is_no_name_is_refused_with_those_there_are(what: str, name: Any) -> None:
    use, message = NAMED[what]
    with pytest.raises(HandlerMistake, match=message):
        with_context(
            lambda ctx: use(ctx, name), given={"wait": {"go": {"satisfied": True}}, "locals": {"attempt": 1}}
        )


@pytest.mark.parametrize(
    "use",
    [
        lambda ctx: ctx.publish("tasks", 1, key="a\udcff"),
        lambda ctx: ctx.attributes["progress"].__setitem__("a\udcff", "x"),
        lambda ctx: ctx.channels["tasks"]["a\udcff"].size,
        lambda ctx: ctx.record_event("a\udcff"),
    ],
)
def test_text_that_is_not_unicode_is_refused_before_it_is_kept(use: Callable[[Context], Any]) -> None:
    """It could not be written, nor its attempt reported as failed."""
    with pytest.raises(HandlerMistake, match=r"'a\\udcff': text with half a surrogate pair"):
        with_context(use)


@pytest.mark.parametrize(
    "use",
    [
        lambda ctx: ctx.publish("tasks", 1, key="a\0"),
        lambda ctx: ctx.attributes["progress"].__setitem__("a\0", "x"),
        lambda ctx: ctx.record_event("a\0"),
    ],
)
def test_a_key_with_nul_is_refused_before_it_is_kept(use: Callable[[Context], Any]) -> None:
    """PostgreSQL has no text with NUL: a worker tried for ever to write it, and wrote nothing else."""
    with pytest.raises(HandlerMistake, match=r"'a\\x00': text with a NUL character is no id and no key"):
        with_context(use)


def test_keys_and_names_may_be_members_of_enums() -> None:
    class Part(str, Enum):  # noqa: UP042
        TASKS = "tasks"
        FIRST = "first"

    class Number(int, Enum):
        ONE = 1

    def use(ctx: Context) -> None:
        ctx.publish(Part.TASKS, 1, key=Part.FIRST)
        ctx.publish(Part.TASKS, 2, key=Number.ONE)
        ctx.attributes["progress"][Part.FIRST] = "done"
        ctx.record_event(Part.FIRST)

    effects = with_context(use).effects
    assert [str(message.key) for message in effects.publishes] == ["first", "1"]
    assert [str(write.key) for write in effects.writes] == ["first"]
    assert [str(record.name) for record in effects.records] == ["first"]


@pytest.mark.parametrize(
    ("use", "advice"),
    [
        (
            lambda ctx: setattr(ctx.attributes, "status", "x"),
            r"written by item: ctx.attributes\['status'\] = …",
        ),
        (lambda ctx: setattr(ctx.attributes["progress"], "a", "x"), r"written by item, with \['a'\] = …"),
        (lambda ctx: ctx.attributes["progress"].a, r"read by item, with \['a'\], or by `get`"),
        (lambda ctx: setattr(ctx.local, "tries", 1), r"written by item: ctx.local\['tries'\] = …"),
        (lambda ctx: ctx.local.__delitem__("tries"), r"not deleted: ctx.local\['tries'\] = None"),
        (lambda ctx: ctx.channels.__setitem__("token", 1), r"is published: ctx.publish\('token', …\)"),
        (lambda ctx: ctx.channels.__delitem__("token"), "are taken by waits"),
        (lambda ctx: ctx.atributes, "a context has no `atributes`; did you mean `attributes`?"),
        (lambda ctx: ctx.xyz, "a context has no `xyz`; there are `attempt`, `attributes`"),
    ],
)
def test_what_is_done_in_another_way_is_said(use: Callable[[Any], Any], advice: str) -> None:
    with pytest.raises((AttributeError, HandlerMistake), match=advice):
        with_context(use)


def test_channels_give_their_names() -> None:
    assert seen(lambda ctx: [*ctx.channels, "token" in ctx.channels, "t" in ctx.channels]) == [
        "token",
        "latest",
        "tasks",
        True,
        False,
    ]


def test_what_a_property_of_the_context_raises_is_not_lost() -> None:
    def fail() -> Any:
        raise AttributeError("the client has no such thing")

    with pytest.raises(AttributeError, match="the client has no such thing"):
        call(lambda ctx: ctx.client, services=Services(open_client=fail))


def test_results_of_waits_can_be_copied() -> None:
    def use(ctx: Context) -> Any:
        return [copy.deepcopy(ctx.wait).go.satisfied, copy.copy(ctx.wait.go).satisfied]

    assert seen(use, wait={"go": {"satisfied": True}}) == [True, True]


def test_started_at_is_a_time() -> None:
    assert with_context(lambda ctx: ctx.started_at == START).result is True


def test_attributes_and_channels_say_that_they_are_reached_by_item() -> None:
    for use, advice in (
        (lambda ctx: ctx.attributes.status, r"ctx\.attributes\['status'\]"),
        (lambda ctx: ctx.channels.orders.size, r"ctx\.channels\['orders'\]"),
    ):
        with pytest.raises(AttributeError, match=advice):
            with_context(use)
