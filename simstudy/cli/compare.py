"""`simstudy compare`: system outputs in files, every pair tested, and what came out for people or for machines."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simstudy.cli.errors import by_options, say
from simstudy.cli.files import HEADING, Files
from simstudy.cli.options import grouped, settings_of
from simstudy.cli.several_tasks import SeveralTasks, with_tasks
from simstudy.cli.terminal import Output, print_written, printer, write_page
from simstudy.planning.settings import option
from simstudy.text.plain_text import shown

if TYPE_CHECKING:
    from simstudy.examination import Examination
    from simstudy.loaders.base import Loaded
    from simstudy.outputs import TestSet


@dataclass(frozen=True)
class SomeFormats:
    """How files of some formats are read."""

    ties: str = option("jitter", "Candidates with equal scores: jitter (at random, by --seed) or keep.")
    tokenize: str | None = option(None, "sacrebleu's tokenizer for BLEU, such as zh.")
    lowercase: bool = option(False, "Lower-case texts first.")
    max_size: str | None = option(
        None, "Largest size to which a packed file may unpack: 4G, none (default: SIMSTUDY_MAX_SIZE, or 1G)."
    )


@dataclass(frozen=True)
class HowTested:
    """How pairs of systems are tested."""

    test: str = option("sign_flips", "sign_flips, skew_corrected, bootstrap, randomization, t_paired, mcnemar, …")
    resamples: int | None = option(None, "Resamples (default: the test's or the convention's).")
    seed: int = option(0, "Seed of the resamples, of intervals that draw systems, and of the jitter that breaks ties.")
    alternative: str | None = option(None, "two-sided (the default) or greater (one-sided).")
    convention: str = option("default", "The rule by which resamples are counted: default, sacrebleu, bk2012, …")
    strata: str | None = option(None, "Column of the items. Resamples keep the number of items of each value.")
    alpha: float = option(0.05, "The level of significance.")
    margin: float | None = option(
        None,
        "The smallest gain that would matter: tests whether a system is not worse, and whether two are equivalent.",
    )
    jobs: int = option(-1, "Threads; -1 for all cores.")

    def settings(self) -> dict[str, Any]:
        """The options of `simstudy.compare`."""
        names = ("test", "seed", "alternative", "convention", "strata")
        return {**{name: getattr(self, name) for name in names}, "n_resamples": self.resamples, "n_jobs": self.jobs}


@dataclass(frozen=True)
class GatedOutput(Output):
    """Where the outcome goes, and a gate for pipelines."""

    fail_unless_better: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="Exit with code 1 unless A is significantly better than B."),
    ] = None


@grouped
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
    *,
    files: Annotated[Files, HEADING],
    formats: Annotated[SomeFormats, "Files of some formats"],
    how: Annotated[HowTested, "The test"],
    tasks: Annotated[SeveralTasks, "Several tasks"],
    output: Annotated[GatedOutput, "What comes out"],
) -> None:
    """Compare systems whose outputs are in files: which gains are significant, and which systems may be the best.

    Two systems get a verdict, more systems a leaderboard. Examples:

    simstudy compare old.txt new.txt --metric bleu --references ref.txt

    simstudy compare submissions/ --metric bleu --references ref.A.en --systems systems.csv --by group --out report

    simstudy compare results.csv --metric accuracy --columns item=instance_id,score=resolved,domain=repo

    simstudy compare asr.csv --metric mean --columns score=wer --lower-is-better

    simstudy compare logs/ --metric accuracy --average macro

    simstudy compare candidates.csv --metric precision@500 --columns gold=is_collocation --ties keep
    """
    from simstudy.examination.printed import show
    from simstudy.files.unpacking import unpacking_at_most
    from simstudy.loaders.base import Texts, Ties, doubt
    from simstudy.outputs import TestSet

    settings, gate = settings_of(context), output.fail_unless_better
    texts, ties = Texts(formats.tokenize, formats.lowercase), Ties(formats.ties, how.seed)
    with unpacking_at_most(formats.max_size):
        loaded, hashes = files.read(paths, metric, texts=texts, ties=ties)
    notes = tuple(by_options(note, context.command.params) for note in loaded.notes)
    # What can be wrong is said before minutes of resampling; a gate's notes are not read.
    _check_systems(loaded, gate)
    if gate and files.lower_is_better is None and (in_doubt := doubt(loaded)):
        raise ValueError(f"--fail-unless-better: {in_doubt}")
    if output.out is not None:
        _check_out(output.out, [*paths, *(files.references or []), *filter(None, (files.systems, files.items))])
    test_set = TestSet(
        loaded.outputs, files.relation(loaded) or (), files.unit, how.settings(),
        duplicates=files.duplicates, notes=notes,
    )  # fmt: skip
    found = with_tasks(replace(_examine(test_set, how), files=hashes), tasks, how, paths)
    write_page(found, output.out, settings)
    if output.print_json:
        _print_json(found, settings)
    else:
        show(found, printer, verbose=output.verbose)
        print_written(output.out)
    if gate and not _is_better(found, gate, how.alpha):
        a, b = gate
        say(f"{shown(a)} is not significantly better than {shown(b)} at {how.alpha:g}")
        raise typer.Exit(1)


def _examine(test_set: TestSet, how: HowTested) -> Examination:
    from simstudy.engines.asking import resamples_to_draw
    from simstudy.examination import examine
    from simstudy.running.progress import progress_bar

    total = resamples_to_draw(how.test, how.convention, how.resamples)
    shown = progress_bar("comparing systems", total) if total and sys.stderr.isatty() else nullcontext()
    with shown as advance, redirect_stdout(sys.stderr):
        return examine(test_set, alpha=how.alpha, margin=how.margin, comparison={"progress": advance})


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


def _check_out(out: Path, inputs: Sequence[Path]) -> None:
    """Raise a ValueError where the folder holds anything but an earlier comparison."""
    from simstudy.examination.page import RESULTS_OF
    from simstudy.running.results_folder import require_own

    for path in inputs:
        if out.resolve() in (path.resolve(), path.resolve().parent):
            raise ValueError(f"out must be a folder of its own, but {out} holds the input {path}")
    require_own(out, RESULTS_OF)


def _is_better(found: Examination, names: Sequence[str], alpha: float) -> bool:
    from simstudy.statistics.decisions import Decision

    dropped = [name for name in names if name not in found.outputs.names]
    if dropped:
        raise ValueError(f"--fail-unless-better: system '{dropped[0]}' was dropped as a near-duplicate")
    if found.tasks is not None:
        return found.tasks.is_better(names[0], names[1])
    better = found.pairs.frame.query("system_a == @names[0] and system_b == @names[1]")
    return bool(Decision(alpha).significant(better).any())


def _print_json(found: Examination, settings: dict[str, Any]) -> None:
    from simstudy.examination.json import as_json

    for piece in as_json(found, settings):
        print(piece, end="")
    print()
