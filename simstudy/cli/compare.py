"""`simstudy compare`: system outputs in files, every pair tested, and what came out for people or for machines."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simstudy.cli.errors import by_options, say
from simstudy.cli.terminal import print_facts, print_line, print_table, print_written
from simstudy.cli.usage import mapping, plain
from simstudy.plain_text import shown

if TYPE_CHECKING:
    from simstudy.examination import Examination
    from simstudy.loaders.base import Loaded

# Rows that a terminal shows of a table of pairs; --out and --json have all.
_MOST_ROWS = 40


def compare(
    context: typer.Context,
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files of system outputs, or folders of them.")
    ],
    metric: Annotated[
        str,
        typer.Option(
            help="bleu, chrf, rouge1, aer, las, span_f1, accuracy, mean, ap, …; module:function for one of your own."
        ),
    ],
    references: Annotated[
        list[Path] | None, typer.Option(help="File of gold answers; more than once for several references.")
    ] = None,
    systems: Annotated[
        Path | None, typer.Option(help="CSV with a row for each system: system, group, family, …")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Column of the systems table for relation classes (default: group or family).")
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(
            help="CSV with a row for each item, in their order or with ids: domain, cluster (or doc, user, repo, …), …"
        ),
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="The files' columns under our names: item=instance_id,score=resolved.")
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            help="scores, text, conll, conllu, trees, alignments, trec, lm-eval, inspect, candidates "
            "(default: as names tell)."
        ),
    ] = None,
    missing: Annotated[str, typer.Option(help="Items that a system lacks: error, drop or zero.")] = "error",
    ties: Annotated[
        str, typer.Option(help="Candidates with equal scores: jitter (at random, by --seed) or keep.")
    ] = "jitter",
    duplicates: Annotated[str, typer.Option(help="Near-duplicate systems: keep or drop.")] = "keep",
    tokenize: Annotated[str | None, typer.Option(help="sacrebleu's tokenizer for BLEU, such as zh.")] = None,
    lowercase: Annotated[bool, typer.Option(help="Lower-case texts first.")] = False,
    domain: Annotated[str | None, typer.Option(help="Only the items of this domain.")] = None,
    lower_is_better: Annotated[
        bool | None,
        typer.Option(
            "--lower-is-better/--higher-is-better",
            help="What is better of scores under --metric mean (default: higher, with a note where they are called "
            "wer, error, loss, …).",
        ),
    ] = None,
    test: Annotated[
        str, typer.Option(help="sign_flips, skew_corrected, bootstrap, randomization, t_paired, mcnemar, …")
    ] = "sign_flips",
    resamples: Annotated[int | None, typer.Option(help="Resamples (default: the test's or the convention's).")] = None,
    seed: Annotated[
        int, typer.Option(help="Of the resamples, of intervals that draw systems, and of the jitter that breaks ties.")
    ] = 0,
    alternative: Annotated[str | None, typer.Option(help="two-sided (the default) or greater (one-sided).")] = None,
    convention: Annotated[
        str, typer.Option(help="How resamples are counted: default, sacrebleu, bk2012, …")
    ] = "default",
    unit: Annotated[
        str | None,
        typer.Option(help="What is drawn as a whole: item, or a column of the items (default: cluster, if any)."),
    ] = None,
    strata: Annotated[str | None, typer.Option(help="Column of the items whose values keep their numbers.")] = None,
    alpha: Annotated[float, typer.Option(help="The level of significance.")] = 0.05,
    margin: Annotated[
        float | None,
        typer.Option(help="The smallest gain that would matter: is a system not worse, are two equivalent?"),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for tables, figures and a page.")] = None,
    print_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    fail_unless_better: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="Exit with 1 unless A is better than B and significantly so."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Threads; -1 for all cores.")] = -1,
    max_size: Annotated[
        str | None,
        typer.Option(help="What a packed file may unpack to: 4G, none (default: SIMSTUDY_MAX_SIZE, or 1G)."),
    ] = None,
) -> None:
    """Compare systems whose outputs are in files: every pair, with p-values, groups and the gain that is significant.

    For two systems it prints one verdict. Examples:

    simstudy compare old.txt new.txt --metric bleu --references ref.txt

    simstudy compare submissions/ --metric bleu --references ref.A.en --systems systems.csv --by group --out report

    simstudy compare results.csv --metric accuracy --columns item=instance_id,score=resolved,domain=repo

    simstudy compare asr.csv --metric mean --columns score=wer --lower-is-better

    simstudy compare candidates.csv --metric precision@500 --columns gold=is_collocation --ties keep
    """
    settings = {name: plain(value) for name, value in locals().items() if name != "context"}

    from simstudy.cli.user_metric import metric_named
    from simstudy.loaders.formats import load
    from simstudy.loaders.reading import reading

    # What a metric of the user's own prints is no part of our output, which may be JSON.
    with reading() as read, redirect_stdout(sys.stderr):
        loaded = load(
            paths,
            metric_named(metric, lower_is_better),
            references=references or (),
            format=format,
            items=items,
            systems=systems,
            columns=mapping(columns),
            missing=missing,
            tokenize=tokenize,
            lowercase=lowercase,
            ties=ties,
            seed=seed,
            domain=domain,
            lower_is_better=lower_is_better,
            max_size=max_size,
        )
    loaded = replace(loaded, notes=tuple(by_options(note, context.command.params) for note in loaded.notes))
    options = {
        "test": test,
        "n_resamples": resamples,
        "seed": seed,
        "alternative": alternative,
        "convention": convention,
        "unit": unit,
        "strata": strata,
        "n_jobs": jobs,
    }
    # What can be wrong is said before minutes of resampling.
    _check_systems(loaded, fail_unless_better)
    if fail_unless_better and lower_is_better is None:
        _check_direction(loaded)
    if out is not None:
        _check_out(out, [*paths, *(references or []), *filter(None, (systems, items))])
    how = {"by": relation_column(by, systems, loaded), "duplicates": duplicates, "alpha": alpha, "margin": margin}
    found = _examine(loaded, options, **how)
    if out is not None:
        _write(found, out, settings, {str(path): digest for path, digest in sorted(read.hashes.items())})
    if print_json:
        from simstudy.examination.json import as_json

        for piece in as_json(found, settings):
            print(piece, end="")
        print()
    else:
        _print(found, out)
    if fail_unless_better and not _is_better(found, fail_unless_better, alpha):
        a, b = fail_unless_better
        say(f"{shown(a)} is not significantly better than {shown(b)} at {alpha:g}")
        raise typer.Exit(1)


def relation_column(by: str | None, systems: Path | None, loaded: Loaded) -> str | None:
    """What relation classes come from: what was asked for, else the group or family of the systems table."""
    from simstudy.validation import nearest

    if by is not None and systems is None:
        raise ValueError(f"--by needs a systems table (--systems) with a column '{by}'")
    table = loaded.outputs.systems
    known = [str(name) for name in table if name != "name" and table[name].notna().any()]
    if by is None:
        own = "group" if "group" in known else "family"
        return own if systems is not None and (table[own] != table["name"]).any() else None
    if by in known:
        return by
    raise ValueError(f"{systems}: no column '{by}' with values among {', '.join(known)}{nearest(by, known)}")


def _examine(loaded: Loaded, options: dict[str, Any], **how: Any) -> Examination:
    from simstudy.engines.asking import resamples_to_draw
    from simstudy.examination import examine
    from simstudy.progress import progress_bar

    total = resamples_to_draw(options["test"], options["convention"], options["n_resamples"])
    shown = progress_bar("comparing systems", total) if total and sys.stderr.isatty() else nullcontext()
    with shown as advance, redirect_stdout(sys.stderr):
        return examine(loaded, comparison={**options, "progress": advance}, **how)


def _check_systems(loaded: Loaded, asked: tuple[str, str] | None) -> None:
    """Raise a ValueError where there are not two systems, or not those of --fail-unless-better."""
    from simstudy.validation import nearest

    names = loaded.outputs.names
    if len(names) < 2:
        raise ValueError(f"at least two systems are needed to compare, but there is only '{names[0]}'")
    for name in asked or ():
        if name not in names:
            listed = ", ".join([*names[:8], "…"] if len(names) > 8 else names)
            raise ValueError(f"--fail-unless-better: no system '{name}' among {listed}{nearest(name, names)}")
    if asked and asked[0] == asked[1]:
        raise ValueError(f"--fail-unless-better must name two different systems, not '{asked[0]}' twice")


def _check_direction(loaded: Loaded) -> None:
    """Raise a ValueError where the scores sound like errors and no direction was given: a gate's notes are not read."""
    from simstudy.loaders.direction import doubt

    if in_doubt := doubt(loaded):
        raise ValueError(f"--fail-unless-better: {in_doubt}")


