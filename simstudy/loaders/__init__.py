"""Loaders: one file a format."""
