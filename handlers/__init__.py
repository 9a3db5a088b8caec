"""Handlers of the example flows in `flows/`. They import only the public API."""
