"""Handlers of `flows/primitives/`: one example for each building block."""
