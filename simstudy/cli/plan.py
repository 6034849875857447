"""`simstudy plan`: how large a test set must be, from guesses, a pilot or a leaderboard."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from simstudy.cli.files import HEADING, Files
from simstudy.cli.options import grouped, name_options, settings_of, with_default
from simstudy.cli.terminal import Output, printer, write_page, written
from simstudy.cli.wording import worded_notes
from simstudy.files.whole import is_html, require_page
from simstudy.planning.arguments import Clusters, Guess, Judge
from simstudy.planning.settings import Costs, Level, Pilot, option
from simstudy.validation import InputError


@dataclass(frozen=True)
class Wanted:
    """What the test set must show."""

    metric: str = field(metadata={"help": "accuracy, bleu, f1, ap, win_rate, mean, …: as for compare."})
    gain: float | None = option(
        None, "True gain to detect, in points of the metric. The plan gives the number of items."
    )
    n_items: int | None = option(
        None, "Number of items. The plan gives the minimum detectable gain. (Default with files: their number.)"
    )
    power: float = option(0.8, "Power: probability of a significant result, given the true gain.")
    margin: float | None = option(
        None,
        "Plan for tests of non-inferiority and equivalence at this margin (one-sided tests at half of alpha, as in "
        "compare).",
    )


@dataclass(frozen=True)
class PilotFiles(Files):
    """Files of a pilot or a leaderboard: a plan leaves near-duplicates out, and is simulated."""

    duplicates: str = with_default(Files, "duplicates", "drop")
    n_sets: Annotated[
        int,
        typer.Option(
            "--simulate", help="Number of simulated test sets that check the plan (at least 200, or 0 for none)."
        ),
    ] = 2000
    n_draws: Annotated[
        int,
        typer.Option(
            "--draws",
            help="With three or more systems: number of simulated test sets of each size for the predictions (at least "
            "100, or 0 for none).",
        ),
    ] = 1000
    samples: int | None = option(
        None, "Number of samples of each question in the new test set (default: as many as in the outputs)."
    )


# What guesses say in the place of --samples.
_INSTEAD = (
    "; with guesses, samples of a question are a cluster: --cluster-size says how many, --icc how alike, and "
    "--cluster-cv 0 that all questions have as many"
)

# Made by the command itself, of options from more than one group.
name_options(Pilot)


@grouped
def plan(
    context: typer.Context,
    *,
    wanted: Wanted,
    guess: Annotated[Guess, "Without files: guesses"],
    clusters: Annotated[Clusters, "Clusters"],
    judge: Annotated[Judge, "Judges"],
    costs: Annotated[Costs, "Costs"],
    level: Annotated[Level, "Test"],
    files: Annotated[PilotFiles, HEADING],
    output: Annotated[Output, "What comes out"],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH...]", help="Output files of two systems (a pilot) or of more (a leaderboard)."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random draws.")] = 0,
) -> None:
    """Plan a test set: how many items you need, or which gain a given number of items detects.

    Give --gain for the number of items, --n-items for the minimum detectable gain, or both for the power.

    There are three kinds of input:

    1. Guesses. simstudy plan --metric accuracy --score 80 --gain 1 --agreement 0.9

    2. A pilot of two systems. simstudy plan old.txt new.txt --metric bleu --references ref.txt --gain 0.5

    3. Last year's systems. simstudy plan results.csv --metric accuracy --columns item=question_id,score=right --gain 2

    More: simstudy plan --metric bleu --n-items 2000 --relation "same family"

    simstudy plan --metric accuracy --score 80 --margin 1 --agreement 0.9

    simstudy plan --metric mean --sd 1.2 --r12 0.5:0.7 --gain 0.1 --cluster-size 10 --icc 0.1 --cost-item 1 --budget 900

    simstudy plan --metric win_rate --gain 3 --judge-error 0.15 --judgements 3
    """
    from simstudy.planning import plan as planned
    from simstudy.planning.printed import show
    from simstudy.text.plain_text import json_in

    if not paths:
        _refuse_files(context)
    if output.out is not None and is_html(output.out):
        # Said before minutes of simulation.
        require_page(output.out)
    pilot, notes, read = _read(paths, wanted.metric, files, seed) if paths else (None, (), {})
    with redirect_stdout(sys.stderr):
        found = planned(
            pilot, metric=wanted.metric if pilot is None else None, gain=wanted.gain, n_items=wanted.n_items,
            power=wanted.power, margin=wanted.margin, alpha=level, guess=guess, clusters=clusters, judge=judge,
            costs=costs,
        )  # fmt: skip
    told = worded_notes((*notes, *found.notes), context.command.params)
    found, settings = replace(found, notes=told, files=read), settings_of(context)
    write_page(found, output.out, settings, figures=output.figures)
    if output.print_json:
        print(json_in(found.to_json(settings), sys.stdout.encoding))
    elif output.for_a_paper:
        print(output.paper(found.paper()))
    else:
        show(found, printer, verbose=output.verbose, last=written(output.out))


def _read(
    paths: list[Path], metric: str, files: PilotFiles, seed: int
) -> tuple[Pilot, tuple[str, ...], dict[str, str]]:
    """The pilot in these files, notes, and the files' hashes."""
    from simstudy.planning.benchmarks import known_as
    from simstudy.readers.items import for_unit
    from simstudy.readers.request import name_and_path

    loaded, hashes = files.read(paths, metric)
    files_given = [path for _, path in map(name_and_path, paths)]
    notes = for_unit(loaded.notes, files.unit)
    notes = (*notes, *known_as(part.split(".")[0] for path in files_given for part in path.parts[-2:]))
    # The groups of a systems table are of use for many systems; two are one pair.
    two = loaded.outputs.n_systems == 2
    by = files.by if files.by is None and two else files.relation(loaded)
    if by is None and not two:
        notes += ("all pairs are analysed together; --systems with a column, and --by, separate pairs within a family",)
    pilot = Pilot(
        loaded.outputs,
        by,
        files.unit,
        files.duplicates,
        files.n_sets,
        n_draws=files.n_draws,
        seed=seed,
        samples=files.samples,
    )
    return pilot, notes, hashes


def _refuse_files(context: typer.Context) -> None:
    """Raise a ValueError for an option that only files have a use for, where there are none."""
    for parameter in context.command.params:
        of_files = getattr(parameter, "rich_help_panel", None) == HEADING or parameter.name == "seed"
        source = context.get_parameter_source(str(parameter.name))
        if of_files and source is not None and source.name == "COMMANDLINE":
            instead = _INSTEAD if parameter.name == "samples" else ""
            raise InputError(parameter.opts[0], f"must not be given without files of outputs{instead}")
