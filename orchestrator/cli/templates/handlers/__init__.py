"""The Python side of the flows in `flows/`: plain functions, bound by name."""
