"""The study of several samples: its cells on made-up answers, and held-out plans on real ones."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.studies import DataFile
from tests.experiments.programs import known_otherwise, program, small

ARENA = Path(__file__).parents[3] / "shared" / "data" / "eval_arena"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Twelve samples of 60 questions by four models."""
    rng = np.random.default_rng(0)
    hard = rng.normal(size=60)
    rows = [
        (f"m{k}", i, rng.binomial(12, 1 / (1 + np.exp(-hard[i] - 0.2 * k - rng.normal()))) / 12, 12)
        for k in range(4)
        for i in range(60)
    ]
    (tmp_path / "here").mkdir()
    table = pd.DataFrame(rows, columns=["system", "item", "score", "n_samples"])
    table.to_csv(tmp_path / "here" / "x.csv.gz", index=False)
    return tmp_path


@pytest.mark.usefixtures("empty_figures")
def test_a_small_study_predicts_standard_errors_of_other_halves(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every table, from the noises of all pairs and from the splits; and one curve, of the two best models."""
    published = {"x": {"title": "X", "se": 1.0, "between": 2.0, "within": 3.0}}
    study = small("samples", published=published, sets={"highk": ["x"]}, folders={"highk": "here"}, splits=3,
                  within=0.03, seed=2)  # fmt: skip
    done = ss.run_study(study, out=tmp_path / "out", n_jobs=1, data_dir=data)
    splits = done.tables["splits"]
    assert len(splits) == 3 * 2
    assert splits["ratio"].between(0.6, 1.7).all()
    assert splits["holds"].tolist() == [abs(ratio - 1) <= 0.03 for ratio in splits["ratio"]]
    for plan in done.tables["plans"].to_dict("records"):
        own = splits[(splits["pilot"] == plan["pilot"]) & (splits["planned"] == plan["planned"])]
        ratios = own["ratio"].tolist()
        shares = [plan[name] for name in ("ratio", "least", "most", "holds")]
        assert shares == pytest.approx([np.mean(ratios), min(ratios), max(ratios), np.mean(own["holds"])])
        counts = [plan[name] for name in ("folder", "set", "n_questions", "n_systems", "n_pairs")]
        assert counts == ["highk", "x", 60, 4, 6]
    assert list(zip(done.tables["plans"]["pilot"], done.tables["plans"]["planned"], strict=True)) == [(10, 1), (2, 10)]
    outputs = ss.load(data / "here" / "x.csv.gz", "accuracy").outputs
    noises = ss.comparisons.noises(outputs)
    within = noises["se_one"] ** 2 - noises["se_between"] ** 2
    (row,) = done.tables["noises"].to_dict("records")
    assert row == {
        "set": "x", "title": "X", "n_questions": 60, "n_pairs": 6,
        "se_published": 1.0, "between_published": 2.0, "within_published": 3.0,
        "se": pytest.approx(noises["se_one"].mean()), "between": pytest.approx(noises["se_between"].mean()),
        "within": pytest.approx(np.sqrt(within).mean()),
        "share_within": pytest.approx(np.median(within / noises["se_one"] ** 2)),
    }  # fmt: skip
    best = [name for _, name in sorted(zip(-outputs.scores(), outputs.names, strict=True))[:2]]
    curve = ss.comparisons.noise_curve(ss.comparisons.noises(outputs.select(best)))
    pd.testing.assert_frame_equal(done.tables["curves"].drop(columns="set"), curve)
    assert set(done.tables["curves"]["set"]) == {"X"}
    page = (tmp_path / "out" / "README.md").read_text()
    assert "- **Splits**: 3 of each set\n- **Seed**: 2\n" in page
    monkeypatch.setattr(program("samples"), "_measured", lambda *_: {})
    changes: list[dict[str, Any]] = [
        {"seed": 3}, {"splits": 2}, {"plans": [[2, 1]]}, {"most_gain": 5.0}, {"least_score": 20.0}
    ]  # fmt: skip
    for change in changes:
        other = study.model_copy(update=change)
        assert known_otherwise("samples", study, other, 1, data_dir=data) == {0}, change


def test_pairs_that_count_have_a_small_gain_and_two_scores_above_the_least(tmp_path: Path) -> None:
    """Each system has right what the one before has, always; 28 of 28 are won beyond five standard errors, 21 not."""
    right = {"below": 9, "a": 25, "b": 40, "c": 61, "d": 68}
    rows = [(name, i, int(i < n), 12) for name, n in right.items() for i in range(100)]
    path = tmp_path / "x.csv"
    pd.DataFrame(rows, columns=["system", "item", "score", "n_samples"]).to_csv(path, index=False)
    study = small("samples", splits=1, plans=[[3, 1]], most_gain=30.0, least_score=9.0)
    name = next(iter(study.published))  # type: ignore[attr-defined]
    row = program("samples")._measured(study, name, path)
    assert row["n_pairs"] == 3
    assert row["se"] == pytest.approx(np.mean([100 * np.sqrt(d * (1 - d) / 99) for d in (0.15, 0.21, 0.07)]))
    (held,) = program("samples").held_out(study, "here", "x", DataFile.of(path))
    assert (held["n_systems"], held["n_pairs"]) == (4, 4), "of b and d, too"


def test_plans_are_made_of_one_half_and_held_against_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All answers of a model to a question are right, or all are wrong; no two questions have the same ones right."""
    rows = [(f"m{k}", i, (i >> k) & 1, 12) for k in range(6) for i in range(1, 62)]
    # A seventh model has too few samples for the second plan.
    rows += [("m6", i, i & 1, 4) for i in range(1, 62)]
    pd.DataFrame(rows, columns=["system", "item", "score", "n_samples"]).to_csv(tmp_path / "x.csv", index=False)
    made = program("samples")
    drawn: list[ss.Outputs] = []
    of = made._of
    monkeypatch.setattr(made, "_of", lambda right, k: drawn.append(of(right, k)) or drawn[-1])
    study = small("samples", splits=2, plans=[[3, 1], [2, 5]], most_gain=100.0, least_score=0.0)
    found = made.held_out(study, "here", "x", DataFile.of(tmp_path / "x.csv"))
    assert [(row["split"], row["pilot"], row["planned"]) for row in found] == [
        (0, 3, 1), (0, 2, 5), (1, 3, 1), (1, 2, 5)
    ]  # fmt: skip
    for row, known, fresh in zip(found, drawn[::2], drawn[1::2], strict=True):
        codes = [set((2 ** np.arange(6)) @ half.statistics[..., 0]) for half in (known, fresh)]
        assert [len(of_half) for of_half in codes] == [30, 31]
        assert codes[0] | codes[1] == set(range(1, 62))
        # Nothing varies within a question, whatever the number of its samples is.
        variances = []
        for half in (known, fresh):
            scores = 100 * half.statistics[..., 0]
            variances.append(np.mean([(a - b).var(ddof=1) / 31 for a, b in combinations(scores, 2)]))
        assert (row["predicted"], row["realised"]) == pytest.approx(tuple(np.sqrt(variances)))
        assert row["ratio"] == pytest.approx(np.sqrt(variances[0] / variances[1]))
        assert (row["n_pairs"], row["n_systems"], row["n_questions"]) == (15, 6, 61)
    other = made.held_out(study.model_copy(update={"seed": 1}), "here", "x", DataFile.of(tmp_path / "x.csv"))
    assert other[0]["realised"] != found[0]["realised"], "another seed halves otherwise"


@pytest.mark.parametrize("k", [2, 5])
def test_drawn_answers_have_their_mean_and_unbiased_variance(k: int) -> None:
    """Of r right answers in k."""
    outputs = program("samples")._of(np.arange(k + 1)[None].repeat(2, axis=0), k)
    answers = [[1] * r + [0] * (k - r) for r in range(k + 1)]
    np.testing.assert_allclose(outputs.statistics[0, :, 0], np.mean(answers, axis=1))
    np.testing.assert_allclose(outputs.samples[0, :, 1], np.var(answers, axis=1, ddof=1), atol=1e-12)
    assert (outputs.samples[..., 0] == k).all()


@pytest.mark.slow
@pytest.mark.skipif(not ARENA.is_dir(), reason="needs the question-level results of eval-arena")
@pytest.mark.parametrize("name", ["human_eval", "lsat_cot", "jeebench_chat_cot"])
def test_plans_for_other_numbers_of_samples_hold_on_real_answers(name: str) -> None:
    """Predicted standard errors of one sample from ten, and of ten from two, within 10 % on the other half."""
    study = small("samples", splits=2)
    rows = program("samples").held_out(study, "lowk", name, DataFile.of(ARENA / "lowk_temp0.7" / f"{name}.csv.gz"))
    assert [row["ratio"] for row in rows] == pytest.approx([1.0] * 4, abs=0.1)
