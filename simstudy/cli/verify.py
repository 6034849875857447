"""`simstudy verify`: whether a folder of results is as it was written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simstudy.cli.terminal import print_line


def verify(
    folder: Annotated[Path, typer.Argument(help="A folder that `simstudy run` or `simstudy compare --out` wrote.")],
) -> None:
    """Check every file of a folder of results against its manifest; exit code 1 where one is not as it was written."""
    from simstudy.running.results_folder import verify as check

    problems = check(folder)
    for problem in problems:
        print_line(problem)
    if problems:
        raise typer.Exit(1)
    print_line(f"{folder}: every file is as it was written")
