"""Streams that are closed, that nobody reads, or that cannot take a character; words that are no text."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.acceptance.command import Done, Place

HELLO, ASK = "flows/hello.flow.yaml", "flows/ask.flow.yaml"
NO_TEXT = os.fsdecode(b"\xff\xfe")
FOREIGN = """\
flow: Foreign
description: Grüße → 日本 𝄞.
start: Wait
steps:
  Wait:
    description: Sagt „nein“…
    graceful_complete: "日本"
  Idle:
    graceful_complete: done
"""


def type_in_shell(place: Place, words: str, redirection: str) -> Done:
    command = f"{shlex.join(place.command())} {words} {redirection}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=place.directory,
        env=place.environment(PYTHONUNBUFFERED=""),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=60,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


TYPED = [
    ("--help", 0),
    ("lint --help", 0),
    ("--version", 0),
    (f"show {HELLO}", 0),
    (f"render {HELLO} -f png", 0),
    ("lint flows", 0),
    ("verify flows", 0),
    ("check flows", 0),
    ("list", 0),
    ("describe a-1", 0),
    ("db export", 0),
    ("describe nope", 4),
    (f"run {HELLO} --id h-2 --input '\"nobody\"'", 1),
]
READ = [
    ("--help", 0),
    ("lint --help", 0),
    (f"show {HELLO}", 0),
    ("lint typo.flow.yaml", 1),
    ("lint many.flow.yaml", 1),
    ("lint many.flow.yaml --format json", 1),
    ("check many.flow.yaml", 1),
    (f"render {HELLO}", 0),
    (f"graph {HELLO}", 0),
    ("list", 0),
    ("describe a-1", 0),
    ("describe nope", 4),
    ("db export", 0),
    ("watch a-1", 0),
]


def each_and_some(typed: list[tuple[str, int]], all_of: str, *some_of: str) -> list[tuple[str, int, str]]:
    """Each command with one redirection, every third with the others: what differs is in the streams."""
    some = [(words, code, other) for other in some_of for words, code in typed[::3]]
    return [(words, code, all_of) for words, code in typed] + some


@pytest.mark.parametrize(("words", "code", "closed"), each_and_some(TYPED, ">&- 2>&- <&-", ">&-", "2>&-"))
def test_a_closed_stream_says_nothing_and_changes_nothing(
    begun: Place, words: str, code: int, closed: str
) -> None:
    done = type_in_shell(begun, words, closed)
    assert done.code == code
    assert "internal" not in done.stderr
    assert "Traceback" not in done.stderr
    assert begun.type("describe", "h-1").code == 0


@pytest.mark.parametrize(("words", "code", "piped"), each_and_some(READ, "| :", "2>&1 | :"))
def test_a_reader_who_has_gone_is_no_failure(begun: Place, words: str, code: int, piped: str) -> None:
    begun.write("typo.flow.yaml", "flow: T\nstart: A\nsteps: {A: {go_to: B}}\n")
    steps = "".join(f"  Step{number}: {{go_to: Nowhere}}\n" for number in range(300))
    begun.write("many.flow.yaml", f"flow: T\nstart: Step0\nsteps:\n{steps}")
    done = type_in_shell(begun, words, f"{piped}; exit ${{PIPESTATUS[0]}}")
    assert (done.code, done.stdout) == (code, "")
    assert "internal" not in done.stderr
    assert "Broken pipe" not in done.stderr


@pytest.mark.parametrize("words", ["stop a-1 --type terminate", "db prune --older-than 0s", "db import -"])
def test_without_standard_input_nobody_is_asked(begun: Place, words: str) -> None:
    done = type_in_shell(begun, words, "<&-")
    assert done.code == 2
    assert done.stderr.startswith("error: ")
    assert begun.type("list", "-o", "json").stdout.count("flow_id") == 2


def test_what_a_handler_prints_to_nobody_does_not_fail_its_step(place: Place) -> None:
    words = f"run {HELLO} --id h-1 --input '\"Ada\"'"
    assert type_in_shell(place, words, "2>&1 >/dev/null | :; exit ${PIPESTATUS[0]}").code == 0
    assert type_in_shell(place, words.replace("h-1", "h-2"), ">/dev/null 2>&-").code == 0
    if Path("/dev/full").exists():
        assert type_in_shell(place, words.replace("h-1", "h-3"), ">/dev/null 2>/dev/full").code == 0


NARROW = [
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "cp1252"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
]


def type_bytes(place: Place, environment: dict[str, str], *words: str) -> tuple[int, bytes, bytes]:
    done = subprocess.run(
        place.command(*words),
        cwd=place.directory,
        env=place.environment(**environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("environment", NARROW, ids=str)
def test_characters_that_a_stream_cannot_take_are_replaced(place: Place, environment: dict[str, str]) -> None:
    place.write("foreign.flow.yaml", FOREIGN)
    code, shown, _ = type_bytes(place, environment, "show", "foreign.flow.yaml")
    assert code == 0
    assert b"-> \\u65e5\\u672c \\ud834\\udd1e." in shown
    assert b"\n+- step Wait (start)" in shown
    code, _, told = type_bytes(place, environment, "describe", "日本")
    assert (code, told.splitlines()) == (4, [b"error: there is no database orchestrator.db; "
    b"start a run first, or name another with --db"])  # fmt: skip
    code, linted, _ = type_bytes(place, environment, "lint", "foreign.flow.yaml", "--strict")
    assert code == 1
    assert b"Idle" in linted


@pytest.mark.parametrize("environment", NARROW, ids=str)
def test_data_for_programs_stays_what_it_is_on_any_stream(place: Place, environment: dict[str, str]) -> None:
    place.write("foreign.flow.yaml", FOREIGN)
    encoding = environment.get("PYTHONIOENCODING", "ascii")
    for form, read in (("json", json.loads), ("jsonl", json.loads), ("yaml", yaml.safe_load)):
        code, printed, _ = type_bytes(place, environment, "graph", "foreign.flow.yaml", "-o", form)
        assert code == 0
        graph = read(printed.decode(encoding))
        assert any(node.get("description") == "Sagt „nein“…" for node in graph["nodes"])
    words = ("lint", "foreign.flow.yaml", "--strict", "--format", "sarif")
    assert b'"runs"' in type_bytes(place, environment, *words)[1]


def test_ids_are_text_whatever_the_locale_takes_them_for(place: Place) -> None:
    environment = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = ("start", ASK, "--id", "日本", "--input", '"é"')
    assert type_bytes(place, environment, *words)[0] == 0
    assert place.type("describe", "日本").code == 0


def test_files_may_have_names_that_are_no_text(place: Place) -> None:
    flow = f"{NO_TEXT}.flow.yaml"
    (place.directory / flow).write_bytes((place.directory / ASK).read_bytes())
    (place.directory / f"{NO_TEXT}.json").write_text('"x"')
    for words in (
        ["show", flow],
        ["lint", flow],
        ["lint", flow, "--format", "sarif"],
        ["check", flow, "-o", "junit"],
        ["verify", flow, "-o", "json", "--trace-dir", f"{NO_TEXT}.traces"],
        ["diff", flow, flow],
        ["start", flow, "--id", "a-1", "--input", f"@{NO_TEXT}.json", "--db", f"sqlite:///{NO_TEXT}.db"],
        ["describe", "a-1", "--db", f"sqlite:///{NO_TEXT}.db"],
        ["explain", "a-1", "--db", f"sqlite:///{NO_TEXT}.db"],
        ["render", flow, "-O", f"{NO_TEXT}.svg"],
        ["init", f"{NO_TEXT}.d"],
    ):
        done = place.type(*words)
        assert (done.code, "error" in done.stderr) == (0, False), words
    assert (place.directory / f"{NO_TEXT}.svg").exists()
    absent = place.type("lint", f"{NO_TEXT}x.flow.yaml")
    assert absent.code == 2
    assert absent.stderr.startswith(r"error: there is no \xff\xfex.flow.yaml; did you mean")


@pytest.mark.parametrize(
    ("words", "place_of_it"),
    [
        (["start", ASK, "--input", '"x"', "--id", NO_TEXT], "--id"),
        (["describe", NO_TEXT], "ID"),
        (["publish", "a-1", NO_TEXT, "1"], "CHANNEL"),
        (["publish", "a-1", "answer", f'"{NO_TEXT}"'], "VALUE"),
        (["publish", "a-1", "answer", '"x"', "--key", NO_TEXT], "--key"),
        (["attributes", "set", "a-1", f'{NO_TEXT}="x"'], "NAME=VALUE"),
        (["attributes", "set", "a-1", f'mood="{NO_TEXT}"'], "NAME=VALUE mood"),
        (["config", "a-1", f"{NO_TEXT}=1"], "NAME=VALUE"),
        (["pause", NO_TEXT], "FLOW[/STEP]"),
        (["list", "--where", NO_TEXT], "--where"),
        (["stop", "a-1", "--type", "cancel", "--reason", NO_TEXT], "--reason"),
        (["db", "export", NO_TEXT], "ID"),
    ],
)
def test_names_and_values_that_are_no_text_are_refused(
    begun: Place, words: list[str], place_of_it: str
) -> None:
    done = begun.type(*words)
    assert done.code == 2
    assert done.stderr.startswith(f"error: {place_of_it}: `")
    assert done.stderr.endswith("` is not UTF-8 text\n")
    as_json = begun.type(*words, *([] if "export" in words else ["-o", "json"]))
    assert as_json.code == 2


def test_a_value_that_is_compared_is_named_as_it_was_typed(begun: Place) -> None:
    done = begun.type("attributes", "wait", "a-1", "mood", r'"\ud800"')
    assert done.code == 2
    assert done.stderr == "error: VALUE: text with half a surrogate pair is not Unicode\n"
