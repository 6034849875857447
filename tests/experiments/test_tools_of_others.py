"""Tools that are called beside ours: they get the data as they read it, and what they say is what is known."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

from simstudy.running.program_files import shipped_folder
from tests.experiments.asked_tools import DATA, LEVELS, SHIPPED, answer, data_set


def test_mcnemars_test_is_the_sign_test_of_items_that_differ() -> None:
    pytest.importorskip("statsmodels")
    pytest.importorskip("mlxtend")
    data = data_set("answers")
    first, second = data.scores
    b, c = int((first > second).sum()), int((second > first).sum())
    assert b != c
    for tool in ("statsmodels_mcnemar_exact", "mlxtend_mcnemar_exact"):
        assert answer(tool, data)[0] == pytest.approx(stats.binomtest(b, b + c).pvalue)
    for tool in ("statsmodels_mcnemar_corrected", "mlxtend_mcnemar"):
        assert answer(tool, data)[0] == pytest.approx(stats.chi2.sf((abs(b - c) - 1) ** 2 / (b + c), 1))
        assert answer(tool, data.against_itself())[0] == 0, "1 / 0: the strongest evidence for no difference at all"


class Judged(dict[str, dict[str, float]]):
    """A stand-in for ranx's Qrels and Run."""

    def __init__(self, judged: dict[str, dict[str, float]], name: str = "") -> None:
        super().__init__(judged)


@pytest.mark.parametrize("test", ["student", "fisher", "tukey"])
def test_ranx_is_given_rankings_whose_average_precision_is_that_of_the_data(
    test: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in sorts the documents by their scores, and looks which of the first ones are relevant."""
    called: list[dict[str, Any]] = []
    data = data_set("queries")

    def compare(qrels: Judged, runs: list[Judged], **options: Any) -> Any:
        called.append(options)
        for run, scores in zip(runs, data.scores, strict=True):
            for query, score in zip(qrels, scores, strict=True):
                found = sorted(run[query], key=run[query].__getitem__, reverse=True)
                relevant = [k for k, document in enumerate(found, 1) if document in qrels[query]]
                assert len(relevant) == len(qrels[query])
                assert score == pytest.approx(np.mean([n / k for n, k in enumerate(relevant, 1)]))
        return SimpleNamespace(comparisons={frozenset("AB"): {"map": {"p_value": 0.02}}})

    monkeypatch.setitem(sys.modules, "ranx", SimpleNamespace(Qrels=Judged, Run=Judged, compare=compare))
    assert answer(f"ranx_{test}", data) == (0.02, [True, False])
    more = {"threads": 1} if test == "fisher" else {}
    assert called == [{"metrics": ["map"], "stat_test": test, **more}]


LOOP = """
import numba
import numpy as np
import one_thread

@numba.njit(parallel=True)
def drawn(n):
    numbers = np.empty(n)
    for k in numba.prange(n):
        numbers[k] = np.random.random()
    return numbers

before = numba.get_num_threads()
found = []
for seed in (5, 5, 6):
    with one_thread.one_seeded_thread(seed):
        found.append(drawn(8).tolist())
assert found[0] == found[1] != found[2]
assert numba.get_num_threads() == before
"""


@pytest.mark.parametrize("layer", [pytest.param("default", marks=pytest.mark.slow), "workqueue"])
def test_parallel_loops_draw_the_same_numbers_from_a_seed(layer: str) -> None:
    """The layer workqueue never runs a loop in the thread that calls, so that a seed set there has no effect."""
    environment = {**os.environ, "NUMBA_THREADING_LAYER": layer, "PYTHONPATH": str(shipped_folder() / "tools_bench")}
    subprocess.run([sys.executable, "-c", LOOP], check=True, env=environment)


# ranx compiles for a minute when it is called for the first time.
@pytest.mark.slow
def test_average_precision_and_the_paired_t_test_are_those_of_ranx() -> None:
    pytest.importorskip("ranx")
    data = data_set("queries")
    assert DATA.average_precision([1, 4]) == (1 + 2 / 4) / 2
    assert answer("ranx_student", data)[0] == pytest.approx(stats.ttest_rel(*data.scores).pvalue)
    assert answer("ranx_tukey", data)[0] == pytest.approx(stats.ttest_ind(*data.scores).pvalue, rel=1e-6)
    assert len({answer("ranx_fisher", data)[0] for _ in range(4)}) == 1, "one thread, so the same p each time"


@pytest.mark.parametrize("tool", ["scipy_t", "statsmodels_t"])
def test_paired_t_tests_are_the_one_of_differences(tool: str) -> None:
    pytest.importorskip(SHIPPED.tools[tool].distribution)
    data = data_set("skewed")
    p = stats.ttest_1samp(data.scores[0] - data.scores[1], 0).pvalue
    assert answer(tool, data) == (pytest.approx(p), [p <= level for level in LEVELS])
    assert np.isnan(answer(tool, data.against_itself())[0])


@pytest.mark.parametrize(
    ("tool", "paired"),
    [
        ("scipy_wilcoxon", True), ("scipy_permutation", True), ("scipy_bootstrap", True), ("rouge_t", True),
        ("statsmodels_t_independent", False), ("mlxtend_permutation_unpaired", False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("better", [0, 1])
def test_tools_reject_whichever_system_is_better(tool: str, paired: bool, better: int) -> None:
    """Of 200 items one system alone has 25 right, the other 11, both 80: z is 2.37 if items are pairs, else 1.40."""
    pytest.importorskip((SHIPPED.tools[tool].distribution or "scipy").replace("-", "_"))
    scores = np.repeat([[1.0, 0, 1, 0], [0, 1, 1, 0]], [25, 11, 80, 84], axis=1)[[better, 1 - better]]
    texts = tuple(tuple("word" if right else "other" for right in own) for own in scores)
    data = DATA.DataSet(scores, scores[..., None], texts, ("word",) * 200)
    p, rejects = answer(tool, data)
    assert rejects == [paired, False]
    assert p is None or (0.01 if paired else 0.1) < p < (0.05 if paired else 0.25)


def test_sacrebleus_tests_of_identical_systems_and_of_one_other_sentence() -> None:
    data = data_set("sentences")
    one = data.against_itself([data.first_difference()])
    assert sum(a != b for a, b in zip(*one.outputs, strict=True)) == 1
    assert answer("sacrebleu_bootstrap", data.against_itself())[0] == pytest.approx(1 / 1001)
    # Every shuffle of one sentence has the observed difference, and ties do not count.
    assert answer("sacrebleu_randomization", one)[0] < 0.001


def test_the_level_of_centred_absolute_differences_is_what_the_note_says() -> None:
    """mean |d*| for d* of N(z, 1), by quadrature, and p = P(|d*| > z + mean): 0.05 at z = 1.60, which 0.11 pass."""
    grid = np.linspace(-12, 12, 240_001)
    weight = stats.norm.pdf(grid) * (grid[1] - grid[0])

    def p_value(z: float) -> float:
        drawn = np.abs(z + grid)
        return float(weight @ (drawn - weight @ drawn > z))

    z = optimize.brentq(lambda z: p_value(z) - 0.05, 1, 2.5, xtol=1e-4)
    assert z == pytest.approx(1.60, abs=0.005)
    assert 2 * stats.norm.sf(z) == pytest.approx(0.11, abs=0.002)
