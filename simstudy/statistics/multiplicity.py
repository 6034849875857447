"""p-values corrected for how many pairs were tested (Holm 1979; Benjamini and Hochberg 1995)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.tables import TEST_SET, require_columns, require_one_question, takes_family
from simstudy.validation import InputError

#: Draws of signs behind the confidence sets of ranks.
RANK_DRAWS = 2000


@takes_family
def corrected(pairs: pd.DataFrame) -> pd.DataFrame:
    """The same Comparisons with corrected p-values. All rows are one family.

    The family is *every row that is handed in*: hand in the rows that answer one question. All pairs of a test set
    are a family; the pairs of one system, or of several test sets together, are others, with other numbers.

    Parameters
    ----------
    pairs
        Comparisons, m rows. They should be two-sided. Pairs are ordered by the observed gain, so one-sided p-values let
        the data choose the side; alpha below is then 2 alpha.

    Returns
    -------
    pairs
        A copy with p_holm and p_bh. Reject where p_holm <= alpha, and the probability of *any* false rejection is
        at most alpha, however the tests depend on each other (Holm 1979, section 3), if each test keeps its level.
        Reject where p_bh <= alpha, and the expected *share* of false rejections is at most alpha (Benjamini and
        Hochberg 1995, section 3.1). That is proven for independent and for positively dependent tests; pairs that
        share a system are in general neither.

    Raises
    ------
    ValueError
        For no row, no column p_value, or a p-value that is missing or not within 0 … 1; for Comparisons that were
        selected by their results; and for more than one family: several tests, sides, conventions, units, strata or
        seeds of one test set.

    Examples
    --------
    >>> table = corrected(pd.DataFrame({"p_value": [0.01, 0.04, 0.03]}))
    >>> table["p_holm"].round(6).tolist(), table["p_bh"].round(6).tolist()
    ([0.03, 0.06, 0.06], [0.03, 0.04, 0.04])
    """
    require_columns(pairs, ["p_value"])
    if {*TEST_SET, "system_a", "system_b"} <= {*pairs}:
        require_one_question(pairs)
    p_value = pairs["p_value"].to_numpy(dtype=np.float64)
    if not (inside := (p_value >= 0) & (p_value <= 1)).all():
        raise InputError("p_value", "must lie between 0 and 1 in every row", p_value[~inside][0])
    return pairs.assign(p_holm=holm(p_value), p_bh=benjamini_hochberg(p_value))


def holm(p_value: NDArray[np.float64], most_true: int | None = None) -> NDArray[np.float64]:
    """p-values (…, m) after Holm's (1979) correction, each row being a family of m; unchecked.

    Where at most `most_true` of the null hypotheses can be true together, no p-value is multiplied by more than that
    (Shaffer 1986, "Modified sequentially rejective multiple test procedures", procedure S1).

    Examples
    --------
    >>> holm(np.array([[0.01, 0.04, 0.03], [0.5, 0.02, 0.5]])).round(6).tolist()
    [[0.03, 0.06, 0.06], [1.0, 0.06, 1.0]]
    >>> holm(np.array([0.01, 0.04, 0.03]), most_true=1).round(6).tolist()
    [0.01, 0.04, 0.03]
    """
    m = p_value.shape[-1]
    order = np.argsort(p_value, axis=-1, kind="stable")
    # The k-th smallest is compared with alpha / (m - k + 1), if all smaller ones were rejected.
    n_left = np.minimum(np.arange(m, 0, -1), m if most_true is None else most_true)
    rising = np.maximum.accumulate(np.take_along_axis(p_value, order, axis=-1) * n_left, axis=-1)
    return _unsorted(rising, order)


def benjamini_hochberg(p_value: NDArray[np.float64]) -> NDArray[np.float64]:
    """p-values (…, m) after the correction of Benjamini and Hochberg (1995), each row being a family; unchecked.

    Examples
    --------
    >>> benjamini_hochberg(np.array([[0.01, 0.04, 0.03]])).round(6).tolist()
    [[0.03, 0.04, 0.04]]
    """
    m = p_value.shape[-1]
    order = np.argsort(p_value, axis=-1, kind="stable")
    # The k-th smallest is compared with k alpha / m, and rejected if any larger one is.
    multiples = np.take_along_axis(p_value, order, axis=-1) * (m / np.arange(1, m + 1))
    return _unsorted(np.minimum.accumulate(multiples[..., ::-1], axis=-1)[..., ::-1], order)


def _unsorted(adjusted: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.float64]:
    """Adjusted p-values, which are sorted, in the order of the p-values themselves."""
    placed = np.empty_like(adjusted)
    np.put_along_axis(placed, order, np.minimum(adjusted, 1), axis=-1)
    return placed
