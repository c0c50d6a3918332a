"""One folder a family of algorithms, hand-written and fast; its `solvers.py` says what solves what, the engines stand beside it."""
