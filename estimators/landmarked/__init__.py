"""Learning on landmarks: their choice, features of them, ridge and ε-insensitive regression."""
