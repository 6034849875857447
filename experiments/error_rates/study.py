"""Error rates and coverage: two systems of known scores, drawn many times, asked every test that applies.

Where the two systems have equal scores in the population, each rejection is an error, whatever hypothesis a test has of
its own. What a condition breaks of a test's assumptions is said beside its rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Self

import numpy as np
import pandas as pd
from pydantic import AfterValidator, Field, model_validator

import simstudy as ss
from simstudy.sections import Figure, Section, Table
from simstudy.studies import (
    EACH_ONCE,
    PAIR_MODELS,
    Cell,
    DrawnPairs,
    Findings,
    Keys,
    Positive,
    Resamples,
    RunContext,
    Size,
    Study,
    clopper_pearson,
    derived_seed,
    one_of,
)

# How rejections are counted: two-sided; one-sided for the system that the data say is the better; and one-sided for a
# system that was named before.
TWO_SIDED, ONE_SIDED, NAMED = "two-sided", "greater", "greater, named beforehand"

# What a condition may break, as the column ``breaks`` says it.
NULL, DEPENDENT_UNITS, DEPENDENT_SYSTEMS = "null hypothesis", "independent units", "independent systems"

# Their null hypotheses ask for more than equal scores: that results could be exchanged, or what follows from it.
OF_EXCHANGEABLE = ("randomization", "sign", "wilcoxon")

# The test that is run where none is asked for, and those that the figure draws.
DEFAULT_TEST, DRAWN = "sign_flips", ("randomization", "t_paired", "bootstrap", "sign_flips")

# A true gain is 0 where it is below this on the metric's scale; what has been solved for is known to some 10^-13.
NO_GAIN = 1e-9


def ascending(bounds: tuple[float, float]) -> tuple[float, float]:
    """The rule that a range has its lower bound first."""
    if bounds[0] >= bounds[1]:
        raise ValueError(f"it must be a lower and an upper bound, not {bounds}")
    return bounds


Share = Annotated[float, Field(ge=0, le=1)]
Range = Annotated[tuple[Share, Share], Field(strict=False), AfterValidator(ascending)]


class Condition(Keys):
    """Two systems of known scores."""

    title: str
    """For a figure."""
    systems: str
    """What they are, and what they have in common."""
    model: Annotated[str, one_of(PAIR_MODELS)]
    parameters: dict[str, Any]
    """Of the model."""
    exchangeable: bool = False
    """Whether the two systems' results on a unit could be exchanged."""
    independent: bool = False
    """Whether the two systems' results are independent of each other."""

    @model_validator(mode="after")
    def _model(self) -> Self:
        try:
            known = np.isfinite(self.pair.true_gain)
        except (TypeError, ValueError, IndexError, ArithmeticError) as error:
            raise ValueError(f"parameters are not those of {self.model}: {error}") from None
        if not known:
            raise ValueError(f"parameters must give two scores, unlike {self.parameters}")
        return self

    @property
    def pair(self) -> Any:
        """What draws the two systems."""
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in self.parameters.items()}
        return PAIR_MODELS[self.model](**given)

    @property
    def null(self) -> bool:
        """Whether the two systems' true scores are equal."""
        return bool(abs(self.pair.true_gain) < NO_GAIN)

    def breaks(self, test: str, unit: str) -> str:
        """What a test of such units takes to be so and is not; empty where all holds that it says of itself."""
        if unit != self.pair.units[0]:
            return DEPENDENT_UNITS
        if test in OF_EXCHANGEABLE and not self.exchangeable:
            return NULL
        return DEPENDENT_SYSTEMS if assumes_independence(test) and not self.independent else ""


def assumes_independence(test: str) -> bool:
    """Whether a test takes the two systems' results to be independent of each other."""
    return "independent of each other" in ss.TESTS[test].assumes


class Aims(Keys):
    """Where rates should lie, as ranges of shares."""

    liberal: Range = (0.025, 0.075)
    """Error rates: half to one and a half times the level (Bradley 1978, his liberal criterion)."""
    target: Range = (0.035, 0.065)
    """Error rates: what is aimed at here."""
    coverage: Range = (0.93, 0.97)
    """Of 95 % intervals."""
    from_units: Size = 100
    """From how many units on the target is to be met."""


