"""What pairs of resampled systems say beyond tests of two systems: what p follows from, and what training does."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from simstudy.comparisons.correlation import correlation
from simstudy.outputs import Outputs
from simstudy.pages.sections import Column, Section, Table
from simstudy.studies.resampling.confidence_models import confidence_models
from simstudy.studies.resampling.training_variance import ALL_FAMILIES, pairs_of_one_method, training_variance


def explained(pairs: pd.DataFrame, home: Outputs, seed: int) -> dict[str, pd.DataFrame]:
    """Tables of pairs on a home test set at all sizes, whose whole is `home`."""
    tables = {"confidence_models": confidence_models(pairs, correlation(home, unit=pairs["unit"].iloc[0]), seed=seed)}
    whole = pairs[pairs["n_items"] == home.n_items]
    if len(pairs_of_one_method(whole, home.systems)):
        tables["training_variance"] = training_variance(whole, home)
    return tables


def explained_sections(tables: Mapping[str, pd.DataFrame]) -> list[Section]:
    """How the tables of `explained` are shown."""
    models = tables["confidence_models"]
    sections = [_models(models)] if models["r2"].notna().any() else []
    return [*sections, *([_training(tables["training_variance"])] if "training_variance" in tables else [])]


def _models(models: pd.DataFrame) -> Section:
    return Section(
        "How p follows from gain, size and correlation",
        "How well simple predictors explain the one-sided p of a pair. The model is 1 - p = Phi(gain / s), with log "
        "s linear in log n, the relation of the two systems, or log(1 - r12). Here n is the size of the home test set, "
        "and r12 is the correlation of the two systems' scores of an item. To know r12, both outputs on the whole "
        "test set are needed. The model is fitted to pairs within one half "
        "of the variants and judged on pairs within the other half, on the same items. The last row fits nothing: it "
        "is a z test by items on the whole test set, with its standard error scaled by the square root of n (Yeh "
        "2000, section 2.1). A pair counts once for each size. Factor: 50 %, or 90 %, of the pairs with 0.001 <= p "
        "<= 0.5 have a predicted p within this factor of their p. The last columns are the exponents of n and of 1 - "
        "r12 in s.",
        table=Table(
            models,
            {
                "predictors": "{predictors}",
                "pairs": Column("{n_pairs:,.0f}"),
                "explained variance of confidence": Column("{r2:.1%}"),
                "factor for 50 % of the pairs": Column("{factor_50:.3g}"),
                "factor for 90 % of the pairs": Column("{factor_90:.3g}"),
                "exponent of n": Column("{exponent_n:.2f}"),
                "exponent of 1 - r12": Column("{exponent_r12:.2f}"),
            },
        ),
    )


def _training(table: pd.DataFrame) -> Section:
    pooled = table[table["family"] == ALL_FAMILIES] if (table["family"] == ALL_FAMILIES).any() else table
    alpha = table["alpha"].iloc[0]
    return Section(
        "Training sets and test sets",
        "Pairs of systems that differ by their training set alone: one model, one size, another resample. "
        f"Significant: the share of these pairs with p <= {alpha:g} (two-sided). The two systems may truly differ, so "
        "a significant pair is no error of the test. But it does not show that one method is better (Reimers and "
        "Gurevych 2018 found up to 26 % between runs with other seeds). Gain / error: the gain over its standard "
        "error on these items (root mean squares). The next two columns are about systems of two models. A claim about "
        "the models needs a gain so many times larger than a claim about these two systems alone. Own sets: each model "
        "has its own training set. One set for both: they share it. With averages over k training sets, the part of "
        "training is sqrt(k) times smaller. The last column is the standard deviation of a system's true score over "
        "training sets (metric's scale). Intervals hold for other training sets, if resamples of one corpus represent "
        "them. The CSV has the single models.",
        table=Table(
            pooled.sort_values("train_size", ascending=False, kind="stable"),
            {
                "models": "{family}",
                "training items": "{train_size:,}",
                "pairs": "{n_pairs:,}",
                "significant": Column("{share:.0%}[ ({share_low:.0%}–{share_high:.0%})]"),
                "gain / error": Column("{ratio:.2f}[ ({ratio_low:.2f}–{ratio_high:.2f})]"),
                "two models, own sets": Column("{ratio_own:.2f}[ ({ratio_own_low:.2f}–{ratio_own_high:.2f})]"),
                "one set for both": Column("{ratio_shared:.2f}[ ({ratio_shared_low:.2f}–{ratio_shared_high:.2f})]"),
                "sd of a system's true score": "{sd_training:.2f}",
            },
        ),
    )
