"""Run the flow as in production, on a store of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator import Client, Engine, Worker

FLOW = Path(__file__).parent.parent / "flows" / "greeting.flow.yaml"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """A client, with a worker beside it."""
    engine = Engine(f"sqlite:///{tmp_path / 'test.db'}")
    with Worker(engine), Client(engine) as client:
        yield client
    engine.close()


def test_a_greeting_is_sent_after_a_moment(client: Client) -> None:
    client.start(FLOW, "hello-1", {"name": "Ada", "language": "fr"})
    run = client.wait("hello-1", timeout=30)
    assert run["status"] == "COMPLETED"
    assert [output["output"] for output in run["outputs"]] == ["Bonjour Ada!"]


def test_a_veto_stops_it(client: Client) -> None:
    client.start(FLOW, "hello-2", {"name": "Ada"})
    client.publish("hello-2", "veto", "wrong name")
    run = client.wait("hello-2", timeout=30)
    assert run["status"] == "FAILED"
    assert run["error"]["message"] == "stopped: wrong name"
