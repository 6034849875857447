"""Both noises of published evaluations beside ours, and plans for other numbers of samples, held out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import simstudy as ss
from simstudy.files import datasets
from simstudy.pages.sections import Figure, Section, Table
from simstudy.planning import variance_components
from simstudy.studies import Cell, DataFile, Findings, RunContext, ShippedTables, Shown, derived_seed

from .settings import Settings

_PUBLISHED = "highk"
# What a set of a folder has of each question, in words.
_ANSWERS = {"highk": "many answers", "lowk": "few answers"}

_CLOSING = (
    "Standard errors are in points of accuracy. Samples of a question are answers that a model gave: k of them are "
    "drawn without replacement from the recorded ones."
)


def run(study: Settings, context: RunContext) -> Findings:
    """Measure both noises, and hold plans out."""
    files = {
        (folder, name): DataFile.of(
            datasets.find(
                f"{study.folders[folder]}/{name}.csv.gz", context.data_dir, allow_outside=context.allow_outside
            )
        )
        for folder, names in ({_PUBLISHED: list(study.published)} | study.sets).items()
        for name in names
    }
    hashes = {"/".join(key): file.sha256 for key, file in files.items()}
    with context.clock("noises"):
        measured = pd.DataFrame([_measured(study, name, files[_PUBLISHED, name].path) for name in study.published])
    cells = [
        Cell(
            label=f"{folder} {name}",
            arguments=(
                study.only("plans", "splits", "most_gain", "least_score", "seed"),
                folder,
                name,
                files[folder, name],
            ),
        )
        for folder, names in study.sets.items()
        for name in names
    ]
    held = pd.DataFrame([row for rows in context.run("plans of halves", held_out, cells) for row in rows])
    held["holds"] = (held["ratio"] - 1).abs() <= study.within
    plans = held.groupby(["folder", "set", "n_questions", "n_systems", "n_pairs", "pilot", "planned"], sort=False).agg(
        ratio=("ratio", "mean"), least=("ratio", "min"), most=("ratio", "max"), holds=("holds", "mean")
    )
    curves = pd.concat([_curve(study, name, files[_PUBLISHED, name].path) for name in study.published])
    tables = {"noises": measured, "plans": plans.reset_index(), "splits": held, "curves": curves}
    return Findings(
        tables=tables, facts={"Splits": f"{study.splits} of each set", "Seed": str(study.seed)}, data={"files": hashes}
    )


def show(study: Settings, tables: ShippedTables) -> Shown:
    """The page of the tables."""
    return Shown(sections=_sections(tables, study), closing=_CLOSING)


@cache
def read(path: Path) -> ss.Outputs:
    """The systems of one set, with the number of their samples."""
    return ss.load(path, "accuracy", missing="drop").outputs


def _measured(study: Settings, name: str, path: Path) -> dict[str, object]:
    """Wang's mean standard errors of close pairs with one sample, and ours."""
    outputs, published = read(path), study.published[name]
    table, scores = ss.comparisons.noises(outputs), dict(zip(outputs.names, outputs.scores(), strict=True))
    right = dict(zip(outputs.names, outputs.statistics[..., 0], strict=True))
    first, second = table["system_a"], table["system_b"]
    enough = np.minimum(first.map(scores), second.map(scores)) > study.least_score
    # Wang's sign test of expected wins: pairs beyond five standard errors are not close.
    wins = [(right[a] * (1 - right[b])).sum() for a, b in zip(first, second, strict=True)]
    losses = [(right[b] * (1 - right[a])).sum() for a, b in zip(first, second, strict=True)]
    p = [
        stats.binomtest(int(w), max(int(w + loss), 1)).pvalue if w + loss >= 1 else 1.0
        for w, loss in zip(wins, losses, strict=True)
    ]
    close = table[enough & (table["gain"] <= study.most_gain) & (np.array(p) > 2 * stats.norm.sf(5))]
    return {
        "set": name, "title": published.title, "n_questions": outputs.n_items, "n_pairs": len(close),
        "se_published": published.se, "between_published": published.between, "within_published": published.within,
        "se": close["se_one"].mean(), "between": close["se_between"].mean(),
        "within": np.sqrt(close["se_one"] ** 2 - close["se_between"] ** 2).mean(),
        "share_within": ((close["se_one"] ** 2 - close["se_between"] ** 2) / close["se_one"] ** 2).median(),
    }  # fmt: skip


def _curve(study: Settings, name: str, path: Path) -> pd.DataFrame:
    """The standard error of the gain of the two best systems, by the number of samples."""
    table = ss.comparisons.noises(read(path).select(read(path).best_first().names[:2]))
    return ss.comparisons.noise_curve(table).assign(set=study.published[name].title)


