"""Numbers that tests and tables share: p-values from counts, intervals of shares, many pairs, and the decision.

Read `decisions` first: the one rule that says whether a gain is significant.
"""
