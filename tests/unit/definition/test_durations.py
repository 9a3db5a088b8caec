from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.definition.durations import (
    format_duration,
    format_time,
    parse_duration,
    parse_time,
    span_words,
)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("250ms", 0.25),
        ("1s", 1),
        ("1.5s", 1.5),
        ("30m", 1800),
        ("1h30m", 5400),
        ("2d", 172800),
        ("1d2h3m4s5ms", 93784.005),
        ("PT1H", 3600),
        ("P1DT12H", 129600),
        ("P2W", 1209600),
        ("PT0.5S", 0.5),
        (90, 90),
        (0, 0),
        (0.25, 0.25),
        (" 5s ", 5),
    ],
)
def test_a_duration_is_read_from_each_spelling(written: Any, seconds: float) -> None:
    assert parse_duration(written) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("-1s", "never negative"),
        (-1, "never negative"),
        ("90", "write `90s`"),
        ("1 hour", "write `30s`"),
        ("30m1h", "is not a duration"),
        ("", "is not a duration"),
        ("P", "is not a duration"),
        ("PT", "is not a duration"),
        ("P1Y", "no fixed length"),
        ("\u0663s", "is not a duration"),
        ("PT\u0663S", "is not a duration"),
        (True, "`True` is not a duration"),
        (None, "null is not a duration"),
        ([1], "is not a duration"),
        (float("nan"), "is not a duration"),
        ("999999999999d", "longer than any time"),
        (1e300, "longer than any time"),
        ("3000000d", "longer than any time"),
    ],
)
def test_what_is_no_duration_is_refused_with_its_reason(written: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_duration(written)


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (timedelta(), "0s"),
        (timedelta(milliseconds=250), "250ms"),
        (timedelta(hours=1, minutes=30), "1h30m"),
        (timedelta(days=2, seconds=1.5), "2d1.5s"),
        (timedelta(microseconds=1), "0.000001s"),
        (-timedelta(seconds=90), "-1m30s"),
    ],
)
def test_a_duration_is_written_in_its_shortest_form(span: timedelta, text: str) -> None:
    assert format_duration(span) == text


@given(st.timedeltas(min_value=timedelta(), max_value=timedelta(days=10_000)))
def test_what_is_written_is_read_back(span: timedelta) -> None:
    assert parse_duration(format_duration(span)) == span


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-01-31T09:00:00Z", datetime(2026, 1, 31, 9, tzinfo=UTC)),
        ("2026-01-31T09:00:00.250+01:30", datetime(2026, 1, 31, 7, 30, 0, 250_000, tzinfo=UTC)),
        ("2026-01-31t09:00:00z", datetime(2026, 1, 31, 9, tzinfo=UTC)),
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (1.5, datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)),
    ],
)
def test_a_time_is_read_from_rfc_3339_and_epoch_seconds(written: Any, expected: datetime) -> None:
    assert parse_time(written) == expected


@pytest.mark.parametrize(
    "written",
    [
        "2026-01-31",
        "2026-01-31T09:00:00",
        "2026-02-30T00:00:00Z",
        "2026-01-31T25:00:00Z",
        "soon",
        None,
        True,
        1e20,
        "2026-01-31T09:00:00+25:00",
    ],
)
def test_what_is_no_time_is_refused(written: Any) -> None:
    with pytest.raises(ValueError, match=r"time|years"):
        parse_time(written)


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_time_that_is_written_is_read_back(at: datetime) -> None:
    assert parse_time(format_time(at)) == at
    assert ("." in format_time(at)) == (at.microsecond != 0)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0ms"),
        (0, "0ms"),
        (0.012, "12ms"),
        (0.9994, "999ms"),
        (0.9996, "1s"),
        (2.44, "2.4s"),
        (30, "30s"),
        (59.94, "59.9s"),
        (59.96, "1m"),
        (200, "3m20s"),
        (3599.4, "59m59s"),
        (3599.6, "1h"),
        (5 * 3600 + 2 * 60, "5h2m"),
        (86_399, "1d"),
        (90_000, "1d1h"),
        (3 * 86_400 + 4 * 3600, "3d4h"),
        (10 * 86_400 - 0.5, "10d"),
        (400 * 86_400, "400d"),
    ],
)
def test_spans_are_rounded_to_two_units_at_a_glance(seconds: float, text: str) -> None:
    assert span_words(timedelta(seconds=seconds)) == text
