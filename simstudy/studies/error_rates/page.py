"""The page of a study of error rates: which rows of its tables are printed, and what is said of them."""

from __future__ import annotations

import pandas as pd

from simstudy.engines.registry import DEFAULT_TEST
from simstudy.report import Section, Tables
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


def titles(table: pd.DataFrame) -> list[str]:
    """What a figure or a table calls each row's condition and unit."""
    conditions = [CONDITIONS[name] for name in table["condition"]]
    return [
        condition.title + (", by item" if unit != condition.model.units[0] else "")
        for condition, unit in zip(conditions, table["unit"], strict=True)
    ]


def summary(tables: Tables, study: ErrorRates) -> dict[str, pd.DataFrame]:
    """What a terminal shows."""
    if "tests" in tables:
        return {"Two-sided error rates where scores are equal": test_rows(tables["tests"])}
    return {"Coverage": coverage_rows(tables["coverage"], study)}


def sections(tables: Tables, study: ErrorRates) -> list[Section]:
    """What the tables say, the verdict first."""
    tested = _of_tests(tables, study) if "tests" in tables else []
    return [
        *tested,
        Section(
            "Coverage of the interval",
            f"95 % intervals of the gain: Tango's for right and wrong items, the jackknife's with t otherwise. Band: "
            f"{_range(study.aims.coverage)}. By item, items of a cluster are taken for independent ones, and are not.",
            "coverage",
        ),
        Section(
            "Intervals",
            "Share that hold the true gain, and mean width. Test sets without an interval are left out: those where "
            "nothing varies, or where a score is undefined without one of the units.",
            table=coverage_rows(tables["coverage"], study),
        ),
        Section(
            "Conditions",
            "The two systems, what they have in common, and their true scores.",
            table=condition_rows(tables["conditions"]),
        ),
    ]


def _of_tests(tables: Tables, study: ErrorRates) -> list[Section]:
    aims = study.aims
    return [
        Section(
            "Which test keeps its level?",
            f"Two-sided rates of p ≤ {study.alpha:g} over all conditions with equal scores and independent units, and "
            "over those of them that break neither the test's own null hypothesis nor the independence of systems that "
            f"it may assume: how many of the rates from {aims.from_units} units on lie within {_range(aims.target)} "
            f"and {_range(aims.liberal)}, the lowest and the highest of them, and the highest on fewer units.",
            table=test_rows(tables["tests"]),
        ),
        Section(
            "By condition",
            f"The same for four tests. Bands: {_range(aims.target)} and {_range(aims.liberal)} (Bradley's liberal "
            "criterion); lines that leave a panel at the top go on above it. Where scores are means, sign flips are "
            "randomization.",
            "error_rates",
        ),
        Section(
            "All tests",
            "Two-sided error rates. " + _marks(aims),
            table=rate_rows(tables["rates"], study),
        ),
        Section(
            "One-sided",
            f"The default test ({DEFAULT_TEST}). Where the data say which system is the better, as in a table of all "
            "pairs, two equally good systems are told apart about twice as often as the level says. The last column "
            "counts those where that is a system that was named beforehand, the first of the condition; where scores "
            "are skewed, the two systems' shares differ.",
            table=one_sided_rows(tables["rates"], study),
        ),
        Section(
            "Few units",
            f"The default test's two-sided error rate / the coverage of the interval below {aims.from_units} units.",
            table=few_rows(tables["few_units"]),
        ),
    ]


def test_rows(tests: pd.DataFrame) -> pd.DataFrame:
    """The verdict on each test, as text."""
    # A condition that breaks nothing is said once.
    tests = tests[(tests["n_conditions"] > 0) & ~tests.duplicated(["test", "n_conditions"])]
    of = tests["n_rates"].map(str)
    return pd.DataFrame(
        {
            "test": tests["test"],
            "where": tests["where"],
            "conditions": tests["n_conditions"].map(str),
            "within": tests["n_within"].map(str) + " of " + of,
            "liberal": tests["n_liberal"].map(str) + " of " + of,
            "lowest": _shares(tests["least"]),
            "highest": _shares(tests["most"]),
            "highest, fewer units": _shares(tests["most_fewer"]),
        }
    )


