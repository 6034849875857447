"""The folder of one comparison for people: tables, figures, and a page that begins with what came out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy import figures
from simstudy.analyses.relation_classes import ALL_PAIRS
from simstudy.analyses.signature import signature
from simstudy.analyses.significant_gains import EVERY_PAIR, IN_DOUBT
from simstudy.comparisons.footing import cautioned
from simstudy.engines.registry import TESTS
from simstudy.examination.examination import Examination
from simstudy.loaders.base import counted
from simstudy.manifest import manifest_of
from simstudy.metrics import label
from simstudy.numerals import at_floor, p_floor, p_text, score_format
from simstudy.plain_text import line, shown
from simstudy.report import InOrder, Page, write_results
from simstudy.results_folder import results_folder
from simstudy.sections import Column, Figure, Section, Table

# More systems make no picture of a matrix or of groups.
_MOST_SYSTEMS = 60
# Rows of a table that a page shows; the CSV has all.
_MOST_ROWS = 50

_TWO_SIDED = "p-values are two-sided."
_ONE_SIDED = (
    "p-values are one-sided, which is valid only if the better system of a pair was predicted. Where the data tell "
    "which one it is, as in a table of all pairs, two equally good systems have p <= 0.05 one time in ten."
)

_MARGIN = (
    " p_noninferiority and p_equivalence are p-values for the margin, of one and of two one-sided tests; columns that "
    "end in _holm, and the conclusion, are corrected for all pairs of this table."
)


def closing(found: Examination) -> str:
    """How the numbers of a page are to be read."""
    two_sided = found.pairs["alternative"].iloc[0] == "two-sided"
    return (
        f"{_TWO_SIDED if two_sided else _ONE_SIDED} p_value is not corrected for the number of pairs; p_holm and p_bh "
        "are, for all pairs of this table (Holm; Benjamini and Hochberg). p_low and p_high are the 95 % interval for "
        "the Monte Carlo error of p_value; exact says whether the test holds its level exactly under its null "
        "hypothesis. gain_low and gain_high are the 95 % interval of one gain, not corrected either. Gains are on the "
        f"metric's scale.{_MARGIN if found.margin is not None else ''}"
    )


#: What a comparison's folder of results is of.
RESULTS_OF = "a comparison"


def write(
    found: Examination,
    out: Path,
    *,
    title: str,
    command: str,
    settings: Mapping[str, Any],
    files: Mapping[str, str],
) -> None:
    """Write tables, figures, page and manifest of one comparison to a folder of its own."""
    with results_folder(out, RESULTS_OF) as results:
        page = Page(
            title=title,
            question="Which of these systems are better than others, and how large must a gain be here to tell?",
            command=command,
            facts=facts(found) | {"Signature": [signature(found.pairs)]},
            sections=_sections(found),
            tables=_tables(found),
            closing=closing(found) + cautioned(found.pairs),
        )
        write_results(results, page, manifest_of({"comparison": dict(settings)}, {"files": dict(files)}, {}))


def facts(found: Examination) -> dict[str, str]:
    """What was compared and how."""
    one = found.pairs.iloc[0]
    units = "" if one.unit == "item" else f"; {one.n_units:,} units ({shown(one.unit)}) are taken as wholes"
    listed = {"Test set": shown(one.test_set)} if one.test_set else {}
    listed |= {
        "Systems": f"{found.outputs.n_systems:,} ({counted(len(found.pairs), 'pair')})",
        "Items": f"{found.outputs.n_items:,}{units}",
        "Metric": label(str(one.metric)),
        "Test": described_test(found.pairs),
        "Null hypothesis": TESTS[one.test].null,
        "Signature": signature(found.pairs),
    }
    return listed | ({"Note": "; ".join(map(line, found.notes))} if found.notes else {})


def described_test(pairs: pd.DataFrame) -> str:
    """Test, sides, exactness, resamples and convention of Comparisons."""
    one, drawn, share = pairs.iloc[0], pairs.loc[pairs["monte_carlo"], "n_resamples"], pairs["monte_carlo"].mean()
    sides = "two-sided" if one.alternative == "two-sided" else "one-sided"
    exact = "exact" if pairs["exact"].all() else "partly exact" if pairs["exact"].any() else "approximate"
    how = "no Monte Carlo error" if drawn.empty else f"{drawn.max():,} resamples for {share:.0%} of the p-values"
    convention = "" if one.convention == "default" else f", convention {one.convention}"
    return f"{TESTS[one.test].title} ({one.test}), {sides}, {exact}, {how}{convention}"


def ranking(found: Examination) -> Table:
    """Systems, best first, with the intervals of their scores, the places they may have, and their groups."""
    rows, digits = found.leaderboard, _digits(found)
    groups = found.groups.groupby("system")["group"].agg(lambda numbers: " ".join(map(str, numbers)))
    last = rows["place_high"].where(rows["place_low"] < rows["place_high"]).astype("Int64")
    return Table(
        rows.assign(groups=groups.loc[rows["system"]].to_numpy(), last_place=last),
        {
            "system": "{system:name}",
            "score": f"{{score:{digits}}}",
            "95 %": f"{{score_low:{digits}}}–{{score_high:{digits}}}",
            "place": "{place}",
            "places (95 %)": "{place_low}[–{last_place}]",
            "groups": "{groups}",
        },
    )


def pair_rows(found: Examination, most: int) -> tuple[str, Table]:
    """A title, and pairs: the most significant first, or, where these are too many, neighbours by score."""
    sides = found.pairs["alternative"].iloc[0].replace("greater", "one-sided")
    if len(found.pairs) <= most:
        pairs, title = sorted_pairs(found), f"Pairs, the most significant first ({sides} p)"
    else:
        pairs = found.neighbours.head(most)
        title = f"Neighbours by score, {len(pairs)} of {len(found.pairs):,} pairs ({sides} p)"
    digits = _digits(found)
    other = pairs["favours"].where(pairs["favours"] != pairs["system_a"])
    columns = {
        "better": "{system_a:name}",
        "worse": "{system_b:name}",
        "relation": "{relation:name}",
        "gain": f"{{gain:{digits}}}",
        "95 %": f"{{gain_low:{digits}}} to {{gain_high:{digits}}}",
        "units +/−": "{n_better:,}/{n_worse:,}",
        "p": "{p}",
        "speaks for": "[{other:name}]",
        "p (Holm)": "{holm}",
        "p (BH)": "{bh}",
    }
    if "conclusion" in pairs:
        columns[f"margin {pairs['margin'].iloc[0]:g}"] = "{conclusion}"
    if (pairs["caution"] != "").any():
        columns["caution"] = "[{caution}]"
    dull = {"relation": (pairs["relation"] == ALL_PAIRS).all(), "speaks for": (other.fillna("") == "").all()}
    rows = pairs.assign(other=other, **_written(pairs))
    return title, Table(rows, {name: columns[name] for name in columns if not dull.get(name)})


def _written(pairs: pd.DataFrame) -> dict[str, list[str]]:
    """p-values as people see them; those that are corrected are bounds where the p-value itself is one."""
    columns = (pairs[name].tolist() for name in ("p_value", "p_holm", "p_bh", "n_resamples"))
    written: dict[str, list[str]] = {"p": [], "holm": [], "bh": []}
    for p, *adjusted, n_resamples in zip(*columns, strict=True):
        floor = p_floor(n_resamples)
        written["p"].append(p_text(p, floor=floor))
        for name, q in zip(("holm", "bh"), adjusted, strict=True):
            written[name].append(p_text(q, floor=max(q, floor) if at_floor(p, floor) and q < 1 else 0))
    return written


def sorted_pairs(found: Examination) -> pd.DataFrame:
    """Comparisons, the most significant first; of equal p-values the widest gain first."""
    return found.pairs.iloc[_most_significant_first(found.pairs)].reset_index(drop=True)


def _most_significant_first(pairs: pd.DataFrame) -> NDArray[np.intp]:
    return np.lexsort((-pairs["gain"].to_numpy(), pairs["p_value"].to_numpy()))


def threshold_rows(found: Examination) -> Table:
    """The gain that is usually significant, by both rules."""
    columns = {"relation": "{relation:name}", "pairs": "{n_pairs:,}", "p ≈ 0.05": "{n_window}"}
    rows = gain_rows(found.thresholds, found.gains, ["relation"])
    return Table(rows, {**columns, **gain_columns(_digits(found))})


def gain_rows(thresholds: pd.DataFrame, gains: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Significant gains of all pairs and of those in doubt (``doubt_80``) beside the thresholds, by these keys."""
    doubtful = gains.loc[gains["of"] == IN_DOUBT, [*keys, "true_80"]].rename(columns={"true_80": "doubt_80"})
    rows = gains[gains["of"] == EVERY_PAIR].merge(doubtful, on=keys, how="left")
    return rows.merge(thresholds[[*keys, "n_window", "threshold", "low", "high"]], on=keys, how="left")


