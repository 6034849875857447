"""Ratios of distances, and where a set's lies among those of correct models."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from .settings import Settings


def summary(splits: pd.DataFrame) -> pd.DataFrame:
    """The tables of several splits (`Split`), one under the other, by measure.

    Returns
    -------
    summary
        measure; real, training, fitted (means); bias (mean fitted_error); fitted_error and halves_error (root mean
        squares) and their ratio. Two real halves differ by the noise of two samples. A test set drawn from a model has
        that noise too, and the noise of the half from which the model was learned. If the model's kind is right and
        fitting passes on all noise of that half, the ratio is about sqrt(3 / 2) = 1.22.
    """
    rows = []
    for measure, members in splits.groupby("measure", sort=False):
        means = members[["real", "training", "fitted"]].mean()
        off = {name: float(np.sqrt((members[name] ** 2).mean())) for name in ("fitted_error", "halves_error")}
        # Two halves that agree but for rounding, as percentiles of few gains may, are no noise to measure by.
        differ = off["halves_error"] > 1e-9 * max(float(means.abs().fillna(0).max()), off["fitted_error"])
        ratio = off["fitted_error"] / off["halves_error"] if differ else np.nan
        rows.append({"measure": measure, **means, "bias": members["fitted_error"].mean(), **off, "ratio": ratio})
    return pd.DataFrame(rows)


def ratios(splits: pd.DataFrame) -> pd.DataFrame:
    """The `summary` of each set and replicate; replicate -1 is the real set."""
    parts = [
        summary(rows).assign(set=str(name), replicate=int(str(replicate)))
        for (name, replicate), rows in splits.groupby(["set", "replicate"], sort=False)
    ]
    table = pd.concat(parts, ignore_index=True)
    return table[["set", "replicate", *(column for column in table if column not in ("set", "replicate"))]]


def beside_null(replicates: pd.DataFrame, splits: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """Each set and measure: distances, their ratio, and the share of correct models that reach it.

    low and high are the least and the largest ratio that is left when one split is left out. p_value is
    (1 + replicates whose ratio is as large) / (1 + replicates), of those that have one: a test that the model is of the
    right kind. null_median and null_high (the largest) are of the replicates, null_bias_low and null_bias_high their
    least and largest bias. A set is within where p_value is above the level, unless no p-value could be below it.
    """
    keys = ["set", "measure"]
    null = {key: rows for key, rows in replicates[replicates["replicate"] >= 0].groupby(keys)}
    left = {key: list(_left_out(rows)) for key, rows in splits.groupby(keys)}
    rows = []
    for row in replicates[replicates["replicate"] < 0].drop(columns="replicate").to_dict("records"):
        key = (row["set"], row["measure"])
        members = null[key] if key in null else replicates[:0]
        among = members["ratio"].dropna().to_numpy()
        biases = members["bias"].dropna()
        known = not np.isnan(row["ratio"]) and among.size > 0 and 1 / (1 + among.size) <= study.level
        # Equal ratios may differ by rounding.
        as_large = among >= row["ratio"] * (1 - 1e-9)
        p_value = (1 + int(as_large.sum())) / (1 + among.size) if known else np.nan
        rows.append(
            {
                **row,
                "low": min(left[key], default=np.nan),
                "high": max(left[key], default=np.nan),
                "n_null": among.size,
                "null_median": np.median(among) if among.size else np.nan,
                "null_low": among.min() if among.size else np.nan,
                "null_high": among.max() if among.size else np.nan,
                "null_bias_low": biases.min(),
                "null_bias_high": biases.max(),
                "p_value": p_value,
                "within": bool(p_value > study.level) if known else None,
            }
        )
    return pd.DataFrame(rows)


def _left_out(rows: pd.DataFrame) -> Iterable[float]:
    for draw in rows["draw"].unique():
        ratio = float(summary(rows[rows["draw"] != draw])["ratio"].iloc[0])
        if not np.isnan(ratio):
            yield ratio
