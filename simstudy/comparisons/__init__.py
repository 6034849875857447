"""All pairs of systems on one test set: the table that `compare` makes, and what it says.

Read `comparing` first, which makes the table; `comparisons` is the noun around it, `verdict` one pair in words, and
`streaming` writes tables of millions of pairs.
"""

from simstudy.comparisons.comparing import compare
from simstudy.comparisons.comparisons import Comparisons
from simstudy.comparisons.fitting import check_tables
from simstudy.comparisons.pair import Pair
from simstudy.comparisons.streaming import write_pairs
from simstudy.comparisons.verdict import verdict

__all__ = ["Comparisons", "Pair", "check_tables", "compare", "verdict", "write_pairs"]
