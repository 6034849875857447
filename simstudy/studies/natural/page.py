"""The page of a study of natural comparisons: which figures are drawn from its tables, and the rows it prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from simstudy import figures
from simstudy.engines.registry import TESTS
from simstudy.metrics import label
from simstudy.plain_text import shown
from simstudy.report import Section, Tables, save_figure
from simstudy.studies.natural import gains
from simstudy.studies.natural.cross_domain import OTHERS, POPULATION
from simstudy.studies.natural.definition import NaturalStudy


def closing(study: NaturalStudy) -> str:
    """How the numbers are to be read."""
    one_sided = study.comparison.alternative == "greater"
    sides = "one-sided (but those of ranks, which are two-sided)" if one_sided else "two-sided"
    return (
        f"p-values are {sides} and not corrected for the number of pairs, unless a column says so. Units are "
        "documents where the data name them (column unit), else items. Gains are on the metric's scale; shares are "
        "fractions."
    )


#: Points drawn of a relation class.
POINTS = 200
# Of fewer pairs that are not decided a running median says little that the points do not.
_LEAST_PAIRS = 40
_BESIDE = (
    "In brackets: the share on as many items of the home's own population (halves of it), or, for redrawn test sets, "
    "what valid tests would give; what is lost to the domain is the difference. Intervals are in calibration.csv."
)
# Rows of a table of test sets that a page has room for.
_MOST_ROWS = 60
# Systems that a figure of a leaderboard has room for.
_MOST_SYSTEMS = 40
# Notes that the head of a page has room for.
_MOST_NOTES = 4


def sections(tables: Tables, folder: Path, study: NaturalStudy) -> list[Section]:
    """Draw the study's figures as PNG and SVG; the parts of the page that show them."""
    parts = [_curves(tables, folder), *gains.sections(tables, folder, study.shown)]
    text = (
        f"Two-sided tests. Separated: neighbours on the leaderboard with p <= {study.alpha:g}, and after Holm's "
        "correction for all neighbours. May be the best: systems in the 95 % confidence set for the best (Hsu 1984; "
        "Mogstad, Romano, Shaikh and Wilhelm 2024), which takes into account that the leader was chosen by the same "
        "data. Places: how many places wide a system's confidence set of ranks is (median; all systems at once, 95 %)."
    )
    ranks, total = tables["ranks"], tables["ranks"][["n_adjacent", "n_separated", "n_separated_holm"]].sum()
    if len(ranks) > 1:
        text += (
            f" In all, {total['n_separated']:,} of {total['n_adjacent']:,} neighbours are separated, "
            f"{total['n_separated_holm']:,} after Holm's correction."
        )
    if len(ranks) > _MOST_ROWS and study.shown:
        ranks, text = ranks[ranks["test_set"].isin(study.shown)], text + " All test sets are in ranks.csv."
    parts.append(Section("Ranks", text, None, _rank_rows(ranks)))
    parts.append(_leaderboard(tables["leaderboard"], study, folder))
    if "calibration" in tables:
        parts += _calibrations(tables["calibration"], folder)
    if len(tables["duplicates"]):
        text = (
            "Pairs of systems with more than 90 % of their answers in common (of scores: of those that differ at all). "
        )
        text += "Some were dropped, so that the first by name stays."
        parts.append(Section("Near-duplicates", text, None, _duplicate_rows(tables["duplicates"])))
    return parts


