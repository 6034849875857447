"""Leaderboards about which others have published counts, counted on the data at hand."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import simstudy as ss

from .claims import COUNT, POINTS, RANK, SHARE, P, claim
from .settings import Board, Equal, Resolution

AUDIT = "swebench-rank-audit (2026), RESULTS.md"
_ISSUE = "issue 621 of SWE-bench/SWE-bench (2026)"
_ISSUES = "issues 621 and 624 of SWE-bench/SWE-bench (2026)"
_KOTAWALA = "Kotawala 2026, abstract"

# Two-sided 0.05 and power 0.8, in standard errors.
RESOLVED = float(stats.norm.isf(0.025) + stats.norm.isf(0.2))


def load_board(path: str | Path) -> ss.Outputs:
    """A board of SWE-bench, best system first."""
    columns = {"item": "instance_id", "score": "resolved", "domain": "repo"}
    return ss.load(path, "accuracy", columns=columns).outputs.best_first()


def board_claims(board: Board, outputs: ss.Outputs, alpha: float = 0.05) -> list[dict[str, Any]]:
    """Claims about one board; p-values are those of McNemar's exact test."""
    frame = ss.compare(outputs, test="mcnemar", unit="item", alternative="two-sided").frame
    of_pair, names = _by_pair(frame), outputs.names
    neighbours = [of_pair[frozenset(pair)]["p_value"] for pair in pairwise(names)]
    against_first = [of_pair[frozenset((names[0], other))]["p_value"] for other in names[1:]]
    # The first of the other systems that differs from the first one; None where none does.
    first = next((k for k, p in enumerate(against_first) if p < alpha), None)
    there = f"{len(names)} systems here, {board.systems} there"
    note = "as many systems here, and the same test" if len(names) == board.systems else f"{there}; the same test"
    of: dict[str, float] = {"published_of": board.systems - 1, "ours_of": len(names) - 1}
    told: list[tuple[str, str, float, float, dict[str, float], str]] = [
        (
            "neighbours that do not differ significantly", COUNT, board.not_significant,
            sum(bool(p >= alpha) for p in neighbours), of, "the order of neighbours is mostly chance",
        ),
        (
            "pairs that differ significantly", SHARE, board.significant,
            100 * float((frame["p_value"] < alpha).mean()), {}, "systems that are far apart are separated",
        ),
        (
            "the largest gain that is not significant", POINTS, board.undecided,
            float(frame.loc[frame["p_value"] >= alpha, "gain"].max()), {}, "so large a lead need not be real",
        ),
    ]  # fmt: skip
    rows = [
        claim(AUDIT, f"{board.title}: {what}", quantity, theirs, ours, note=note, means=means, **more)
        for what, quantity, theirs, ours, more, means in told
    ]
    what = f"{board.title}: the first rank that differs significantly from rank 1"
    means = "ranks in between do not differ significantly from rank 1"
    if first is None:
        there = f"{there}; none differs here"
    ours = np.nan if first is None else first + 2
    rows.append(claim(_ISSUES, what, RANK, board.first, ours, note=there, means=means))
    if board.first_p is not None and first is not None:
        pair = of_pair[frozenset((names[0], names[first + 1]))]
        rows.append(
            claim(
                _ISSUE, f"{board.title}: p-value of the first such rank", P, board.first_p, pair["p_value"],
                recomputed=chi_square(pair["wins"], pair["losses"]),
                note=f"{there}; theirs is the chi-square test, ours the exact one",
                means="not corrected for the ranks that were looked at first",
            )
        )  # fmt: skip
    return rows


def equal_scores(published: Equal) -> dict[str, Any]:
    """The p-value of two systems with equal scores."""
    half = published.differ // 2
    return claim(
        _ISSUE, f"two systems with equal scores, {half} issues against {half}: p-value", P, published.p,
        stats.binomtest(half, 2 * half).pvalue, recomputed=chi_square(half, half),
        note="theirs is the chi-square test with a continuity correction, ours the exact one",
        means="the correction subtracts 1 even from a difference of 0, so equal systems do not get p = 1",
    )  # fmt: skip


