"""SARIF 2.1.0 and JUnit."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

from jsonschema import Draft7Validator

from orchestrator.definition.codes import CODES
from orchestrator.definition.problem import LabelledSpan, Problem, Span
from orchestrator.lint.report import render
from orchestrator.lint.runner import lint_text

_REGION = {
    "type": "object",
    "required": ["startLine", "startColumn", "endLine", "endColumn"],
    "properties": {
        key: {"type": "integer", "minimum": 1} for key in ("startLine", "startColumn", "endLine", "endColumn")
    },
    "additionalProperties": False,
}
_MESSAGE = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string", "minLength": 1}},
}
_ARTIFACT = {
    "type": "object",
    "required": ["uri"],
    "properties": {"uri": {"type": "string", "pattern": "^[^ <>]+$"}, "uriBaseId": {"const": "%SRCROOT%"}},
    "additionalProperties": False,
}
_PHYSICAL = {
    "type": "object",
    "required": ["artifactLocation", "region"],
    "properties": {"artifactLocation": _ARTIFACT, "region": _REGION},
    "additionalProperties": False,
}
_LOCATION = {
    "type": "object",
    "required": ["physicalLocation"],
    "properties": {
        "id": {"type": "integer", "minimum": 0},
        "message": _MESSAGE,
        "physicalLocation": _PHYSICAL,
    },
    "additionalProperties": False,
}
_REPLACEMENT = {
    "type": "object",
    "required": ["deletedRegion"],
    "properties": {"deletedRegion": _REGION, "insertedContent": {"required": ["text"]}},
    "additionalProperties": False,
}
_FIX = {
    "type": "object",
    "required": ["artifactChanges"],
    "properties": {
        "description": _MESSAGE,
        "artifactChanges": {
            "type": "array",
            "minItems": 1,
            "items": {
                "required": ["artifactLocation", "replacements"],
                "properties": {
                    "artifactLocation": _ARTIFACT,
                    "replacements": {"type": "array", "minItems": 1, "items": _REPLACEMENT},
                },
                "additionalProperties": False,
            },
        },
        "properties": {"type": "object"},
    },
    "additionalProperties": False,
}
_RESULT = {
    "type": "object",
    "required": ["message", "ruleId", "ruleIndex", "level", "locations"],
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": _MESSAGE,
        "locations": {"type": "array", "items": _LOCATION, "minItems": 1},
        "relatedLocations": {"type": "array", "items": _LOCATION, "minItems": 1},
        "partialFingerprints": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "minProperties": 1,
        },
        "fixes": {"type": "array", "items": _FIX, "minItems": 1},
        "properties": {"type": "object"},
    },
    "additionalProperties": False,
}
_RULE = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "string"},
        "name": {"type": "string"},
        "shortDescription": _MESSAGE,
        "help": _MESSAGE,
        "defaultConfiguration": {"type": "object"},
    },
    "additionalProperties": False,
}
ESSENTIALS: dict[str, Any] = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": {
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "required": ["name"],
                                "properties": {
                                    "rules": {"type": "array", "items": _RULE, "uniqueItems": True}
                                },
                            }
                        },
                    },
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "originalUriBaseIds": {"type": "object"},
                    "results": {"type": "array", "items": _RESULT},
                },
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}
"""What SARIF 2.1.0 demands of the objects that are used, and no property that it does not know."""

TEXT = "flow: F\nflow: G\nstrat: A\nsteps:\n  A: {when: ${true}, dead_end: true}\n"


def sarif(problems: list[Problem]) -> dict[str, Any]:
    document = json.loads(render(problems, "sarif"))
    assert [error.message for error in Draft7Validator(ESSENTIALS).iter_errors(document)] == []
    (run,) = document["runs"]
    found: dict[str, Any] = run
    return found


def test_sarif_has_a_rule_for_every_code() -> None:
    run = sarif([])
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted(CODES)
    assert rules[0]["name"] == CODES[rules[0]["id"]].name
    assert run["results"] == []


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
            result["partialFingerprints"]["orchestrator/v1"]
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
