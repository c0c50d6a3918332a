"""Monotone functions: chains with bounded steps, pooling, and the losses that match a transfer function."""