class Settings(Study):
    """The keys of study.toml."""

    conditions: dict[str, Condition] = Field(min_length=1)
    tests: Annotated[list[Annotated[str, one_of(ss.TESTS)]], EACH_ONCE] = Field(default=list(ss.TESTS), min_length=1)
    """Which of them apply to a condition's metric, the registry says."""
    n_units: Annotated[list[Size], EACH_ONCE] = Field(min_length=1)
    shown: Annotated[list[Size], EACH_ONCE] = Field(min_length=1)
    """Those that the page's main table shows."""
    batches: Positive
    """Batches of test sets, each with resamples of its own that its test sets share."""
    sets: Positive
    """Test sets of a batch."""
    n_resamples: Resamples = 999
    """Of each test set, where a test draws any: they are random, but error rates are not less right for few."""
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    aims: Aims = Aims()

    @model_validator(mode="after")
    def _shown(self) -> Self:
        if not set(self.shown) <= set(self.n_units):
            raise ValueError(f"shown must be some of n_units, not {self.shown} of {self.n_units}")
        return self


def run(study: Settings, context: RunContext) -> Findings:
    """Draw all batches, count, and set the tests beside each other."""
    cells = [
        Cell(
            label=f"{name}, {n} units, batch {batch}",
            description={
                "condition": [name, condition.model_dump(include={"model", "parameters"})],
                "n_units": n,
                "batch": batch,
                **study.model_dump(include={"tests", "sets", "n_resamples", "alpha", "seed"}),
            },
            arguments=(study, name, n, batch),
        )
        for name, condition in study.conditions.items()
        for n in study.n_units
        for batch in range(study.batches)
    ]
    with context.clock("batches"):
        found = context.run("test sets", examine, cells, amount=lambda cell: cell.arguments[2])
    where = [{"condition": cell.arguments[1], "n_units": cell.arguments[2]} for cell in cells]
    rejected, covered = (
        [at | row for at, batch in zip(where, found, strict=True) for row in batch[kind]]
        for kind in ("rejections", "coverage")
    )
    tables = {"coverage": coverage(covered, study), "conditions": conditions(study)}
    if rejected:
        rates = error_rates(rejected, study)
        few = few_units(rates, tables["coverage"], study.aims.from_units)
        tables = {"tests": by_test(rates, study.aims), "rates": rates, "few_units": few} | tables
        summary = {"Two-sided error rates where scores are equal": verdicts(tables["tests"])}
    else:
        summary = {"Coverage": intervals(tables["coverage"], study)}
    n_sets = study.batches * study.sets
    return Findings(
        tables,
        [*(rate_sections(tables, study) if rejected else []), *coverage_sections(tables, study)],
        {
            "Test sets": f"{n_sets:,} for each condition and number of units, in {study.batches} batches",
            "Resamples": f"{study.n_resamples:,} of each test set, where p-values are not computed",
            "Seed": str(study.seed),
        },
        CLOSING,
        summary,
    )


# What is computed


def examine(study: Settings, name: str, n_units: int, batch: int) -> dict[str, list[dict[str, Any]]]:
    """One cell: a batch of test sets. Where one system is the better nothing is tested: no rejection is an error."""
    condition, pair = study.conditions[name], study.conditions[name].pair
    rng = np.random.default_rng(derived_seed(study.seed, "test sets", name, n_units, batch))
    seed = derived_seed(study.seed, "resamples", name, n_units, batch) % 2**64
    statistics = pair.draw(study.sets, n_units, rng)
    found: dict[str, list[dict[str, Any]]] = {"rejections": [], "coverage": []}
    for unit in pair.units:
        drawn = DrawnPairs(statistics.by(unit), pair.metric, n_resamples=study.n_resamples, seed=seed)
        found["coverage"].append({"unit": unit, **drawn.coverage(pair.true_gain)})
        if condition.null:
            # Of tests that take systems to be independent it is enough to see what that does.
            tests = [test for test in study.tests if unit == pair.units[0] or not assumes_independence(test)]
            found["rejections"] += [{"unit": unit, **row} for row in drawn.rejections(tests, study.alpha)]
    return found


def error_rates(counted: Sequence[dict[str, Any]], study: Settings) -> pd.DataFrame:
    """Shares of rejected test sets from the batches' counts: a row a condition, unit, size, test and way to count."""
    keys = ["condition", "unit", "n_units", "test", "alternative"]
    sums = pd.DataFrame(counted).groupby(keys, sort=False).sum().reset_index()
    named = sums[sums["alternative"] == ONE_SIDED].assign(alternative=NAMED, n_rejected=sums["n_rejected_first"])
    table = with_shares(pd.concat([sums, named], ignore_index=True).assign(alpha=study.alpha), "n_rejected", study)
    counts = ["n_sets", "n_rejected", "share", "low", "high", "n_undefined", "n_rejected_undefined", "breaks"]
    return table[["condition", "metric", *keys[1:], "alpha", *counts]]


