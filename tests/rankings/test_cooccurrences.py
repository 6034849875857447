from __future__ import annotations

import numpy as np
import pytest

from simstudy.rankings.contingency import frequency_table


def test_counts_are_those_of_looking_at_all_pairs(rng: np.random.Generator) -> None:
    first, second = rng.choice(list("abcdef"), size=300), rng.choice(list("uvwxyz"), size=300)
    pairs = [(str(a), str(b)) for a, b in zip(first, second, strict=True)]
    table = frequency_table(pairs)
    assert table.index.tolist() == list(dict.fromkeys(f"{a} {b}" for a, b in pairs))
    for pair, row in table.iterrows():
        a, b = str(pair).split()
        assert row["f"] == sum(p == (a, b) for p in pairs)
        assert row["f1"] == sum(p[0] == a for p in pairs)
        assert row["f2"] == sum(p[1] == b for p in pairs)
        assert row["N"] == 300
    assert (table.dtypes == np.int64).all()


def test_a_word_is_counted_in_its_own_place_only() -> None:
    table = frequency_table(iter([("in", "up"), ("up", "in"), ("in", "in")]))
    assert table.to_dict("index") == {
        "in up": {"f": 1, "f1": 2, "f2": 1, "N": 3},
        "up in": {"f": 1, "f1": 1, "f2": 2, "N": 3},
        "in in": {"f": 1, "f1": 2, "f2": 2, "N": 3},
    }


def test_bad_pairs() -> None:
    with pytest.raises(ValueError, match="^pairs must have at least one pair$"):
        frequency_table([])
    with pytest.raises(ValueError, match="told apart by their words and a space, unlike those that give 'a b c'$"):
        frequency_table([("a b", "c"), ("a", "b c")])
