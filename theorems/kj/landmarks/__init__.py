"""The loss of random landmarks and samples (Lemmas 15, 16 and 22, Appendix B)."""