def gain_columns(form: str) -> dict[str, Column]:
    """The columns of `gain_rows`, their gains in this format."""

    def column(value: str, low: str = "", high: str = "") -> Column:
        interval = f"[ ({{{low}:{form}}}–{{{high}:{form}}})]" if low else ""
        return Column(f"{{{value}:{form}}}{interval}", missing="too few pairs")

    return {
        "threshold": column("threshold", "low", "high"),
        "observed, half of the pairs": column("observed_50", "observed_50_low", "observed_50_high"),
        "observed, 95 % of the pairs": column("observed_95"),
        "true, power 0.8": column("true_80", "true_80_low", "true_80_high"),
        "true, power 0.8, in doubt": column("doubt_80"),
    }


def gains_text(sides: str, alpha: float) -> str:
    """What `gain_columns` are."""
    return (
        f"Threshold: 95th percentile of the gains of pairs with 0.04 <= p <= 0.06 ({sides}; Berg-Kirkpatrick et al. "
        "2012, section 3.1.1), where there are at least 20 such pairs. The other columns are from the standard errors "
        f"of all pairs of a class, {sides}, alpha = {alpha:g}, by the normal approximation. Observed: a gain on this "
        "test set that is significant for half, and for 95 %, of the pairs. True: a system that is better by so much "
        "is found to be so on a test set like this with power 0.8, on average over the pairs; in doubt are pairs whose "
        "gain is below twice the one that would be just significant for them. Intervals (95 %) speak for other systems "
        "on these items, or, where column interval_for of the CSV says so, only for other variants of these families; "
        "where none is given, none is known to cover."
    )


