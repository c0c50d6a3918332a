"""Interior points: Mehrotra's predictor and corrector, written once over the Newton system of a problem."""
