"""A write transaction as a context manager: committed at its end, rolled back where something is raised."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")


class Writer(Protocol[T]):
    """A store, one transaction at a time."""

    def begin(self) -> T:
        """`commit` or `roll_back` must follow."""
        ...

    def commit(self, transaction: T) -> None:
        """Where this raises, nothing of it was stored, and it is over."""
        ...

    def roll_back(self, transaction: T, error: BaseException) -> None: ...


class Translated:
    """Around what asks the database: what `translate` makes of an error is raised in its place."""

    __slots__ = ("_translate",)

    def __init__(self, translate: Callable[[BaseException], Exception | None]) -> None:
        """None: it is raised as it is."""
        self._translate = translate

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and (translated := self._translate(error)) is not None:
            raise translated from error


class Writing(Generic[T]):
    """No generator: a lone step would spend more time on that than on its rows."""

    __slots__ = ("_errors", "_transaction", "_writer")

    def __init__(self, writer: Writer[T], errors: AbstractContextManager[None]) -> None:
        """`errors`: makes errors of the database those of a store."""
        self._writer = writer
        self._errors = errors

    def __enter__(self) -> T:
        with self._errors:
            self._transaction = self._writer.begin()
        return self._transaction

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._errors:
            if error is None:
                self._writer.commit(self._transaction)
            else:
                self._writer.roll_back(self._transaction, error)
        self._errors.__exit__(kind, error, trace)
