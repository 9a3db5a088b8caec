"""Log records as JSON lines."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

import pytest

from orchestrator.engine.log_lines import JsonLines, PrintedLines


def line_of(message: str, *arguments: Any, **more: Any) -> dict[str, Any]:
    record = logging.getLogger("some").makeRecord(
        "some", logging.WARNING, "f.py", 1, message, arguments, None, extra=more
    )
    text = JsonLines().format(record)
    assert "\n" not in text
    line: dict[str, Any] = json.loads(text)
    return line


def test_a_line_has_time_level_logger_message_and_the_fields_given() -> None:
    line = line_of("charged %d", 5, flow_id="order-7", attempt=2)
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "warning",
        "logger": "some",
        "message": "charged 5",
        "flow_id": "order-7",
        "attempt": 2,
    }


def test_a_message_of_many_lines_is_one_line() -> None:
    assert line_of("one\ntwo")["message"] == "one\ntwo"


def test_an_exception_comes_with_its_traceback() -> None:
    try:
        raise ValueError("broken")
    except ValueError:
        record = logging.LogRecord("some", logging.ERROR, "f.py", 1, "failed", (), sys.exc_info())
    line = json.loads(JsonLines().format(record))
    assert line["exception"].startswith("Traceback")
    assert line["exception"].endswith("ValueError: broken")


def test_a_traceback_that_comes_as_text_is_kept() -> None:
    record = logging.makeLogRecord({"name": "some", "msg": "failed", "exc_text": "Traceback: broken"})
    assert json.loads(JsonLines().format(record))["exception"] == "Traceback: broken"


@pytest.mark.parametrize("value", [object(), {1: object()}, 2**200, "\udc80", {(1, 2): 3}])
def test_what_is_no_json_is_shown_as_text(value: Any) -> None:
    assert line_of("x", value=value)["message"] == "x"
    assert "value" in line_of("x", value=value)


def test_what_holds_itself_is_shown_as_text() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert line_of("x", value=endless)["value"] == "[[...]]"


def test_every_printed_line_is_a_record(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    printed: Any = PrintedLines(logging.getLogger("printed"))
    print("one", "two", file=printed)
    print("half", end="", file=printed, flush=True)
    print(" whole\n\nlast", file=printed)
    assert [record.getMessage() for record in caplog.records] == ["one two", "half whole", "last"]
