"""Similarity functions and their Gram matrices."""
