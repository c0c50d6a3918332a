"""Appendix D, its bounds on the change of a loss: rows AK-D.1/A3/A4, AK-LD.2, AK-T3 and AK-open."""
