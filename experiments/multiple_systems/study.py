"""Many systems and repeated looks: how often any claim is false where the true scores are known.

Test sets of K systems are drawn, all pairs are tested and corrected, and each claim that one system is better is held
against the truth; so are the places of leaderboards, groups, and what somebody finds who tries many variants.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from simstudy.studies import Cell, Findings, RunContext, ShippedTables, Shown, clopper_pearson

from . import families, looks
from .families import NONE, TWO_SIDED
from .page import CLOSING, sections, summary
from .settings import Condition, Settings, Variants, blocks

# The settings of a condition, and of variants, that their items depend on.
DRAWN = tuple(name for name in Condition.model_fields if name not in ("title", "truths", "n_systems"))
DRAWN_VARIANTS = tuple(name for name in Variants.model_fields if name != "title")

# P(p <= 0.05 at any of so many looks), two-sided, of normal observations (Armitage, McPherson and Rowe 1969, table 2).
ARMITAGE = {1: 0.050, 2: 0.083, 3: 0.107, 4: 0.126, 5: 0.142, 10: 0.193, 20: 0.248, 50: 0.320}


def run(study: Settings, context: RunContext) -> Findings:
    """Draw all blocks, count, and set what came out beside what is promised."""
    of_systems = systems_cells(study)
    of_tables = plain_cells(study, "tables", study.groups.n_systems, study.groups.sets, study.groups.block)
    of_variants = plain_cells(study, "variants", list(study.variants), study.looks.sets, study.looks.block)
    of_stopping = plain_cells(study, "stopping", study.stopping.conditions, study.stopping.sets, study.stopping.block)
    with context.clock("systems"):
        counted = context.run(
            "test sets of many systems", families.examine, of_systems, amount=lambda cell: cell.arguments[3] ** 2
        )
    with context.clock("tables"):
        said = context.run("tables of pairs", families.tables, of_tables, amount=lambda cell: cell.arguments[1])
    with context.clock("looks"):
        tried = context.run("variants", looks.try_variants, of_variants)
        again = context.run("looks at more items", looks.look_again, of_stopping)
    at = ["condition", "truth", "n_systems"]
    tables = {
        "families": claims(gathered(of_systems, at, [cell["claims"] for cell in counted]), study),
        "rank_sets": rank_sets(gathered(of_systems, at, [cell["rank_sets"] for cell in counted])),
        "tables": rates(gathered(of_tables, ["n_systems"], said), ["n_systems", "claim"], "n_any_false"),
        "variants": variants(gathered(of_variants, ["variants"], tried), study),
        "stopping": stopping(gathered(of_stopping, ["condition"], again)),
        "conditions": conditions(study),
    }
    facts = {
        "Test sets": f"{study.sets.of_few:,} of fewer than {study.sets.large} systems, else {study.sets.of_many:,}; "
        f"{study.looks.sets:,} of variants and {study.stopping.sets:,} of items that come in",
        "Draws of signs for the stepdown": f"{study.n_draws:,}",
        "Seed": str(study.seed),
    }
    return Findings(tables=tables, facts=facts)


def show(study: Settings, tables: ShippedTables) -> Shown:
    """The page of the tables."""
    return Shown(sections=sections(tables, study), closing=CLOSING, summary=summary(tables))


def systems_cells(study: Settings) -> list[Cell]:
    """A cell for each condition, truth, number of systems and block of test sets."""
    return [
        Cell(
            label=f"{name}, {truth}, {k} systems, block {block}",
            arguments=(
                study.only("alpha", "n_draws", "seed", conditions={name: condition.only(*DRAWN)}),
                name, truth, k, block, n_sets,
            ),
        )
        for name, condition in study.conditions.items()
        for truth in condition.truths
        for k in condition.n_systems
        if condition.asks(truth, k)
        for block, n_sets in blocks(study.n_sets(k), study.sets.block)
    ]  # fmt: skip


def plain_cells(study: Settings, kind: str, names: list[Any], n_sets: int, block: int) -> list[Cell]:
    """A cell for each name and block of test sets."""

    def more(name: Any, number: int, size: int) -> list[Any]:
        """The arguments that cells of only one kind have."""
        if kind == "variants":
            corrected = study.looks.corrected_sets if study.variants[name].one_test_set else 0
            return [min(max(0, corrected - number * block), size)]
        return [study.conditions[study.groups.condition].only(*DRAWN)] if kind == "tables" else []

    return [
        Cell(
            label=f"{kind} {name}, block {number}",
            arguments=(asked(study, kind, name), name, number, size, *more(name, number, size)),
        )
        for name in names
        for number, size in blocks(n_sets, block)
    ]


def asked(study: Settings, kind: str, name: Any) -> Settings:
    """The settings that cells of a kind and a name depend on."""
    if kind == "variants":
        of = study.variants[name].only(*DRAWN_VARIANTS)
        return study.only("alpha", "n_draws", "seed", variants={name: of}, looks=study.looks.only("n_variants"))
    if kind == "stopping":
        conditions = {name: study.conditions[name].only(*DRAWN)}
        return study.only("alpha", "seed", conditions=conditions, stopping=study.stopping.only("step", "n_looks"))
    return study.only("alpha", "seed")


def gathered(cells: list[Cell], names: list[str], found: list[list[dict[str, Any]]]) -> pd.DataFrame:
    """The blocks' counts added up, where they agree in all that is no count."""
    rows = [
        dict(zip(names, cell.arguments[1:], strict=False)) | row
        for cell, of_cell in zip(cells, found, strict=True)
        for row in of_cell
    ]
    table = pd.DataFrame(rows)
    numbers = table.select_dtypes("number").columns
    counts = [name for name in numbers if name not in ("n_systems", "n_variants", "n_looks")]
    keys = [name for name in table if name not in counts]
    return table.groupby(keys, sort=False, as_index=False)[counts].sum(min_count=1)


