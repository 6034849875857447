"""Loaders: each format has a file of its own, and `formats` leads to all of them."""
