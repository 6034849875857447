"""Tests side by side on the same pairs: which reject, which do not, and where they disagree (Yeh 2000)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from simstudy.comparisons.other_systems import every_system, redrawn_share_interval
from simstudy.comparisons.relation_classes import relation_classes
from simstudy.statistics.decisions import Decision
from simstudy.tables import QUESTION, TEST_SET, require_columns, require_one_question, takes_pairs
from simstudy.validation import InputError, check_choice, check_seed, check_whole

_PAIR = [*TEST_SET, "relation", "system_a", "system_b", "gain"]


@takes_pairs
def agreement(
    pairs: pd.DataFrame,
    *,
    alpha: float = 0.05,
    reference: str = "randomization",
    n_bootstrap: int = 500,
    seed: int = 0,
) -> pd.DataFrame:
    """How often each test is significant, and where it decides differently from a reference, by relation class.

    Parameters
    ----------
    pairs
        Comparisons of the same pairs by several tests, one below the other.
    alpha
        A test rejects where the gain is significant at this level (`simstudy.statistics.decisions.Decision`).
    reference
        The test that the others are held against.
    n_bootstrap, seed
        Resamples of the *systems* (pairs share them) for the interval of the share.

    Returns
    -------
    table
        One row a test set, relation class and test: n_pairs, n_rejected, share (a fraction), low, high (95 %),
        n_other (pairs where the test prefers the system with the *worse* score at that level, which tests of other
        hypotheses than equal scores can do; they are not among n_rejected), only_test and only_reference (pairs that
        one of the two rejects alone), and median_ratio: of the test's p-values to the reference's, over pairs that the
        reference gives 0.001 <= p <= 0.5 and where neither prefers the system with the worse score.

    Raises
    ------
    ValueError
        Where a column is missing, tests have different pairs, the reference is not among them, or alpha is no
        fraction.

    Examples
    --------
    >>> from simstudy.comparisons.comparing import compare
    >>> from simstudy.truth.synthetic import correlated_accuracies
    >>> outputs = correlated_accuracies([0.7, 0.76, 0.82], 400)
    >>> tests = ("randomization", "z_independent")
    >>> table = agreement(pd.concat([compare(outputs, test=test).frame for test in tests]))
    >>> table[["test", "n_pairs", "n_rejected", "only_reference"]].to_numpy().tolist()
    [['randomization', 3, 2, 0], ['z_independent', 3, 1, 1]]
    """
    decided = decisions_by_test(pairs, alpha)
    wide, tests = decided["p_value"], list(decided["p_value"].columns)
    check_choice("reference", reference, tests)
    check_whole("n_bootstrap", n_bootstrap, 1)
    check_seed(seed)
    rows = []
    # Positions, so that what was decided on a class's pairs can be found.
    for key, members in relation_classes(wide.index.to_frame(index=False).assign(row=range(len(wide)))):
        p_values, rejects, other, prefers_worse = (
            decided[name].iloc[members["row"]] for name in ("p_value", "rejected", "other", "prefers_worse")
        )
        counted = np.concatenate([np.ones((1, len(members)), dtype=np.bool_), rejects.to_numpy().T])
        n_pairs, *n_rejected = every_system(members).redrawn_counts(counted, n_bootstrap, seed)
        p_reference, by_reference = p_values[reference].to_numpy(), rejects[reference].to_numpy()
        for test, redrawn in zip(tests, n_rejected, strict=True):
            p_value, rejected = p_values[test].to_numpy(), rejects[test].to_numpy()
            comparable = (p_reference >= 0.001) & (p_reference <= 0.5)
            comparable &= ~(other[test] | other[reference]).to_numpy()
            low, high = redrawn_share_interval(redrawn, n_pairs)
            ratio = p_value[comparable] / p_reference[comparable]
            rows.append(
                {
                    **key,
                    "test": test,
                    "alpha": alpha,
                    "n_pairs": len(members),
                    "n_rejected": int(rejected.sum()),
                    "share": rejected.mean(),
                    "low": low,
                    "high": high,
                    "n_other": int(prefers_worse[test].sum()),
                    "only_test": int((rejected & ~by_reference).sum()),
                    "only_reference": int((by_reference & ~rejected).sum()),
                    "median_ratio": np.median(ratio) if len(ratio) else np.nan,
                }
            )
    return pd.DataFrame(rows)


def decisions_by_test(pairs: pd.DataFrame, alpha: float) -> dict[str, pd.DataFrame]:
    """p_value, rejected, other and prefers_worse, each with a row for each pair and a column for each test.

    Other is where a test, however weakly, prefers the system with the worse score, and prefers_worse where it does so
    by the rule by which it rejects. Rows and columns are in the order of the table.
    """
    require_columns(pairs, [*_PAIR, "test", "p_value"])
    decision = Decision(alpha)
    require_one_question(pairs, [column for column in QUESTION if column != "test"])
    if pairs.duplicated([*_PAIR, "test"]).any():
        raise InputError("pairs", "must have each pair once for each test", remedy="pass one seed at a time")
    other = (pairs["better"] == pairs["system_b"]).to_numpy() if "better" in pairs else False
    rejected, prefers_worse = decision.significant(pairs), decision.prefers_worse(pairs)
    long = pairs[[*_PAIR, "test", "p_value"]].assign(rejected=rejected, other=other, prefers_worse=prefers_worse)
    order = pd.MultiIndex.from_frame(pairs[_PAIR].drop_duplicates())
    tests = list(dict.fromkeys(pairs["test"]))

    def by_test(values: str) -> pd.DataFrame:
        wide = long.pivot(index=_PAIR, columns="test", values=values)
        for test in tests:
            if wide[test].isna().any():
                raise InputError("pairs", f"must have the same pairs for every test; test '{test}' lacks some")
        wide = wide.loc[order, tests]
        wide.columns.name = None
        return wide

    return {name: by_test(name) for name in ("p_value", "rejected", "other", "prefers_worse")}
