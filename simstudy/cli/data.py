"""`simstudy data`: the public data sets that there are, and fetching them."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table

from simstudy.cli.options import DataDir, StrictCommand

app = typer.Typer(help="List and fetch public data sets.", no_args_is_help=True)
_console = Console(markup=False, highlight=False)


@app.command("list", cls=StrictCommand)
def list_data(
    name: Annotated[str | None, typer.Argument(help="A data set, to list its files.", show_default=False)] = None,
) -> None:
    """List the public data sets, or the files of one."""
    if name is None:
        _list_datasets()
    else:
        _list_files(name)


@app.command(cls=StrictCommand)
def fetch(
    name: Annotated[str, typer.Argument(help="A data set, or one file, <data set>/<file>.")], data_dir: DataDir = None
) -> None:
    """Download missing files, check all files, and print their paths."""
    from simstudy.files.datasets import fetch_all

    for path in fetch_all(name, data_dir):
        typer.echo(path)


def _list_datasets() -> None:
    from simstudy.files.datasets import cache_folder, datasets, folder_at_hand

    table = Table(box=None, header_style="bold")
    for name, right in (("name", False), ("files", True), ("size", True)):
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    table.add_column("licence")
    table.add_column("what")
    for dataset in datasets().values():
        size = decimal(dataset.size)
        table.add_row(dataset.name, str(len(dataset.files)), size, dataset.licence, dataset.what)
    _console.print(table)
    at_hand = folder_at_hand()
    place = f"Files are kept in {cache_folder()}" if at_hand is None else f"Files are taken from {at_hand}"
    _console.print(f"\n{place}", soft_wrap=True)


def _list_files(name: str) -> None:
    from simstudy.files.datasets import datasets
    from simstudy.validation import check_choice

    check_choice("data set", name, datasets())
    table = Table("name", box=None, header_style="bold")
    table.add_column("size", justify="right")
    table.add_column("SHA-256")
    table.add_column("address")
    for file in datasets()[name].files:
        table.add_row(file.name, decimal(file.size), file.sha256[:12], file.url)
    # Wider than any address: a folded one can be neither clicked nor copied.
    Console(markup=False, highlight=False, width=1_000).print(table)
