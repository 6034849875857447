"""What the page shows: its sections, figures and tables."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

import simstudy as ss
from simstudy.pages.sections import Figure, Section, Table

from .choices import FAILS, FIRST, KEEPS
from .columns import CHOSEN, COVERED, DRAWN_FROM, EXACT, FOUND, MAGNITUDES, OF_NULLS, VERDICT
from .drawing import draw_choices, draw_coverage, draw_exaggeration, draw_power, draw_rates, draw_uniformity
from .settings import DEFAULT_TEST, DEPENDENT_UNITS, DRAWN, EVEN, NAMED, ONE_SIDED, TWO_SIDED, Range, Settings

CLOSING = (
    "The type I error rate is the share of test sets with p at or below the level when the two systems have equal "
    "scores in the population. It counts every rejection, whatever null hypothesis the test has. Power is the share "
    "of test sets with p at or below the level in which the truly better system also has the better score. Intervals "
    "are 95 % (Clopper-Pearson; normal for type M) and account for the number of test sets drawn. The test sets of a "
    "batch share their resamples, which adds little. Test sets in which a score is 0 / 0 are left out. Column "
    "n_undefined counts them, and n_rejected_undefined counts how many of them the test rejects. Shares are fractions."
)
# On fewer units some tests cannot reject at all.
LEAST_DRAWN = 6
# What the page calls one-sided tests.
SIDES = {ONE_SIDED: "one-sided, better system", NAMED: "one-sided, named beforehand"}


def with_views(table: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """The table with what a figure or a page calls each row's condition and unit."""
    known = zip([study.conditions[name] for name in table["condition"]], table["unit"], strict=True)
    return table.assign(view=[c.title + (", by item" if unit != c.pair.units[0] else "") for c, unit in known])


def in_words(bounds: Range) -> str:
    """A range of rates."""
    return f"{bounds[0]:g} – {bounds[1]:g}"


def chosen(choices: pd.DataFrame) -> Table:
    """The tests of each verdict in a situation and band of sizes."""
    rows = []
    for (situation, sizes), members in choices.groupby(["situation", "sizes"], sort=False):
        first, keeps, fails = (members[members["verdict"] == verdict] for verdict in (FIRST, KEEPS, FAILS))
        rows.append(
            {
                "situation": situation,
                "sizes": sizes,
                "first": ", ".join(first["test"]) or "none",
                "worst": _each("{:.3f}", first["worst"]),
                "power": _each("{:.2f}", first["power"].dropna()),
                "keeps": ", ".join(keeps["test"]),
                "fails": ", ".join(fails["test"]),
            }
        )
    return Table(pd.DataFrame(rows), CHOSEN)


def _each(template: str, values: pd.Series[float]) -> str:
    """A number, or the range of several that differ."""
    texts = [template.format(value) for value in sorted(values)]
    return " – ".join(dict.fromkeys([texts[0], texts[-1]])) if texts else ""


def of_nulls(study: Settings) -> Table:
    """What each test's null hypothesis is."""
    rows = [{"test": name, "null": ss.TESTS[name].null, "assumes": ss.TESTS[name].assumes} for name in study.tests]
    return Table(pd.DataFrame(rows), OF_NULLS)


def verdicts(tests: pd.DataFrame) -> Table:
    """The verdict on each test; a condition that breaks nothing is said once."""
    return Table(tests[(tests["n_conditions"] > 0) & ~tests.duplicated(["test", "n_conditions"])], VERDICT)


def rate_sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """Type I error rates of the tests, the recommended tests first."""
    target, liberal, n_from = in_words(study.aims.target), in_words(study.aims.liberal), study.aims.from_units
    few = with_views(tables["few_units"], study)
    return [
        *(_choice_sections(tables["choices"], study) if "choices" in tables else []),
        Section(
            "Null hypotheses of the tests",
            "The null hypothesis of each test and its further assumptions. Some tests have another null hypothesis "
            "than equal scores, so that they may rightly reject two systems with equal scores. This page counts such "
            "a rejection as an error, because a user who compares systems asks about their scores.",
            table=of_nulls(study),
        ),
        Section(
            "Which test keeps its level?",
            f"A summary of the two-sided rates of p ≤ {study.alpha:g} for two systems with equal scores and "
            "independent units. Rows of equal scores count all conditions. Rows of its own hypothesis count the "
            "conditions in which the null hypothesis of the test is true, and in which the systems are independent if "
            f"the test assumes it. The target range is {target}, and Bradley's liberal criterion {liberal}. The "
            f"columns of these ranges, the lowest rate and the highest rate are for {n_from} units or more. The last "
            "column has the highest rate with fewer units.",
            table=verdicts(tables["tests"]),
        ),
        *_by_condition(with_views(tables["rates"], study), study),
        Section(
            "Few units",
            f"The default test ({DEFAULT_TEST}) and the interval with fewer than {n_from} units, for equal scores. A "
            f"cell has the two-sided type I error rate at {study.alpha:g}, then the coverage of the 95 % interval.",
            table=Table(
                few.assign(size=few["n_units"].map("{:,} units".format)),
                {"condition": "{view}"},
                across="size",
                cell="{error_rate:.3f} / {coverage:.3f}",
            ),
        ),
    ]


