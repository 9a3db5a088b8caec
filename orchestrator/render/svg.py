"""A drawing as SVG text, byte-stable."""

from __future__ import annotations

import re
from html import escape

from orchestrator.render.shapes import Drawing, Group, Label, Line, Rect, Segment, Shape
from orchestrator.render.style import FONT_FAMILY

_HOVER = ".link:hover path,.wire:hover path{stroke-width:3}.card,.rail{cursor:default}"


def write_svg(drawing: Drawing) -> str:
    """A whole document; elements carry `id`, `class` and `data-ref` (the id of the graph's node)."""
    x, y, width, height = map(_number, (drawing.x, drawing.y, drawing.width, drawing.height))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="{x} {y} {width} {height}" font-family="{escape(FONT_FAMILY)}" role="img">',
        f"<title>{escape(drawing.title)}</title>",
        f"<desc>{escape(drawing.description)}</desc>",
        f"<style>{_HOVER}</style>",
        f'<rect class="page" x="{x}" y="{y}" width="{width}" height="{height}" fill="{drawing.background}"/>',
    ]
    for shape in drawing.shapes:
        _write(shape, parts)
    parts.append("</svg>\n")
    return "\n".join(parts)


def element_id(ref: str) -> str:
    """An XML id, usable in CSS selectors, of a graph node's or edge's id."""
    return re.sub(r"[^\w-]+", "-", ref).strip("-")


def _write(shape: Shape, parts: list[str]) -> None:
    match shape:
        case Group():
            attributes = _attributes(id=shape.id, css=shape.css, ref=shape.ref)
            faded = f' opacity="{_number(shape.opacity)}"' if shape.opacity != 1 else ""
            parts.append(f"<g{attributes}{faded}>")
            if shape.title:
                parts.append(f"<title>{escape(shape.title)}</title>")
            for child in shape.children:
                _write(child, parts)
            parts.append("</g>")
        case Rect():
            radius = f' rx="{_number(shape.radius)}"' if shape.radius else ""
            parts.append(
                f'<rect{_attributes(css=shape.css)} x="{_number(shape.x)}" y="{_number(shape.y)}" '
                f'width="{_number(shape.width)}" height="{_number(shape.height)}"{radius}'
                f"{_paint(shape.fill, shape.stroke, shape.stroke_width)}/>"
            )
        case Line():
            dash = f' stroke-dasharray="{" ".join(map(_number, shape.dash))}"' if shape.dash else ""
            parts.append(
                f'<path{_attributes(css=shape.css)} d="{path_text(shape.segments)}"'
                f"{_paint(shape.fill, shape.stroke, shape.stroke_width)}{dash}/>"
            )
        case Label():
            parts.append(_label(shape))


def _label(label: Label) -> str:
    anchor = ' text-anchor="middle"' if label.is_centered else ""
    weight = f' font-weight="{label.weight}"' if label.weight != 400 else ""
    # With another font the text still keeps its width, so nothing is cut. Where the width of a few signs
    # is a guess, the font knows better.
    is_fitted = len(label.text) > 3 or label.text.isascii()
    fitted = f' textLength="{_number(label.width)}" lengthAdjust="spacingAndGlyphs"' if is_fitted else ""
    place = f'x="{_number(label.x)}" y="{_number(label.y)}" font-size="{_number(label.size)}"'
    text = escape(label.text)
    return (
        f'<text{_attributes(css=label.css)} {place}{weight} fill="{label.fill}"{anchor}{fitted}>{text}</text>'
    )


def path_text(segments: tuple[Segment, ...]) -> str:
    return "".join(operator + " ".join(map(_number, numbers)) for operator, numbers in segments)


def _paint(fill: str | None, stroke: str | None, width: float) -> str:
    outline = f' stroke="{stroke}" stroke-width="{_number(width)}"' if stroke else ""
    return f' fill="{fill or "none"}"{outline}'


def _attributes(id: str = "", css: str = "", ref: str = "") -> str:
    text = f' id="{escape(id)}"' if id else ""
    text += f' class="{escape(css)}"' if css else ""
    return text + (f' data-ref="{escape(ref)}"' if ref else "")


def _number(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
