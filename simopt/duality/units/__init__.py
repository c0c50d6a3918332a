"""Units that variables and rows of a declaration are naturally measured in."""
