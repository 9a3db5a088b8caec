"""Handlers that compute, in processes of their own: they take nothing of the worker's interpreter lock."""
