"""An expense waits for its approver (flows/expense_approval.flow.yaml)."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator import Context


@dataclass(frozen=True)
class Expense:
    employee: str
    amount: float
    answer_within: str


def ask_approver(ctx: Context, expense: Expense) -> None:
    """A real one sends a mail with a link that publishes to `answer`."""
    ctx.logger.info("%s asks for %.2f, flow %s", expense.employee, expense.amount, ctx.flow_id)


def pay_out(ctx: Context, expense: Expense) -> str:
    """The bank must see one payment however often this runs: it is asked with the idempotency key."""
    ctx.logger.info("paying %.2f to %s", expense.amount, expense.employee)
    return f"payment/{ctx.idempotency_key}"
