"""How a method fails inside a transition."""

from __future__ import annotations

from orchestrator.core.events import Failure


class MethodFails(Exception):
    """The method whose event is being decided fails; nothing it did counts."""

    def __init__(self, type: str, message: str, *, is_retryable: bool = False) -> None:
        super().__init__(message)
        self.failure = Failure(type=type, message=message, bases=(type,), is_retryable=is_retryable)


def expression_failed(message: str) -> MethodFails:
    """Language.md 6.1: fails the method, without retry."""
    return MethodFails("ExpressionFailed", message)


def invalid_result(message: str) -> MethodFails:
    """A handler's result or write of the wrong type fails that attempt; it may be retried."""
    return MethodFails("InvalidResult", message, is_retryable=True)


def undeclared_effect(message: str) -> MethodFails:
    """The handler did what its `may` does not allow; the attempt fails."""
    return MethodFails("UndeclaredEffect", message, is_retryable=True)
