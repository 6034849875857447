"""The compiled loop of edit distances."""

from __future__ import annotations

import numpy as np

from simstudy.compiled import compiled


@compiled
def edit_distance(one, other):
    """The least number of insertions, deletions and substitutions that turn one sequence of numbers into the other."""
    row = np.arange(len(other) + 1)
    for i in range(len(one)):
        diagonal = row[0]
        row[0] = i + 1
        for j in range(len(other)):
            replaced = diagonal + (one[i] != other[j])
            diagonal = row[j + 1]
            row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
    return row[-1]
