"""The page of a study of error rates: which rows of its tables are printed, and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from simstudy import figures
from simstudy.engines.registry import DEFAULT_TEST
from simstudy.sections import Figure, Section, Table
from simstudy.studies.error_rates.conditions import CONDITIONS
from simstudy.studies.error_rates.definition import Aims, ErrorRates, Range

CLOSING = (
    "Error rates are shares of test sets with p at or below the level where the two systems have equal scores in the "
    "population, whatever hypothesis a test has of its own. Intervals are 95 % (Clopper-Pearson) for the number of "
    "test sets drawn; the test sets of a batch share their resamples, which adds little. Test sets on which a score is "
    "0 / 0 are left out, and counted (n_undefined, and how many of them the test rejects). Shares are fractions."
)

_MARKS = (
    "▲ and ▼: above and below {target}; doubled beyond {liberal}. In brackets: the condition breaks what the test "
    "says of itself (its null hypothesis, systems that are independent, units that are independent)."
)

# Tests that the figure of error rates draws.
_DRAWN = ("randomization", "t_paired", "bootstrap", "sign_flips")


def titles(table: pd.DataFrame) -> list[str]:
    """What a figure or a table calls each row's condition and unit."""
    conditions = [CONDITIONS[name] for name in table["condition"]]
    return [
        condition.title + (", by item" if unit != condition.model.units[0] else "")
        for condition, unit in zip(conditions, table["unit"], strict=True)
    ]


def summary(tables: Mapping[str, pd.DataFrame], study: ErrorRates) -> dict[str, Table]:
    """What a terminal shows."""
    if "tests" in tables:
        return {"Two-sided error rates where scores are equal": _tests(tables["tests"])}
    return {"Coverage": _coverage(tables["coverage"], study)}


def sections(tables: Mapping[str, pd.DataFrame], study: ErrorRates) -> list[Section]:
    """What the tables say, the verdict first."""
    tested = _of_tests(tables, study) if "tests" in tables else []
    return [
        *tested,
        Section(
            "Coverage of the interval",
            f"95 % intervals of the gain: Tango's for right and wrong items, the jackknife's with t otherwise. Band: "
            f"{_range(study.aims.coverage)}. By item, items of a cluster are taken for independent ones, and are not.",
            figure=Figure("coverage", lambda: _draw_coverage(tables["coverage"], study)),
        ),
        Section(
            "Intervals",
            "Share that hold the true gain, and mean width. Test sets without an interval are left out: those where "
            "nothing varies, or where a score is undefined without one of the units.",
            table=_coverage(tables["coverage"], study),
        ),
        Section(
            "Conditions",
            "The two systems, what they have in common, and their true scores.",
            table=Table(
                tables["conditions"],
                {
                    "condition": "{title}",
                    "metric": "{metric}",
                    "systems": "{systems}",
                    "true scores": "{score_1:.4g} and {score_2:.4g}",
                },
            ),
        ),
    ]


def _of_tests(tables: Mapping[str, pd.DataFrame], study: ErrorRates) -> list[Section]:
    aims, few = study.aims, tables["few_units"]
    return [
        Section(
            "Which test keeps its level?",
            f"Two-sided rates of p ≤ {study.alpha:g} over all conditions with equal scores and independent units, and "
            "over those of them that break neither the test's own null hypothesis nor the independence of systems that "
            f"it may assume: how many of the rates from {aims.from_units} units on lie within {_range(aims.target)} "
            f"and {_range(aims.liberal)}, the lowest and the highest of them, and the highest on fewer units.",
            table=_tests(tables["tests"]),
        ),
        Section(
            "By condition",
            f"The same for four tests. Bands: {_range(aims.target)} and {_range(aims.liberal)} (Bradley's liberal "
            "criterion); lines that leave a panel at the top go on above it. Where scores are means, sign flips are "
            "randomization.",
            figure=Figure("error_rates", lambda: _draw_rates(tables["rates"], study)),
        ),
        Section(
            "All tests",
            "Two-sided error rates. " + _marks(aims),
            table=_all_rates(tables["rates"], study),
        ),
        Section(
            "One-sided",
            f"The default test ({DEFAULT_TEST}). Where the data say which system is the better, as in a table of all "
            "pairs, two equally good systems are told apart about twice as often as the level says. The last column "
            "counts those where that is a system that was named beforehand, the first of the condition; where scores "
            "are skewed, the two systems' shares differ.",
            table=_one_sided(tables["rates"], study),
        ),
        Section(
            "Few units",
            f"The default test's two-sided error rate / the coverage of the interval below {aims.from_units} units.",
            table=_by_view(
                few.assign(size=few["n_units"].map("{:,} units".format)),
                {},
                "size",
                "{error_rate:.3f} / {coverage:.3f}",
            ),
        ),
    ]


