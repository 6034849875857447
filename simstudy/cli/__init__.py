"""The `simstudy` command: each file has a group of subcommands, which import what they need when they are called."""

from __future__ import annotations

import gc

from simstudy.cli.stopping import stop_at_once

__all__ = ["main"]


def main() -> None:
    """Run the command."""
    # First of all: the imports take long enough for a Ctrl-C.
    stop_at_once()
    # Modules make many objects and no garbage: from here on Python need not look at them again and again.
    gc.disable()
    from simstudy.cli.command import main as run

    gc.freeze()
    gc.enable()
    run()
