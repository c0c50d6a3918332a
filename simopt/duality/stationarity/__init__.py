"""Multipliers are corrected so that the gradient of the Lagrangian is exactly 0, where no term of the problem can take a residual.

A term that can take any residual is a closing term (`evaluation/closing_terms.py`); this package is for problems without one. It solves for
as many multipliers as there are entries to correct, from several starts (`closure.py`). What is left is 0 because other entries are, or is
taken by bounds that feasibility implies; else there is no bound, and the certificate says why.
"""
