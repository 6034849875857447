"""The paper's numbers beside those of our studies: thresholds, what correlation explains, and calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .published import NATURAL, THRESHOLDS

if TYPE_CHECKING:
    from .settings import Natural

Tables = Mapping[str, pd.DataFrame]

ALL_PAIRS, ALL_FAMILIES = "all pairs", "all families"

#: "Nine times in ten".
_USUALLY = 0.9


def home_thresholds(tables: Tables) -> pd.DataFrame:
    """A study's one-sided thresholds on its home test set, by its first metric; by its own unit, then by items."""
    found = tables["thresholds"]
    first = found.iloc[0]
    same = (found["metric"] == first["metric"]) & (found["test_set"] == first["test_set"])
    home: pd.DataFrame = found[same & (found["alternative"] == "greater")]
    return home


def beside_published(parts: Mapping[str, Tables], tasks: Mapping[str, str]) -> pd.DataFrame:
    """The paper's thresholds beside ours: a row for each of theirs and each study of that task that has one.

    Ours is that of the whole home test set by sentence, as the paper's are. `scaled` has it at the paper's number of
    sentences by the square root of the numbers, which is no more than a rule.
    """
    rows = []
    for theirs in THRESHOLDS.to_dict("records"):
        for study in [name for name, task in tasks.items() if task == theirs["task"]] or [""]:
            row = {**theirs, "study": study, "missing": "too few pairs" if study else "no study has run"}
            if study:
                known = home_thresholds(parts[study])
                whole = known[(known["n_items"] == known["n_items"].max()) & (known["unit"] == "item")]
                (ours,) = whole[whole["relation"] == theirs["relation"]].to_dict("records")
                scale = np.sqrt(ours["n_items"] / theirs["n_theirs"])
                row |= {key: ours[key] for key in ("test_set", "n_items", "n_window", "threshold", "low", "high")}
                row |= {f"scaled_{key}": ours[key] * scale for key in ("threshold", "low", "high")}
            rows.append(row)
    return pd.DataFrame(rows)


def natural_thresholds(natural: Sequence[Natural], parts: Mapping[str, Tables]) -> pd.DataFrame:
    """The threshold of each test set of systems that others made, all pairs together, or why there is none.

    The paper prints one such threshold (section 3.1.1), by a one-sided p: what is p there is 2 p here.
    """
    rows = []
    for part in natural:
        known = parts[part.study]["thresholds"]
        same = (known["test_set"] == part.test_set) & (known["metric"] == part.metric) & (known["unit"] == "item")
        known = known[same & (known["relation"] == ALL_PAIRS)]
        ours = known[known["n_items"] == known["n_items"].max()].iloc[0]
        published, n_published = NATURAL.get(part.test_set, (np.nan, pd.NA))
        columns = ["test_set", "n_items", "metric", "n_systems", "n_window", "threshold", "low", "high", "note"]
        rows.append(
            {"like": part.like, "published": published, "n_published": n_published, "study": part.study}
            | {column: ours[column] for column in columns}
        )
    return pd.DataFrame(rows).astype({"n_published": "Int64"})


def families(parts: Mapping[str, Tables]) -> pd.DataFrame:
    """Of each study the thresholds of variants of one model and of different ones, and what correlation explains.

    A gain's standard error grows with sqrt(1 - r12) where two systems' items vary alike, so that thresholds should have
    the ratio sqrt((1 - r12 of the same family) / (1 - r12 of different families)) (Yeh 2000, section 2.1). Thresholds
    are those of the largest size at which both classes have an interval; r12 is that of the whole home test set.
    """
    rows = []
    for study, tables in parts.items():
        known = home_thresholds(tables)
        known = known[(known["unit"] == known["unit"].iloc[0]) & known["low"].notna()]
        both = known.pivot(index="n_items", columns="relation")
        classes = ["same family", "different families"]
        r12 = tables["correlation"].set_index("relation")["r12_median"]
        row = {
            "study": study,
            "unit": known["unit"].iloc[0],
            "r12_same": r12["same family"],
            "r12_different": r12["different families"],
        }
        row["expected"] = np.sqrt((1 - row["r12_same"]) / (1 - row["r12_different"]))
        if set(classes) <= set(known["relation"]):
            both = both.dropna(subset=[("low", relation) for relation in classes])
            if len(both):
                n_items = both.index.max()
                row["n_items"] = n_items
                for key, relation in zip(("same", "different"), classes, strict=True):
                    for value in ("threshold", "low", "high"):
                        row[f"{value}_{key}"] = both.loc[n_items, (value, relation)]
                row["ratio"] = row["threshold_same"] / row["threshold_different"]
        rows.append(row)
    return pd.DataFrame(rows)


