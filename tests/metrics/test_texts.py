"""Metrics of texts, against sacrebleu, rouge-score and counts by hand."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.tokenizers import tokenizer_ja_mecab

from simstudy.metrics import get_metric
from simstudy.metrics.base import TextCounter
from simstudy.metrics.bleu import Bleu
from simstudy.metrics.chrf import Chrf
from simstudy.metrics.rouge import KINDS, _scorer

WORDS = ["a", "b", "c", "the", "cat,", "U.S.", "&quot;"]
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
ITEMS = st.lists(st.tuples(SENTENCES, st.lists(SENTENCES, min_size=1, max_size=3)), min_size=1, max_size=6)


def by_sacrebleu(sums: np.ndarray) -> float:
    correct, total = [int(c) for c in sums[:4]], [int(c) for c in sums[4:8]]
    return BLEU.compute_bleu(correct, total, int(sums[8]), int(sums[9]), smooth_method="exp").score


def possible_sums(rng: np.random.Generator, n: int, most: int) -> np.ndarray:
    sums = rng.integers(0, most, size=(n, 10))
    sums[:, :4] = np.minimum(sums[:, :4], sums[:, 4:8])
    sums[:, 8] = np.maximum(sums[:, 8], sums[:, 4:8].max(axis=1))
    return sums


@pytest.mark.parametrize("most", [2, 4, 100, 10**9])
def test_scores_are_sacrebleus_for_all_sums_zeros_included(most: int, rng: np.random.Generator) -> None:
    sums = possible_sums(rng, 2_000, most)
    np.testing.assert_allclose(Bleu().score(sums), [by_sacrebleu(row) for row in sums], rtol=1e-12, atol=1e-12)


def test_no_score_depends_on_its_neighbours_nor_on_how_the_array_lies(rng: np.random.Generator) -> None:
    """Zeros and short texts take other steps: where one element needs them, the others must not change by a bit."""
    sums = np.concatenate([possible_sums(rng, 50, 4), rng.integers(500, 1000, size=(50, 10))]).reshape(5, 20, 10)
    scores = Bleu().score(sums)
    np.testing.assert_array_equal(scores, [[Bleu().score(row) for row in rows] for rows in sums])
    turned = np.moveaxis(np.ascontiguousarray(np.moveaxis(sums, -1, 0).astype(np.float64)), 0, -1)
    np.testing.assert_array_equal(scores, Bleu().score(turned))


def counted(text: str, references: list[str]) -> list[int]:
    """Clipped counts of blank-separated words, by multiset operations (Papineni et al. 2002, section 2.1)."""

    def grams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
        return Counter(zip(*(words[i:] for i in range(n)), strict=False))

    words, others = text.split(), [reference.split() for reference in references]
    orders = range(1, 5)
    correct = []
    for n in orders:
        allowed: Counter[tuple[str, ...]] = Counter()
        for other in others:
            allowed |= grams(other, n)
        correct.append((grams(words, n) & allowed).total())
    nearest = min((abs(len(other) - len(words)), len(other)) for other in others)[1]
    return [*correct, *(grams(words, n).total() for n in orders), len(words), nearest]


@given(items=ITEMS)
@settings(max_examples=40, deadline=None)
def test_statistics_are_clipped_counts(items: list[tuple[str, list[str]]]) -> None:
    hypotheses, references = [text for text, _ in items], [own for _, own in items]
    found = Bleu().text_counter(references, tokenize="none").statistics(hypotheses)
    assert found.tolist() == [counted(text, own) for text, own in items]


@given(items=ITEMS, seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_the_score_of_a_resamples_sums_is_the_resampled_texts_bleu(
    items: list[tuple[str, list[str]]], seed: int
) -> None:
    draw = np.random.default_rng(seed).integers(0, len(items), size=len(items))
    statistics = Bleu().text_counter([own for _, own in items]).statistics([text for text, _ in items])
    drawn = [items[i] for i in draw]
    streams = [[own[r] if r < len(own) else None for _, own in drawn] for r in range(3)]
    theirs = sacrebleu.corpus_bleu([text for text, _ in drawn], streams).score
    assert Bleu().score(statistics[draw].sum(axis=0)) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize(
    "options", [{}, {"lowercase": True}, *({"tokenize": name} for name in ("none", "zh", "13a", "intl", "char"))]
)
def test_tokenizers_and_case_are_sacrebleus(options: dict[str, object]) -> None:
    hypotheses, references = (
        ["The cat isn't at 3.14 km, “no”?", "猫は 座る。"],
        ["the Cat is at 3,14 km, “no”.", "猫が座る。"],
    )
    statistics = Bleu().text_counter([[text] for text in references], **options).statistics(hypotheses)  # type: ignore[arg-type]
    theirs = sacrebleu.corpus_bleu(hypotheses, [references], **options).score  # type: ignore[arg-type]
    assert Bleu().score(statistics.sum(axis=0)) == pytest.approx(theirs, abs=1e-9)
    assert 0 < theirs < 100


def test_a_tokenizer_that_is_unknown_or_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        ValueError, match=r"tokenize must be one of none, zh, 13a, .*not '13b' \(did you mean '13a'\?\)"
    ):
        Bleu().text_counter([["a"]], tokenize="13b")
    monkeypatch.setattr(tokenizer_ja_mecab, "MeCab", None)
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    for name, packages in [("ja-mecab", r"sacrebleu\[ja\]"), ("flores200", "sentencepiece")]:
        with pytest.raises(ValueError, match=f"^tokenizer '{name}': .*pip install {packages}"):
            Bleu().text_counter([["a"]], tokenize=name)


@pytest.mark.parametrize("name", ["bleu", "chrf++", "rougeL"])
def test_texts_and_references_that_do_not_fit(name: str) -> None:
    metric = get_metric(name)
    for references, message in (
        ([["a"], []], r"unlike \[\] of item number 1$"),
        (["abc"], "unlike 'abc' of item number 0$"),
        ([], "references must hold at least one item"),
    ):
        with pytest.raises(ValueError, match=message):
            metric.text_counter(references)
    counter = metric.text_counter([["a"]])
    assert counter is not None
    with pytest.raises(ValueError, match="hypotheses must be 1 texts, one for each item with references, not 2"):
        counter.statistics(["a", "b"])


CHRF_SENTENCES = st.text("ab c.", max_size=12)
CHRF_ITEMS = st.lists(
    st.tuples(CHRF_SENTENCES, st.lists(CHRF_SENTENCES, min_size=1, max_size=3)), min_size=1, max_size=5
)


@pytest.mark.parametrize("word_order", [0, 2])
@pytest.mark.parametrize("most", [2, 5, 10**6])
def test_scores_are_sacrebleus_for_all_sums_of_chrf_too(word_order: int, most: int, rng: np.random.Generator) -> None:
    theirs = CHRF(word_order=word_order)
    match, hyp, ref = rng.integers(0, most, size=(3, 1_000, 6 + word_order))
    match = np.minimum(match, np.minimum(hyp, ref))
    triplets = np.stack([hyp, ref, match], axis=-1).reshape(1_000, -1)
    found = Chrf(word_order).score(np.concatenate([match, hyp, ref], axis=-1))
    np.testing.assert_allclose(found, [theirs._compute_f_score(row) for row in triplets.tolist()], rtol=1e-12)


@pytest.mark.parametrize("word_order", [0, 2])
@given(items=CHRF_ITEMS, seed=st.integers(0, 2**32 - 1), lowercase=st.booleans())
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


def all_lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def counter_of(kind: str, references: Sequence[Sequence[str]]) -> TextCounter:
    counter = get_metric(kind).text_counter(references)
    assert counter is not None
    return counter


@pytest.mark.parametrize("kind", KINDS)
def test_summaries_score_as_by_the_package(kind: str, shared_data: Path) -> None:
    """Against rouge-score with its own tokenizer, with one reference and with eleven."""
    realsumm, summeval = shared_data / "realsumm", shared_data / "summeval"
    theirs = RougeScorer([kind], use_stemmer=True)
    for system, n, references in [
        (realsumm / "sys" / "ext.refresh.txt", 25, [realsumm / "ref.txt"]),
        (summeval / "sys" / "M11.txt", 8, [summeval / f"ref.{r}.txt" for r in range(11)]),
    ]:
        texts, own = (all_lines(system)[:n], list(zip(*(all_lines(path)[:n] for path in references), strict=True)))
        found = counter_of(kind, own).statistics(texts)[:, 0]
        expected = [theirs.score_multi(targets, text)[kind] for targets, text in zip(own, texts, strict=True)]
        assert found.tolist() == [score.fmeasure for score in expected]


def test_the_package_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    _scorer.cache_clear()
    monkeypatch.setitem(sys.modules, "rouge_score.rouge_scorer", None)
    message = r"^metric rouge1 needs the package rouge-score: pip install 'simstudy\[rouge\]'$"
    with pytest.raises(ValueError, match=message):
        counter_of("rouge1", [["a"]])
