"""Turns the parse errors that an unquoted expression causes into "quote this expression" (section 6.1)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import yaml

from orchestrator.definition.problem import Edit, Fix, Span, split_lines

if TYPE_CHECKING:
    from orchestrator.definition.document import Report

_GUARD = re.compile(r"""(?<![\w"'])when:\s+(?=[^\s"'>|])""")
_QUOTED_GUARD = re.compile(r"""(?<![\w"'])when:\s+(?=["'])""")
_BRACES = re.compile(r"\$\{")
_QUOTED = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')(?=\s*(?:[,\]}:#]|$))""")
_VALUE_AHEAD = re.compile(r""":(\s|$)""")
_SCALAR_START = re.compile(r"""^\s*(?:-\s+)*|:\s+|(?<=\s)-\s+""")
_FLOW_SCALAR_START = re.compile(r"""^\s*(?:-\s+)*|:\s+|[\[{,]\s*""")
_COMMENT = re.compile(r"\s#")
_KEY_AHEAD = re.compile(r"""\s*[A-Za-z_][\w-]*:(\s|$)""")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class Candidate(NamedTuple):
    """An unquoted expression in one line: its text, and where it stands (from 0)."""

    start: int
    end: int
    text: str


def explain_syntax_error(error: yaml.MarkedYAMLError, text: str, report: Report) -> None:
    """Reports the one problem that a YAML error is."""
    mark = error.problem_mark or error.context_mark
    if mark is not None and error.context_mark is not None and not _has_more(text, mark.line, mark.column):
        mark = error.context_mark  # something is left open: show where it begins
    line, column = (mark.line, mark.column) if mark is not None else (0, 0)
    lines = split_lines(text)
    shown = lines[line] if line < len(lines) else ""
    here = Span(line + 1, column + 1, line + 1, column + 2)
    tab = re.match(r" *(\t+)", shown)
    if tab is not None and column <= tab.end():
        span = Span(line + 1, tab.start(1) + 1, line + 1, tab.end(1) + 1)
        report("YML008", "a tab; YAML is indented with spaces", span, help="replace it by spaces")
        return
    is_flow = "flow" in (error.context or "")
    for candidate in reversed(_find_candidates(shown, is_flow)):
        if candidate.start <= column <= max(candidate.end, candidate.start + 1) or (
            is_flow and candidate.start <= column
        ):
            _report_unquoted(candidate, line, "YAML reads a part of this expression as its own", report)
            return
    if is_flow and _report_cut_in_flow(error, lines, report):
        return
    problem = (error.problem or "cannot be read").replace("did not find expected", "expected")
    context = f" {error.context}" if error.context else ""
    report("YML001", f"not YAML: {problem}{context}", here, help=_advise(problem, shown[column : column + 1]))


def _report_cut_in_flow(error: yaml.MarkedYAMLError, lines: list[str], report: Report) -> bool:
    """A ` #` inside an expression hides the rest of its line, and with it the bracket that closes."""
    if error.context_mark is None or error.problem_mark is None:
        return False
    for number in range(error.context_mark.line, min(error.problem_mark.line + 1, len(lines))):
        for candidate in _find_candidates(lines[number], is_flow=True):
            if _COMMENT.search(candidate.text):
                _report_unquoted(candidate, number, "YAML cut this expression at ` #`", report)
                return True
    return False


def find_cut_at_comment(text: str, span: Span) -> tuple[Span, Fix] | None:
    """The whole expression, where the unquoted value at the span is a part of one that YAML cut at ` #`."""
    shown = split_lines(text)[span.line - 1]
    if span.end_line != span.line or not _COMMENT.match(shown, span.end_column - 1):
        return None
    for candidate in _find_candidates(shown, _is_inside_flow(shown, span.column - 1)):
        if candidate.start == span.column - 1 and _COMMENT.search(candidate.text):
            at = Span(span.line, candidate.start + 1, span.line, candidate.end + 1)
            return at, _fix(at, candidate.text)
    return None


def _has_more(text: str, line: int, column: int) -> bool:
    lines = split_lines(text)
    return any(
        rest.strip()
        for rest in (*(lines[line][column:] for _ in range(line < len(lines))), *lines[line + 1 :])
    )


def quote_expression_at(text: str, span: Span, reason: str, report: Report) -> bool:
    """Whether an expression stands at the span, where YAML read something else; then it is reported."""
    lines = split_lines(text)
    shown = lines[span.line - 1] if span.line <= len(lines) else ""
    for candidate in _find_candidates(shown, _is_inside_flow(shown, span.column - 1)):
        if candidate.start == span.column - 1:
            _report_unquoted(candidate, span.line - 1, reason, report)
            return True
    return False


def quoted(expression: str) -> str:
    """The expression in YAML quotes."""
    if '"' not in expression and "\\" not in expression:
        return f'"{expression}"'
    return "'" + expression.replace("'", "''") + "'"


def has_open_bracket(expression: str) -> bool:
    """Whether a bracket or quote is left open: the sign that YAML cut an unquoted expression."""
    depth = 0
    quote = ""
    for character in expression:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
    return depth > 0 or bool(quote)


def _report_unquoted(candidate: Candidate, line: int, reason: str, report: Report) -> None:
    span = Span(line + 1, candidate.start + 1, line + 1, candidate.end + 1)
    report(
        "YML017",
        f"{reason}: quote this expression",
        span,
        help=f"write {quoted(candidate.text)}",
        fix=_fix(span, candidate.text),
    )


def _fix(span: Span, text: str) -> Fix:
    return Fix("quote the expression", (Edit(span, quoted(text)),), is_safe=True)


def quoting_of(text: str, span: Span) -> Fix | None:
    """Quotes the unquoted expression that begins at the span, if one does."""
    shown = split_lines(text)[span.line - 1]
    for candidate in _find_candidates(shown, _is_inside_flow(shown, span.column - 1)):
        if candidate.start == span.column - 1:
            at = Span(span.line, candidate.start + 1, span.line, candidate.end + 1)
            return _fix(at, candidate.text)
    return None


def _find_candidates(line: str, is_flow: bool) -> list[Candidate]:
    quoted_spans = [match.span() for match in _QUOTED.finditer(line) if _begins_scalar(line, match.start())]
    candidates: list[Candidate] = []
    starts = {match.end() for guard in (_GUARD, _QUOTED_GUARD) for match in guard.finditer(line)}
    for start in sorted(starts):
        end = _find_end(line, start, is_flow or _is_inside_flow(line, start))
        text = line[start:end].rstrip()
        if text and not _is_well_quoted(text):
            candidates.append(Candidate(start, start + len(text), text))
    for match in _BRACES.finditer(line):
        at = match.start()
        if any(start <= at < end for start, end in quoted_spans):
            continue
        if any(each.start <= at < each.end for each in candidates):
            continue
        start, end = _text_around(line, at, is_flow or _is_inside_flow(line, at))
        if line[start] not in "\"'":
            candidates.append(Candidate(start, end, line[start:end]))
    return sorted(candidates)


def _begins_scalar(line: str, start: int) -> bool:
    return line[:start].rstrip()[-1:] in ("", "[", "{", ",", ":", "-")


def _text_around(line: str, at: int, is_flow: bool) -> tuple[int, int]:
    """The unquoted text that the `${` at `at` is a part of: from its first character to behind its last."""
    starts = (_FLOW_SCALAR_START if is_flow else _SCALAR_START).finditer(line, 0, at)
    start = max((match.end() for match in starts), default=0)
    if line[start] in "|>&*!%@`" or _COMMENT.search(line, start, at):
        start = at
    is_value = line[:start].rstrip().endswith(":")
    end = at
    while end < len(line):
        if line.startswith("${", end):
            end = _find_end(line, end, is_flow)
            continue
        is_over = is_flow and line[end] in ",]}"
        if is_over or _COMMENT.match(line, end) or (not is_value and _VALUE_AHEAD.match(line, end)):
            break
        end += 1
    return start, start + len(line[start:end].rstrip())


def _is_well_quoted(text: str) -> bool:
    return text[0] in "\"'" and text.find(text[0], 1) == len(text) - 1


def _is_inside_flow(line: str, column: int) -> bool:
    return has_open_bracket(re.sub(r"\"[^\"]*\"|'[^']*'", "", line[:column]))


def _find_end(line: str, start: int, is_flow: bool) -> int:
    """Where the expression ends: at the end of the line, its comment, or of its entry in flow style."""
    closers: list[str] = []
    quote = ""
    for index in range(start, len(line)):
        character = line[index]
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in _CLOSING:
            closers.append(_CLOSING[character])
        elif closers and character == closers[-1]:
            closers.pop()
            if not closers and line.startswith("${", start):
                return index + 1
        elif (character == "#" and line[index - 1].isspace()) or (
            is_flow
            and not closers
            and (character in "]}" or (character == "," and _KEY_AHEAD.match(line, index + 1)))
        ):
            return index
    return len(line)


def _advise(problem: str, character: str) -> str:
    if character in (">", "|") and "token" in problem:
        return "texts with `>` and `|` stand in block style; inside `{…}` and `[…]` use quotes"
    if "mapping values" in problem:
        return "a text that contains `: ` needs quotes; a key stands on a line of its own"
    if "cannot start any token" in problem:
        return "a text that begins with this character needs quotes"
    if "',' or" in problem:
        return "in `{…}` and `[…]` quote texts that contain brackets, braces, commas or `: `"
    if "block end" in problem or "expected key" in problem or "'-' indicator" in problem:
        return "check the indentation of this line and the ones above it"
    return ""


def quote_key(span: Span, text: str) -> Fix | None:
    """A key that YAML reads as a number, true, false or null."""
    if span.line != span.end_line or not re.fullmatch(r"[-+.~\w]+", text, re.ASCII):
        return None
    return Fix("quote the key", (Edit(span, f'"{text}"'),), is_safe=True)
