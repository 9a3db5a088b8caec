"""`diff` and `migrate`, as they are typed."""

from __future__ import annotations

import json
import subprocess
import xml.etree.ElementTree as ET

import pytest
from jsonschema import Draft7Validator

from tests.acceptance.command import ROOT, Place

OLD = """\
flow: Purchase
handlers: handlers.purchase
input: integer
output: string
channels: {approval: {type: string, external: true}}
attributes: {limit: {type: integer, initial: 10}}
start: Approve
steps:
  Approve:
    input: integer
    wait_for: {any_of: [{channel: approval}, {timer: 60d, id: late}]}
    decide:
      - {when: wait.late.fired, graceful_complete: too late}
      - {go_to: Pay}
  Pay: {input: integer, execute: pay, graceful_complete: paid}
"""
NEW = (
    OLD.replace("{go_to: Pay}", "{go_to: Audit}") + "  Audit: {input: integer, execute: audit, go_to: Pay}\n"
)
RENAMED = NEW.replace("Approve", "Confirm")
STRICT = NEW.replace("limit: {type: integer,", "limit: {type: {type: integer, maximum: 15},")
HANDLERS = """\
def pay(amount):
    print("paying", amount)


def audit(amount):
    print("auditing", amount)
"""


@pytest.fixture
def shop(place: Place) -> Place:
    place.write("flows/purchase.flow.yaml", OLD)
    place.write("handlers/purchase.py", HANDLERS)
    for name, text in (("new", NEW), ("renamed", RENAMED), ("strict", STRICT)):
        place.write(f"{name}.flow.yaml", text)
    return place


def fits(document: object, name: str) -> list[str]:
    schema = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    return [error.message for error in Draft7Validator(schema).iter_errors(document)]


def fits_each(rows: list[object]) -> list[str]:
    return [message for row in rows for message in fits(row, "migrate")]


def start(shop: Place, *flow_ids: str) -> None:
    for number, flow_id in enumerate(flow_ids):
        limit = f"limit={10 * (number + 1)}"
        done = shop.type("start", "Purchase", "--id", flow_id, "--input", "7", "--attribute", limit)
        assert done.code == 0, done.stderr
    assert shop.type("worker", "--until-idle").code == 0


PATH = "flows/purchase.flow.yaml"


def test_a_compatible_change_ends_with_0(shop: Place) -> None:
    done = shop.type("diff", PATH, "new.flow.yaml")
    assert done.code == 0, done.stderr
    assert "14→14  ~ step Approve: decision 2: `go_to Pay` → `go_to Audit`" in done.stdout
    assert "→16  + step Audit is added" in done.stdout
    assert done.stdout.endswith("every run can go on under the new version, wherever it is\n")


def test_what_needs_a_mapping_ends_with_1_until_it_is_given(shop: Place) -> None:
    done = shop.type("diff", PATH, "renamed.flow.yaml", "-o", "json")
    assert (done.code, done.json()["verdict"]) == (1, "needs_mapping")
    assert fits(done.json(), "diff") == []
    advised = [each["mapping"] for place in done.json()["places"] for each in place["reasons"]]
    assert advised == [["step:Approve=Confirm"]] * 2
    given = shop.type("diff", PATH, "renamed.flow.yaml", "--map", "step:Approve=Confirm", "-o", "json")
    assert (given.code, given.json()["verdict"]) == (0, "compatible")
    assert {each["text"] for each in given.json()["changes"]} >= {"step Approve is now Confirm"}


def test_live_runs_decide_where_they_are_counted(shop: Place) -> None:
    start(shop, "r1", "r2")
    assert shop.type("diff", PATH, "strict.flow.yaml").code == 1
    counted = shop.type("diff", PATH, "strict.flow.yaml", "--db", "sqlite:///orchestrator.db")
    assert counted.code == 1
    assert "attribute:limit [2 live runs, 1 stuck]: impossible" in counted.stdout
    words = ("diff", PATH, "strict.flow.yaml", "--db", "sqlite:///orchestrator.db", "-o", "json")
    assert fits(shop.type(*words).json(), "diff") == []
    assert counted.stdout.endswith("1 of 2 live runs can go on under the new version\n")


