"""`simstudy list`, `new`, `run`, `page` and `verify`: studies, from a list of them to a check of what one wrote."""

from __future__ import annotations

import shlex
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simstudy.cli.options import DataDir
from simstudy.cli.terminal import print_cells, print_line, print_table, printer, written
from simstudy.validation import InputError

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
    template: Annotated[
        str, typer.Option("--from", help="Kind of study: natural (systems that exist), or simulation (known truth).")
    ] = "natural",
) -> None:
    """Write a study of your own: a study.toml that explains every key, and example files that it runs on as it is."""
    from simstudy.studies.templates import new_study

    definition, *examples = new_study(name, template)
    keys = "tests and factors" if template == "simulation" else "the files, metric and columns of [[test_sets]]"
    print_line(f"{definition}: edit title, question, and {keys}")
    print_line(f"{', '.join(map(str, examples))}: example files; yours may take their place")
    print_line(f"Run it: simstudy run {shlex.quote(str(name))}")


_Named = Annotated[
    str | None,
    typer.Argument(
        help="Name of a shipped study, or path of a study.toml or its folder. Its study.py or task.py is executed."
    ),
]
_Every = Annotated[
    bool,
    typer.Option(
        "--all", help="Run all shipped studies, one after the other. A study that cannot be made is named and left."
    ),
]
_FromNothing = Annotated[
    bool, typer.Option("--from-nothing", help="With --all: remove the finished cells of a study before it is begun.")
]
_Out = Annotated[
    Path | None, typer.Option(help="Folder for the results (default: results/<name>; with --all, results).")
]
_Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Compute the cells on the workers of a dask scheduler, tcp://host:8786, or of local:N processes.",
    ),
]
_Shard = Annotated[
    str | None,
    typer.Option(
        metavar="K/N",
        help="Compute only share K of N of the cells, without a server: for job arrays with a common folder --out. "
        "When all shares are done, the command without --shard finds them.",
    ),
]


def run(
    study: _Named = None,
    *,
    every: _Every = False,
    from_nothing: _FromNothing = False,
    jobs: Annotated[int, typer.Option(help="Number of processes and threads; -1 for all cores.")] = -1,
    out: _Out = None,
    seed: Annotated[int | None, typer.Option(help="Seed that replaces the study's own.")] = None,
    data_dir: DataDir = None,
    allow_outside: Annotated[
        bool, typer.Option("--allow-outside", help="Allow a study.toml to read files outside its data folder.")
    ] = False,
    cluster: _Cluster = None,
    shard: _Shard = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Run nothing. List the cells (parts of the work) and which of them are done.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="With --list: print every cell.")] = False,
) -> None:
    """Run a study and write its tables, figures and page. A stopped run continues where it stopped."""
    if every == (study is not None):
        raise InputError("run needs the name of a study, or --all")
    if from_nothing and (listed or not every):
        raise InputError("--from-nothing needs --all without --list: it removes finished cells")
    if every:
        others = {"--seed": seed, "--cluster": cluster, "--shard": shard, "--allow-outside": allow_outside}
        if given := [name for name, value in others.items() if value is not None and value is not False]:
            raise InputError(given[0], "must not be given with --all")
        _run_every(out or Path("results"), data_dir, jobs, listed=listed, from_nothing=from_nothing)
    else:
        where = {"out": out, "seed": seed, "data_dir": data_dir, "allow_outside": allow_outside}
        _run_one(str(study), where, jobs, cluster, shard, listed=listed, verbose=verbose)


def _run_one(
    study: str, where: dict[str, Any], jobs: int, cluster: str | None, shard: str | None, *, listed: bool, verbose: bool
) -> None:
    """Run, list or compute a share of one study, which is found and written `where` the arguments say."""
    from simstudy.running.keys import RULE
    from simstudy.running.parallel import cluster as cluster_of
    from simstudy.studies import run_study
    from simstudy.studies.run import run_shard, study_cells

    if listed:
        print_cells(study_cells(study, **where), verbose=verbose)
        print_line(RULE)
        return
    part = None if shard is None else _shard(shard)
    with nullcontext() if cluster is None else cluster_of(cluster) as executor:
        if part is not None:
            _tell_shard(run_shard(study, part, n_jobs=jobs, executor=executor, **where), part)
            return
        results = run_study(study, n_jobs=jobs, executor=executor, **where)
    printer.lines(results.answers)
    for title, rows in results.summary.items():
        print_table(title, rows)
    printer.lines(written(results.folder))


