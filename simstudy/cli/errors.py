"""How the command fails: one line for people, and an exit code for scripts."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

from simstudy.plain_text import line

_console = Console(stderr=True, soft_wrap=True, emoji=False)


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Bad input: one line and exit code 2. Failed cells: one line and 1. Stopped: one line and 130."""
    try:
        yield
    except BrokenPipeError:
        # Whoever read our output has seen enough (`| head`); python's last flush must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except (ValueError, OSError) as error:
        _fail(str(error), 2)
    except KeyboardInterrupt:
        _fail("stopped; what has finished is kept, and the same command goes on from there", 130)
    except RuntimeError as error:
        from simstudy.runner import CellsFailed

        if not isinstance(error, CellsFailed):
            raise
        _fail(f"{error}; what has finished is kept, and the same command runs only what is missing", 1)


class OneLineGroup(TyperGroup):
    """Commands whose options' values, where they are no numbers or missing, are told of in one line too."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            _fail(f"{error.format_message()} (see {ctx.command_path} {ctx.invoked_subcommand} --help)", 2)


def say(message: str) -> None:
    """One line on standard error, in which nothing of a name acts on the terminal."""
    _console.print(Text(line(f"simstudy: {message}")))


def _fail(message: str, code: int) -> NoReturn:
    say(message)
    raise typer.Exit(code)
