"""What the page shows: its sections, figures, and the columns of its tables."""

from __future__ import annotations

from typing import Any

import pandas as pd

import simstudy as ss
from simstudy.sections import Figure, Section, Table

from .conditions import DEFAULT_TEST, DRAWN, TWO_SIDED, Aims, Range, Settings

CLOSING = (
    "Error rates are shares of test sets with p at or below the level where the two systems have equal scores in the "
    "population, whatever hypothesis a test has of its own. Intervals are 95 % (Clopper-Pearson) for the number of "
    "test sets drawn; the test sets of a batch share their resamples, which adds little. Test sets on which a score is "
    "0 / 0 are left out, and counted (n_undefined, and how many of them the test rejects). Shares are fractions."
)
VERDICT = {
    "test": "{test}",
    "where": "{where}",
    "conditions": "{n_conditions}",
    "within": "{n_within} of {n_rates}",
    "liberal": "{n_liberal} of {n_rates}",
    "lowest": "{least:.3f}",
    "highest": "{most:.3f}",
    "highest, fewer units": "{most_fewer:.3f}",
}
COVERED = {
    "condition": "{view}",
    "units": "{n_units:,}",
    "true gain": "{true_gain:.2f}",
    "interval": "{interval}",
    "share": "{share:.3f} ({low:.3f} – {high:.3f})",
    "mean width": "{mean_width:.3g}",
    "undefined": "{undefined:.1%}",
}
DRAWN_FROM = {
    "condition": "{title}",
    "metric": "{metric}",
    "systems": "{systems}",
    "true scores": "{score_1:.4g} and {score_2:.4g}",
}
VIEW = {"condition": "{view}", "units": "{n_units}"}


def with_views(table: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """The table with what a figure or a page calls each row's condition and unit."""
    known = zip([study.conditions[name] for name in table["condition"]], table["unit"], strict=True)
    return table.assign(view=[c.title + (", by item" if unit != c.pair.units[0] else "") for c, unit in known])


def in_words(bounds: Range) -> str:
    """A range of rates."""
    return f"{bounds[0]:g} – {bounds[1]:g}"


def verdicts(tests: pd.DataFrame) -> Table:
    """The verdict on each test; a condition that breaks nothing is said once."""
    return Table(tests[(tests["n_conditions"] > 0) & ~tests.duplicated(["test", "n_conditions"])], VERDICT)


def rate_sections(tables: dict[str, pd.DataFrame], study: Settings) -> list[Section]:
    """What the tests do, the verdict first."""
    target, liberal, n_from = in_words(study.aims.target), in_words(study.aims.liberal), study.aims.from_units
    rates, few = with_views(tables["rates"], study), with_views(tables["few_units"], study)
    shown, two_sided = rates[rates["n_units"].isin(study.shown)], rates["alternative"] == TWO_SIDED
    default = shown[(shown["test"] == DEFAULT_TEST) & (shown["breaks"] == "")]
    of_all = shown[shown["alternative"] == TWO_SIDED]
    opened, closed = (of_all["breaks"].map(lambda breaks, mark=mark: mark if breaks else "") for mark in "()")
    marks = [
        "".join("▲" if share > most else "▼" if share < least else "" for least, most in ranges)
        for share, ranges in ((share, (study.aims.target, study.aims.liberal)) for share in of_all["share"])
    ]
    return [
        Section(
            "Which test keeps its level?",
            f"Two-sided rates of p ≤ {study.alpha:g} over all conditions with equal scores and independent units, and "
            "over those of them that break neither the test's own null hypothesis nor the independence of systems that "
            f"it may assume: how many of the rates from {n_from} units on lie within {target} and {liberal}, the "
            "lowest and the highest of them, and the highest on fewer units.",
            table=verdicts(tables["tests"]),
        ),
        Section(
            "By condition",
            f"The same for four tests. Bands: {target} and {liberal} (Bradley's liberal criterion); lines that leave a "
            "panel at the top go on above it. Where scores are means, sign flips are randomization.",
            figure=Figure("error_rates", lambda: draw_rates(rates[two_sided & rates["test"].isin(DRAWN)], study.aims)),
        ),
        Section(
            "All tests",
            f"Two-sided error rates. ▲ and ▼: above and below {target}; doubled beyond {liberal}. In brackets: the "
            "condition breaks what the test says of itself (its null hypothesis, systems that are independent, units "
            "that are independent).",
            table=Table(
                of_all.assign(marks=marks, opened=opened, closed=closed),
                VIEW,
                across="test",
                cell="{opened}{share:.3f}{marks}{closed}",
            ),
        ),
        Section(
            "One-sided",
            f"The default test ({DEFAULT_TEST}). Where the data say which system is the better, as in a table of all "
            "pairs, two equally good systems are told apart about twice as often as the level says. The last column "
            "counts those where that is a system that was named beforehand, the first of the condition; where scores "
            "are skewed, the two systems' shares differ.",
            table=Table(default, VIEW, across="alternative", cell="{share:.3f}"),
        ),
        Section(
            "Few units",
            f"The default test's two-sided error rate / the coverage of the interval below {n_from} units.",
            table=Table(
                few.assign(size=few["n_units"].map("{:,} units".format)),
                {"condition": "{view}"},
                across="size",
                cell="{error_rate:.3f} / {coverage:.3f}",
            ),
        ),
    ]


def coverage_sections(tables: dict[str, pd.DataFrame], study: Settings) -> list[Section]:
    """What intervals hold, and what was drawn."""
    return [
        Section(
            "Coverage of the interval",
            f"95 % intervals of the gain: Tango's for right and wrong items, the jackknife's with t otherwise. Band: "
            f"{in_words(study.aims.coverage)}. By item, items of a cluster are taken for independent ones, and are "
            "not.",
            figure=Figure("coverage", lambda: draw_coverage(with_views(tables["coverage"], study), study.aims)),
        ),
        Section(
            "Intervals",
            "Share that hold the true gain, and mean width. Test sets without an interval are left out: those where "
            "nothing varies, or where a score is undefined without one of the units.",
            table=intervals(tables["coverage"], study),
        ),
        Section(
            "Conditions",
            "The two systems, what they have in common, and their true scores.",
            table=Table(tables["conditions"], DRAWN_FROM),
        ),
    ]


def intervals(covered: pd.DataFrame, study: Settings) -> Table:
    """Coverage and width at the sizes that are shown."""
    rows = with_views(covered[covered["n_units"].isin(study.shown)], study)
    # What has been solved for is 0 to some 10^-13, on either side.
    return Table(rows.assign(true_gain=rows["true_gain"].round(2) + 0.0), COVERED)


def draw_rates(rates: pd.DataFrame, aims: Aims) -> Any:
    """A panel for each condition, with the rates of four tests over the number of units."""
    views = {str(view): rows for view, rows in rates.groupby("view", sort=False)}
    figure, axes = ss.plot.panels(list(views), per_row=min(3, len(views)), width=3.3, height=2.3)
    for ax, rows in zip(axes, views.values(), strict=True):
        ss.plot.error_rates(rows, target=aims.target, liberal=aims.liberal, ax=ax)
    ss.plot.share_legend(figure, axes)
    return figure


def draw_coverage(covered: pd.DataFrame, aims: Aims) -> Any:
    """A row for each condition and unit."""
    rows, height = covered.assign(title=covered["view"]), 0.4 * covered["view"].nunique() + 1
    return ss.plot.single(ss.plot.coverage, rows, target=aims.coverage, width=7.6, height=height, legend_aside=True)
