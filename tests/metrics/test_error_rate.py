"""WER and CER against a plain dynamic program, TER against sacrebleu's corpus score."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sacrebleu.metrics.ter import TER

import simstudy as ss
from simstudy.metrics import METRICS

WORDS = ["the", "cat", "Sat", "on", "a", "mat", ",", "über", "日本"]


def texts(rng: np.random.Generator, n: int = 30) -> list[str]:
    return [" ".join(rng.choice(WORDS, size=rng.integers(1, 8))) for _ in range(n)]


def edits(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """By the recursion of the definition."""

    @cache
    def of(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return i + j
        return min(of(i - 1, j) + 1, of(i, j - 1) + 1, of(i - 1, j - 1) + (one[i - 1] != other[j - 1]))

    return of(len(one), len(other))


@pytest.mark.parametrize("name", ["wer", "cer"])
def test_edits_over_the_length_of_the_reference(name: str, rng: np.random.Generator) -> None:
    said, gold = [f" {text}  " for text in texts(rng)], texts(rng)
    said[3] = ""
    parts = [tuple(text.split()) if name == "wer" else tuple(text.strip()) for text in said]
    wanted = [tuple(text.split()) if name == "wer" else tuple(text) for text in gold]
    expected = [[edits(*pair), len(pair[1])] for pair in zip(parts, wanted, strict=True)]
    counter = METRICS[name].text_counter([[text] for text in gold])
    assert counter is not None
    assert counter.statistics(said).tolist() == expected
    lower = METRICS[name].text_counter([[text] for text in gold], lowercase=True)
    assert lower is not None
    assert lower.statistics([text.upper() for text in gold])[:, 0].sum() == 0
    told = f"^metric '{name}' needs one reference for each item: item number 1 has 2$"
    with pytest.raises(ValueError, match=told):
        METRICS[name].text_counter([["a", "b"]])


def test_ter_is_sacrebleus_with_one_two_and_three_references(rng: np.random.Generator) -> None:
    said, streams = texts(rng), [texts(rng), texts(rng), texts(rng)]
    for n in (1, 2, 3):
        counter = METRICS["ter"].text_counter([list(own) for own in zip(*streams[:n], strict=True)])
        assert counter is not None
        statistics = counter.statistics(said)
        assert METRICS["ter"].score(statistics.sum(axis=0)) == pytest.approx(
            TER().corpus_score(said, streams[:n]).score, rel=1e-12
        )
        assert (statistics.dtype == np.int64) == (n == 1)
    assert "case:lc|tok:tercom" in counter.signature


def test_less_is_better_in_files_too(tmp_path) -> None:  # type: ignore[no-untyped-def]
    for name, lines in {"good": "a b c\nd e\n", "bad": "a x c\nd\n", "gold": "a b c\nd e\n"}.items():
        (tmp_path / f"{name}.txt").write_text(lines)
    files = [tmp_path / "bad.txt", tmp_path / "good.txt"]
    for name, bad in {"wer": 40.0, "cer": 100 * 3 / 8, "ter": 40.0}.items():
        found = ss.examine(files, name, references=tmp_path / "gold.txt")
        assert found.outputs.scores().tolist() == [pytest.approx(bad), 0]
        assert found.leaderboard["system"].tolist() == ["good", "bad"]
        assert "less than bad" in str(found.verdict)
    table = tmp_path / "scores.csv"
    table.write_text("item,a,b\n1,0.1,0.2\n")
    with pytest.raises(ValueError, match="metric 'wer' needs|no column 'errors'"):
        ss.load(table, "wer")
    table.write_text("system,item,errors,ref_length\na,1,1,4\nb,1,2,4\nb,2,0,3\n")
    with pytest.raises(ValueError, match="^missing must be 'error' or 'drop' for metric 'wer'"):
        ss.load(table, "wer", missing="zero")
