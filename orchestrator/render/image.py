"""Diagrams as files: SVG, PNG, PDF, DOT, Mermaid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Literal, TypeAlias

from orchestrator.definition.model import Flow
from orchestrator.errors import UsageError
from orchestrator.render.glyphs import Tell, tell_missing
from orchestrator.render.overlay import RunOverlay
from orchestrator.render.shapes import Drawing, Label, iterate_flat
from orchestrator.render.style import DEFAULT_LAYERS, LAYERS, THEMES, Direction, ThemeName

Format: TypeAlias = Literal["svg", "png", "pdf", "dot", "mermaid"]
FORMATS: tuple[Format, ...] = ("svg", "png", "pdf", "dot", "mermaid")
PIXELS_PER_POINT = 2.0
MAXIMUM_PIXELS = 8_000_000
"""A larger picture has fewer pixels per point, but not fewer than LEAST_PIXELS_PER_POINT."""
LEAST_PIXELS_PER_POINT = 1.25


def render(
    flow: Flow,
    format: Format,
    *,
    theme: ThemeName = "light",
    direction: Direction = "TB",
    layers: frozenset[str] = DEFAULT_LAYERS,
    legend: bool = False,
    overlay: RunOverlay | None = None,
    tell: Tell | None = None,
) -> bytes:
    """The diagram of `flow`; equal arguments give equal bytes. Text formats are UTF-8.

    `tell` is given a sentence where a PNG lacks letters.
    """
    _check("format", format, FORMATS)
    _check("theme", theme, tuple(THEMES))
    _check("direction", direction, ("TB", "LR"))
    for layer in sorted(layers):
        _check("layer", layer, tuple(sorted(LAYERS)))
    if format == "dot":
        from orchestrator.render.dot import write_dot

        return write_dot(flow, theme, direction, layers, overlay).encode()
    if format == "mermaid":
        from orchestrator.render.mermaid import write_mermaid

        return write_mermaid(flow, direction, layers, overlay).encode()
    from orchestrator.render.content import compose
    from orchestrator.render.paint import paint

    drawing = paint(compose(flow, layers, overlay), theme, direction, legend)
    return _WRITERS[format](drawing, tell)


def render_difference(
    old: Flow,
    new: Flow,
    format: Format,
    *,
    renamed: Mapping[str, str] | None = None,
    theme: ThemeName = "light",
    direction: Direction = "TB",
    layers: frozenset[str] = DEFAULT_LAYERS,
    legend: bool = True,
    tell: Tell | None = None,
) -> bytes:
    """Two versions as one diagram (merging.py). `renamed`: new step names by old. Not as Mermaid."""
    _check("format", format, tuple(each for each in FORMATS if each != "mermaid"))
    _check("theme", theme, tuple(THEMES))
    from orchestrator.render.merging import compose_difference

    diagram = compose_difference(old, new, layers, renamed)
    if format == "dot":
        from orchestrator.render.dot import draw_dot

        return draw_dot(diagram, theme, direction).encode()
    from orchestrator.render.paint import paint

    return _WRITERS[format](paint(diagram, theme, direction, legend), tell)


def _check(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise UsageError(f"unknown {what} {given!r}; one of: {', '.join(known)}")


def _svg(drawing: Drawing, tell: Tell | None) -> bytes:
    from orchestrator.render.svg import write_svg

    return write_svg(drawing).encode()


def _png(drawing: Drawing, tell: Tell | None) -> bytes:
    import resvg_py

    from orchestrator.render.fonts import cjk_file, inter_file, is_beyond_inter
    from orchestrator.render.svg import write_svg

    texts = [shape.text for shape, _ in iterate_flat(drawing.shapes) if isinstance(shape, Label)]
    needs_more = any(map(is_beyond_inter, texts))
    inter, cjk = inter_file(), cjk_file() if needs_more else None

    def draw(svg: str, zoom: float = 1.0) -> bytes:
        picture = resvg_py.svg_to_bytes(
            svg_string=svg,
            zoom=zoom,
            # The system's fonts would make the picture differ from machine to machine.
            skip_system_fonts=inter is not None and (cjk is not None or not needs_more),
            font_files=[str(path) for path in (inter, cjk) if path is not None],
            sans_serif_family="Inter",
        )
        return bytes(picture)

    if needs_more and tell is not None:
        tell_missing(texts, draw, tell)
    return draw(write_svg(drawing), _zoom(drawing))


def _zoom(drawing: Drawing) -> float:
    """Painting takes as long as there are pixels."""
    fitting = sqrt(MAXIMUM_PIXELS / (drawing.width * drawing.height))
    return max(min(PIXELS_PER_POINT, round(fitting, 2)), LEAST_PIXELS_PER_POINT)


def _pdf(drawing: Drawing, tell: Tell | None) -> bytes:
    from orchestrator.render.pdf import write_pdf

    return write_pdf(drawing)


_WRITERS: dict[str, Callable[[Drawing, Tell | None], bytes]] = {"svg": _svg, "png": _png, "pdf": _pdf}
