"""One number a question from several samples: the mean, pass@k, pass^k, majority and plurality, by enumeration."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.comparisons import per_question
from simstudy.metrics import find_metric

RIGHT = np.array([[1, 0, 1, 0, 0, 1, 1, 1, 0, 0], [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]])
ANSWERS = np.array([[1, 2, 1, 3, 3, 7, 7, 8, 2, 2], [4, 4, 5, 5, 6, 1, 1, 1, 1, 1]])


def outputs(answers: bool = True) -> ss.Outputs:
    """Two systems with five samples of each of two questions, in turn."""
    order = np.argsort(np.tile(np.arange(5), 2), kind="stable")
    items = pd.DataFrame({"id": range(10), "sample_of": np.repeat(["q", "r"], 5), "topic": "x"}).iloc[order]
    statistics = np.stack([RIGHT, np.ones_like(RIGHT)], axis=-1)[:, order]
    return ss.Outputs.from_statistics(
        statistics, "accuracy", ["a", "b"], items.reset_index(drop=True), answers=ANSWERS[:, order] if answers else None
    )


def one(kind: str, right: list[int], answers: list[int], k: int) -> float:
    """The mean over all k of the samples of what they come to."""
    found = []
    for chosen in combinations(range(len(right)), k):
        n = sum(right[i] for i in chosen)
        if kind == "plurality@":
            votes = Counter(answers[i] for i in chosen)
            best = [answer for answer in votes if votes[answer] == max(votes.values())]
            scores = {
                answer: np.mean([r for r, a in zip(right, answers, strict=True) if a == answer]) for answer in best
            }
            found.append(np.mean(list(scores.values())))
        else:
            found.append({"pass@": n > 0, "pass^": n == k, "majority@": (n > k / 2) + 0.5 * (n == k / 2)}[kind])
    return 100 * float(np.mean(found))


@pytest.mark.parametrize("kind", ["pass@", "pass^", "majority@", "plurality@"])
@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_a_question_has_the_mean_over_all_k_of_its_samples(kind: str, k: int) -> None:
    found = per_question(outputs(), f"{kind}{k}")
    expected = [
        [one(kind, RIGHT[s, 5 * q : 5 * q + 5].tolist(), ANSWERS[s, 5 * q : 5 * q + 5].tolist(), k) for q in (0, 1)]
        for s in (0, 1)
    ]
    assert 100 * found.statistics[..., 0] == pytest.approx(np.array(expected))
    assert found.scores() == pytest.approx(np.mean(expected, axis=1))
    assert found.metric.name == f"{kind}{k}"
    assert found.metric == find_metric(f"{kind}{k}")
    assert found.items.to_dict("list") == {"id": ["q", "r"], "topic": ["x", "x"]}
    assert len(ss.compare(found)) == 1


def test_the_mean_has_its_samples_with_it_through_cuts_joins_and_files(tmp_path: object) -> None:
    means = per_question(outputs())
    assert means.samples is not None
    share = RIGHT.reshape(2, 2, 5).mean(axis=2)
    assert means.statistics[..., 0] == pytest.approx(share)
    assert means.samples[..., 0].tolist() == [[5, 5], [5, 5]]
    assert means.samples[..., 1] == pytest.approx(RIGHT.reshape(2, 2, 5).var(axis=2, ddof=1))
    assert per_question(means) is means
    path = f"{tmp_path}/x.parquet"
    means.save(path)
    assert np.array_equal(ss.Outputs.load(path).samples, means.samples)  # type: ignore[arg-type]
    joined = means.select(["b"]).join_systems(means.select(["a"])).select(["a", "b"])
    assert np.array_equal(joined.samples, means.samples)  # type: ignore[arg-type]
    again = means.take([1]).join_items(means.take([0])).take([1, 0])
    assert np.array_equal(again.samples, means.samples)  # type: ignore[arg-type]
    assert means.fingerprint() != ss.Outputs.from_statistics(means.statistics, "accuracy").fingerprint()
    assert per_question(means, "pass^3").scores() == pytest.approx(per_question(outputs(), "pass^3").scores())


def test_a_question_has_what_all_its_samples_have() -> None:
    """Documents of several questions stay, so that tests draw them; the samples of one question are no document."""
    plain = outputs()
    asked = plain.items["sample_of"]
    known = plain.items.assign(
        level=asked.map({"q": "easy"}), seed=range(10), part=asked.map({"q": "x"}).where(plain.items.index > 1)
    )
    for cluster, unit in ((asked, "item"), ("a document", "cluster")):
        found = per_question(replace(plain, items=known.assign(cluster=cluster)))
        assert found.natural_unit == unit
        assert list(found.items) == ["id", "topic", "level", *(["cluster"] if unit == "cluster" else [])]
        assert found.items["level"].fillna("").tolist() == ["easy", ""]
    named = replace(plain, items=plain.items.rename(columns={"sample_of": "question"}))
    again = per_question(named, question="question")
    assert again.items["id"].tolist() == ["q", "r"]
    np.testing.assert_array_equal(again.statistics, per_question(plain).statistics)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 5 samples of each question, but question 'r' of system 'a' has 4"):
        per_question(outputs().take(range(9)), "pass@5")
    with pytest.raises(ValueError, match="^metric must be 'majority@3' .* where the answers are not known"):
        per_question(outputs(answers=False), "plurality@3")
    for wrong in ("pass@0", "pass3", "f1", 5):
        with pytest.raises(ValueError, match="^metric must be one of mean, pass@k"):
            per_question(outputs(), wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="^outputs must have samples"):
        per_question(ss.truth.correlated_accuracies([0.5, 0.6], 40))
    graded = ss.Outputs.from_scores(
        pd.DataFrame({"a": [0.5, 1.0]}), items=pd.DataFrame({"id": [0, 1], "sample_of": "q"})
    )
    with pytest.raises(ValueError, match="^metric must be 'mean' where samples are not right or wrong"):
        per_question(graded, "pass@2")
    for broken, message in (([[[0, 1]]], "whole numbers"), ([[[2, -1]]], "variances"), ([[2]], "shape")):
        with pytest.raises(ValueError, match=f"^samples must .*{message}"):
            ss.Outputs.from_statistics([[[1, 1]]], "accuracy", samples=broken)