def _check_out(out: Path, inputs: Sequence[Path]) -> None:
    """Raise a ValueError where the folder holds anything but an earlier comparison."""
    from simstudy.examination.page import RESULTS_OF
    from simstudy.results_folder import require_own

    for path in inputs:
        if out.resolve() in (path.resolve(), path.resolve().parent):
            raise ValueError(f"out must be a folder of its own, but {out} holds the input {path}")
    require_own(out, RESULTS_OF)


def _is_better(found: Examination, names: Sequence[str], alpha: float) -> bool:
    from simstudy.decisions import Decision

    dropped = [name for name in names if name not in found.outputs.names]
    if dropped:
        raise ValueError(f"--fail-unless-better: system '{dropped[0]}' was dropped as a near-duplicate")
    better = found.pairs[(found.pairs["system_a"] == names[0]) & (found.pairs["system_b"] == names[1])]
    return bool(Decision(alpha).significant(better).any())


def _write(found: Examination, out: Path, settings: dict[str, Any], files: dict[str, str]) -> None:
    from simstudy.examination import page
    from simstudy.metrics import label

    of = f" on {found.outputs.test_set}" if found.outputs.test_set else ""
    page.write(
        found,
        out,
        title=f"{found.outputs.n_systems} systems compared by {label(found.outputs.metric.name)}{of}",
        command=f"simstudy {shlex.join(sys.argv[1:])}",
        settings=settings,
        files=files,
    )


def _print(found: Examination, out: Path | None) -> None:
    from simstudy.analyses.signature import signature
    from simstudy.examination import page

    if found.verdict is not None:
        for line in found.verdict.splitlines():
            print_line(line)
    else:
        print_facts({name: value for name, value in page.facts(found).items() if name != "Note"})
    for note in found.notes:
        print_line(f"Note: {note}")
    if found.verdict is None:
        print_table(
            "Systems; their places hold for all at once; those of one group do not differ significantly (Holm)",
            page.ranking(found).text(),
        )
        title, rows = page.pair_rows(found, _MOST_ROWS)
        print_table(title, rows.text())
        print_table("Gain that is significant on this test set (95 % interval)", page.threshold_rows(found).text())
    else:
        print_facts({"Signature": signature(found.pairs)})
    if out is not None:
        print_written(out)
