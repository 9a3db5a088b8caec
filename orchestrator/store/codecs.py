"""Ready-made codecs (bodies.py): compression and encryption.

[tool.orchestrator]
codec = "orchestrator.store.codecs:compression"
codec = "orchestrator.store.codecs:encryption"   # keys: ORCHESTRATOR_KEYS, the first one encrypts
"""

from __future__ import annotations

import base64
import binascii
import os
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.store.bodies import Codec

KEYS = "ORCHESTRATOR_KEYS"
_NONCE_BYTES = 12
_WORTHWHILE_BYTES = 256


class Compression:
    """zlib; what is short or does not become shorter is kept as it is."""

    key_id = "zlib"
    is_secret = False

    def __init__(self, level: int = 6, at_least: int = _WORTHWHILE_BYTES) -> None:
        self._level, self._at_least = level, at_least

    def encode(self, body: bytes) -> bytes | None:
        if len(body) < self._at_least:
            return None
        encoded = zlib.compress(body, self._level)
        return encoded if len(encoded) < len(body) else None

    def decode(self, body: bytes, key_id: str) -> bytes:
        if key_id != self.key_id:
            raise LookupError(key_id)
        try:
            return zlib.decompress(body)
        except zlib.error as error:
            raise ValueError(str(error)) from None


class Encryption:
    """AES-GCM. `keys`: 16, 24 or 32 bytes by key id; new values get the first, old ones keep theirs.

    To rotate, put a new key in front and leave the old ones behind it, first in every process that reads.
    """

    is_secret = True

    def __init__(self, keys: Mapping[str, bytes]) -> None:
        """Raises UsageError. Needs the extra `encryption`."""
        try:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ImportError:
            raise UsageError("encryption needs pip install 'orchestrator[encryption]'") from None
        if not isinstance(keys, Mapping) or not all(isinstance(key, bytes) for key in keys.values()):
            raise UsageError("encryption: keys are given as bytes by key id, such as {'2030': key}")
        if not keys:
            raise UsageError("encryption needs a key")
        try:
            self._ciphers = {f"aes-gcm:{name}": AESGCM(key) for name, key in keys.items()}
        except ValueError as error:
            raise UsageError(f"encryption: {error}") from None
        self.key_id = next(iter(self._ciphers))

    def encode(self, body: bytes) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._ciphers[self.key_id].encrypt(nonce, body, self.key_id.encode())

    def decode(self, body: bytes, key_id: str) -> bytes:
        cipher = self._ciphers[key_id]
        from cryptography.exceptions import InvalidTag

        try:
            return cipher.decrypt(body[:_NONCE_BYTES], body[_NONCE_BYTES:], key_id.encode())
        except (InvalidTag, ValueError):
            raise ValueError("it was changed, or the key is another one of the same name") from None


def compression() -> Codec:
    return Compression()


def encryption() -> list[Codec]:
    """Compressed first, since what is encrypted cannot be."""
    return [Compression(), Encryption(keys_of(os.environ.get(KEYS, "")))]


def keys_of(text: str) -> dict[str, bytes]:
    """`id:base64,id:base64`. Raises UsageError, which does not quote it."""
    keys: dict[str, bytes] = {}
    for position, part in enumerate(filter(None, text.replace(" ", "").split(",")), 1):
        name, _, encoded = part.partition(":")
        try:
            key = base64.b64decode(encoded, validate=True)
        except binascii.Error:
            key = b""
        if not name or len(name) > 100 or not key or name in keys:
            raise UsageError(f"{KEYS}: entry {position} is not ID:KEY, an id of its own and a key in base64")
        keys[name] = key
    if not keys:
        raise UsageError(f"{KEYS} is not set: ID:KEY, an id and a key of 32 bytes in base64")
    return keys
