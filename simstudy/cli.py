"""The `simstudy` command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

app = typer.Typer(
    help="Study how significance tests behave when systems are compared.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
_console = Console()
_errors = Console(stderr=True, soft_wrap=True)


@app.command("list")
def list_studies() -> None:
    """List the studies that come with simstudy."""
    from simstudy.studies import load_study, shipped_studies

    table = Table("study", "kind", "title", box=None, header_style="bold")
    for name in shipped_studies():
        study = load_study(name)
        table.add_row(name, study.kind, study.title)
    _console.print(table)


@app.command()
def run(
    study: Annotated[str, typer.Argument(help="Name of a shipped study, or path of a study.toml or its folder.")],
    jobs: Annotated[int, typer.Option(help="Processes and threads; -1 for all cores.")] = -1,
    out: Annotated[Path | None, typer.Option(help="Folder of the results [default: results/<name>].")] = None,
    seed: Annotated[int | None, typer.Option(help="Instead of the study's own.")] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder of data files at hand, <folder>/<file> [or SIMSTUDY_DATA_DIR].")
    ] = None,
) -> None:
    """Run a study, or what is left of it, and write its tables, figures and page."""
    from simstudy.studies import run_study

    with _errors_in_one_line():
        results = run_study(study, out=out, n_jobs=jobs, seed=seed, data_dir=data_dir)
    for title, rows in results.summary.items():
        table = Table(title=title, title_justify="left", title_style="bold", box=None, header_style="dim")
        for column in map(str, rows):
            table.add_column(column, justify="left" if column in ("relation", "winner on", "wins on") else "right")
        for row in rows.to_numpy():
            table.add_row(*map(str, row))
        _console.print("", table)
    _console.print(f"\nFigures and report: {escape(str(results.folder / 'README.md'))}", soft_wrap=True)


def main() -> None:
    """Run the command."""
    _choose_blas_kernel()
    app()


@contextmanager
def _errors_in_one_line() -> Iterator[None]:
    """Bad input: one line and exit code 2. Failed cells: one line and 1. Stopped: one line and 130."""
    try:
        yield
    except (ValueError, OSError) as error:
        _fail(str(error), 2)
    except KeyboardInterrupt:
        _fail("stopped; what has finished is kept, and the same command goes on from there", 130)
    except RuntimeError as error:
        from simstudy.runner import CellsFailed

        if not isinstance(error, CellsFailed):
            raise
        _fail(f"{error}; what has finished is kept, and the same command runs only what is missing", 1)


def _fail(message: str, code: int) -> NoReturn:
    _errors.print(f"simstudy: {escape(' '.join(message.split()))}", highlight=False)
    raise typer.Exit(code)


def _choose_blas_kernel() -> None:
    """Ask OpenBLAS for its AVX-512 kernels where the processor has them.

    On some virtual machines OpenBLAS does not recognise the processor and takes kernels of half the speed. It reads
    the variable when numpy is loaded, which is later: this process is ours, so we may set it where the user has not.
    """
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="ignore")
    except OSError:
        return
    if "avx512bw" in flags and "avx512vl" in flags:
        os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")


if __name__ == "__main__":
    main()
