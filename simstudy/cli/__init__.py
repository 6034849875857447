"""The `simstudy` command: each file has a group of subcommands, which import what they need when they are called."""

from __future__ import annotations

import gc

from simstudy.cli.stopping import stop_at_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from simstudy.cli.command import app as app

__all__ = ["app", "main"]


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


def __getattr__(name: str) -> object:
    if name == "app":
        from simstudy.cli.command import app

        return app
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
