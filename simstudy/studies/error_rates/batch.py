"""One batch of test sets: how many of their gains each test rejects, and how many intervals hold the true gain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from simstudy.cells import Cell
from simstudy.engines.intervals import intervals
from simstudy.engines.question import MonteCarlo, Question
from simstudy.engines.registry import ACCEPTANCE_SETS, TESTS
from simstudy.engines.wins import wins
from simstudy.fingerprints import derived_seed
from simstudy.metrics import METRICS
from simstudy.metrics.base import Array, FloatArray
from simstudy.studies.error_rates.conditions import CONDITIONS, assumes_independence
from simstudy.studies.error_rates.definition import ErrorRates

# Up to so many units all flips, shuffles and ranks are looked at where that is cheap: few of them are few p-values.
_COMPUTED_UNITS = 30


class Batch(TypedDict):
    """M test sets of one condition and size; one row of a table for each unit, and test and alternative.

    Attributes
    ----------
    rejections
        unit, test, alternative; of the test sets on which both scores are defined: n_sets, n_rejected (p <= alpha),
        n_rejected_first (those where the first system has the better score); n_undefined and
        n_rejected_undefined of the others.
    coverage
        unit, interval; n_sets that have an interval, n_covered, sum_width; n_undefined that have none.
    """

    rejections: list[dict[str, str | int]]
    coverage: list[dict[str, str | int | float]]


def cells(study: ErrorRates) -> list[Cell]:
    """All batches of a study: condition by condition, size by size."""
    return [
        Cell(
            label=f"{name}, {n} units, batch {batch}",
            description={
                "kind": "error rates",
                "model": [type(CONDITIONS[name].model).__name__, vars(CONDITIONS[name].model)],
                "tests": study.tests,
                "n_units": n,
                "batch": batch,
                "sets": study.sets,
                "n_resamples": study.n_resamples,
                "alpha": study.alpha,
                "seed": study.seed,
            },
            arguments=(study, name, n, batch),
        )
        for name in study.conditions
        for n in study.n_units
        for batch in range(study.batches)
    ]


def examine(study: ErrorRates, name: str, n_units: int, batch: int) -> Batch:
    """Draw a batch and count. Where the systems are not equally good nothing is tested: no rejection is an error."""
    condition = CONDITIONS[name]
    model = condition.model
    rng = np.random.default_rng(derived_seed(study.seed, "test sets", name, n_units, batch))
    drawn = model.draw(study.sets, n_units, rng)
    found: Batch = {"rejections": [], "coverage": []}
    for unit in model.units:
        question = ask(drawn.by(unit), model.metric, unit, study.n_resamples, _seed(study, name, n_units, batch))
        found["coverage"].append({"unit": unit, **_covered(question, model.true_gain)})
        if condition.null:
            # Of tests that take systems to be independent it is enough to see what that does.
            tests = [test for test in study.tests if unit == model.units[0] or not assumes_independence(test)]
            found["rejections"].extend(_rejections(question, tests, study.alpha))
    return found


def _seed(study: ErrorRates, name: str, n_units: int, batch: int) -> int:
    return derived_seed(study.seed, "resamples", name, n_units, batch) % 2**64


def ask(statistics: Array, metric: str, unit: str, n_resamples: int, seed: int) -> Question:
    """One question about the pairs of M test sets, statistics (M, 2, n, S): system 2 m is the first of test set m."""
    n_sets, _, n_units, n_statistics = statistics.shape
    systems = statistics.reshape(2 * n_sets, n_units, n_statistics)
    scores = METRICS[metric].score(systems.sum(axis=1, dtype=np.float64)).reshape(n_sets, 2)
    first = 2 * np.arange(n_sets)
    swap = scores[:, 1] > scores[:, 0]
    return Question(
        systems,
        METRICS[metric],
        [f"system {k % 2 + 1} of test set {k // 2 + 1}" for k in range(2 * n_sets)],
        unit,
        np.array([0, n_units]),
        n_resamples=n_resamples,
        seed=seed,
        asked=(first + swap, first + 1 - swap),
    )


def _rejections(question: Question, tests: Sequence[str], alpha: float) -> list[dict[str, str | int]]:
    """A row for each test that applies, and alternative."""
    # What a question has worked out about its statistics serves all tests that are asked in the same way.
    asked: dict[tuple[str, MonteCarlo], Question] = {}
    defined = _defined(question)
    rows: list[dict[str, str | int]] = []
    for test in tests:
        for alternative in TESTS[test].alternatives:
            way = (alternative, way_of(question, test))
            if way not in asked:
                asked[way] = replace(question, alternative=alternative, monte_carlo=way[1])
            p_value = p_values(asked[way], test)
            if p_value is not None:
                which = {"unit": question.unit, "test": test, "alternative": alternative}
                rows.append({**which, **_counts(p_value <= alpha, defined, question)})
    return rows


def p_values(question: Question, test: str) -> FloatArray | None:
    """A p-value for each test set (M,); None where the test does not apply."""
    chosen = TESTS[test]
    if ACCEPTANCE_SETS in chosen.needs:
        # Whether a candidate is true is the same for two systems, and not on another test set.
        parts = [_one_set(question, m) for m in range(question.n_pairs)]
        if any(chosen.refusal(part) for part in parts):
            return None
        return np.concatenate([chosen.run(part).p_value for part in parts])
    return None if chosen.refusal(question) else chosen.run(question).p_value


def _one_set(question: Question, m: int) -> Question:
    better, worse = (side[m : m + 1] - 2 * m for side in question.pairs)
    statistics = question.statistics[2 * m : 2 * m + 2]
    return replace(question, statistics=statistics, names=question.names[2 * m : 2 * m + 2], asked=(better, worse))


def way_of(question: Question, test: str) -> MonteCarlo:
    """What is discrete is computed, as few units and right and wrong answers are; else some resamples are enough."""
    if TESTS[test].n_resamples is None or question.right_or_wrong:
        return "auto"
    return "auto" if question.n_units <= _COMPUTED_UNITS and test != "bootstrap" else True


def _counts(rejected: NDArray[np.bool_], defined: NDArray[np.bool_], question: Question) -> dict[str, int]:
    first_is_better = question.pairs[0] % 2 == 0
    return {
        "n_sets": int(defined.sum()),
        "n_rejected": int((rejected & defined).sum()),
        "n_rejected_first": int((rejected & defined & first_is_better).sum()),
        "n_undefined": int((~defined).sum()),
        "n_rejected_undefined": int((rejected & ~defined).sum()),
    }


def _defined(question: Question) -> NDArray[np.bool_]:
    """On which test sets (M,) both systems have a score, rather than a 0 for 0 / 0."""
    sums = question.statistics.sum(axis=1, dtype=np.float64)
    return np.asarray(question.metric.defined(sums).reshape(-1, 2).all(axis=1))


def _covered(question: Question, true_gain: float) -> dict[str, str | int | float]:
    better, worse = question.pairs
    scores: FloatArray = question.metric.score(question.statistics.sum(axis=1, dtype=np.float64))
    n_better, n_worse, _ = wins(question)
    found = intervals(question, scores[better] - scores[worse], n_better, n_worse)
    # The interval is of the better system's gain, the true gain of the first system's.
    true = np.where(better % 2 == 0, true_gain, -true_gain)
    known = ~np.isnan(found.low)
    covered = (found.low <= true) & (true <= found.high)
    return {
        "interval": "score" if found.score else "jackknife",
        "n_sets": int(known.sum()),
        "n_covered": int(covered[known].sum()),
        "sum_width": float((found.high - found.low)[known].sum()),
        "n_undefined": int((~known).sum()),
    }
