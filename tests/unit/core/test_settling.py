"""After an event: which waits are looked at."""

from __future__ import annotations

from tests.support.play import Play


def test_a_wait_that_is_accepted_and_published_to_in_one_commit_is_looked_at_once() -> None:
    play = Play(
        """
        flow: F
        channels: {c: string, d: string}
        start: A
        steps:
          A:
            wait_for:
              all_of: [{channel: c}, {channel: d}]
              publish: {c: x}
            graceful_complete: null
        """
    )
    play.settle()
    assert play.phase("A-1") == "waiting"
    assert play.unread("c") == ["x"]
