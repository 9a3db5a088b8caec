"""Modules of handlers that do strange things while they are imported, and functions that nobody binds."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from orchestrator.binding import survey
from orchestrator.binding.importing import import_module
from tests.support.surveyed import Workshop, codes, one

FLOW = """\
flow: Shop
handlers: surveyed_shop
start: Pay
steps:
  Pay: {execute: pay, graceful_complete: done}
"""
PAY = "def pay():\n    pass\n"


RAISING = "class E(Exception):\n    def __str__(self): raise KeyError\nraise E"


@pytest.mark.parametrize(
    ("line", "message", "help"),
    [
        ("raise SystemExit(3)", "ends the program: SystemExit: 3", "__main__"),
        ("import sys; sys.exit()", "ends the program", "see surveyed_shop.py:2"),
        ("raise RuntimeError('no\\nway')", "fails: RuntimeError: no way", "see surveyed_shop.py:2"),
        ("raise BaseException", "fails: BaseException", "see surveyed_shop.py:2"),
        ("import surveyed_no.more", "No module named 'surveyed_no'", "install `surveyed_no` here"),
        ("x = (", "fails: SyntaxError: '(' was never closed", "see surveyed_shop.py:2"),
        ("f = lambda: f()\nf()", "fails: RecursionError", "see surveyed_shop.py:2"),
        (RAISING, "fails: ", "see surveyed_shop.py:4"),
    ],
)
def test_an_import_that_fails_is_a_problem_with_its_place(
    workshop: Workshop, line: str, message: str, help: str
) -> None:
    found = one(workshop.check(f"\n{line}\n{PAY}", FLOW))
    assert found.code == "REF004"
    assert found.message.startswith("importing `surveyed_shop` ")
    assert message in found.message
    assert help in found.help
    assert (found.span.line, found.span.column) == (2, 11)


def test_the_other_modules_are_still_looked_at(workshop: Workshop) -> None:
    workshop.write(
        "surveyed_more.py", "def ship(order, other):\n    pass\n\n\ndef pack(ctx):\n    ctx.publish('x')\n"
    )
    text = FLOW.replace("surveyed_shop", "[surveyed_shop, surveyed_more]").replace(
        "execute: pay", "execute: pack"
    )
    assert codes(workshop.check("raise SystemExit", text)) == ["REF004", "REF012"]


def test_what_is_printed_is_told_and_passed_on(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    found = one(workshop.check(f"print('loading', 3)\nprint('more')\n{PAY}", FLOW))
    assert (found.code, found.severity) == ("REF015", "warning")
    assert found.message == "importing `surveyed_shop` prints: loading 3"
    assert capsys.readouterr().out == "loading 3\nmore\n"


def test_a_module_may_put_another_stdout_there(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    assert workshop.check(f"import io, sys\nsys.stdout = io.StringIO()\n{PAY}", FLOW) == []
    assert type(sys.stdout).__name__ == "StringIO"


def test_a_slow_import_is_told_by_its_module(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "SLOW_SECONDS", 0.0)
    found = one(workshop.check(PAY, FLOW))
    assert (found.code, found.severity) == ("REF016", "info")
    assert found.message == "importing `surveyed_shop` takes more than 0 s"


def test_output_and_time_are_told_once_for_all_flows(workshop: Workshop) -> None:
    assert codes(workshop.check(f"print('x')\n{PAY}", FLOW)) == ["REF015"]
    workshop.write("other.flow.yaml", FLOW.replace("Shop", "Other"))
    assert workshop.look("other.flow.yaml") == []


def test_a_module_that_changes_the_working_directory_does_no_harm(workshop: Workshop) -> None:
    assert workshop.check(f"import os\nos.chdir('/')\n{PAY}", FLOW) == []
    assert Path.cwd() == Path(os.path.realpath(workshop.directory))


def test_an_interruption_passes_through(workshop: Workshop) -> None:
    workshop.write("surveyed_stop.py", "raise KeyboardInterrupt\n")
    sys.path.insert(0, str(workshop.directory))
    with pytest.raises(KeyboardInterrupt):
        import_module("surveyed_stop")


@pytest.mark.parametrize(
    "text",
    [
        "class Odd:\n    def __call__(self): ...\n    __signature__ = property(len)\npay = Odd()\n",
        "class Odd:\n    def __getattr__(self, name): raise KeyError(name)\npay = Odd()\n",
        "def __getattr__(name):\n    raise KeyError(name)\n",
    ],
)
def test_an_odd_object_is_a_problem_and_no_traceback(workshop: Workshop, text: str) -> None:
    assert one(workshop.check(text, FLOW)).code in ("REF004", "DAT008")


# --- Unused functions ---

UNUSED = PAY + "def ship():\n    pass\n"


def test_a_public_function_that_no_step_binds_is_told_where_the_module_is_named(workshop: Workshop) -> None:
    found = one(workshop.check(UNUSED, FLOW))
    assert (found.code, found.severity) == ("REF010", "info")
    assert found.message == "`ship` of `surveyed_shop` is the handler of no step (surveyed_shop.py:3)"
    assert (found.span.line, found.span.column) == (2, 11)
    assert [(span.path, span.span.line) for span in found.spans] == [("surveyed_shop.py", 3)]


@pytest.mark.parametrize(
    "text",
    [
        UNUSED.replace("ship", "_ship"),
        UNUSED + "def _later():\n    ship()\n",
        PAY + "class Ship:\n    def ship(self): ...\n",
        PAY + "from os.path import join\nfrom functools import partial\nship = partial(pay)\n",
        PAY + "ship = lambda: 3\n",
    ],
)
def test_private_imported_and_used_functions_do_not_count(workshop: Workshop, text: str) -> None:
    assert workshop.check(text, FLOW) == []


@pytest.mark.parametrize(
    "step",
    [
        "Ship: {wait_for: {handler: ship, conditions: {late: {timer: 1h}}}, dead_end: true}",
        "Ship: {execute: 'surveyed_shop:ship', dead_end: true}",
    ],
)
def test_a_function_bound_in_any_way_counts_as_used(workshop: Workshop, step: str) -> None:
    text = UNUSED.replace("def ship():", "def ship(x=None):").replace("    pass", "    return LATE()")
    workshop.write("surveyed_late.py", "")
    assert "REF010" not in codes(workshop.check(text, FLOW + f"  {step}\n"))


def test_a_flow_beside_that_is_not_looked_at_counts_too(workshop: Workshop) -> None:
    workshop.write("other.flow.yaml", FLOW.replace("Shop", "Other").replace("execute: pay", "execute: ship"))
    assert workshop.check(UNUSED, FLOW) == []


def test_it_is_told_once_for_all_flows(workshop: Workshop) -> None:
    workshop.write("other.flow.yaml", FLOW.replace("Shop", "Other"))
    assert codes(workshop.check(UNUSED, FLOW)) == ["REF010"]
    assert workshop.look("other.flow.yaml") == []


def test_a_function_that_another_module_imports_counts_as_used(workshop: Workshop) -> None:
    workshop.write("surveyed_user.py", "from surveyed_shop import ship\n")
    text = FLOW.replace("surveyed_shop", "[surveyed_shop, surveyed_user]")
    assert workshop.check(UNUSED, text) == []
    workshop.forget_modules()
    workshop.write("surveyed_user.py", "import surveyed_shop\n")
    assert codes(workshop.check(UNUSED, text)) == ["REF010"]


def test_a_misspelt_handler_is_one_problem(workshop: Workshop) -> None:
    assert codes(workshop.check(PAY, FLOW.replace("execute: pay", "execute: pya"))) == ["REF004"]
