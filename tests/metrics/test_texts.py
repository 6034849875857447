"""Metrics of texts, against sacrebleu, rouge-score and counts by hand."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.tokenizers import tokenizer_ja_mecab

from simstudy.metrics import METRICS, get_metric
from simstudy.metrics.base import TextCounter
from simstudy.metrics.texts import ROUGE_KINDS, _scorer

SENTENCES = st.lists(st.sampled_from(["a", "b", "c", "the", "Cat,", "U.S.", "&quot;"]), max_size=8).map(" ".join)
ITEMS = st.lists(st.tuples(SENTENCES, st.lists(SENTENCES, min_size=1, max_size=3)), min_size=1, max_size=6)


def counter_of(name: str, references: Any, **options: Any) -> TextCounter:
    counter = get_metric(name).text_counter(references, **options)
    assert counter is not None
    return counter


@pytest.mark.parametrize("most", [2, 4, 100, 10**9])
def test_bleu_is_sacrebleus_for_all_sums_zeros_included(most: int, rng: np.random.Generator) -> None:
    sums = rng.integers(0, most, size=(2_000, 10))
    sums[:, :4] = np.minimum(sums[:, :4], sums[:, 4:8])
    sums[:, 8] = np.maximum(sums[:, 8], sums[:, 4:8].max(axis=1))
    expected = [BLEU.compute_bleu(row[:4], row[4:8], *row[8:], smooth_method="exp").score for row in sums.tolist()]
    np.testing.assert_allclose(METRICS["bleu"].score(sums), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("word_order", [0, 2])
@pytest.mark.parametrize("most", [2, 5, 10**6])
def test_chrf_is_sacrebleus_for_all_sums_zeros_included(word_order: int, most: int, rng: np.random.Generator) -> None:
    match, hyp, ref = rng.integers(0, most, size=(3, 1_000, 6 + word_order))
    match = np.minimum(match, np.minimum(hyp, ref))
    triplets = np.stack([hyp, ref, match], axis=-1).reshape(1_000, -1)
    scores = METRICS["chrf" + "+" * word_order].score(np.concatenate([match, hyp, ref], axis=-1))
    expected = [CHRF(word_order=word_order)._compute_f_score(row) for row in triplets.tolist()]
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


#: Metric -> sacrebleu's, with the options of `text_counter`.
THEIRS: dict[str, Any] = {
    "bleu": BLEU, "chrf": CHRF, "chrf++": lambda **options: CHRF(word_order=2, **options),
    "ter": lambda lowercase: TER(case_sensitive=False),
}  # fmt: skip


@pytest.mark.parametrize("name", THEIRS)
@given(items=ITEMS, seed=st.integers(0, 2**32 - 1), lowercase=st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_score_of_a_resamples_sums_is_sacrebleus_of_the_resampled_texts(
    name: str, items: list[tuple[str, list[str]]], seed: int, lowercase: bool
) -> None:
    """Items have one to three references."""
    draw = np.random.default_rng(seed).integers(0, len(items), size=len(items))
    counter = counter_of(name, [references for _, references in items], lowercase=lowercase)
    statistics = counter.statistics([text for text, _ in items])
    METRICS[name].check(statistics[None])
    drawn = [items[i] for i in draw]
    streams = [[own[r] if r < len(own) else None for _, own in drawn] for r in range(3)]
    theirs = THEIRS[name](lowercase=lowercase).corpus_score([text for text, _ in drawn], streams).score
    # sacrebleu's TER of empty references is 0 or 100, and ours is refused.
    if name != "ter" or statistics[draw, 1].sum():
        assert METRICS[name].score(statistics[draw].sum(axis=0)) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("tokenize", ["none", "zh", "13a", "intl", "char"])
def test_tokenizers_are_sacrebleus(tokenize: str) -> None:
    hypotheses = ["The cat isn't at 3.14 km, “no”?", "猫は 座る。"]
    references = ["the Cat is at 3,14 km, “no”.", "猫が座る。"]
    counter = counter_of("bleu", [[text] for text in references], tokenize=tokenize)
    theirs = BLEU(tokenize=tokenize)
    expected = theirs.corpus_score(hypotheses, [references]).score
    assert METRICS["bleu"].score(counter.statistics(hypotheses).sum(axis=0)) == pytest.approx(expected, abs=1e-9)
    assert 0 < expected < 100
    assert counter.signature == str(theirs.get_signature())


def test_a_tokenizer_that_is_unknown_or_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"tokenize must be one of none, zh, .*not '13b' \(did you mean '13a'\?\)"):
        counter_of("bleu", [["a"]], tokenize="13b")
    monkeypatch.setattr(tokenizer_ja_mecab, "MeCab", None)
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    for name, package in [("ja-mecab", r"sacrebleu\[ja\]"), ("flores200", "sentencepiece")]:
        with pytest.raises(ValueError, match=f"^tokenizer '{name}': .*pip install {package}"):
            counter_of("bleu", [["a"]], tokenize=name)


@pytest.mark.parametrize("name", ["bleu", "wer", "rougeL"])
def test_texts_and_references_that_do_not_fit(name: str) -> None:
    for references, message in (
        ([["a"], []], r"unlike \[\] of item number 1$"),
        (["abc"], "unlike 'abc' of item number 0$"),
        ([], "references must hold at least one item"),
    ):
        with pytest.raises(ValueError, match=message):
            counter_of(name, references)
    with pytest.raises(ValueError, match="hypotheses must be 1 texts, one for each item with references, not 2"):
        counter_of(name, [["a"]]).statistics(["a", "b"])


@pytest.mark.parametrize("name", ["accuracy", "wer", "cer"])
def test_metrics_with_one_reference(name: str) -> None:
    with pytest.raises(ValueError, match=f"^metric '{name}' needs one reference for each item: item number 2 has 3$"):
        counter_of(name, [["a"], ["a", "b", "c"]])


@pytest.mark.parametrize(("name", "length"), [("wer", 2), ("cer", 7)])
def test_case_of_error_rates(name: str, length: int) -> None:
    """Values are in values_of_tools.jsonl."""
    for lowercase, errors in ((False, 2), (True, 0)):
        counter = counter_of(name, [["The Cat"]], lowercase=lowercase)
        assert counter.statistics([" the cat "]).tolist() == [[errors, length]]


def all_lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


@pytest.mark.parametrize("kind", ROUGE_KINDS)
@pytest.mark.parametrize("stemmed", [True, False])
def test_summaries_score_as_by_the_package(kind: str, stemmed: bool, shared_data: Path) -> None:
    """Against rouge-score with its own tokenizer, with one reference and with eleven."""
    realsumm, summeval = shared_data / "realsumm", shared_data / "summeval"
    theirs = RougeScorer([kind], use_stemmer=stemmed)
    for system, n, files in [
        (realsumm / "sys" / "ext.refresh.txt", 25, [realsumm / "ref.txt"]),
        (summeval / "sys" / "M11.txt", 8, [summeval / f"ref.{r}.txt" for r in range(11)]),
    ]:
        texts = all_lines(system)[:n]
        references = list(zip(*(all_lines(path)[:n] for path in files), strict=True))
        counter = counter_of(kind if stemmed else f"{kind}:stem=no", references)
        expected = [theirs.score_multi(targets, text)[kind] for targets, text in zip(references, texts, strict=True)]
        assert counter.statistics(texts).tolist() == [[score.fmeasure, 1] for score in expected]
        assert counter.signature.startswith(f"stemmer:{'porter' if stemmed else 'no'}|rouge-score:")


def test_the_package_of_rouge_is_named_if_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    _scorer.cache_clear()
    monkeypatch.setitem(sys.modules, "rouge_score.rouge_scorer", None)
    message = r"^metric rouge1 needs the package rouge-score: pip install 'simstudy\[rouge\]'$"
    with pytest.raises(ValueError, match=message):
        counter_of("rouge1", [["a"]])
