"""What a database URL says: where the server is, and how this store uses it.

`postgresql://user@host/database?schema=orders`; everything that libpq knows may stand behind the `?` too.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from orchestrator.errors import UsageError

SCHEMES = ("postgresql", "postgresql+psycopg", "postgres")
_DEFAULT_SCHEMA = "orchestrator"
_LONGEST_SCHEMA = 48
"""Bytes; names of channels and locks are made of it, and PostgreSQL cuts names after 63."""


@dataclass(frozen=True, slots=True)
class Address:
    conninfo: str
    """What libpq connects to."""
    shown: str
    """Without the password."""
    schema: str = _DEFAULT_SCHEMA
    isolation: str = "READ COMMITTED"
    """Of transactions that write."""
    is_pooled: bool = False
    """Behind a pooler that gives each transaction another connection: nothing lives longer than that."""
    url: str = ""
    """As it was given, with the password."""


def is_postgres(url: str) -> bool:
    return url.partition("://")[0] in SCHEMES


def read_url(url: str) -> Address:
    """Raises UsageError."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise UsageError(f"`{url.rpartition('@')[2]}` is no database URL: {error}") from None
    ours = {"schema": _DEFAULT_SCHEMA, "isolation": "read-committed", "pooler": "none"}
    rest = []
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name in ours:
            ours[name] = value
        else:
            rest.append((name, value))
    schema = ours["schema"]
    isolation = _known("isolation", ours["isolation"], ("read-committed", "serializable"))
    pooler = _known("pooler", ours["pooler"], ("none", "transaction"))
    if not schema or len(schema.encode()) > _LONGEST_SCHEMA or "\0" in schema or schema.startswith("pg_"):
        raise UsageError(f"`{schema}` cannot be the name of a schema (up to {_LONGEST_SCHEMA} bytes)")
    conninfo = urlunsplit(("postgresql", parts.netloc, parts.path, urlencode(rest), ""))
    netloc = parts.netloc
    if "@" in netloc:
        user, _, host = netloc.rpartition("@")
        netloc = f"{user.partition(':')[0]}@{host}"
    secret = [(name, value) for name, value in parse_qsl(parts.query) if name not in ("password", "passfile")]
    return Address(
        conninfo,
        urlunsplit(("postgresql", netloc, parts.path, urlencode(secret), "")),
        schema,
        isolation.replace("-", " ").upper(),
        pooler == "transaction",
        url,
    )


def _known(name: str, value: str, values: tuple[str, ...]) -> str:
    if value not in values:
        raise UsageError(f"`{name}={value}` in the database URL: it is one of {', '.join(values)}")
    return value
