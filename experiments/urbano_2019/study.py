"""Urbano, Lima and Hanjalic 2019: error rates of five tests on retrieval scores drawn from fitted models.

"Statistical Significance Testing in Information Retrieval: An Empirical Analysis of Type I, Type II and Type III
Errors", SIGIR 2019. How test sets are drawn is read off the authors' code (julian-urbano/sigir2019-statistical).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from simstudy.files import datasets
from simstudy.studies import Cell, DataFile, Findings, RunContext, ShippedTables, Shown, clopper_pearson

from .conditions import GAIN, SIGN_WITH_TIES, examine
from .controls import examine_controls
from .page import CLOSING, headline, sections
from .published import LEVEL, published
from .settings import Settings


def run(study: Settings, context: RunContext) -> Findings:
    """Draw all batches, count, and set the rates beside the published ones."""
    names = dict.fromkeys(name for measure in study.measures.values() for name in measure.collections)
    files = {
        name: DataFile.of(
            datasets.find(f"trec_urbano/{name}.csv.gz", context.data_dir, allow_outside=context.allow_outside)
        )
        for name in names
    }
    hashes = {name: file.sha256 for name, file in files.items()}
    drawn = ("n_topics", "n_resamples", "alphas", "tie", "dropped", "neighbours", "profile", "null", "seed")
    cells, of_controls = (
        [
            Cell(
                label=f"{measure}, {what} {batch}",
                arguments=(
                    study.only(*drawn, *more, measures={measure: of.only("lattice")}),
                    measure,
                    batch,
                    *(files[name] for name in of.collections),
                ),
            )
            for measure, of in study.measures.items()
            for batch in range(study.batches)
        ]
        for what, more in (("batch", ["gains"]), ("controls", []))
    )
    with context.clock("batches"):
        found = context.run("batches of pairs of runs", examine, cells)
    with context.clock("controls"):
        found += context.run("controls", examine_controls, of_controls)
    order = {name: k for k, name in enumerate(study.measures)}
    counted, profiles = (
        pd.DataFrame(
            [
                {"measure": cell.arguments[1], **row}
                for cell, batch in zip(cells + of_controls, found, strict=True)
                for row in batch[kind]
            ]
        ).sort_values("measure", key=lambda column: column.map(order), kind="stable", ignore_index=True)
        for kind in ("rates", "profiles")
    )
    rates = error_rates(counted)
    null = rates[rates["condition"] != GAIN].drop(columns=["gain", "n_wrong", "wrong", "wrong_low", "wrong_high"])
    gains = rates[(rates["condition"] == GAIN) & (rates["alpha"] == study.level)].drop(columns="condition")
    tables = {
        "published": beside_published(rates, study),
        "rates": null,
        "gains": gains,
        "shapes": shapes(profiles, null, study),
        "families": families(profiles),
    }
    n_sets = study.batches * study.null.pairs * study.null.sets
    return Findings(
        tables=tables,
        facts={
            "Runs": f"of {len(names)} TREC collections, the worst {study.dropped:.0%} and equal ones left out",
            "Test sets": f"{n_sets:,} for each measure, null hypothesis and number of topics, of "
            f"{study.batches * study.null.pairs:,} pairs of runs",
            "Resamples": f"{study.n_resamples:,} of each test set (the paper: 1,000,000)",
            "Seed": str(study.seed),
        },
        data={"files": {f"trec_urbano/{name}.csv.gz": digest for name, digest in hashes.items()}},
    )


def show(study: Settings, tables: ShippedTables) -> Shown:
    """The page of the tables."""
    return Shown(
        sections=sections(tables, study),
        closing=CLOSING,
        summary={"Two-sided error rates beside the published ones": headline(tables["published"], study)},
    )


def error_rates(counted: pd.DataFrame) -> pd.DataFrame:
    """Shares of rejected test sets, and of those rejected for the worse system, from the batches' counts.

    Intervals are 95 %: pairs of runs are clusters of test sets, so the sums of squares by pair give the standard error;
    where the interval of as many independent test sets (Clopper-Pearson) reaches farther, it reaches as far.
    """
    keys = ["measure", "condition", "n_topics", "gain", "test", "alternative", "alpha"]
    table = counted.groupby(keys, sort=False).sum().reset_index()
    for name, count, squares in (("", "n_rejected", "squares"), ("wrong_", "n_wrong", "wrong_squares")):
        share = table[count] / table["n_sets"]
        low, high = by_pair(table[count], table[squares], table["n_pairs"], table["n_sets"])
        table = table.assign(**{name.rstrip("_") or "share": share, f"{name}low": low, f"{name}high": high})
    columns = ["n_pairs", "n_sets", "n_rejected", "share", "low", "high", "n_wrong", "wrong", "wrong_low", "wrong_high"]
    return table[[*keys, *columns]]


def by_pair(count: Any, squares: Any, n_pairs: Any, n_sets: Any) -> tuple[Any, Any]:
    """The 95 % interval of a share from its count, the sum of squares of the pairs' counts, and how many there are."""
    n, total, pairs = (np.asarray(values, dtype=np.float64) for values in (n_sets, count, n_pairs))
    spread = np.maximum(np.asarray(squares) - total**2 / pairs, 0) * pairs / np.maximum(pairs - 1, 1)
    reach = stats.norm.ppf(0.975) * np.sqrt(spread) / n
    low, high = clopper_pearson(count, n_sets)
    return np.minimum(low, np.maximum(total / n - reach, 0)), np.maximum(high, np.minimum(total / n + reach, 1))