def _by_condition(rates: pd.DataFrame, study: Settings) -> list[Section]:
    target, liberal = in_words(study.aims.target), in_words(study.aims.liberal)
    rates = rates[rates["alpha"] == study.alpha]
    shown, two_sided = rates[rates["n_units"].isin(study.shown)], rates["alternative"] == TWO_SIDED
    drawn = rates[
        two_sided & rates["test"].isin(DRAWN) & (rates["breaks"] != DEPENDENT_UNITS) & (rates["n_units"] >= LEAST_DRAWN)
    ]
    default = shown[(shown["test"] == DEFAULT_TEST) & (shown["breaks"] == "")]
    of_all = shown[shown["alternative"] == TWO_SIDED]
    opened, closed = (of_all["breaks"].map(lambda breaks, mark=mark: mark if breaks else "") for mark in "()")
    marks = [
        "".join("▲" if share > most else "▼" if share < least else "" for least, most in ranges)
        for share, ranges in ((share, (study.aims.target, study.aims.liberal)) for share in of_all["share"])
    ]
    return [
        Section(
            "Type I error rates by condition",
            f"Two-sided rates of p ≤ {study.alpha:g} for five tests, by the number of units. The two systems have "
            f"equal scores. Titles are conditions, which the last table describes. Bands: the target range {target} "
            f"and Bradley's liberal criterion {liberal}. If scores are means, sign flips and randomization are the "
            "same test.",
            figure=Figure("error_rates", lambda: draw_rates(drawn, study.aims)),
        ),
        Section(
            "All tests",
            f"Two-sided type I error rates at {study.alpha:g}, without correction. ▲ marks a rate above the target "
            f"range {target}, and ▼ one below it. Two marks: outside Bradley's range {liberal}. Brackets: the "
            "condition breaks an assumption of the test, which is its null hypothesis, independent systems or "
            "independent units. Rows by item take the items of a cluster as independent units.",
            table=Table(
                of_all.assign(marks=marks, opened=opened, closed=closed),
                FOUND,
                across="test",
                cell="{opened}{share:.3f}{marks}{closed}",
            ),
        ),
        Section(
            "One-sided tests",
            f"Rates of p ≤ {study.alpha:g} of the default test ({DEFAULT_TEST}) for equal scores. Better system: "
            "one-sided for the system with the better score on the test set, as in a table of all pairs. Two equally "
            "good systems are then significant about twice as often as the level says. Named beforehand: one-sided "
            "for the first system of the condition, whatever the data say. If scores are skewed, the second system "
            "has another rate.",
            table=Table(
                default.assign(alternative=default["alternative"].replace(SIDES)),
                FOUND,
                across="alternative",
                cell="{share:.3f}",
            ),
        ),
    ]


def _choice_sections(choices: pd.DataFrame, study: Settings) -> list[Section]:
    return [
        Section(
            "Which test when",
            f"The recommended tests of each situation, two-sided at {study.alpha:g} without correction. A test keeps "
            f"its level if its type I error rate is at most {study.aims.target[1]:g} in every condition of the "
            "situation with equal scores and for every number of units in the row. A test rejects too often if its "
            f"highest rate is above {study.aims.liberal[1]:g}. The first choice is the test with the most power among "
            "those that keep their level and whose null hypothesis is about the scores. If none keeps it, those with "
            f"a highest rate up to {study.aims.liberal[1]:g} are compared. Tests with up to 0.01 less power are first "
            "choices too. Tests whose highest rate is between these limits nearly keep their level; unless they are "
            "first choices, they are in the figure only. Tests that assume independent systems, or do not apply to "
            "all conditions of the situation, are left out. Power is the mean over this study's gains in the "
            "situation. A range is over several first choices. The figure has the power in percent, and a frame marks "
            "first choices. Conditions are models: a test that keeps its level in all of them may fail elsewhere.",
            table=chosen(choices),
            figure=Figure("choices", lambda: draw_choices(choices)),
        )
    ]


