"""Kakade, Kalai, Kanade & Shamir, "Efficient Learning of Generalized Linear and Single Index Models with Isotonic Regression" (2011)."""
