"""All tests on the same pairs of systems, and how the systems are correlated: tables, figures and the page's parts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from simstudy import plot
from simstudy.comparisons.agreement import agreement, decisions_by_test
from simstudy.comparisons.comparing import compare
from simstudy.comparisons.correlation import correlation
from simstudy.comparisons.relation_classes import relation_classes
from simstudy.engines.arguments import applicable
from simstudy.engines.registry import TESTS
from simstudy.outputs import Outputs
from simstudy.pages.sections import Section, Table
from simstudy.pairs import ALL_PAIRS
from simstudy.running.keys import Cell
from simstudy.studies.context import RunContext
from simstudy.studies.definition import SideBySide
from simstudy.studies.figures import panel
from simstudy.tables import check_table
from simstudy.validation import InputError

# Chi-square has two sides only, so all tests are asked for two.
_ALTERNATIVE = "two-sided"


def side_by_side(outputs: Outputs, settings: SideBySide, seed: int, context: RunContext) -> dict[str, pd.DataFrame]:
    """Every test that applies on all pairs of a test set, two-sided, and r12 of all pairs."""
    tests = applicable(outputs)
    drawn = {test: settings.n_resamples if TESTS[test].n_resamples else None for test in tests}
    cells = [
        Cell(
            label=f"test {test} on {outputs.test_set}",
            arguments=(outputs, test, drawn[test], seed),
        )
        for test in tests
    ]
    pairs = pd.concat(context.run("tests side by side", _compared, cells, threaded=True), ignore_index=True)
    together = correlation(outputs)
    return {
        "tests": agreement(pairs, alpha=settings.alpha, seed=seed),
        "tests_disagree": disagreements(pairs, alpha=settings.alpha, n=settings.n_shown),
        "correlation": correlation_summary(together),
        "correlation_shares": correlation_shares(together),
    }


def _compared(outputs: Outputs, test: str, n_resamples: int | None, seed: int, n_threads: int) -> pd.DataFrame:
    return compare(
        outputs,
        test=test,
        alternative=_ALTERNATIVE,
        n_resamples=n_resamples,
        # Papers count the bootstrap's resamples.
        monte_carlo=test == "bootstrap",
        seed=seed,
        n_jobs=n_threads,
    ).frame


def disagreements(pairs: pd.DataFrame, *, alpha: float = 0.05, n: int = 30) -> pd.DataFrame:
    """Pairs that some tests reject and others do not: a column of p-values for each test.

    At most n rows, evenly chosen over the gains and by descending gain: the pair's columns, its gain, p by test, and
    prefers_worse, the tests that prefer the system with the worse score, so that they do not reject.
    """
    decided = decisions_by_test(pairs, alpha)
    wide, rejected, prefers_worse = (decided[name] for name in ("p_value", "rejected", "prefers_worse"))
    named = [", ".join(prefers_worse.columns[row]) for row in prefers_worse.to_numpy()]
    split = wide.assign(prefers_worse=named)[rejected.any(axis=1) & ~rejected.all(axis=1)].reset_index()
    split = split.sort_values(["gain", "system_a", "system_b"], ascending=[False, True, True])
    chosen = np.unique(np.linspace(0, len(split) - 1, min(n, len(split))).round().astype(int))
    return split.iloc[chosen].reset_index(drop=True)


def correlation_shares(table: pd.DataFrame) -> pd.DataFrame:
    """Shares of the pairs of each relation class by r12, in steps of 0.05.

    The table is what `correlation` returned for one test set. The result has a row for each step: relation, r12_from,
    r12_to, n_pairs, share (of the class's pairs with an r12; a fraction) and the class's median. A step includes its
    lower bound, the last one both.
    """
    check_table("table", table, ["relation", "r12"], "one of correlation")
    known = table[table["r12"].notna()]
    if known.empty:
        raise InputError("table", "must have a correlation; every r12 is missing")
    edges = np.arange(min(0, int(np.floor(known["r12"].min() * 20))), 21) / 20
    parts = []
    for relation, members in known.groupby("relation", sort=False):
        counts, _ = np.histogram(members["r12"], edges)
        steps = pd.DataFrame({"relation": relation, "r12_from": edges[:-1], "r12_to": edges[1:], "n_pairs": counts})
        parts.append(steps.assign(share=counts / len(members), median=members["r12"].median()))
    return pd.concat(parts, ignore_index=True)


def correlation_summary(table: pd.DataFrame) -> pd.DataFrame:
    """Quartiles of r12, over the pairs that have one, by test set and relation class; a table of `correlation`."""
    rows = []
    for key, members in relation_classes(table):
        known = members[members["r12"].notna()]
        quantiles = known["r12"].quantile([0, 0.25, 0.5, 0.75, 1]).tolist()
        names = ["r12_min", "r12_25", "r12_median", "r12_75", "r12_max"]
        row = dict(zip(names, quantiles, strict=True))
        rows.append({**key, "n_pairs": len(known), **row, "ratio_median": known["ratio"].median()})
    return pd.DataFrame(rows)


def side_by_side_sections(tables: Mapping[str, pd.DataFrame]) -> list[Section]:
    """How the tables of `side_by_side` are shown."""
    tests = tables["tests"]
    one = tests.iloc[0]
    where, alpha = f"{one['test_set']}, {one['n_items']:,} items", one["alpha"]
    aside, height = {"title": where, "legend_aside": True}, 0.34 * tests["test"].nunique() + 1.3
    others = [f"{name}: {TESTS[name].null}" for name in dict.fromkeys(tests["test"]) if not TESTS[name].of_scores]
    of_others = (
        " Tests in brackets test neither equal scores nor exchangeable results, so their decisions answer another "
        f"question. Their null hypotheses are: {'; '.join(others)}."
    )
    return [
        Section(
            "Correlation of the systems",
            "r12 is the correlation of the two systems' item scores. The figure and the table show its distribution "
            "over pairs of systems. The last column is the median factor by which a gain must be larger to be "
            "significant, if a test assumes that the systems are independent. Reference: Yeh (2000, section 2.1) "
            "found a median r12 of 0.38 across families, and 0.50 - 1.00 for most pairs within a family.",
            figure=panel(
                "correlation", plot.correlations, tables["correlation_shares"], width=7.8, height=3.4, **aside
            ),
            table=Table(
                tables["correlation"],
                {
                    "relation": "{relation}",
                    "pairs": "{n_pairs:,}",
                    "median r12": "{r12_median:.2f}",
                    "r12, quartiles": "{r12_25:.2f} – {r12_75:.2f}",
                    "r12, range": "{r12_min:.2f} – {r12_max:.2f}",
                    "larger gain needed, factor": "{ratio_median:.2f}",
                },
            ),
        ),
        Section(
            "All tests on the same pairs",
            f"How often each test is significant: the share of pairs with p <= {alpha:g} for the system with the "
            "better score. All tests are two-sided and not corrected for the number of pairs. The figure has 95 % "
            "intervals from resampling systems. Tests have the names that `compare(test=...)` takes. Two columns count "
            "the pairs on which a test and randomization decide differently. The last column is the median ratio of "
            "the two p-values, over pairs for which randomization has 0.001 <= p <= 0.5."
            + (of_others if others else ""),
            figure=panel("tests", plot.rejections, tests, width=8.0, height=height, **aside),
            table=_test_table(tests),
        ),
    ]


def _test_table(tests: pd.DataFrame) -> Table:
    """A row a test: its shares of rejected pairs by relation class, and the rest of all pairs together."""
    classes = tests[tests["relation"] != ALL_PAIRS]
    shares = {
        f"p <= {rows['alpha'].iloc[0]:g}, {relation!s}": rows.set_index("test")["share"]
        for relation, rows in classes.groupby("relation", sort=False)
    }
    pooled = tests[tests["relation"] == ALL_PAIRS]
    pooled = tests if pooled.empty else pooled
    rows = pooled.assign(
        shown=[name if TESTS[name].of_scores else f"({name})" for name in pooled["test"]],
        **{heading: pooled["test"].map(share) for heading, share in shares.items()},
    )
    return Table(
        rows,
        {
            "test": "{shown}",
            **{heading: f"{{{heading}:.1%}}" for heading in shares},
            "significant, not by randomization": "{only_test:,}",
            "significant only by randomization": "{only_reference:,}",
            "p / randomization's p": "{median_ratio:.2f}",
        },
    )
