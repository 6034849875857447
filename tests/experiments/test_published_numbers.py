"""The study of published numbers, small; and its numbers another way: scipy, enumeration, drawn test sets."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.studies import Results, load_study
from tests.experiments.programs import program, small

BOARDS, CALCULATORS, COUNTS, FEW, PAGE, POWERS, SUBSETS = (
    program("published_numbers", part)
    for part in ("boards", "calculators", "replicability", "few_items", "page", "powers", "subsets")
)
SHIPPED: Any = load_study("published_numbers")
SYSTEMS = [f"s{k}" for k in range(8)]
STUDY = """
kind = "natural"
title = "A made-up board"
question = "?"

[[test_sets]]
name = "board"
metric = "accuracy"
paths = ["made/board.csv"]
columns = { item = "item", domain = "subject" }
"""


@pytest.fixture(scope="module")
def answers() -> pd.DataFrame:
    """Eight systems, each worse than the one before, on 120 items of four subjects."""
    rng = np.random.default_rng(5)
    ability = rng.normal(size=(120, 1)) + rng.normal(size=(120, 8))
    frame = pd.DataFrame((ability > np.linspace(-1.2, 0.8, 8)).astype(int), columns=SYSTEMS)
    return frame.assign(item=[f"i{k}" for k in range(120)], subject=[f"d{k % 4}" for k in range(120)])


@pytest.fixture(scope="module")
def done(answers: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The study of that board alone."""
    data = tmp_path_factory.mktemp("data")
    for name in ("made", "boards"):
        (data / name).mkdir()
    (data / "boards" / "study.toml").write_text(STUDY)
    answers.to_csv(data / "made" / "board.csv", index=False)
    long = answers.melt(["item", "subject"], var_name="system", value_name="resolved")
    long.rename(columns={"item": "instance_id", "subject": "repo"}).to_csv(data / "made" / "swe.csv", index=False)
    board = {"title": "made", "file": "made/swe.csv", "systems": 9, "not_significant": 3, "significant": 50.0}
    study, resolution = str(data / "boards"), SHIPPED.resolution.model_dump()
    changes = {"study": study, "test_sets": ["board"], "sizes": [5, 20], "trials": 6, "block": 2, "most": 0.2}
    settings = small(
        "published_numbers", few=[4], simulated=200,
        boards=[board | {"undecided": 5.0, "first": 3, "first_p": 0.01}],
        resolution=resolution | {"study": study, "test_set": "board", "top": 4},
        subsets=SHIPPED.subsets.model_dump() | changes,
        replicability=SHIPPED.replicability.model_dump() | {"sets": 200},
    )  # fmt: skip
    return ss.run_study(settings, out=tmp_path_factory.mktemp("published"), n_jobs=1, data_dir=data)


def p_of(answers: pd.DataFrame, first: str, second: str) -> float:
    wins, losses = (answers[first] > answers[second]).sum(), (answers[first] < answers[second]).sum()
    return float(stats.binomtest(int(wins), int(wins + losses)).pvalue)


def test_claims_about_a_board_are_counted_pair_by_pair(answers: pd.DataFrame, done: Results) -> None:
    order = list(answers[SYSTEMS].mean().sort_values(ascending=False, kind="stable").index)
    scores, found = answers[SYSTEMS].mean(), done.tables["claims"].set_index("claim")
    pairs = [(scores[a] - scores[b], p_of(answers, a, b)) for a, b in combinations(order, 2)]
    neighbours = [p_of(answers, a, b) for a, b in zip(order, order[1:], strict=False)]
    ours = found["ours"]
    assert ours["made: neighbours that do not differ significantly"] == sum(p >= 0.05 for p in neighbours)
    assert ours["made: pairs that differ significantly"] == pytest.approx(100 * np.mean([p < 0.05 for _, p in pairs]))
    undecided = max(gain for gain, p in pairs if p >= 0.05)
    assert ours["made: the largest gain that is not significant"] == pytest.approx(100 * undecided)
    first = next(k for k, name in enumerate(order[1:], 2) if p_of(answers, order[0], name) < 0.05)
    assert ours["made: the first rank that differs significantly from rank 1"] == first > 2
    p = p_of(answers, order[0], order[first - 1])
    assert ours["made: p-value of the first such rank"] == pytest.approx(p)
    assert found.loc["made: pairs that differ significantly", "note"].startswith("8 systems here, 9 there")


