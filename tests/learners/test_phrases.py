"""Phrase pairs and smallest units against brute force of their definitions."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from math import log

import numpy as np
import pytest

from simstudy_learners.translation.aligned_bitexts import AlignedBitext
from simstudy_learners.translation.phrases import extracted, tabulated
from simstudy_learners.translation.units import units
from tests.learners.sentences import matrix, randomly_linked, source_of, target_of

Rows = list[tuple[int, ...]]


def consistent(own: np.ndarray, first: int, stop: int, begin: int, end: int) -> bool:
    """No link leaves the phrase pair, and one is in it."""
    inside = own[first:stop, begin:end].sum()
    return bool(0 < inside == own[first:stop].sum() == own[:, begin:end].sum())


def every_pair(corpus: AlignedBitext, longest: int) -> Rows:
    rows = []
    for k in range(len(corpus.bitext)):
        own = matrix(corpus, k)
        m, n = own.shape
        for first, begin in product(range(m), range(n)):
            for size, width in product(range(1, longest + 1), repeat=2):
                if (
                    first + size <= m
                    and begin + width <= n
                    and consistent(own, first, first + size, begin, begin + width)
                ):
                    rows.append((k, first, size, begin, width))
    return rows


@pytest.mark.parametrize("longest", [1, 2, 3, 7])
def test_phrase_pairs_are_all_that_no_link_leaves(rng: np.random.Generator, longest: int) -> None:
    corpus = randomly_linked(rng, 60, longest=6)
    found = extracted(corpus.bitext, corpus.links, longest)
    assert sorted(map(tuple, found.tolist())) == sorted(every_pair(corpus, longest))


def lexical_weight(own: np.ndarray, source: list[int], target: list[int], share: dict[tuple[int, int], float]) -> float:
    """Koehn et al. (2003, section 4.4), as a logarithm: a target word's mean over its links, or that of no word."""
    total = 0.0
    for j, word in enumerate(target):
        partners = np.flatnonzero(own[:, j])
        total += log(np.mean([share[source[i], word] for i in partners]) if len(partners) else share[0, word])
    return total


@pytest.mark.parametrize("n_words", [4, 20])
def test_the_table_has_relative_frequencies_and_lexical_weights(rng: np.random.Generator, n_words: int) -> None:
    """Of twenty words, some are in no phrase pair by themselves."""
    corpus = randomly_linked(rng, 30, n_words=n_words)
    count: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()
    lexical = defaultdict(lambda: (-np.inf, -np.inf))
    words, known = corpus.lexicon, corpus.bitext.lexicon
    keys = [(int(a), int(b)) for a, b in zip(known.source, known.target, strict=True)]
    to_target = {(0, b): share for b, share in enumerate(words.target_of_none)}
    to_source = {(0, a): share for a, share in enumerate(words.source_of_none)}
    to_target.update(zip(keys, words.to_target, strict=True))
    to_source.update({(b, a): share for (a, b), share in zip(keys, words.to_source, strict=True)})
    keys = [pair for pair in keys if to_target[pair]]
    for k, first, size, begin, width in every_pair(corpus, 3):
        a = tuple(source_of(corpus.bitext, k)[first : first + size])
        b = tuple(target_of(corpus.bitext, k)[begin : begin + width])
        own = matrix(corpus, k)[first : first + size, begin : begin + width]
        count[a, b] += int(corpus.weights[k])
        here = lexical_weight(own, [*a], [*b], to_target), lexical_weight(own.T, [*b], [*a], to_source)
        lexical[a, b] = max(lexical[a, b][0], here[0]), max(lexical[a, b][1], here[1])
    of_source, of_target = Counter[tuple[int, ...]](), Counter[tuple[int, ...]]()
    for (a, b), n in count.items():
        of_source[a] += n
        of_target[b] += n
    expected = {(a, b): (log(n / of_source[a]), log(n / of_target[b]), *lexical[a, b]) for (a, b), n in count.items()}
    lone = {a for a, _ in keys} - {a[0] for a, _ in count if len(a) == 1}
    assert bool(lone) == (n_words == 20)
    for a, b in keys:
        if a in lone:
            expected[(a,), (b,)] = (log(to_target[a, b]), log(to_source[b, a])) * 2
    table = tabulated(corpus, extracted(corpus.bitext, corpus.links, 3), 3)[0]
    phrases = {}
    numbers = table.sources.find(corpus.bitext.source, corpus.bitext.first_source)
    for k in range(30):
        own = source_of(corpus.bitext, k)
        for i, n in product(range(len(own)), range(3)):
            if i + n < len(own):
                phrases[numbers[corpus.bitext.first_source[k] + i, n]] = tuple(own[i : i + n + 1])
    found = {}
    for number, a in phrases.items():
        for pair in range(table.bounds[number], table.bounds[number + 1]):
            b = tuple(table.words[table.word_bounds[pair] : table.word_bounds[pair + 1]].tolist())
            found[a, b] = tuple(table.features[pair])
    assert len(table.features) == len(found)
    assert found.keys() == expected.keys()
    for pair, features in found.items():
        assert features == pytest.approx(expected[pair])


def smallest_blocks(own: np.ndarray) -> set[tuple[int, int, int, int]]:
    """Intervals of both sides that no link and no smaller consistent cover crosses: the closure, by brute force."""
    blocks = [({i}, {j}) for i, j in zip(*np.nonzero(own), strict=True)]

    def filled(places: set[int]) -> set[int]:
        return set(range(min(places), max(places) + 1)) if places else set()

    merged = True
    while merged:
        merged = False
        blocks = [(filled(a), filled(b)) for a, b in blocks]
        for x in range(len(blocks)):
            for y in range(x):
                if blocks[x][0] & blocks[y][0] or blocks[x][1] & blocks[y][1]:
                    blocks[y] = blocks[x][0] | blocks[y][0], blocks[x][1] | blocks[y][1]
                    del blocks[x]
                    merged = True
                    break
            if merged:
                break
    return {(min(a), len(a), min(b), len(b)) for a, b in blocks}


def test_units_are_the_smallest_blocks_with_words_between_them_attached(rng: np.random.Generator) -> None:
    corpus = randomly_linked(rng, 80, longest=7)
    rows = units(corpus.bitext, corpus.links)
    for k in range(80):
        own = matrix(corpus, k)
        m, n = own.shape
        found = [tuple(row[1:]) for row in rows.tolist() if row[0] == k]
        # All words of both sides once, those of the target in their order.
        assert sorted(i for first, size, _, _ in found for i in range(first, first + size)) == list(range(m))
        assert [j for _, _, begin, width in found for j in range(begin, begin + width)] == list(range(n))
        blocks = smallest_blocks(own)
        if not blocks:
            assert found == [(0, m, 0, n)]
            continue
        linked = [unit for unit in found if unit[3]]
        assert {unit[:2] for unit in linked} == {block[:2] for block in blocks}
        for first, size, begin, width in linked:
            block = next(block for block in blocks if block[:2] == (first, size))
            assert begin <= block[2]
            assert begin + width >= block[2] + block[3]
        for place, (first, size, _, width) in enumerate(found):
            if not width:
                assert size == 1
                assert not own[first].any()
                if first:
                    before = found[place - 1]
                    assert before[0] <= first - 1 < before[0] + before[1]
