"""Significance tests: Outputs in, Comparisons out."""
