"""A bank (flows/products/money_transfer.flow.yaml). Real calls carry a key, so that each happens once."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator import Context


@dataclass(frozen=True)
class Transfer:
    from_account: str
    to_account: str
    amount: float
    notes: str


def has_funds(transfer: Transfer) -> bool:
    """A real one asks for the balance; here everybody is rich."""
    return transfer.amount < 1_000_000


def create_debit_memo(ctx: Context, transfer: Transfer) -> None:
    ctx.logger.info("memo: %.2f leave %s", transfer.amount, transfer.from_account)


def debit(ctx: Context, transfer: Transfer) -> None:
    ctx.logger.info("%.2f have left %s", transfer.amount, transfer.from_account)


def create_credit_memo(ctx: Context, transfer: Transfer) -> None:
    ctx.logger.info("memo: %.2f arrive at %s", transfer.amount, transfer.to_account)


def credit(ctx: Context, transfer: Transfer) -> None:
    ctx.logger.info("%.2f have arrived at %s", transfer.amount, transfer.to_account)


def compensate(ctx: Context, transfer: Transfer) -> None:
    """The opposite order; each can be repeated, and does nothing where nothing was done."""
    undo_credit(ctx, transfer)
    undo_credit_memo(ctx, transfer)
    undo_debit_memo(ctx, transfer)
    undo_debit(ctx, transfer)


def undo_credit(ctx: Context, transfer: Transfer) -> None:
    ctx.logger.info("%.2f are taken back from %s", transfer.amount, transfer.to_account)


def undo_credit_memo(ctx: Context, transfer: Transfer) -> None:
    ctx.logger.info("memo: nothing arrives at %s", transfer.to_account)


def undo_debit_memo(ctx: Context, transfer: Transfer) -> None:
    ctx.logger.info("memo: nothing leaves %s", transfer.from_account)


def undo_debit(ctx: Context, transfer: Transfer) -> None:
    ctx.logger.info("%.2f are given back to %s", transfer.amount, transfer.from_account)