def facts(study: NaturalStudy, pairs: pd.DataFrame, notes: Sequence[str]) -> dict[str, str]:
    """What was run."""
    one, drawn = pairs.iloc[0], pairs.loc[pairs["monte_carlo"], "n_resamples"]
    numbers = sorted({f"{count:,}" for count in drawn}, key=len)
    test = TESTS[one.test]
    sides = "two-sided" if one.alternative == "two-sided" else "one-sided"
    how = f"{pairs['exact'].mean():.0%} of the p-values are of exact tests, "
    how += f"{1 - pairs['monte_carlo'].mean():.0%} have no Monte Carlo error" + (
        f", the others are from {' or '.join(numbers)} resamples" if numbers else ""
    )
    units = sorted(pairs["unit"].unique(), key=lambda unit: unit != "item")
    listed = {
        "Test sets": f"{pairs['test_set'].nunique()}, {len(pairs):,} comparisons of pairs",
        "Test": f"{test.title} ({one.test}), {sides}; {how}",
        "Null hypothesis": test.null,
        "Units": " or, where the data name documents, ".join(units),
        "Seed": str(study.seed),
    }
    told = list(dict.fromkeys(notes))
    more = [f"and {len(told) - _MOST_NOTES} more notes of this kind"] if len(told) > _MOST_NOTES else []
    return listed | ({"Data": "; ".join([*told[:_MOST_NOTES], *more])} if told else {})


def summary(tables: Tables, study: NaturalStudy) -> dict[str, pd.DataFrame]:
    """What a terminal shows at the end: title -> a few rows of text."""
    return gains.summary(tables["significant_gains"], study.shown)


def _curves(tables: Tables, folder: Path) -> Section:
    points, curves = tables["points"], tables["curves"]
    keys = list(points[["test_set", "metric", "n_items"]].drop_duplicates().itertuples(index=False, name=None))
    several = points["metric"].nunique() > 1
    titles = [f"{name}, {label(metric)}" if several else f"{name}, {n:,} items" for name, metric, n in keys]
    columns = 2 if len(keys) in (2, 4) else min(3, len(keys))
    figure, axes = figures.panels(titles, columns=columns, width=4.0, height=3.2, shared=False)
    for (name, metric, _), ax in zip(keys, axes, strict=True):
        own = points[(points["test_set"] == name) & (points["metric"] == metric)]
        lines = curves[(curves["test_set"] == name) & (curves["metric"] == metric)]
        undecided = own.loc[own["p_value"] >= 0.001, "relation"].value_counts()
        lines = lines[lines["relation"].isin(undecided.index[undecided >= _LEAST_PAIRS])]
        figures.curve(own, lines, ax=ax)
    save_figure(figure, folder, "gain_confidence")
    text = (
        f"Each point is a pair of systems on the whole test set (of a class of more than {POINTS} an even choice of "
        f"those with p >= 0.001); lines are running medians of classes with {_LEAST_PAIRS} such pairs and more, bands "
        "hold 5-95 % of the pairs (the manner of figures 2 to 4 of Berg-Kirkpatrick et al. 2012)."
    )
    return Section("Gain against confidence", text, "gain_confidence")


def _leaderboard(boards: pd.DataFrame, study: NaturalStudy, folder: Path) -> Section:
    """The leaderboard of the first test set that the study shows."""
    first = study.shown[0] if study.shown else boards["test_set"].iloc[0]
    board = boards[boards["test_set"] == first]
    board = board[board["metric"] == board["metric"].iloc[0]]
    save_figure(figures.leaderboard(board.head(_MOST_SYSTEMS)).figure, folder, "leaderboard")
    best = int(board["may_be_best"].sum())
    some = f"the first {_MOST_SYSTEMS} of {len(board)} systems" if len(board) > _MOST_SYSTEMS else "all systems"
    text = (
        f"{shown(first)}, {some}: scores with their 95 % intervals, and the places that each system may have among "
        f"all, all at once with 95 % confidence; {best} of {len(board)} systems may be the best. All are in "
        "leaderboard.csv."
    )
    return Section("Leaderboard", text, "leaderboard")


