"""Four services (flows/products/microservices.flow.yaml). Real ones are called over HTTP."""

from __future__ import annotations

from orchestrator import Context


def call_api1(ctx: Context, data: str) -> None:
    ctx.logger.info("service 1 is called with %s", data)


def call_api2(ctx: Context) -> None:
    ctx.logger.info("service 2 is called with %s", ctx.attributes["data"])


def call_api3(ctx: Context) -> None:
    ctx.logger.info("service 3 is called with %s", ctx.attributes["data"])


def call_api4(ctx: Context) -> None:
    ctx.logger.info("service 4 is called with %s", ctx.attributes["data"])
