"""Pages of the documentation as what their blocks say to do.

A YAML or Python block with `title="path"` is that file; a console block is typed, line by line, where the
files are. `$ command  # exit 1` is to fail with that code. In what is printed `…` stands for anything: within
a line, or any lines.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"\s+# exit (\d+)$")


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str
    title: str | None
    is_fragment: bool
    is_broken: bool
    """Shows a mistake."""
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        info = match["info"]
        title = re.search(r'title="([^"]+)"', info)
        yield Block(
            page=str(page.relative_to(ROOT)),
            line=text.count("\n", 0, match.start()) + 1,
            language=info.split()[0] if info.split() else "",
            title=title[1] if title else None,
            is_fragment="fragment" in info.split(),
            is_broken="broken" in info.split(),
            text=match["text"],
        )


@dataclass(frozen=True)
class Typed:
    command: str
    exit_code: int
    printed: str


def typed(console: str) -> Iterator[Typed]:
    """The commands of a console block, each with what it is said to print."""
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        wanted = EXIT.search(command)
        yield Typed(EXIT.sub("", command), int(wanted[1]) if wanted else 0, printed)


def type_in(command: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """Run one line in `directory`, as a reader would who has installed the package."""
    programs = directory / ".bin"
    if not programs.exists():
        programs.mkdir()
        for name, words in (("orchestrator", "-m orchestrator "), ("python", "")):
            shim = programs / name
            shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n', encoding="utf-8")
            shim.chmod(0o755)
    return subprocess.run(
        ["sh", "-c", command],
        cwd=directory,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith("ORCHESTRATOR_")},
            "PATH": os.pathsep.join([str(programs), os.environ["PATH"]]),
            "PYTHONPATH": str(ROOT),
            "NO_COLOR": "1",
            "COLUMNS": "120",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )


def matches(printed: str, shown: str) -> bool:
    """Is `printed` what the page shows, `…` standing for anything?"""
    pattern = ""
    for line in shown.rstrip("\n").splitlines():
        if line.strip() == "…":
            pattern += r"(?:.*\n)*"
        else:
            pattern += ".*".join(re.escape(part.rstrip()) for part in line.rstrip().split("…")) + r"[ ]*\n"
    return re.fullmatch(pattern, printed.rstrip("\n") + "\n") is not None
