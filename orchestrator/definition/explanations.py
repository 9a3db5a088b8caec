"""What each problem means, with an example of it and the example mended: `lint --explain`, the reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from orchestrator.definition.codes import CODES
from orchestrator.definition.finders import finders

FLOW_FILE = "example.flow.yaml"


@dataclass(frozen=True)
class Example:
    """Files by name; the one called `name` has (or had) the problem."""

    name: str
    files: Mapping[str, str]
    repeat: int = 1
    """How many times the text of `name` stands in it."""
    encoding: str = "utf-8"

    @property
    def text(self) -> str:
        return self.files[self.name]

    def content(self, name: str) -> bytes:
        if name == self.name:
            return (self.text * self.repeat).encode(self.encoding)
        return self.files[name].encode()

    def as_text(self) -> str:
        """As it is shown: a heading for each file, where there are several."""
        notes = [f"{self.repeat} times"] if self.repeat > 1 else []
        notes += [f"saved as {self.encoding}"] if self.encoding != "utf-8" else []
        if len(self.files) == 1 and not notes:
            return self.text.rstrip("\n")
        parts = []
        for name in [*(other for other in self.files if other != self.name), self.name]:
            about = f" ({', '.join(notes)})" if notes and name == self.name else ""
            parts.append(f"# --- {name}{about}\n{self.files[name]}".rstrip("\n"))
        return "\n".join(parts)


@dataclass(frozen=True)
class Explanation:
    code: str
    name: str
    what: str
    why: str
    fix: str
    bad: Example | None
    """None: what has the problem changes with the release."""
    good: Example | None
    also: tuple[str, ...] = ()
    """Codes that the bad example cannot help having too."""

    def as_text(self) -> str:
        parts = [f"{self.code} {self.name}: {self.what}", traits(self.code), self.why]
        if self.bad is not None:
            parts += ["For example:", _indented(self.bad.as_text())]
        parts.append(f"What to do: {self.fix}")
        if self.good is not None:
            parts += ["Mended:", _indented(self.good.as_text())]
        return "\n\n".join(parts)


_BY = {
    "loader": "lint and every command that loads the flow",
    "rule": "lint",
    "handlers": "lint --handlers",
    "verifier": "verify",
    "rehearsal": "rehearse",
    "suppression": "lint",
}
_FIXES = {"safe": "; mended by lint --fix", "unsafe": "; mended by lint --fix --unsafe-fixes", "": ""}


def traits(code: str) -> str:
    """How bad, how sure, who finds and who mends it: `warning, checked; found by verify`."""
    about = CODES[code]
    found_by = dict.fromkeys(text for finder, text in _BY.items() if finder in finders(code))
    sureness = "" if about.confidence == "proved" else f", {about.confidence}"
    return f"{about.severity}{sureness}; found by {' and '.join(found_by)}{_FIXES[about.fix]}"


def find_code(word: str) -> str | None:
    """By code or name, in any case."""
    if word.upper() in CODES:
        return word.upper()
    return next((code for code, about in CODES.items() if about.name == word.lower()), None)


RULE_PAGES = "docs/rules"
"""In the project's repository: one page a code."""


def rule_url(code: str) -> str | None:
    """Where a code is explained: below the documentation that the package names, else in the repository."""
    if code not in CODES:
        return None
    home = _documentation()
    return f"{home}/rules/{code}.md" if home else f"{RULE_PAGES}/{code}.md"


@cache
def _documentation() -> str | None:
    """`Documentation` under `[project.urls]`."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        named = metadata("orchestrator").get_all("Project-URL") or []
    except PackageNotFoundError:
        return None
    urls = dict(each.split(", ", 1) for each in named)
    return urls["Documentation"].rstrip("/") if "Documentation" in urls else None


@cache
def explain() -> dict[str, Explanation]:
    """Every code of CODES, in order."""
    import yaml

    entries: dict[str, Mapping[str, object]] = {}
    for file in sorted(Path(__file__).with_name("problems").glob("*.yaml")):
        text = file.read_text(encoding="utf-8")
        entries.update(yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    return {code: _explanation(code, entries.get(code, {})) for code in sorted(CODES)}


def _explanation(code: str, entry: Mapping[str, object]) -> Explanation:
    return Explanation(
        code=code,
        name=CODES[code].name,
        what=CODES[code].explanation,
        why=str(entry.get("why", "")),
        fix=str(entry.get("fix", "")),
        bad=_example(entry, "bad"),
        good=_example(entry, "good"),
        also=tuple(str(code) for code in also) if isinstance(also := entry.get("also"), list) else (),
    )


def _example(entry: Mapping[str, object], key: str) -> Example | None:
    if key not in entry:
        return None
    name = str(entry.get("name", FLOW_FILE))
    files = {name: str(entry[key])}
    for beside in (entry.get("beside"), entry.get(f"beside_{key}")):
        if isinstance(beside, dict):
            files.update(beside)
    if key == "good":
        return Example(name, files)
    repeat = entry.get("repeat", 1)
    assert isinstance(repeat, int)
    return Example(name, files, repeat, str(entry.get("encoding", "utf-8")))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())
