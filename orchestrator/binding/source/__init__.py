"""What the source of handlers says, without calling them (docs/decisions/0008-reading-handlers.md)."""