def rate_rows(rates: pd.DataFrame, study: ErrorRates) -> pd.DataFrame:
    """Every test's two-sided rates at the sizes that are shown."""
    rows = rates[(rates["alternative"] == "two-sided") & rates["n_units"].isin(study.shown)]
    marked = [_marked(share, breaks, study.aims) for share, breaks in zip(rows["share"], rows["breaks"], strict=True)]
    rows = rows.assign(text=marked)
    return _by_view(rows, "test", "text", ["n_units"])


def one_sided_rows(rates: pd.DataFrame, study: ErrorRates) -> pd.DataFrame:
    """The default test's rates by how they are counted."""
    rows = rates[(rates["test"] == DEFAULT_TEST) & (rates["breaks"] == "") & rates["n_units"].isin(study.shown)]
    rows = rows.assign(text=_shares(rows["share"]))
    return _by_view(rows, "alternative", "text", ["n_units"])


def coverage_rows(coverage: pd.DataFrame, study: ErrorRates) -> pd.DataFrame:
    """Coverage and width at the sizes that are shown."""
    rows = coverage[coverage["n_units"].isin(study.shown)]
    return pd.DataFrame(
        {
            "condition": titles(rows),
            "units": rows["n_units"].map("{:,}".format),
            "true gain": rows["true_gain"].map("{:.2f}".format).str.replace("-0.00", "0.00"),
            "interval": rows["interval"],
            "share": _shares(rows["share"]) + " (" + _shares(rows["low"]) + " – " + _shares(rows["high"]) + ")",
            "mean width": rows["mean_width"].map("{:.3g}".format, na_action="ignore").astype(object).fillna(""),
            "undefined": rows["undefined"].map("{:.1%}".format),
        }
    )


def few_rows(few: pd.DataFrame) -> pd.DataFrame:
    """Error rate and coverage of few units, side by side."""
    rows = few.assign(
        text=_shares(few["error_rate"]) + " / " + _shares(few["coverage"]), n=few["n_units"].map("{:,} units".format)
    )
    return _by_view(rows, "n", "text", [])


def condition_rows(conditions: pd.DataFrame) -> pd.DataFrame:
    """What is drawn, as text."""
    return pd.DataFrame(
        {
            "condition": conditions["title"],
            "metric": conditions["metric"],
            "systems": conditions["systems"],
            "true scores": conditions["score_1"].map("{:.4g}".format)
            + " and "
            + conditions["score_2"].map("{:.4g}".format),
        }
    )


def _by_view(rows: pd.DataFrame, columns: str, values: str, by: list[str]) -> pd.DataFrame:
    """One row for each condition and unit (and `by`), one column for each value of a column; text."""
    rows = rows.assign(view=titles(rows))
    wide = rows.set_index(["view", *by, columns])[values].unstack(columns)
    order = rows.drop_duplicates(["view", *by]).set_index(["view", *by]).index
    wide = wide.reindex(order)[list(dict.fromkeys(rows[columns]))].astype(object).fillna("")
    return wide.reset_index().rename(columns={"view": "condition", "n_units": "units"})


def _marked(share: float, breaks: str, aims: Aims) -> str:
    mark = ""
    for least, most in (aims.target, aims.liberal):
        mark += "▲" if share > most else "▼" if share < least else ""
    text = f"{share:.3f}{mark}"
    return f"({text})" if breaks else text


def _shares(values: pd.Series) -> pd.Series:
    return values.map("{:.3f}".format, na_action="ignore").astype(object).fillna("")


def _marks(aims: Aims) -> str:
    return _MARKS.format(target=_range(aims.target), liberal=_range(aims.liberal))


def _range(bounds: Range) -> str:
    return f"{bounds[0]:g} – {bounds[1]:g}"
