"""A problem, a solver, the driver that runs one on the other, and the judge of what comes out."""
