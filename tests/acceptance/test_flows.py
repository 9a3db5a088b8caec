"""Looking at flows: lint, graph, render, show, init."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from tests.acceptance.command import ROOT, Place
from tests.acceptance.terminal import type_on_terminal

TYPO = """\
flow: Typo
start: First
steps:
  First:
    go_to: Secnd
  Second:
    graceful_complete: done
"""
SECRET = """\
flow: Secret
handlers: handlers.nowhere
start: A
steps:
  A:
    execute: missing
    graceful_complete: done
"""


def fits(document: Any, name: str) -> list[str]:
    schema = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    return [error.message for error in Draft7Validator(schema).iter_errors(document)]


def test_a_clean_directory_has_no_problems(place: Place) -> None:
    done = place.type("lint", "flows/")
    assert (done.code, done.stdout) == (0, "")
    assert "no problems" in done.stderr


def test_a_problem_is_shown_with_its_place_and_advice(place: Place) -> None:
    place.write("flows/typo.flow.yaml", TYPO)
    done = place.type("lint", "flows/")
    assert done.code == 1
    assert "flows/typo.flow.yaml:5:12" in done.stdout
    assert "^^^^^" in done.stdout
    assert "did you mean `Second`?" in done.stdout


def test_formats_for_machines(place: Place) -> None:
    place.write("flows/typo.flow.yaml", TYPO)
    concise = place.type("lint", "flows/", "--format", "concise")
    assert concise.stdout.startswith("flows/typo.flow.yaml:5:12: REF001 ")
    as_json = place.type("lint", "flows/", "--format", "json").json()
    assert fits(as_json, "lint") == []
    assert [(problem["code"], problem["line"]) for problem in as_json["problems"]] == [("REF001", 5)]
    github = place.type("lint", "flows/", "--format", "github")
    assert "::error title=REF001 unknown-step,file=flows/typo.flow.yaml,line=5" in github.stdout


@pytest.mark.parametrize("command", ["lint", "verify", "check"])
def test_the_format_has_the_same_names_everywhere(place: Place, command: str) -> None:
    told = [
        place.type(command, "flows", *words)
        for words in (["--format", "json"], ["--output", "json"], ["-f", "json"], ["-o", "json"])
    ]
    assert [each.code for each in told] == [0, 0, 0, 0]
    assert len({"schema" in each.json() for each in told}) == 1
    wrong = place.type(command, "nowhere", "-f", "json")
    assert (wrong.code, wrong.error()["type"]) == (2, "usage")


def test_problems_can_be_selected_and_ignored(place: Place) -> None:
    place.write("flows/typo.flow.yaml", TYPO)
    assert place.type("lint", "flows/", "--ignore", "REF").code == 0
    assert place.type("lint", "flows/", "--select", "SCH").code == 0
    assert place.type("lint", "flows/", "--select", "unknown-step").code == 1


def test_standard_input_is_linted(place: Place) -> None:
    done = place.type("lint", "-", stdin=TYPO)
    assert done.code == 1
    assert "<stdin>:5:12" in done.stdout
    assert "go_to: Secnd" in done.stdout


def test_handlers_are_checked_when_asked(place: Place) -> None:
    place.write("flows/secret.flow.yaml", SECRET)
    assert place.type("lint", "flows/secret.flow.yaml").code == 0
    done = place.type("lint", "flows/secret.flow.yaml", "--handlers")
    assert done.code == 1
    assert "handlers.nowhere" in done.stdout


def test_a_code_is_explained(place: Place) -> None:
    done = place.type("lint", "--explain", "REF001")
    assert (done.code, done.stdout.split(":")[0]) == (0, "REF001 unknown-step")
    assert place.type("lint", "--explain", "NOPE").code == 4


@pytest.mark.parametrize("words", [["lint"], ["lint", "-", "flows/"], ["lint", "flows/", "--format", "xml"]])
def test_lint_refuses_what_it_cannot_do(place: Place, words: list[str]) -> None:
    assert place.type(*words).code == 2


def test_the_graph_is_json_and_the_same_each_time(place: Place) -> None:
    first, second = (place.type("graph", "flows/ask.flow.yaml") for _ in range(2))
    assert (first.code, first.stdout) == (0, second.stdout)
    assert fits(first.json(), "graph") == []
    assert first.json()["start"] == "step:Wait"


def test_a_broken_flow_has_no_graph(place: Place) -> None:
    place.write("flows/typo.flow.yaml", TYPO)
    done = place.type("graph", "flows/typo.flow.yaml", "-o", "json")
    assert (done.code, done.stdout) == (1, "")
    assert done.error()["type"] == "definition"
    assert "flows/typo.flow.yaml:5:12: REF001" in done.error()["problems"][0]


@pytest.mark.parametrize(
    ("file", "begins"),
    [
        ("a.svg", b"<"),
        ("a.png", b"\x89PNG"),
        ("a.pdf", b"%PDF"),
        ("a.dot", b"digraph"),
        ("a.mmd", b"flowchart"),
    ],
)
def test_a_diagram_is_written_in_every_format(place: Place, file: str, begins: bytes) -> None:
    done = place.type("render", "flows/ask.flow.yaml", "-O", file)
    assert (done.code, done.stdout) == (0, "")
    assert begins in (place.directory / file).read_bytes()[:300]


def test_a_diagram_goes_to_stdout(place: Place) -> None:
    done = place.type("render", "flows/ask.flow.yaml")
    assert done.code == 0
    assert done.stdout.lstrip().startswith("<")


@pytest.mark.parametrize("form", ["svg", "png", "pdf", "dot", "mermaid"])
def test_a_file_called_minus_is_stdout(place: Place, form: str) -> None:
    words = place.command("render", "flows/ask.flow.yaml", "-f", form)
    plain, named = (
        subprocess.run(
            [*words, *more], cwd=place.directory, env=place.environment(), capture_output=True, check=False
        )
        for more in ([], ["-O", "-"])
    )
    assert (named.returncode, named.stdout, named.stderr) == (0, plain.stdout, b"")
    assert named.stdout
    assert not (place.directory / "-").exists()


def test_a_picture_with_letters_that_no_font_has_is_written_with_a_warning(place: Place) -> None:
    place.write(
        "foreign.flow.yaml",
        'flow: F\nstart: A\nsteps: {A: {description: "\U0010fff0", graceful_complete: 1}}\n',
    )
    done = place.type("render", "foreign.flow.yaml", "-O", "foreign.png")
    assert done.code == 0
    assert done.stderr.count("warning: no font here has \U0010fff0") == 1
    assert (place.directory / "foreign.png").exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["list", "--limit", "9" * 30], 0),
        (["worker", "--until-idle", "--concurrency", "9" * 30], 2),
        (["worker", "--until-idle", "--processes", "9" * 30], 2),
        (["run", "--resume", "a-1", "--until-blocked", "--concurrency", "9" * 30], 2),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_number_beyond_all_bounds_is_refused_or_as_good_as_none(
    place: Place, words: list[str], code: int
) -> None:
    place.type("start", "flows/ask.flow.yaml", "--id", "a-1", "--input", '"x"')
    done = place.type(*words)
    assert (done.code, "internal" in done.stderr) == (code, False)


ABSENT = "flows/helo.flow.yaml"


@pytest.mark.parametrize(
    "words",
    [
        ["lint", ABSENT],
        ["verify", ABSENT],
        ["check", ABSENT],
        ["graph", ABSENT],
        ["show", ABSENT],
        ["render", ABSENT],
        ["diff", ABSENT, "flows/ask.flow.yaml"],
        ["diff", "flows/ask.flow.yaml", ABSENT],
        ["rehearse", ABSENT],
        ["run", ABSENT, "--id", "x"],
        ["start", ABSENT, "--id", "x"],
        ["start", "Hello", "--id", "x", "--flows", ABSENT],
        ["run", "flows/ask.flow.yaml", "--id", "x", "--flows", ABSENT],
        ["worker", "--until-idle", "--flows", ABSENT],
        ["rpc", "a-1", "ask", "--flows", ABSENT],
        ["migrate", ABSENT, "flows/ask.flow.yaml"],
    ],
    ids=" ".join,
)
def test_a_file_that_is_not_there_is_a_usage_error_that_names_the_nearest(
    place: Place, words: list[str]
) -> None:
    place.type("start", "flows/ask.flow.yaml", "--id", "a-1", "--input", '"x"')
    done = place.type(*words)
    assert done.code == 2
    assert done.stderr == f"error: there is no {ABSENT}; did you mean `flows/hello.flow.yaml`?\n"
    assert done.stdout == ""


@pytest.mark.parametrize(
    "words",
    [
        ["lint", "flows", "--baseline", "flows"],
        ["queues", "apply", "flows"],
        ["publish", "a-1", "answer", "@flows"],
        ["db", "import", "flows", "--yes"],
        ["db", "export", "-O", "flows"],
        ["render", "flows/ask.flow.yaml", "-O", "flows"],
    ],
    ids=" ".join,
)
def test_a_file_that_cannot_be_used_is_named_once_with_the_reason(place: Place, words: list[str]) -> None:
    place.type("start", "flows/ask.flow.yaml", "--id", "a-1", "--input", '"x"')
    done = place.type(*words)
    assert done.code == 2
    assert done.stderr.endswith("Is a directory\n")
    assert "[Errno" not in done.stderr


@pytest.mark.parametrize("command", ["graph", "show", "render", "run", "start"])
def test_a_directory_is_not_one_flow(place: Place, command: str) -> None:
    done = place.type(command, "flows", *(["--id", "x"] if command in {"run", "start"} else []))
    assert done.code == 2
    assert done.stderr == (
        "error: flows is a directory; name one flow: flows/ask.flow.yaml, flows/hello.flow.yaml\n"
    )


def test_a_directory_without_flows_is_named_where_a_type_is_not_found(place: Place) -> None:
    place.write("empty/.hidden/hello.flow.yaml", "flow: Hello\n")
    done = place.type("start", "Hello", "--id", "x", "--flows", "empty")
    assert done.code == 4
    assert "there is no *.flow.yaml under empty" in done.stderr


@pytest.mark.parametrize(
    ("content", "code"), [(b"", "YML"), (b"\xff", "YML013"), (b"flow: A\nnope: 1\nmore: 2\n", "SCH")]
)
def test_a_problem_is_told_once(place: Place, content: bytes, code: str) -> None:
    (place.directory / "broken.flow.yaml").write_bytes(content)
    for command in ("graph", "show", "start"):
        done = place.type(command, "broken.flow.yaml", *(["--id", "x"] if command == "start" else []))
        assert done.code == 1
        lines = done.stderr.splitlines()
        assert lines[0].startswith("error: broken.flow.yaml:")
        told = [line.removeprefix("error: ").strip() for line in lines if "broken.flow.yaml:" in line]
        assert len(told) == len(set(told))
    checked = place.type("check", "broken.flow.yaml")
    assert checked.code == 1
    assert checked.stdout.startswith("error[")
    assert code in checked.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["rehearse", "fresh/flows", "--coverage-image", "-"],
        ["verify", "flows", "--trace-image", "-"],
        ["diff", "flows/ask.flow.yaml", "flows/ask.flow.yaml", "--image", "-"],
        ["lint", "flows", "--baseline", "-", "--write-baseline"],
    ],
    ids=lambda words: words[0],
)
def test_what_stands_beside_a_report_needs_a_file_of_its_own(place: Place, words: list[str]) -> None:
    place.type("init", "fresh")
    assert place.type(*words).code == 2
    assert not (place.directory / "-").exists()


@pytest.mark.parametrize("more", [[], ["-O", "-"]], ids=["by default", "named"])
@pytest.mark.parametrize("form", ["png", "pdf"])
def test_a_binary_picture_is_not_written_to_a_terminal(place: Place, form: str, more: list[str]) -> None:
    told = type_on_terminal(place, "render", "flows/ask.flow.yaml", "-f", form, *more)
    assert (told.code, told.stdout) == (2, "")
    assert "nothing for a terminal" in told.stderr


@pytest.mark.parametrize(
    "words", [["-O", "a.xyz"], ["--layers", "sky"], ["-f", "gif"], ["-O", "no/such/dir/a.svg"]]
)
def test_render_refuses_what_it_cannot_do(place: Place, words: list[str]) -> None:
    assert place.type("render", "flows/ask.flow.yaml", *words).code == 2


def test_the_state_of_a_run_is_painted(place: Place) -> None:
    place.type("run", "flows/hello.flow.yaml", "--id", "h-1", "--input", '"Ada"')
    done = place.type("render", "flows/hello.flow.yaml", "--run", "h-1")
    assert done.code == 0
    assert "h-1, COMPLETED" in done.stdout
    assert place.type("render", "flows/hello.flow.yaml", "--run", "nope").code == 4


def test_a_flow_is_shown_as_a_tree(place: Place) -> None:
    done = place.type("show", "flows/hello.flow.yaml")
    assert done.code == 0
    assert "Greet" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_new_project_lints_runs_and_passes_its_test(place: Place, tmp_path: Path) -> None:
    made = place.type("init", "fresh")
    assert made.code == 0
    assert "fresh/flows/greeting.flow.yaml" in made.stdout.splitlines()
    assert (tmp_path / "fresh" / ".github" / "workflows" / "flows.yml").exists()
    assert (tmp_path / "fresh" / "schemas" / "flow.schema.json").exists()
    fresh = Place(tmp_path / "fresh")
    assert fresh.type("lint", "flows", "--handlers").code == 0
    again = place.type("init", "fresh")
    assert again.code == 2
    assert "nothing was written" in again.stderr
