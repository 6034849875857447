"""What pairs of resampled systems say beyond tests of two systems: what foretells p, and what training does."""

from __future__ import annotations

import pandas as pd

from simstudy.analyses.confidence_model import confidence_models
from simstudy.analyses.correlation import correlation
from simstudy.analyses.training_variance import ALL_FAMILIES, training_variance
from simstudy.outputs import Outputs
from simstudy.sections import Column, Section, Table


def explained(pairs: pd.DataFrame, home: Outputs, seed: int) -> tuple[dict[str, pd.DataFrame], list[Section]]:
    """Tables and sections of pairs on a home test set at all sizes, whose whole is `home`."""
    models = confidence_models(pairs, correlation(home), seed=seed)
    tables, sections = {"confidence_models": models}, []
    if models["r2"].notna().any():
        sections.append(_models(models))
    systems = home.systems
    if systems.duplicated(["family", "train_size"]).any():
        whole = pairs[pairs["n_items"] == home.n_items]
        tables["training_variance"] = training_variance(whole, systems)
        sections.append(_training(tables["training_variance"]))
    return tables, sections


def _models(models: pd.DataFrame) -> Section:
    return Section(
        "What foretells p",
        "How well the one-sided p of a pair is foretold without a test, by 1 - p = Phi(gain / s) with log s linear in "
        "what is given: n (sizes of the home test set), the relation of the two systems, or log(1 - r12); fitted to "
        "pairs within one half of the variants, judged on those within the other. The last row fits nothing: s is the "
        "standard error of the gain by items (Yeh 2000, section 2.1). The last columns are the powers of n and of "
        "1 - r12 in s.",
        table=Table(
            models,
            {
                "given": "{given}",
                "pairs": Column("{n_pairs:,.0f}"),
                "variance of confidence foretold": Column("{r2:.1%}"),
                "p within a factor, half of the pairs": Column("{factor_50:.2f}"),
                "nine in ten": Column("{factor_90:.2f}"),
                "power of n": Column("{power_n:.2f}"),
                "of 1 - r12": Column("{power_unlike:.2f}"),
            },
        ),
    )


def _training(table: pd.DataFrame) -> Section:
    pooled = table[table["family"] == ALL_FAMILIES] if (table["family"] == ALL_FAMILIES).any() else table
    alpha = table["alpha"].iloc[0]
    return Section(
        "Training sets and test sets",
        "Pairs of systems that differ by nothing but their training set (one model, one size, another resample): how "
        f"often a test calls them different (two-sided, p <= {alpha:g}), and how large their gains are beside the "
        "standard errors that the items of the test set give them (root mean squares). Systems may truly differ, so "
        "that such a p-value is no error of the test; for the question which method is better it is one (Reimers and "
        "Gurevych 2018 found up to 26 % between runs with other seeds). The ratio of gain to error says how many times "
        "larger a gain of two systems must be where methods are compared by one training set each; averaged over k "
        "training sets of each method the part that training makes is sqrt(k) times smaller. Intervals are for other "
        "training sets, as far as resamples of one corpus stand for them. Single models are in the file.",
        table=Table(
            pooled,
            {
                "models": "{family}",
                "training items": Column("{train_size:,.0f}", missing="all sizes"),
                "pairs": "{n_pairs:,}",
                "called different": Column("{share:.0%}[ ({share_low:.0%}–{share_high:.0%})]"),
                "gains": "{rms_gain:.2f}",
                "standard errors": "{rms_se:.2f}",
                "ratio": Column("{ratio:.2f}[ ({low:.2f}–{high:.2f})]"),
                "sd of a system's true score": "{sd_training:.2f}",
            },
        ),
    )
