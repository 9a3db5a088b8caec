"""Definitions from files and directories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator import Client
from orchestrator.definition.catalogue import Catalogue, load, read_file
from orchestrator.definition.places import FlowPlaces
from orchestrator.errors import DefinitionInvalid, NotFound, UsageError

FLOWS = Path(__file__).parents[3] / "flows"


def write(directory: Path, name: str, text: str) -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("path", sorted(FLOWS.rglob("*.flow.yaml")), ids=lambda path: path.name)
def test_every_example_loads_without_problems(path: Path) -> None:
    assert load(path).hash.startswith("sha256:")


def test_load_raises_all_problems(tmp_path: Path) -> None:
    path = write(tmp_path, "f.flow.yaml", "flow: F\nnope: 1\nstart: A\n")
    with pytest.raises(
        DefinitionInvalid, match=r"f\.flow\.yaml:2:1: SCH001 .*\(and 1 more problem\)"
    ) as caught:
        load(path)
    assert [problem.code for problem in caught.value.problems] == ["SCH001", "REF001"]


def test_a_file_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    _, (problem,) = read_file(tmp_path / "absent.flow.yaml")
    assert (problem.code, problem.span.line) == ("YML013", 1)
    _, (problem,) = read_file(tmp_path)
    assert problem.code == "YML013"


LONG = "x" * 300
NO_FILES = {
    "NUL": "a\0b.flow.yaml",
    "NUL alone": "\0",
    "a long name": f"{LONG}.flow.yaml",
    "below a file": f"{FLOWS / 'contract_edit.flow.yaml'}/b.flow.yaml",
    "half a surrogate": "a\ud800.flow.yaml",
    "nothing": "",
}
READERS: dict[str, Callable[[Any], Any]] = {
    "load": load,
    "of_paths": lambda path: Catalogue.of_paths([path]),
    "client": lambda path: Client("sqlite://").find_flow(Path(path)),
}


@pytest.mark.parametrize("path", NO_FILES.values(), ids=NO_FILES)
@pytest.mark.parametrize("reader", READERS)
def test_what_names_no_file_is_a_problem_and_never_an_error_of_the_system(
    reader: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if (reader, path) == ("of_paths", ""):
        assert Catalogue.of_paths([path]).flows == (), "the working directory, in which nothing is"
        return
    with pytest.raises(DefinitionInvalid) as caught:
        READERS[reader](path)
    (problem,) = caught.value.problems
    assert problem.code == "YML013"
    assert problem.message.startswith("the file cannot be read: ")


@pytest.mark.parametrize("path", NO_FILES.values(), ids=NO_FILES)
def test_where_no_file_can_be_no_flow_is_found(path: str, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        Catalogue().by_path(path)
    assert FlowPlaces([path] if path else [tmp_path]).find("Some") is None


def test_a_link_to_itself_is_no_file(tmp_path: Path) -> None:
    loop = tmp_path / "loop.flow.yaml"
    loop.symlink_to(loop)
    with pytest.raises(DefinitionInvalid, match="the file cannot be read"):
        load(loop)
    with pytest.raises(NotFound):
        Catalogue().by_path(loop)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: load(3), "a path is text or a Path, not 3"),  # type: ignore[arg-type]
        (lambda: load(b"x"), "a path is text or a Path, not b'x'"),  # type: ignore[arg-type]
        (lambda: Catalogue.of_paths([None]), "a path is text or a Path, not None"),  # type: ignore[list-item]
        (lambda: Catalogue.of_paths(3), "a list of paths is needed, not 3"),  # type: ignore[arg-type]
        (lambda: Catalogue().by_path(3), "a path is text or a Path, not 3"),  # type: ignore[arg-type]
        (lambda: Catalogue(["flows"]), "a catalogue has flows, such as `load_flow` gives, not 'flows'"),  # type: ignore[list-item]
        (lambda: Catalogue().add(None), "a catalogue has flows, .* not None"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_path_and_no_flow_is_refused(use: Callable[[], Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        use()


def test_bytes_that_are_not_utf_8_are_shown_at_their_place(tmp_path: Path) -> None:
    path = tmp_path / "f.flow.yaml"
    path.write_bytes("flow: F\ndescription: é".encode() + b"\xff\n")
    _, (problem,) = read_file(path)
    assert (problem.code, problem.span.line, problem.span.column) == ("YML013", 2, 15)


def test_a_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "f.flow.yaml"
    path.write_bytes(b"\xef\xbb\xbfflow: F\n")
    assert load(path).name == "F"


def test_catalogue_finds_by_type_path_and_hash(tmp_path: Path) -> None:
    path = write(tmp_path, "a/f.flow.yaml", "flow: F\n")
    write(tmp_path, "g.flow.yaml", "flow: G\n")
    write(tmp_path, "other.yaml", "not: a flow\n")
    catalogue = Catalogue.of_paths([tmp_path, path])
    flow = catalogue.by_type("F")
    assert {each.name for each in catalogue.flows} == {"F", "G"}
    assert catalogue.by_path(path) is flow
    assert catalogue.by_hash(flow.hash) is flow
    with pytest.raises(NotFound, match="no flow `H`"):
        catalogue.by_type("H")


def test_a_flow_type_is_unique_in_a_catalogue(tmp_path: Path) -> None:
    write(tmp_path, "a.flow.yaml", "flow: F\n")
    write(tmp_path, "b.flow.yaml", "# twin\nflow: F\n")
    with pytest.raises(DefinitionInvalid, match="already declared") as caught:
        Catalogue.of_paths([tmp_path])
    (problem,) = caught.value.problems
    assert (problem.code, problem.span.line, problem.span.column) == ("NAM008", 2, 7)
    assert problem.spans[0].path.endswith("a.flow.yaml")


def test_catalogue_reports_the_problems_of_all_files(tmp_path: Path) -> None:
    write(tmp_path, "a.flow.yaml", "flow: F\nx: 1\n")
    write(tmp_path, "b.flow.yaml", "flow: G\nstart: A\n")
    with pytest.raises(DefinitionInvalid) as caught:
        Catalogue.of_paths([tmp_path])
    assert [problem.code for problem in caught.value.problems] == ["SCH001", "REF001"]