def test_where_no_system_differs_from_the_first_one_there_is_no_such_rank() -> None:
    # Each system is wrong on another quarter of the items.
    right = (np.arange(40)[:, None] % 4 != np.arange(3)).astype(int)
    outputs = ss.Outputs.from_scores(pd.DataFrame(right, columns=list("abc")), "accuracy").best_first()
    board = SHIPPED.boards[0].model_copy(update={"systems": 3})
    rows = pd.DataFrame(BOARDS.board_claims(board, outputs))
    (row,) = rows[rows["quantity"] == "rank"].to_dict("records")
    assert np.isnan(row["ours"])
    assert row["note"] == "3 systems here, 3 there; none differs here"
    assert "p-value" not in set(rows["quantity"])
    (shown,) = [cells for cells in PAGE.claims(rows).table.text().to_dict("records") if "rank 1" in cells["claim"]]
    assert (shown["published"], shown["ours"]) == ("9", "none")


def test_equal_scores_have_the_published_p_value_only_by_the_corrected_test() -> None:
    row = BOARDS.equal_scores(SHIPPED.equal)
    assert round(row["recomputed"], 3) == row["published"]
    assert row["ours"] == 1
    # Scipy takes at most half of what is there; with a difference it is McNemar's statistic for the expected halves.
    assert BOARDS.chi_square(40, 22) == pytest.approx(stats.chi2.sf(2 * (18 / 2 - 0.5) ** 2 / 31, 1))


def test_an_unresolved_pair_lacks_the_items_of_power_08(answers: pd.DataFrame, done: Results) -> None:
    """With n / q items a normal test finds the observed gain with power 0.8."""
    assert len(done.tables["neighbours"]) == 3
    for row in done.tables["neighbours"].itertuples():
        difference = answers[row.system_a] - answers[row.system_b]
        error = difference.std(ddof=0) / np.sqrt(120 / row.q)
        assert stats.norm.cdf(difference.mean() / error - 1.959964) == pytest.approx(0.8, abs=1e-4)
        f = stats.f_oneway(*(own for _, own in difference.groupby(answers["subject"]))).statistic
        assert row.intraclass == pytest.approx((f - 1) / (f + 29), abs=1e-6)
        assert row.design_effect == pytest.approx(max(1, 1 + 29 * row.intraclass))
        means = difference.groupby(answers["subject"]).mean()
        assert row.q_subjects == pytest.approx((means.mean() / means.sem() / 2.801585) ** 2, rel=1e-4)


@pytest.mark.parametrize("method", ["Bonferroni", "Fisher"])
def test_counts_of_data_sets_are_those_of_all_subsets(method: str) -> None:
    """u data sets have an effect if every n - u + 1 of them have at least one (Benjamini and Heller 2008)."""
    p = np.random.default_rng(1).uniform(size=(30, 5)) ** 4
    for own, count in zip(p, COUNTS.counts(p, method), strict=True):
        u = 0
        while u < 5:
            subsets = list(combinations(own, 5 - u))
            if method == "Fisher":
                worst = max(stats.combine_pvalues(subset, "fisher").pvalue for subset in subsets)
            else:
                worst = max(min(1, min(subset) * len(subset)) for subset in subsets)
            if worst > 0.05:
                break
            u += 1
        assert count == u
    assert len({*COUNTS.counts(p, method)}) > 2


def test_the_example_of_the_counts_comes_out() -> None:
    rows = COUNTS.count_claims(SHIPPED.replicability)
    assert [(row["published"], row["recomputed"], row["ours"]) for row in rows] == [(1, 1, 1), (2, 2, 1)]


def test_counts_without_effects_err_as_their_tests_do() -> None:
    settings = SHIPPED.replicability.model_copy(update={"correlations": [0.0], "effects": [0], "sets": 10_000})
    found = COUNTS.overcounts(settings, 3).set_index("method")["share"]
    for method, level in {"Bonferroni": 1 - (1 - 0.05 / 6) ** 6, "Fisher": 0.05}.items():
        assert abs(found[method] - level) < 4.5 * np.sqrt(0.05 * 0.95 / 10_000)


