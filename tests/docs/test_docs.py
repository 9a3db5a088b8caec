"""The documentation runs: every YAML block is linted, every console block is typed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from docs.generate import PAGES, REFERENCE, left_over
from orchestrator.definition.catalogue import parse
from tests.docs.pages import ROOT, Block, blocks, matches, pages, type_in, typed

BLOCKS = [block for page in pages() for block in blocks(page)]
FLOWS = [
    block
    for block in BLOCKS
    if block.language == "yaml" and re.search("^flow:", block.text, re.MULTILINE) and not block.is_broken
]
FRAGMENTS = [block for block in BLOCKS if block.language == "yaml" and block.is_fragment]
TYPED_PAGES = sorted({block.page for block in BLOCKS if block.language == "console"})
SCHEMA: dict[str, Any] = json.loads((ROOT / "schemas" / "flow.schema.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("block", FLOWS, ids=str)
def test_a_flow_shown_has_no_problems(block: Block) -> None:
    _, problems = parse(block.text, str(block))
    assert [problem.concise() for problem in problems] == []


@pytest.mark.parametrize("block", FLOWS, ids=str)
def test_a_flow_shown_fits_the_schema(block: Block) -> None:
    errors = Draft7Validator(SCHEMA).iter_errors(yaml.safe_load(block.text))
    assert [error.message for error in errors] == []


@pytest.mark.parametrize("block", FRAGMENTS, ids=str)
def test_a_fragment_shown_fits_the_schema(block: Block) -> None:
    """Its keys are those of a flow, or of a step."""
    fragment = yaml.safe_load(block.text)
    if not set(fragment) <= set(SCHEMA["properties"]):
        fragment = {"steps": {"Some": {"dead_end": True, **fragment}}}
    errors = Draft7Validator(SCHEMA).iter_errors({"flow": "Some", **fragment})
    assert [error.message for error in errors] == []


@pytest.mark.parametrize("page", TYPED_PAGES)
def test_a_page_works_when_typed(page: str, tmp_path: Path) -> None:
    for block in blocks(ROOT / page):
        if block.title is not None:
            file = tmp_path / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            for line in typed(block.text):
                done = type_in(line.command, tmp_path)
                place = f"{block}: $ {line.command}\n{done.stdout}"
                assert done.returncode == line.exit_code, place
                assert not line.printed or matches(done.stdout, line.printed), place


@pytest.mark.timeout(400)
def test_programs_with_event_loops_are_well_typed(tmp_path: Path) -> None:
    """As in a reader's project, with `mypy --strict`."""
    programs = [block for block in BLOCKS if block.language == "python" and "import asyncio" in block.text]
    assert any(".aio." in block.text for block in programs)
    for block in programs:
        name = re.sub(r"\W", "_", str(block))
        (tmp_path / f"{name}.py").write_text(block.text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", ROOT / "pyproject.toml", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_links_lead_somewhere() -> None:
    dead = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages()
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert dead == []


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_current(name: str) -> None:
    """If not: ./run docs"""
    assert (REFERENCE / name).read_text(encoding="utf-8") == PAGES[name]().rstrip("\n") + "\n"


def test_no_page_is_left_of_a_problem_that_is_no_more() -> None:
    assert left_over() == []


def test_every_command_is_documented() -> None:
    from orchestrator.cli.main import app

    page = (REFERENCE / "cli.md").read_text(encoding="utf-8")
    assert [command.name for command in app.registered_commands if f"## {command.name}\n" not in page] == []
