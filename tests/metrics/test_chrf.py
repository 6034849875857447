from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.chrf import CHRF

from simstudy.metrics.chrf import Chrf

SENTENCES = st.text("ab c.", max_size=12)
ITEMS = st.lists(st.tuples(SENTENCES, st.lists(SENTENCES, min_size=1, max_size=3)), min_size=1, max_size=5)


@pytest.mark.parametrize("word_order", [0, 2])
@pytest.mark.parametrize("most", [2, 5, 10**6])
def test_scores_are_sacrebleus_for_all_sums_zeros_included(
    word_order: int, most: int, rng: np.random.Generator
) -> None:
    theirs = CHRF(word_order=word_order)
    match, hyp, ref = rng.integers(0, most, size=(3, 1_000, 6 + word_order))
    match = np.minimum(match, np.minimum(hyp, ref))
    triplets = np.stack([hyp, ref, match], axis=-1).reshape(1_000, -1)
    found = Chrf(word_order).score(np.concatenate([match, hyp, ref], axis=-1))
    np.testing.assert_allclose(found, [theirs._compute_f_score(row) for row in triplets.tolist()], rtol=1e-12)


@pytest.mark.parametrize("word_order", [0, 2])
@given(items=ITEMS, seed=st.integers(0, 2**32 - 1), lowercase=st.booleans())
@settings(max_examples=25, deadline=None)
def test_the_score_of_a_resamples_sums_is_the_resampled_texts_chrf(
    word_order: int, items: list[tuple[str, list[str]]], seed: int, lowercase: bool
) -> None:
    draw = np.random.default_rng(seed).integers(0, len(items), size=len(items))
    metric = Chrf(word_order)
    counter = metric.text_counter([own for _, own in items], lowercase=lowercase)
    statistics = counter.statistics([text.title() for text, _ in items])
    metric.check(statistics[None])
    drawn = [items[i] for i in draw]
    streams = [[own[r] if r < len(own) else None for _, own in drawn] for r in range(3)]
    texts = [text.title() for text, _ in drawn]
    theirs = CHRF(word_order=word_order, lowercase=lowercase).corpus_score(texts, streams).score  # type: ignore[arg-type]
    assert metric.score(statistics[draw].sum(axis=0)) == pytest.approx(theirs, abs=1e-9)


def test_rules() -> None:
    with pytest.raises(ValueError, match="metric 'chrf' must have 0 <= match <= hyp and match <= ref"):
        Chrf().check(np.array([[[2] + [0] * 5 + [3] + [0] * 5 + [1] + [0] * 5]]))


@pytest.mark.parametrize(
    ("word_order", "folder", "system"), [(0, "wmt22_ja-en", "NT5.en"), (2, "wmt24_en-de", "MSLC.de")]
)
def test_every_twentieth_translation_with_all_references(
    word_order: int, folder: str, system: str, shared_data: Path
) -> None:
    references = [lines(path) for path in sorted((shared_data / folder).glob("ref.*"))]
    text = lines(shared_data / folder / "sys" / system)
    theirs = CHRF(word_order=word_order).corpus_score(text, references).score
    metric = Chrf(word_order)
    statistics = metric.text_counter(list(zip(*references, strict=True))).statistics(text)
    assert metric.score(statistics.sum(axis=0)) == pytest.approx(theirs, abs=1e-9)


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1:20]
