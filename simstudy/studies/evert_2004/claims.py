"""Each sentence of the paper about its figures and numbers, beside what comes out here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from simstudy.pvalues import clopper_pearson
from simstudy.studies.evert_2004.definition import PAIR, Evert2004, Printed

# The threshold of Church et al. 1991 for t, and its nominal level (footnote 8).
_CHURCH = "1.65"
_CHURCH_LEVEL = 0.05

# The end of a range of n is known from a figure to about this.
_GRID = 50


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and what comes out.

    Attributes
    ----------
    section
        Of the paper.
    claim
        In short.
    paper, here
        What it prints or says, and what was computed.
    holds
        "yes", "no", "in part", or "nothing claimed" of a number that no sentence is about.
    """

    section: str
    claim: str
    paper: str
    here: str
    holds: str


def claims(curves: pd.DataFrame, differences: pd.DataFrame, tie_seeds: pd.DataFrame, study: Evert2004) -> pd.DataFrame:
    """Every claim that can be checked, in the paper's order.

    Parameters
    ----------
    curves
        Precision curves of the rankings of figure 1, over the lengths that it shows.
    differences
        All pairs of them, over the same lengths.
    tie_seeds
        How far figure 3's pair differs, for other ways to break ties.
    """
    found = [
        *_figure_1(curves, differences, study),
        *_section_2(),
        *_figures_2_and_3(curves, differences, tie_seeds, study),
        *_section_4(study.printed),
    ]
    return pd.DataFrame([vars(claim) for claim in found])


def _figure_1(curves: pd.DataFrame, differences: pd.DataFrame, study: Evert2004) -> Iterator[Claim]:
    printed, (first, third) = study.printed, PAIR
    precision = curves.pivot(index="n", columns="ranking", values="precision")
    baseline = f"{curves['baseline'].iloc[0]:.2%}".replace("%", " %")
    yield Claim("1", "baseline precision", printed.baseline, baseline, _holds(baseline == printed.baseline))
    best = np.sort(precision.drop(columns=[first, "t_score"]).to_numpy(), axis=1)[:, -1]
    ahead = precision[[first, "t_score"]].min(axis=1) >= best
    yield Claim(
        "1",
        "G2 and t are the most useful",
        f"n = {study.figures.n_from} - {study.figures.n_to:,}",
        f"both at least as precise as X2 and f for {_lengths(ahead)}",
        _holds(ahead.all(), ahead.any()),
    )
    near = printed.t_ahead_near
    p = _p_values(differences, first, "t_score")
    t_ahead = precision["t_score"] > precision[first]
    around = t_ahead[(t_ahead.index >= near - 50) & (t_ahead.index <= near + 50)]
    yield Claim(
        "1",
        "t is marginally better than G2",
        f"n near {near:,}",
        f"{precision['t_score'][near]:.1%} and {precision[first][near]:.1%} at {near:,} (p = {p[near]:.2f}); ahead for "
        f"{_lengths(t_ahead)}",
        _holds(around.all(), around.any()),
    )
    late = precision.index >= printed.first_ahead_from
    first_ahead = (precision[first] > precision["t_score"])[late]
    yield Claim(
        "1",
        "G2 is marginally better than t",
        f"n >= {printed.first_ahead_from:,}",
        f"ahead for {_lengths(first_ahead)}; p from {p[late].max():.2f} to {p[late].min():.2g}",
        _holds(first_ahead.all(), first_ahead.any()),
    )
    gains = precision[[first, "t_score"]].sub(precision["frequency"], axis=0)
    p = pd.concat([_p_values(differences, name, "frequency") for name in (first, "t_score")], axis=1).max(axis=1)
    yield Claim(
        "1",
        "both are by far superior to frequency",
        "figure 1",
        f"by {100 * gains.min().min():.1f} to {100 * gains.max().max():.1f} points; both significantly for "
        f"{_lengths(p <= study.alpha)}",
        _holds(gains.min().min() > 0 and (p <= study.alpha).mean() > 0.95, gains.min().min() > 0),
    )
    over = precision[first] > precision[third]
    yield Claim(
        "1", "G2 is better than X2 (Dunning)", "figure 1", f"ahead for {_lengths(over)}", _holds(over.all(), over.any())
    )


def _section_2() -> Iterator[Claim]:
    gamma = stats.norm.isf(_CHURCH_LEVEL)
    yield Claim(
        "2, note 8",
        f"t threshold of nominal level {_CHURCH_LEVEL:g}",
        _CHURCH,
        f"{gamma:.3f}",
        _holds(abs(gamma - float(_CHURCH)) < 0.01),
    )


