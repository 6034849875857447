"""How often the words of a pair occur together and on their own: the features of association measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pandas as pd


def frequency_table(pairs: Iterable[tuple[str, str]]) -> pd.DataFrame:
    """Frequency signatures of pair types, from pair tokens: relational cooccurrences.

    N counts pair tokens, not words: the words of a pair stand in a syntactic relation (a verb and its preposition), and
    what is asked of a pair type is whether its tokens are more frequent among all pairs in that relation than its two
    words let expect (Evert 2004, An on-line repository of association measures; Evert 2008, Corpora and collocations,
    section 3).

    The table has a row for each pair type, in the order in which they first occur, with the index "first second" and
    the counts f (of the pair), f1 (pair tokens with the first word), f2 (with the second word) and N (of all).
    ValueError where there is no pair, or two pair types are the same in the index, since a word has spaces.

    Examples
    --------
    >>> frequency_table([("give", "up"), ("give", "in"), ("give", "up"), ("look", "up")])
             f  f1  f2  N
    give up  2   3   3  4
    give in  1   3   1  4
    look up  1   1   3  4
    """
    f = Counter(pairs)
    if not f:
        raise ValueError("pairs must have at least one pair")
    f1, f2 = Counter[str](), Counter[str]()
    for (first, second), count in f.items():
        f1[first] += count
        f2[second] += count
    table = pd.DataFrame(
        {
            "f": list(f.values()),
            "f1": [f1[first] for first, _ in f],
            "f2": [f2[second] for _, second in f],
            "N": f.total(),
        },
        index=[f"{first} {second}" for first, second in f],
    )
    if not table.index.is_unique:
        twice = table.index[table.index.duplicated()][0]
        raise ValueError(f"pairs must be told apart by their words and a space, unlike those that give '{twice}'")
    return table
