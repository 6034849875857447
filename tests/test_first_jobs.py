"""Fifteen first jobs, each one command or three lines of Python, on files in the forms that people have.

The answers are those of nine classifiers to 797 images of digits, and the other example files of the documentation.
Each result equals an independent calculation.
"""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import zipfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sacrebleu import corpus_bleu
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from typer.testing import CliRunner

import simstudy as ss
from simstudy.cli.command import app
from tests.documentation import ROOT

HERE = ROOT / "docs" / "examples"
TEXTS = HERE / "translations"
#: 0/1 of nine systems on 797 items.
RIGHT = pd.read_csv(HERE / "classifiers.csv", index_col="item")
OLD, NEW = "random forest", "support vectors"
PAIR = RIGHT[[OLD, NEW]].set_axis(["old", "new"], axis=1)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: object, exit_code: int = 0) -> dict[str, Any]:
    """What `simstudy compare … --json` says."""
    result = CliRunner().invoke(app, ["compare", *map(str, arguments), "--json"])
    assert result.exit_code == exit_code, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def tidy(frame: pd.DataFrame, item: str = "item", system: str = "system", score: str = "score") -> pd.DataFrame:
    """A row for each score, under these names."""
    return frame.rename_axis(item).reset_index().melt(item, var_name=system, value_name=score)


def translations() -> tuple[list[str], dict[str, list[str]]]:
    """The lines of the reference, and those of each system."""
    ref, old, new = ((TEXTS / f"{name}.txt").read_text().splitlines() for name in ("ref", "old", "new"))
    return ref, {"old": old, "new": new}


def by_coins(pair: pd.DataFrame) -> float:
    """The two-sided p-value of McNemar's exact test."""
    wins, losses = (int((pair["new"] - pair["old"] == sign).sum()) for sign in (1, -1))
    return float(stats.binomtest(wins, wins + losses).pvalue)


def check_right(one: dict[str, Any], pair: pd.DataFrame = PAIR) -> None:
    """The scores of two systems that are right or wrong, their gain and p."""
    assert one["score_a"] == pytest.approx(100 * pair["new"].mean())
    assert one["gain"] == pytest.approx(100 * (pair["new"] - pair["old"]).mean())
    assert one["p_value"] == pytest.approx(by_coins(pair), rel=1e-9)


def test_1_two_texts() -> None:
    found = run(TEXTS / "old.txt", TEXTS / "new.txt", "--metric", "bleu", "--references", TEXTS / "ref.txt")
    ref, said = translations()
    scores = {row["system"]: row["score"] for row in found["systems"]}
    assert scores == pytest.approx({name: corpus_bleu(own, [ref]).score for name, own in said.items()})


def test_2_a_folder_with_documents() -> None:
    """The list of documents has no header. The standard error is a jackknife over documents, by sacrebleu."""
    for name in ("old", "new"):
        Path("runs", name).mkdir(parents=True)
        Path("runs", name, "hyp.txt").write_text((TEXTS / f"{name}.txt").read_text())
    documents = pd.read_csv(TEXTS / "items.csv")["document"]
    Path("docs.txt").write_text("\n".join(documents) + "\n")
    found = run("runs", "--metric", "bleu", "--references", TEXTS / "ref.txt", "--items", "docs.txt")
    (one,) = found["pairs"]
    ref, said = translations()
    without = []
    for document in documents.unique():
        kept = np.flatnonzero(documents != document)
        hyps, rest = ([said[one[x]][i] for i in kept] for x in ("system_a", "system_b")), [[ref[i] for i in kept]]
        a, b = (corpus_bleu(hyp, rest).score for hyp in hyps)
        without.append(a - b)
    n = len(without)
    assert (one["unit"], one["n_units"]) == ("cluster", n)
    assert one["gain_se"] == pytest.approx(np.sqrt((n - 1) / n * ((without - np.mean(without)) ** 2).sum()), rel=0.02)


def test_3_a_csv_with_odd_names() -> None:
    tidy(PAIR, "question_id", "model_name", "is_correct").assign(subject="digits").to_csv("results.csv", index=False)
    found = run("results.csv", "--metric", "acc")
    check_right(*found["pairs"])
    assert any("question_id" in note for note in found["notes"])


def test_4_json_lines_one_packed_file_a_model() -> None:
    Path("eval").mkdir()
    for name in PAIR:
        rows = [{"doc": {"id": f"d{i}"}, "metrics": {"exact_match": bool(v)}} for i, v in PAIR[name].items()]
        with gzip.open(f"eval/{name}.jsonl.gz", "wt") as file:
            file.write("".join(json.dumps(row) + "\n" for row in rows))
    check_right(run("eval", "--metric", "accuracy", "--columns", "item=doc.id,score=metrics.exact_match")["pairs"][0])


def _of_tasks() -> dict[str, pd.DataFrame]:
    return {"easy": PAIR[:500], "medium": PAIR[500:700], "hard": PAIR[700:]}


