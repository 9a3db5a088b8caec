"""A wait chosen at run time (flows/primitives/wait_types.flow.yaml)."""

from __future__ import annotations

from orchestrator import NonRetryable, Wait, all_of, any_combination_of, any_of


def combine_conditions(mode: str) -> Wait:
    match mode:
        case "any":
            return any_of("a", "pause")
        case "all":
            return all_of("a", "b")
        case "combo":
            return any_combination_of(["a", "pause"], ["b"])
        case _:
            raise NonRetryable(f"`{mode}` is no mode: any, all or combo")
