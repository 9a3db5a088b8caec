"""`[tool.orchestrator.lint]` in pyproject.toml, and the flags that replace it."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.cli.lint_settings import Selection, resolve_lint_settings
from orchestrator.errors import UsageError

EVERYTHING = """\
[tool.orchestrator.lint]
preset = "strict"
select = ["SCH", "unknown-step"]
ignore = ["MET002"]
baseline = "accepted.json"
severity = {SCH001 = "info", EXP = "warning"}

[tool.orchestrator.lint.per-file-ignores]
"flows/old/*" = ["SCH", "MET001"]
"""


def configure(directory: Path, text: str) -> Path:
    (directory / "pyproject.toml").write_text(text, encoding="utf-8")
    return directory


def test_all_keys_are_read(tmp_path: Path) -> None:
    settings = resolve_lint_settings(directory=configure(tmp_path, EVERYTHING))
    assert settings.baseline == "accepted.json"
    assert settings.selection == Selection(
        select=("SCH", "unknown-step"),
        ignore=("MET002",),
        preset="strict",
        severities={"SCH001": "info", "EXP": "warning"},
        ignored_in={"flows/old/*": ("SCH", "MET001")},
    )


def test_nothing_configured_is_what_is_recommended(tmp_path: Path) -> None:
    settings = resolve_lint_settings(directory=tmp_path)
    assert settings.selection == Selection()
    assert settings.selection.preset == "recommended"
    assert settings.baseline is None


def test_flags_replace_what_is_configured(tmp_path: Path) -> None:
    settings = resolve_lint_settings(
        ["REF,EXP", "sch002"], ["dec"], preset="syntax", directory=configure(tmp_path, EVERYTHING)
    )
    assert settings.selection[:3] == (("REF", "EXP", "sch002"), ("dec",), "syntax")


def test_who_fails_on_infos_sees_them(tmp_path: Path) -> None:
    assert resolve_lint_settings(fail_on="info", directory=tmp_path).selection.preset == "strict"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("selcet = []", "[tool.orchestrator.lint]: there is no key `selcet`; did you mean `select`?"),
        ("per_file_ignores = {}", "there is no key `per_file_ignores`; did you mean `per-file-ignores`?"),
        ('select = "SCH"', 'select must be a list of codes, such as ["GRA010", "WAI"]'),
        ('select = ["SCH0001"]', "select: there is no problem or family `SCH0001`; did you mean `SCH001`?"),
        ('ignore = ["unknwon-key"]', "no problem or family `unknwon-key`; did you mean `unknown-key`?"),
        ('ignore = [""]', None),
        ('preset = "strickt"', "preset: there is no preset `strickt`; did you mean `strict`?"),
        ("preset = 1", "preset: there is no preset 1; known: `recommended`, `strict`, `syntax`"),
        ("baseline = []", "baseline must be the path of a file"),
        ("severity = []", 'severity must be a table, such as {WAI002 = "info"}'),
        ('severity = {SCH001 = "fatal"}', "severity: SCH001: there is no severity `fatal`; known: `info`,"),
        ('severity = {SHC001 = "info"}', "severity: there is no problem or family `SHC001`; did"),
        ("per-file-ignores = []", 'per-file-ignores must be a table, such as {"flows/old/*" = ["WAI"]}'),
        ('per-file-ignores = {"a*" = ["X"]}', 'per-file-ignores: "a*": there is no problem or family `X`'),
        ('per-file-ignores = {"a*" = "SCH"}', 'per-file-ignores: "a*" must be a list of codes'),
    ],
)  # fmt: skip
def test_what_is_wrong_there_is_a_usage_error_that_says_where(
    line: str, message: str | None, tmp_path: Path
) -> None:
    configure(tmp_path, f"[tool.orchestrator.lint]\n{line}\n")
    if message is None:
        assert resolve_lint_settings(directory=tmp_path).selection == Selection()
        return
    with pytest.raises(UsageError) as caught:
        resolve_lint_settings(directory=tmp_path)
    assert caught.value.message.startswith("pyproject.toml: [tool.orchestrator.lint]")
    assert message in caught.value.message


def test_the_table_must_be_one(tmp_path: Path) -> None:
    configure(tmp_path, '[tool.orchestrator]\nlint = "strict"\n')
    with pytest.raises(UsageError, match="must be a table"):
        resolve_lint_settings(directory=tmp_path)


def test_a_flag_names_the_code_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--ignore: there is no problem or family `SCH0001`; did you mean"):
        resolve_lint_settings(None, ["SCH0001"], directory=tmp_path)