def held_out(study: Settings, folder: str, name: str, file: DataFile) -> list[dict[str, object]]:
    """Of each split and plan: root mean square predicted standard error of close pairs, over the realised one."""
    outputs = read(file.path)
    assert outputs.samples is not None
    number = outputs.samples[:, :1, 0]
    most = max(max(plan) for plan in study.plans)
    kept = (outputs.samples[..., 0] >= most).all(axis=1) & (outputs.scores() > study.least_score)
    right = np.rint(outputs.statistics[kept, :, 0] * number[kept]).astype(np.int64)
    wrong = number[kept].astype(np.int64) - right
    scores = outputs.scores()[kept]
    i, j = np.triu_indices(int(kept.sum()), 1)
    close = np.flatnonzero(np.abs(scores[i] - scores[j]) <= study.most_gain)
    rows: list[dict[str, object]] = []
    for split in range(study.splits):
        rng = np.random.default_rng(derived_seed(study.seed, folder, name, split))
        order = rng.permutation(right.shape[1])
        half = len(order) // 2
        for pilot, planned in study.plans:
            known = _of(rng.hypergeometric(right, wrong, pilot)[:, order[:half]], pilot)
            fresh = _of(rng.hypergeometric(right, wrong, planned)[:, order[half:]], planned)
            real = np.cov(100 * fresh.statistics[..., 0]) / fresh.n_items
            predicted = [
                variance_components(known.select([known.names[i[k]], known.names[j[k]]])).standard_error(
                    fresh.n_items, planned
                )
                for k in close
            ]
            realised = real[i, i] + real[j, j] - 2 * real[i, j]
            rows.append(
                {
                    "folder": folder, "set": name, "split": split, "n_questions": len(order), "n_systems": len(scores),
                    "n_pairs": len(close), "pilot": pilot, "planned": planned,
                    "predicted": np.sqrt(np.mean(np.square(predicted))), "realised": np.sqrt(realised[close].mean()),
                    "ratio": np.sqrt(np.mean(np.square(predicted)) / realised[close].mean()),
                }
            )  # fmt: skip
    return rows


def _of(right: np.ndarray, k: int) -> ss.Outputs:
    """Outputs (K, n) of means of k right or wrong samples."""
    share = right / k
    variance = share * (1 - share) * k / (k - 1) if k > 1 else np.full_like(share, np.nan)
    samples = np.stack([np.full_like(share, k), variance], axis=-1)
    return ss.Outputs.from_statistics(np.stack([share, np.ones_like(share)], axis=-1), "accuracy", samples=samples)


def _sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    plans = tables["plans"]
    large = plans[plans["n_questions"] >= 50]
    return [
        Section(
            "Both noises, published and here",
            "Standard errors of the gain with one sample of each question and system: published by Wang (2025), and "
            "here. Wang calls the three SE(A-B), SE_x(A-B) and SE_pred(A-B). A cell is the mean over close pairs. As "
            f"in Wang's table, these have a gain of at most {study.most_gain:g} points, and both systems score above "
            f"{study.least_score:g} %. Also, the sign test of their expected wins is within five standard errors. "
            "Share within: the median share of the variance that is noise within questions. The figure shows the two "
            "best systems of each set. With more samples, their standard error falls to that between questions "
            "(dashed).",
            figure=Figure(
                "noises",
                lambda: ss.plot.noise_curve(
                    tables["curves"].drop(columns="system_b").assign(system_a=lambda t: t["set"])
                ),
            ),
            table=Table(
                tables["noises"],
                {
                    "set": "{title}",
                    "questions": "{n_questions:,}",
                    "pairs": "{n_pairs:,}",
                    "all noise, published": "{se_published:.2f}",
                    "all, here": "{se:.2f}",
                    "between questions, published": "{between_published:.2f}",
                    "between, here": "{between:.2f}",
                    "within questions, published": "{within_published:.2f}",
                    "within, here": "{within:.2f}",
                    "share within": "{share_within:.0%}",
                },
            ),
        ),
        Section(
            "Plans for other numbers of samples, held out",
            "Questions are halved at random. The samples of one half predict standard errors of gains on the other "
            "half, for another number of samples. 10 to 1: from ten samples of a question, for one. The ratio is "
            "predicted / realised, as root mean squares over close pairs. These pairs have a gain of at most "
            f"{study.most_gain:g} points on all questions. A cell has the mean ratio of {study.splits} splits, and in "
            "brackets the least and the largest. Holds: the share of splits with a ratio within "
            f"{100 * study.within:g} % of 1. This is {100 * plans['holds'].mean():.0f} % over all sets and plans, and "
            f"{100 * large['holds'].mean():.0f} % on sets of 50 questions or more.",
            table=Table(
                plans.assign(answers=plans["folder"].map(_ANSWERS)),
                {
                    "set": "{set}, {answers}",
                    "questions": "{n_questions:,}",
                    "pairs": "{n_pairs:,}",
                    "samples: known to planned": "{pilot} to {planned}",
                    "predicted / realised": "{ratio:.3f} ({least:.2f}–{most:.2f})",
                    "holds": "{holds:.0%}",
                },
            ),
        ),
    ]
