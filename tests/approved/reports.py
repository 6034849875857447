"""Reports of every shape: the JSON of commands on the example files, the files that they write, and several tasks."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from typer.testing import CliRunner

import simstudy as ss
from simstudy.cli.command import app
from tests.approved.commands import answer, first_rows
from tests.approved.record import DOORS, Values, recording
from tests.documentation import examples_in

SUBMISSIONS = "submissions.csv --metric accuracy --columns system=model,item=instance_id,score=resolved"

TEXTS = "translations/old.txt translations/new.txt --references translations/ref.txt"
LABELS = "old.txt new.txt --references gold.txt"

#: Arguments of `simstudy compare` by what is special about the report.
COMMANDS = {
    "level": "four.csv --metric accuracy --alpha 0.001",
    "one-sided": "pair.csv --metric accuracy --alternative greater",
    "margin": "four.csv --metric accuracy --margin 1",
    "duplicates": "copies.csv --metric accuracy --duplicates note",
    "items missing": "holes.csv --metric accuracy --missing drop",
    "clusters": f"{SUBMISSIONS},cluster=repo",
    "two domains": "domains.csv --metric accuracy --domain d1 --domain d2",
    "families": "four.csv --metric accuracy --systems systems.csv --by family",
    "one system": "one.csv --metric accuracy",
    "two metrics": f"{TEXTS} --metric bleu --metric chrf",
    "error rate": f"{TEXTS} --metric ter",
    "samples": "samples.csv --metric pass@2",
    "labels": f"{LABELS} --metric macro_f1",
    "votes": "votes.jsonl --metric bradley_terry",
    "preferences": "preferences.csv --metric win_rate",
    "tasks": "tasks --metric accuracy",
}  # fmt: skip

#: Less usual ones.
OTHERS = {
    "bootstrap": "four.csv --metric accuracy --test bootstrap",
    "bootstrap resampled": "pair.csv --metric accuracy --test bootstrap --resamples 999 --seed 3",
    "mcnemar": "four.csv --metric accuracy --test mcnemar",
    "t": "pair.csv --metric mean --test t_paired",
    "wilcoxon": "pair.csv --metric mean --test wilcoxon",
    "lower is better": "pair.csv --metric mean --lower-is-better",
    "duplicates dropped": "copies.csv --metric accuracy --duplicates drop",
    "items missing, zero": "holes.csv --metric accuracy --missing zero",
    "items missing, refused": "holes.csv --metric accuracy",
    "clusters, items": f"{SUBMISSIONS},cluster=repo --unit item",
    "strata": f"{SUBMISSIONS},cluster=repo --unit item --strata cluster --test bootstrap",
    "domains": "domains.csv --metric accuracy --by-domain",
    "one domain": "domains.csv --metric accuracy --domain d1",
    "lower case": f"{TEXTS} --metric bleu --lowercase",
    "candidates": "candidates.csv --metric precision@20 --format candidates --columns gold=true",
    "tasks, micro": "tasks --metric accuracy --average micro",
    "tasks, groups": "tasks --metric accuracy --groups groups.toml",
    "tasks, one-sided": "tasks --metric accuracy --average macro --alternative greater",
    "ties kept": "candidates.csv --metric precision@20 --format candidates --columns gold=true --ties keep",
    "tokens": f"{TEXTS} --metric bleu --tokenize char",
    "convention": "pair.csv --metric accuracy --test bootstrap --convention bk2012 --resamples 999",
}  # fmt: skip

#: Arguments of gates: an exit code of 1 says that a gate does not let pass.
GATES = {
    "gate better": "pair.csv --metric accuracy --fail-unless-better new old",
    "gate better, fails": "pair.csv --metric accuracy --fail-unless-better old new",
    "gate worse": "pair.csv --metric accuracy --fail-if-worse new old",
    "gate worse, fails": "pair.csv --metric accuracy --fail-if-worse old new",
    "gate not worse": "pair.csv --metric accuracy --fail-unless-not-worse new old --margin 1",
    "gate not worse, fails": "pair.csv --metric accuracy --fail-unless-not-worse old new --margin 1",
    "gate equivalent": "pair.csv --metric accuracy --fail-unless-equivalent new old --margin 6",
    "gate equivalent, fails": "pair.csv --metric accuracy --fail-unless-equivalent new old --margin 1",
    "gate sequential": "pair.csv --metric accuracy --fail-unless-better new old --sequential",
    "two gates, one fails": "pair.csv --metric accuracy --fail-unless-better new old --fail-if-worse old new",
    "look 1": "pair.csv --metric accuracy --fail-unless-better old new --looks looks.json",
    "look 2": "pair.csv --metric accuracy --fail-unless-better new old --looks looks.json",
    "look 3": "pair.csv --metric accuracy --fail-unless-better new old --looks looks.json",
    "gate of two metrics": f"{LABELS} --metric accuracy --metric macro_f1 --fail-unless-better new old",
}  # fmt: skip


def _write_inputs() -> None:
    """Files beside the examples, of the answers of nine classifiers."""
    right = pd.read_csv("classifiers.csv", index_col="item")
    pair = right[["random forest", "support vectors"]].set_axis(["old", "new"], axis=1)
    pair.to_csv("pair.csv")
    pair[["new"]].to_csv("one.csv")
    right.iloc[:, :4].to_csv("four.csv")
    right[["decision tree"]].to_csv("tree.csv")
    right.iloc[:, :4].assign(copy=right.iloc[:, 0]).to_csv("copies.csv")
    long = pair.iloc[:300].reset_index().melt("item", var_name="system", value_name="score")
    long.drop(index=[3, 400, 410]).to_csv("holes.csv", index=False)
    long.assign(domain=np.array(["d1", "d2", "d3"])[long["item"].rank(method="dense").astype(int) % 3]).to_csv(
        "domains.csv", index=False
    )
    pd.DataFrame({"system": right.columns[:4], "family": list("xxyy")}).to_csv("systems.csv", index=False)
    rng = np.random.default_rng(5)
    first, second = rng.integers(0, 4, 400), rng.integers(1, 4, 400)
    names = np.array(["w", "x", "y", "z"])
    won = np.where(rng.random(400) < 0.5 + 0.08 * (((first + second) % 4) - first), "model_a", "model_b")
    votes = pd.DataFrame({"model_a": names[first], "model_b": names[(first + second) % 4], "winner": won})
    votes.to_json("votes.jsonl", orient="records", lines=True)
    shares = pd.DataFrame(rng.choice([0, 0.5, 1], (80, 3), p=[0.3, 0.2, 0.5]), columns=["a", "b", "c"])
    shares.rename_axis("item").to_csv("preferences.csv")
    true = rng.random(100) < 0.4
    ranked = pd.DataFrame({"true": true.astype(int), "good": true + rng.normal(size=100), "bad": rng.normal(size=100)})
    ranked.rename_axis("candidate").to_csv("candidates.csv")
    Path("groups.toml").write_text('outer = ["easy", "hard"]\n')
    for task, rows in {"easy": pair[:400], "medium": pair[400:700], "hard": pair[700:]}.items():
        for name in rows:
            path = Path("tasks", name, f"samples_{task}_2026-01-15T10-00-00.000000.jsonl")
            path.parent.mkdir(parents=True, exist_ok=True)
            about = {"target": "x", "metrics": ["acc"]}
            logged = [
                {"doc_id": i, "resps": [[f"{name} {i}"]], "acc": float(v), **about} for i, v in enumerate(rows[name])
            ]
            path.write_text("".join(json.dumps(row) + "\n" for row in logged))


@contextmanager
def _inputs() -> Iterator[None]:
    with TemporaryDirectory() as folder, chdir(examples_in(Path(folder))):
        _write_inputs()
        yield


def _answers(commands: Mapping[str, str]) -> Values:
    with _inputs():
        return {name: answer(["compare", *shlex.split(arguments)]) for name, arguments in commands.items()}


@recording(DOORS)
def reports() -> Values:
    """The numbers of each report."""
    return _answers(COMMANDS)


@recording(DOORS, quick=False)
def other_reports() -> Values:
    """The numbers of less usual reports."""
    return _answers(OTHERS)


@recording(DOORS, quick=False)
def gates() -> Values:
    """The exit code of each gate, and the numbers of its report."""
    return _answers(GATES)


#: Pairs that are written as one table, with all columns.
TABLES = {
    "all pairs": "four.csv --metric accuracy",
    "against": "four.csv tree.csv --metric accuracy --against 'decision tree'",
}

#: Reports whose files are looked at.
WRITTEN = {
    "clusters": f"{SUBMISSIONS},cluster=repo",
    "domains": "domains.csv --metric accuracy --by-domain",
    "tasks": "tasks --metric accuracy",
    "nine systems": "classifiers.csv --metric accuracy",
}


@recording(DOORS, quick=False)
def written_files() -> Values:
    """Names of all files that a report writes, and the numbers of its tables."""
    values: Values = {}
    with _inputs():
        for name, arguments in WRITTEN.items():
            folder = Path(f"out {name}")
            done = CliRunner().invoke(app, ["compare", *shlex.split(arguments), "--out", str(folder)])
            assert done.exit_code == 0, done.stderr
            files = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
            # A lock says who wrote last.
            paths = sorted(path for path in files if not path.name.startswith("."))
            values[f"{name}/files"] = list(map(str, paths))
            # A report on several domains has a folder for each.
            tables = [path for path in paths if path.suffix == ".csv"]
            values |= {f"{name}/{path}": first_rows(pd.read_csv(folder / path)) for path in tables}
        for name, arguments in TABLES.items():
            done = CliRunner().invoke(app, ["compare", *shlex.split(arguments), "--out", "pairs.parquet"])
            assert done.exit_code == 0, done.stderr
            table = pd.read_parquet("pairs.parquet")
            values[name] = {"columns": list(table), **first_rows(table)}
    return values


@recording(DOORS)
def several_tasks() -> Values:
    """Averages over tasks of one set of outputs, each under both hypotheses."""
    rng = np.random.default_rng(12)
    # Tasks of unlike sizes: no two of them change an average by the same amount.
    sizes = 50 + 7 * np.arange(8)
    tasks = np.repeat([f"t{k}" for k in range(8)], sizes)
    ease = np.repeat(rng.uniform(0.4, 0.8, 8), sizes)
    n = len(tasks)
    answers = {
        name: (rng.random(n) < ease + gain).astype(int) for name, gain in [("a", 0.06), ("b", 0.0), ("c", -0.05)]
    }
    clusters = [f"{task}-{k % 20}" for k, task in enumerate(tasks)]
    items = pd.DataFrame({"id": range(n), "domain": tasks, "cluster": clusters})
    outputs = ss.Outputs.from_scores(pd.DataFrame(answers), "accuracy", items=items)
    ways = {
        "macro": ss.across_tasks(outputs),
        "micro": ss.across_tasks(outputs, average="micro", unit="item"),
        "weights": ss.across_tasks(outputs, average={f"t{k}": float(k + 1) for k in range(8)}),
    }
    tables = ("scores", "by_task", "averages", "leaderboard", "without")
    return {f"{name}/{table}": getattr(way, table) for name, way in ways.items() for table in tables}
