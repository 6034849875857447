"""Hashes and the seeds that follow from them: what is told apart, and what is the same in every process."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
from sklearn.naive_bayes import GaussianNB

from simstudy.running.fingerprints import derived_seed, describe, fingerprint, number_of


def test_a_description_is_the_hash_of_its_sorted_json() -> None:
    assert describe({"b": [1, 2], "a": None}) == sha256(b'{"a": null, "b": [1, 2]}').hexdigest()
    assert describe([1, 2]) != describe([2, 1])


def test_fingerprints_are_of_content_and_type() -> None:
    values = [np.arange(3), np.arange(3.0), np.arange(3)[::-1], [0, 1, 2], "012", GaussianNB(), GaussianNB(priors=[1])]
    found = [fingerprint(value) for value in values]
    assert len(set(found)) == len(values)
    assert fingerprint(GaussianNB(priors=[1])) == found[-1]


def test_seeds_use_all_their_bits_and_are_those_of_their_parts_in_order() -> None:
    """A seed means the same numbers for ever, so that they are written down."""
    assert number_of(("a", 1)) == -7314065216915918164
    assert derived_seed(0, "redrawn", 1) == int(sha256(b'[0, "redrawn", 1]').hexdigest(), 16)
    seeds = [derived_seed(k, "x") for k in range(40)]
    assert max(seeds) > 2**250
    numbers = [number_of(k) for k in range(40)]
    assert min(numbers) < -(2**61)
    assert 2**61 < max(numbers) < 2**63
    assert all(len({name % 2**32 for name in part}) == 40 for part in (seeds, numbers))
    assert len({number_of(part) for part in (1, "1", (1,), 1.0)}) == 4
