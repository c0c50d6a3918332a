"""The graph of a declaration: affine maps of variables, terms and rows."""
