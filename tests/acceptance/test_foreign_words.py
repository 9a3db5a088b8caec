"""Commands and options that other tools have: the error says what they are called here."""

import shlex

import pytest

from orchestrator.cli import foreign_words
from orchestrator.cli.main import COMMANDS, GROUPS
from tests.acceptance.command import Place

GROUP_COMMANDS = {
    f"{name} {command.name or command.callback.__name__}"  # type: ignore[union-attr]
    for name, group in GROUPS.items()
    for command in group.registered_commands
}


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("validate a.flow.yaml", "No such command 'validate'; here it is `orchestrator check`"),
        ("status", "No such command 'status'; here it is `orchestrator describe`"),
        ("signal a-1", "No such command 'signal'; here it is `orchestrator publish`"),
        ("db migrate", "No such command 'migrate'; here it is `orchestrator db upgrade`"),
        ("start a.flow.yaml --run-id x", "No such option: --run-id; here it is `--id`"),
        ("publish a c --message 3", "No such option: --message; here it is an argument: CHANNEL VALUE"),
        ("list --status failed", """No such option: --status; here it is `--where 'status == "FAILED"'`"""),
    ],
)
def test_what_other_tools_call_otherwise_is_named(place: Place, typed: str, told: str) -> None:
    done = place.type(*shlex.split(typed))
    assert done.code == 2
    assert done.stderr.startswith(f"error: {told} (see: orchestrator")


def test_a_word_that_nobody_has_is_only_unknown(place: Place) -> None:
    done = place.type("frobnicate")
    assert (done.code, done.stderr) == (
        2,
        "error: No such command 'frobnicate'. (see: orchestrator --help)\n",
    )


def test_no_command_of_ours_is_taken_for_a_foreign_one() -> None:
    assert foreign_words._CALLED.keys().isdisjoint(COMMANDS.keys() | GROUPS.keys())
    for name, words in foreign_words._CALLED_IN.items():
        assert {f"{name} {word}" for word in words}.isdisjoint(GROUP_COMMANDS)


def test_what_is_named_is_there() -> None:
    named = {
        *foreign_words._CALLED.values(),
        *(n for w in foreign_words._CALLED_IN.values() for n in w.values()),
    }
    assert {name.removesuffix(" --fix") for name in named} <= COMMANDS.keys() | GROUP_COMMANDS


@pytest.mark.parametrize("command", sorted(foreign_words._OPTIONS))
def test_no_option_of_ours_is_taken_for_a_foreign_one(place: Place, command: str) -> None:
    help = place.type(command, "--help").stdout
    for foreign, called in foreign_words._OPTIONS[command].items():
        assert f" {foreign} " not in help
        option = called.strip("`").split()[0]
        assert not option.startswith("--") or option in help
