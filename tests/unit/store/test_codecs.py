"""Codecs and objects by themselves."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from orchestrator.errors import UsageError
from orchestrator.store.codecs import Compression, Encryption, encryption, keys_of
from orchestrator.store.objects import FileObjects, ObjectMissing

KEY = b"k" * 32


def in_base64(key: bytes) -> str:
    return base64.b64encode(key).decode()


def test_what_is_compressed_comes_back() -> None:
    body = b"the same again, " * 100
    encoded = Compression().encode(body)
    assert encoded is not None and len(encoded) < len(body) / 10
    assert Compression().decode(encoded, "zlib") == body


def test_what_does_not_become_shorter_is_left() -> None:
    assert Compression().encode(b"short") is None
    assert Compression(at_least=1).encode(bytes(range(256))) is None


def test_a_compressed_body_that_is_broken_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="decompress"):
        Compression().decode(b"nonsense", "zlib")
    with pytest.raises(LookupError):
        Compression().decode(b"", "other")


@pytest.mark.parametrize("size", [16, 24, 32])
def test_what_is_encrypted_comes_back_and_looks_different_each_time(size: int) -> None:
    codec = Encryption({"k1": b"k" * size})
    first, second = codec.encode(b"secret"), codec.encode(b"secret")
    assert first != second
    assert b"secret" not in first
    assert codec.decode(first, "aes-gcm:k1") == codec.decode(second, "aes-gcm:k1") == b"secret"


def test_a_body_that_was_changed_is_noticed() -> None:
    codec = Encryption({"k1": KEY})
    body = bytearray(codec.encode(b"secret"))
    body[-1] ^= 1
    with pytest.raises(ValueError, match="it was changed"):
        codec.decode(bytes(body), "aes-gcm:k1")
    with pytest.raises(ValueError, match="it was changed"):
        codec.decode(b"", "aes-gcm:k1")


def test_keys_of_the_wrong_size_are_refused() -> None:
    with pytest.raises(UsageError, match="encryption"):
        Encryption({"k1": b"short"})
    with pytest.raises(UsageError, match="needs a key"):
        Encryption({})


def test_keys_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"new:{in_base64(KEY)}, old:{in_base64(b'o' * 16)}"
    assert keys_of(text) == {"new": KEY, "old": b"o" * 16}
    monkeypatch.setenv("ORCHESTRATOR_KEYS", text)
    assert [codec.key_id for codec in encryption()] == ["zlib", "aes-gcm:new"]


@pytest.mark.parametrize(
    "text",
    ["", "k1", "k1:", ":aGVsbG8=", "k1:!!", f"a:{in_base64(KEY)},a:{in_base64(KEY)}", "x" * 101 + ":aGVs"],
)
def test_keys_that_are_none_are_refused_without_quoting_them(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        keys_of(text)
    assert "aGVs" not in caught.value.message and in_base64(KEY) not in caught.value.message


# --- Objects ---


def test_objects_are_put_got_listed_and_deleted(tmp_path: Path) -> None:
    objects = FileObjects(tmp_path / "place")
    assert list(objects.list("")) == []
    for name in ("1/a", "1/b", "11/c"):
        objects.put(name, name.encode())
    objects.put("1/a", b"1/a")
    assert list(objects.list("1/")) == ["1/a", "1/b"]
    assert sorted(objects.list("")) == ["1/a", "1/b", "11/c"]
    assert objects.get("11/c") == b"11/c"
    objects.delete("1/a")
    objects.delete("1/a")
    assert list(objects.list("1/")) == ["1/b"]
    with pytest.raises(ObjectMissing):
        objects.get("1/a")


def test_nothing_of_a_run_is_left_with_its_last_object(tmp_path: Path) -> None:
    objects = FileObjects(tmp_path)
    objects.put("1/a", b"x")
    objects.delete("1/a")
    assert list(tmp_path.iterdir()) == []


def test_half_an_object_is_never_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(handle: int) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("os.fsync", fail)
    objects = FileObjects(tmp_path)
    with pytest.raises(OSError, match="disk is full"):
        objects.put("1/a", b"x")
    assert list(objects.list("")) == []
    assert list((tmp_path / "1").iterdir()) == []
