"""Similarity-based learning as explicit convex programmes, with certified answers and executable claims."""

__version__ = "0.1.0"
