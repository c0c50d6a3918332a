"""Work in separate processes, which may die; their death is reported."""
