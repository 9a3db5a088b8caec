"""Flows under virtual time, in memory: rehearsals."""
