"""Each sentence and number that the paper prints, beside what comes out."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from simstudy.studies import clopper_pearson

# The rankings of figure 1, G2, t, X2 and f; the pair of figures 2 and 3; and what the paper calls them.
RANKINGS = ("log_likelihood", "t_score", "chi_squared", "frequency")
PAIR = ("log_likelihood", "chi_squared")
SYMBOLS = {"log_likelihood": "G2", "chi_squared": "X2", "t_score": "t"}

# What the paper prints. Section 1: the baseline, and which is marginally the better near or from which n on.
BASELINE, T_AHEAD_NEAR, FIRST_AHEAD_FROM = "11.09 %", 800, 1500
# Note 8: the threshold of Church et al. 1991 for t, and its nominal level.
CHURCH, CHURCH_LEVEL = 1.65, 0.05
# Section 3.2: the interval of 200 of 500. Section 3.3, figure 3: up to which n the pair differs.
INTERVAL, INTERVAL_OF, SIGNIFICANT_UP_TO = "35.7 % to 44.4 %", (200, 500), 1250
# Section 4: the observed and the expected standard deviation of 80 precisions, and how many intervals miss the mean.
N_SETS = 80
SD = {"log_likelihood": (0.057, 0.044), "t_score": (0.066, 0.047)}
MISSED = {"log_likelihood": 9, "chi_squared": 9, "t_score": 12}

# The end of a range of n is known from a figure to about so many.
GRID = 50


def up_to(significant: pd.Series[bool]) -> int:
    """The last n of the run of significant ones with which a range of n begins; 0 where the first is not."""
    run = significant.to_numpy().cumprod().astype(bool)
    return int(significant.index[run][-1]) if run.any() else 0


def claims(curves: pd.DataFrame, differences: pd.DataFrame, ties: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Each sentence of the paper about its figures and numbers, beside what comes out here, in the paper's order."""
    found: list[tuple[str, str, str, str, str]] = []

    def claim(section: str, text: str, paper: str, here: str, whole: object, part: object = False) -> None:
        found.append((section, text, paper, here, "yes" if whole else "in part" if part else "no"))

    def over_n(section: str, text: str, paper: str, here: str, which: pd.Series[bool], more: str = "") -> None:
        claim(section, text, paper, f"{here} {in_ranges(which)}{more}", which.all(), which.any())

    first, second = PAIR
    precision = curves.pivot(index="n", columns="ranking", values="precision")
    n_from, n_to = precision.index[0], precision.index[-1]
    baseline = f"{curves['baseline'].iloc[0]:.2%}".replace("%", " %")
    claim("1", "baseline precision", BASELINE, baseline, baseline == BASELINE)
    best = precision.drop(columns=[first, "t_score"]).max(axis=1)
    ahead = precision[[first, "t_score"]].min(axis=1) >= best
    where = f"n = {n_from} - {n_to:,}"
    over_n("1", "G2 and t are the most useful", where, "both at least as precise as X2 and f for", ahead)
    near, p = T_AHEAD_NEAR, p_values(differences, first, "t_score")
    t_ahead = precision["t_score"] > precision[first]
    around = t_ahead.loc[near - 50 : near + 50]
    of_near = f"{precision['t_score'][near]:.1%} and {precision[first][near]:.1%} at {near:,} (p = {p[near]:.2f})"
    here = f"{of_near}; ahead for {in_ranges(t_ahead)}"
    claim("1", "t is marginally better than G2", f"n near {near:,}", here, around.all(), around.any())
    late = p.loc[FIRST_AHEAD_FROM:]
    first_ahead = (precision[first] > precision["t_score"]).loc[FIRST_AHEAD_FROM:]
    more = f"; p from {late.max():.2f} to {late.min():.2g}"
    over_n("1", "G2 is marginally better than t", f"n >= {FIRST_AHEAD_FROM:,}", "ahead for", first_ahead, more)
    gains = 100 * precision[[first, "t_score"]].sub(precision["frequency"], axis=0).to_numpy()
    both = pd.concat([p_values(differences, name, "frequency") for name in (first, "t_score")], axis=1).max(axis=1)
    least, most, significant = gains.min(), gains.max(), both <= alpha
    here = f"by {least:.1f} to {most:.1f} points; both significantly for {in_ranges(significant)}"
    superior = least > 0 and significant.mean() > 0.95
    claim("1", "both are by far superior to frequency", "figure 1", here, superior, least > 0)
    over_n("1", "G2 is better than X2 (Dunning)", "figure 1", "ahead for", precision[first] > precision[second])

    gamma = stats.norm.isf(CHURCH_LEVEL)
    text = f"t threshold of nominal level {CHURCH_LEVEL:g}"
    claim("2, note 8", text, f"{CHURCH:g}", f"{gamma:.3f}", abs(gamma - CHURCH) < 0.01)

    interval = "{:.1%} to {:.1%}".format(*clopper_pearson(*INTERVAL_OF)).replace("%", " %")
    claim("3.2", "95 % interval of {} of {}".format(*INTERVAL_OF), INTERVAL, interval, interval == INTERVAL)
    a, b = (curves[curves["ranking"] == name].set_index("n") for name in PAIR)
    widths = {n: 50 * float(a["high"][n] - a["low"][n]) for n in sorted({n_from, near, n_to})}
    here = ", ".join(f"+-{width:.1f} points at {n:,}" for n, width in widths.items())
    text = "a repetition may give quite another precision, above all for n < 1,000"
    found.append(("3.2", text, "figure 2", here, "nothing claimed"))
    above = (a["low"] > a["baseline"]) & (b["low"] > a["baseline"])
    over_n("3.2", "G2 and X2 are both substantially above the baseline", "figure 2", "intervals above it for", above)
    overlap = (a["low"] <= b["high"]) & (b["low"] <= a["high"])
    gap = 100 * (a["low"] - b["high"]).max()
    apart = "" if overlap.all() else f"; not for {in_ranges(~overlap)}, by {gap:.1f} points at most"
    over_n("3.3", "intervals of G2 and X2 overlap", "for all n", "for", overlap, apart)
    significant = p_values(differences, first, second) <= alpha
    last, ways = up_to(significant), ties.loc[ties["ties"] == "jitter", "significant_up_to"]
    here = f"up to {last:,} ({ways.min():,} to {ways.max():,} for other ways to break ties); in all for "
    paper, close = f"up to n = {SIGNIFICANT_UP_TO:,}", abs(last - SIGNIFICANT_UP_TO) < GRID
    text = "G2 and X2 differ significantly"
    claim("3.3", text, paper, here + in_ranges(significant), close, last > SIGNIFICANT_UP_TO)

    for name, (s, sigma) in SD.items():
        chance = float(stats.chi2.sf((N_SETS - 1) * (s / sigma) ** 2, N_SETS - 1))
        text, here = f"{SYMBOLS[name]}: s is 20 % to 40 % larger than expected", f"{s / sigma - 1:.0%} larger"
        claim("4", text, f"{s:g} against {sigma:g}", here, 1.195 <= s / sigma < 1.405)
        here = f"so large a variance of {N_SETS} normal precisions has p = {chance:.1g} (chi-square)"
        text = f"{SYMBOLS[name]}: the binomial is not rejected"
        claim("4", text, "by Kolmogorov's test, no p-value printed", here, chance > 0.05)
    for name, missed in MISSED.items():
        chance = float(stats.binomtest(missed, N_SETS, 0.05, alternative="greater").pvalue)
        text, paper = f"{SYMBOLS[name]}: intervals that miss", f"{missed} of {N_SETS}"
        here = f"p = {chance:.2g} (binomial, at least so many)"
        if missed == max(MISSED.values()):
            claim("4", text, f"{paper}, p < .001", here, chance < 0.001)
        else:
            found.append(("4", text, paper, here, "nothing claimed"))
    return pd.DataFrame(found, columns=["section", "claim", "paper", "here", "holds"])


def p_values(differences: pd.DataFrame, one: str, other: str) -> pd.Series[float]:
    """p-values over n of a pair, in whichever order the table has it."""
    pair = differences[["ranking_1", "ranking_2"]].isin([one, other]).all(axis=1)
    return differences[pair].set_index("n")["p_value"]


def in_ranges(which: pd.Series[bool]) -> str:
    """The n for which something is so, as ranges in words: the three longest."""
    if which.all():
        return f"all n from {which.index[0]:,} to {which.index[-1]:,}"
    if not which.any():
        return "no n"
    inside = np.diff(np.r_[0, which.to_numpy().astype(int), 0])
    starts, ends = np.flatnonzero(inside == 1), np.flatnonzero(inside == -1) - 1
    longest = sorted(np.argsort(starts - ends, kind="stable")[:3])
    ranges = [" - ".join(dict.fromkeys(f"{which.index[k]:,}" for k in (starts[i], ends[i]))) for i in longest]
    more = f" and {len(starts) - 3} shorter range{'s' * (len(starts) > 4)}" if len(starts) > 3 else ""
    return f"n = {', '.join(ranges)}{more} ({which.mean():.0%} of all)"
