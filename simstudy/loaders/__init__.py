"""Loaders: one file a format; `formats` is the one door to all of them."""
