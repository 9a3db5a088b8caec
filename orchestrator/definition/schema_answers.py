"""A type that several alternatives lead to is asked once about a value, not once for each way to it."""

from __future__ import annotations

import threading

from orchestrator.definition.json_kinds import Check, Misfit
from orchestrator.definition.model import Json


class Answers(threading.local):
    """What named types say of the value under way and of its parts; forgotten when it is done."""

    def __init__(self) -> None:
        self._is_under_way = False
        self._known: dict[tuple[str, int], tuple[Json, Json, Misfit | None]] = {}
        """With the value itself, so that no other gets its identity meanwhile."""

    def kept_of(self, name: str, check: Check) -> Check:
        def check_once(value: Json) -> Json:
            if not self._is_under_way:
                return self._begin(check, value)
            known = self._known.get((name, id(value)))
            if known is None:
                known = self._known[name, id(value)] = (value, *_answer(check, value))
            _, filled, misfit = known
            if misfit is not None:
                raise Misfit(misfit.message, misfit.at)
            return filled

        return check_once

    def _begin(self, check: Check, value: Json) -> Json:
        self._is_under_way = True
        try:
            return check(value)
        finally:
            self._is_under_way = False
            self._known.clear()


def _answer(check: Check, value: Json) -> tuple[Json, Misfit | None]:
    try:
        return check(value), None
    except Misfit as misfit:
        return None, misfit.with_traceback(None)
