"""Ordinal regression, with thresholds learned or given."""