def coverage(counted: Sequence[dict[str, Any]], study: Settings) -> pd.DataFrame:
    """Shares of the intervals that hold the true gain, their mean width, and how many test sets have none."""
    keys = ["condition", "unit", "n_units", "interval"]
    table = pd.DataFrame(counted).groupby(keys, sort=False).sum().reset_index()
    table = with_shares(table.assign(test=DEFAULT_TEST, level=0.95), "n_covered", study)
    table = table.assign(
        true_gain=[study.conditions[name].pair.true_gain for name in table["condition"]],
        mean_width=table["sum_width"] / table["n_sets"].where(table["n_sets"] > 0),
        undefined=table["n_undefined"] / (table["n_sets"] + table["n_undefined"]),
    )
    counts = ["n_sets", "n_covered", "share", "low", "high", "n_undefined", "mean_width", "undefined", "breaks"]
    return table[["condition", "metric", "unit", "n_units", "true_gain", "interval", "level", *counts]]


def with_shares(table: pd.DataFrame, count: str, study: Settings) -> pd.DataFrame:
    """Shares of a count with 95 % intervals, and what is known of each condition; conditions as they are listed."""
    low, high = clopper_pearson(table[count], table["n_sets"].clip(lower=1))
    known = [study.conditions[name] for name in table["condition"]]
    places = {name: k for k, name in enumerate([*study.conditions, "cluster", "item"])}
    return table.assign(
        metric=[condition.pair.metric for condition in known],
        share=table[count] / table["n_sets"].where(table["n_sets"] > 0),
        low=low,
        high=high,
        breaks=[c.breaks(test, unit) for c, test, unit in zip(known, table["test"], table["unit"], strict=True)],
    ).sort_values(["condition", "unit"], key=lambda column: column.map(places), kind="stable", ignore_index=True)


def by_test(rates: pd.DataFrame, aims: Aims) -> pd.DataFrame:
    """How each test does over all conditions of independent units, two-sided, and over those that do not break it.

    n_within and n_liberal count the rates from so many units on that are within the ranges, of n_rates; least and most
    are the lowest and highest of these, most_fewer is the highest rate on fewer units.
    """
    two_sided = rates[(rates["alternative"] == TWO_SIDED) & (rates["breaks"] != DEPENDENT_UNITS)]
    rows = []
    for test in [name for name in ss.TESTS if name in set(two_sided["test"])]:
        of_test = two_sided[two_sided["test"] == test]
        for scope, of_scope in (("equal scores", of_test), ("its own hypothesis", of_test[of_test["breaks"] == ""])):
            enough = of_scope["n_units"] >= aims.from_units
            many, few = of_scope.loc[enough, "share"], of_scope.loc[~enough, "share"]
            within, liberal = (int(many.between(*bounds).sum()) for bounds in (aims.target, aims.liberal))
            n_conditions = of_scope["condition"].nunique()
            rows.append((test, scope, n_conditions, len(many), within, liberal, many.min(), many.max(), few.max()))
    columns = ["test", "where", "n_conditions", "n_rates", "n_within", "n_liberal", "least", "most", "most_fewer"]
    return pd.DataFrame(rows, columns=columns)


def few_units(rates: pd.DataFrame, covered: pd.DataFrame, below: int) -> pd.DataFrame:
    """The default test and the interval on few independent units, in the conditions without a gain."""
    keys = ["condition", "unit", "n_units"]
    default = rates[(rates["test"] == DEFAULT_TEST) & (rates["alternative"] == TWO_SIDED) & (rates["breaks"] == "")]
    both = default[default["n_units"] < below].merge(covered, on=keys, suffixes=("", "_covered"))
    names = {"share": "error_rate", "low": "error_low", "high": "error_high"}
    names |= {"share_covered": "coverage", "low_covered": "coverage_low", "high_covered": "coverage_high"}
    return both[[*keys, "n_sets", *names, "undefined"]].rename(columns=names | {"undefined": "no_interval"})


def conditions(study: Settings) -> pd.DataFrame:
    """What is drawn."""
    rows = [
        (name, c.title, c.pair.metric, c.systems, *c.pair.scores(), c.pair.true_gain, c.exchangeable, c.independent)
        for name, c in study.conditions.items()
    ]
    columns = ["condition", "title", "metric", "systems", "score_1", "score_2", "true_gain"]
    return pd.DataFrame(rows, columns=[*columns, "exchangeable", "independent"])


# What the page shows

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
