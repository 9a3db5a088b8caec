"""Text as outlines, for scripts that the embedded font lacks."""

from __future__ import annotations

from functools import cache
from typing import Any

from orchestrator.errors import UsageError
from orchestrator.render.fonts import cjk_file
from orchestrator.render.metrics import text_width
from orchestrator.render.shapes import Segment


def outline_text(text: str, x: float, baseline: float, size: float, weight: int) -> tuple[Segment, ...]:
    """Glyphs of Noto Sans CJK; a character that it lacks is an empty frame."""
    font, glyphs = _open(weight)
    names = font.getBestCmap()
    scale = size / font["head"].unitsPerEm
    segments: list[Segment] = []
    for character in text:
        glyph = glyphs[names.get(ord(character), ".notdef")]
        segments += _draw(glyph, glyphs, x, baseline, scale)
        x += text_width(character, size, weight)
    return tuple(segments)


def _draw(glyph: Any, glyphs: Any, x: float, baseline: float, scale: float) -> list[Segment]:
    from fontTools.pens.recordingPen import DecomposingRecordingPen

    pen = DecomposingRecordingPen(glyphs)
    glyph.draw(pen)
    segments: list[Segment] = []
    for operator, points in pen.value:
        numbers = tuple(number for px, py in points for number in (x + px * scale, baseline - py * scale))
        letter = {"moveTo": "M", "lineTo": "L", "curveTo": "C", "closePath": "Z"}[operator]
        segments.append((letter, numbers))
    return segments


@cache
def _open(weight: int) -> tuple[Any, Any]:
    from fontTools.ttLib import TTCollection

    path = cjk_file()
    if path is None:
        raise UsageError(
            "this diagram has Chinese, Japanese, Korean or other letters that PDF needs a font for: "
            "pip install 'orchestrator[cjk]', or render SVG"
        )
    font = TTCollection(str(path), lazy=True).fonts[0]
    return font, font.getGlyphSet(location={"wght": weight})
