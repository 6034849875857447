"""`simstudy plan`: how large a test set must be, from guesses, a pilot or a leaderboard."""

from __future__ import annotations

import shlex
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simstudy.cli.errors import by_options
from simstudy.cli.files import relation_column
from simstudy.cli.terminal import print_line, print_table, print_written
from simstudy.cli.usage import mapping, plain, value_or_range

if TYPE_CHECKING:
    from simstudy.loaders.base import Loaded
    from simstudy.planning import Plan

_GUESSES = "Without files: guesses"
_DESIGN = "Units, judges and costs"
_FILES = "With files: what compare reads"


def plan(
    context: typer.Context,
    metric: Annotated[str, typer.Option(help="accuracy, bleu, f1, ap, win_rate, mean, …: as for compare.")],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH...]", help="Outputs of two systems (a pilot) or of many (a leaderboard)."),
    ] = None,
    gain: Annotated[
        float | None, typer.Option(help="The true gain to find, in points of the metric: how many items does it need?")
    ] = None,
    n_items: Annotated[
        int | None, typer.Option(help="The size of the test set: which gain does it find? (of files: theirs)")
    ] = None,
    power: Annotated[float, typer.Option(help="The probability with which the gain is to be found.")] = 0.8,
    alpha: Annotated[float, typer.Option(help="The level of significance.")] = 0.05,
    alternative: Annotated[
        str, typer.Option(help="two-sided, or greater (one-sided, for a system that was named beforehand).")
    ] = "two-sided",
    comparisons: Annotated[int, typer.Option(help="Comparisons that share the level (Bonferroni, Holm).")] = 1,
    margin: Annotated[
        float | None,
        typer.Option(
            help="Plan to show that a system is not worse by this much, and that two are equivalent within it (tests "
            "at half of alpha, as in compare)."
        ),
    ] = None,
    score: Annotated[
        float | None, typer.Option(help="Accuracy of the worse system, in percent.", rich_help_panel=_GUESSES)
    ] = None,
    agreement: Annotated[
        str | None,
        typer.Option(
            help="Accuracy: share of items on which both are right or both wrong (0.9, or a range 0.85:0.95). Win "
            "rate: share of ties.",
            rich_help_panel=_GUESSES,
        ),
    ] = None,
    r12: Annotated[
        str | None,
        typer.Option(
            help="Correlation of the two systems' item scores (0.6, or 0.5:0.7). Where nothing is given: what 80 % of "
            "such pairs have on known test sets.",
            rich_help_panel=_GUESSES,
        ),
    ] = None,
    sd: Annotated[
        float | None,
        typer.Option(
            help="Other metrics: standard deviation of one system's item scores, in points of the metric.",
            rich_help_panel=_GUESSES,
        ),
    ] = None,
    sd_difference: Annotated[
        str | None,
        typer.Option(help="Instead: that of the two systems' difference on one item.", rich_help_panel=_GUESSES),
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option(
            help="variants (of one model or one group) or 'unlike systems': whose usual numbers are taken (default: "
            "both).",
            rich_help_panel=_GUESSES,
        ),
    ] = None,
    cluster_size: Annotated[
        float | None,
        typer.Option(
            help="Items of a unit: sentences of a document, samples of a question, judgements of an item.",
            rich_help_panel=_DESIGN,
        ),
    ] = None,
    icc: Annotated[
        float | None,
        typer.Option(
            help="Correlation of the two systems' difference on two items of one unit.", rich_help_panel=_DESIGN
        ),
    ] = None,
    cluster_cv: Annotated[
        str | None,
        typer.Option(
            help="Standard deviation of the units' sizes over their mean (1, or 0.5:1.5), 0 where all have one size "
            "(default: that of known documents and repositories).",
            rich_help_panel=_DESIGN,
        ),
    ] = None,
    judge_error: Annotated[
        float | None,
        typer.Option(help="Accuracy, win rate: share of verdicts that a judge turns round.", rich_help_panel=_DESIGN),
    ] = None,
    judge_sd: Annotated[
        float | None,
        typer.Option(
            help="Other metrics: standard deviation of a judge's scores of one answer.", rich_help_panel=_DESIGN
        ),
    ] = None,
    judgements: Annotated[
        int, typer.Option(help="Judgements of each answer: majority, or mean.", rich_help_panel=_DESIGN)
    ] = 1,
    judge_agreement: Annotated[
        float | None,
        typer.Option(
            help="Correlation of the errors of two judgements of one answer (default: independent).",
            rich_help_panel=_DESIGN,
        ),
    ] = None,
    cost_item: Annotated[float | None, typer.Option(help="What an item costs.", rich_help_panel=_DESIGN)] = None,
    cost_cluster: Annotated[
        float, typer.Option(help="What a unit costs beside its items.", rich_help_panel=_DESIGN)
    ] = 0.0,
    budget: Annotated[
        float | None, typer.Option(help="What there is to spend: which gain does it find?", rich_help_panel=_DESIGN)
    ] = None,
    references: Annotated[
        list[Path] | None,
        typer.Option(help="File of gold answers; more than once for several.", rich_help_panel=_FILES),
    ] = None,
    systems: Annotated[
        Path | None,
        typer.Option(help="CSV with a row for each system: system, group, family, …", rich_help_panel=_FILES),
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Column of the systems table for relation classes.", rich_help_panel=_FILES)
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(
            help="CSV with a row for each item: domain, cluster (or doc, user, repo, …), …", rich_help_panel=_FILES
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            help="The files' columns under our names: item=instance_id,score=resolved.", rich_help_panel=_FILES
        ),
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="scores, text, conllu, trec, … (default: as names tell).", rich_help_panel=_FILES)
    ] = None,
    missing: Annotated[
        str, typer.Option(help="Items that a system lacks: error, drop or zero.", rich_help_panel=_FILES)
    ] = "error",
    duplicates: Annotated[
        str, typer.Option(help="Near-duplicate systems: keep or drop.", rich_help_panel=_FILES)
    ] = "drop",
    domain: Annotated[str | None, typer.Option(help="Only the items of this domain.", rich_help_panel=_FILES)] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            help="What is drawn as a whole: item, or a column of the items (default: cluster, if any).",
            rich_help_panel=_FILES,
        ),
    ] = None,
    lower_is_better: Annotated[
        bool | None,
        typer.Option(
            "--lower-is-better/--higher-is-better",
            help="What is better of scores under --metric mean.",
            rich_help_panel=_FILES,
        ),
    ] = None,
    n_sets: Annotated[
        int,
        typer.Option(
            "--simulate",
            help="Test sets to draw, to compare the plan with (at least 200); 0 for none.",
            rich_help_panel=_FILES,
        ),
    ] = 2000,
    seed: Annotated[int, typer.Option(help="Of what is drawn.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder for tables, the figure and a page.")] = None,
    print_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say how large a test set must be, and what one of a given size tells.

    Say what you want to find (--gain) and it prints how many items that needs; or say how many items there are
    (--n-items) and it prints the gain that they find; with both, the power. Three ways in:

    1. Guesses. simstudy plan --metric accuracy --score 80 --gain 1 --agreement 0.9

    2. A pilot of two systems. simstudy plan old.txt new.txt --metric bleu --references ref.txt --gain 0.5

    3. Last year's systems. simstudy plan results.csv --metric accuracy --columns item=question_id,score=right --gain 2

    More: simstudy plan --metric bleu --n-items 2000 --relation variants

    simstudy plan --metric accuracy --score 80 --margin 1 --agreement 0.9

    simstudy plan --metric mean --sd 1.2 --r12 0.5:0.7 --gain 0.1 --cluster-size 10 --icc 0.1 --cost-item 1 --budget 900

    simstudy plan --metric win_rate --gain 3 --judge-error 0.15 --judgements 3
    """
    settings = {name: plain(value) for name, value in locals().items() if name != "context"}

    from simstudy.planning import plan as planned
    from simstudy.planning.benchmarks import known_as

    outputs = None
    notes: tuple[str, ...] = ()
    read: dict[str, str] = {}
    asked: dict[str, Any] = {
        "gain": gain, "n_items": n_items, "power": power, "alpha": alpha, "alternative": alternative,
        "comparisons": comparisons, "margin": margin, "cost_item": cost_item, "cost_cluster": cost_cluster,
        "budget": budget, "score": score, "agreement": value_or_range("--agreement", agreement),
        "r12": value_or_range("--r12", r12), "sd": sd, "relation": relation, "cluster_size": cluster_size, "icc": icc,
        "cluster_cv": value_or_range("--cluster-cv", cluster_cv),
        "sd_difference": value_or_range("--sd-difference", sd_difference), "judge_error": judge_error,
        "judge_sd": judge_sd, "judgements": judgements, "judge_agreement": judge_agreement, "seed": seed,
    }  # fmt: skip
    if paths:
        ways = {
            "references": references or (), "format": format, "items": items, "systems": systems,
            "columns": mapping(columns), "missing": missing, "domain": domain, "lower_is_better": lower_is_better,
        }  # fmt: skip
        loaded, read = _loaded(paths, metric, ways)
        outputs = loaded.outputs
        named = known_as(part.split(".")[0] for path in paths for part in path.parts[-2:])
        notes = (*loaded.notes, *named)
        # The groups of a systems table are of use for many systems; two are one pair.
        relation_of = by if by is None and outputs.n_systems == 2 else relation_column(by, systems, loaded)
        asked |= {"by": relation_of, "unit": unit, "n_sets": n_sets, "duplicates": duplicates}
        if outputs.n_systems > 2 and asked["by"] is None:
            notes += ("all pairs are taken together; --systems with a column and --by tell variants from others",)
    else:
        _refuse_files(context)
    with redirect_stdout(sys.stderr):
        found = planned(outputs, metric=None if outputs is not None else metric, **asked)
    found = replace(found, notes=tuple(by_options(note, context.command.params) for note in (*notes, *found.notes)))
    if out is not None:
        from simstudy.planning.page import write

        write(found, out, command=f"simstudy {shlex.join(sys.argv[1:])}", settings=settings, files=read)
    if print_json:
        print(found.as_json(settings))
    else:
        _print(found)
        if out is not None:
            print_written(out)


def _loaded(paths: list[Path], metric: str, ways: dict[str, Any]) -> tuple[Loaded, dict[str, str]]:
    from simstudy.cli.user_metric import metric_named
    from simstudy.loaders.formats import load
    from simstudy.loaders.reading import reading

    with reading() as read, redirect_stdout(sys.stderr):
        loaded = load(paths, metric_named(metric, ways["lower_is_better"]), **ways)
    return loaded, {str(path): digest for path, digest in sorted(read.hashes.items())}


def _refuse_files(context: typer.Context) -> None:
    """Raise a ValueError for an option that says how files are read, where there are none."""
    for parameter in context.command.params:
        of_files = getattr(parameter, "rich_help_panel", None) == _FILES
        source = context.get_parameter_source(str(parameter.name))
        if of_files and source is not None and source.name == "COMMANDLINE":
            raise ValueError(f"{parameter.opts[0]} must not be given without files of outputs")


def _print(found: Plan) -> None:
    from simstudy.planning.page import design_rows, predicted_rows, size_rows

    for said in found.sentences:
        print_line(said)
    print_table(f"Test sets of other sizes (power {found.asked.power:g})", size_rows(found).text())
    if len(found.predicted):
        print_table(
            "What test sets of so many units will show of these systems (80 % prediction intervals)",
            predicted_rows(found).text(),
        )
    if len(found.designs):
        print_table("Fewer or more items a unit", design_rows(found).text())
    if found.simulated is not None:
        print()
        print_line(found.simulated.text())
    print()
    for said in found.assumptions:
        print_line(f"Assumed: {said}")
    for said in found.notes:
        print_line(f"Note: {said}")