def test_5_a_folder_of_lm_eval_logs_with_three_tasks() -> None:
    for task, own in _of_tasks().items():
        for name in own:
            Path("logs", name).mkdir(parents=True, exist_ok=True)
            about = {"target": "x", "metrics": ["acc"]}
            rows = [{"doc_id": i, "resps": [[f"{name} {i}"]], "acc": float(v)} | about for i, v in enumerate(own[name])]
            text = "".join(json.dumps(row) + "\n" for row in rows)
            Path("logs", name, f"samples_{task}_2026-01-15T10-00-00.000000.jsonl").write_text(text)
    found = run("logs", "--metric", "accuracy")
    gains = {task: own["new"] - own["old"] for task, own in _of_tasks().items()}
    averages = {(row["average"], row["hypothesis"]): row for row in found["averages"]}
    macro = [row["gain"] for (average, _), row in averages.items() if average == "macro"]
    assert macro == pytest.approx([100 * np.mean([g.mean() for g in gains.values()])] * 2)
    these = averages["macro", "these tasks"]
    se = 100 * np.sqrt(sum(g.var(ddof=1) / len(g) for g in gains.values())) / 3
    assert these["gain_se"] == pytest.approx(se)
    micro = next(row for (average, _), row in averages.items() if average == "micro")
    assert micro["gain"] == pytest.approx(100 * (PAIR["new"] - PAIR["old"]).mean())


def _archive(model: str, values: pd.Series[Any]) -> bytes:
    about = {"version": 2, "status": "success", "eval": {"task": "digits", "model": model}}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(about))
        for i, value in values.items():
            sample = {
                "id": i, "epoch": 1, "input": f"image {i}", "target": "x",
                "scores": {"match": {"value": "C" if value else "I", "answer": "x"}},
                "output": {"choices": [{"message": {"content": f"{model} {i}"}}]},
            }  # fmt: skip
            archive.writestr(f"samples/{i}_epoch_1.json", json.dumps(sample))
    return packed.getvalue()


def test_6_archives_of_inspect() -> None:
    for name in PAIR:
        Path(f"{name}.eval").write_bytes(_archive(name, PAIR[name]))
    check_right(run("old.eval", "new.eval", "--metric", "accuracy")["pairs"][0])


def test_7_five_samples_a_question() -> None:
    """The noise within is the binomial's of each question; the total is that of the questions' means."""
    rng = np.random.default_rng(7)
    chance = {"base": rng.beta(2, 2, 60), "new": rng.beta(3, 2, 60)}
    frame = pd.DataFrame(
        [
            {"model": name, "question_id": q, "sample": k, "correct": int(rng.random() < p)}
            for name, own in chance.items()
            for q, p in enumerate(own)
            for k in range(5)
        ]
    )
    frame.to_csv("samples.csv", index=False)
    (noise,) = run("samples.csv", "--metric", "accuracy")["noises"]
    means = frame.pivot_table(index="question_id", columns="model", values="correct")
    within = sum((means[name] * (1 - means[name]) / 4).sum() for name in chance) / 60**2
    total = (means[noise["system_a"]] - means[noise["system_b"]]).var(ddof=1) / 60
    assert noise["se"] == pytest.approx(100 * np.sqrt(total))
    assert noise["se_within"] == pytest.approx(100 * np.sqrt(within))
    assert noise["share_within"] == pytest.approx(within / total)


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_8_a_table_of_polars_or_pyarrow(library: str) -> None:
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    long = tidy(PAIR)
    table = module.table(dict(long.items())) if library == "pyarrow" else module.from_pandas(long)
    found = ss.examine(table, "accuracy")
    check_right(found.pairs.frame.iloc[0].to_dict())


def test_9_scores_in_pandas() -> None:
    """Twelve items: all 4,096 signs of the differences, one by one."""
    scores = np.random.default_rng(9).normal([0, 0.8], 1, (12, 2))
    frame = pd.DataFrame(scores, columns=["a", "b"], index=[f"q{i}" for i in range(12)])
    pair = ss.examine(frame, "mean").pairs.frame.iloc[0]
    differences = (frame[pair["system_a"]] - frame[pair["system_b"]]).to_numpy()
    sums = np.abs(np.array(list(product([-1, 1], repeat=12))) @ differences)
    assert pair["gain"] == pytest.approx(differences.mean())
    assert pair["p_value"] == pytest.approx((sums >= abs(differences.sum()) * (1 - 1e-12)).mean())


def test_10_area_under_the_curve() -> None:
    rng = np.random.default_rng(10)
    gold = rng.integers(0, 2, 200)
    frame = pd.DataFrame({"gold": gold, "a": gold + rng.normal(size=200), "b": gold + rng.normal(0, 2, 200)})
    frame.to_csv("auc.csv", index_label="item")
    (one,) = run("auc.csv", "--metric", "auc", "--resamples", 1000)["pairs"]
    scores = {name: 100 * roc_auc_score(gold, frame[name]) for name in ("a", "b")}
    scale = 1 if one["score_a"] > 1 else 100
    assert one["score_a"] * scale == pytest.approx(scores[one["system_a"]])
    drawn = np.stack([rng.integers(0, 200, 200) for _ in range(200)])
    # Areas differ by the sums of the ranks of what is 1.
    ranks = [stats.rankdata(frame[name].to_numpy()[drawn], axis=1) * gold[drawn] for name in ("a", "b")]
    n = gold[drawn].sum(axis=1)
    gains = (ranks[0] - ranks[1]).sum(axis=1) / (n * (200 - n))
    assert one["gain_se"] * scale == pytest.approx(100 * np.std(gains), rel=0.15)


