"""The problems, one a file: the convex programme, its dual, and the recipe that makes it from data."""
