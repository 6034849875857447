"""Constituency parsers: grammars with annotated and with latent states."""
