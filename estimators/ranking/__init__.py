"""Rankers over landmarks."""
