"""`simstudy verify`: whether a folder of results is as it was written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from simstudy.cli.terminal import console


def verify(
    folder: Annotated[Path, typer.Argument(help="A folder that `simstudy run` or `simstudy compare --out` wrote.")],
) -> None:
    """Check every file of a folder of results against its manifest; exit code 1 where one is not as it was written."""
    from simstudy.results_folder import verify as check

    problems = check(folder)
    for problem in problems:
        console.print(escape(problem), highlight=False, soft_wrap=True)
    if problems:
        raise typer.Exit(1)
    console.print(f"{escape(str(folder))}: every file is as it was written", highlight=False, soft_wrap=True)
