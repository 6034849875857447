"""Writes the small, simulated files of the pages "Start": what people have, in the formats of their tools."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent


def folder(name: str) -> Path:
    """A folder beside this file."""
    path = HERE / name
    path.mkdir(exist_ok=True)
    return path


def lines(path: Path, texts: list[str]) -> None:
    """A file with one text in each line."""
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")


def translations() -> None:
    """Sixty sentences of twelve documents; the systems replace or drop words."""
    rng = np.random.default_rng(1)
    subjects = ["The committee", "A young doctor", "Our neighbour", "The new train", "Every student", "The old bridge"]
    verbs = ["reached", "described", "repaired", "opened", "missed", "painted"]
    objects = ["the small station", "a long report", "the northern harbour", "two wooden doors", "the last exam"]
    ends = ["in the morning", "before the storm", "without any help", "near the river", "for the third time"]
    words = ["big", "house", "quickly", "went", "some", "yesterday"]
    parts = [[list(rng.choice(part, 60)) for part in (subjects, verbs, objects, ends)]]
    reference = [" ".join(four) + "." for four in zip(*parts[0], strict=True)]

    def translated(rate: float) -> list[str]:
        made = []
        for sentence in reference:
            kept = [word if rng.random() > rate else str(rng.choice(words)) for word in sentence.split()]
            made.append(" ".join(word for word in kept if rng.random() > rate / 4))
        return made

    path = folder("translations")
    lines(path / "ref.txt", reference)
    lines(path / "old.txt", translated(0.26))
    lines(path / "new.txt", translated(0.17))
    pd.DataFrame({"document": np.repeat([f"d{k:02}" for k in range(12)], 5)}).to_csv(path / "items.csv", index=False)


def harness() -> None:
    """Logs of two models on 80 questions, as lm-evaluation-harness writes them with --log_samples."""
    rng = np.random.default_rng(2)
    numbers = rng.integers(10, 99, size=(80, 2))
    hard = rng.random(80)
    for model, skill in (("model-small", 0.55), ("model-large", 0.65)):
        path = folder("harness") / model
        path.mkdir(exist_ok=True)
        texts = []
        for k, (a, b) in enumerate(numbers.tolist()):
            right = hard[k] < skill if rng.random() < 0.8 else rng.random() < skill
            answer = str(a + b + (0 if right else 10))
            sample = {
                "doc_id": k, "doc": {"question": f"{a} + {b} ="}, "target": str(a + b), "resps": [[answer]],
                "filtered_resps": [answer], "exact_match": float(right),
            }  # fmt: skip
            texts.append(json.dumps(sample))
        lines(path / "samples_addition_2026-01-15T10-00-00.000000.jsonl", texts)


def leaderboard() -> None:
    """A row for each submission and issue, with columns of the benchmark's own names."""
    rng = np.random.default_rng(3)
    repository = np.repeat([f"repo-{k}" for k in range(25)], 4)
    ease = rng.normal(size=25)[np.arange(100) // 4]
    rows = [
        {
            "model": model,
            "instance_id": f"issue-{k:03}",
            "resolved": int(ease[k] + rng.normal() < at),
            "repo": repository[k],
        }
        for model, at in (("alpha", 0.6), ("beta", 0.5), ("gamma", -0.1), ("delta", -0.9))
        for k in range(100)
    ]
    pd.DataFrame(rows).to_csv(HERE / "submissions.csv", index=False)


def retrieval() -> None:
    """Two runs of 30 topics with ten documents each, and judgements."""
    rng = np.random.default_rng(4)
    path = folder("retrieval")
    judged, runs = [], {"bm25": 1.0, "dense": 1.6}
    ranked: dict[str, list[str]] = {name: [] for name in runs}
    for topic in range(1, 31):
        relevant = rng.random(12) < 0.35
        relevant[0] = True
        judged += [f"{topic} 0 d{topic:02}-{k:02} {int(relevant[k])}" for k in range(12)]
        for name, weight in runs.items():
            score = weight * relevant + rng.normal(size=12)
            for rank, k in enumerate(np.argsort(-score)[:10], start=1):
                ranked[name].append(f"{topic} Q0 d{topic:02}-{k:02} {rank} {score[k]:.3f} {name}")
    lines(path / "qrels.txt", judged)
    for name, texts in ranked.items():
        lines(path / f"{name}.run", texts)


def judged() -> None:
    """Which of two answers each of three judges preferred, for 60 prompts."""
    rng = np.random.default_rng(5)
    taste = rng.normal(0.35, 0.8, size=60)
    rows = [
        {"prompt": f"p{k:02}", "judge": f"judge-{j}", "preferred": verdict}
        for k in range(60)
        for j in range(1, 4)
        for score in [taste[k] + rng.normal()]
        for verdict in ["new" if score > 0.3 else "old" if score < -0.3 else "tie"]
    ]
    pd.DataFrame(rows).to_csv(HERE / "judged.csv", index=False)


def samples() -> None:
    """Four samples of each of 50 questions: right or wrong, by two models."""
    rng = np.random.default_rng(6)
    ease = rng.normal(size=50)
    rows = [
        {"model": model, "question": f"q{k:02}", "sample": s, "correct": int(ease[k] + 0.5 * rng.normal() < at)}
        for model, at in (("base", 0.1), ("tuned", 0.45))
        for k in range(50)
        for s in range(4)
    ]
    pd.DataFrame(rows).to_csv(HERE / "samples.csv", index=False)


for write in (translations, harness, leaderboard, retrieval, judged, samples):
    write()