def _figures_2_and_3(
    curves: pd.DataFrame, differences: pd.DataFrame, tie_seeds: pd.DataFrame, study: Evert2004
) -> Iterator[Claim]:
    printed, (first, second) = study.printed, PAIR
    low, high = clopper_pearson(printed.interval_true, printed.interval_of)
    interval = f"{low:.1%} to {high:.1%}".replace("%", " %")
    yield Claim(
        "3.2",
        f"95 % interval of {printed.interval_true} of {printed.interval_of}",
        printed.interval,
        interval,
        _holds(interval == printed.interval),
    )
    a, b = (curves[curves["ranking"] == name].set_index("n") for name in (first, second))
    shown = sorted({study.figures.n_from, printed.t_ahead_near, study.figures.n_to})
    widths = {n: 100 * float(a["high"][n] - a["low"][n]) / 2 for n in shown}
    yield Claim(
        "3.2",
        "a repetition may give quite another precision, above all for n < 1,000",
        "figure 2",
        ", ".join(f"+-{width:.1f} points at {n:,}" for n, width in widths.items()),
        "nothing claimed",
    )
    above = pd.concat([a["low"], b["low"]], axis=1).min(axis=1) > a["baseline"]
    yield Claim(
        "3.2",
        "G2 and X2 are both substantially above the baseline",
        "figure 2",
        f"intervals above it for {_lengths(above)}",
        _holds(above.all(), above.any()),
    )
    overlap = (a["low"] <= b["high"]) & (b["low"] <= a["high"])
    gap = (a["low"] - b["high"]).max()
    apart = f"; not for {_lengths(~overlap)}, by {100 * gap:.1f} points at most" if not overlap.all() else ""
    yield Claim(
        "3.3",
        "intervals of G2 and X2 overlap",
        "for all n",
        f"for {_lengths(overlap)}{apart}",
        _holds(overlap.all(), overlap.any()),
    )
    significant = _p_values(differences, first, second) <= study.alpha
    here = up_to(significant)
    ways = tie_seeds[tie_seeds["ties"] == "jitter"]["significant_up_to"]
    yield Claim(
        "3.3",
        "G2 and X2 differ significantly",
        f"up to n = {printed.significant_up_to:,}",
        f"up to {here:,} ({ways.min():,} to {ways.max():,} for other ways to break ties); in all for "
        f"{_lengths(significant)}",
        _holds(abs(here - printed.significant_up_to) < _GRID, here > printed.significant_up_to),
    )


def _section_4(printed: Printed) -> Iterator[Claim]:
    for name, s in printed.sd_observed.items():
        sigma = printed.sd_expected[name]
        chi2 = (printed.n_sets - 1) * (s / sigma) ** 2
        p = float(stats.chi2.sf(chi2, printed.n_sets - 1))
        yield Claim(
            "4",
            f"{_SYMBOLS.get(name, name)}: s is 20 % to 40 % larger than expected",
            f"{s:g} against {sigma:g}",
            f"{s / sigma - 1:.0%} larger",
            _holds(1.195 <= s / sigma < 1.405),
        )
        yield Claim(
            "4",
            f"{_SYMBOLS.get(name, name)}: no test rejects the binomial",
            "Kolmogorov, no p-value printed",
            f"so large a variance of {printed.n_sets} normal precisions has p = {p:.1g} (chi-square)",
            _holds(p > 0.05),
        )
    for name, missed in printed.missed.items():
        p = float(stats.binomtest(missed, printed.n_sets, 0.05, alternative="greater").pvalue)
        highlighted = missed == max(printed.missed.values())
        yield Claim(
            "4",
            f"{_SYMBOLS.get(name, name)}: intervals that miss",
            f"{missed} of {printed.n_sets}" + (", p < .001" if highlighted else ""),
            f"p = {p:.2g} (binomial, at least so many)",
            _holds(p < 0.001) if highlighted else "nothing claimed",
        )


_SYMBOLS = {"log_likelihood": "G2", "chi_squared": "X2", "t_score": "t"}


def up_to(significant: pd.Series[bool]) -> int:
    """The last n of the run of significant ones with which a range of n begins; 0 where the first is not.

    Examples
    --------
    >>> up_to(pd.Series([True, True, False, True], index=[100, 101, 102, 103]))
    101
    """
    run = significant.to_numpy().cumprod().astype(bool)
    return int(significant.index[run][-1]) if run.any() else 0


def _p_values(differences: pd.DataFrame, one: str, other: str) -> pd.Series[float]:
    """p-values over n of a pair, in whichever order the table has it."""
    pair = differences[["ranking_1", "ranking_2"]].isin([one, other]).all(axis=1)
    return differences[pair].set_index("n")["p_value"]


def _lengths(which: pd.Series[bool]) -> str:
    """The n for which something is so, as ranges in words: the three longest."""
    if which.all():
        return f"all n from {which.index[0]:,} to {which.index[-1]:,}"
    if not which.any():
        return "no n"
    inside = np.diff(np.r_[0, which.to_numpy().astype(int), 0])
    starts, ends = np.flatnonzero(inside == 1), np.flatnonzero(inside == -1) - 1
    longest = sorted(np.argsort(starts - ends, kind="stable")[:3])
    ranges = [
        f"{which.index[starts[k]]:,} - {which.index[ends[k]]:,}"
        if ends[k] > starts[k]
        else f"{which.index[starts[k]]:,}"
        for k in longest
    ]
    more = f" and {len(starts) - 3} shorter ranges" if len(starts) > 3 else ""
    return f"n = {', '.join(ranges)}{more} ({which.mean():.0%} of all)"


def _holds(whole: object, part: object = False) -> str:
    return "yes" if whole else "in part" if part else "no"
