"""Dependency parsers: transition-based, graph-based, and an ensemble of them."""
