"""One cell of repeated looks: variants of a baseline tried on one test set, or one test asked again and again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from simstudy.studies import DrawnBoards, derived_seed, holm

from .families import HOLM, NONE, STEPDOWN, summed
from .settings import ALL_EQUAL, Settings

TWO_SIDED, ONE_SIDED = "two-sided", "one-sided, named beforehand"


def try_variants(study: Settings, name: str, block: int, n_sets: int, n_corrected: int) -> list[dict[str, Any]]:
    """In how many test sets the best of the first m variants is significantly better than the baseline, and by what.

    The first `n_corrected` test sets are tested by the stepdown, too.
    """
    variants, most = study.variants[name], max(study.looks.n_variants)
    rng = np.random.default_rng(derived_seed(study.seed, "variants", name, block))
    rows: list[dict[str, Any]] = []
    done = 0
    if not variants.one_test_set:
        # As many test sets of two systems as there are variants.
        boards = list(DrawnBoards.of(variants.model(1), n_sets * most, variants.n_units, rng))
        p = np.concatenate([drawn.p_values(variants.test) for drawn in boards]).reshape(n_sets, most)
        gain = np.concatenate([np.diff(drawn.scores(), axis=1) for drawn in boards]).reshape(n_sets, most)
        rows += of_first(study, p, gain)
        return summed(rows, ["n_variants", "alternative", "method"])
    for drawn in DrawnBoards.of(variants.model(most), n_sets, variants.n_units, rng):
        scores = drawn.scores()
        p = drawn.p_values(variants.test, pairs=(np.arange(1, most + 1), np.zeros(most, dtype=np.int64)))
        rows += of_first(study, p, scores[:, 1:] - scores[:, :1])
        left = max(0, n_corrected - done)
        if left:
            some = DrawnBoards(drawn.statistics[:left], drawn.metric)
            rows += stepped_down(study, some, derived_seed(study.seed, "signs", name, block, done) % 2**64)
        done += len(scores)
    return summed(rows, ["n_variants", "alternative", "method"])


def of_first(study: Settings, p: Any, gain: Any) -> list[dict[str, Any]]:
    """Finds by p-values (M, variants) two-sided and of the variant, without and with Holm's correction."""
    rows = []
    for m in study.looks.n_variants:
        best = gain[:, :m].argmax(axis=1)[:, None]
        of_best = np.take_along_axis(gain[:, :m], best, axis=1)[:, 0]
        sides = {TWO_SIDED: p[:, :m], ONE_SIDED: np.where(gain[:, :m] > 0, p[:, :m] / 2, 1.0)}
        for alternative, of_side in sides.items():
            for method, values in ((NONE, of_side), (HOLM, holm(of_side))):
                low = np.take_along_axis(values, best, axis=1)[:, 0] <= study.alpha
                found = low & (of_best > 0)
                rows.append(
                    {
                        "n_variants": m, "alternative": alternative, "method": method, "n_sets": len(p),
                        "n_significant": int(found.sum()), "sum_best": of_best.sum(), "sum_found": of_best[found].sum(),
                        "squares_found": (of_best[found] ** 2).sum(),
                    }
                )  # fmt: skip
    return rows


def stepped_down(study: Settings, drawn: DrawnBoards, seed: int) -> list[dict[str, Any]]:
    """Finds by the places of the baseline, which is the system that was chosen beforehand."""
    rows = []
    scores = drawn.scores()
    for m in study.looks.n_variants:
        places = drawn.of_systems(range(m + 1)).places(level=1 - study.alpha, n_draws=study.n_draws, seed=seed)
        found = np.array([of_set.low_own[0] > 1 for of_set in places])
        best = scores[:, 1 : m + 1].max(axis=1) - scores[:, 0]
        rows.append(
            {
                "n_variants": m, "alternative": TWO_SIDED, "method": STEPDOWN, "n_sets": len(found),
                "n_significant": int(found.sum()), "sum_best": best.sum(), "sum_found": best[found].sum(),
                "squares_found": (best[found] ** 2).sum(),
            }
        )  # fmt: skip
    return rows


def look_again(study: Settings, name: str, block: int, n_sets: int) -> list[dict[str, Any]]:
    """In how many test sets a two-sided p-value has been at or below alpha by each look."""
    condition, stopping = study.conditions[name], study.stopping
    rng = np.random.default_rng(derived_seed(study.seed, "stopping", name, block))
    most, rows = max(stopping.n_looks), []
    for drawn in DrawnBoards.of(condition.model(ALL_EQUAL, 2), n_sets, most * stopping.step, rng):
        seen = [
            DrawnBoards(drawn.statistics[:, :, : look * stopping.step], drawn.metric).p_values(condition.test)[:, 0]
            for look in range(1, most + 1)
        ]
        stopped = np.logical_or.accumulate(np.array(seen) <= study.alpha, axis=0)
        rows += [
            {"n_looks": look, "n_sets": len(drawn.statistics), "n_significant": int(stopped[look - 1].sum())}
            for look in stopping.n_looks
        ]
    table = pd.DataFrame(rows).groupby("n_looks", as_index=False).sum()
    return [{str(key): int(value) for key, value in row.items()} for row in table.to_dict("records")]