def exact_sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """Sections on conditions with exchangeable systems."""
    sections = []
    if len(tables["exact"]):
        sections.append(
            Section(
                "Exact tests of exchangeable systems",
                "Two-sided type I error rates in the conditions whose two systems are exchangeable. There the "
                "p-values of these tests are exact: the error rate is at most the level for any number of units. "
                "Exception: wilcoxon uses the normal distribution if many units differ. Excess: a rate minus its "
                "level, over the standard deviation of a share of that many test sets. Significantly above: the "
                "number of rates that a one-sided binomial test finds above the level (5 %, Holm's correction for all "
                "rates of the table). The tests share their test sets.",
                table=Table(tables["exact"], EXACT),
            )
        )
    if "quantiles" in tables:
        shown = tables["quantiles"].assign(
            situation=[study.conditions[name].situation for name in tables["quantiles"]["condition"]]
        )
        sections.append(
            Section(
                "Are p-values uniform?",
                f"The share of p-values at or below a level, minus the level, on {shown['n_units'].min():,} units of "
                "exchangeable systems. Each panel has a test, each line a condition, and a colour its situation. A "
                "line is at 0 if p-values are uniform. Bands: uniform p-values have 95 % of their single shares in "
                "the band. A test with few distinct p-values is conservative between them: its line falls below 0. "
                "Lines leave the panel beyond 0.05.",
                figure=Figure("uniformity", lambda: draw_uniformity(shown)),
            )
        )
    return sections


def power_sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """Power, wrong winners and overestimated gains."""
    found = with_views(tables["power"].assign(breaks=""), study)
    found = found[(found["alternative"] == TWO_SIDED) & (found["alpha"] == study.alpha)]
    default, shown = found[found["test"] == DEFAULT_TEST], found[found["n_units"].isin(study.shown)]
    return [
        Section(
            "Power",
            f"The share of test sets with p ≤ {study.alpha:g} (two-sided, without correction) in which the truly "
            "better system has the better score. A test that rejects true null hypotheses too often has more power "
            "for that reason. The figure has six tests, and its dashed line is at 80 %.",
            table=Table(shown, FOUND, across="test", cell="{share:.3f}"),
            figure=Figure(
                "power", lambda: draw_power(found[found["test"].isin(EVEN) & (found["n_units"] >= LEAST_DRAWN)])
            ),
        ),
        Section(
            "The wrong winner, and too large a gain",
            f"Errors of the default test ({DEFAULT_TEST}, two-sided at {study.alpha:g}) when one system is truly "
            "better. Wrong winner: the share of all test sets that are significant for the worse system (type III "
            "error). Type S: the share of these among the significant test sets. Type M: the mean observed gain of "
            "the winner in the significant test sets, over the true gain (Gelman and Carlin 2014). While power is "
            "low, significant gains overestimate the true gain. Types S and M are empty if fewer than 20 test sets "
            "are significant. Ratios above 8 are outside the figure.",
            table=Table(default, MAGNITUDES),
            figure=Figure("exaggeration", lambda: draw_exaggeration(default)) if default["type_m"].any() else None,
        ),
    ]


def coverage_sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """Coverage of the intervals, and the conditions."""
    return [
        Section(
            "Coverage of the interval",
            "The share of 95 % intervals of the gain that contain the true gain. The interval is Tango's score "
            "interval for right and wrong items, and the jackknife interval with a t quantile otherwise. Band: "
            f"{in_words(study.aims.coverage)}. Rows by item take the items of a cluster as independent, which they "
            "are not. Shares below 75 % are drawn at the edge.",
            figure=Figure("coverage", lambda: draw_coverage(with_views(tables["coverage"], study), study.aims)),
        ),
        Section(
            "Intervals",
            "Coverage of the 95 % intervals with its own interval, and their mean width on the metric's scale. A "
            "score interval is Tango's. Test sets without an interval are left out: those in which nothing varies, or "
            "in which a score is undefined without one of the units.",
            table=intervals(tables["coverage"], study),
        ),
        Section(
            "Conditions",
            "The two systems of each condition, what they have in common, and their true scores in the population.",
            table=Table(tables["conditions"], DRAWN_FROM),
        ),
    ]


def intervals(covered: pd.DataFrame, study: Settings) -> Table:
    """Coverage and width at the sizes that are shown."""
    rows = with_views(covered[covered["n_units"].isin(study.shown)], study)
    # What has been solved for is 0 to some 10^-13, on either side.
    return Table(rows.assign(true_gain=rows["true_gain"].round(2) + 0.0), COVERED)
