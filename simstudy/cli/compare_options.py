"""The options of `simstudy compare` on how pairs are tested, and on what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from simstudy.cli.terminal import Output
from simstudy.files.whole import is_html
from simstudy.planning.settings import option
from simstudy.validation import InputError


@dataclass(frozen=True)
class HowTested:
    """How pairs of systems are tested."""

    test: str | None = option(
        None,
        "sign_flips (the default), skew_corrected, bootstrap (the default for auc, median, pearson, spearman), "
        "randomization, t_paired, mcnemar, …",
    )
    resamples: int | None = option(
        None, "Number of resamples of bootstrap and randomization. The default test needs none."
    )
    seed: int = option(0, "Seed of resamples, of intervals of ranks and of --ties jitter.")
    alternative: str | None = option(None, "two-sided (default) or greater (one-sided).")
    convention: str = option("default", "Formula of the p-value from resamples: default, sacrebleu, bk2012, …")
    strata: str | None = option(
        None, "Column of the items: bootstrap resamples keep the number of items of each value."
    )
    alpha: float = option(0.05, "Significance level.")
    against: list[str] | None = option(
        None,
        "Only pairs with this system, a baseline or a new one. Repeat the option for further systems. neighbours: each "
        "system with the next one by score. Prints a table of these pairs; there is no page, JSON or gate.",
    )
    margin: float | None = option(
        None, "Smallest gain that matters. Adds tests of non-inferiority and equivalence at this margin."
    )
    jobs: int = option(-1, "Number of threads; -1 for all cores.")

    def settings(self) -> dict[str, Any]:
        """The options of `simstudy.compare`."""
        names = ("test", "seed", "alternative", "convention", "strata")
        return {**{name: getattr(self, name) for name in names}, "n_resamples": self.resamples, "n_jobs": self.jobs}


@dataclass(frozen=True)
class ComparedOutput(Output):
    """The place of the outcome, and the baseline of its tables for a paper."""

    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR|FILE.html|FILE.parquet",
            help="Write tables, figures and pages to this folder, everything as one HTML file, or only the table of "
            "pairs as a Parquet file.",
        ),
    ] = None

    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="SYSTEM",
            help="For a paper, three or more systems: marks compare with this system, chosen before the results were "
            "seen (default: with the best one). Needs --latex, --markdown or --out with a folder.",
        ),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.baseline is not None and not self.for_a_paper and (self.out is None or is_html(self.out)):
            raise InputError("--baseline needs --latex, --markdown or a folder: it is for tables of a paper")

    @property
    def analyses(self) -> dict[str, object]:
        """The options that ask for more than a table of pairs."""
        return {
            "--json": self.print_json, "--latex": self.latex, "--markdown": self.markdown, "--figures": self.figures,
            "--baseline": self.baseline,
        }  # fmt: skip
