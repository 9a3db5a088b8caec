"""The flow as a graph."""
