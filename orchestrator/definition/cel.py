"""The CEL library, behind three verbs: parse a text, compile a tree, run it. Imported at the first use."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import Any

from orchestrator.definition.cel_library import make_functions
from orchestrator.definition.cel_tree import (
    Const,
    Ident,
    Node,
    PathStep,
    Read,
    Select,
    children,
    extent,
    reads_of,
)
from orchestrator.definition.cel_wire import decode, encode
from orchestrator.definition.durations import format_time, parse_time
from orchestrator.definition.model import Json
from orchestrator.definition.reserved import CEL_KEYWORDS

_PATH = re.compile(r"\s*[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\s*", re.ASCII)


class SyntaxProblem(Exception):
    """A text that is no expression; `offset` in code points."""

    def __init__(self, message: str, offset: int, end_offset: int, help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.end_offset = end_offset
        self.help = help


class EvaluationFailed(Exception):
    """Why an evaluation gave no value."""


@cache
def _environment() -> Any:
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_bindings, ext_math, ext_optional, ext_strings

    extensions = [
        ext_optional.ExtOptional(),
        ext_strings.ExtStrings(),
        ext_math.ExtMath(),
        ext_bindings.ExtBindings(),
    ]
    return cel.NewEnv(extensions=extensions, functions=make_functions(cel))


@cache
def _error_type() -> Any:
    from cel_expr_python import cel

    return cel.Type.ERROR


# --- Parsing -----------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def parse(text: str) -> Node:
    """The tree of an expression; nodes are never changed afterwards."""
    if _PATH.fullmatch(text) and CEL_KEYWORDS.isdisjoint(text.strip().split(".")):
        return _parse_path(text)
    try:
        return decode(_environment().compile(text, disable_check=True).serialize())
    except RuntimeError as error:
        raise _explain_syntax(text, str(error)) from None


@lru_cache(maxsize=4096)
def names_in(text: str) -> tuple[str, ...]:
    """All names that stand alone in an expression, those that it binds itself among them; each once."""
    found: dict[str, None] = {}
    pending = [parse(text)]
    while pending:
        node = pending.pop()
        if isinstance(node, Ident):
            found[node.name] = None
        pending += children(node)
    return tuple(found)


def _parse_path(text: str) -> Node:
    at = len(text) - len(text.lstrip())
    first, *rest = text.strip().split(".")
    node: Node = Ident(at, first)
    at += len(first)
    for name in rest:
        node = Select(at, node, name)
        at += 1 + len(name)
    return node


_PLACE = re.compile(r"ERROR: <input>:(\d+):(\d+): (?:Syntax error: )?(.*)")
_WORDS = {"and": "&&", "or": "||", "not": "!", "is": "==", "None": "null", "True": "true", "False": "false"}


def _explain_syntax(text: str, error: str) -> SyntaxProblem:
    found = _PLACE.search(error)
    if not text.strip():
        return SyntaxProblem("the expression is empty", 0, len(text))
    if "recursion" in error:
        message = "the expression is nested too deeply, or has more than 32 terms in a row"
        return SyntaxProblem(message, 0, len(text), "split it with `let`")
    if found is None:
        return SyntaxProblem("this is not an expression", 0, len(text))
    line, column, reason = int(found[1]), int(found[2]), found[3]
    lines = text.split("\n")
    if line > len(lines):
        return SyntaxProblem(_shorten(reason, ""), 0, len(text))
    offset = sum(len(each) + 1 for each in lines[: line - 1]) + max(column - 1, 0)
    token = re.match(r"\w+|[=!<>&|]+|.", text[offset:])
    word = token[0] if token else ""
    end = max(min(offset + len(word), len(text)), offset + 1)
    help = _help_with(text, word, reason) or _help_before(text[:offset])
    return SyntaxProblem(_shorten(reason, word), offset, end, help)


def _shorten(reason: str, word: str) -> str:
    if "'<EOF>'" in reason:
        missing = re.search(r"(?:missing|expecting) '(.)'", reason)
        return (
            f"the expression ends too early: `{missing[1]}` is missing"
            if missing
            else "the expression ends too early"
        )
    if "token recognition error" in reason:
        return "the text is not closed" if word in ("'", '"') else f"`{word}` means nothing here"
    if reason.startswith(("mismatched", "extraneous", "no viable", "missing")):
        return f"`{word}` is not expected here" if word else "the expression ends too early"
    return reason.partition(" [")[0]


def _help_with(text: str, word: str, reason: str) -> str:
    if word in _WORDS:
        return f"write `{_WORDS[word]}`"
    if word == "=":
        return "write `==` to compare"
    if word == "$" or "${" in text:
        return "no `${…}` inside an expression"
    if word in ("'", '"') and "token recognition" in reason:
        return "close the quote, or write `\\\\` for a backslash"
    return ""


def _help_before(text: str) -> str:
    """What stands before the place that is not understood is a word of another language."""
    before = re.search(r"(\w+)\s*$", text)
    word = before[1] if before else ""
    return f"write `{_WORDS[word]}` for `{word}`" if word in _WORDS else ""


# --- Running -----------------------------------------------------------------------------------------------


SIZE_LIMIT = 20_000
"""Parts of an expression in which every `let` name stands for what it means."""
_SURELY_SHALLOW = 12


def explain_extent(node: Node, *, reads_lets: bool) -> str | None:
    """Why the tree of an expression is too large to be run; None: it is not."""
    size, depth = extent(node)
    if reads_lets and size > SIZE_LIMIT:
        return f"this, with the `let` names that it reads, has {size} parts, more than {SIZE_LIMIT}"
    if depth > _SURELY_SHALLOW:
        try:
            _ready(node)
        except EvaluationFailed as error:
            return str(error)
    return None


def _ready(node: Node) -> Any:
    try:
        return _environment().deserialize(encode(node))
    except RuntimeError:
        raise EvaluationFailed("this, with the `let` names that it reads, is nested too deeply") from None


class Program:
    """An expression ready to run. A lone path never leaves Python."""

    __slots__ = ("_compiled", "_constant", "_direct", "_is_time", "_node", "_readers", "reads")

    def __init__(self, node: Node, is_time: bool) -> None:
        self.reads = reads_of(node)
        self._node = node
        self._is_time = is_time
        self._compiled: Any = None
        self._constant = node if isinstance(node, Const) else None
        is_direct = isinstance(node, Read) and node.member is None
        self._direct: Callable[[Mapping[str, Any]], Any] | None = (
            _reader(self.reads[0]) if is_direct else None
        )
        self._readers = [(read.name, _reader(read)) for read in self.reads]

    def run(self, scope: Mapping[str, Any]) -> Any:
        """A JSON value, in which there may be datetimes and timedeltas; raises EvaluationFailed."""
        if self._direct is not None:
            return self._read_directly(scope, self._direct)
        if self._constant is not None:
            return self._constant.value
        if self._compiled is None:
            self._compiled = _ready(self._node)
        given = {}
        for name, read in self._readers:
            try:
                given[name] = value = read(scope)
            except (KeyError, IndexError, TypeError):
                continue
            if _has_nul(value):
                shown = name.removeprefix("$.")
                raise EvaluationFailed(f"`{shown}` holds a NUL character, which expressions cannot read")
        try:
            result = self._compiled.eval(data=given)
            value = result.plain_value()
        except (RuntimeError, TypeError, ValueError, OverflowError) as error:
            raise EvaluationFailed(self._explain(str(error), scope)) from None
        if value is True or value is False:
            return value
        if type(value) is str and result.type() == _error_type():
            raise EvaluationFailed(self._explain(value, scope))
        return value

    def evaluate(self, scope: Mapping[str, Any]) -> Json:
        """The result as JSON."""
        value = self.run(scope)
        if self._direct is not None:
            return format_time(value) if isinstance(value, datetime) else value
        return leave(value)

    def _read_directly(self, scope: Mapping[str, Any], read: Callable[[Mapping[str, Any]], Any]) -> Any:
        try:
            value = read(scope)
        except (KeyError, IndexError, TypeError):
            raise EvaluationFailed(explain_missing(self.reads[0], scope)) from None
        if self._is_time and isinstance(value, str):
            try:
                return parse_time(value)
            except ValueError as error:
                raise EvaluationFailed(str(error)) from None
        return value

    def _explain(self, error: str, scope: Mapping[str, Any]) -> str:
        absent = re.search(r'No value with name "(.+)" found in Activation', error)
        if absent is not None:
            read = next((read for read in self.reads if read.name == absent[1]), None)
            return f"{absent[1]} has no value" if read is None else explain_missing(read, scope)
        return _plain_reason(error)


def _has_nul(value: Any) -> bool:
    """The CEL library would end the text there. `repr` looks through large values faster than a walk."""
    if type(value) is str:
        return "\0" in value
    if type(value) is list or type(value) is dict:
        return "\\x00" in repr(value) and any(map(_has_nul, _inside(value)))
    return False


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value
        yield from value.values()
    else:
        yield from value


_OVERLOAD = re.compile(r"No matching overloads? found ?: (.+)")
_KIND_WORDS = {
    "int64": "integer",
    "double": "number",
    "null_type": "null",
    "map": "object",
    "google.protobuf.Timestamp": "time",
}


def _plain_reason(error: str) -> str:
    reason = re.sub(r"^(?:[A-Z_]+: )+|(?: \[[A-Z_]+\])+$", "", error)
    if (overload := _OVERLOAD.search(reason)) is not None:
        return _explain_overload(overload[1])
    if key := re.search(r"Key not found in map : (.+)", reason):
        return f"there is no key {key[1]}; `.?` reads one that may be absent"
    if found := re.search(r"Index error: index=(-?\d+) size=(\d+)", reason):
        return f"there is no element {found[1]} in a list of {found[2]}"
    if "Unable to convert function return value" in reason:
        return "the result is an optional, a type, or something else that JSON does not have"
    if "Iteration budget exceeded" in reason:
        return "more than 10,000 rounds in one evaluation"
    return reason


def _explain_overload(call: str) -> str:
    found = re.fullmatch(r"_?(.+?)_?\((.*)\)", call)
    if found is None:
        return f"nothing fits {call}"
    kinds = [_KIND_WORDS.get(kind, kind) for kind in found[2].split(", ")]
    name = found[1].strip("_")
    if not re.fullmatch(r"[@\w.()]+", name):
        shown = f" {name} ".join(kinds) if len(kinds) > 1 else f"{name} {kinds[0]}"
        mixed = {"integer", "number"} == set(kinds)
        return f"cannot compute {shown}" + ("; `double(n)` makes a number of an integer" if mixed else "")
    return f"`{name.lstrip('@')}` does not take {', '.join(kinds)}"


def _reader(read: Read) -> Callable[[Mapping[str, Any]], Any]:
    """Walks the path; KeyError, IndexError or TypeError where it leads nowhere."""
    first, *rest = read.path
    member, is_lifted, is_whole = read.member, read.is_lifted, len(read.path) == 1

    def walk(scope: Mapping[str, Any]) -> Any:
        value = scope[first]  # type: ignore[index]
        for step in rest:
            value = _step(value, step)
        if member is not None:
            if not isinstance(value, Mapping):
                raise TypeError
            try:
                return {member: plain(value[member])}
            except KeyError:
                return {}
        kind = type(value)
        if is_lifted and kind is int:
            return float(value)
        return value if kind in _PLAIN or (kind is dict and not is_whole) else plain(value)

    return walk


_PLAIN = frozenset([str, int, float, bool, type(None), list])
"""What is given as it is."""


def _step(value: Any, step: PathStep) -> Any:
    if type(step) is int and not isinstance(value, list):
        raise TypeError
    return value[step]


def plain(value: Any) -> Json:
    """Views, and times one level deep, as JSON."""
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, Mapping):
        if type(value) is dict and not any(isinstance(member, datetime) for member in value.values()):
            return value
        return {key: plain(member) for key, member in value.items()}
    return value


def explain_missing(read: Read, scope: Mapping[str, Any]) -> str:
    """Which part of a path is not there."""
    value: Any = scope
    walked = ""
    for step in read.path:
        shown = f"[{step}]" if isinstance(step, int) else f".{step}" if walked else step
        try:
            inner = _step(value, step)
        except (KeyError, IndexError, TypeError):
            return _explain_step(value, step, walked, f"{walked}{shown}")
        value, walked = inner, f"{walked}{shown}"
    return f"`{walked}` is {_what(value)}, it has no field `{read.member}`"


def _explain_step(value: Any, step: PathStep, before: str, whole: str) -> str:
    if isinstance(value, Mapping):
        if step == "message" and isinstance(value.get("messages"), list):
            return f"`{whole}`: {len(value['messages'])} messages were taken, read `messages`"
        if step == "output" and isinstance(value.get("outputs"), list):
            return f"`{whole}`: there are {len(value['outputs'])} outputs, read `outputs`"
        return f"`{whole}` is absent; `.?` reads what may be absent"
    if isinstance(value, list) and isinstance(step, int):
        return f"`{before}` has {len(value)} elements, there is no `{whole}`"
    return f"`{before}` is {_what(value)}, there is no `{whole}`"


def _what(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "an integer", float: "a number", str: "a string", list: "a list"}
    return names.get(type(value), "an object")


# --- Leaving -----------------------------------------------------------------------------------------------


def leave(value: Any) -> Json:
    """A result as JSON: times as RFC 3339, durations as seconds; EvaluationFailed for the rest."""
    kind = type(value)
    if kind is str or kind is bool or kind is int or value is None:
        return value
    if kind is float:
        if not math.isfinite(value):
            raise EvaluationFailed(f"the result is {value}, which is not a JSON number")
        return value
    if kind is dict:
        return _leave_members(value)
    if kind is list:
        return [leave(element) for element in value]
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, timedelta):
        seconds = value.total_seconds()
        return int(seconds) if seconds.is_integer() else seconds
    if isinstance(value, bytes | bytearray):
        raise EvaluationFailed("the result is bytes, which JSON does not have")
    raise EvaluationFailed("the result is something that JSON does not have")


def _leave_members(value: dict[Any, Any]) -> Json:
    """Ordered by key: CEL's own order differs from process to process."""
    for key in value:
        if not isinstance(key, str):
            raise EvaluationFailed(f"the key {key!r} of the result is not text")
    return {key: leave(value[key]) for key in sorted(value)}
