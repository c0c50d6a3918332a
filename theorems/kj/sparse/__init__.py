"""Algorithm 2, Theorems 8 and 9."""
