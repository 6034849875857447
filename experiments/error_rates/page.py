"""What the page shows: its sections, figures, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

import simstudy as ss
from simstudy.pages.sections import Figure, Section, Table

from .choices import FAILS, FIRST, KEEPS
from .drawing import draw_choices, draw_coverage, draw_exaggeration, draw_power, draw_rates, draw_uniformity
from .settings import DEFAULT_TEST, DEPENDENT_UNITS, DRAWN, EVEN, TWO_SIDED, Range, Settings

CLOSING = (
    "Error rates are shares of test sets with p at or below the level where the two systems have equal scores in the "
    "population, whatever hypothesis a test has of its own; power is the share where the truly better system has the "
    "better score as well. Intervals are 95 % (Clopper-Pearson; normal for type M) for the number of test sets drawn; "
    "the test sets of a batch share their resamples, which adds little. Test sets on which a score is 0 / 0 are left "
    "out, and counted (n_undefined, and how many of them the test rejects). Shares are fractions."
)
CHOSEN = {
    "situation": "{situation}",
    "units": "{sizes}",
    "first choice": "{first}",
    "highest error rate": "{worst}",
    "power": "{power}",
    "keep their level too": "{keeps}",
    "wrong too often": "{fails}",
}
OF_NULLS = {"test": "{test}", "null hypothesis": "{null}", "takes for granted": "{assumes}"}
EXACT = {
    "test": "{test}",
    "level": "{alpha:g}",
    "conditions": "{n_conditions}",
    "rates": "{n_rates}",
    "highest": "{highest:.4f}",
    "in standard deviations": "{highest_sd:.1f}",
    "above the level beyond Monte Carlo error": "{n_above}",
}
FOUND = {"condition": "{view}", "units": "{n_units:,}"}
MAGNITUDES = {
    **FOUND,
    "power": "{share:.3f}",
    "wrong winner": "{wrong:.4f} ({wrong_low:.4f} – {wrong_high:.4f})",
    "of the significant ones (type S)": "[{type_s:.3f}]",
    "gain over true gain (type M)": "[{type_m:.2f} ({type_m_low:.2f} – {type_m_high:.2f})]",
}
VERDICT = {
    "test": "{test}",
    "null": "{null}",
    "conditions": "{n_conditions}",
    "within": "{n_within} of {n_rates}",
    "liberal": "{n_liberal} of {n_rates}",
    "lowest": "{lowest:.3f}",
    "highest": "{highest:.3f}",
    "highest, fewer units": "{highest_fewer:.3f}",
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
# On fewer units some tests cannot reject at all.
LEAST_DRAWN = 6
VIEW = {"condition": "{view}", "units": "{n_units}"}


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
    """What the tests do, the verdict first."""
    target, liberal, n_from = in_words(study.aims.target), in_words(study.aims.liberal), study.aims.from_units
    rates, few = with_views(tables["rates"], study), with_views(tables["few_units"], study)
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
        *(_choice_sections(tables["choices"], study) if "choices" in tables else []),
        Section(
            "What each test asks",
            "The null hypothesis of each test, and its other assumptions. A "
            "test of another hypothesis than equal scores may rightly reject where scores are equal: here that counts "
            "as an error, since who compares systems asks for their scores.",
            table=of_nulls(study),
        ),
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
            f"The same for five tests. Bands: {target} and {liberal} (Bradley's liberal criterion). Where scores are "
            "means, sign flips are randomization.",
            figure=Figure("error_rates", lambda: draw_rates(drawn, study.aims)),
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
            "pairs, two equally good systems differ significantly about twice as often as the level says. The last "
            "column counts those where that is a system that was named beforehand, the first of the condition; where "
            "scores are skewed, the two systems' shares differ.",
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


def _choice_sections(choices: pd.DataFrame, study: Settings) -> list[Section]:
    return [
        Section(
            "Which test when",
            f"Two-sided at {study.alpha:g}. First choice: of the tests whose highest error rate over the situation's "
            f"conditions with equal scores and these sizes is at most {study.aims.target[1]:g} (where there is none: "
            f"{study.aims.liberal[1]:g}) and whose null hypothesis is about the scores, the one that detects most of "
            "this study's gains, and those within 0.01 of it. "
            "The figure has the power in percent; a frame marks first choices. Conditions are models: a test that "
            "keeps its level in all of them may fail elsewhere.",
            table=chosen(choices),
            figure=Figure("choices", lambda: draw_choices(choices)),
        )
    ]


def exact_sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """Where results could be exchanged."""
    sections = []
    if len(tables["exact"]):
        sections.append(
            Section(
                "Exact tests on exact nulls",
                "Where the two systems' results could be exchanged, these tests' p-values are exact and their error "
                "rates at most the level, on any number of units. How far the highest of their two-sided rates lies "
                "above it, in standard deviations of the count, and how many rates are above beyond Monte Carlo error "
                "(binomial, one-sided, corrected by Holm for all rates of the table at 5 %; tests share their test "
                "sets). wilcoxon is normal where many units differ.",
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
                f"Where results could be exchanged, on {shown['n_units'].min():,} units: the share of p-values at or "
                "below a level, less the level, by test; a line a condition. Bands: where 95 % of single shares would "
                "lie if p-values were uniform. "
                "Tests of few distinct values go down in steps: they are on the safe side between them.",
                figure=Figure("uniformity", lambda: draw_uniformity(shown)),
            )
        )
    return sections


def power_sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """What tests find."""
    found = with_views(tables["power"].assign(breaks=""), study)
    found = found[(found["alternative"] == TWO_SIDED) & (found["alpha"] == study.alpha)]
    default, shown = found[found["test"] == DEFAULT_TEST], found[found["n_units"].isin(study.shown)]
    return [
        Section(
            "Power",
            f"The share of test sets with p ≤ {study.alpha:g} (two-sided) on which the truly better system wins. A "
            "test that rejects true null hypotheses too often has more power for that reason.",
            table=Table(shown, FOUND, across="test", cell="{share:.3f}"),
            figure=Figure(
                "power", lambda: draw_power(found[found["test"].isin(EVEN) & (found["n_units"] >= LEAST_DRAWN)])
            ),
        ),
        Section(
            "The wrong winner, and too large a gain",
            f"The default test ({DEFAULT_TEST}) where one system is truly better. Of all test sets: how often it is "
            "significant for the worse system (type III). Of the significant ones: the same (type S), and how many "
            "times the true gain the winner's observed gain is (type M; Gelman and Carlin 2014): while power is low, "
            "what is significant is exaggerated. Empty where fewer than 20 test sets are significant.",
            table=Table(default, MAGNITUDES),
            figure=Figure("exaggeration", lambda: draw_exaggeration(default)) if default["type_m"].any() else None,
        ),
    ]


def coverage_sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """What intervals hold, and what was drawn."""
    return [
        Section(
            "Coverage of the interval",
            f"95 % intervals of the gain: Tango's for right and wrong items, the jackknife's with t otherwise. Band: "
            f"{in_words(study.aims.coverage)}. By item, items of a cluster are taken for independent ones, and are "
            "not; shares below 75 % are drawn at the edge.",
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
