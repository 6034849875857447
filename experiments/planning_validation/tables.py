"""Predictions judged: how many outcomes intervals hold, and how far off the predictions are."""

from __future__ import annotations

import numpy as np
import pandas as pd


def judged(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with inside80 and inside95 (missing where there is no interval or no outcome) and ratio."""
    known = rows["observed"].notna()
    out = rows.copy()
    for inside in (80, 95):
        low, high = rows[f"low{inside}"], rows[f"high{inside}"]
        held = (rows["observed"] >= low - 1e-12) & (rows["observed"] <= high + 1e-12)
        out[f"inside{inside}"] = held.astype(float).where(known & low.notna())
    both = (rows["observed"] > 0) & (rows["predicted"] > 0)
    out["ratio"] = (rows["predicted"] / rows["observed"]).where(both)
    return out


def calibration(predictions: pd.DataFrame) -> pd.DataFrame:
    """Of each source, target and measure: outcomes, the shares inside, and the least share of a set.

    Splits of one set are not independent: low and high of a share are its mean over sets and 1.96 standard errors of
    that mean, cut at 0 and 1; where all sets have one share, they are that.
    """
    rows = []
    for (source, of, measure), members in predictions.groupby(["source", "target", "measure"], sort=False):
        row: dict[str, object] = {"source": source, "target": of, "measure": measure}
        for inside in (80, 95):
            known = members[members[f"inside{inside}"].notna()]
            by_set = known.groupby("test_set")[f"inside{inside}"].mean()
            n = len(by_set)
            share = by_set.mean() if n else np.nan
            se = by_set.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
            row |= {
                "n_sets": n, "n_outcomes": len(known), f"share{inside}": share,
                f"share{inside}_low": np.clip(share - 1.96 * se, 0, 1),
                f"share{inside}_high": np.clip(share + 1.96 * se, 0, 1),
                f"worst{inside}": by_set.min() if n else np.nan,
            }  # fmt: skip
        rows.append(row)
    return pd.DataFrame(rows)


def errors(predictions: pd.DataFrame) -> pd.DataFrame:
    """Of each set, source, target and measure: mean prediction and outcome, the shares inside, the median ratio."""
    keys = ["test_set", "metric", "source", "target", "measure"]
    rows = []
    for key, members in predictions.groupby(keys, sort=False):
        rows.append(
            {
                **dict(zip(keys, key, strict=True)),
                "n_units": int(members["n_units"].iloc[0]),
                "n_splits": len(members),
                "predicted": members["predicted"].mean(),
                "observed": members["observed"].mean(),
                "ratio": members["ratio"].median(),
                "inside80": members["inside80"].mean(),
                "inside95": members["inside95"].mean(),
            }
        )
    return pd.DataFrame(rows)