def beside_published(rates: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """The rates that the authors publish, beside those of the paper's own condition here."""
    ours = rates[(rates["alpha"] == LEVEL) & rates["condition"].isin(["fitted", GAIN])]
    keys = ["measure", "n_topics", "gain", "alternative", "test"]
    # Gains are decimal fractions, in either table.
    both = published().merge(ours.assign(gain=ours["gain"].round(6)), on=keys)
    order = {name: k for k, name in enumerate(study.measures)}
    both = both.sort_values("measure", key=lambda column: column.map(order), kind="stable", ignore_index=True)
    inside = (both["low"] <= both["published"]) & (both["published"] <= both["high"])
    columns = ["n_pairs", "n_sets", "share", "low", "high", "published", "inside", "wrong", "published_wrong"]
    return both.assign(inside=inside)[[*keys, *columns]]


def shapes(profiles: pd.DataFrame, rates: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """How differences of scores are distributed under each null hypothesis, and what follows of it for the sign test.

    balance is the root mean square over pairs of P(D > 0) - P(D < 0), less what the number of topics drawn adds to it;
    skewness the mean size of D's. predicted is the sign test's rate that the balance of each pair alone would give
    (differences beyond the ties, as many of them as are expected), sign the rate that was counted.
    """
    level = rates[(rates["alpha"] == study.level) & (rates["alternative"] == "two-sided")]
    counted: dict[Any, float] = (
        level[level["test"] == SIGN_WITH_TIES].set_index(["measure", "condition", "n_topics"])["share"].to_dict()
    )
    rows = []
    for (measure, condition), of in profiles.groupby(["measure", "condition"], sort=False):
        row: dict[str, Any] = {"measure": measure, "condition": condition, "n_pairs": len(of)}
        for name in ("", "_beyond_ties"):
            balance, unequal = of[f"balance{name}"], of[f"unequal{name}"]
            noise = (unequal - balance**2) / study.profile
            row |= {f"balance{name}": np.sqrt(max(float((balance**2 - noise).mean()), 0.0))}
            row |= {f"unequal{name}": unequal.mean()}
        row |= {"skewness": of["skewness"].abs().mean(), "asymmetric": of["family"].str.contains("tawn").mean()}
        for n in study.n_topics:
            predicted = sign_rate(of["balance_beyond_ties"], of["unequal_beyond_ties"], n, study.level)
            row |= {f"predicted_{n}": predicted, f"sign_{n}": counted[(measure, condition, n)]}
        rows.append(row)
    return pd.DataFrame(rows)


def sign_rate(balance: Any, unequal: Any, n: int, level: float) -> float:
    """The mean rate of two-sided sign tests of n topics, of which as many differ as are expected (rounded)."""
    differ = np.maximum(np.rint(n * np.asarray(unequal)).astype(int), 1)
    chance = np.clip(0.5 + np.asarray(balance) / np.asarray(unequal).clip(1e-12) / 2, 0, 1)
    # The fewest wins of one side that are significant, for each number of topics that differ.
    least = np.array(
        [next(k for k in range(m + 2) if 2 * stats.binom.sf(k - 1, m, 0.5) <= level) for m in range(n + 1)]
    )
    needed = least[differ]
    return float((stats.binom.sf(needed - 1, differ, chance) + stats.binom.sf(needed - 1, differ, 1 - chance)).mean())


def families(profiles: pd.DataFrame) -> pd.DataFrame:
    """How often each family of copulas was chosen."""
    chosen = profiles[profiles["family"] != ""]
    counts = chosen.groupby(["measure", "condition", "family"], sort=False).size()
    table = counts.reset_index(name="n_pairs")
    return table.sort_values(["measure", "condition", "n_pairs"], ascending=[True, True, False], ignore_index=True)
