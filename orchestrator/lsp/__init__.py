"""The language server of flows: problems, hovers, completion, navigation, renaming in any editor.

Only `server` and `protocol` know the library that speaks the protocol; the rest works on texts and spans.
"""