def test_coverage_of_one_accuracy_is_that_of_drawn_ones() -> None:
    """And the published ones are of 100 true accuracies: their standard error is 0.03 of the normal interval."""
    found = FEW.one_accuracy([20], SHIPPED.coverage.model_dump(exclude={"n_items"}), SHIPPED.coverage.n_items)
    coverage = found.set_index(["n_items", "interval"])["coverage"]
    p = np.random.default_rng(0).uniform(size=200_000)
    right = np.random.default_rng(1).binomial(20, p)
    for name, (low, high) in FEW.intervals(20).items():
        assert coverage[20, name] == pytest.approx(((low[right] <= p) & (p <= high[right])).mean(), abs=0.004)
    assert coverage[20, "bayes"] == pytest.approx(0.95)
    known = found.dropna()
    assert len(known) == 20
    assert (known["coverage"] - known["published"]).abs().max() < 0.03


def test_a_bootstrap_of_right_and_wrong_answers_is_a_binomial() -> None:
    low, high = FEW.intervals(30)["bootstrap"]
    answers = np.arange(30) < 9
    drawn = np.random.default_rng(2).choice(answers, (40_000, 30)).mean(axis=1)
    assert (low[9], high[9]) == pytest.approx(tuple(np.percentile(drawn, [2.5, 97.5])))


def test_coverage_of_a_gain_is_that_of_drawn_ones() -> None:
    found = FEW.two_systems([20], 0.8, 5.0).set_index(["gain", "interval"])["coverage"]
    better, worse, _ = np.random.default_rng(0).multinomial(20, [0.125, 0.075, 0.8], 200_000).T
    gain = (better - worse) / 20
    reach = 1.959964 * np.sqrt(((better + worse) / 20 - gain**2) / 20)
    assert found[5.0, "normal"] == pytest.approx((abs(gain - 0.05) <= reach).mean(), abs=0.004)


@pytest.fixture(scope="module")
def anchors() -> dict[str, Any]:
    return {one.name: one for one in [*POWERS.of_papers(2000), *CALCULATORS.calculators()]}


def test_published_numbers_come_out_where_they_are_done_again(anchors: dict[str, Any]) -> None:
    """To the digits that are printed; of the one that is simulated within its error."""
    found = anchors
    for name in ("MRPC", "RTE", "QNLI", "MNLI"):
        one = found[f"GLUE, {name}"]
        assert one.published == round(one.recomputed, 2)
        assert 1 < one.ours / one.recomputed < 1.04, "the exact test is careful"
    assert found["mean score, gain 0.03"].published == found["mean score, gain 0.03"].recomputed
    for pairs in (50, 75, 100):
        one = found[f"McNemar, exact, two-sided, {pairs} pairs"]
        assert one.published == round(one.recomputed, 6)
    assert found["paired t"].published == round(found["paired t"].recomputed, 6)
    assert found["paired means"].published == found["paired means"].recomputed == found["paired means"].ours
    assert found["McNemar, normal"].published == found["McNemar, normal"].recomputed
    bleu = found["BLEU, 2,000 sentences"]
    assert abs(bleu.published - bleu.recomputed) < 3 * np.sqrt(0.75 * 0.25 / 500)
    assert abs(bleu.ours - bleu.recomputed) < 4.5 * np.sqrt(0.75 * 0.25 / 2000)


@pytest.mark.parametrize("name", ["GLUE, QNLI", "McNemar, exact, two-sided, 50 pairs", "paired means"])
def test_powers_are_those_of_drawn_test_sets(name: str, anchors: dict[str, Any]) -> None:
    one = anchors[name]
    exact = one.difference.detection(one.gain, one.n, one.level).power
    assert exact >= one.power - 1e-6, "what was asked for"
    sets = 20_000
    assert abs(POWERS.simulated_power(one, sets, 1) - exact) < 4.5 * np.sqrt(exact * (1 - exact) / sets)


def test_few_items_find_no_gain_so_often() -> None:
    gains = FEW.few_gains([8, 100], 0.8).set_index("n_items")
    assert np.isnan(gains.loc[8, "exact"]), "of 8 items some two differ"
    assert gains.loc[100, "normal"] == pytest.approx(2.8016 * np.sqrt(0.2 / 100) * 100, rel=1e-4)
    assert gains.loc[100, "exact"] > gains.loc[100, "normal"]


