"""The study of many systems and repeated looks, small: its counts against loops over `compare`, and algebra."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.running.fingerprints import derived_seed
from simstudy.studies import DrawnBoards, StudyError
from simstudy.truth import outcome_correlation
from tests.experiments.programs import program, small
from tests.oracles import compared

STUDY, FAMILIES, LOOKS = (program("multiple_systems", part) for part in ("study", "families", "looks"))
SHIPPED: Any = small("multiple_systems")
ALPHA = 0.05


def study(**changes: Any) -> Any:
    """Two conditions and few test sets."""
    conditions = {name: SHIPPED.conditions[name].model_dump() for name in ("accuracy_100", "clusters")}
    for condition in conditions.values():
        condition |= {"n_systems": [2, 4], "n_units": 40}
        condition["truths"] = condition["truths"][:2]
    variants = {
        name: SHIPPED.variants[name].model_dump() | {"n_units": 60} for name in ("independent", "r_05", "r_07_gain")
    }
    few: dict[str, Any] = {
        "n_draws": 99,
        "sets": {"of_few": 4, "of_many": 2, "large": 4, "block": 2},
        "conditions": conditions,
        "groups": {"condition": "accuracy_100", "n_systems": [3], "sets": 4, "block": 2},
        "looks": {"n_variants": [1, 3], "sets": 8, "corrected_sets": 4, "block": 4},
        "variants": variants,
        "stopping": {"conditions": ["accuracy_100"], "step": 20, "n_looks": [1, 3], "sets": 8, "block": 4},
    }
    return small("multiple_systems", **{**few, **changes})


def boards(name: str, truth: str, k: int, n_sets: int, n: int = 60) -> tuple[Any, DrawnBoards]:
    condition = SHIPPED.conditions[name]
    model = condition.model(truth, k)
    drawn = list(DrawnBoards.of(model, n_sets, n, np.random.default_rng(5)))
    return model, DrawnBoards(np.concatenate([part.statistics for part in drawn]), drawn[0].metric)


@pytest.mark.parametrize("name", ["accuracy_100", "skewed_100", "clusters"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_all_pairs_of_many_test_sets_are_those_of_compare(name: str, alternative: str) -> None:
    test = SHIPPED.conditions[name].test
    model, drawn = boards(name, "half equal", 4, 5, 30)
    found, ahead = drawn.p_values(test, alternative=alternative), drawn.ahead()
    for of_set, p, signs in zip(drawn.statistics, found, ahead, strict=True):
        outputs = ss.Outputs.from_statistics(of_set, model.metric, list(model.names))
        rows = compared(outputs, test=test, alternative=alternative).set_index(["system_a", "system_b"])
        for (i, j), value, sign in zip(itertools.combinations(model.names, 2), p, signs, strict=True):
            pair = (i, j) if (i, j) in rows.index else (j, i)
            assert value == pytest.approx(rows.loc[pair, "p_value"], rel=1e-9)
            gain = rows.loc[pair, "gain"]
            assert sign == (0 if abs(gain) < 1e-9 else 1 if pair == (i, j) else -1)


@pytest.mark.parametrize("name", ["accuracy_100", "skewed_100"])
def test_one_side_is_half_of_two(name: str) -> None:
    """What the study takes one-sided p-values of the better system to be."""
    _, drawn = boards(name, "all equal", 4, 10)
    test, ahead = SHIPPED.conditions[name].test, drawn.ahead()
    two, one = drawn.p_values(test), drawn.p_values(test, alternative="greater")
    np.testing.assert_allclose(one[ahead != 0], two[ahead != 0] / 2, rtol=1e-9)


def test_pairs_with_one_system_are_the_same_whichever_way_they_are_asked() -> None:
    _, drawn = boards("accuracy_100", "all equal", 4, 6)
    first, second = np.arange(1, 4), np.zeros(3, dtype=np.int64)
    np.testing.assert_allclose(drawn.p_values("sign_flips", pairs=(first, second)), drawn.p_values("sign_flips")[:, :3])
    assert (drawn.ahead((first, second)) == -drawn.ahead()[:, :3]).all()


def test_each_family_is_corrected_for_its_own_pairs() -> None:
    """Four systems on 60 test sets: three of the six pairs are with the last system; by a loop, at drawn p-values."""
    rng, alpha = np.random.default_rng(1), 0.1
    p, ahead, true = rng.random((60, 6)) ** 3, rng.choice([-1, 1], (60, 6)), [1, 0, 1, 0, -1, 1]
    named = {"two-sided": lambda v, a: v, "one-sided, as the data say": lambda v, a: v / 2,
             "one-sided, named beforehand": lambda v, a: v / 2 if a > 0 else 1.0}  # fmt: skip
    drawn = SimpleNamespace(pairs=np.triu_indices(4, 1), n_systems=4, p_values=lambda test: p, ahead=lambda: ahead)
    rows = list(FAMILIES.by_pairs(drawn, np.array(true), "sign", alpha))
    assert len(rows) == 2 * 3 * 3
    for row in rows:
        members = [k for k in range(6) if row["family"] == "all pairs" or k in (2, 4, 5)]
        n_any, n_claims, n_wrong = 0, 0, 0
        for of_set, signs in zip(p, ahead, strict=True):
            own = [named[row["alternative"]](of_set[k], signs[k]) for k in members]
            order = np.argsort(own)
            holm = {k: own[k] * (len(own) - place) <= alpha for place, k in enumerate(order)}
            first_kept = next((place for place, k in enumerate(order) if not holm[k]), len(own))
            rejected = {
                "none": [value <= alpha for value in own],
                "Holm": [list(order).index(k) < first_kept for k in range(len(own))],
                "Benjamini-Hochberg": stats.false_discovery_control(own) <= alpha,
            }[row["method"]]
            claims = [(signs[k], true[k]) for k, yes in zip(members, rejected, strict=True) if yes]
            n_claims += len(claims)
            n_any += any(said != is_true for said, is_true in claims)
            n_wrong += sum(said == -is_true for said, is_true in claims)
        assert (row["n_sets"], row["n_claims"], row["n_any_false"], row["n_wrong"]) == (60, n_claims, n_any, n_wrong)


def test_claims_are_counted_as_in_loops() -> None:
    rng = np.random.default_rng(0)
    claims, true = rng.integers(-1, 2, (30, 6)), np.array([1, 1, 0, 0, -1, 1])
    found = FAMILIES.counted(claims, true)
    any_false = any_wrong = 0
    proportion, power = [], []
    for row in claims:
        false = [c != 0 and c != t for c, t in zip(row, true, strict=True)]
        wrong = [c * t == -1 for c, t in zip(row, true, strict=True)]
        any_false, any_wrong = any_false + any(false), any_wrong + any(wrong)
        proportion.append(sum(false) / max(1, sum(c != 0 for c in row)))
        power.append(sum(c == t for c, t in zip(row, true, strict=True) if t) / 4)
    assert (found["n_any_false"], found["n_any_wrong"]) == (any_false, any_wrong)
    assert found["sum_proportion"] == pytest.approx(sum(proportion))
    assert (found["sum_power"], found["squares_power"]) == pytest.approx((sum(power), np.square(power).sum()))


def test_places_hold_all_that_tied_systems_may_have() -> None:
    """True places 1, 2 - 3 and 2 - 3: a set that leaves out one of two tied places does not hold them."""
    places = type("Places", (), {})
    wide, narrow = places(), places()
    for of_set, low, high in ((wide, [1, 2, 2], [1, 3, 3]), (narrow, [1, 2, 3], [1, 2, 3])):
        of_set.low = of_set.low_own = np.array(low)
        of_set.high = of_set.high_own = np.array(high)
        of_set.may_be_best = np.array([of_set is wide, True, True])
    every, own, best = FAMILIES.held([wide, narrow], np.array([0.9, 0.5, 0.5]))
    assert (every["sum_held"], own["sum_held"], best["sum_held"]) == (1, pytest.approx(1 + 1 / 3), 1)
    assert best["sum_size"] == 5
    *_, best = FAMILIES.held([narrow], np.array([0.5, 0.5, 0.5]))
    assert best["sum_held"] == 0, "one of three that are best is left out"


def test_the_best_variant_is_the_one_that_is_reported() -> None:
    settings = study(looks={"n_variants": [2, 3], "sets": 4, "corrected_sets": 4, "block": 4})
    p = np.array([[0.04, 0.5, 0.001], [0.02, 0.9, 0.03], [0.6, 0.04, 0.9], [0.001, 0.01, 0.02]])
    gain = np.array([[2.0, 1.0, -5.0], [3.0, 0.1, 2.9], [1.0, -4.0, 0.5], [-1.0, -2.0, -3.0]])
    rows = pd.DataFrame(LOOKS.of_first(settings, p, gain)).set_index(["n_variants", "alternative", "method"])
    two = rows.loc[2, "two-sided", "none"]
    # 0.04 and 0.02 are finds; Holm's are 0.08 and 0.04.
    # The p of 0.04 of the third set is of a worse variant, and so are all of the fourth.
    assert (two["n_significant"], two["sum_best"], two["sum_found"], two["squares_found"]) == (2, 5.0, 5.0, 13.0)
    assert rows.loc[2, "two-sided", "Holm"]["n_significant"] == 1
    assert rows.loc[3, "two-sided", "Holm"]["n_significant"] == 0
    assert rows.loc[3, "one-sided, named beforehand", "Holm"]["n_significant"] == 1


def test_looking_again_is_a_loop_over_looks() -> None:
    settings = study()
    (first, third) = LOOKS.look_again(settings, "accuracy_100", 0, 8)
    model = settings.conditions["accuracy_100"].model("all equal", 2)
    rng = np.random.default_rng(derived_seed(settings.seed, "stopping", "accuracy_100", 0))
    stopped = np.zeros((8, 3), dtype=bool)
    for drawn in DrawnBoards.of(model, 8, 60, rng):
        for m, of_set in enumerate(drawn.statistics):
            for look in range(3):
                outputs = ss.Outputs.from_statistics(of_set[:, : 20 * (look + 1)], "accuracy", ["a", "b"])
                stopped[m, look] = compared(outputs, alternative="two-sided")["p_value"].iloc[0] <= ALPHA
    assert (first["n_significant"], third["n_significant"]) == (stopped[:, 0].sum(), stopped.any(axis=1).sum())


def test_true_scores_are_as_the_truth_says() -> None:
    for truth, n_distinct in (("all equal", 1), ("half equal", 4), ("all different", 6)):
        scores = SHIPPED.conditions["accuracy_1000"].model(truth, 6).scores().round(9)
        assert len(set(scores)) == n_distinct
        assert (np.diff(scores) <= 0).all()
        assert scores[-1] == 65
    assert scores[0] == pytest.approx(73)


def test_independent_looks_are_the_algebra() -> None:
    """The exact chance q of one look, by enumeration, and 1 - (1 - q)^m of so many test sets."""
    n, sets = 60, 1500
    settings = study(looks={"n_variants": [1, 10], "sets": sets, "corrected_sets": 1, "block": sets})
    differ = 2 * 0.65 * 0.35 * (1 - outcome_correlation(0.65, 0.65, 0.5))
    q = 0.0
    for m in range(n + 1):
        wins = np.arange(m + 1)
        better = (2 * stats.binom.sf(wins - 1, m, 0.5) <= ALPHA) & (2 * wins > m)
        q += stats.binom.pmf(m, n, differ) * stats.binom.pmf(wins, m, 0.5) @ better
    rows = pd.DataFrame(LOOKS.try_variants(settings, "independent", 0, sets, 0))
    rows = rows.query("alternative == 'two-sided' and method == 'none'").set_index("n_variants")
    for m in (1, 10):
        # A better variant may have more wins of more decided items, and yet a larger p: nearly never here.
        assert stats.binomtest(int(rows.loc[m, "n_significant"]), sets, 1 - (1 - q) ** m).pvalue > 1e-4, m


@pytest.mark.parametrize("one_test_set", [True, False])
def test_variants_are_tried_as_a_loop_over_test_sets_tries_them(one_test_set: bool) -> None:
    """The first block has eight test sets of the twelve that the stepdown has, and the second one has the others."""
    of = SHIPPED.variants["r_07_gain"].model_dump() | {"gain": 0.1, "n_units": 50, "one_test_set": one_test_set}
    few = {"n_variants": [1, 3], "sets": 20, "corrected_sets": 12, "block": 8}
    settings, n_sets = study(alpha=0.2, n_draws=29, seed=3, looks=few, variants={"mine": of}), 8
    cells = STUDY.plain_cells(settings, "variants", ["mine"], settings.looks.sets, settings.looks.block)
    for block, n_stepdown in ((0, 8), (1, 4), (2, 0)):
        (cell,) = [cell for cell in cells if cell.arguments[2] == block]
        assert cell.arguments[-1] == (n_stepdown if one_test_set else 0)
        found = pd.DataFrame(LOOKS.try_variants(settings, "mine", block, n_sets, cell.arguments[-1]))
        of_key: Any = found.set_index(["n_variants", "alternative", "method"])
        rng = np.random.default_rng(derived_seed(3, "variants", "mine", block))
        n_systems, n_boards = (3, n_sets) if one_test_set else (1, 3 * n_sets)
        model = settings.variants["mine"].model(n_systems)
        assert model.scores().tolist() == pytest.approx([65, *[75] * n_systems])
        (drawn,) = DrawnBoards.of(model, n_boards, 50, rng)
        boards = [ss.Outputs.from_statistics(one, "accuracy") for one in drawn.statistics]
        tried = []
        for board in boards:
            rows = compared(board, alternative="two-sided")
            rows = rows[(rows["system_a"] == board.names[0]) | (rows["system_b"] == board.names[0])]
            sign = np.where(rows["system_a"] == board.names[0], -1, 1)
            other = np.where(sign > 0, rows["system_a"], rows["system_b"])
            tried += sorted(zip(other, sign * rows["gain"], rows["p_value"], strict=True))
        for m, side in itertools.product((1, 3), ("two-sided", "one-sided, named beforehand")):
            best, reported = [], []
            for first in range(0, len(tried), 3):
                _, gain, p = max(tried[first : first + m], key=lambda one: one[1])
                best.append(gain)
                if gain > 0 and (p if side == "two-sided" else p / 2) <= 0.2:
                    reported.append(gain)
            found_by = of_key.loc[m, side, "none"]
            assert (found_by["n_sets"], found_by["n_significant"]) == (n_sets, len(reported))
            sums = (found_by["sum_best"], found_by["sum_found"], found_by["squares_found"])
            assert sums == pytest.approx((sum(best), sum(reported), sum(gain**2 for gain in reported)))
        steps = found[found["method"] == "Romano-Wolf"]
        if not (one_test_set and n_stepdown):
            assert steps.empty
            continue
        seed = derived_seed(3, "signs", "mine", block, 0) % 2**64
        for row in steps.to_dict("records"):
            m = row["n_variants"]
            some = DrawnBoards(drawn.statistics[:n_stepdown, : m + 1], "accuracy")
            behind = [one.low_own[0] > 1 for one in some.places(level=0.8, n_draws=29, seed=seed)]
            gains = [max(own[1:]) - own[0] for own in some.scores()]
            assert (row["n_sets"], row["n_significant"]) == (n_stepdown, sum(behind))
            assert row["sum_best"] == pytest.approx(sum(gains))
            assert row["sum_found"] == pytest.approx(sum(gain for gain, yes in zip(gains, behind, strict=True) if yes))
            assert row["squares_found"] == pytest.approx(
                sum(gain**2 for gain, yes in zip(gains, behind, strict=True) if yes)
            )


def test_variants_that_are_alike_are_correlated_by_among() -> None:
    settings = SHIPPED.variants["r_05_alike"]
    matrix = settings.model(3).dependence.matrix(4)
    assert matrix[0].tolist() == [1, 0.5, 0.5, 0.5]
    assert matrix[1].tolist() == [0.5, 1, 0.9, 0.9]
    assert len(set(settings.model(3).scores())) == 1


@pytest.mark.usefixtures("empty_figures")
def test_a_run_has_every_figure_and_table_on_its_page(tmp_path: Path) -> None:
    done = ss.run_study(study(), out=tmp_path, n_jobs=1)
    page = (tmp_path / "README.md").read_text()
    assert "(figures/family_wise_error.png)" in page
    assert "(figures/repeated_looks.png)" in page
    assert {path.stem for path in tmp_path.glob("*.csv")} == set(done.tables)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["accuracy_1000", "skewed_1000"])
def test_corrections_keep_the_family_wise_level(name: str) -> None:
    """500 test sets of ten equal systems: 0.05, and no more than 4 standard errors above."""
    found = FAMILIES.examine(SHIPPED, name, "all equal", 10, 0, 500)["claims"]
    rows = pd.DataFrame(found).query("family == 'all pairs' and alternative == 'two-sided'").set_index("method")
    most = 500 * (ALPHA + 4 * np.sqrt(ALPHA * (1 - ALPHA) / 500))
    assert (rows.loc[["Holm", "Benjamini-Hochberg", "Romano-Wolf"], "n_any_false"] <= most).all()
    assert rows.loc["Romano-Wolf", "n_any_false"] >= 5
    assert rows.loc["none", "n_any_false"] > 200


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_draws": 9}, "n_draws must be at least 1 / alpha - 1, not 9 with alpha 0.05"),
        (
            {"groups": {"condition": "bleu", "n_systems": [3], "sets": 1, "block": 1}},
            "condition must be one of accuracy_100, clusters, not bleu",
        ),
        ({"looks": {"n_variants": [0], "sets": 1, "corrected_sets": 1, "block": 1}}, "looks.n_variants.0: "),
        ({"variants": {}}, "variants: dictionary should have at least 1 item"),
    ],
)
def test_wrong_keys_and_values_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError) as error:
        study(**changes)
    assert message in str(error.value)
