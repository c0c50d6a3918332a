"""How good a similarity is: the programmes behind ε₀(B), by simplex, interior points and in fractions."""
