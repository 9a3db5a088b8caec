"""Searches the state space of a flow and proves properties of it (docs/explanation/verification.md)."""
