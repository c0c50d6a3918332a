"""Small worlds that the papers share, in exact arithmetic: distributions, samples, tails, support vector machines and hulls."""
