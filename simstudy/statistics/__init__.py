"""Numbers that tests and tables share: p-values from counts, intervals of shares, many pairs, and the decision."""
