"""Work in processes of its own, which may die, and whose death is told."""
