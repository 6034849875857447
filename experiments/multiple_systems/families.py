"""One cell of many systems: a block of test sets, and which claims about their pairs, places and groups are false.

A claim is that one system of a pair is better. It is false where the two are equally good, or the other one is better.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.studies import DrawnBoards, benjamini_hochberg, derived_seed, holm

from .settings import ALL_EQUAL, Condition, Settings

# How sides are taken: two-sided p-values; one-sided ones for the system that the data say is the better; and one-sided
# ones for the system that was named before, which is the one that is truly no worse.
TWO_SIDED, ONE_SIDED, NAMED = "two-sided", "one-sided, as the data say", "one-sided, named beforehand"
ALL_PAIRS, BASELINE = "all pairs", "one baseline"
NONE, HOLM, BH, STEPDOWN = METHODS = ("none", "Holm", "Benjamini-Hochberg", "Romano-Wolf")
ALL_RANKS, OWN_RANK, BEST = GUARANTEES = ("all ranks", "own rank", "the best")
CORRECTIONS = {NONE: lambda p: p, HOLM: holm, BH: benjamini_hochberg}


def examine(study: Settings, name: str, truth: str, n_systems: int, block: int, n_sets: int) -> dict[str, Any]:
    """Counts of false claims by family, sides and method, and of guarantees that held."""
    condition = study.conditions[name]
    model = condition.model(truth, n_systems)
    rng = np.random.default_rng(derived_seed(study.seed, "test sets", name, truth, n_systems, block))
    seed = derived_seed(study.seed, "signs", name, truth, n_systems, block) % 2**64
    rows: list[dict[str, Any]] = []
    for drawn in DrawnBoards.of(model, n_sets, condition.n_units, rng):
        true = np.sign(np.subtract(*(model.scores()[side] for side in drawn.pairs)).round(9))
        rows += list(by_pairs(drawn, true, condition.test, study.alpha))
        found = drawn.places(level=1 - study.alpha, n_draws=study.n_draws, seed=seed)
        first, second = drawn.pairs
        claims = np.array([places.better[first, second] * 1 - places.better[second, first] for places in found])
        rows.append({"family": ALL_PAIRS, "alternative": TWO_SIDED, "method": STEPDOWN, **counted(claims, true)})
        rows += list(held(found, model.scores().round(9)))
    kinds = {"claims": ["family", "alternative", "method"], "rank_sets": ["guarantee"]}
    return {kind: summed([row for row in rows if keys[0] in row], keys) for kind, keys in kinds.items()}


def by_pairs(drawn: DrawnBoards, true: Any, test: str, alpha: float) -> Iterator[dict[str, Any]]:
    """What single pairs and their corrections claim: 1 that the first is better, -1 that the second is, (M, P)."""
    p, ahead = drawn.p_values(test), drawn.ahead()
    # Both tests are symmetric: of the better system, one side is half of two. Named systems that are behind are not
    # rejected, whatever number above one half they have.
    sides = {TWO_SIDED: p, ONE_SIDED: p / 2, NAMED: np.where(ahead > 0, p / 2, 1.0)}
    of_baseline = drawn.pairs[1] == drawn.n_systems - 1
    for family, members in ((ALL_PAIRS, np.ones_like(of_baseline)), (BASELINE, of_baseline)):
        for alternative, of_side in sides.items():
            for method, correct in CORRECTIONS.items():
                rejected = correct(of_side[:, members]) <= alpha
                claims = np.where(rejected, ahead[:, members], 0)
                at = {"family": family, "alternative": alternative, "method": method}
                yield at | counted(claims, true[members])


def counted(claims: Any, true: Any) -> dict[str, float]:
    """Counts and sums over test sets of claims (M, P), where the sign of the pairs' true gains is `true` (P,)."""
    false = (claims != 0) & (claims != true)
    wrong = false & (true != 0)
    n_false, n_claims = false.sum(axis=1), (claims != 0).sum(axis=1)
    proportion = n_false / np.maximum(n_claims, 1)
    power = (claims == true)[:, true != 0].mean(axis=1) if (true != 0).any() else np.full(len(claims), np.nan)
    return {
        "n_sets": len(claims), "n_any_false": int((n_false > 0).sum()), "n_any_wrong": int(wrong.any(axis=1).sum()),
        "n_claims": int(n_claims.sum()), "n_false": int(n_false.sum()), "n_wrong": int(wrong.sum()),
        "sum_proportion": proportion.sum(), "squares_proportion": (proportion**2).sum(),
        "sum_power": power.sum(), "squares_power": (power**2).sum(),
    }  # fmt: skip


def held(found: list[Any], scores: Any) -> Iterator[dict[str, Any]]:
    """In how many test sets each guarantee of a leaderboard held, for systems of these true scores (K,).

    Of equally good systems either may be first: a set must hold all places that a system may have. Of one system's own
    set it is the share of systems, summed over test sets.
    """
    low, high = 1 + (scores[:, None] < scores).sum(axis=1), (scores[:, None] <= scores).sum(axis=1)
    best = scores == scores.max()
    of_all = [((p.low <= low) & (p.high >= high)).all() for p in found]
    of_own = [((p.low_own <= low) & (p.high_own >= high)).mean() for p in found]
    of_best = [p.may_be_best[best].all() for p in found]
    sizes = [
        [(p.high - p.low + 1).mean() for p in found],
        [(p.high_own - p.low_own + 1).mean() for p in found],
        [p.may_be_best.sum() for p in found],
    ]
    for guarantee, holds, size in zip(GUARANTEES, (of_all, of_own, of_best), sizes, strict=True):
        shares = np.array(holds, dtype=np.float64)
        yield {
            "guarantee": guarantee, "n_sets": len(found), "sum_held": float(shares.sum()),
            "squares_held": float((shares**2).sum()), "sum_size": float(np.sum(size)),
        }  # fmt: skip


def summed(rows: list[dict[str, Any]], keys: list[str]) -> list[dict[str, Any]]:
    """The rows that agree in the keys as one, with the sums of all else; a missing number stays one."""
    table = pd.DataFrame(rows).groupby(keys, sort=False, as_index=False).sum(min_count=1)
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def tables(study: Settings, n_systems: int, block: int, n_sets: int, condition: Condition) -> list[dict[str, Any]]:
    """Of equally good systems: in how many test sets tables, groups and ranks say that some differ."""
    rng = np.random.default_rng(derived_seed(study.seed, "tables", n_systems, block))
    model = condition.model(ALL_EQUAL, n_systems)
    said: dict[str, int] = {}
    for drawn in DrawnBoards.of(model, n_sets, condition.n_units, rng):
        for statistics in drawn.statistics:
            outputs = ss.Outputs.from_statistics(statistics, model.metric, list(model.names))
            pairs = ss.compare(outputs, test=condition.test, alternative="two-sided").corrected().frame
            ranks = ss.comparisons.ranks(pairs, alpha=study.alpha).iloc[0]
            found = {f"groups, {p}": several(pairs, study.alpha, p) for p in ("p_value", "p_holm", "p_bh")}
            found["neighbours, p_value"] = bool(ranks["n_significant"] > 0)
            found["neighbours, p_holm"] = bool(ranks["n_significant_holm"] > 0)
            said = {what: said.get(what, 0) + yes for what, yes in found.items()}
    return [{"claim": what, "n_sets": n_sets, "n_any_false": n} for what, n in said.items()]


def several(pairs: pd.DataFrame, alpha: float, p: str) -> bool:
    """Whether the systems are in more than one group."""
    return bool(ss.comparisons.groups(pairs, alpha=alpha, p=p)["group"].max() > 1)