def _digits(found: Examination) -> str:
    return score_format(np.abs(found.outputs.scores()).max())


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


def _sections(found: Examination) -> list[Section]:
    if found.verdict is not None:
        return [Section("Verdict", found.verdict, table=pair_rows(found, 1)[1])]
    small = found.outputs.n_systems <= _MOST_SYSTEMS
    rule = found.groups["rule"].iloc[0]
    sides = found.pairs["alternative"].iloc[0].replace("greater", "one-sided")
    best = counted(int(found.leaderboard["may_be_best"].sum()), "system")
    parts = [
        Section(
            "Systems",
            "Scores with 95 % intervals; the places that each system may have, all at once with 95 % confidence "
            f"(Mogstad, Romano, Shaikh and Wilhelm 2024): {best} may be the best. Systems of one group do not differ "
            f"significantly at {found.alpha:g} after Holm's correction for all pairs ({sides}, {rule} groups, which "
            "are not transitive).",
            figure=Figure("groups", lambda: figures.groups(found.groups)) if small else None,
            table=ranking(found),
        )
    ]
    if small:
        parts.append(
            Section(
                "Leaderboard",
                "Scores with their 95 % intervals, and the places that each system may have.",
                figure=Figure("leaderboard", lambda: figures.leaderboard(found.leaderboard)),
            )
        )
    curve = found.curve[found.curve["relation"].isin(found.pairs["relation"].unique())]
    parts += [
        Section(
            "Gain against confidence",
            "Each point is a pair of systems; lines are running medians, bands hold 5-95 % of the pairs.",
            figure=Figure("gain_confidence", lambda: figures.curve(found.pairs, curve)),
        ),
        Section(
            "The gain that is significant on this test set",
            gains_text(sides, found.alpha),
            table=threshold_rows(found),
        ),
    ]
    neighbours = found.neighbours
    if small and neighbours["gain_low"].notna().any():
        parts.append(
            Section(
                "Gains of neighbours",
                "Each system's gain over the next one by score, with its 95 % interval; neither is corrected.",
                figure=Figure("gains", lambda: figures.gain_intervals(neighbours, alpha=found.alpha)),
            )
        )
    title, rows = pair_rows(found, _MOST_ROWS)
    parts.append(
        Section(
            "Pairs",
            f"{title}. All are in pairs.csv.{_what_is_corrected(found, small)}",
            figure=Figure("matrix", lambda: figures.matrix(found.pairs, alpha=found.alpha)) if small else None,
            table=rows,
        )
    )
    if len(found.duplicates):
        columns = {"system_a": "{system_a:name}", "system_b": "{system_b:name}", "compared": "{compared}"}
        parts.append(
            Section(
                "Near-duplicates",
                "Systems with more than 90 % of their answers in common (of scores: where systems differ at all).",
                table=Table(found.duplicates.head(_MOST_ROWS), columns | {"identical": "{share:.1%}"}),
            )
        )
    return parts


def _what_is_corrected(found: Examination, drawn: bool) -> str:
    """What of the section on pairs goes by p-values of one pair, unlike groups."""
    text = " The picture has p, which is not corrected for the number of pairs, unlike the groups." if drawn else ""
    if "conclusion" not in found.pairs:
        return text
    margin = found.pairs["margin"].iloc[0]
    half = f"{found.alpha / 2:g}"
    return (
        f"{text} Column margin {margin:g} is corrected for all pairs, like the groups. Better are systems whose gain "
        f"is significant at {found.alpha:g}. Equivalent are systems of which two one-sided tests at {half} reject that "
        f"either is better by {margin:g} or more. Not worse is a system where one such test rejects that the other is "
        "better by so much."
    )
