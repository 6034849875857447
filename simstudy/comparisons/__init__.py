"""All pairs of systems on one test set: the table that `compare` makes, and what it says.

Read `comparing` first, which makes the table; `comparisons` is the noun around it, and `verdict` one pair in words.
"""

from simstudy.comparisons.comparing import compare
from simstudy.comparisons.comparisons import Comparisons
from simstudy.comparisons.pair import Pair
from simstudy.comparisons.verdict import verdict

__all__ = ["Comparisons", "Pair", "compare", "verdict"]
