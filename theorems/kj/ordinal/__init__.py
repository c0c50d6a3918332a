"""Ordinal regression: Theorems 13 and 14, Appendix E."""
