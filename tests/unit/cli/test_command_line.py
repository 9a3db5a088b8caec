"""A command is the same, whether the command line knows the others or not."""

from __future__ import annotations

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from orchestrator.cli.main import COMMANDS, GROUPS, app, app_for, invoke

ALL = get_command(app)


@pytest.mark.parametrize("name", [*COMMANDS, *GROUPS])
def test_the_command_named_is_known_alone_and_says_the_same(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = get_command(app_for([name, "more"]))
    assert isinstance(alone, TyperGroup) and [*alone.commands] == [name]
    for known in (ALL, alone):
        known([name, "--help"], prog_name="orchestrator", standalone_mode=False)
    said = capsys.readouterr().out
    assert said[: len(said) // 2] == said[len(said) // 2 :]


@pytest.mark.parametrize("arguments", [[], ["--version"], ["--help", "run"], ["fly"], ["rum", "run"]])
def test_all_commands_are_known_where_none_is_named_first(arguments: list[str]) -> None:
    assert app_for(arguments) is app


@pytest.mark.parametrize("name", [*COMMANDS, *GROUPS])
def test_an_option_that_is_unknown_is_one_of_that_command(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke([name, "--nope"]) == 2
    assert f"orchestrator {name} --help" in capsys.readouterr().err
