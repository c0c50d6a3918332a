"""Squared losses: ridge regression in factors, spectra and secular equations."""
