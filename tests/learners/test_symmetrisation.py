"""Symmetrisation against Koehn's pseudocode written with sets."""

from __future__ import annotations

import numpy as np
import pytest

from simstudy_learners.alignment.bitexts import index_bitexts
from simstudy_learners.alignment.kernels import Posteriors
from simstudy_learners.alignment.models import Side
from simstudy_learners.alignment.symmetrisation import SYMMETRISATIONS, best_links, probable_links, symmetrise

Points = set[tuple[int, int]]


def words(m: int, n: int) -> tuple[list[str], list[str]]:
    return [f"e{k}" for k in range(m)], [f"f{k}" for k in range(n)]


def by_sets(forward: Points, backward: Points, m: int, n: int, how: str) -> Points:
    """Koehn's pseudocode (Moses, "word alignment"), with sets of points."""
    union = forward | backward
    if how in ("intersection", "union"):
        return forward & backward if how == "intersection" else union
    links = forward & backward

    def has_source(i: int) -> bool:
        return any(a == i for a, _ in links)

    def has_target(j: int) -> bool:
        return any(b == j for _, b in links)

    while True:
        before = len(links)
        for i in range(m):
            for j in range(n):
                if (i, j) in links:
                    for a, b in ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)):
                        new = (i + a, j + b)
                        if new in union and (not has_source(new[0]) or not has_target(new[1])):
                            links.add(new)
        if len(links) == before:
            break
    for directed in (forward, backward) if "final" in how else ():
        for i, j in sorted(directed):
            free = [not has_source(i), not has_target(j)]
            if all(free) if how.endswith("and") else any(free):
                links.add((i, j))
    return links


@pytest.mark.parametrize("how", SYMMETRISATIONS)
def test_as_koehns_pseudocode(rng: np.random.Generator, how: str) -> None:
    shapes = [(int(m), int(n)) for m, n in rng.integers(1, 9, (120, 2))]
    (bitext,) = index_bitexts([[words(m, n) for m, n in shapes]])
    forward = rng.random(len(bitext.pairs)) < 0.25
    # As two directions are: alike in many places.
    backward = np.where(rng.random(len(forward)) < 0.7, forward, rng.random(len(forward)) < 0.25)
    found = symmetrise(bitext, forward, backward, how)
    for s, (m, n) in enumerate(shapes):
        own = slice(bitext.first_cell[s], bitext.first_cell[s + 1])
        f, b, c = ({(k // n, k % n) for k in np.flatnonzero(links[own])} for links in (forward, backward, found))
        assert c == by_sets(f, b, m, n, how)


def test_an_unknown_way_is_told_the_nearest() -> None:
    (bitext,) = index_bitexts([[words(1, 1)]])
    with pytest.raises(ValueError, match=r"symmetrisation must be one of .* \(did you mean 'union'\?\)"):
        symmetrise(bitext, np.ones(1, bool), np.ones(1, bool), "onion")


@pytest.mark.parametrize("turned", [False, True])
def test_the_best_link_of_every_generated_word(turned: bool) -> None:
    """2 x 2 and 1 x 2 words; equal posteriors go to the first link, and the empty word wins where it is as good."""
    (bitext,) = index_bitexts([[words(2, 2), words(1, 2)]])
    cells = np.array([0.4, 0.3, 0.4 + 1e-12, 0.2, 0.5, 0.1])
    found = best_links(Side(bitext, turned), Posteriors(cells, np.array([0.1, 0.3, 0.5, 0.2][: 3 if turned else 4])))
    # Turned, the generated words are the source words: rows of cells, nulls 0.1, 0.3, 0.5.
    expected = [True, False, True, False, False, False] if turned else [True, False, False, False, False, False]
    assert found.tolist() == expected


def test_probable_links() -> None:
    one, other = (Posteriors(np.array(cells), np.zeros(1)) for cells in ([0.9, 0.5, 0.0], [0.4, 0.5, 1.0]))
    assert probable_links(one, other, 0.5).tolist() == [True, False, False]
