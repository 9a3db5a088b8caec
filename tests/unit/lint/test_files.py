"""Which files `lint` looks at."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.errors import UsageError
from orchestrator.lint.files import listed_files, shown_path

FLOW = "flow: A\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("flows/b.flow.yaml", "flows/a.flow.yaml", "flows/deep/er/c.flow.yaml", "flows/notes.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(FLOW)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def listed(*paths: str) -> list[str]:
    return [shown_path(path) for path in listed_files(paths)]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (["flows"], ["flows/a.flow.yaml", "flows/b.flow.yaml", "flows/deep/er/c.flow.yaml"]),
        (["flows/b.flow.yaml", "flows/[ab]*"], ["flows/b.flow.yaml", "flows/a.flow.yaml"]),
        (["flows/*.flow.yaml"], ["flows/a.flow.yaml", "flows/b.flow.yaml"]),
        (["flows/**/*.yaml"], ["flows/a.flow.yaml", "flows/b.flow.yaml", "flows/deep/er/c.flow.yaml"]),
        (["flows/notes.yaml"], ["flows/notes.yaml"]),
        (["./flows/deep", "flows/[b]*"], ["flows/deep/er/c.flow.yaml", "flows/b.flow.yaml"]),
        (["-"], ["<stdin>"]),
    ],
)  # fmt: skip
def test_files_directories_and_globs_are_listed_in_order_each_once(
    paths: list[str], found: list[str]
) -> None:
    assert listed(*paths) == found


def test_a_file_whose_name_looks_like_a_glob_is_that_file(project: Path) -> None:
    (project / "flows/[b].flow.yaml").write_text(FLOW)
    assert listed("flows/[b].flow.yaml") == ["flows/[b].flow.yaml"]


def test_hidden_directories_below_a_directory_are_passed_over(project: Path) -> None:
    (project / "flows/.venv/lib").mkdir(parents=True)
    (project / "flows/.venv/lib/x.flow.yaml").write_text(FLOW)
    assert "flows/.venv/lib/x.flow.yaml" not in listed("flows")
    assert listed("flows/.venv") == ["flows/.venv/lib/x.flow.yaml"]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("flows/a.flw.yaml", "there is no flows/a.flw.yaml; did you mean `flows/a.flow.yaml`?"),
        ("flow/a.flow.yaml", "there is no flow/a.flow.yaml; did you mean `flows`?"),
        ("flows/deep/err/c", "there is no flows/deep/err/c; did you mean `flows/deep/er`?"),
        ("nothing/like/it", "there is no nothing/like/it"),
        ("/nothing/like/it", "there is no /nothing/like/it"),
        ("flows/a.flow.yaml/x", "there is no flows/a.flow.yaml/x; did you mean `flows/a.flow.yaml`?"),
        ("flows/*.flow.yml", "no *.flow.yaml is matched by flows/*.flow.yml"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_a_usage_error_that_names_the_nearest(path: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        listed_files([path])
    assert caught.value.message == message


def test_a_path_outside_of_the_working_directory_is_shown_as_it_was_given(project: Path) -> None:
    assert shown_path(project.parent / "x.flow.yaml") == str(project.parent / "x.flow.yaml")
