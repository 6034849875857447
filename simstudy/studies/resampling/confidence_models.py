"""How p follows from the gain, the number of items, and how alike two systems are."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import special
from scipy.optimize import least_squares

from simstudy.metrics.base import FloatArray, IntArray
from simstudy.tables import system_codes

#: What a standard error is told from (column predictors) -> names of predictors of its logarithm.
_MODELS = {
    "gain": (),
    "gain, n": ("n",),
    "gain, n, relation": ("n", "relation"),
    "gain, n, r12": ("n", "r12"),
}

_NUMBERS = ("n_pairs", "r2", "factor_50", "factor_90", "exponent_n", "exponent_r12")

#: The model in which nothing is fitted: a z test by items, with the standard error of two correlated means (Yeh 2000).
FORMULA = "z test of the whole test set, scaled"

# Systems that answer alike on nearly all items have no finite logarithm of 1 - r12.
_LEAST_UNLIKE = 1e-6
# Fewer pairs within a half are too few to fit to, and to be foretold.
_LEAST_PAIRS = 30
# p-values that are compared by their ratio: one of 1e-9 for one of 1e-12 misleads nobody.
_COMPARED = (0.001, 0.5)


def confidence_models(pairs: pd.DataFrame, correlations: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """How much of p is told by less and by more knowledge, on pairs of systems that the model was not fitted to.

    The model is 1 - p = Phi(gain / s), one-sided, with log s linear in log n, in the relation of the two systems, or in
    log(1 - r12) / 2: what it would be were the test a z test of a mean. It is fitted by least squares of the
    confidence. Of each family half of the systems are drawn; pairs within one half are foretold by a fit to pairs
    within the other. Items are the same in both, and so may be training sets: this is no forecast for another test set.

    Pairs are of the same systems on one or more sizes of a test set, by one metric; correlations are those of
    `simstudy.comparisons.correlation` on the largest. The table has a row for each model: predictors (what p is told
    from), n_pairs (foretold, sizes counted apart), r2 (share of the variance of confidence that is foretold; below 0
    is worse than their mean), factor_50 and factor_90 (of pairs with 0.001 <= p <= 0.5 so many have a foretold p
    within this factor), exponent_n and exponent_r12 (s is proportional to n^exponent_n (1 - r12)^exponent_r12, fitted
    to all pairs; -0.5 and 0.5 for a mean), and note, where a half has too few pairs of different gain.
    """
    rows = _with_correlations(pairs, correlations)
    half = _halves(rows, seed)
    if (least := min((half == side).sum() for side in (0, 1))) < _LEAST_PAIRS:
        note = f"too few pairs within half of the systems: {least}, not {_LEAST_PAIRS}"
        return pd.DataFrame(
            [{"predictors": given, **dict.fromkeys(_NUMBERS, np.nan), "note": note} for given in _MODELS]
        )
    targets, formula = rows["confidence"].to_numpy(), (rows["gain"] / rows["formula"]).to_numpy()
    found = []
    for given, names in _MODELS.items():
        if "relation" in names and rows["relation"].nunique() < 2:
            continue
        foretold = np.full(len(rows), np.nan)
        for side in (0, 1):
            foretold[half == side] = _foretold(rows[half == side], _fitted(rows[half == 1 - side], names), names)
        powers = dict(zip(names, _fitted(rows, names)[1:], strict=True))
        found.append(
            {
                "predictors": given,
                **_quality(targets[half >= 0], foretold[half >= 0]),
                "exponent_n": powers.get("n", np.nan),
                "exponent_r12": powers.get("r12", np.nan) / 2,
            }
        )
    foretold = special.ndtr(formula)
    found.append({"predictors": FORMULA, **_quality(targets[half >= 0], foretold[half >= 0])})
    return pd.DataFrame(found, columns=["predictors", *_NUMBERS]).assign(note="")


def _with_correlations(pairs: pd.DataFrame, correlations: pd.DataFrame) -> pd.DataFrame:
    """Gain, confidence and predictors of the pairs that differ; whichever of two systems is ahead."""
    turned = correlations.rename(columns={"system_a": "system_b", "system_b": "system_a"})
    known = pd.concat([correlations, turned]).set_index(["system_a", "system_b"])
    of_pairs = pd.MultiIndex.from_frame(pairs[["system_a", "system_b"]])
    r12, paired = (known[name].reindex(of_pairs).to_numpy() for name in ("r12", "sd_paired"))
    n, whole = pairs["n_items"].to_numpy(dtype=np.float64), float(correlations["n_items"].iloc[0])
    p = pairs["p_value"].to_numpy(dtype=np.float64)
    one_sided = np.where(pairs["alternative"] == "two-sided", p / 2, p)
    rows = pd.DataFrame(
        {
            "system_a": pairs["system_a"].to_numpy(),
            "system_b": pairs["system_b"].to_numpy(),
            "family_a": (pairs["family_a"] if "family_a" in pairs else pairs["system_a"]).to_numpy(),
            "family_b": (pairs["family_b"] if "family_b" in pairs else pairs["system_b"]).to_numpy(),
            "gain": pairs["gain"].to_numpy(dtype=np.float64),
            "relation": pairs["relation"].to_numpy(),
            "confidence": 1 - one_sided,
            "n": np.log(n),
            "r12": np.log(np.maximum(1 - r12, _LEAST_UNLIKE)) / 2,
            "formula": paired * np.sqrt(whole / n),
        }
    )
    return rows[(rows["gain"] > 0) & (rows["formula"] > 0) & rows["r12"].notna()].reset_index(drop=True)


def _halves(rows: pd.DataFrame, seed: int) -> IntArray:
    """0 or 1 where both systems are of this half; -1 for pairs across."""
    first, second, names = system_codes(rows)
    family = np.empty(len(names), dtype=object)
    family[first], family[second] = rows["family_a"].astype(str), rows["family_b"].astype(str)
    # Every second one of the systems of a family, in a random order.
    mixed = np.random.default_rng(seed).permutation(len(names))
    side = np.empty(len(names), np.int64)
    side[mixed[np.argsort(family[mixed].astype(str), kind="stable")]] = np.arange(len(names)) % 2
    return np.where(side[first] == side[second], side[first], -1)


def _predictors(rows: pd.DataFrame, names: tuple[str, ...]) -> FloatArray:
    columns: list[FloatArray] = [np.ones(len(rows))]
    for name in names:
        column = rows[name].str.startswith("same ").astype(np.float64) if name == "relation" else rows[name]
        columns.append(np.asarray(column, dtype=np.float64))
    return np.column_stack(columns)


def _fitted(rows: pd.DataFrame, names: tuple[str, ...]) -> FloatArray:
    x, gain, confidence = _predictors(rows, names), rows["gain"].to_numpy(), rows["confidence"].to_numpy()
    undecided = (confidence > 0.55) & (confidence < 0.999)
    scales = gain[undecided] / special.ndtri(confidence[undecided])
    begin = np.zeros(x.shape[1])
    begin[0] = np.log(np.median(scales)) if len(scales) else np.log(np.median(gain))
    if "n" in names:
        at = 1 + names.index("n")
        begin[at] = -0.5
        begin[0] += 0.5 * np.median(x[:, at])

    def missed(beta: FloatArray) -> FloatArray:
        return np.asarray(special.ndtr(gain * np.exp(-x @ beta)) - confidence)

    found = least_squares(missed, begin)
    return np.asarray(found.x, dtype=np.float64)


def _foretold(rows: pd.DataFrame, beta: FloatArray, names: tuple[str, ...]) -> FloatArray:
    return np.asarray(special.ndtr(rows["gain"].to_numpy() * np.exp(-_predictors(rows, names) @ beta)))


def _quality(confidence: FloatArray, foretold: FloatArray) -> dict[str, float]:
    left = ((confidence - foretold) ** 2).sum() / ((confidence - confidence.mean()) ** 2).sum()
    p = 1 - confidence
    compared = (p >= _COMPARED[0]) & (p <= _COMPARED[1])
    # Double precision has no confidence nearer to 1.
    factors = np.exp(np.abs(np.log(np.maximum(1 - foretold[compared], 1e-16) / p[compared])))
    middle, most = np.percentile(factors, [50, 90]) if len(factors) else (np.nan, np.nan)
    return {"n_pairs": len(confidence), "r2": 1 - left, "factor_50": middle, "factor_90": most}
