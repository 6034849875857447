"""Association measures: scoring functions of contingency tables (Evert 2004, sections 1 and 2).

All are such that more is a stronger attraction. O are the cells of a table, R and C its row and column sums, and
E_ij = R_i C_j / N is what independence makes expect. Where cells or margins are 0:

======================  ========================================================================
log_likelihood          0 ln 0 = 0; 0 where a row or column is empty
chi_squared, …_yates    0 where a row or column is empty
t_score, mi             O11 = 0: -inf where E11 > 0 (never seen together), 0 where E11 = 0 as well
z_score                 0 where E11 = 0
dice                    0 where R1 = C1 = 0
fisher                  0 where a row or column is empty: P = 1
======================  ========================================================================

A table with N = 0 is refused. No score is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from simstudy.metrics.base import FloatArray, IntArray
from simstudy.rankings.contingency import contingency_tables, deviations
from simstudy.rankings.hypergeometric import log10_upper_tail, log_likelihood_ratio
from simstudy.validation import InputError, check_choice, check_list


@dataclass(frozen=True, eq=False)
class Tables:
    """n contingency tables: O11, R1, C1 and N, shape (n,), and what measures are made of."""

    o11: IntArray
    r1: IntArray
    c1: IntArray
    n: IntArray

    @classmethod
    def of(cls, frequencies: pd.DataFrame) -> Tables:
        """From a frame that `contingency_tables` takes."""
        o11, o12, o21, o22 = contingency_tables(frequencies).to_numpy().T
        return cls(o11, o11 + o12, o11 + o21, o11 + o12 + o21 + o22)

    @cached_property
    def e11(self) -> FloatArray:
        """E11 = R1 C1 / N."""
        return self.r1.astype(np.float64) * self.c1 / self.n

    @cached_property
    def above(self) -> FloatArray:
        """O11 - E11, to the last digit; the other cells differ from theirs by as much."""
        return deviations(self.o11, self.r1, self.c1, self.n)

    def signed(self, strength: FloatArray) -> FloatArray:
        """Negative where the two words repel each other, so that these rank last."""
        # + 0: -0 and 0 are one score.
        return np.sign(self.above) * strength + 0.0

    def chi_squared(self, above: FloatArray) -> FloatArray:
        """The sum of (O - E)^2 / E where all cells are `above` off; 0 where a margin is 0."""
        r2, c2 = self.n - self.r1, self.n - self.c1
        spread = self.e11 * (r2 / self.n) * (c2 / self.n)
        return _quotient(above**2, spread)


_Scores = Callable[[Tables], FloatArray]


@dataclass(frozen=True)
class Measure:
    """An association measure: a function from a frame that `contingency_tables` takes to scores (n,)."""

    name: str
    function: _Scores
    formula: str
    source: str

    def __call__(self, frequencies: pd.DataFrame) -> FloatArray:
        return self.function(Tables.of(frequencies))


#: Name -> measure.
MEASURES: dict[str, Measure] = {}


def association(frequencies: pd.DataFrame, measures: Sequence[str] | None = None) -> pd.DataFrame:
    """Scores of candidates by association measures, higher for stronger attraction.

    Parameters
    ----------
    frequencies
        A row for each candidate: cells O11, O12, O21, O22, or a frequency signature f, f1, f2, N
        (see `contingency_tables`).
    measures
        Names in `MEASURES`; by default all.

    Returns
    -------
    scores
        A row for each candidate, the index that of `frequencies`, and a column for each measure, in the order asked
        for. Repulsion (O11 < E11) makes log_likelihood and the chi-squareds negative. Scores may be -inf, never NaN.

    Raises
    ------
    ValueError
        For an unknown measure, one that is asked for twice, no measure, and as `contingency_tables`.

    Examples
    --------
    >>> frame = pd.DataFrame({"f": [30, 2], "f1": [100, 40], "f2": [50, 50], "N": [1000, 1000]}, index=["a", "b"])
    >>> association(frame, ["log_likelihood", "t_score", "mi"]).round(3)
       log_likelihood  t_score     mi
    a          83.039    4.564  2.585
    b           0.000    0.000  0.000
    """
    if measures is not None:
        check_list("measures", measures, "names")
    names = list(MEASURES) if measures is None else list(measures)
    for name in names:
        check_choice("measures", name, MEASURES)
    if not names or len(set(names)) < len(names):
        raise InputError("measures", f"must be at least one name, and each once, not '{', '.join(names)}'")
    tables = Tables.of(frequencies)
    return pd.DataFrame({name: MEASURES[name].function(tables) for name in names}, index=frequencies.index)


def _measure(formula: str, source: str) -> Callable[[_Scores], _Scores]:
    """Make a measure of the function below, and name it as that is named."""

    def register(function: _Scores) -> _Scores:
        name = function.__name__.removeprefix("_")
        MEASURES[name] = Measure(name, function, formula, source)
        return function

    return register


_REPOSITORY = "Evert 2004, An on-line repository of association measures"


@_measure("2 sum O ln(O / E), negative where O11 < E11", f"Dunning 1993; {_REPOSITORY}")
def _log_likelihood(tables: Tables) -> FloatArray:
    return tables.signed(log_likelihood_ratio(tables.o11, tables.r1, tables.c1, tables.n))


@_measure("N (O11 O22 - O12 O21)^2 / (R1 R2 C1 C2), negative where O11 < E11", "Manning and Schütze 1999, 169 - 172")
def _chi_squared(tables: Tables) -> FloatArray:
    return tables.signed(tables.chi_squared(np.abs(tables.above)))


@_measure(
    "N max(0, |O11 O22 - O12 O21| - N / 2)^2 / (R1 R2 C1 C2), negative where O11 < E11", f"Yates 1934; {_REPOSITORY}"
)
def _chi_squared_yates(tables: Tables) -> FloatArray:
    # What is less than 1/2 off is not off at all.
    return tables.signed(tables.chi_squared(np.maximum(np.abs(tables.above) - 0.5, 0.0)))


@_measure("(O11 - E11) / sqrt(O11)", "Church et al. 1991")
def _t_score(tables: Tables) -> FloatArray:
    scores = _quotient(tables.above, np.sqrt(_frequency(tables)))
    return np.where((tables.o11 == 0) & (tables.e11 > 0), -np.inf, scores)


@_measure("(O11 - E11) / sqrt(E11)", _REPOSITORY)
def _z_score(tables: Tables) -> FloatArray:
    return _quotient(tables.above, np.sqrt(tables.e11))


@_measure("log2(O11 / E11)", "Church and Hanks 1990")
def _mi(tables: Tables) -> FloatArray:
    # Near independence O / E - 1 has the digits that O / E has lost.
    excess = _quotient(tables.above, tables.e11)
    ratio = _quotient(tables.o11.astype(np.float64), tables.e11)
    near = np.abs(excess) < 0.5
    scores = np.where(tables.e11 > 0, -np.inf, 0.0)
    np.log2(ratio, out=scores, where=(tables.o11 > 0) & ~near)
    scores[near] = np.log1p(excess[near]) / np.log(2)
    return scores


@_measure("2 O11 / (R1 + C1)", _REPOSITORY)
def _dice(tables: Tables) -> FloatArray:
    return _quotient(2 * _frequency(tables), (tables.r1 + tables.c1).astype(np.float64))


@_measure("-log10 P(X >= O11), hypergeometric", "Pedersen 1996")
def _fisher(tables: Tables) -> FloatArray:
    return 0.0 - log10_upper_tail(tables.o11, tables.r1, tables.c1, tables.n)


@_measure("O11", "Evert 2004, section 1")
def _frequency(tables: Tables) -> FloatArray:
    return tables.o11.astype(np.float64)


def _quotient(above: FloatArray, below: FloatArray) -> FloatArray:
    """A quotient; 0 where nothing is below."""
    return np.divide(above, below, out=np.zeros(len(above)), where=below > 0)
