"""Values that are encoded, as it is configured in pyproject.toml."""

from __future__ import annotations

import base64

import pytest

from tests.acceptance.command import Place

KEYS = f"k1:{base64.b64encode(b'1' * 32).decode()}"


def configure(place: Place, *lines: str) -> None:
    place.write("pyproject.toml", "\n".join(["[tool.orchestrator]", *lines, ""]))


def test_commands_and_workers_encrypt_as_configured(place: Place) -> None:
    configure(place, 'codec = "orchestrator.store.codecs:encryption"')
    keys = {"ORCHESTRATOR_KEYS": KEYS}
    assert place.type("start", "Hello", "--id", "hello", "--input", '"Ada-secret"', **keys).code == 0
    assert place.type("worker", "--until-idle", **keys).code == 0
    described = place.type("describe", "hello", "-o", "json", **keys)
    assert described.json()["status"] == "COMPLETED"
    assert "Ada-secret" in described.stdout
    for file in place.directory.glob("orchestrator.db*"):
        assert file.is_dir() or b"Ada-secret" not in file.read_bytes()
    other = {"ORCHESTRATOR_KEYS": KEYS.replace("k1", "k2")}
    refused = place.type("describe", "hello", "-o", "json", **other)
    assert (refused.code, refused.error()["type"]) == (70, "body_unreadable")


def test_large_values_go_beside_the_database(place: Place) -> None:
    configure(place, 'objects = "beside"', "offload_over_kib = 1")
    assert place.type("start", "Hello", "--id", "hello", "--input", '"' + "x" * 2000 + '"').code == 0
    assert [path.name for path in (place.directory / "beside").iterdir()] == ["1"]
    assert place.type("run", "--resume", "hello").code == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('codec = "nothing"', "`nothing` is not"),
        ('codec = "no.such:factory"', "ModuleNotFoundError"),
        ('codec = "orchestrator.store.codecs:encryption"', "ORCHESTRATOR_KEYS is not set"),
        ('codec = "os:getcwd"', "a str without key_id, is_secret, decode"),
        ('objects = "os:getcwd"', "a str without put, get, delete, list"),
        ("codec = 3", "codec must be text"),
        ('objects = "x"\noffload_over_kib = "many"', "offload_over_kib must be a whole number"),
    ],
)
def test_what_is_configured_wrongly_is_said(place: Place, line: str, message: str) -> None:
    configure(place, line)
    done = place.type("start", "Hello", "--id", "hello", "--input", '"Ada"')
    assert done.code == 2
    assert message in done.stderr