def overlays(parts: Mapping[str, Tables]) -> pd.DataFrame:
    """How far natural pairs are from the resampled ones' curve, of all studies that have both."""
    found = [tables["overlay"].assign(study=study) for study, tables in parts.items() if "overlay" in tables]
    return pd.concat(found, ignore_index=True)


def near_level(parts: Mapping[str, Tables], which: str) -> pd.DataFrame:
    """Of all studies with such a table, the pairs with 0.04 <= p <= 0.06: how often their winner also wins there."""
    found = []
    for study, tables in parts.items():
        if (table := tables.get(f"calibration_{which}")) is not None:
            near = table[np.isclose(table["p_from"], 0.04) & np.isclose(table["p_to"], 0.06)]
            found.append(_marked(near[near["relation"] == ALL_PAIRS].assign(study=study)))
    return pd.concat(found, ignore_index=True)


def _marked(table: pd.DataFrame) -> pd.DataFrame:
    """With a mark where the home population had fewer items than half as many as there are elsewhere."""
    if "n_items_baseline" not in table:
        return table
    # Halves of documents are only nearly half as long.
    few = table["n_items_baseline"] < 0.45 * table["n_items_elsewhere"]
    return table.assign(mark=np.where(few, "*", ""))


def small_enough(parts: Mapping[str, Tables]) -> pd.DataFrame:
    """How small p at home must be before the winner wins elsewhere nine times in ten: a row a test set elsewhere.

    `p` is the upper end of the last bin of p-values such that this bin and all below it have such a share of all pairs;
    missing where not even the lowest bin has. Bins with too few pairs are passed over. `lowest` is the share of the
    lowest bin.
    """
    rows = []
    for study, tables in parts.items():
        if (table := tables.get("calibration_domains")) is None:
            continue
        pooled = table[(table["relation"] == ALL_PAIRS) & table["share"].notna()]
        window = np.isclose(pooled["p_from"], 0.04) & np.isclose(pooled["p_to"], 0.06)
        for elsewhere, bins in pooled[~window].groupby("elsewhere", sort=False):
            bins = _marked(bins.sort_values("p_from"))
            first = bins.iloc[0]
            reached = bins[(bins["share"] >= _USUALLY).cummin()]
            rows.append(
                {
                    "study": study,
                    "test_set": first["test_set"],
                    "elsewhere": elsewhere,
                    "p": reached["p_to"].max() if len(reached) else np.nan,
                    "lowest_to": first["p_to"],
                    "lowest": first["share"],
                    "low": first["low"],
                    "high": first["high"],
                    "n_pairs": first["n_pairs"],
                    "baseline": first["baseline"],
                    "mark": first.get("mark", ""),
                }
            )
    return pd.DataFrame(rows)


def by_test(parts: Mapping[str, Tables]) -> pd.DataFrame:
    """Of every study the share of all home pairs that each test calls different, and how often unlike randomization."""
    rows = []
    for study, tables in parts.items():
        if (tests := tables.get("tests")) is None:
            continue
        pooled = tests[tests["relation"] == ALL_PAIRS].set_index("test")
        row = {"study": study, **pooled.iloc[0][["metric", "n_items", "n_pairs", "alpha"]]}
        for test, found in pooled.iterrows():
            row |= {str(test): found["share"], f"{test}_other": found["only_test"] + found["only_reference"]}
        rows.append(row)
    return pd.DataFrame(rows)


def confidence_models(parts: Mapping[str, Tables]) -> pd.DataFrame:
    """Of every study how much of p each model tells: the share of variance, and the factor of nine in ten."""
    rows = []
    for study, tables in parts.items():
        models = tables.get("confidence_models")
        if models is None or models["r2"].isna().all():
            continue
        row = {"study": study, "n_pairs": models["n_pairs"].iloc[0]}
        for model in models.to_dict("records"):
            row |= {model["predictors"]: model["r2"], f"factor {model['predictors']}": model["factor_90"]}
        rows.append(row)
    return pd.DataFrame(rows)


def training(parts: Mapping[str, Tables]) -> pd.DataFrame:
    """Of every study what training sets do, its families together: a row for each size of training sets."""
    found = []
    for study, tables in parts.items():
        if (table := tables.get("training_variance")) is not None:
            found.append(table[table["family"] == ALL_FAMILIES].assign(study=study))
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=["study"])