def test_11_votes_of_an_arena() -> None:
    rng = np.random.default_rng(11)
    first = rng.integers(0, 4, 500)
    second = (first + rng.integers(1, 4, 500)) % 4
    names = np.array(["w", "x", "y", "z"])
    won = rng.random(500) < 1 / (1 + np.exp((second - first) / 2.0))
    frame = pd.DataFrame(
        {"model_a": names[first], "model_b": names[second], "winner": np.where(won, "model_a", "model_b")}
    )
    frame.to_json("votes.jsonl", orient="records", lines=True)
    design = np.zeros((500, 4))
    design[np.arange(500), first], design[np.arange(500), second] = 1, -1
    fitted = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=1000).fit(design, won).coef_[0]
    expected = 1000 + 400 / np.log(10) * (fitted - fitted.mean())
    scores = {row["system"]: row["score"] for row in run("votes.jsonl", "--metric", "bradley_terry")["systems"]}
    assert scores == pytest.approx(dict(zip(names, expected, strict=True)), abs=0.01)


def test_12_runs_of_trec() -> None:
    """Average precision, written out."""
    folder = HERE / "retrieval"
    qrels, runs = pd.read_csv(folder / "qrels.txt", sep=" ", header=None, dtype={0: str}), {}
    relevant = {t: set(own[own[3] > 0][2]) for t, own in qrels.groupby(0)}
    for name in ("bm25", "dense"):
        own = pd.read_csv(folder / f"{name}.run", sep=" ", header=None, dtype={0: str})
        values = []
        for topic, wanted in relevant.items():
            ranked = own[own[0] == topic].sort_values(4, ascending=False)[2].isin(wanted).to_numpy()
            precision = np.cumsum(ranked) / np.arange(1, len(ranked) + 1)
            values.append((precision * ranked).sum() / len(wanted) if wanted else np.nan)
        runs[name] = np.nanmean(values)
    found = run(folder / "bm25.run", folder / "dense.run", "--metric", "ap", "--references", folder / "qrels.txt")
    assert {row["system"]: row["score"] for row in found["systems"]} == pytest.approx(runs)


def test_13_a_gate() -> None:
    PAIR.to_csv("scores.csv")
    assert by_coins(PAIR) < 0.05
    run("scores.csv", "--metric", "accuracy", "--fail-unless-better", "new", "old")
    run("scores.csv", "--metric", "accuracy", "--fail-unless-better", "old", "new", exit_code=1)


@pytest.mark.usefixtures("empty_figures")
def test_14_a_study_of_one_s_own_files() -> None:
    runner = CliRunner()
    made = runner.invoke(app, ["new", "my-study", "--from", "natural"])
    assert made.exit_code == 0, made.stderr
    done = runner.invoke(app, ["run", "my-study/study.toml", "--out", "out"])
    assert done.exit_code == 0, done.stderr
    board = pd.read_csv("out/leaderboard.csv").set_index("system")["score"]
    scores = pd.read_csv("my-study/scores.csv").set_index("item").drop(columns=["domain"], errors="ignore")
    pd.testing.assert_series_equal(board.sort_index(), 100 * scores.mean().sort_index(), check_names=False, rtol=1e-5)


def test_15_a_plan_with_samples() -> None:
    """Items = (z / gain)^2 (variance between + variance within / k), which the plan's t-quantiles raise a little."""
    rng = np.random.default_rng(15)
    chance = {"base": rng.beta(2, 2, 300), "new": rng.beta(2.4, 2, 300)}
    frame = pd.DataFrame({f"{name}": rng.binomial(4, own) / 4 for name, own in chance.items()})
    outputs = ss.load(tidy(frame).assign(n_samples=4), "accuracy").outputs
    items = ss.plan(ss.Pilot(outputs, samples=2), gain=4).answers["n_items"].iloc[0]
    total = (frame["new"] - frame["base"]).var(ddof=1)
    within = sum((frame[name] * (1 - frame[name]) * 4 / 3).mean() for name in frame)
    variance = total - within / 4 + within / 2
    expected = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) ** 2 * variance / 0.04**2
    assert items == pytest.approx(expected, rel=0.02)


def test_a_gate_holds_if_nobody_reads_what_is_printed() -> None:
    """`simstudy compare … | head -1` must not let a gate pass."""
    PAIR.to_csv("scores.csv")
    command = [sys.executable, "-m", "simstudy", "compare", "scores.csv", "--metric=accuracy", "--fail-unless-better"]
    with subprocess.Popen([*command, "old", "new"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait() == 1