def _tests(tests: pd.DataFrame) -> Table:
    """The verdict on each test."""
    # A condition that breaks nothing is said once.
    tests = tests[(tests["n_conditions"] > 0) & ~tests.duplicated(["test", "n_conditions"])]
    return Table(
        tests,
        {
            "test": "{test}",
            "where": "{where}",
            "conditions": "{n_conditions}",
            "within": "{n_within} of {n_rates}",
            "liberal": "{n_liberal} of {n_rates}",
            "lowest": "{least:.3f}",
            "highest": "{most:.3f}",
            "highest, fewer units": "{most_fewer:.3f}",
        },
    )


def _all_rates(rates: pd.DataFrame, study: ErrorRates) -> Table:
    """Every test's two-sided rates at the sizes that are shown."""
    rows = rates[(rates["alternative"] == "two-sided") & rates["n_units"].isin(study.shown)]
    rows = rows.assign(
        mark=[_mark(share, study.aims) for share in rows["share"]],
        opened=rows["breaks"].map(lambda breaks: "(" if breaks else ""),
        closed=rows["breaks"].map(lambda breaks: ")" if breaks else ""),
    )
    return _by_view(rows, _UNITS, "test", "{opened}{share:.3f}{mark}{closed}")


def _one_sided(rates: pd.DataFrame, study: ErrorRates) -> Table:
    """The default test's rates by how they are counted."""
    rows = rates[(rates["test"] == DEFAULT_TEST) & (rates["breaks"] == "") & rates["n_units"].isin(study.shown)]
    return _by_view(rows, _UNITS, "alternative", "{share:.3f}")


_UNITS = {"units": "{n_units}"}


def _by_view(rows: pd.DataFrame, columns: Mapping[str, str], across: str, cell: str) -> Table:
    """One row for each condition and unit (and `columns`), one column for each value of a column."""
    return Table(rows.assign(view=titles(rows)), {"condition": "{view}", **columns}, across, cell)


def _coverage(coverage: pd.DataFrame, study: ErrorRates) -> Table:
    """Coverage and width at the sizes that are shown."""
    rows = coverage[coverage["n_units"].isin(study.shown)]
    # What has been solved for is 0 to some 10^-13, on either side.
    return Table(
        rows.assign(view=titles(rows), true_gain=rows["true_gain"].round(2) + 0.0),
        {
            "condition": "{view}",
            "units": "{n_units:,}",
            "true gain": "{true_gain:.2f}",
            "interval": "{interval}",
            "share": "{share:.3f} ({low:.3f} – {high:.3f})",
            "mean width": "{mean_width:.3g}",
            "undefined": "{undefined:.1%}",
        },
    )


def _draw_rates(rates: pd.DataFrame, study: ErrorRates) -> Any:
    rates = rates[(rates["alternative"] == "two-sided") & rates["test"].isin(_DRAWN)]
    views = {str(title): rows for title, rows in rates.groupby(titles(rates), sort=False)}
    figure, axes = figures.panels(list(views), columns=min(3, len(views)), width=3.3, height=2.3)
    for ax, rows in zip(axes, views.values(), strict=True):
        figures.error_rates(rows, target=study.aims.target, liberal=study.aims.liberal, ax=ax)
    figures.share_legend(figure, axes)
    return figure


def _draw_coverage(coverage: pd.DataFrame, study: ErrorRates) -> Any:
    rows = coverage.assign(title=titles(coverage))
    height = 0.4 * rows["title"].nunique() + 1
    return figures.single(
        figures.coverage, rows, target=study.aims.coverage, width=7.6, height=height, legend_aside=True
    )


def _mark(share: float, aims: Aims) -> str:
    return "".join("▲" if share > most else "▼" if share < least else "" for least, most in (aims.target, aims.liberal))


def _marks(aims: Aims) -> str:
    return _MARKS.format(target=_range(aims.target), liberal=_range(aims.liberal))


def _range(bounds: Range) -> str:
    return f"{bounds[0]:g} – {bounds[1]:g}"
