"""Stationarity without a closing term: multipliers are repaired until no residual is left."""
