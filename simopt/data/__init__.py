"""Data sets, similarities between their points, landmarks, rows that need not fit into memory, and queries."""
