"""Ranking: Theorems 30 and 31, Appendix F."""
