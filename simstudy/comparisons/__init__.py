"""All pairs of systems on one test set: the table that `compare` makes, and what it says."""

from simstudy.comparisons.comparing import compare
from simstudy.comparisons.comparisons import Comparisons
from simstudy.comparisons.pair import Pair
from simstudy.comparisons.verdict import verdict

__all__ = ["Comparisons", "Pair", "compare", "verdict"]
