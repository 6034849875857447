"""Shipped tables that follow from other shipped ones: today's code makes them of these again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from simstudy.studies import load_study
from tests.experiments.programs import assert_shipped, program, shipped

Tables = Mapping[str, pd.DataFrame]


def error_rates(study: Any, tables: Tables) -> Tables:
    made, aims = program("error_rates", "tables"), study.page["aims"]
    # A test that a condition does not break has an empty cell, which is read as missing.
    rates, covered, power = (
        tables[name].assign(breaks=tables[name]["breaks"].fillna("")) if "breaks" in tables[name] else tables[name]
        for name in ("rates", "coverage", "power")
    )
    at_alpha, systems = made.two_sided(rates, study), made.conditions(study)
    counted = made.with_shares(rates.drop(columns=["share", "low", "high", "breaks"]), "n_rejected")
    return {
        "tests": made.by_test(at_alpha, aims),
        "rates": made.with_systems(counted, systems)[rates.columns],
        "exact": made.exact(rates),
        "few_units": made.few_units(at_alpha, covered, aims["from_units"]),
        "cautions": made.cautions(at_alpha, covered, aims["coverage"][0]),
        "choices": made.choices(at_alpha, made.two_sided(power, study), systems, study),
        # Two conditions have other models than the shipped results, in other words.
        "conditions": systems.drop(columns="systems"),
    }


def fitted_truth(study: Any, tables: Tables) -> Tables:
    made, splits = program("fitted_truth", "tables"), tables["splits"].assign(replicate=-1)
    replicates = pd.concat([made.ratios(splits), tables["replicates"]], ignore_index=True)
    # Of ratios that tie, more do so in six digits than in all of them.
    return {"ratios": made.beside_null(replicates, splits, study).drop(columns="p_value")}


def power_tables(study: Any, tables: Tables) -> Tables:
    made = program("power_tables", "tables")
    return {
        "law": made.by_root(tables["benchmarks"]), "ranges": made.ranges(tables["benchmarks"], tables["pair_quantiles"])
    }  # fmt: skip


def published_numbers(study: Any, tables: Tables) -> Tables:
    parts = ("subsets", "few_items", "boards", "replicability")
    subsets, few, boards, counts = (program("published_numbers", part) for part in parts)
    asked, by_gain = study.subsets, tables["subsets_by_gain"]
    found = subsets.near(by_gain, asked.gain, asked.within)
    ranked = found.merge(subsets.least_gains(by_gain, asked.agreement), on=["test_set", "method", "n_items"])
    unresolved = boards.resolution_claims(study.resolution, tables["neighbours"])
    # Elsewhere the published gain is the one of the near pairs, too.
    of_subsets = subsets.claims(asked.model_copy(update={"gain": 9.9}), tables["subsets"])
    claims = [boards.equal_scores(study.equal), *unresolved, *counts.count_claims(study.replicability), *of_subsets]
    return {
        "subsets": ranked,
        "claims": pd.DataFrame(claims),
        "overcounts": counts.overcounts(study.replicability, study.seed),
        "two_systems": few.two_systems(study.few, study.agreement, study.few_gain),
        "few_gains": few.few_gains(study.few, study.agreement),
    }


def chinchor_1992(study: Any, tables: Tables) -> Tables:
    return {"decisions": program("chinchor_1992").decisions(tables["pairs"].assign(at_alpha=study.alpha))}


def tools_bench(study: Any, tables: Tables) -> Tables:
    made, bench = program("tools_bench"), tables["bench"]
    edges = {
        (str(row["name"]), str(row["condition"])): {edge: row[edge] for edge in made.EDGES}
        for row in bench[bench["status"].isna()].to_dict("records")
    }
    rates = tables["rates"].assign(
        n_silent=tables["rates"]["share"].isna(), seconds=lambda t: t["seconds"] * t["n_sets"]
    )
    return {
        "bench": made.bench(tables["rates"], edges, study).drop(columns=["status", "version"]),
        "rates": made.rates_of(
            rates[
                ["name", "condition", "gain", "level", "n_sets", "n_rejected", "n_undefined", "n_silent", "seconds"]
            ].to_dict("records"),
            study,
        ),
        "conditions": made.conditions(study),
    }


def berg_kirkpatrick_2012(study: Any, tables: Tables) -> Tables:
    made = program("berg_kirkpatrick_2012")
    context = SimpleNamespace(clock=lambda _: pytest.MonkeyPatch.context())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(made, "tables_of", lambda name, _: shipped(name))
        patch.setattr(made, "hashes_of", lambda *_: {})
        found: Tables = made.run(study, context).tables
    return found


MADE: dict[str, Callable[[Any, Tables], Tables]] = {
    made.__name__: made
    for made in (
        error_rates, fitted_truth, power_tables, published_numbers, chinchor_1992, tools_bench, berg_kirkpatrick_2012,
    )
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_tables_follow_from_others(name: str) -> None:
    """A table that is made of others may lack columns that come from elsewhere, and claims."""
    for title, found in MADE[name](load_study(name), shipped(name)).items():
        assert_shipped(name, title, found, by=("claim",) if title == "claims" else ())
