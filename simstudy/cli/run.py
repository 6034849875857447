"""`simstudy list`, `new`, `run` and `verify`: studies that there are, making and doing one, and checking its folder."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simstudy.cli.options import DataDir
from simstudy.cli.terminal import print_cells, print_line, print_table, printer, written

if TYPE_CHECKING:
    import pandas as pd


def list_studies() -> None:
    """List the studies that come with simstudy."""
    import pandas as pd

    from simstudy.studies import load_study, shipped_studies

    studies = {name: load_study(name) for name in shipped_studies()}
    print_line(f"{len(studies)} studies come with simstudy; simstudy run NAME runs one.")
    rows = {"study": list(studies), "kind": [study.kind for study in studies.values()]}
    print_table("Studies", pd.DataFrame(rows | {"title": [study.title for study in studies.values()]}))


def new(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Folder of the new study, which gives it its name.")],
    *,
    template: Annotated[str, typer.Option("--from", help="Kind of study: natural (systems that exist).")] = "natural",
) -> None:
    """Write a study of your own: a study.toml that explains every key, and example files that it runs on as it is."""
    from simstudy.studies.templates import new_study

    definition, *examples = new_study(name, template)
    print_line(f"{definition}: edit title, question, and the files, metric and columns of [[test_sets]]")
    print_line(f"{', '.join(map(str, examples))}: example files; yours may take their place")
    print_line(f"Run it: simstudy run {shlex.quote(str(name))}")


def run(
    study: Annotated[
        str,
        typer.Argument(
            help="Name of a shipped study, or path of a study.toml or its folder. Its study.py or task.py is executed."
        ),
    ],
    *,
    jobs: Annotated[int, typer.Option(help="Number of processes and threads; -1 for all cores.")] = -1,
    out: Annotated[Path | None, typer.Option(help="Folder for the results (default: results/<name>).")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed that replaces the study's own.")] = None,
    data_dir: DataDir = None,
    allow_outside: Annotated[
        bool, typer.Option("--allow-outside", help="Allow a study.toml to read files outside its data folder.")
    ] = False,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Compute the cells on the workers of a dask scheduler, tcp://host:8786, or of local:N processes.",
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="K/N",
            help="Compute only share K of N of the cells, without a server: for job arrays with a common folder --out. "
            "When all shares are done, the command without --shard finds them.",
        ),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Run nothing. List the cells (parts of the work) and which of them are done.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="With --list: print every cell.")] = False,
) -> None:
    """Run a study and write its tables, figures and page. A stopped run continues where it stopped."""
    from simstudy.running.clusters import cluster as cluster_of
    from simstudy.running.runner import n_workers
    from simstudy.running.workers import Processes
    from simstudy.studies import run_study
    from simstudy.studies.run import run_shard, study_cells

    where: dict[str, Any] = {"out": out, "seed": seed, "data_dir": data_dir, "allow_outside": allow_outside}
    if listed:
        print_cells(study_cells(study, **where), verbose=verbose)
        return
    part = None if shard is None else _shard(shard)
    # In processes even with one job: a cell that ends its process then ends no other work, and is named.
    own = Processes(min(n_workers(jobs), 2 * n_workers(-1)))
    with own if cluster is None else cluster_of(cluster) as executor:
        if part is not None:
            _tell_shard(run_shard(study, part, n_jobs=jobs, executor=executor, **where), part)
            return
        results = run_study(study, n_jobs=jobs, executor=executor, **where)
    printer.lines(results.answers)
    for title, rows in results.summary.items():
        print_table(title, rows)
    printer.lines(written(results.folder))


def _shard(typed: str) -> tuple[int, int]:
    k, slash, n = typed.partition("/")
    if not (slash and k.isascii() and n.isascii() and k.isdigit() and n.isdigit() and 1 <= int(k) <= int(n)):
        raise ValueError(f"shard must be K/N, such as 3/20 for the third of twenty shares, not '{typed}'")
    return int(k), int(n)


def _tell_shard(cells: pd.DataFrame, shard: tuple[int, int]) -> None:
    missing = int((cells["state"] != "done").sum())
    k, n = shard
    print_line(f"Shard {k}/{n} has ended. {missing:,} of all {len(cells):,} known cells are missing.")
    if missing:
        print_line("When all shards have ended, run them again for the next part, or run without --shard.")
    else:
        print_line("The command without --shard writes the tables and figures.")


def verify(
    folder: Annotated[Path, typer.Argument(help="A folder that `simstudy run` or `simstudy compare --out` wrote.")],
) -> None:
    """Check the files of a results folder against its manifest. Exit code 1 means that a file changed or is missing."""
    from simstudy.loaders.base import counted
    from simstudy.running.results_folder import verify as check

    problems = check(folder)
    if not problems:
        print_line(f"{folder}: all files match the manifest")
        return
    print_line(f"{folder}: {counted(len(problems), 'problem')}")
    printer.lines(problems)
    raise typer.Exit(1)
