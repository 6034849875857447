"""Bitexts as flat arrays, gold links, AER's counts, and texts that are no bitext."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simstudy.metrics.annotations import alignment_counts
from simstudy.readers.alignments import Links
from simstudy.training import Examples
from simstudy_learners.alignment.bitexts import (
    MOST_WORDS,
    NO_LINK,
    POSSIBLE,
    SURE,
    UNALIGNED,
    check_sentence_pairs,
    count_aer,
    gold_cells,
    index_bitexts,
)

PAIRS = [(["The", "house", "burns"], ["la", "maison", "brûle"]), (["the", "Budget"], ["le", "budget"])]


def test_cells_are_source_word_by_target_word_with_shared_numbers() -> None:
    first, second = index_bitexts([PAIRS, [(["house", "budget"], ["Maison"]), (["new"], ["le"])]])
    lexicon = first.lexicon
    assert first.lexicon is second.lexicon
    source = {"the": 0, "house": 1, "burns": 2, "budget": 3, "new": 4}
    target = {"la": 0, "maison": 1, "brûle": 2, "le": 3, "budget": 4}
    for bitext, pairs in ((first, PAIRS), (second, [(["house", "budget"], ["maison"]), (["new"], ["le"])])):
        expected = [
            (source[e.lower()], target[f.lower()]) for english, french in pairs for e in english for f in french
        ]
        assert list(zip(lexicon.source[bitext.pairs], lexicon.target[bitext.pairs], strict=True)) == expected
    assert first.first_cell.tolist() == [0, 9, 13]
    assert lexicon.alike.tolist() == [(s, t) == (3, 4) for s, t in zip(lexicon.source, lexicon.target, strict=True)]
    i, j = first.places()
    assert list(zip(i[9:].tolist(), j[9:].tolist(), strict=True)) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_selected_sentence_pairs_are_those_indexed_alone(rng: np.random.Generator) -> None:
    pairs = [([f"e{k}" for k in range(m)], [f"f{k}" for k in range(n)]) for m, n in rng.integers(1, 6, (12, 2))]
    kept = np.array([1, 4, 5, 11])
    every, alone = index_bitexts([pairs, [pairs[k] for k in kept]])
    chosen, cells = every.select(kept)
    for name in ("first_source", "first_target", "first_cell", "source", "target", "pairs"):
        np.testing.assert_array_equal(getattr(chosen, name), getattr(alone, name))
    assert np.unique(every.sentence_of_cell()[cells]).tolist() == kept.tolist()
    np.testing.assert_array_equal(every.pairs[cells], alone.pairs)


def test_gold_cells() -> None:
    (bitext,) = index_bitexts([PAIRS])
    cells = gold_cells(bitext, [None, Links(sure={(0, 0)}, possible={(1, 0), (0, 0)})])
    assert cells.tolist() == [UNALIGNED] * 9 + [SURE, NO_LINK, POSSIBLE, NO_LINK]


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ([None], "links must be given for each of the 2 sentence pairs, not for 1"),
        ([None, Links(sure={(1, 2)})], "links of sentence pair 2 must be within its 2 x 2 words, not 1-2"),
        ([Links(possible={(3, 0)}), None], "links of sentence pair 1 must be within its 3 x 3 words, not 3-0"),
    ],
)
def test_links_out_of_range(links: Any, message: str) -> None:
    (bitext,) = index_bitexts([PAIRS])
    with pytest.raises(ValueError, match=message):
        gold_cells(bitext, links)


def test_aer_is_counted_as_one_sentence_at_a_time(rng: np.random.Generator) -> None:
    shapes = rng.integers(1, 7, (50, 2))
    (bitext,) = index_bitexts([[([str(k) for k in range(m)], [str(k) for k in range(n)]) for m, n in shapes]])
    answers = rng.random(len(bitext.pairs)) < 0.3
    links, expected = [], []
    for s, (m, n) in enumerate(shapes):
        kinds = rng.choice([NO_LINK, POSSIBLE, SURE], m * n)
        sure, possible = ({divmod(k, n) for k in np.flatnonzero(kinds == kind).tolist()} for kind in (SURE, POSSIBLE))
        links.append(Links(sure, possible))
        own = answers[bitext.first_cell[s] : bitext.first_cell[s + 1]]
        expected.append(alignment_counts({divmod(k, n) for k in np.flatnonzero(own).tolist()}, sure, possible))
    examples = Examples(bitext, gold_cells(bitext, links))
    assert count_aer(examples, answers).tolist() == [list(counts) for counts in expected]
    right = count_aer(examples, examples.gold).sum(axis=0)
    assert right[0] + right[1] == right[2] + right[3]


@pytest.mark.parametrize(
    ("sources", "targets", "message"),
    [
        (["a", "b"], ["c"], "x.e has 2 lines, x.f 1; they must have as many"),
        (["a", "", "c", " "], ["d"] * 4, r"x.e: 2 sentences are empty \(line 2, 4\)"),
        (["a"] * 7, [""] * 7, r"x.f: 7 sentences are empty \(line 1, 2, 3, 4, 5, …\)"),
        (["a", "a " * (MOST_WORDS + 1)], ["b", "b"], r"x.e: 1 sentence is longer than 200 words \(line 2\)"),
    ],
)
def test_texts_that_are_no_bitext(sources: list[str], targets: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_sentence_pairs(sources, targets, ("x.e", "x.f"))


def test_the_longest_sentences_are_allowed() -> None:
    ((source, _),) = check_sentence_pairs(["a " * MOST_WORDS], ["b"], ("x.e", "x.f"))
    assert len(source) == MOST_WORDS
