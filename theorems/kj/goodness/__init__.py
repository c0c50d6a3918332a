"""When a similarity or a kernel is good, and useful (Definitions 1 to 7, Theorems 6 and 10)."""
