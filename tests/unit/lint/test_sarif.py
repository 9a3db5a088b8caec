"""SARIF 2.1.0 and JUnit."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft7Validator

from orchestrator.definition import explanations
from orchestrator.definition.codes import CODES
from orchestrator.definition.problem import LabelledSpan, Problem, Span, TraceStep
from orchestrator.lint.report import render
from orchestrator.lint.runner import lint_text
from tests.support.official_schemas import official_schema

SCHEMA = official_schema("https://json.schemastore.org/sarif-2.1.0.json")
TEXT = "flow: F\nflow: G\nstrat: A\nsteps:\n  A: {when: ${true}, dead_end: true}\n"


def sarif(problems: list[Problem]) -> dict[str, Any]:
    document = json.loads(render(problems, "sarif"))
    assert [error.message for error in Draft7Validator(SCHEMA).iter_errors(document)] == []
    (run,) = document["runs"]
    found: dict[str, Any] = run
    return found


def test_sarif_has_a_rule_for_every_code() -> None:
    run = sarif([])
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted(CODES)
    assert rules[0]["name"] == CODES[rules[0]["id"]].name
    assert run["results"] == []


def test_a_rule_says_how_bad_and_how_sure_it_is_and_explains_itself() -> None:
    rules = {rule["id"]: rule for rule in sarif([])["tool"]["driver"]["rules"]}
    for code, about in CODES.items():
        level = {"error": "error", "warning": "warning", "info": "note"}[about.severity]
        assert rules[code]["defaultConfiguration"] == {"level": level}
        assert rules[code]["properties"]["tags"] == [code[:3]]
    rule = rules["EXP002"]
    assert rule["shortDescription"]["text"] == CODES["EXP002"].explanation
    assert rule["fullDescription"]["text"].startswith("A guard is always an expression")
    assert rule["properties"]["precision"] == "very-high"
    assert "```yaml\nflow: Hello\n" in rule["help"]["markdown"]
    assert "What to do: Leave the braces out" in rule["help"]["text"]


def test_a_rule_links_to_its_page_where_the_package_names_its_documentation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert all("helpUri" not in rule for rule in sarif([])["tool"]["driver"]["rules"])
    monkeypatch.setattr(explanations, "_documentation", lambda: "https://docs.example/orchestrator")
    rules = {rule["id"]: rule for rule in sarif([])["tool"]["driver"]["rules"]}
    assert rules["EXP002"]["helpUri"] == "https://docs.example/orchestrator/rules/EXP002.md"


def test_a_trace_is_a_code_flow_with_a_thread_for_each_step_execution() -> None:
    trace = (
        TraceStep(Span(3, 1, 3, 5), "starts B x2", "A-1"),
        TraceStep(Span(4, 1, 4, 5), "takes 1 of c", "B-1"),
        TraceStep(Span(4, 1, 4, 5), "takes 1 of c", "B-2"),
        TraceStep(Span(5, 1, 5, 5), "dead_end", "B-1"),
    )
    problem = Problem("SCH001", "lost", "a.flow.yaml", Span(5, 1, 5, 5), trace=trace, notes=("stuck: B-2",))
    (result,) = sarif([problem])["results"]
    (flow,) = result["codeFlows"]
    assert [thread["id"] for thread in flow["threadFlows"]] == ["A-1", "B-1", "B-2"]
    first, second = flow["threadFlows"][1]["locations"]
    assert (first["executionOrder"], second["executionOrder"]) == (2, 4)
    assert second["location"]["message"] == {"text": "dead_end"}
    assert second["location"]["physicalLocation"]["region"]["startLine"] == 5
    assert result["properties"]["notes"] == ["stuck: B-2"]


def test_sarif_results_have_places_related_places_and_fixes() -> None:
    run = sarif(lint_text(TEXT, "flows/a flow.yaml"))
    by_rule = {result["ruleId"]: result for result in run["results"]}
    rules = run["tool"]["driver"]["rules"]
    assert all(rules[result["ruleIndex"]]["id"] == code for code, result in by_rule.items())
    repeated = by_rule["YML002"]
    place = repeated["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "flows/a%20flow.yaml", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 5}
    (related,) = repeated["relatedLocations"]
    assert related["message"] == {"text": "first here"}
    assert related["physicalLocation"]["region"]["startLine"] == 1
    (fix,) = by_rule["SCH001"]["fixes"]
    assert fix["artifactChanges"][0]["replacements"] == [
        {
            "deletedRegion": {"startLine": 3, "startColumn": 1, "endLine": 3, "endColumn": 6},
            "insertedContent": {"text": "start"},
        }
    ]
    assert fix["properties"] == {"isSafe": False}


def test_sarif_fingerprints_survive_a_move_and_tell_equal_problems_apart() -> None:
    def fingerprints(text: str) -> list[str]:
        return [
            result["partialFingerprints"]["orchestrator/v2"]
            for result in sarif(lint_text(text, "a.flow.yaml"))["results"]
        ]

    text = "flow: F\nsteps:\n  A: {nope: 1, dead_end: true}\n"
    twice = "flow: F\ntypes: {T: {type: strin}, U: {type: strin}}\n"
    assert fingerprints(text) == fingerprints("# moved\n\n" + text)
    assert len(set(fingerprints(twice))) == len(fingerprints(twice)) == 2


def test_sarif_of_a_file_elsewhere_and_of_unknown_codes() -> None:
    problem = Problem("ZZZ001", "odd", "/somewhere/a.flow.yaml", Span(1, 1, 1, 2), severity="info")
    (result,) = sarif([problem])["results"]
    assert result["level"] == "note"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": "file:///somewhere/a.flow.yaml"
    }
    (standard_input,) = sarif(lint_text("flow: F\nnope: 1\n"))["results"]
    assert standard_input["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "%3Cstdin%3E"


def test_junit_has_one_case_a_file() -> None:
    error = Problem("SCH001", 'unknown "a" & <b>\x07', "b.flow.yaml", Span(3, 1, 3, 2), help="say x")
    warning = Problem("MET001", "idle", "c.flow.yaml", Span(1, 1, 1, 2), severity="warning")
    labelled = (LabelledSpan("b.flow.yaml", Span(1, 1, 1, 2), "here"),)
    second = Problem("SCH005", "two", "b.flow.yaml", Span(4, 1, 4, 2), spans=labelled)
    files = ["a.flow.yaml", "b.flow.yaml", "c.flow.yaml"]
    root = ElementTree.fromstring(render([error, second, warning], "junit", files=files))
    assert (root.tag, root.attrib["tests"], root.attrib["failures"]) == ("testsuites", "3", "1")
    cases = {case.attrib["name"]: case for case in root.iter("testcase")}
    assert list(cases) == files
    assert len(cases["a.flow.yaml"]) == 0
    (failure,) = cases["b.flow.yaml"]
    assert failure.tag == "failure"
    assert failure.attrib == {"type": "SCH001", "message": 'unknown "a" & <b>\ufffd (and 1 more)'}
    assert failure.text is not None
    assert failure.text.splitlines() == [
        'error: b.flow.yaml:3:1: SCH001 unknown "a" & <b>\ufffd (say x)',
        "error: b.flow.yaml:4:1: SCH005 two",
    ]
    assert [child.tag for child in cases["c.flow.yaml"]] == ["system-out"]
    strict = ElementTree.fromstring(render([warning], "junit", files=files, fail_on="warning"))
    assert strict.attrib["failures"] == "1"