def test_anchors_have_the_weight_of_the_items_that_they_stand_for() -> None:
    """Two kinds of items that no system of the half confuses: two anchors give the exact scores."""
    source = np.repeat([[1, 0], [1, 1], [0, 1]], [30, 10], axis=1).astype(float)
    items, weights = SUBSETS.anchor_items(source, 2, np.random.default_rng(0))
    assert sorted(weights) == [0.25, 0.75]
    assert source[:, items] @ weights == pytest.approx(source.mean(axis=1))


def test_telling_items_are_those_that_go_with_the_scores() -> None:
    rng = np.random.default_rng(3)
    source = np.array([[1] * 6, [1] * 3 + [0] * 3, [0] * 6]) * np.ones((3, 6))
    source = np.hstack([source, [[0, 1], [0, 1], [1, 1]]])
    chosen, weights = SUBSETS.telling_items(source, 6, rng)
    correlations = [np.corrcoef(source[:, k], source.mean(axis=1))[0, 1] if k != 7 else 0 for k in range(8)]
    assert set(chosen) == set(np.argsort(correlations)[-6:])
    assert weights.tolist() == [1 / 6] * 6


def test_blocks_of_trials_are_trials_of_their_own(answers: pd.DataFrame, done: Results) -> None:
    """Three blocks of two trials count what six trials count; and random items count each pair of the half once."""
    right = answers[SYSTEMS].to_numpy(dtype=float).T
    asked = SHIPPED.subsets.model_copy(update={"sizes": [5, 20], "trials": 6, "block": 6, "most": 0.2})
    whole = pd.DataFrame(SUBSETS.rank(asked, 0, "board", right, 0)).set_index(["method", "n_items", "gain_class"])
    table = done.tables["subsets_by_gain"].set_index(["method", "n_items", "gain_class"])
    counts = ["n_pairs", "n_right", "n_tied"]
    assert table[counts].sort_index().to_numpy().tolist() == whole[counts].sort_index().to_numpy().tolist()
    assert table.groupby(["method", "n_items"])["n_pairs"].sum().unique().tolist() == [6 * 6]


def test_predicted_rankings_are_those_of_drawn_items() -> None:
    first = np.repeat([1.0, 0, 1, 0], [120, 90, 500, 290])
    second = np.repeat([0.0, 1, 1, 0], [120, 90, 500, 290])
    right = np.array([first, second])
    drawn = np.random.default_rng(4).multivariate_hypergeometric([120, 90, 790], 200, 40_000)
    ranked = (drawn[:, 0] > drawn[:, 1]).mean()
    assert SUBSETS.predicted(right, 200, 3.0, 0.1) == pytest.approx(ranked, abs=0.01)
    found = SUBSETS.needed(right, 3.0, 0.1, 0.8)
    error = np.sqrt((0.21 - 0.03**2) / found["items_to_rank"])
    assert stats.norm.cdf(0.03 / error) == pytest.approx(0.8)
    # The exact test of a plan is a little careful.
    plan = ss.plan(metric="accuracy", gain=3, guess=ss.Guess(score=60, agreement=0.79))
    assert 1 <= plan.answers["n_items"].iloc[0] / found["items_to_test"] < 1.05


def test_the_least_gain_is_where_all_larger_ones_are_ranked_right() -> None:
    shares = {1.0: 0.9, 2.0: 0.5, 3.0: 0.85, 4.0: 1.0}
    rows = [
        {"test_set": "t", "method": "m", "n_items": 9, "gain_class": gain, "n_pairs": 100, "n_right": 100 * share}
        for gain, share in shares.items()
    ]
    assert SUBSETS.least_gains(pd.DataFrame(rows), 0.8)["least_gain"].tolist() == [3.0]


def test_the_page_tells_what_is_left_out_and_has_no_missing_number(done: Results) -> None:
    page = (done.folder / "README.md").read_text()
    assert all(one.source in page for one in SHIPPED.left_out)
    assert "(figures/one_accuracy.png)" in page
    assert "(figures/subsets.png)" in page
    assert "nan" not in page.lower().replace("significan", "")
