"""Taggers and chunkers: labels of the tokens of a sentence."""
