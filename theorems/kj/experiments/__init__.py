"""The experiments of Section 4 and Appendix G."""
