"""The folder of one comparison for people: tables, figures, and a page that begins with what came out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy import figures, report
from simstudy.analyses.classes import ALL_PAIRS
from simstudy.analyses.significant_gains import EVERY_PAIR, IN_DOUBT
from simstudy.engines.registry import TESTS
from simstudy.loaders.base import counted
from simstudy.metrics import label
from simstudy.natural.examination import Examination
from simstudy.natural.verdict import as_number, equals
from simstudy.plain_text import line, shown
from simstudy.report import InOrder, Section, save_figure
from simstudy.results_folder import results_folder

# More systems make no picture of a matrix or of groups.
_MOST_SYSTEMS = 60
# Rows of a table that a page shows; the CSV has all.
_MOST_ROWS = 50

_TWO_SIDED = "p-values are two-sided."
_ONE_SIDED = (
    "p-values are one-sided: they are for those who said beforehand which system is the better. Where the data say so, "
    "as in a table of all pairs, two equally good systems have p <= 0.05 one time in ten."
)


def closing(found: Examination) -> str:
    """How the numbers of a page are to be read."""
    two_sided = found.pairs["alternative"].iloc[0] == "two-sided"
    return (
        f"{_TWO_SIDED if two_sided else _ONE_SIDED} p_value is not corrected for the number of pairs; p_holm and p_bh "
        "are, for all pairs of this table (Holm; Benjamini and Hochberg). p_low and p_high are the 95 % interval for "
        "the Monte Carlo error of p_value; exact says whether the test holds its level exactly under its null "
        "hypothesis. "
        "gain_low and gain_high are the 95 % interval of one gain, not corrected either. Gains are on the metric's "
        "scale."
    )


#: What a comparison's folder of results is of.
RESULTS_OF = "a comparison"


def write(
    found: Examination,
    out: Path,
    *,
    title: str,
    command: str,
    alpha: float,
    settings: Mapping[str, Any],
    files: Mapping[str, str],
) -> None:
    """Write tables, figures, page and manifest of one comparison to a folder of its own."""
    with results_folder(out, RESULTS_OF) as results:
        report.write_results(
            results,
            title=title,
            question="Which of these systems are better than others, and how large must a gain be here to tell?",
            command=command,
            facts=facts(found),
            sections=_sections(found, results.gathered, alpha),
            tables=_tables(found),
            closing=closing(found),
            settings={"comparison": dict(settings)},
            data={"files": dict(files)},
            seconds={},
        )


def facts(found: Examination) -> dict[str, str]:
    """What was compared and how."""
    one = found.pairs.iloc[0]
    drawn = found.pairs.loc[found.pairs["monte_carlo"], "n_resamples"]
    share = found.pairs["monte_carlo"].mean()
    how = "no Monte Carlo error" if drawn.empty else f"{drawn.max():,} resamples for {share:.0%} of the p-values"
    sides = "two-sided" if one.alternative == "two-sided" else "one-sided"
    exact = "exact" if found.pairs["exact"].all() else "partly exact" if found.pairs["exact"].any() else "approximate"
    units = "" if one.unit == "item" else f"; {one.n_units:,} units ({shown(one.unit)}) are taken as wholes"
    convention = "" if one.convention == "default" else f", convention {one.convention}"
    test = TESTS[one.test]
    listed = {
        "Systems": f"{found.outputs.n_systems:,} ({counted(len(found.pairs), 'pair')})",
        "Items": f"{found.outputs.n_items:,}{units}",
        "Metric": label(str(one.metric)),
        "Test": f"{test.title} ({one.test}), {sides}, {exact}, {how}{convention}",
        "Null hypothesis": f"{test.null}",
    }
    return listed | ({"Note": "; ".join(map(line, found.notes))} if found.notes else {})


def ranking(found: Examination) -> pd.DataFrame:
    """Systems, best first, with the intervals of their scores, the places they may have, and their groups, as text."""
    rows = found.leaderboard
    groups = found.groups.groupby("system")["group"].agg(lambda numbers: " ".join(map(str, numbers)))
    number = _number(found)
    places = rows["place_low"].astype(str) + "–" + rows["place_high"].astype(str)
    return pd.DataFrame(
        {
            "system": rows["system"].map(shown),
            "score": rows["score"].map(number),
            "95 %": rows["score_low"].map(number) + "–" + rows["score_high"].map(number),
            "place": rows["place"].astype(str),
            "places (95 %)": places.where(rows["place_low"] < rows["place_high"], rows["place_low"]),
            "groups": groups.loc[rows["system"]].to_numpy(),
        }
    )


def pair_rows(found: Examination, most: int) -> tuple[str, pd.DataFrame]:
    """A title, and pairs as text: the most significant first, or, where these are too many, neighbours by score."""
    sides = found.pairs["alternative"].iloc[0].replace("greater", "one-sided")
    if len(found.pairs) <= most:
        pairs, title = sorted_pairs(found), f"Pairs, the most significant first ({sides} p)"
    else:
        pairs = _neighbours(found).head(most)
        title = f"Neighbours by score, {len(pairs)} of {len(found.pairs):,} pairs ({sides} p)"
    number = _number(found)
    between = pairs["gain_low"].map(number) + " to " + pairs["gain_high"].map(number)
    columns = {
        "better": pairs["system_a"].map(shown),
        "worse": pairs["system_b"].map(shown),
        "relation": pairs["relation"].map(shown),
        "gain": pairs["gain"].map(number),
        "95 %": between.where(pairs["gain_low"].notna(), ""),
        "units +/−": pairs["n_better"].map("{:,}".format) + "/" + pairs["n_worse"].map("{:,}".format),
        "p": pairs["p_value"].map(lambda p: equals(p).removeprefix("= ")),
        "speaks for": pairs["favours"].map(shown).where(pairs["favours"] != pairs["system_a"], ""),
        "p (Holm)": pairs["p_holm"].map(lambda p: equals(p).removeprefix("= ")),
        "p (BH)": pairs["p_bh"].map(lambda p: equals(p).removeprefix("= ")),
    }
    if "conclusion" in pairs:
        columns[f"margin {pairs['margin'].iloc[0]:g}"] = pairs["conclusion"]
    rows = pd.DataFrame(columns)
    dull = {"relation": (pairs["relation"] == ALL_PAIRS).all(), "speaks for": (rows["speaks for"] == "").all()}
    return title, rows.drop(columns=[name for name, empty in dull.items() if empty])


def _neighbours(found: Examination) -> pd.DataFrame:
    """Pairs of systems that follow one another by score."""
    place = {name: k for k, name in enumerate(found.outputs.best_first().names)}
    pairs = found.pairs
    return pairs[pairs["system_b"].map(place) == pairs["system_a"].map(place) + 1]


def sorted_pairs(found: Examination) -> pd.DataFrame:
    """Comparisons, the most significant first; of equal p-values the widest gain first."""
    return found.pairs.iloc[_most_significant_first(found.pairs)].reset_index(drop=True)


def _most_significant_first(pairs: pd.DataFrame) -> NDArray[np.intp]:
    return np.lexsort((-pairs["gain"].to_numpy(), pairs["p_value"].to_numpy()))


def threshold_rows(found: Examination) -> pd.DataFrame:
    """The gain that is usually significant, by both rules, as text."""
    rule, number = found.thresholds, _number(found)
    every, doubtful = (found.gains[found.gains["of"] == of].reset_index() for of in (EVERY_PAIR, IN_DOUBT))

    def alone(table: pd.DataFrame, value: str) -> pd.Series[str]:
        return table[value].map(number).where(table[value].notna(), "too few pairs")

    return pd.DataFrame(
        {
            "relation": rule["relation"].map(shown),
            "pairs": rule["n_pairs"].map("{:,}".format),
            "p ≈ 0.05": rule["n_window"],
            "threshold": with_interval(rule, "threshold", "low", "high", number),
            "observed, half of the pairs": with_interval(
                every, "observed_50", "observed_50_low", "observed_50_high", number
            ),
            "observed, 95 % of the pairs": alone(every, "observed_95"),
            "true, power 0.8": with_interval(every, "true_80", "true_80_low", "true_80_high", number),
            "true, power 0.8, in doubt": alone(doubtful, "true_80"),
        }
    )


def with_interval(
    table: pd.DataFrame, value: str, low: str, high: str, number: Callable[[float], str]
) -> pd.Series[str]:
    """A column of numbers with their intervals, where they have one, as text; "too few pairs" without a number."""
    interval = " (" + table[low].map(number) + "–" + table[high].map(number) + ")"
    text = table[value].map(number) + interval.where(table[low].notna(), "")
    return text.where(table[value].notna(), "too few pairs")


def _number(found: Examination) -> Callable[[float], str]:
    return as_number(np.abs(found.outputs.scores()).max())


def _tables(found: Examination) -> dict[str, pd.DataFrame | InOrder]:
    known = found.outputs.systems.drop(columns="family").rename(columns={"name": "system"})
    return {
        "pairs": InOrder(found.pairs, _most_significant_first(found.pairs)),
        "systems": found.leaderboard.merge(known, on="system", how="left").dropna(axis="columns", how="all"),
        "groups": found.groups,
        "curve": found.curve,
        "thresholds": found.thresholds,
        "significant_gains": found.gains,
        "duplicates": found.duplicates,
    }


def _sections(found: Examination, folder: Path, alpha: float) -> list[Section]:
    if found.verdict is not None:
        return [Section("Verdict", found.verdict, None, pair_rows(found, 1)[1])]
    parts = []
    small = found.outputs.n_systems <= _MOST_SYSTEMS
    groups = _drawn(figures.groups(found.groups), folder, "groups") if small else None
    rule = found.groups["rule"].iloc[0]
    sides = found.pairs["alternative"].iloc[0].replace("greater", "one-sided")
    best = counted(int(found.leaderboard["may_be_best"].sum()), "system")
    text = (
        "Scores with 95 % intervals; the places that each system may have, all at once with 95 % confidence (Mogstad, "
        f"Romano, Shaikh and Wilhelm 2024): {best} may be the best. Systems of one group do not differ significantly "
        f"at {alpha:g} after Holm's correction for all pairs ({sides}, {rule} groups, which are not transitive)."
    )
    parts.append(Section("Systems", text, groups, ranking(found)))
    if small:
        figure = _drawn(figures.leaderboard(found.leaderboard), folder, "leaderboard")
        text = "Scores with their 95 % intervals, and the places that each system may have."
        parts.append(Section("Leaderboard", text, figure))
    figure = _drawn(
        figures.curve(found.pairs, found.curve[found.curve["relation"].isin(found.pairs["relation"])]),
        folder,
        "gain_confidence",
    )
    text = "Each point is a pair of systems; lines are running medians, bands hold 5-95 % of the pairs."
    parts.append(Section("Gain against confidence", text, figure))
    text = (
        f"Threshold: 95th percentile of the gains of pairs with 0.04 <= p <= 0.06 ({sides}). The other columns are "
        f"from the standard errors of all pairs of a class, {sides}, alpha = {alpha:g}, by the normal approximation. "
        "Observed: a gain here that is significant for half, and for 95 %, of the pairs. True: a system that is better "
        "by so much is found to be so with power 0.8, on average over the pairs; in doubt are those whose gain is "
        "below twice the one that would be just significant for them. Intervals (95 %) speak for other systems on "
        "these items, or as column interval_for of the CSV says; where none is given, none is known to cover."
    )
    parts.append(Section("The gain that is significant on this test set", text, None, threshold_rows(found)))
    drawn = _neighbours(found)
    if small and drawn["gain_low"].notna().any():
        figure = _drawn(figures.gain_intervals(drawn, cutoff=alpha), folder, "gains")
        text = "Each system's gain over the next one by score, with its 95 % interval; neither is corrected."
        parts.append(Section("Gains of neighbours", text, figure))
    matrix = _drawn(figures.matrix(found.pairs, cutoff=alpha), folder, "matrix") if small else None
    title, rows = pair_rows(found, _MOST_ROWS)
    text = f"{title}. All are in pairs.csv.{_what_is_corrected(found, alpha, matrix is not None)}"
    parts.append(Section("Pairs", text, matrix, rows))
    if len(found.duplicates):
        rows = found.duplicates[["system_a", "system_b", "compared"]].assign(
            system_a=found.duplicates["system_a"].map(shown),
            system_b=found.duplicates["system_b"].map(shown),
            identical=found.duplicates["share"].map("{:.1%}".format),
        )
        text = "Systems with more than 90 % of their answers in common (of scores: where systems differ at all)."
        parts.append(Section("Near-duplicates", text, None, rows.head(_MOST_ROWS)))
    return parts


def _what_is_corrected(found: Examination, alpha: float, drawn: bool) -> str:
    """What of the section on pairs goes by p-values of one pair, unlike groups."""
    text = " The picture has p, which is not corrected for the number of pairs, unlike the groups." if drawn else ""
    if "conclusion" not in found.pairs:
        return text
    margin = found.pairs["margin"].iloc[0]
    return (
        f"{text} Column margin {margin:g}: equivalent are systems of which two one-sided tests at {alpha / 2:g} reject "
        f"that either is better by {margin:g} or more; better are those with p <= {alpha:g}. That is not corrected "
        "either."
    )


def _drawn(ax: Any, folder: Path, name: str) -> str:
    return save_figure(ax.figure, folder, name)
