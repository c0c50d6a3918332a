"""What random landmarks and samples cost (Lemmas 15, 16 and 22, Appendix B)."""
