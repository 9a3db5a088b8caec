"""What a handler can return against what its place takes: choices, waits, plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from orchestrator.binding.findings import PythonPlace, find_problem
from orchestrator.binding.judgement import UNKNOWN_NAME
from orchestrator.binding.method import Method, MethodKind
from orchestrator.binding.mistakes import hint
from orchestrator.binding.source.returns import Place, Returns
from orchestrator.definition.model import Decision
from orchestrator.definition.problem import Problem

UNKNOWN_CHOICE = "REF013"
UNUSED_CHOICE = "REF014"
WITHOUT_CHOICE = "DEC005"
WRONG_RESULT = "DAT010"
_WAITS = "until(…), any_of(…), all_of(…), any_combination_of(…) or skip()"


def check_answers(method: Method, sharers: Sequence[Method], returns: Returns) -> Iterator[Problem]:
    """`sharers` are all methods with this handler, this one too: what one of them takes is no mistake."""
    if method.is_wait_for:
        yield from _check_wait(method, sharers, returns)
        return
    name = method.handler.name
    if not any(each.is_wait_for for each in sharers):
        for _, place in returns.waits[:1]:
            yield find_problem(
                method,
                WRONG_RESULT,
                f"`{name}` returns a wait, but {method.owner} runs it as its {method.kind}",
                place=_python(place, "a wait"),
                help="bind it under `wait_for`, or return a value",
            )
    yield from _check_words(method, sharers, returns)
    yield from _check_choosing(method, sharers, returns)
    yield from _check_unused(method, returns)


def _check_wait(method: Method, sharers: Sequence[Method], returns: Returns) -> Iterator[Problem]:
    name = method.handler.name
    for word, place in _first_of_each(returns.waits):
        if word is not None and not any(word in each.conditions for each in sharers):
            yield find_problem(
                method,
                UNKNOWN_NAME,
                f"`{name}` waits for `{word}`, but {method.name} declares no condition of that name",
                place=_python(place, "waited for here"),
                help=hint(word, method.conditions).removeprefix("; "),
            )
    if not all(each.is_wait_for for each in sharers):
        return
    for place, text in _without(returns, lambda r: [*r.plain, *(place for _, place in r.words)]):
        severity = None if place is not returns.end else "warning"
        message = f"`{name}` {text}, but a wait_for handler returns a wait"
        python = _python(place, "no wait")
        yield find_problem(
            method, WRONG_RESULT, message, place=python, help=f"return {_WAITS}", severity=severity
        )


def _check_words(method: Method, sharers: Sequence[Method], returns: Returns) -> Iterator[Problem]:
    known = frozenset(word for each in sharers for word in each.choices)
    for word, place in _first_of_each(returns.words):
        if word is not None and word not in known:
            yield find_problem(
                method,
                UNKNOWN_CHOICE,
                f"`{method.handler.name}` chooses `{word}`, but no decision of {method.name} has this choice",
                place=_python(place, "chosen here"),
                help=hint(word, method.choices).removeprefix("; "),
            )


def _check_choosing(method: Method, sharers: Sequence[Method], returns: Returns) -> Iterator[Problem]:
    if not all(_demands_choice(each) for each in sharers):
        return
    for place, text in _without(returns, lambda r: r.plain):
        is_certain = place is not returns.end or (returns.is_whole and not returns.words)
        yield find_problem(
            method,
            WITHOUT_CHOICE,
            f"`{method.handler.name}` {text}, but every decision of {method.name} is for a choice",
            place=_python(place, "no choice"),
            also=[((*_decisions(method)[0].path, "choice"), "such as this one")],
            help="return choose(word, value), or add a decision without `choice`",
            severity=None if is_certain else "warning",
        )


def _check_unused(method: Method, returns: Returns) -> Iterator[Problem]:
    """Only where all that it can return is known, and all that it chooses is a choice: else that is amiss."""
    words = {word for word, _ in returns.words}
    if not returns.is_whole or not words or not words <= method.choices:
        return
    for decision in _decisions(method):
        if decision.choice is not None and decision.choice not in words:
            yield find_problem(
                method,
                UNUSED_CHOICE,
                f"`{method.handler.name}` never chooses `{decision.choice}`: this decision is never taken",
                place=_python(returns.words[0][1], "one that is chosen"),
                at=(*decision.path, "choice"),
                help=f"it chooses {', '.join(f'`{word}`' for word in sorted(map(str, words)))}",
            )


def _without(returns: Returns, of: Callable[[Returns], list[Place]]) -> Iterator[tuple[Place, str]]:
    """The first value that will not do, and the end without a value."""
    for place in of(returns)[:1]:
        yield place, "returns a plain value here"
    if returns.end is not None:
        yield returns.end, "can end without returning anything"


def _first_of_each(named: Sequence[tuple[str | None, Place]]) -> Iterator[tuple[str | None, Place]]:
    seen = set()
    for word, place in named:
        if word not in seen:
            seen.add(word)
            yield word, place


def _demands_choice(method: Method) -> bool:
    decisions = _decisions(method)
    return bool(decisions) and all(decision.choice is not None for decision in decisions)


def _decisions(method: Method) -> Sequence[Decision]:
    if method.kind is MethodKind.RPC:
        return method.flow.rpcs[method.name].decisions
    if method.kind is MethodKind.ON_TIMEOUT:
        return method.flow.on_timeout.decisions if method.flow.on_timeout is not None else ()
    return method.flow.steps[method.name].decisions


def _python(place: Place, label: str) -> PythonPlace:
    return PythonPlace(place.file, place.node, label)
