"""A drawing as a PDF of one page. Text stays text; what Inter lacks is drawn as outlines."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.errors import UsageError
from orchestrator.render.fonts import inter_file, is_beyond_inter
from orchestrator.render.metrics import text_width
from orchestrator.render.outlines import outline_text
from orchestrator.render.shapes import Drawing, Label, Line, Rect, Segment, iterate_flat

if TYPE_CHECKING:
    from fpdf import FPDF

_CREATED_AT = datetime(2000, 1, 1, tzinfo=UTC)
"""Fixed, so that equal diagrams are equal files."""


_OF_LAYOUT = {"GDEF", "GPOS", "GSUB"}
"""Tables of a font that nothing here uses and that take seconds to read."""


def write_pdf(drawing: Drawing) -> bytes:
    """Page and drawing have the same size, in points."""
    from fpdf import FPDF

    page = FPDF(unit="pt", format=(drawing.width, drawing.height))
    page.set_creation_date(_CREATED_AT)
    page.set_title(drawing.title)
    page.set_auto_page_break(False)
    page.add_page()
    with tempfile.TemporaryDirectory() as folder:
        _add_fonts(page, drawing, Path(folder))
    background = Rect(
        x=drawing.x, y=drawing.y, width=drawing.width, height=drawing.height, fill=drawing.background
    )
    _write_shape(page, background, drawing)
    for shape, opacity in iterate_flat(drawing.shapes):
        if opacity == 1:
            _write_shape(page, shape, drawing)
        else:
            with page.local_context(fill_opacity=opacity, stroke_opacity=opacity):
                _write_shape(page, shape, drawing)
    return bytes(page.output())


def _add_fonts(page: FPDF, drawing: Drawing, folder: Path) -> None:
    """One static font for each weight, with only the characters that occur (cut first: that is fast)."""
    inter = inter_file()
    if inter is None:
        raise UsageError("PDF needs the font package fontpkg-inter: pip install fontpkg-inter")
    characters: dict[int, set[str]] = {}
    for shape, _ in iterate_flat(drawing.shapes):
        if isinstance(shape, Label):
            characters.setdefault(shape.weight, set()).update(shape.text)
    for weight in sorted(characters):
        path = folder / f"{weight}.ttf"
        _cut(inter, weight, "".join(sorted(characters[weight])), path)
        page.add_font(str(weight), fname=str(path))


def _cut(source: Path, weight: int, characters: str, target: Path) -> None:
    from fontTools import subset
    from fontTools.ttLib import TTFont
    from fontTools.varLib import instancer

    font = TTFont(source, recalcTimestamp=False)
    for table in _OF_LAYOUT & set(font.keys()):
        del font[table]
    options = subset.Options()
    options.notdef_outline = True
    cutter = subset.Subsetter(options)
    cutter.populate(text=characters + " ")
    cutter.subset(font)
    fixed: Any = instancer.instantiateVariableFont(font, {"wght": weight, "opsz": 14})
    fixed.save(target)


def _write_shape(page: FPDF, shape: Rect | Line | Label, drawing: Drawing) -> None:
    match shape:
        case Label():
            _write_label(page, shape, drawing)
        case Rect():
            line = Line(
                segments=_outline(shape),
                fill=shape.fill,
                stroke=shape.stroke,
                stroke_width=shape.stroke_width,
            )
            _write_line(page, line, drawing)
        case Line():
            _write_line(page, shape, drawing)


def _write_label(page: FPDF, label: Label, drawing: Drawing) -> None:
    page.set_font(str(label.weight), size=label.size)
    page.set_text_color(label.fill)
    x = label.x - (label.width / 2 if label.is_centered else 0)
    for is_foreign, run in _runs(label.text):
        if is_foreign:
            segments = outline_text(run, x, label.y, label.size, label.weight)
            _write_line(page, Line(segments=segments, fill=label.fill), drawing)
        elif run.strip():
            page.text(x - drawing.x, label.y - drawing.y, run)
        x += text_width(run, label.size, label.weight)


def _runs(text: str) -> list[tuple[bool, str]]:
    runs: list[tuple[bool, str]] = []
    for character in text:
        is_foreign = is_beyond_inter(character)
        if runs and runs[-1][0] == is_foreign:
            runs[-1] = (is_foreign, runs[-1][1] + character)
        else:
            runs.append((is_foreign, character))
    return runs


_OPERATORS = {"M": "m", "L": "l", "C": "c", "Z": "h"}


def _write_line(page: FPDF, line: Line, drawing: Drawing) -> None:
    """In PDF's own operators; its y axis points up."""
    if not line.segments:
        return
    parts = ["q"]
    if line.fill is not None:
        parts.append(f"{_rgb(line.fill)} rg")
    if line.stroke is not None:
        dash = " ".join(map(str, line.dash))
        parts.append(f"{_rgb(line.stroke)} RG {line.stroke_width:.2f} w [{dash}] 0 d")
    for operator, numbers in line.segments:
        for x, y in zip(numbers[::2], numbers[1::2], strict=True):
            parts.append(f"{x - drawing.x:.2f} {drawing.height - (y - drawing.y):.2f}")
        parts.append(_OPERATORS[operator])
    parts.append("B" if line.fill and line.stroke else "f" if line.fill else "S")
    parts.append("Q")
    page._out(" ".join(parts))


def _rgb(color: str) -> str:
    return " ".join(f"{int(color[index : index + 2], 16) / 255:.3f}" for index in (1, 3, 5))


def _outline(rect: Rect) -> tuple[Segment, ...]:
    left, top, right, bottom = rect.x, rect.y, rect.x + rect.width, rect.y + rect.height
    r = min(rect.radius, rect.width / 2, rect.height / 2)
    k = r * 0.4477
    return (
        ("M", (left + r, top)),
        ("L", (right - r, top)),
        ("C", (right - k, top, right, top + k, right, top + r)),
        ("L", (right, bottom - r)),
        ("C", (right, bottom - k, right - k, bottom, right - r, bottom)),
        ("L", (left + r, bottom)),
        ("C", (left + k, bottom, left, bottom - k, left, bottom - r)),
        ("L", (left, top + r)),
        ("C", (left, top + k, left + k, top, left + r, top)),
        ("Z", ()),
    )
