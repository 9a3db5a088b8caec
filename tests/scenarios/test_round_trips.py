"""What a step costs on PostgreSQL, in what no neighbour disturbs: messages to the server, and statements."""

import pytest

from orchestrator.engine.client import Client
from orchestrator.engine.engine import Engine
from orchestrator.engine.worker import Worker
from orchestrator.store.postgres_wire import Answer, Call, Wire
from tests.benchmarks.counting import Counted
from tests.benchmarks.flows import sequence
from tests.support import postgres

STEPS = 10


class Messages:
    """Those that write history: a commit, all of it or its end."""

    def __init__(self) -> None:
        self.statements: list[int] = []
        self.halves = 0
        """Commits of which something was asked in a message before."""

    def note(self, calls: list[Call]) -> None:
        texts = [call.statement.text for call in calls]
        if any(b"INSERT INTO" in text and b".history" in text for text in texts):
            self.statements.append(sum(len(call.parameters) if call.is_many else 1 for call in calls))
            self.halves += b"pg_try_advisory_xact_lock" not in texts[0]


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> Messages:
    noted = Messages()
    send = Wire.send

    def note(wire: Wire, calls: list[Call]) -> list[Answer]:
        noted.note(calls)
        return send(wire, calls)

    monkeypatch.setattr(Wire, "send", note)
    return noted


def test_a_step_of_a_run_that_one_worker_has_is_one_message_of_one_statement(messages: Messages) -> None:
    """With its demands. The last one rings, too; a start may have to ask for a block of run numbers."""
    flow = sequence(STEPS)
    with postgres.database() as url:
        engine = Engine(url)
        client = Client(engine)
        with Worker(engine):
            for number in range(8):
                client.start(flow, f"warm-{number}")
                client.wait(f"warm-{number}", timeout=100)
            counted = Counted(engine)
            messages.statements.clear()
            messages.halves = 0
            for number in range(7):
                client.start(flow, f"run-{number}")
                client.wait(f"run-{number}", timeout=100)
        engine.close()
    assert counted.event_count == 7 * (STEPS + 1)
    assert len(messages.statements) == counted.commit_count
    assert messages.halves <= 2
    plain = [count for count in messages.statements if count == 1]
    assert len(plain) >= 7 * (STEPS - 1) - 2
    assert sum(messages.statements) <= 2 * counted.event_count