def _run_every(out: Path, data_dir: Path | None, jobs: int, *, listed: bool, from_nothing: bool) -> None:
    """Say what all studies need, run them, and say what they took."""
    import pandas as pd

    from simstudy.studies.every import TIMES, begin_anew, needs, run_every
    from simstudy.text.numerals import duration

    if from_nothing:
        begin_anew(out)
    studies = needs(out, data_dir)
    ready = studies[studies["state"] == "ready"]
    shown = studies.assign(
        cells=[f"{row.cells_done:,} of {row.cells_known:,}" for row in studies.itertuples()],
        time=[duration(value) if value == value else "not known" for value in studies["wall_seconds"]],
        memory=[f"{value:,.0f} MB" if value == value else "" for value in studies["memory_mb"]],
        disk=[f"{value:,.0f} MB" if value == value else "" for value in studies["disk_mb"]],
    )
    print_table("Studies", shown[["study", "state", "cells", "time", "memory", "disk"]])
    total = ready["wall_seconds"].sum()
    print_line(
        f"{len(ready)} of {len(studies)} studies are to be made" + (f", in some {duration(total)}." if total else ".")
    )
    if listed or ready.empty:
        return
    options = ["--jobs", str(jobs), *([] if data_dir is None else ["--data-dir", str(data_dir)])]
    took = []
    for one in run_every(list(ready["study"]), out, options):
        end = "" if not one.exit_code else f"; it failed with exit code {one.exit_code}"
        print_line(f"{one.study}: {duration(one.wall_seconds)}{end}")
        took.append(one)
    failed = [one.study for one in took if one.exit_code]
    rows = pd.DataFrame(
        {
            "study": [one.study for one in took],
            "time": [duration(one.wall_seconds) for one in took],
            "of processors": [duration(one.cpu_seconds) for one in took],
            "memory": [f"{one.memory_mb:,.0f} MB" for one in took],
        }
    )
    print_table("What each study took", rows)
    print_line(f"All of these: {duration(sum(one.wall_seconds for one in took))}. A whole run writes {out / TIMES}.")
    if failed:
        print_line(f"Not made: {', '.join(failed)}. simstudy run NAME says more; run --all again goes on with them.")
        raise typer.Exit(1)


def _shard(typed: str) -> tuple[int, int]:
    k, slash, n = typed.partition("/")
    if not (slash and k.isascii() and n.isascii() and k.isdigit() and n.isdigit() and 1 <= int(k) <= int(n)):
        raise InputError("shard", "must be K/N, such as 3/20 for the third of twenty shares", typed)
    return int(k), int(n)


def _tell_shard(cells: pd.DataFrame, shard: tuple[int, int]) -> None:
    missing = int((cells["state"] != "done").sum())
    k, n = shard
    print_line(f"Shard {k}/{n} has ended. {missing:,} of all {len(cells):,} known cells are missing.")
    if missing:
        print_line("When all shards have ended, run them again for the next part, or run without --shard.")
    else:
        print_line("The command without --shard writes the tables and figures.")


def page(
    study: Annotated[str, typer.Argument(help="As for run.")],
    *,
    out: Annotated[Path | None, typer.Option(help="Folder of the results (default: results/<name>).")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the run, if it was not the study's own.")] = None,
) -> None:
    """Write the page and figures of a study's results again, from its tables. Nothing is computed."""
    from simstudy.studies.written import rewrite_page

    folder, summary = rewrite_page(study, out=out, seed=seed)
    for title, rows in summary.items():
        print_table(title, rows)
    printer.lines(written(folder))


def verify(
    folder: Annotated[Path, typer.Argument(help="A folder that `simstudy run` or `simstudy compare --out` wrote.")],
    *,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh",
            help="Also check whether today's settings, the study's code and RESULTS_VERSION made a study's tables.",
        ),
    ] = False,
) -> None:
    """Check the files of a results folder against its manifest. Exit code 1 means that something differs."""
    from simstudy.running.folders import verify as check
    from simstudy.text.numerals import counted

    problems, matches = check(folder), "all files match the manifest"
    if fresh:
        from simstudy.studies.written import why_not_fresh

        reasons, versions = why_not_fresh(folder)
        problems += reasons
        matches += "; the settings, the study's own files and RESULTS_VERSION are those of the run"
        if versions:
            print_line(f"Other versions of libraries are installed than made the results: {versions}")
    if not problems:
        print_line(f"{folder}: {matches}")
        return
    print_line(f"{folder}: {counted(len(problems), 'problem')}")
    printer.lines(problems)
    raise typer.Exit(1)
