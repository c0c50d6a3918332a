"""Kar & Jain, "Supervised Learning with Similarity Functions" (2012)."""
