"""Python handlers bound by name: found, checked, called (language.md 6.2)."""
