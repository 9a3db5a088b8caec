"""`orchestrator lsp`: a real process that a scripted editor talks to."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import ROOT, Place
from tests.acceptance.editor import PATIENCE, Editor, Refused, on_port, on_stdio

FLOW = "flows/contract_edit.flow.yaml"


@pytest.fixture
def project(tmp_path: Path) -> Place:
    for name in ("contract_edit.flow.yaml", "contract_edit.rehearsal.yaml"):
        (tmp_path / "flows").mkdir(exist_ok=True)
        shutil.copy(ROOT / "flows" / name, tmp_path / "flows" / name)
    (tmp_path / "handlers").mkdir()
    shutil.copy(ROOT / "handlers" / "contract_edit.py", tmp_path / "handlers" / "contract_edit.py")
    return Place(tmp_path)


@pytest.fixture
def editor(project: Place) -> Iterator[Editor]:
    with on_stdio(project) as editor:
        yield editor


def text_of(editor: Editor) -> str:
    return (editor.directory / FLOW).read_text(encoding="utf-8")


def place(text: str, piece: str, shift: int = 0) -> tuple[int, int]:
    """Line and character, from 0, of the first `piece` and `shift` characters on."""
    offset = text.index(piece) + shift
    return text.count("\n", 0, offset), offset - (text.rfind("\n", 0, offset) + 1)


def applied(text: str, edits: list[dict[str, Any]]) -> str:
    """Of edits that an editor counting in utf-32 or plain ASCII gets."""
    lines = text.split("\n")

    def offset(position: dict[str, int]) -> int:
        return sum(len(line) + 1 for line in lines[: position["line"]]) + position["character"]

    for edit in sorted(edits, key=lambda edit: offset(edit["range"]["start"]), reverse=True):
        start, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
        text = text[:start] + edit["newText"] + text[end:]
    return text


def test_a_session_from_hello_to_goodbye(editor: Editor) -> None:
    capabilities = editor.introduce()
    assert capabilities["positionEncoding"] == "utf-16"
    assert capabilities["textDocumentSync"]["change"] == 1
    for provider in ("hover", "definition", "references", "rename", "documentSymbol", "codeAction"):
        assert capabilities[f"{provider}Provider"]
    assert editor.open(FLOW) == []
    assert editor.leave() == 0


def test_a_session_over_a_port(project: Place) -> None:
    with on_port(project) as editor:
        editor.introduce()
        assert editor.open(FLOW) == []
        assert editor.leave() == 0
        assert editor.last_words() == ""


def test_the_option_that_some_editors_pass(project: Place) -> None:
    with on_stdio(project, "--stdio") as editor:
        editor.introduce()
        assert editor.leave() == 0
        assert editor.last_words() == ""


def test_problems_follow_the_typing_and_go_away(editor: Editor) -> None:
    editor.introduce()
    editor.open(FLOW)
    good = text_of(editor)
    typed = good.replace("go_to: EditContract ", "go_to: EditContrakt ")
    editor.type(FLOW, good + "#", good + "# x", typed)
    (problem,) = (found for found in editor.problems(FLOW) if found["code"] == "REF001")
    line, character = place(typed, "EditContrakt")
    assert problem["range"]["start"] == {"line": line, "character": character}
    assert problem["range"]["end"] == {"line": line, "character": character + len("EditContrakt")}
    assert problem["severity"] == 1
    assert problem["source"] == "orchestrator"
    assert "did you mean `EditContract`?" in problem["message"]
    assert problem["codeDescription"]["href"].endswith("/docs/rules/REF001.md")
    editor.type(FLOW, good)
    assert editor.problems(FLOW) == []


def test_related_places_are_told(editor: Editor) -> None:
    editor.introduce()
    editor.open(FLOW)
    text = text_of(editor).replace("    go_to: EditContract ", "    go_to: EditContract\n    dead_end: true ")
    editor.type(FLOW, text)
    (problem,) = (found for found in editor.problems(FLOW) if found["code"] == "DEC002")
    (related,) = problem["relatedInformation"]
    assert related["message"] == "`go_to` is here"
    assert related["location"]["range"]["start"]["line"] == place(text, "go_to: EditContract\n")[0]


def test_the_address_of_the_page_of_problems_can_be_given(editor: Editor) -> None:
    editor.introduce(initializationOptions={"problemDocs": "https://docs.example/{code}"})
    editor.open(FLOW)
    editor.type(FLOW, "flow: 7\n")
    assert {found["codeDescription"]["href"] for found in editor.problems(FLOW)} == {
        "https://docs.example/SCH003"
    }


CROSSED = """\
flow: Crossed
channels: {a: none, b: none}
start: Begin
steps:
  Begin:
    go_to_many: [A, B]
  A:
    wait_for: {until: {channel: a}}
    publish: {b: null}
    graceful_complete:
  B:
    wait_for: {until: {channel: b}}
    publish: {a: null}
    graceful_complete:
"""
CROSSED_FLOW = "flows/crossed.flow.yaml"


def test_a_flow_that_is_saved_is_verified(editor: Editor) -> None:
    editor.introduce()
    (editor.directory / CROSSED_FLOW).write_text(CROSSED)
    assert editor.open(CROSSED_FLOW) == []
    editor.tell("textDocument/didSave", {"textDocument": {"uri": editor.uri(CROSSED_FLOW)}})
    assert editor.problems(CROSSED_FLOW) == []
    found = {problem["code"]: problem for problem in editor.problems(CROSSED_FLOW)}
    assert found["VER001"]["severity"] == 1
    assert "wait for what nobody can send" in found["VER001"]["message"]
    related = [each["message"] for each in found["VER001"]["relatedInformation"]]
    assert any(message.startswith("1. ") for message in related), related
    hover = editor.ask_at("hover", CROSSED_FLOW, *place(CROSSED, "{channel: a}", 2))
    assert "VER001" in hover["contents"]["value"]
    editor.type(CROSSED_FLOW, CROSSED + "\n")
    assert editor.problems(CROSSED_FLOW) == []
    assert editor.leave() == 0


def test_verifying_can_be_turned_off(editor: Editor) -> None:
    editor.introduce(initializationOptions={"verifyOnSave": False})
    (editor.directory / CROSSED_FLOW).write_text(CROSSED)
    editor.open(CROSSED_FLOW)
    editor.tell("textDocument/didSave", {"textDocument": {"uri": editor.uri(CROSSED_FLOW)}})
    assert editor.problems(CROSSED_FLOW) == []
    assert editor.leave() == 0
    assert editor.untold() == 0


def test_an_editor_may_leave_while_a_flow_is_verified(editor: Editor) -> None:
    editor.introduce()
    (editor.directory / CROSSED_FLOW).write_text(CROSSED)
    editor.open(CROSSED_FLOW)
    editor.tell("textDocument/didSave", {"textDocument": {"uri": editor.uri(CROSSED_FLOW)}})
    assert editor.leave() == 0
    assert editor.last_words() == ""


def test_the_project_says_which_problems_to_show(editor: Editor) -> None:
    (editor.directory / "pyproject.toml").write_text('[tool.orchestrator.lint]\nignore = ["REF001"]\n')
    editor.introduce()
    editor.open(FLOW)
    typed = text_of(editor).replace("go_to: EditContract ", "go_to: EditContrakt ")
    editor.type(FLOW, typed)
    assert "REF001" not in {found["code"] for found in editor.problems(FLOW)}
    (editor.directory / "pyproject.toml").write_text(
        '[tool.orchestrator.lint]\nseverity = {REF001 = "info"}\n'
    )
    editor.tell("textDocument/didSave", {"textDocument": {"uri": editor.uri(FLOW)}})
    assert "REF001" not in {found["code"] for found in editor.problems(FLOW)}
    (editor.directory / "pyproject.toml").write_text(
        '[tool.orchestrator.lint]\nseverity = {REF001 = "warning"}\n'
    )
    editor.tell("textDocument/didSave", {"textDocument": {"uri": editor.uri(FLOW)}})
    severities = {found["code"]: found["severity"] for found in editor.problems(FLOW)}
    assert severities["REF001"] == 2


def test_a_wrong_configuration_is_told_once_and_hides_nothing(editor: Editor) -> None:
    (editor.directory / "pyproject.toml").write_text('[tool.orchestrator.lint]\nignore = "REF001"\n')
    editor.introduce()
    editor.open(FLOW)
    assert "ignore must be a list of codes" in editor.hear("window/showMessage")["message"]
    editor.type(FLOW, text_of(editor).replace("go_to: EditContract ", "go_to: EditContrakt "))
    assert "REF001" in {found["code"] for found in editor.problems(FLOW)}


def test_problems_that_a_baseline_accepts_are_not_shown(editor: Editor, project: Place) -> None:
    typed = text_of(editor).replace("go_to: EditContract ", "go_to: EditContrakt ")
    project.write(FLOW, typed)
    project.write("pyproject.toml", '[tool.orchestrator.lint]\nbaseline = "accepted.json"\n')
    assert project.type("lint", FLOW, "--write-baseline").code == 0
    editor.introduce()
    assert editor.open(FLOW) == []
    editor.type(FLOW, typed.replace("on_failure: Release", "on_failure: Elsewhere", 1))
    assert [found["code"] for found in editor.problems(FLOW)] == ["REF001"]


def test_hover_definition_and_references(editor: Editor) -> None:
    editor.introduce()
    editor.open(FLOW)
    text = text_of(editor)
    hover = editor.ask_at("hover", FLOW, *place(text, "go_to: EditContract", 8))
    assert "**step** `EditContract`" in hover["contents"]["value"]
    step = editor.ask_at("definition", FLOW, *place(text, "go_to: EditContract", 8))
    assert step["uri"] == editor.uri(FLOW)
    assert step["range"]["start"]["line"] == place(text, "  EditContract:")[0]
    handler = editor.ask_at("definition", FLOW, *place(text, "enter_contract_edit"))
    assert handler["uri"] == editor.uri("handlers/contract_edit.py")
    lines = (editor.directory / "handlers/contract_edit.py").read_text().splitlines()
    assert "def enter_contract_edit" in lines[handler["range"]["start"]["line"]]
    references = editor.ask_at(
        "references", FLOW, *place(text, "contractEditToken:"), context={"includeDeclaration": True}
    )
    assert len(references) == text.count("contractEditToken")


def test_completion_in_a_line_that_is_no_yaml_yet(editor: Editor) -> None:
    editor.introduce()
    editor.open(FLOW)
    text = text_of(editor).replace("{channel: contractEditToken, for: 1}", "{channel: con")
    editor.type(FLOW, text)
    line, character = place(text, "{channel: con\n", len("{channel: con"))
    items = editor.ask_at("completion", FLOW, line, character)["items"]
    assert [item["label"] for item in items] == ["contractEditToken", "contractEditFinished"]
    edit = items[0]["textEdit"]
    assert edit["newText"] == "contractEditToken"
    assert edit["range"] == {
        "start": {"line": line, "character": character - 3},
        "end": {"line": line, "character": character},
    }


def test_a_rename_reaches_expressions_and_rehearsals(editor: Editor) -> None:
    editor.introduce(["utf-32"])
    editor.open(FLOW)
    text = text_of(editor)
    at = place(text, "contractEditFinished: ContractEditRecord")
    assert editor.ask_at("prepareRename", FLOW, *at)["placeholder"] == "contractEditFinished"
    changes = editor.ask_at("rename", FLOW, *at, newName="finished")["changes"]
    assert set(changes) == {editor.uri(FLOW), editor.uri("flows/contract_edit.rehearsal.yaml")}
    assert applied(text, changes[editor.uri(FLOW)]) == text.replace("contractEditFinished", "finished")
    editor.type(FLOW, applied(text, changes[editor.uri(FLOW)]))
    assert editor.problems(FLOW) == []


@pytest.mark.parametrize(
    ("new_name", "why"),
    [("SaveContractEdit", "there is a step `SaveContractEdit` already"), ("a b", "is not an identifier")],
)
def test_a_rename_that_cannot_be_is_refused_with_the_reason(editor: Editor, new_name: str, why: str) -> None:
    editor.introduce()
    editor.open(FLOW)
    with pytest.raises(Refused, match=why):
        editor.ask_at("rename", FLOW, *place(text_of(editor), "  EditContract:", 3), newName=new_name)


def test_the_author_is_told_of_handlers_that_say_the_old_name(editor: Editor) -> None:
    editor.introduce()
    (editor.directory / "handlers/contract_edit.py").write_text(
        "def f(ctx):\n    ctx.publish('contractEditToken', 1)\n"
    )
    editor.open(FLOW)
    editor.ask_at("rename", FLOW, *place(text_of(editor), "contractEditToken:"), newName="token")
    told = editor.hear("window/showMessage")["message"]
    assert "contract_edit.py:2" in told


def test_fixes_are_offered_and_do_what_they_say(editor: Editor) -> None:
    editor.introduce(["utf-32"])
    editor.open(FLOW)
    good = text_of(editor)
    text = good.replace("when: started_edit.should_withdraw", "when: ${started_edit.should_withdraw}")
    text = text.replace("go_to: EditContract ", "go_to: EditContrakt ")
    editor.type(FLOW, text)
    editor.problems(FLOW)
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 200, "character": 0}}
    document = {"textDocument": {"uri": editor.uri(FLOW)}, "range": whole}

    def actions(*only: str) -> list[dict[str, Any]]:
        context: dict[str, Any] = {"diagnostics": [], **({"only": list(only)} if only else {})}
        found: list[dict[str, Any]] = editor.ask("textDocument/codeAction", {**document, "context": context})
        return found

    unsafe, safe = actions("quickfix")
    assert (safe["title"], safe["isPreferred"]) == ("Remove the braces", True)
    assert "unsafe" in unsafe["title"]
    assert unsafe["isPreferred"] is False
    (fix_all,) = actions("source.fixAll")
    mended = applied(text, fix_all["edit"]["changes"][editor.uri(FLOW)])
    assert mended == text.replace("${started_edit.should_withdraw}", "started_edit.should_withdraw")
    assert applied(mended, unsafe["edit"]["changes"][editor.uri(FLOW)]) == good
    assert len(actions()) == 3


def test_the_outline_is_a_tree(editor: Editor) -> None:
    editor.introduce()
    editor.open(FLOW)
    symbols = editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": editor.uri(FLOW)}})
    (steps,) = (symbol for symbol in symbols if symbol["name"] == "steps")
    assert [child["name"] for child in steps["children"]][:2] == ["StartContractEdits", "EnterContractEdit"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_characters_beyond_the_basic_plane_count_as_agreed(editor: Editor, encoding: str) -> None:
    assert editor.introduce([encoding])["positionEncoding"] == encoding
    editor.open(FLOW)
    editor.type(FLOW, "flow: F\nsteps:\n  A: {x-a: '😀😀é', go_to: B}\n")
    (problem,) = editor.problems(FLOW)
    assert problem["code"] == "REF001"
    before = "  A: {x-a: '😀😀é', go_to: "
    units = {"utf-8": len(before.encode()), "utf-16": len(before) + 2, "utf-32": len(before)}
    assert problem["range"]["start"] == {"line": 2, "character": units[encoding]}
    hover = editor.ask_at("hover", FLOW, 2, units[encoding] - len("go_to: ") + 1)
    assert "**go_to**" in hover["contents"]["value"]


def test_other_files_are_none_of_its_business(editor: Editor) -> None:
    editor.introduce()
    (editor.directory / "other.yaml").write_text("flow: 7\n")
    document = {"uri": editor.uri("other.yaml"), "languageId": "yaml", "version": 1, "text": "flow: 7\n"}
    editor.tell("textDocument/didOpen", {"textDocument": document})
    assert editor.ask_at("hover", "other.yaml", 0, 0) is None
    assert editor.open(FLOW) == []


def test_a_closed_file_has_no_problems_any_more(editor: Editor) -> None:
    editor.introduce()
    (editor.directory / FLOW).write_text("flow: 7\n")
    assert editor.open(FLOW) != []
    editor.tell("textDocument/didClose", {"textDocument": {"uri": editor.uri(FLOW)}})
    assert editor.problems(FLOW) == []


def test_without_the_library_it_says_what_to_install(project: Place) -> None:
    project.write(
        "hidden/pygls/__init__.py", "raise ModuleNotFoundError('No module named pygls', name='pygls')\n"
    )
    path = os.pathsep.join([str(project.directory / "hidden"), str(ROOT)])
    done = project.type("lsp", PYTHONPATH=path)
    assert done.code == 2
    assert 'pip install "orchestrator[lsp]"' in done.stderr
    assert project.type("lint", FLOW, PYTHONPATH=path).code == 0


@pytest.mark.parametrize("place", ["nowhere", "host:port", "host:99999", ":"])
def test_a_place_that_is_none_is_a_usage_error(project: Place, place: str) -> None:
    done = project.type("lsp", "--tcp", place)
    assert done.code == 2
    assert "HOST:PORT" in done.stderr


def test_a_port_that_is_taken_is_a_usage_error(project: Place) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = project.type("lsp", "--tcp", f"127.0.0.1:{taken.getsockname()[1]}")
    assert done.code == 2
    assert "cannot listen" in done.stderr


def test_an_editor_that_goes_away_ends_the_server(project: Place) -> None:
    done = subprocess.run(
        project.command("lsp"),
        cwd=project.directory,
        env=project.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.stdout == b""
    assert "Traceback" not in done.stderr.decode()


def test_only_the_command_loads_the_library() -> None:
    code = "import sys, orchestrator.cli.main, orchestrator.lint.runner; print('pygls' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
