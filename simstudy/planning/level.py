"""The level of a test, and which of its p-values so many units can have."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

from simstudy.planning.fields import option
from simstudy.validation import check_choice, check_fraction, check_whole

ALTERNATIVES = ("two-sided", "greater")

# If the level leaves more than this number of the 2^n outcomes of sign flips, it is practically continuous.
_MANY_FLIPS = 1000


@dataclass(frozen=True)
class Level:
    """The level of a test.

    Attributes
    ----------
    alpha
        Between 0 and 1.
    alternative
        "two-sided", or "greater": one-sided, for the system that was named beforehand.
    comparisons
        How many comparisons share alpha (Bonferroni; Holm's procedure needs no more).

    Raises
    ------
    ValueError
        For an alpha that is no fraction, an unknown alternative, and fewer than one comparison.

    Examples
    --------
    >>> import simstudy as ss
    >>> guess = ss.Guess(score=80, agreement=0.9)
    >>> found = ss.plan(metric="accuracy", gain=1, alpha=ss.Level(0.05, comparisons=10), guess=guess)
    >>> print(found.sentences[0])
    To find a true gain of 1 point of accuracy with power 0.8: 13,481 items.
    """

    alpha: float = option(0.05, "The level of significance.")
    alternative: str = option("two-sided", "two-sided, or greater (one-sided, for a system that was named beforehand).")
    comparisons: int = option(1, "Comparisons that share the level (Bonferroni, Holm).")

    def __post_init__(self) -> None:
        check_fraction("Level.alpha", self.alpha)
        check_choice("Level.alternative", self.alternative, ALTERNATIVES)
        check_whole("Level.comparisons", self.comparisons, 1)

    @property
    def tail(self) -> float:
        """The probability of one tail of the test under the null hypothesis."""
        return self.alpha / self.comparisons / (2 if self.alternative == "two-sided" else 1)

    @property
    def margin_tail(self) -> float:
        """The level of each one-sided test against a margin: half of alpha, whatever the alternative is."""
        return self.alpha / self.comparisons / 2

    def least_p(self, n: int) -> float:
        """The least p-value that sign flips of n units can have: 2^-n, and twice that if the test is two-sided."""
        return (2 if self.alternative == "two-sided" else 1) * 0.5**n

    def attainable_tail(self, n: int) -> float:
        """The largest probability up to `tail` that one tail of sign flips of n units can have; 0 for too few units.

        Each outcome of n fair coins has probability 2^-n, so tails are multiples of it.

        Examples
        --------
        Two-sided p-values of five units are at least 2 / 32; six units have 2 / 64:

        >>> [Level().attainable_tail(n) for n in (5, 6)]
        [0.0, 0.015625]
        """
        outcomes = self.tail * 2.0 ** min(n, 1000)
        many = n >= 1000 or outcomes > _MANY_FLIPS
        return self.tail if many else floor(outcomes) / 2.0**n
