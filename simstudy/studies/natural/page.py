"""The page of a study of natural comparisons: which figures are drawn from its tables, and the rows it prints."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd

from simstudy import plot
from simstudy.metrics import label
from simstudy.pages.sections import Column, Figure, Section, Table
from simstudy.studies.baselines import beside
from simstudy.studies.figures import POINTS, panel
from simstudy.studies.natural import gains
from simstudy.studies.natural.cross_domain import OTHERS, POPULATION
from simstudy.studies.natural.definition import NaturalStudy
from simstudy.text.numerals import score_format
from simstudy.text.plain_text import shown


def closing(study: NaturalStudy) -> str:
    """How the numbers are to be read."""
    one_sided = study.comparison.alternative == "greater"
    sides = "one-sided (but those of ranks, which are two-sided)" if one_sided else "two-sided"
    return (
        f"p-values are {sides} and not corrected for the number of pairs, unless a column says so. Resampling units "
        "(column unit) are documents if the data name them, else items. Gains are on the metric's scale. Shares are "
        "fractions."
    )


# Of fewer pairs that are not decided a running median says little that the points do not.
_LEAST_PAIRS = 40
_BESIDE = (
    "brackets have the baseline: the same share without a change of domain. For it, the winners on one half of the "
    "home are looked up on items of its other half. There are half as many of these items as there are elsewhere, or "
    "all of the half if it has fewer. If halves give no share, the baseline is the expected share for valid tests and "
    "normal true gains. The share minus the baseline estimates the effect of the domain. The last column has the range "
    "of p-values of Berg-Kirkpatrick et al. 2012. "
)
_DRAWN = (
    "In the figure, bars are 95 % intervals (they are in calibration.csv too). The solid grey line is the baseline "
    "from halves and the broken line the expected share, each as a mean of {}. The dotted line is chance, 50 %."
)
# Rows of a table of test sets that a page has room for.
_MOST_ROWS = 60
# Systems that a figure of a leaderboard has room for.
_MOST_SYSTEMS = 40
# Systems that its table has, and near-duplicates that theirs has.
_FIRST_SYSTEMS, _MOST_DUPLICATES = 10, 40


def sections(tables: Mapping[str, pd.DataFrame], study: NaturalStudy) -> list[Section]:
    """The parts of the page."""
    sides = "one-sided" if study.comparison.alternative == "greater" else "two-sided"
    return [
        Section(
            "Gain against confidence",
            "Each point is a pair of systems on a whole test set, as in figures 2 to 4 of Berg-Kirkpatrick et al. "
            f"2012. Confidence is 1 - p ({sides}, not corrected). {_relations(tables['points'])}A colour with "
            f"more than {POINTS} pairs in a panel has at most {POINTS} points, an even choice of its pairs with p >= "
            "0.001. Lines are running medians over all pairs. Bands hold 90 % of the pairs, from the 5th to the 95th "
            f"percentile. A colour has a line if at least {_LEAST_PAIRS} of its points have p >= 0.001.",
            figure=Figure("gain_confidence", partial(_draw_curves, tables["points"], tables["curves"])),
        ),
        *gains.sections(tables, study.shown),
        _ranks(tables["ranks"], study),
        _leaderboard(tables["leaderboard"], study),
        *(_calibrations(tables["calibration"]) if "calibration" in tables else []),
        *([_duplicates(tables["duplicates"])] if len(tables["duplicates"]) else []),
    ]


def _relations(points: pd.DataFrame) -> str:
    """What the colours are, if pairs have relations."""
    kinds = [name.removeprefix("same ") for name in points["relation"].unique() if name.startswith("same ")]
    if not kinds:
        return ""
    return f"Colours are relations: whether the two systems of a pair are of the same {shown(' or '.join(kinds))}. "


def _draw_curves(points: pd.DataFrame, curves: pd.DataFrame) -> Any:
    keys = list(points[["test_set", "metric", "n_items"]].drop_duplicates().itertuples(index=False, name=None))
    several = points["metric"].nunique() > 1
    titles = [f"{name}, {label(metric)}" if several else f"{name}, {n:,} items" for name, metric, n in keys]
    columns = 2 if len(keys) in (2, 4) else min(3, len(keys))
    figure, axes = plot.panels(titles, per_row=columns, width=4.0, height=3.2, shared=False)
    for (name, metric, _), ax in zip(keys, axes, strict=True):
        own, lines = (rows[(rows["test_set"] == name) & (rows["metric"] == metric)] for rows in (points, curves))
        undecided = own.loc[own["p_value"] >= 0.001, "relation"].value_counts()
        lines = lines[lines["relation"].isin(undecided.index[undecided >= _LEAST_PAIRS])]
        plot.curve(own, lines, ax=ax)
    return figure


def _ranks(ranks: pd.DataFrame, study: NaturalStudy) -> Section:
    text = (
        "Neighbours are systems that follow each other on the leaderboard. A pair of neighbours is significant if p <= "
        f"{study.alpha:g} (two-sided). After Holm: the same after Holm's correction for all pairs of neighbours of the "
        "leaderboard. May be the best: the number of systems in the 95 % confidence set for the best (Hsu 1984; "
        "Mogstad, Romano, Shaikh and Wilhelm 2024). The set takes into account that the same data chose the leader. "
        "Each system also has a confidence set for its rank. These sets hold for all systems at once (95 %). Rank "
        "width: the last rank of a set minus the first, as the median over the systems."
    )
    if len(ranks) > 1:
        total = ranks[["n_adjacent", "n_significant", "n_significant_holm"]].sum()
        text += (
            f" In all, {total['n_significant']:,} of {total['n_adjacent']:,} pairs of neighbours differ "
            f"significantly, {total['n_significant_holm']:,} after Holm's correction."
        )
    if len(ranks) > _MOST_ROWS and study.shown:
        ranks, text = ranks[ranks["test_set"].isin(study.shown)], text + " All test sets are in ranks.csv."
    columns = {
        "test set": "{test_set:name}",
        "metric": "{metric:metric}",
        "items": "{n_items:,}",
        "systems": "{n_systems}",
        "significant pairs of neighbours": "{n_significant} of {n_adjacent}",
        "after Holm": "{n_significant_holm}",
        "may be the best": "{n_may_be_best}",
        "rank width": "{rank_width:g}",
        "gain of neighbours, median": "{gain_adjacent:gain}",
    }
    return Section("Ranks", text, table=Table(ranks, columns))


def _leaderboard(boards: pd.DataFrame, study: NaturalStudy) -> Section:
    """The leaderboard of the first test set that the study shows."""
    first = study.shown[0] if study.shown else boards["test_set"].iloc[0]
    board = boards[boards["test_set"] == first]
    board = board[board["metric"] == board["metric"].iloc[0]]
    best = int(board["may_be_best"].sum())
    some = f"the first {_MOST_SYSTEMS} of {len(board)} systems" if len(board) > _MOST_SYSTEMS else "all systems"
    text = (
        f"{shown(first)}, {label(board['metric'].iloc[0])}. The figure has {some}, with 95 % intervals of the scores "
        "and 95 % confidence sets for the ranks. The sets of the table (pale bars) hold for all systems at once. A "
        "dark bar holds for one system that was chosen before its score was seen. May be the best: the system is in "
        f"the 95 % confidence set for the best. {best} of {len(board)} systems may be the best. This set is a "
        "statement of its own, so a system whose ranks begin at 1 need not be in it. All systems and test sets are in "
        "leaderboard.csv."
    )
    figure = Figure("leaderboard", partial(plot.leaderboard, board.head(_MOST_SYSTEMS)))
    last = board["rank_high"].where(board["rank_low"] < board["rank_high"]).astype("Int64")
    digits = score_format(board["score"].abs().max())
    columns = {
        "system": "{system:name}",
        "score": f"{{score:{digits}}}",
        "95 %": f"{{score_low:{digits}}}–{{score_high:{digits}}}",
        "rank": "{rank}",
        "ranks (95 %)": "{rank_low}[–{last_rank}]",
        "may be the best": "{may_be_best:yes}",
    }
    if len(board) > _FIRST_SYSTEMS:
        text += f" The table has the first {_FIRST_SYSTEMS}."
    table = Table(board.assign(last_rank=last).head(_FIRST_SYSTEMS), columns)
    return Section("Leaderboard", text, figure=figure, table=table)


def _calibrations(table: pd.DataFrame) -> list[Section]:
    parts = []
    parted = table.groupby(["homes", "metric"], sort=False)
    several = table["metric"].nunique() > 1
    for number, ((homes, metric), rows) in enumerate(parted, start=1):
        if not rows["share"].notna().any():
            continue
        name = f"calibration_{number}" if parted.ngroups > 1 else "calibration"
        if (rows["elsewhere"] == OTHERS).any():
            brackets = "The "
            text = (
                "A cell has the share of pairs whose winner in the home domain also wins in all other domains "
                "together, for a range of p-values at home. "
            )
            if (rows["elsewhere"] == POPULATION).any():
                text += (
                    "The last row has test sets redrawn from all items. It has the share of winners that also win in "
                    "all items, and in brackets the expected share. "
                )
                brackets = "In the other rows the "
            named = rows.assign(home=rows["test_set"].str.removeprefix(f"{homes} / "))
            known = named[named.groupby("home")["share"].transform("count") > 0]
            size, means = {"width": 6.2, "height": 3.9, "legend_aside": True}, "the homes"
            figure = panel(name, plot.calibration, known, title=homes, by="home", **size)
        else:
            brackets = "The "
            text = (
                "A cell has the share of pairs whose winner on the home test set also wins on another test set, for a "
                "range of p-values at home (as in Table 1 of Berg-Kirkpatrick et al. 2012). "
            )
            figure, means = Figure(name, partial(_draw_test_sets, rows)), "the test sets elsewhere"
        heading = f"Does the winner win elsewhere? {shown(homes)}" + (f", {metric}" if several else "")
        text += brackets + _BESIDE + _DRAWN.format(means)
        parts.append(Section(heading, text, figure=figure, table=_calibration(rows)))
    return parts


def _draw_test_sets(rows: pd.DataFrame) -> Any:
    titles = list(dict.fromkeys(rows["test_set"]))
    figure, axes = plot.panels(titles, per_row=min(2, len(titles)), width=3.9, height=3.0)
    for title, ax in zip(titles, axes, strict=True):
        own = rows[rows["test_set"] == title]
        if own["share"].notna().any():
            plot.calibration(own, by="elsewhere", among=titles, ax=ax)
    axes[0].set_ylim(bottom=max(0.0, min(0.45, float(rows["low"].min()) - 0.02)))
    plot.share_legend(figure, axes)
    return figure


def _calibration(rows: pd.DataFrame) -> Table:
    bins = Column("{p_from:g} – {p_to:g}").texts(rows)
    return Table(
        rows.assign(beside=beside(rows), bin=bins),
        {"home": "{test_set:name}", "elsewhere": "{elsewhere:name}"},
        across="bin",
        cell=Column("{share:.0%}[ ({beside:.0%})]", missing="too few"),
    )


def _duplicates(table: pd.DataFrame) -> Section:
    """One row a pair and test set, whatever the number of metrics; the most alike first."""
    rows = table.drop_duplicates(["test_set", "system_a", "system_b"])
    rows = rows.sort_values(["share", "test_set"], ascending=[False, True], kind="stable").head(_MOST_DUPLICATES)
    columns = {"test set": "{test_set:name}", "systems": "{system_a:name} / {system_b:name}", "compared": "{compared}"}
    return Section(
        "Near-duplicates",
        f"Pairs of systems with more than 90 % identical answers, at most {_MOST_DUPLICATES} of them. Compared: the "
        "answers, or the scores if the data have no answers. Scores are compared only on items on which some systems "
        "differ. Dropped: the system that is left out of the study. The first by name is kept.",
        table=Table(
            rows.assign(dropped=[text or "none" for text in rows["dropped"].astype(object).fillna("")]),
            {**columns, "identical": "{share:.1%}", "dropped": "{dropped}"},
        ),
    )
