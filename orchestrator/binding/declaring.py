"""A fix that declares under `may` what a handler does."""

from __future__ import annotations

from orchestrator.binding.method import Method
from orchestrator.definition.model import Path
from orchestrator.definition.problem import Edit, Fix, Span
from orchestrator.definition.source import Source


def declaring(method: Method, verb: str, name: str) -> Fix | None:
    """Writes `name` into `may.publish`, `may.set` or `may.cancel` of the method, in the style found there."""
    source = method.flow.source
    assert source is not None
    edit = _edit(source, method.path, verb, name)
    message = f"declare that `{method.handler.name}` may {verb} `{name}`"
    return Fix(message, (edit,), is_safe=False) if edit is not None else None


def _edit(source: Source, path: Path, verb: str, name: str) -> Edit | None:
    handler, may = (*path, "handler"), (*path, "may")
    if not _has(source, handler):  # `execute: name`
        span = source.locate(path).value
        return Edit(span, f"{{handler: {source.text_at(span)}, may: {{{verb}: [{name}]}}}}")
    if not _has(source, may):
        return _insert_key(source, path, handler, f"may: {{{verb}: [{name}]}}")
    if not _has(source, (*may, verb)):
        first = next((key for key in ("publish", "set", "cancel") if _has(source, (*may, key))), None)
        return _insert_key(source, may, (*may, first), f"{verb}: [{name}]") if first is not None else None
    return _insert_name(source, (*may, verb), name)


def _insert_name(source: Source, path: Path, name: str) -> Edit | None:
    """Into a list of names, or a mapping of names to counts."""
    parts = source.parts(path)
    if not parts:
        return None
    last = (*path, parts[-1])
    if isinstance(parts[-1], str):
        return _insert_key(source, path, last, f"{name}: {{min: 0}}")
    span = source.locate(last).value
    if _is_flow(source, path):
        return Edit(_after(span), f", {name}")
    dash = source.lines[span.line - 1][: span.column - 1]
    return Edit(_line_end(source, span), f"\n{dash}{name}") if dash.strip() == "-" else None


def _insert_key(source: Source, mapping: Path, before: Path, text: str) -> Edit | None:
    """A key and its value behind those at `before`."""
    position = source.locate(before)
    if _is_flow(source, mapping):
        return Edit(_after(position.value), f", {text}")
    if position.key is None:
        return None
    return Edit(_line_end(source, position.value), f"\n{' ' * (position.key.column - 1)}{text}")


def _is_flow(source: Source, path: Path) -> bool:
    return source.text_at(source.locate(path).value)[:1] in ("{", "[")


def _has(source: Source, path: Path) -> bool:
    return path[-1] in source.parts(path[:-1])


def _after(span: Span) -> Span:
    return Span(span.end_line, span.end_column, span.end_line, span.end_column)


def _line_end(source: Source, span: Span) -> Span:
    """Behind a comment that stands there."""
    column = len(source.lines[span.end_line - 1]) + 1
    return Span(span.end_line, column, span.end_line, column)
