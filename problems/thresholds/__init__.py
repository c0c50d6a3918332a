"""Hinges against thresholds, given or learned: the formulas of EXC and IMC."""
