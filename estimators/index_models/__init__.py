"""Single-index models: GLM-tron, Isotron, L-Isotron, and their records."""
