"""Exceptions of handlers as failures of an attempt."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import TracebackType

from orchestrator.core.events import Failure
from orchestrator.errors import NonRetryable, RetryAfter

_OWN_CODE = str(Path(__file__).parent)
_FRAMES_KEPT = 20
_MESSAGE_LIMIT = 4_000
"""Characters; failures are kept in history."""


def failure_of(exception: BaseException) -> Failure:
    """What the run remembers of it: type, message, and the frames of the handler (not ours)."""
    kind = type(exception)
    return Failure(
        type=kind.__name__,
        message=_shorten(_text(exception)),
        bases=tuple(each.__name__ for each in kind.__mro__ if each not in (object, BaseException)),
        retry_after=exception.delay if isinstance(exception, RetryAfter) else None,
        is_retryable=not isinstance(exception, NonRetryable),
        traceback=_frames(exception),
    )


def _text(exception: BaseException) -> str:
    try:
        text = str(exception)
    except Exception as error:
        text = f"(its text cannot be made: {type(error).__name__})"
    return text.encode("utf-8", "backslashreplace").decode()


def _frames(exception: BaseException) -> str | None:
    frames = [
        frame
        for frame in traceback.extract_tb(_skip_own(exception.__traceback__))
        if not frame.filename.startswith(_OWN_CODE)
    ]
    if not frames:
        return None
    text = "".join(traceback.format_list(frames[-_FRAMES_KEPT:]))
    return text.encode("utf-8", "backslashreplace").decode()


def _skip_own(trace: TracebackType | None) -> TracebackType | None:
    """From the handler's first frame on."""
    found = trace
    while found is not None and not found.tb_frame.f_code.co_filename.startswith(_OWN_CODE):
        found = found.tb_next
    while found is not None and found.tb_frame.f_code.co_filename.startswith(_OWN_CODE):
        found = found.tb_next
    return found if found is not None else trace


def _shorten(text: str) -> str:
    return text if len(text) <= _MESSAGE_LIMIT else text[: _MESSAGE_LIMIT - 1] + "…"
