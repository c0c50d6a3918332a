"""Rules for ordered labels over landmarks."""
