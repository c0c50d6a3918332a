"""The nonlinear terms: one convex function φ a file, with what the two sweeps ask of it (`Atom`)."""
