from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from rouge_score.rouge_scorer import RougeScorer

from simstudy.metrics import get_metric
from simstudy.metrics.base import TextCounter
from simstudy.metrics.rouge import KINDS, _scorer


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def counter_of(kind: str, references: Sequence[Sequence[str]]) -> TextCounter:
    counter = get_metric(kind).text_counter(references)
    assert counter is not None
    return counter


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
    counted = counter_of(kind, [references]).statistics([text])
    assert counted.tolist() == [pytest.approx([f, 1])]
    assert float(get_metric(kind).score(counted.sum(axis=0))) == pytest.approx(100 * f)


@pytest.mark.parametrize("kind", KINDS)
def test_summaries_score_as_by_the_package(kind: str, shared_data: Path) -> None:
    """Against rouge-score with its own tokenizer, with one reference and with eleven."""
    realsumm, summeval = shared_data / "realsumm", shared_data / "summeval"
    theirs = RougeScorer([kind], use_stemmer=True)
    for system, n, references in [
        (realsumm / "sys" / "ext.refresh.txt", 25, [realsumm / "ref.txt"]),
        (summeval / "sys" / "M11.txt", 8, [summeval / f"ref.{r}.txt" for r in range(11)]),
    ]:
        texts, own = lines(system)[:n], list(zip(*(lines(path)[:n] for path in references), strict=True))
        found = counter_of(kind, own).statistics(texts)[:, 0]
        expected = [theirs.score_multi(targets, text)[kind] for targets, text in zip(own, texts, strict=True)]
        assert found.tolist() == [score.fmeasure for score in expected]


def test_the_package_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    _scorer.cache_clear()
    monkeypatch.setitem(sys.modules, "rouge_score.rouge_scorer", None)
    message = r"^metric rouge1 needs the package rouge-score: pip install 'simstudy\[rouge\]'$"
    with pytest.raises(ValueError, match=message):
        counter_of("rouge1", [["a"]])
