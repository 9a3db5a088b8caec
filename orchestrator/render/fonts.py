"""Fonts for PNG and PDF. Inter comes with the package; Chinese, Japanese and Korean with the extra `cjk`."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

_INTER = ("fontpkg_inter", "files/Inter[opsz,wght].ttf")
_CJK = ("manimgx_fonts_cjk", "NotoSansCJK-VF.otf.ttc")


def inter_file() -> Path | None:
    return _find(*_INTER)


def cjk_file() -> Path | None:
    """None without the extra; then PNGs take a font of the system where it has one."""
    return _find(*_CJK)


def is_beyond_inter(text: str) -> bool:
    """True where a character is in none of the scripts of Inter: Latin, Greek, Cyrillic, signs."""
    return any(0x0530 <= ord(character) < 0x1E00 or ord(character) >= 0x2E80 for character in text)


@cache
def _find(package: str, name: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    for location in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = Path(location) / name
        if path.is_file():
            return path
    return None