def _calibrations(table: pd.DataFrame, folder: Path) -> list[Section]:
    parts = []
    parted = table.groupby(["homes", "metric"], sort=False)
    several = table["metric"].nunique() > 1
    for number, ((homes, metric), rows) in enumerate(parted, start=1):
        if not rows["share"].notna().any():
            continue
        name = f"calibration_{number}" if parted.ngroups > 1 else "calibration"
        if (rows["elsewhere"] == OTHERS).any():
            figure, (ax,) = figures.panels([str(homes)], width=6.2, height=3.9)
            prefix = f"{homes} / "
            named = rows.assign(home=rows["test_set"].str.removeprefix(prefix))
            known = named.groupby("home")["share"].transform("count") > 0
            figures.calibration(named[known], by="home", ax=ax)
            figures.share_legend(figure, [ax], side=True)
            text = "Winners in one domain who also win in all the others together, by p at home"
            redrawn = (rows["elsewhere"] == POPULATION).any()
            text += ", and the same for test sets redrawn from all items. " if redrawn else ". "
            text += _BESIDE
        else:
            titles = list(dict.fromkeys(rows["test_set"]))
            figure, axes = figures.panels(titles, columns=min(2, len(titles)), width=3.9, height=3.0)
            for title, ax in zip(titles, axes, strict=True):
                own = rows[rows["test_set"] == title]
                if own["share"].notna().any():
                    figures.calibration(own, by="elsewhere", among=titles, ax=ax)
            lowest = float(rows["low"].min())
            axes[0].set_ylim(bottom=max(0.0, min(0.45, lowest - 0.02)))
            figures.share_legend(figure, axes)
            text = f"Winners on one test set who also win on another, by p at home (their Table 1). {_BESIDE}"
        save_figure(figure, folder, name)
        heading = f"Does the winner win elsewhere? {shown(homes)}" + (f", {metric}" if several else "")
        parts.append(Section(heading, text, name, _calibration_rows(rows)))
    return parts


def _rank_rows(table: pd.DataFrame) -> pd.DataFrame:
    neighbours = table["n_adjacent"].astype(str)
    return pd.DataFrame(
        {
            "test set": table["test_set"].map(shown),
            "metric": table["metric"].map(label),
            "items": table["n_items"].map("{:,}".format),
            "systems": table["n_systems"],
            "neighbours separated": table["n_separated"].astype(str) + " of " + neighbours,
            "after Holm": table["n_separated_holm"],
            "may be the best": table["n_may_be_best"],
            "places": table["places_width"].map("{:g}".format),
            "gain of neighbours, median": table["gain_adjacent"].map(gains.written),
        }
    )


def _calibration_rows(rows: pd.DataFrame) -> pd.DataFrame:
    beside = rows["baseline"].where(rows["baseline"].notna(), rows["expected"])
    share = rows["share"].map("{:.0%}".format) + beside.map(" ({:.0%})".format).where(beside.notna(), "")
    bins = rows["p_from"].map("{:g}".format) + " – " + rows["p_to"].map("{:g}".format)
    table = pd.DataFrame(
        {
            "home": rows["test_set"].map(shown),
            "elsewhere": rows["elsewhere"].map(shown),
            "bin": bins,
            "share": share.where(rows["share"].notna(), "too few"),
        }
    )
    wide = table.pivot(index=["home", "elsewhere"], columns="bin", values="share")
    order = list(dict.fromkeys(zip(table["home"], table["elsewhere"], strict=True)))
    return wide.loc[order, list(dict.fromkeys(bins))].reset_index()


def _duplicate_rows(table: pd.DataFrame) -> pd.DataFrame:
    """One row a pair and test set, whatever the number of metrics; the most alike first."""
    rows = table.drop_duplicates(["test_set", "system_a", "system_b"]).sort_values(
        ["share", "test_set"], ascending=[False, True], kind="stable"
    )
    most = rows.head(40)
    return pd.DataFrame(
        {
            "test set": most["test_set"].map(shown),
            "systems": most["system_a"].map(shown) + " / " + most["system_b"].map(shown),
            "compared": most["compared"],
            "identical": most["share"].map("{:.1%}".format),
            "dropped": most["dropped"].replace("", "none"),
        }
    )
