"""The nonlinear terms: one convex function φ a file, with the formulas of the two sweeps (`Atom`)."""
