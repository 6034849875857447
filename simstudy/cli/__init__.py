"""The `simstudy` command: each file has a group of subcommands, which import what they need when they are called."""

from simstudy.cli.command import app, main

__all__ = ["app", "main"]