def chi_square(wins: float, losses: float) -> float:
    """The p-value of McNemar's chi-square test, with its continuity correction even where nothing is left of it."""
    return float(stats.chi2.sf((abs(wins - losses) - 1) ** 2 / (wins + losses), 1))


def neighbours(outputs: ss.Outputs, top: int) -> pd.DataFrame:
    """Each two neighbours among the best: gain, and the items at hand over those that power 0.8 needs (`q`).

    By item; by Kotawala's design effect, from the intraclass correlation of the difference within subjects; and by the
    standard error of subjects. With q below 1 a pair is unresolved. p-values are of the default test.
    """
    best = outputs.best_first().select(outputs.best_first().names[:top])
    subjects = pd.factorize(best.labels("domain", "unit"))[0]
    by_item, by_subject = (
        _by_pair(ss.compare(best, unit=unit, alternative="two-sided").frame) for unit in ("item", "domain")
    )
    rows = []
    for k, pair in enumerate(pairwise(best.names)):
        first, second = (best.statistics[best.names.index(name), :, 0] for name in pair)
        difference = (first - second).astype(float)
        of_items, of_subjects = (found[frozenset(pair)] for found in (by_item, by_subject))
        q = (difference.mean() / RESOLVED) ** 2 * len(difference) / difference.var()
        icc, effect = design_effect(difference, subjects)
        rows.append(
            {
                "rank": k + 1, "system_a": pair[0], "system_b": pair[1], "gain": 100 * difference.mean(), "q": q,
                "intraclass": icc, "design_effect": effect, "q_design": q / effect,
                "q_subjects": (of_subjects["gain"] / of_subjects["gain_se"] / RESOLVED) ** 2,
                "p_items": of_items["p_value"], "p_subjects": of_subjects["p_value"],
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def design_effect(difference: np.ndarray, clusters: np.ndarray) -> tuple[float, float]:
    """The intraclass correlation by analysis of variance, and 1 + (mean size - 1) times it, which is 1 at the least."""
    sizes = np.bincount(clusters)
    n, k = len(difference), len(sizes)
    means = np.bincount(clusters, difference) / sizes
    between = float((sizes * (means - difference.mean()) ** 2).sum()) / (k - 1)
    within = float(((difference - means[clusters]) ** 2).sum()) / (n - k)
    usual = (n - float((sizes**2).sum()) / n) / (k - 1)
    icc = (between - within) / (between + (usual - 1) * within)
    return icc, max(1.0, 1 + (n / k - 1) * icc)


def resolution_claims(settings: Resolution, table: pd.DataFrame) -> list[dict[str, Any]]:
    """How many neighbours are unresolved: items, and subjects."""
    where = f"{settings.test_set}: unresolved neighbours of the best {settings.top}"
    of = {"published_of": settings.top - 1, "ours_of": settings.top - 1}
    theirs_by, ours_by, items = (int((table[name] < 1).sum()) for name in ("q_design", "q_subjects", "q"))
    means = "for these gains the benchmark has too few items"
    return [
        claim(
            _KOTAWALA, where, COUNT, settings.unresolved, items, **of, means=means,
            note="which ten systems theirs are could not be read",
        ),
        claim(
            _KOTAWALA, f"{where}, by subject", COUNT, settings.clustered, ours_by, recomputed=theirs_by, **of,
            note="theirs multiplies the items by a design effect; ours takes the standard error of subjects",
            means="about subjects like these, most of the top ranks are open",
        ),
    ]  # fmt: skip


def _by_pair(frame: pd.DataFrame) -> dict[frozenset[str], dict[Any, Any]]:
    """Rows of pairs, whichever system is named first."""
    return {frozenset((row["system_a"], row["system_b"])): row for row in frame.to_dict("records")}
