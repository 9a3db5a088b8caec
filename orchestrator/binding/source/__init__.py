"""What the source of handlers says, without calling them (docs/decisions/0009-reading-handlers.md)."""
