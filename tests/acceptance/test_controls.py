"""What others wrote is shown, and neither steers the terminal nor pretends to be a line of ours."""

from __future__ import annotations

import json
import re

import pytest

from orchestrator import Client
from orchestrator.definition.catalogue import load
from orchestrator.store.opening import open_store
from tests.acceptance.command import Done, Place
from tests.acceptance.terminal import type_on_terminal

EVIL = "a\x1b[31mb\x1b]0;title\x07\nrun-9 COMPLETED\r\u202etxt\u2066\x9b1m"
SHOWN = (
    r"a\u001b[31mb\u001b]0;title\u0007\nrun-9 COMPLETED\r\u202etxt\u2066\u009b1m"
)  # fmt: skip
OURS = re.compile(r"\x1b\[[0-9;]*m")
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
ASK = """\
flow: Ask
input: string
output: string
channels:
  answer: {type: string, external: true}
  many: {map: true, type: string, external: true}
attributes:
  mood: {type: string, initial: calm}
start: Wait
steps:
  Wait:
    wait_for: {until: {channel: answer}}
    graceful_complete: ok
"""


@pytest.fixture
def infested(place: Place) -> Place:
    """Its only run has such an id, such messages, keys and attributes."""
    place.write("flows/ask.flow.yaml", ASK)
    with Client(open_store(f"sqlite:///{place.directory}/orchestrator.db", makes=True)) as client:
        client.start(load(place.directory / "flows/ask.flow.yaml"), EVIL, EVIL)
        client.publish(EVIL, "many", EVIL, EVIL)
        client.set_attributes(EVIL, {"mood": EVIL})
    return place


def unpainted(done: Done) -> str:
    return OURS.sub("", done.stdout)


LOOKS = [
    ["list"],
    ["describe", EVIL],
    ["describe", EVIL, "--messages"],
    ["history", EVIL],
    ["explain", EVIL],
    ["attributes", "get", EVIL],
    ["attributes", "get", EVIL, "mood"],
]


@pytest.mark.parametrize("words", LOOKS, ids=lambda words: " ".join(words[:2:2]) or words[0])
def test_controls_are_shown_and_not_obeyed(infested: Place, words: list[str]) -> None:
    for done in (infested.type(*words), type_on_terminal(infested, *words, COLUMNS="400")):
        assert done.code == 0
        assert STEERING.search(unpainted(done)) is None
        assert not any(line.startswith("run-9") for line in unpainted(done).splitlines())
        assert SHOWN[:20] in unpainted(done)


@pytest.mark.parametrize("form", ["json", "jsonl", "yaml"])
def test_data_for_programs_keeps_them(infested: Place, form: str) -> None:
    import yaml

    done = infested.type("attributes", "get", EVIL, "mood", "-o", form)
    assert (yaml.safe_load if form == "yaml" else json.loads)(done.stdout) == EVIL
    if form != "yaml":
        assert STEERING.search(done.stdout) is None


def test_a_value_as_text_is_json_still(infested: Place) -> None:
    assert json.loads(infested.type("attributes", "get", EVIL, "mood").stdout) == EVIL


def test_the_reason_of_a_stop_keeps_its_lines_and_nothing_else(infested: Place) -> None:
    infested.type("stop", EVIL, "--type", "fail", "--reason", EVIL)
    for command in ("describe", "wait", "watch"):
        done = type_on_terminal(infested, command, EVIL)
        assert STEERING.search(unpainted(done)) is None
        assert not any(line.startswith("run-9") for line in unpainted(done).splitlines())


def test_an_error_shows_what_it_names(infested: Place) -> None:
    done = infested.type("describe", "no\x1b[2Jbody\u202e")
    assert (done.code, done.stderr) == (4, "error: there is no run no\\u001b[2Jbody\\u202e\n")


@pytest.mark.parametrize("format", ["text", "concise", "github", "json", "junit", "sarif"])
def test_a_file_that_is_linted_does_not_steer_the_terminal(place: Place, format: str) -> None:
    place.write(
        "evil.flow.yaml", 'flow: E\nstart: A  # \u202e\x1b[2J\nsteps: {A: {go_to: "B\\e[2J\\u202e"}}\n'
    )
    done = place.type("lint", "evil.flow.yaml", "--format", format)
    assert done.code == 1
    assert STEERING.search(done.stdout) is None
    place.write("evil.flow.yaml", 'flow: E\nstart: A  # \u202e\nsteps: {A: {go_to: "B\\e[2J\\u202e"}}\n')
    done = place.type("lint", "evil.flow.yaml", "--format", format)
    assert STEERING.search(done.stdout) is None
    for command in ("graph", "show"):
        assert STEERING.search(place.type(command, "evil.flow.yaml").stderr) is None
