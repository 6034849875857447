"""All tests on the same pairs of systems, and how the systems are correlated: tables, figures and the page's parts."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from simstudy import figures
from simstudy.analyses.agreement import agreement, disagreements
from simstudy.analyses.classes import ALL_PAIRS
from simstudy.analyses.correlation import correlation, correlation_shares, correlation_summary
from simstudy.cells import Cell
from simstudy.engines.comparisons import applicable, compare
from simstudy.engines.registry import TESTS
from simstudy.outputs import Outputs
from simstudy.report import Section, save_figure
from simstudy.runner import progress_bar, run_cells
from simstudy.studies.definition import SideBySide
from simstudy.studies.findings import RunContext

# Chi-square has two sides only, so all tests are asked for two.
_ALTERNATIVE = "two-sided"


@dataclass(frozen=True)
class Beside:
    """What `side_by_side` found."""

    tables: dict[str, pd.DataFrame]
    sections: list[Section]


def side_by_side(outputs: Outputs, settings: SideBySide, seed: int, context: RunContext) -> Beside:
    """Every test that applies on all pairs of a test set, two-sided, and r12 of all pairs."""
    tests = applicable(outputs)
    cells = [
        Cell(
            label=f"test {test} on {outputs.test_set}",
            description={
                "kind": "side by side",
                "outputs": outputs.fingerprint(),
                "test": test,
                "alternative": _ALTERNATIVE,
                "seed": seed,
            },
            arguments=(outputs, test, seed, context.n_jobs),
        )
        for test in tests
    ]
    with progress_bar("tests side by side", len(cells)) as advance:
        pairs = pd.concat(
            run_cells(_compared, cells, cache=context.cells, finished=lambda _: advance(1)), ignore_index=True
        )
    together = correlation(outputs)
    tables = {
        "tests": agreement(pairs, alpha=settings.alpha, seed=seed),
        "tests_disagree": disagreements(pairs, alpha=settings.alpha, n=settings.n_shown),
        "correlation": correlation_summary(together),
        "correlation_shares": correlation_shares(together),
    }
    where = f"{outputs.test_set}, {outputs.n_items:,} items"
    figure, (ax,) = figures.panels([where], width=5.8, height=3.4)
    figures.correlations(tables["correlation_shares"], ax=ax)
    save_figure(figure, context.folder, "correlation")
    figure, (ax,) = figures.panels([where], width=6.4, height=0.34 * len(tests) + 1.3)
    figures.rejections(tables["tests"], ax=ax)
    save_figure(figure, context.folder, "tests")
    return Beside(tables, _sections(tables, settings.alpha))


def _compared(outputs: Outputs, test: str, seed: int, n_jobs: int) -> pd.DataFrame:
    return compare(outputs, test=test, alternative=_ALTERNATIVE, seed=seed, n_jobs=n_jobs)


def _sections(tables: dict[str, pd.DataFrame], alpha: float) -> list[Section]:
    others = [name for name in dict.fromkeys(tables["tests"]["test"]) if not TESTS[name].of_scores]
    return [
        Section(
            "Correlation of the systems",
            "r12 of the item scores of all pairs (Yeh 2000, section 2.1, who found a median of 0.38 between unlike "
            "systems and 0.50 - 1.00 between most variants of one). The last column is how many times larger a gain "
            "must be where a test takes them to be independent.",
            "correlation",
            _correlation_rows(tables["correlation"]),
        ),
        Section(
            "All tests on the same pairs",
            f"Share of pairs with p <= {alpha:g} for the better system, all tests two-sided, 95 % intervals from "
            "resampling systems; on how many pairs a test decides other than randomization does; and how its p-values "
            "compare (median ratio, where randomization has 0.001 <= p <= 0.5). Not corrected for the number of pairs. "
            "Tests in brackets have another null hypothesis than equal scores or exchangeable results ("
            + "; ".join(f"{name}: {TESTS[name].null}" for name in others)
            + "): their decisions answer another question.",
            "tests",
            _test_rows(tables["tests"]),
        ),
    ]


def _correlation_rows(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "relation": table["relation"],
            "pairs": table["n_pairs"].map("{:,}".format),
            "median r12": table["r12_median"].map("{:.2f}".format),
            "quartiles": table["r12_25"].map("{:.2f}".format) + " – " + table["r12_75"].map("{:.2f}".format),
            "all": table["r12_min"].map("{:.2f}".format) + " – " + table["r12_max"].map("{:.2f}".format),
            "gain demanded, times": table["ratio_median"].map("{:.2f}".format),
        }
    )


def _test_rows(table: pd.DataFrame) -> pd.DataFrame:
    pooled = table[table["relation"] == ALL_PAIRS] if (table["relation"] == ALL_PAIRS).any() else table
    shares = {
        f"p <= {rows['alpha'].iloc[0]:g}, {relation!s}": rows.set_index("test")["share"].map("{:.1%}".format)
        for relation, rows in table[table["relation"] != ALL_PAIRS].groupby("relation", sort=False)
    }
    return pd.DataFrame(
        {
            "test": pooled["test"].map(lambda name: name if TESTS[name].of_scores else f"({name})"),
            **{name: pooled["test"].map(share) for name, share in shares.items()},
            "rejects alone": pooled["only_test"].map("{:,}".format),
            "only randomization rejects": pooled["only_reference"].map("{:,}".format),
            "p / randomization's p": pooled["median_ratio"].map("{:.2f}".format),
        }
    )
