"""Letters that no font at hand can draw."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from orchestrator.render.fonts import is_beyond_inter

Draw = Callable[[str], bytes]
"""The picture of an SVG, with the fonts of the diagram."""
Tell = Callable[[str], None]
"""Says what is not as it should be, though there is a picture."""
_IN_NO_FONT = "\U0010fffe"
_LOOK_COUNT = 64
"""Letters that are tried, 2 ms each; those of one script are in one font."""


def tell_missing(texts: Iterable[str], draw: Draw, tell: Tell) -> None:
    """A warning where a letter is drawn as a character is that no font has."""
    letters = dict.fromkeys(each for text in texts for each in text if is_beyond_inter(each))
    empty = draw(_letter(_IN_NO_FONT)) if letters else b""
    for letter in list(letters)[:_LOOK_COUNT]:
        if draw(_letter(letter)) == empty:
            tell(
                f"no font here has {letter}, and perhaps other letters of the diagram: the PNG shows empty "
                "frames; for Chinese, Japanese and Korean pip install 'orchestrator[cjk]', for other scripts "
                "install a font, or render SVG"
            )
            return


def _letter(letter: str) -> str:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24">'
        f'<text x="4" y="18" font-size="16" font-family="Inter, sans-serif">{letter}</text></svg>'
    )
