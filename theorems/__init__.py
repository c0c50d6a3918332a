"""One folder a paper: one function a claim."""
