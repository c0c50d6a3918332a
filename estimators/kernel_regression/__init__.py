"""Regression by functions of kernels: M-RLSR, and the weighted means of Nadaraya and Watson."""