def test_places_without_live_runs_do_not_count_with_a_database(shop: Place) -> None:
    start(shop, "r1")
    changed = shop.write("other.flow.yaml", NEW.replace("execute: pay", "execute: pay_all"))
    assert shop.type("diff", PATH, changed.name).code == 1
    assert shop.type("diff", PATH, changed.name, "--db", "sqlite:///orchestrator.db").code == 0


def test_both_versions_are_drawn_as_one(shop: Place) -> None:
    done = shop.type("diff", PATH, "new.flow.yaml", "--image", "change.svg")
    assert done.code == 0, done.stderr
    cards = {
        group.attrib["data-ref"]: group.attrib["class"].split()[-1]
        for group in ET.parse(shop.directory / "change.svg").iter("{http://www.w3.org/2000/svg}g")
        if group.attrib.get("class", "").startswith("card ")
    }
    assert cards == {"step:Approve": "changed", "step:Pay": "step", "step:Audit": "added"}


def test_a_version_may_be_a_commit_or_a_stored_definition(shop: Place) -> None:
    start(shop, "r1")
    definition = shop.type("describe", "r1", "-o", "json").json()["definition"]
    database = ("--db", "sqlite:///orchestrator.db")
    assert shop.type("diff", definition[:20], "new.flow.yaml", *database).code == 0
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@y.z"]
    for words in (["init", "-q"], ["add", PATH], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *words], cwd=shop.directory, check=True, capture_output=True)
    shop.write(PATH, NEW)
    done = shop.type("diff", f"git:HEAD:{PATH}", PATH)
    assert (done.code, "+ step Audit is added" in done.stdout) == (0, True)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["diff", PATH], 2, "Missing argument 'NEW'"),
        (["diff", PATH, "flows/ask.flow.yaml"], 2, "these are not two versions of one"),
        (["diff", PATH, "new.flow.yaml", "--map", "step:Pay"], 2, "is not KIND:OLD=NEW"),
        (["diff", PATH, "new.flow.yaml", "--image", "x.jpg"], 2, "must end in one of .svg"),
        (["diff", "sha256:12", "new.flow.yaml"], 2, "name the database with --db"),
        (["diff", "git:HEAD", "new.flow.yaml"], 2, "is not git:REV:PATH"),
        (["diff", "no.flow.yaml", "new.flow.yaml"], 2, "did you mean `new.flow.yaml`"),
        (["migrate", PATH, PATH, "--yes"], 2, "OLD and NEW are the same definition"),
        (["migrate", "sha256:12", "new.flow.yaml", "--yes"], 4, "no stored definition begins with sha256:12"),
        (["migrate", PATH, "new.flow.yaml", "--where", "flow ="], 2, "--where, at character"),
        (["migrate", PATH, "new.flow.yaml", "--yes", "--flow-id", "nobody"], 4, "there is no run nobody"),
    ],
)
def test_what_cannot_be_meant_is_said(shop: Place, words: list[str], code: int, message: str) -> None:
    start(shop, "r1")
    done = shop.type(*words)
    assert (done.code, message in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_is_moved_and_goes_through_the_new_step(shop: Place) -> None:
    start(shop, "r1")
    planned = shop.type("migrate", PATH, "new.flow.yaml", "--dry-run", "-o", "json")
    assert planned.code == 0
    assert [(each["flow_id"], each["result"]) for each in planned.json()] == [("r1", "can_move")]
    assert [commit["event"] for commit in history(shop)][-1] == "WaitForSucceeded"
    moved = shop.type("migrate", PATH, "new.flow.yaml", "--yes")
    assert (moved.code, moved.stdout) == (0, "r1  Approve/waiting  moved\n")
    assert moved.stderr == "1 moved, 0 left\n"
    assert history(shop)[-1]["event"] == "RunMigrated"
    assert "run migrated" in shop.type("history", "r1").stdout
    assert shop.type("publish", "r1", "approval", '"yes"').code == 0
    done = shop.type("worker", "--until-idle")
    assert [line for line in (done.stdout + done.stderr).splitlines() if "ing 7" in line] == [
        "auditing 7",
        "paying 7",
    ]
    run = shop.type("describe", "r1", "-o", "json").json()
    assert (run["status"], run["outputs"][0]["output"]) == ("COMPLETED", "paid")
    assert run["definition"] != planned.json()[0].get("definition")


def history(shop: Place) -> list[dict[str, object]]:
    found: list[dict[str, object]] = shop.type("history", "r1", "-o", "json").json()
    return found


def test_it_asks_and_without_a_terminal_needs_yes(shop: Place) -> None:
    start(shop, "r1")
    done = shop.type("migrate", PATH, "new.flow.yaml")
    assert (done.code, done.stdout) == (2, "")
    assert "r1  Approve/waiting  can move" in done.stderr
    assert "give --yes" in done.stderr
    assert (
        shop.type("migrate", PATH, "new.flow.yaml", "--dry-run").stdout == "r1  Approve/waiting  can move\n"
    )


def test_who_cannot_be_moved_is_left_and_says_why(shop: Place) -> None:
    start(shop, "r1", "r2")
    done = shop.type("migrate", PATH, "strict.flow.yaml", "--yes", "-o", "json")
    assert done.code == 1
    assert fits_each(done.json()) == []
    assert [(each["flow_id"], each["result"]) for each in done.json()] == [("r1", "moved"), ("r2", "left")]
    assert "the value of attribute limit does not fit" in done.json()[1]["reason"]


def test_some_may_be_chosen(shop: Place) -> None:
    start(shop, "r1", "r2", "r3")
    one = shop.type("migrate", PATH, "new.flow.yaml", "--yes", "--flow-id", "r2", "-o", "json")
    assert [each["flow_id"] for each in one.json()] == ["r2"]
    again = shop.type("migrate", PATH, "new.flow.yaml", "--yes", "--flow-id", "r2", "-o", "json")
    assert (again.code, again.json()[0]["result"]) == (1, "left")
    assert "its definition is sha256:" in again.json()[0]["reason"]
    assert fits_each(again.json()) == []
    some = shop.type("migrate", PATH, "new.flow.yaml", "--yes", "--where", "flow_id == 'r3'", "-o", "json")
    assert [each["flow_id"] for each in some.json()] == ["r3"]


def test_nobody_to_move_is_said_with_what_there_is(shop: Place) -> None:
    start(shop, "r1")
    done = shop.type("migrate", "new.flow.yaml", PATH, "--yes")
    assert (done.code, done.stdout) == (0, "")
    assert "no live run that is asked for has the definition" in done.stderr
    assert "(1 live)" in done.stderr


def test_a_mapping_moves_what_is_renamed(shop: Place) -> None:
    start(shop, "r1")
    refused = shop.type("migrate", PATH, "renamed.flow.yaml", "--yes")
    assert (refused.code, "(--map step:Approve=Confirm)" in refused.stdout) == (1, True)
    words = ("migrate", PATH, "renamed.flow.yaml", "--map", "step:Approve=Confirm", "--yes")
    assert shop.type(*words).code == 0
    active = shop.type("describe", "r1", "-o", "json").json()["active"]
    assert [each["step_execution_id"] for each in active] == ["Confirm-1"]


def test_going_back_before_the_move_is_refused(shop: Place) -> None:
    start(shop, "r1")
    shop.type("migrate", PATH, "new.flow.yaml", "--yes")
    done = shop.type("time-travel", "r1", "--to", "beginning", "--yes")
    assert (done.code, "was moved to another definition by commit 3" in done.stderr) == (1, True)
