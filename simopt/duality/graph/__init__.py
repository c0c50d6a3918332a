"""What a declaration is read into: affine maps of variables, terms and rows."""
