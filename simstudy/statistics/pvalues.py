"""The one place where a count of resamples becomes a p-value, by a named convention, and what the p-value is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from simstudy.text.reprs import FieldsMixin
from simstudy.validation import InputError, check_fraction


@dataclass(frozen=True)
class Convention(FieldsMixin):
    """How resamples are counted (what is extreme, are ties?) and how the count becomes a p-value."""

    name: str
    #: The tests that it is a rule for.
    tests: tuple[str, ...]
    #: Who publishes or prints it.
    source: str
    #: The keys of these papers in ``papers/references.bib``.
    cites: tuple[str, ...]
    #: Whether ties do not count.
    strict: bool = False
    #: (count + 1) / (resamples + 1) instead of count / resamples.
    plus_one: bool = True
    #: The event that the bootstrap counts: "twice" gain(x*) >= 2 gain(x); "not won" gain(x*) <= 0; "beyond the mean"
    #: abs(gain(x*)) - mean(abs(gain(x*))) > gain(x).
    counts: str = "twice"
    #: Its only alternative, if it has only one.
    alternative: str | None = None
    #: Its number of resamples, by test, where it has one.
    n_resamples: Mapping[str, int] = field(default_factory=dict)

    def p_value(self, n_extreme: ArrayLike, n_resamples: int) -> NDArray[np.float64]:
        """p-values for counts of any shape."""
        count = np.asarray(n_extreme, dtype=np.float64)
        return (count + 1) / (n_resamples + 1) if self.plus_one else count / n_resamples

    def n_extreme(self, p_value: ArrayLike, n_resamples: ArrayLike) -> NDArray[np.int64]:
        """The counts that p-values came from."""
        p, total = np.asarray(p_value, dtype=np.float64), np.asarray(n_resamples, dtype=np.float64)
        return np.rint(p * (total + 1) - 1 if self.plus_one else p * total).astype(np.int64)


CONVENTIONS = {
    convention.name: convention
    for convention in (
        Convention(
            "default",
            ("sign_flips", "bootstrap", "randomization"),
            source="ties count, (s + 1) / (b + 1) (Noreen 1989; Phipson and Smyth 2010)",
            cites=("phipson2010",),
        ),
        Convention(
            "noreen",
            ("sign_flips", "bootstrap", "randomization"),
            source=">=, (nge + 1) / (ns + 1) (Noreen 1989; Yeh 2000, section 3.3)",
            cites=("noreen1989",),
        ),
        Convention(
            "chinchor1992",
            ("randomization",),
            source="|difference|, >=, (nge + 1) / (ns + 1), 9,999 shuffles (Chinchor 1992, Table 2)",
            cites=("chinchor1992",),
            alternative="two-sided",
            n_resamples={"randomization": 9_999},
        ),
        Convention(
            "bk2012",
            ("bootstrap",),
            strict=True,
            plus_one=False,
            source="gain(x*) > 2 gain(x), s / b (Berg-Kirkpatrick et al. 2012, figure 1)",
            cites=("bergkirkpatrick2012",),
            n_resamples={"bootstrap": 1_000_000},
        ),
        Convention(
            "koehn2004",
            ("bootstrap",),
            plus_one=False,
            source="1 - the share of resamples that the better system wins (Koehn 2004, section 4)",
            cites=("koehn2004",),
            counts="not won",
            alternative="greater",
            n_resamples={"bootstrap": 1_000},
        ),
        Convention(
            "sacrebleu",
            ("bootstrap", "randomization"),
            strict=True,
            source="sacrebleu's paired-bs and paired-ar: |difference|, less its mean in the bootstrap, strictly > the "
            "observed one, (c + 1) / (b + 1) (after MultEval, Clark et al. 2011)",
            cites=("post2018", "clark2011"),
            counts="beyond the mean",
            alternative="two-sided",
            n_resamples={"bootstrap": 1_000, "randomization": 10_000},
        ),
    )
}


def clopper_pearson(
    count: ArrayLike, of: ArrayLike, level: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The Clopper-Pearson interval of a binomial proportion (Clopper and Pearson 1934), R's ``binom.test``.

    It is used for the p-value that infinitely many resamples would give, of which `count` of `of` were extreme, and for
    the average precision of an acceptance set with `count` true candidates (Evert 2004, section 3.2). Both are arrays
    that broadcast. The interval of 0 of 0 is 0 … 1.

    Examples
    --------
    >>> low, high = clopper_pearson([0, 50, 200], [1000, 1000, 500])
    >>> [round(float(x), 4) for x in (*low, *high)]
    [0.0, 0.0373, 0.3568, 0.0037, 0.0654, 0.4444]
    """
    hits, total = np.asarray(count, dtype=np.float64), np.asarray(of, dtype=np.float64)
    if np.any((hits < 0) | (hits > total)):
        raise InputError("count", "must lie between 0 and the number that it is out of")
    tail = (1 - level) / 2
    # A beta distribution with a shape of 0 has no quantile: there the bound is the end of the scale.
    low = np.where(hits > 0, special.betaincinv(np.maximum(hits, 1), total - hits + 1, tail), 0.0)
    high = np.where(hits < total, special.betaincinv(hits + 1, np.maximum(total - hits, 1), 1 - tail), 1.0)
    return low, high


def certainty(n_extreme: ArrayLike, n_resamples: ArrayLike, alpha: float) -> NDArray[np.float64]:
    """The probability that the true significance level is at or below a level alpha (Chinchor's "confidence level").

    The significance level that all shuffles together would give is unknown; of `n_resamples` random ones
    `n_extreme` were extreme. With every level equally likely beforehand, the level given these is
    Beta(nge + 1, ns - nge + 1) (Noreen 1989, whose tables Chinchor 1992 reads; "Approximate randomization").

    Parameters
    ----------
    n_extreme, n_resamples
        nge and ns; arrays that broadcast.
    alpha
        Between 0 and 1.

    Returns
    -------
    certainty
        Fractions.

    Raises
    ------
    ValueError
        Where alpha is not between 0 and 1, or a count is not between 0 and the number of shuffles.

    Examples
    --------
    With no extreme shuffle at all it is 1 - (1 - alpha)^(ns + 1):

    >>> [round(float(c), 4) for c in certainty([0, 1, 3], 19, 0.1)]
    [0.8784, 0.6083, 0.133]
    """
    check_fraction("alpha", alpha)
    try:
        count, total = np.asarray(n_extreme, dtype=np.float64), np.asarray(n_resamples, dtype=np.float64)
        possible = (count >= 0) & (count <= total)
    except (TypeError, ValueError):
        raise InputError("n_extreme and n_resamples", "must be numbers, or arrays that broadcast") from None
    if not possible.all():
        raise InputError("n_extreme", "must lie between 0 and n_resamples")
    return posterior(count, total, alpha)


def posterior(
    n_extreme: NDArray[np.float64], n_resamples: NDArray[np.float64], level: float | NDArray[np.float64]
) -> NDArray[np.float64]:
    """P(significance level <= level) given the counts, as `certainty` explains; arrays that broadcast, unchecked."""
    return np.asarray(special.betainc(n_extreme + 1, n_resamples - n_extreme + 1, level))
