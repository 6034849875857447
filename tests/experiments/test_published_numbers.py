"""The study of published numbers, small: two made-up boards, and the shipped tables that do not depend on data."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from itertools import combinations, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.studies import Results, load_study
from tests.experiments.programs import known_otherwise, program, small

BOARDS, PAGE, POWERS, SUBSETS = (program("published_numbers", part) for part in ("boards", "page", "powers", "subsets"))
SHIPPED: Any = load_study("published_numbers")
SYSTEMS = [f"s{k}" for k in range(8)]
STUDY = """
kind = "natural"
title = "A made-up board"
question = "?"

[[test_sets]]
name = "{}"
each = ["board", "short"]
metric = "accuracy"
paths = ["made/{}.csv"]
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
    """The study of that board, and for subsets of one with fewer systems and items, too."""
    data = tmp_path_factory.mktemp("data")
    for name in ("made", "boards"):
        (data / name).mkdir()
    (data / "boards" / "study.toml").write_text(STUDY)
    answers.to_csv(data / "made" / "board.csv", index=False)
    answers.drop(columns=["s6", "s7"]).head(90).to_csv(data / "made" / "short.csv", index=False)
    long = answers.melt(["item", "subject"], var_name="system", value_name="resolved")
    long.rename(columns={"item": "instance_id", "subject": "repo"}).to_csv(data / "made" / "swe.csv", index=False)
    board = {"title": "made", "file": "made/swe.csv", "systems": 9, "not_significant": 3, "significant": 50.0}
    study, resolution = str(data / "boards"), SHIPPED.resolution.model_dump()
    asked = {"sizes": [5, 20], "trials": 6, "block": 4, "most": 0.2, "within": 3.0}
    settings = small(
        "published_numbers", few=[4], simulated=200,
        boards=[board | {"undecided": 5.0, "first": 3, "first_p": 0.01}],
        resolution=resolution | {"study": study, "test_set": "board", "top": 4},
        subsets=SHIPPED.subsets.model_dump() | asked | {"study": study, "test_sets": ["board", "short"]},
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
    names = [name for name in found.index if name.startswith("made: ")]
    assert found.loc[names, "published"].tolist() == [3, 50, 5, 3, 0.01]
    assert found.loc[names, "quantity"].tolist() == ["count", "percent of pairs", "points", "rank", "p-value"]
    assert found.loc[names[0], ["published_of", "ours_of"]].tolist() == [8, 7]
    assert ours["made: neighbours that do not differ significantly"] == sum(p >= 0.05 for p in neighbours)
    assert ours["made: pairs that differ significantly"] == pytest.approx(100 * np.mean([p < 0.05 for _, p in pairs]))
    undecided = max(gain for gain, p in pairs if p >= 0.05)
    assert ours["made: the largest gain that is not significant"] == pytest.approx(100 * undecided)
    first = next(k for k, name in enumerate(order[1:], 2) if p_of(answers, order[0], name) < 0.05)
    assert ours["made: the first rank that differs significantly from rank 1"] == first > 2
    p = p_of(answers, order[0], order[first - 1])
    assert ours["made: p-value of the first such rank"] == pytest.approx(p)
    better, worse = ((answers[order[0]] - answers[order[first - 1]] == sign).sum() for sign in (1, -1))
    corrected = stats.chi2.sf((better - worse - 1) ** 2 / (better + worse), 1)
    assert found.loc[names[-1], "recomputed"] == pytest.approx(corrected)
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


def test_the_corrected_test_is_that_of_expected_halves() -> None:
    assert BOARDS.chi_square(40, 22) == pytest.approx(stats.chi2.sf(2 * (18 / 2 - 0.5) ** 2 / 31, 1))


def test_an_unresolved_pair_lacks_the_items_of_power_08(answers: pd.DataFrame, done: Results) -> None:
    """With n / q items a normal test finds the observed gain with power 0.8."""
    order = list(answers[SYSTEMS].mean().sort_values(ascending=False, kind="stable").index[:4])
    assert done.tables["neighbours"]["rank"].tolist() == [1, 2, 3]
    rows: Any = done.tables["neighbours"].itertuples()
    for row in rows:
        pair = [row.system_a, row.system_b]
        assert pair == order[row.rank - 1 : row.rank + 1]
        difference = answers[row.system_a] - answers[row.system_b]
        error = difference.std(ddof=0) / np.sqrt(120 / row.q)
        assert stats.norm.cdf(difference.mean() / error - 1.959964) == pytest.approx(0.8, abs=1e-4)
        f = stats.f_oneway(*(own for _, own in difference.groupby(answers["subject"]))).statistic
        assert row.intraclass == pytest.approx((f - 1) / (f + 29), abs=1e-6)
        assert row.design_effect == pytest.approx(max(1, 1 + 29 * row.intraclass))
        means = difference.groupby(answers["subject"]).mean()
        assert row.q_subjects == pytest.approx((means.mean() / means.sem() / 2.801585) ** 2, rel=1e-4)
        assert (row.gain, row.q_design) == pytest.approx((100 * difference.mean(), row.q / row.design_effect))
        flipped = [abs(np.dot(signs, means)) >= abs(means.sum()) - 1e-9 for signs in product((1, -1), repeat=4)]
        assert (row.p_items, row.p_subjects) == pytest.approx((p_of(answers, *pair), np.mean(flipped)))


def test_blocks_of_trials_are_trials_of_their_own(answers: pd.DataFrame, done: Results) -> None:
    """Blocks of four and two trials count what six trials count; and random items count each pair of the half once."""
    right = answers[SYSTEMS].to_numpy(dtype=float).T
    asked = SHIPPED.subsets.model_copy(update={"sizes": [5, 20], "most": 0.2})
    whole = pd.DataFrame(SUBSETS.rank(asked, 0, "board", right, range(6))).set_index(
        ["method", "n_items", "gain_class"]
    )
    table = done.tables["subsets_by_gain"].query("test_set == 'board'").set_index(["method", "n_items", "gain_class"])
    counts = ["n_pairs", "n_right", "n_tied"]
    assert table[counts].sort_index().to_numpy().tolist() == whole[counts].sort_index().to_numpy().tolist()
    assert table.groupby(["method", "n_items"])["n_pairs"].sum().unique().tolist() == [6 * 6]


@pytest.mark.parametrize(("name", "n_systems", "n_items", "sizes"), [("board", 8, 120, [5, 20]), ("short", 6, 90, [5])])
def test_pairs_of_each_test_set_are_predicted_from_its_own_answers(
    name: str, n_systems: int, n_items: int, sizes: list[int], answers: pd.DataFrame, done: Results
) -> None:
    """By a loop over its pairs with a gain of 0.5 to 6.5 points; only random items have a prediction."""
    right, table = answers[SYSTEMS[:n_systems]].head(n_items), done.tables["subsets"].query("test_set == @name")
    differences = [right[a] - right[b] for a, b in combinations(right, 2)]
    near = [d for d in differences if 0.5 <= 100 * abs(d.mean()) <= 6.5]
    assert len(near) > 2
    assert table[["method", "n_items"]].to_numpy().tolist() == [[m, n] for n in sizes for m in SUBSETS.METHODS]
    rows: Any = table.itertuples()
    for row in rows:
        assert (row.n_systems, row.n_all_items, row.n_near) == (n_systems, n_items, len(near))
        errors = [np.sqrt(d.var(ddof=0) / row.n_items * (n_items - row.n_items) / (n_items - 1)) for d in near]
        chances = [stats.norm.cdf((abs(d.mean()) - 0.5 / row.n_items) / e) for d, e in zip(near, errors, strict=True)]
        expected = np.mean(chances) if row.method == "random" else np.nan
        assert row.predicted == pytest.approx(expected, nan_ok=True)
        per = np.median([d.var(ddof=0) for d in near]) / 0.035**2
        assert (row.items_to_rank, row.items_to_test) == pytest.approx((0.8416212**2 * per, 2.8015852**2 * per))


def test_what_does_not_depend_on_data_is_as_it_is_shipped(done: Results) -> None:
    """But for what is simulated: on 200 test sets here, each with the random numbers of its own case."""
    folder = Path(__file__).parents[2] / "results" / "published_numbers"
    powers, shipped = done.tables["powers"], pd.read_csv(folder / "powers.csv", keep_default_na=False, na_values="")
    assert set(powers["case"]) <= set(shipped["case"])
    wanted = shipped[shipped["case"].isin(powers["case"])].reset_index(drop=True)
    for table in (powers, wanted):
        table.loc[table["case"].str.startswith("BLEU"), "recomputed"] = 0
    kept = wanted.drop(columns="simulated").assign(note=wanted["note"].fillna(""))
    pd.testing.assert_frame_equal(powers[kept.columns], kept, rtol=1e-4, check_dtype=False)
    for one in POWERS.of_papers(1)[-2:]:
        (drawn,) = powers.loc[powers["case"] == one.name, "simulated"]
        case = (one.source, one.name, one.n, one.gain, one.difference, one.level)
        assert drawn == POWERS.simulated_power(*case, 200, 0) != POWERS.simulated_power(*case, 200, 1)
    own, coverage = done.tables["one_accuracy"], pd.read_csv(folder / "one_accuracy.csv")
    assert own["n_items"].drop_duplicates().tolist() == [3, 4, 10, 30, 100]
    known = own[own["n_items"] != 4].reset_index(drop=True)
    coverage = coverage[coverage["n_items"].isin(known["n_items"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(known, coverage, rtol=1e-4)
    assert own.loc[own["n_items"] == 4, "published"].isna().all()
    # The published ones are of 100 true accuracies: their standard error is 0.03 of the normal interval.
    assert (known["coverage"] - known["published"]).abs().max() < 0.03


def test_the_manifest_has_the_hash_of_each_file(answers: pd.DataFrame, done: Results) -> None:
    manifest = json.loads((done.folder / "manifest.json").read_text())["data"]["files"]
    assert set(manifest) == {f"made/{name}.csv" for name in ("board", "short", "swe")}
    assert manifest["made/board.csv"] == sha256(answers.to_csv(index=False).encode()).hexdigest()


def test_the_page_tells_what_is_left_out_and_has_no_missing_number(done: Results) -> None:
    page = (done.folder / "README.md").read_text()
    assert all(one.source in page for one in SHIPPED.left_out)
    assert all(f"(figures/{name}.png)" in page for name in ("one_accuracy", "subsets"))
    assert "nan" not in page.lower().replace("significan", "")


def test_cells_are_computed_again_where_what_they_depend_on_changes(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """The two parts: powers of published cases, and pairs that subsets of a test set's answers rank."""
    study, (*_, case) = program("published_numbers"), POWERS.of_papers(1)
    right = rng.integers(0, 2, (6, 40))
    cases: list[Any] = []
    answers: list[Any] = []

    def outputs_of(*_: Any, test_sets: list[str], metrics: list[str]) -> Any:
        found = ss.Outputs.from_scores(pd.DataFrame(answers.pop(0).T, columns=SYSTEMS[:6]), "accuracy")
        return {(name, *metrics): SimpleNamespace(outputs=found) for name in test_sets}, {}

    for name, of in (("boards", lambda *_: ([], [], {})), ("of_papers", lambda _: [cases.pop(0)]),
                     ("calculators", list), ("outputs_of", outputs_of)):  # fmt: skip
        monkeypatch.setattr(study, name, of)
    asked = {**SHIPPED.subsets.model_dump(), "test_sets": ["a", "b"], "trials": 6, "block": 2}
    changes: Any = (
        ({"seed": 1}, {}, right, {0, 1}), ({"simulated": 9}, {}, right, {0}), ({}, {}, 1 - right, {1}),
        *(({"subsets": {**asked, name: value}}, {}, right, {1})
          for name, value in (("sizes", [5]), ("most", 0.3), ("trials", 5), ("block", 3))),
        *(({}, {name: value}, right, {0})
          for name, value in (("n", 9), ("gain", 9.0), ("difference", POWERS.NormalDifference(9.0)),
                              ("level", POWERS.Level(0.2)))),
        ({"few": [7], "subsets": {**asked, "gain": 9.0}}, {"note": "other", "published": 9.0}, right, set()),
    )  # fmt: skip
    for change, of_case, of_answers, parts in changes:
        cases[:], answers[:] = [case, replace(case, **of_case)], [right, of_answers]
        one, other = (small("published_numbers", **{"subsets": asked} | more) for more in [{}, change])
        assert known_otherwise("published_numbers", one, other, 2) == parts, (change, of_case)
