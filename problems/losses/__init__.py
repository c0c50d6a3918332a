"""Losses with their conjugates, in any arithmetic."""
