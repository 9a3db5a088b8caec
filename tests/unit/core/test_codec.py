"""Changes as bytes, in the present form and in that of earlier releases."""

from datetime import UTC, datetime

import msgspec
import pytest

from orchestrator.core import changes as c
from orchestrator.core.codec import decode, decode_execution, encode, encode_execution
from orchestrator.core.events import Failure
from orchestrator.core.state import Execution, Phase

NOW = datetime(2030, 1, 1, 12, 30, 15, 250, UTC)
CHANGES: list[c.Change] = [
    c.RunOpened("id", "run", NOW, {"n": 1.5}),
    c.StepQueued(Execution(step="A", number=1, origin="__start__", due_at=NOW)),
    c.StepQueued(Execution(step="B", number=1, origin="__start__", phase=Phase.WAIT_FOR, due_at=NOW)),
    c.AttemptFailed("A-1", NOW, Failure("ValueError", "no"), NOW),
    c.StepEnded("A-1", c.COMPLETED, None, 2),
    c.RunClosed("COMPLETED", NOW),
]
TAGS = """
    run_opened step_queued wait_accepted timers_fired wait_satisfied wait_skipped child_requested
    child_reported child_abandoned watcher_added heartbeat_kept locks_taken locks_awaited attempt_failed
    skip_remembered retry_due timeout_handler_begun step_ended message_queued messages_returned
    messages_dropped attribute_set attribute_deleted config_set round_opened reported round_counted
    round_forgotten completion_requested output_added event_recorded rpc_answered run_restored
    definition_changed run_closed
"""


def test_a_number_stands_for_the_same_change_for_ever() -> None:
    """New ones are added at the end."""
    given = dict(enumerate(TAGS.split(), start=1))
    assert {kind.__struct_config__.tag: word for kind, word in c.WORDS.items()} == given


def test_what_is_encoded_is_read_again() -> None:
    assert decode(encode(CHANGES)) == CHANGES
    for change in CHANGES:
        if isinstance(change, c.StepQueued):
            assert decode_execution(encode_execution(change.execution)) == change.execution


def test_changes_with_words_are_read() -> None:
    words = {kind.__struct_config__.tag: word for kind, word in c.WORDS.items()}
    earlier = [[words[tag], *rest] for tag, *rest in msgspec.msgpack.decode(encode(CHANGES))]
    for change in earlier:
        if change[0] == "step_ended":
            change[2] = "completed"
    assert decode(msgspec.msgpack.encode(earlier)) == CHANGES


BROKEN = [
    {"a": 1},
    [["nothing"]],
    [[["run_opened"]]],
    [["step_ended"]],
    [[99, 1]],
    [[]],
    [["step_ended", 1, []]],
]


@pytest.mark.parametrize("body", BROKEN)
def test_what_is_no_list_of_changes_is_refused(body: object) -> None:
    with pytest.raises(msgspec.ValidationError):
        decode(msgspec.msgpack.encode(body))
