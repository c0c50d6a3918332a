"""Feasible points near given ones."""
