"""van Rooyen, Menon & Williamson, "An Average Classification Algorithm" (2015): its claims, equivalences, tables and figures."""
