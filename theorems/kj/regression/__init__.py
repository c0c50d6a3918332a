"""Algorithm 1 and Theorem 5."""
