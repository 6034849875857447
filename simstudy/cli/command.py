"""The command and its subcommands."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from simstudy.cli import data
from simstudy.cli.check import check
from simstudy.cli.compare import compare
from simstudy.cli.errors import OneLineGroup
from simstudy.cli.options import StrictCommand
from simstudy.cli.plan import plan
from simstudy.cli.run import list_studies, new, page, run, verify
from simstudy.text.encodings import READABLE

app = typer.Typer(cls=OneLineGroup, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command("list", cls=StrictCommand)(list_studies)
app.command(cls=StrictCommand)(new)
app.command(cls=StrictCommand)(run)
app.command(cls=StrictCommand)(check)
app.command(cls=StrictCommand)(compare)
app.command(cls=StrictCommand)(plan)
app.command(cls=StrictCommand)(page)
app.command(cls=StrictCommand)(verify)
app.add_typer(data.app, name="data")


def _say_version(wanted: bool) -> None:
    if wanted:
        print(f"simstudy {version('simstudy')}")
        raise typer.Exit


@app.callback()
def options(
    _: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_say_version)
    ] = False,
    traceback: Annotated[bool, typer.Option("--traceback", help="Show where in the code an error was raised.")] = False,
) -> None:
    """Study how significance tests behave when systems are compared."""


def main() -> None:
    """Run the command."""
    _set_up_blas()
    # What an ASCII terminal lacks is written out.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=READABLE)
    app()


def _set_up_blas() -> None:
    """Let OpenBLAS' threads sleep when they have no work, and ask for its AVX-512 kernels where the processor has them.

    Idle threads spin for a time that is meant for programs of many small products; at the start alone that costs 0.4 s
    of processor time. On some virtual machines OpenBLAS does not recognise the processor and takes kernels of half the
    speed. It reads both variables when numpy is loaded, which is later: this process is ours, so we may set them where
    the user has not.
    """
    # The binary logarithm of the clock ticks that a thread waits.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "14")
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="ignore")
    except OSError:
        return
    if "avx512bw" in flags and "avx512vl" in flags:
        os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")
