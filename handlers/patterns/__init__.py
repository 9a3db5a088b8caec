"""Handlers of the example flows in `flows/patterns/`."""
