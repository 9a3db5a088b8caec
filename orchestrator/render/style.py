"""Colours and sizes of the diagrams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

ThemeName: TypeAlias = Literal["light", "dark"]
Direction: TypeAlias = Literal["TB", "LR"]

FONT_FAMILY = (
    "Inter, 'Helvetica Neue', Arial, 'Noto Sans CJK SC', 'Noto Sans CJK JP', 'Noto Sans SC', 'PingFang SC', "
    "'Hiragino Sans', 'Microsoft YaHei', 'Malgun Gothic', 'DejaVu Sans Condensed', sans-serif"
)
"""The last named is for viewers that pass over `textLength`, as librsvg does: DejaVu Sans is too wide."""

LAYERS = frozenset({"control", "failure", "channels", "attributes"})
DEFAULT_LAYERS = frozenset({"control", "failure", "channels"})

NAME_SIZE = 14.0
TEXT_SIZE = 11.0
SMALL_SIZE = 10.0
WRAP_WIDTH = 244.0
"""About 40 characters at TEXT_SIZE."""


@dataclass(frozen=True, slots=True)
class Tone:
    """One meaning's colours: of text and lines, and of the area behind."""

    line: str
    area: str


@dataclass(frozen=True, slots=True)
class Theme:
    page: str
    card: str
    border: str
    divider: str
    ink: str
    muted: str
    faint: str
    tones: dict[str, Tone]
    rails: tuple[Tone, ...]
    """Channels take these in turn."""

    def line(self, tone: str) -> str:
        return self.tones[tone].line

    def area(self, tone: str) -> str:
        return self.tones[tone].area

    def rail(self, number: int) -> Tone:
        return self.rails[number % len(self.rails)]


_LIGHT = Theme(
    page="#ffffff",
    card="#ffffff",
    border="#cbd5e1",
    divider="#e2e8f0",
    ink="#1e293b",
    muted="#64748b",
    faint="#94a3b8",
    tones={
        "plain": Tone("#334155", "#f8fafc"),
        "ink": Tone("#1e293b", "#ffffff"),
        "muted": Tone("#64748b", "#f8fafc"),
        "guard": Tone("#475569", "#f8fafc"),
        "wait": Tone("#4338ca", "#eef2ff"),
        "failure": Tone("#be123c", "#fff1f2"),
        "graceful": Tone("#15803d", "#f0fdf4"),
        "forced": Tone("#0e7490", "#ecfeff"),
        "failed": Tone("#be123c", "#fff1f2"),
        "dead_end": Tone("#64748b", "#f1f5f9"),
        "entry": Tone("#6d28d9", "#f5f3ff"),
        "attribute": Tone("#57534e", "#f5f5f4"),
        "join": Tone("#7e22ce", "#faf5ff"),
        "done": Tone("#15803d", "#dcfce7"),
        "active": Tone("#1d4ed8", "#dbeafe"),
        "waiting": Tone("#4338ca", "#e0e7ff"),
        "retrying": Tone("#b45309", "#fef3c7"),
        "failed_run": Tone("#9f1239", "#fecdd3"),
        "cancelled": Tone("#64748b", "#e2e8f0"),
        "trace": Tone("#e11900", "#ffffff"),
        "added": Tone("#15803d", "#dcfce7"),
        "removed": Tone("#be123c", "#ffe4e6"),
        "changed": Tone("#b45309", "#fef3c7"),
    },
    rails=(
        Tone("#a16207", "#fef9c3"),
        Tone("#0f766e", "#ccfbf1"),
        Tone("#9d174d", "#fce7f3"),
        Tone("#0369a1", "#e0f2fe"),
        Tone("#4d7c0f", "#ecfccb"),
        Tone("#7c2d12", "#ffedd5"),
    ),
)

_DARK = Theme(
    page="#0f172a",
    card="#1e293b",
    border="#475569",
    divider="#334155",
    ink="#f1f5f9",
    muted="#a3b1c6",
    faint="#7b8aa3",
    tones={
        "plain": Tone("#cbd5e1", "#1a2436"),
        "ink": Tone("#f1f5f9", "#1e293b"),
        "muted": Tone("#a3b1c6", "#1a2436"),
        "guard": Tone("#cbd5e1", "#1a2436"),
        "wait": Tone("#a5b4fc", "#262a5c"),
        "failure": Tone("#fb7185", "#46202d"),
        "graceful": Tone("#4ade80", "#15372a"),
        "forced": Tone("#22d3ee", "#123847"),
        "failed": Tone("#fb7185", "#46202d"),
        "dead_end": Tone("#a3b1c6", "#27354b"),
        "entry": Tone("#c4b5fd", "#33285e"),
        "attribute": Tone("#d6d3d1", "#33312f"),
        "join": Tone("#d8b4fe", "#3b2459"),
        "done": Tone("#4ade80", "#14532d"),
        "active": Tone("#93c5fd", "#1e3a8a"),
        "waiting": Tone("#a5b4fc", "#312e81"),
        "retrying": Tone("#fbbf24", "#5a3a0c"),
        "failed_run": Tone("#fda4af", "#7a1f38"),
        "cancelled": Tone("#a3b1c6", "#334155"),
        "trace": Tone("#ff5a47", "#1a0503"),
        "added": Tone("#4ade80", "#14532d"),
        "removed": Tone("#fb7185", "#5c1f30"),
        "changed": Tone("#fbbf24", "#5a3a0c"),
    },
    rails=(
        Tone("#facc15", "#423a12"),
        Tone("#2dd4bf", "#123f3c"),
        Tone("#f472b6", "#4a1f38"),
        Tone("#38bdf8", "#11384f"),
        Tone("#a3e635", "#2c3f12"),
        Tone("#fb923c", "#4a2a14"),
    ),
)

THEMES: dict[str, Theme] = {"light": _LIGHT, "dark": _DARK}
