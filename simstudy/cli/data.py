"""`simstudy data`: the public data sets that there are, and fetching them."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.filesize import decimal

from simstudy.cli.options import DataDir, StrictCommand
from simstudy.cli.terminal import print_line, print_table, printer

app = typer.Typer(help="List and fetch public data sets.", no_args_is_help=True)


@app.command("list", cls=StrictCommand)
def list_data(
    name: Annotated[str | None, typer.Argument(help="Name of a data set: list its files.", show_default=False)] = None,
) -> None:
    """List the public data sets, or the files of one."""
    if name is None:
        _list_datasets()
    else:
        _list_files(name)


@app.command(cls=StrictCommand)
def fetch(
    name: Annotated[str, typer.Argument(help="Name of a data set, or one file as <data set>/<file>.")],
    data_dir: DataDir = None,
) -> None:
    """Download files that are missing, verify all checksums, and print the paths."""
    from simstudy.files.datasets import fetch_all

    for path in fetch_all(name, data_dir):
        typer.echo(path)


def _list_datasets() -> None:
    import pandas as pd

    from simstudy.files.datasets import cache_folder, datasets, folder_at_hand
    from simstudy.text.numerals import counted

    known = datasets().values()
    at_hand = folder_at_hand()
    place = f"are kept in {cache_folder()}" if at_hand is None else f"are read from {at_hand}"
    print_line(f"{counted(len(known), 'public data set')}; simstudy data fetch NAME fetches one. Files {place}")
    rows = [(one.name, str(len(one.files)), decimal(one.size), one.licence, one.what) for one in known]
    print_table("Data sets", pd.DataFrame(rows, columns=["name", "files", "size", "licence", "content"]))


def _list_files(name: str) -> None:
    import pandas as pd

    from simstudy.files.datasets import datasets
    from simstudy.text.numerals import counted
    from simstudy.validation import check_choice

    check_choice("data set", name, datasets())
    files = datasets()[name].files
    print_line(f"{name}: {counted(len(files), 'file')}, {decimal(datasets()[name].size)}")
    print_line("")
    # One line a file, however wide the terminal is: a folded address can be neither clicked nor copied.
    rows = [(file.name, decimal(file.size), file.sha256[:12], file.url) for file in files]
    printer.unfolded(pd.DataFrame(rows, columns=["name", "size", "SHA-256", "address"]))
