"""`lint`: reports for machines, fixes, suppressions, what a project has configured."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from tests.acceptance.command import Place

MENDABLE = """\
flow: Mendable
input: string
start: First
steps:
  First:  # the first
    decide:
      - when: ${input == "Ada"}
        go_to: Secnd
      - graceful_complete: ${input}
  Second:
    graceful_complete: known
"""
MENDED = MENDABLE.replace('${input == "Ada"}', 'input == "Ada"')
WHOLE = MENDED.replace("Secnd", "Second")
FILE = "flows/mendable.flow.yaml"


@pytest.fixture
def bench(place: Place) -> Place:
    place.write(FILE, MENDABLE)
    return place


def text(bench: Place) -> str:
    return (bench.directory / FILE).read_text()


def test_sarif_and_junit(bench: Place) -> None:
    done = bench.type("lint", FILE, "--format", "sarif")
    assert done.code == 1
    (run,) = json.loads(done.stdout)["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["EXP002", "REF001"]
    bench.write("flows/well.flow.yaml", WHOLE.replace("Mendable", "Well"))
    junit = bench.type("lint", FILE, "flows/well.flow.yaml", "--format", "junit")
    assert junit.code == 1
    root = ElementTree.fromstring(junit.stdout)
    names = {case.attrib["name"]: len(case) for case in root.iter("testcase")}
    assert names == {FILE: 1, "flows/well.flow.yaml": 0}


def test_fix_mends_what_is_certain_and_reports_the_rest(bench: Place) -> None:
    assert "fixable: 1 with --fix, 1 with --fix --unsafe-fixes" in bench.type("lint", FILE).stdout
    done = bench.type("lint", FILE, "--fix", "--format", "concise")
    assert done.code == 1
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["REF001"]
    assert "fixed 1 problem in flows/mendable.flow.yaml" in done.stderr
    assert text(bench) == MENDED
    assert bench.type("lint", FILE, "--fix", "--unsafe-fixes").code == 0
    assert text(bench) == WHOLE


def test_fix_mends_selected_problems_only(bench: Place) -> None:
    bench.type("lint", FILE, "--fix", "--unsafe-fixes", "--ignore", "EXP002")
    assert text(bench) == MENDABLE.replace("Secnd", "Second")


def test_diff_shows_what_fix_would_do(bench: Place) -> None:
    done = bench.type("lint", FILE, "--diff")
    assert done.code == 1
    assert '-      - when: ${input == "Ada"}\n+      - when: input == "Ada"\n' in done.stdout
    assert text(bench) == MENDABLE
    assert bench.type("lint", "flows/hello.flow.yaml", "--diff", "--select", "SCH,REF001").code == 0


def test_standard_input_is_mended_to_standard_output(bench: Place) -> None:
    done = bench.type("lint", "-", "--fix", stdin=MENDABLE)
    assert (done.code, done.stdout) == (1, MENDED)
    assert "REF001" in done.stderr
    assert '+      - when: input == "Ada"\n' in bench.type("lint", "-", "--diff", stdin=MENDABLE).stdout


def test_json_has_the_edits(bench: Place) -> None:
    document = bench.type("lint", FILE, "--format", "json").json()
    assert [problem["fix"] for problem in document["problems"]] == [
        {
            "message": "remove the braces",
            "is_safe": True,
            "edits": [{"line": 7, "column": 15, "end_line": 7, "end_column": 32, "text": 'input == "Ada"'}],
        },
        {
            "message": "rename `Secnd` to `Second`",
            "is_safe": False,
            "edits": [{"line": 8, "column": 16, "end_line": 8, "end_column": 21, "text": "Second"}],
        },
    ]


def test_unsafe_fixes_alone_are_a_usage_error(bench: Place) -> None:
    done = bench.type("lint", FILE, "--unsafe-fixes")
    assert done.code == 2
    assert "--unsafe-fixes goes with --fix or --diff" in done.stderr


def test_a_project_selects_and_ignores_in_pyproject(bench: Place) -> None:
    bench.write("pyproject.toml", '[tool.orchestrator.lint]\nignore = ["REF", "guard-in-braces"]\n')
    assert bench.type("lint", FILE).code == 0
    assert bench.type("lint", FILE, "--ignore", "SCH").code == 1
    bench.write("pyproject.toml", "[tool.orchestrator.lint]\nselcet = []\n")
    done = bench.type("lint", FILE)
    assert done.code == 2
    assert "there is no key `selcet`; did you mean `select`?" in done.stderr


def test_a_baseline_accepts_what_is_there_and_no_more(bench: Place) -> None:
    written = bench.type("lint", FILE, "--write-baseline")
    assert (written.code, written.stdout) == (0, "")
    assert (
        "2 problems accepted in lint-baseline.json; use it with --baseline lint-baseline.json\n"
        in written.stderr
    )
    done = bench.type("lint", FILE, "--baseline", "lint-baseline.json")
    assert (done.code, done.stdout) == (0, "")
    assert "2 problems accepted in lint-baseline.json" in done.stderr
    bench.write("pyproject.toml", '[tool.orchestrator.lint]\nbaseline = "lint-baseline.json"\n')
    bench.write(FILE, MENDED + "    nope: 1\n")
    done = bench.type("lint", FILE, "--format", "concise")
    assert done.code == 1
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["SCH001"]
    assert "1 entry is no longer needed (EXP002 in flows/mendable.flow.yaml)" in done.stderr
    assert bench.type("lint", FILE, "--baseline", "none.json").code == 2


def test_infos_are_shown_when_they_are_asked_for(place: Place) -> None:
    place.write("flows/old.flow.yaml", "flow: Old\ntimeout: 1 hour  # lint: ignore[SCH004]\n")
    assert place.type("lint", "flows/old.flow.yaml").stdout == ""
    for asked in (["--preset", "strict"], ["--select", "MET002"], ["--fail-on", "info"]):
        assert "MET002" in place.type("lint", "flows/old.flow.yaml", *asked).stdout


def test_a_path_that_is_not_there_is_a_usage_error(bench: Place) -> None:
    done = bench.type("lint", "flows/mendible.flow.yaml")
    assert (done.code, done.stdout) == (2, "")
    assert "did you mean `flows/mendable.flow.yaml`?" in done.stderr
    assert bench.type("lint", "flows/**/men*.flow.yaml").code == 1


def test_a_suppression_without_use_fails_a_strict_look(place: Place) -> None:
    file = "flows/idle.flow.yaml"
    place.write(file, "flow: Idle\ntimeout: 1h  # lint: ignore[SCH004] old\n")
    done = place.type("lint", file, "--format", "concise", "--select", "MET")
    assert done.code == 0
    assert "flows/idle.flow.yaml:2:29: MET001 " in done.stdout
    assert place.type("lint", file, "--strict").code == 1


def test_a_code_is_explained_with_examples(place: Place) -> None:
    done = place.type("lint", "--explain", "guard-in-braces")
    assert done.code == 0
    assert done.stdout.startswith("EXP002 guard-in-braces: ")
    assert "For example:" in done.stdout and "Mended:" in done.stdout
    assert (
        "\n\nerror; found by lint and every command that loads the flow; mended by lint --fix\n\n"
        in done.stdout
    )
    family = place.type("lint", "--explain", "gra").stdout.splitlines()
    assert family[0].startswith("GRA001 unreachable-step: ")
    assert all(line.startswith("GRA") for line in family)
    for word, meant in (("sch0001", "SCH001"), ("guard-in-brace", "guard-in-braces")):
        near = place.type("lint", "--explain", word)
        assert near.code == 4
        assert f"did you mean `{meant}`?" in near.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_many_files_show_how_far_it_is_on_a_terminal_and_only_there(place: Place) -> None:
    for number in range(120):
        place.write(f"flows/many/f{number}.flow.yaml", f"flow: F{number}\nnope: 1\n")
    controller, terminal = pty.openpty()
    done = subprocess.run(
        place.command("lint", "flows/many", "--format", "concise"),
        cwd=place.directory,
        env=place.environment(TERM="xterm", COLUMNS="100"),
        stdout=subprocess.PIPE,
        stderr=terminal,
        timeout=60,
        check=False,
    )
    os.close(terminal)
    shown = _read_all(controller)
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 1
    assert len(lines) == 120
    assert lines == sorted(lines)
    assert "120/120" in shown
    assert "/120" not in place.type("lint", "flows/many").stderr


def _read_all(controller: int) -> str:
    """What was written to the terminal, which is closed already."""
    pieces = []
    with os.fdopen(controller, "rb", buffering=0) as stream:
        try:
            while piece := stream.read(65536):
                pieces.append(piece)
        except OSError:  # how a pseudo-terminal says that its other end is closed
            pass
    return b"".join(pieces).decode()
