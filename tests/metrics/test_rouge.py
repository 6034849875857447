from __future__ import annotations

import sys
from pathlib import Path

import pytest
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.scoring import BootstrapAggregator

from simstudy.metrics import get_metric
from simstudy.metrics.rouge import KINDS, _scorer, rouge_scores


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


@pytest.mark.parametrize(
    ("kind", "text", "references", "f"),
    [
        ("rouge1", "the cats sat", ["the cat sat down"], 2 * 3 / (3 + 4)),  # cats and cat have one stem
        ("rouge2", "the cats sat", ["the cat sat down"], 2 * 2 / (2 + 3)),
        ("rougeL", "sat the cat", ["the cat sat down"], 2 * 2 / (3 + 4)),
        ("rouge1", "A B", ["x", "a, b!"], 1.0),  # the best reference
        ("rouge1", "", ["x"], 0.0),
        ("rouge2", "x", ["x"], 0.0),
    ],
)
def test_by_hand(kind: str, text: str, references: list[str], f: float) -> None:
    assert rouge_scores([text], [references], kind).tolist() == [pytest.approx(f)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_summary_scores_as_by_the_package(kind: str, shared_data: Path) -> None:
    """Against rouge-score with its own tokenizer, and the mean of its aggregate's resampled means."""
    realsumm, summeval = shared_data / "realsumm", shared_data / "summeval"
    theirs = RougeScorer([kind], use_stemmer=True)
    for system, n, references in [
        (realsumm / "sys" / "abs.bart.txt", 100, [realsumm / "ref.txt"]),
        (realsumm / "sys" / "ext.refresh.txt", 100, [realsumm / "ref.txt"]),
        (summeval / "sys" / "M11.txt", 25, [summeval / f"ref.{r}.txt" for r in range(11)]),
    ]:
        texts, own = lines(system)[:n], list(zip(*(lines(path)[:n] for path in references), strict=True))
        found = rouge_scores(texts, own, kind)
        scores = [theirs.score_multi(targets, text) for targets, text in zip(own, texts, strict=True)]
        assert found.tolist() == [score[kind].fmeasure for score in scores]
        aggregator = BootstrapAggregator(n_samples=200)
        for score in scores:
            aggregator.add_scores(score)
        middle = aggregator.aggregate()[kind]
        assert middle.low.fmeasure < found.mean() < middle.high.fmeasure
        assert found.mean() == pytest.approx(middle.mid.fmeasure, abs=0.01)


def test_metrics_are_percent_of_fractions() -> None:
    for kind in KINDS:
        assert float(get_metric(kind).score([1.5, 3])) == 50  # type: ignore[arg-type]


def test_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="kind must be one of rouge1, rouge2, rougeL, not 'rouge3'"):
        rouge_scores(["a"], [["a"]], "rouge3")
    with pytest.raises(ValueError, match="hypotheses must be 1 texts, one for each item with references, not 2"):
        rouge_scores(["a", "b"], [["a"]], "rouge1")
    with pytest.raises(ValueError, match=r"unlike \[\] of item number 0"):
        rouge_scores(["a"], [[]], "rouge1")
    _scorer.cache_clear()
    monkeypatch.setitem(sys.modules, "rouge_score.rouge_scorer", None)
    message = r"^metric rouge1 needs the package rouge-score: pip install 'simstudy\[rouge\]'$"
    with pytest.raises(ValueError, match=message):
        rouge_scores(["a"], [["a"]], "rouge1")
