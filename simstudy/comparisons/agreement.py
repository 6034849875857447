"""Agreement of tests on the same pairs: how often they reject, and how often alone (Yeh 2000)."""

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
    """How often each test rejects, and how often a reference decides otherwise, by relation class.

    Parameters
    ----------
    pairs
        Comparisons of the same pairs by several tests, one below the other.
    alpha
        A test rejects if the gain is significant at this level (`simstudy.statistics.decisions.Decision`).
    reference
        The test that the others are compared with.
    n_bootstrap, seed
        Resamples of the *systems*, which pairs share, for the interval of the share.

    Returns
    -------
    table
        One row for each test set, relation class and test: n_pairs, n_rejected, share (a fraction), low, high (95 %),
        n_other (pairs for which the test prefers the *worse* score at that level, as tests of other hypotheses than
        equal scores can; n_rejected is without them), only_test and only_reference (pairs that only one of the two
        rejects), and median_ratio (of the test's p to the reference's, over pairs with 0.001 <= p <= 0.5 by the
        reference for which neither prefers the worse score).

    Examples
    --------
    >>> from simstudy.comparisons.comparing import compare
    >>> from simstudy.truth import correlated_accuracies
    >>> outputs = correlated_accuracies([0.7, 0.76, 0.82], 400, seed=1)
    >>> tests = ("randomization", "z_independent")
    >>> table = agreement(pd.concat([compare(outputs, test=test).frame for test in tests]))
    >>> table[["test", "n_pairs", "n_rejected", "only_reference"]].to_numpy().tolist()
    [['randomization', 3, 2, 0], ['z_independent', 3, 1, 1]]
    """
    decisions = decisions_by_test(pairs, alpha)
    table = decisions["p_value"]
    check_choice("reference", reference, list(table.columns))
    check_whole("n_bootstrap", n_bootstrap, 1)
    check_seed(seed)
    rows = []
    for key, members in relation_classes(table.index.to_frame(index=False).assign(row=range(len(table)))):
        p_values, rejected, other, prefers_worse = (
            decisions[name].iloc[members["row"]] for name in ("p_value", "rejected", "other", "prefers_worse")
        )
        counted = np.concatenate([np.ones((1, len(members)), dtype=np.bool_), rejected.to_numpy().T])
        n_pairs, *n_rejected = every_system(members).redrawn_counts(counted, n_bootstrap, seed)
        for test, redrawn in zip(table.columns, n_rejected, strict=True):
            comparable = p_values[reference].between(0.001, 0.5) & ~other[test] & ~other[reference]
            low, high = redrawn_share_interval(redrawn, n_pairs)
            rows.append(
                {
                    **key,
                    "test": test,
                    "alpha": alpha,
                    "n_pairs": len(members),
                    "n_rejected": int(rejected[test].sum()),
                    "share": rejected[test].mean(),
                    "low": low,
                    "high": high,
                    "n_other": int(prefers_worse[test].sum()),
                    "only_test": int((rejected[test] & ~rejected[reference]).sum()),
                    "only_reference": int((rejected[reference] & ~rejected[test]).sum()),
                    "median_ratio": (p_values[test] / p_values[reference])[comparable].median(),
                }
            )
    return pd.DataFrame(rows)


def decisions_by_test(pairs: pd.DataFrame, alpha: float) -> dict[str, pd.DataFrame]:
    """p_value, rejected, other and prefers_worse: tables with a row for each pair and a column for each test.

    `other` is true if a test, however weakly, prefers the system with the worse score, `prefers_worse` if it does so by
    the rule by which it rejects. Rows and columns are in the order of the pairs.
    """
    require_columns(pairs, [*_PAIR, "test", "p_value"])
    decision = Decision(alpha)
    require_one_question(pairs, [column for column in QUESTION if column != "test"])
    if pairs.duplicated([*_PAIR, "test"]).any():
        raise InputError("pairs", "must have each pair once for each test", remedy="pass one seed at a time")
    columns = {
        "rejected": decision.significant(pairs),
        "other": (pairs["better"] == pairs["system_b"]).to_numpy() if "better" in pairs else False,
        "prefers_worse": decision.prefers_worse(pairs),
    }
    order = pd.MultiIndex.from_frame(pairs[_PAIR].drop_duplicates())
    by_test = {}
    for test, rows in pairs[[*_PAIR, "test", "p_value"]].assign(**columns).groupby("test", sort=False):
        if len(rows) < len(order):
            raise InputError("pairs", f"must have the same pairs for every test; test '{test}' lacks some")
        by_test[test] = rows.set_index(_PAIR).loc[order]
    return {name: pd.DataFrame({test: rows[name] for test, rows in by_test.items()}) for name in ("p_value", *columns)}