def rates(table: pd.DataFrame, keys: list[str], count: str) -> pd.DataFrame:
    """Shares of test sets with their intervals."""
    low, high = clopper_pearson(table[count], table["n_sets"])
    shares = table.assign(share=table[count] / table["n_sets"], low=low, high=high)
    return shares[[*keys, "n_sets", count, "share", "low", "high"]]


def mean(table: pd.DataFrame, name: str, of: str = "n_sets") -> tuple[Any, Any]:
    """A mean over test sets and its standard error, from the sum and the sum of squares."""
    n = table[of].where(table[of] > 0)
    found = table[f"sum_{name}"] / n
    variance = (table[f"squares_{name}"] / n - found**2).clip(lower=0)
    return found, np.sqrt(variance / (n - 1).where(n > 1))


def claims(table: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """Family-wise error, the expected share of false claims, power, and claims of the wrong sign, of each method."""
    keys = ["condition", "truth", "n_systems", "family", "alternative", "method"]
    shares = rates(table, keys, "n_any_false").assign(alpha=study.alpha)
    wrong_low, wrong_high = clopper_pearson(table["n_any_wrong"], table["n_sets"])
    # Where all are equal each claim is false, and the share of false claims is that of the test sets with any.
    proportion, proportion_se = mean(table, "proportion")
    power, power_se = mean(table, "power")
    return shares.assign(
        n_any_wrong=table["n_any_wrong"], wrong=table["n_any_wrong"] / table["n_sets"], wrong_low=wrong_low,
        wrong_high=wrong_high, n_claims=table["n_claims"], n_false=table["n_false"], n_wrong=table["n_wrong"],
        false_discoveries=proportion, false_discoveries_se=proportion_se, power=power, power_se=power_se,
    )  # fmt: skip


def rank_sets(table: pd.DataFrame) -> pd.DataFrame:
    """How often each guarantee held; of a system's own set, the mean over systems, whose error is normal."""
    share, se = mean(table, "held")
    low, high = clopper_pearson(table["sum_held"].round(), table["n_sets"])
    own = table["guarantee"] == families.OWN_RANK
    keys = ["condition", "truth", "n_systems", "guarantee", "n_sets"]
    return table[keys].assign(
        share=share,
        low=np.where(own, (share - 1.96 * se).clip(lower=0), low),
        high=np.where(own, (share + 1.96 * se).clip(upper=1), high),
        mean_size=table["sum_size"] / table["n_sets"],
    )


def variants(table: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """How often the best variant is a find, by how many are tried, and what gain is reported of it."""
    keys = ["variants", "n_variants", "alternative", "method"]
    # One look finds a better variant by mistake in alpha of the test sets one-sided, in half of them two-sided.
    one = np.where(table["alternative"] == TWO_SIDED, study.alpha / 2, study.alpha)
    plain = (table["method"] == NONE) & (table["variants"].map(lambda name: study.variants[name].gain) == 0)
    reported, reported_se = mean(table, "found", "n_significant")
    scale = table["variants"].map(lambda name: 100.0 if study.variants[name].metric == "accuracy" else 1.0)
    return rates(table, keys, "n_significant").assign(
        alpha=study.alpha,
        expected=np.where(plain, 1 - (1 - one) ** table["n_variants"], np.nan),
        true_gain=scale * table["variants"].map(lambda name: study.variants[name].gain),
        mean_best=table["sum_best"] / table["n_sets"],
        mean_reported=reported,
        mean_reported_se=reported_se,
    )


def stopping(table: pd.DataFrame) -> pd.DataFrame:
    """How often a test is significant at any of the looks, beside the published share."""
    return rates(table, ["condition", "n_looks"], "n_significant").assign(published=table["n_looks"].map(ARMITAGE))


def conditions(study: Settings) -> pd.DataFrame:
    """What is drawn, with the latent correlations between families and within one."""
    rows = []
    for name, c in study.conditions.items():
        truths = ", ".join(c.truths)
        rows.append((name, c.title, c.metric, c.n_units, c.between, c.within, c.least, c.least + c.spread, truths))
    columns = ["condition", "title", "metric", "n_units", "between", "within", "least", "best", "truths"]
    return pd.DataFrame(rows, columns=columns)
