"""Multipliers are corrected until the gradient of the Lagrangian is exactly 0, where no term of the problem can take a residual.

A term that can take any residual is a closing term (`evaluation/closing_terms.py`); this package is for problems without one.
"""
