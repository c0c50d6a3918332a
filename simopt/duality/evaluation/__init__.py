"""Through the graph and back: the objective of a point, the dual bound of multipliers."""
