"""Statements of papers made executable: instances, checks and verdicts."""
