"""Appendix D, the chain of inequalities of its proof: rows AK-14-17, AK-18 and AK-19."""
