"""The study of Evert 2004, small, on the paper's own candidates and the Brown corpus."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.rankings.candidates import Candidates
from simstudy.running.folders import MANIFEST
from simstudy.studies import Results, Study, StudyError
from tests.experiments.programs import RESULTS, assert_shipped, program, small

SHARED = Path(__file__).parents[4] / "shared" / "data"
needs_data = pytest.mark.skipif(
    not (SHARED / "colloc_krenn" / "KrennPPV.rda").exists() or not (SHARED / "nltk" / "brown.zip").exists(),
    reason="../shared/data has no colloc_krenn or no nltk",
)

PAIR = ("log_likelihood", "chi_squared")
SMALL: dict[str, dict[str, Any]] = {
    "figures": {
        "n_from": 100,
        "n_to": 2000,
        "n_seeds": 3,
    },
    "tests": {
        "tests": ["fisher", "bootstrap", "randomization", "chi_square"], "lengths": [200, 1500], "n_resamples": 2000
    },
    "parts": {
        "n_parts": [20],
        "arrangements": ["contiguous", "dealt"],
        "floor": 2,
        "rankings": ["log_likelihood", "t_score"],
        "share_accepted": 0.33,
    },
    "simulated": {
        "n_experiments": 2, "n_sets": 5, "n_candidates": 100, "share_true": 0.3, "separation": 1.0, "correlation": 0.5,
        "clusters": [[1, 0.0], [5, 0.5]], "n_accepted": 20,
    },
}  # fmt: skip


def study(**changes: Any) -> Study:
    return small("evert_2004", **{**SMALL, **changes})


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return ss.run_study(study(), out=tmp_path_factory.mktemp("evert"), n_jobs=1, data_dir=SHARED)


@needs_data
def test_tables_have_the_rows_of_the_shipped_results(done: Results) -> None:
    """All lengths are those of the shipped study, so that its sentences come out; of the rest it has a part."""
    for title in ("claims", "curves", "differences", "pairs"):
        assert_shipped("evert_2004", title, done.tables[title])
    assert_shipped("evert_2004", "ties", done.tables["ties"], ("ties", "seed"))
    for title in ("tests", "tests_of_pair"):
        table = done.tables[title]
        assert_shipped("evert_2004", title, table[table["test"].isin(["fisher", "chi_square"])], ("n", "test"))
    assert_shipped("evert_2004", "parts", done.tables["parts"], ("arrangement", "n_parts"))
    for title in ("repetitions", "check"):
        assert_shipped("evert_2004", title, done.tables[title], ("arrangement", "n_parts", "ranking"))
    drawn = done.comparisons.groupby("test")["n_resamples"].max()
    assert (drawn["bootstrap"], len(done.comparisons)) == (2000, 2 * 4 * 36)
    written = [json.loads((folder / MANIFEST).read_text("utf-8")) for folder in (done.folder, RESULTS / "evert_2004")]
    facts = [{**each["page"]["facts"], "Signature": ""} for each in written]
    assert facts[0] == facts[1]
    assert written[0]["data"] == written[1]["data"]


@needs_data
def test_tests_agree_where_differences_are_plain(done: Results) -> None:
    of_pair = done.tables["tests_of_pair"].pivot(index="n", columns="test", values="p_value")
    assert (of_pair.loc[200] < 0.05).all(), "a gain of 14 points"
    assert (of_pair.loc[1500] > 0.05).all()
    assert of_pair.loc[200, "chi_square"] > 10 * of_pair.loc[200, "fisher"], "two lists taken to be independent"
    counts = done.tables["tests"].set_index(["n", "test"])
    assert (counts["n_pairs"] == 36).all()
    assert (counts.xs("fisher", level="test")[["only_test", "only_reference"]] == 0).all(axis=None)


@needs_data
def test_every_figure_has_its_table_and_the_page_shows_it(done: Results) -> None:
    page = (done.folder / "README.md").read_text(encoding="utf-8")
    for figure in ("figure_1", "figure_2", "figure_3", "figure_4", "tests"):
        assert (done.folder / "figures" / f"{figure}.svg").stat().st_size > 10_000
        assert f"figures/{figure}.png" in page
    for name in done.tables:
        assert (done.folder / f"{name}.csv").is_file()
    assert "nan" not in page.lower()
    check = done.tables["check"]
    assert (check["n_sets"] == 20).all()
    assert np.isfinite(check[["ratio", "ks_p", "dispersion_p", "missed_p"]]).all(axis=None)


def test_lists_parts_and_tests_that_can_not_be_are_refused_together() -> None:
    """All 1,600 candidates are right or wrong answers, the best 800 of them are not."""
    candidates = Candidates.from_scores(pd.DataFrame({"g": range(1600), "h": range(1600)}), [1, 0] * 800)
    check, figures = program("evert_2004").check, {**SMALL["figures"], "n_to": 1600}
    fits = study(figures=figures, tests={**SMALL["tests"], "lengths": [1600]}, parts={**SMALL["parts"], "n_parts": [7]})
    check(fits, candidates, 7)
    with pytest.raises(StudyError, match="parts.n_parts: must be at most 6, the number of documents, not 7$"):
        check(fits, candidates, 6)
    for longer in ({"figures": {**figures, "n_to": 1601}}, {"tests": {**SMALL["tests"], "lengths": [200, 1601]}}):
        with pytest.raises(StudyError, match=r"figures.n_to, tests.lengths: must be at most 1600, not 1601; parts.n_p"):
            check(study(**{**fits.model_dump(include={"figures", "tests", "parts"}), **longer}), candidates, 6)
    wrong = study(figures=figures, tests={**SMALL["tests"], "lengths": [1600, 800], "tests": ["mcnemar", "fisher"]})
    with pytest.raises(StudyError, match=r"tests.tests \(n = 800\): test 'mcnemar' needs right or wrong answers"):
        check(wrong, candidates, 20)


def test_ties_are_broken_by_every_seed_and_kept() -> None:
    """Scores of few values: each way to break ties ends the run of significant lengths elsewhere."""
    rng = np.random.default_rng(1)
    true = rng.random(2000) < 0.3
    better = {"a": 9.0, PAIR[0]: 1.0, PAIR[1]: 0.6}
    scores = {name: (rng.normal(size=2000) + by * true).round() for name, by in better.items()}
    candidates = Candidates.from_scores(pd.DataFrame(scores), true)
    asked: Any = study(figures={"n_from": 700, "n_to": 1500, "n_seeds": 3}, seed=5, alpha=0.01)
    found = program("evert_2004").tie_seeds(candidates, asked)
    rows = []
    for ties, seed in (("jitter", 5), ("jitter", 6), ("jitter", 7), ("keep", 5)):
        one: Any = ties
        broken = Candidates.from_scores(pd.DataFrame(scores)[list(PAIR)], true, ties=one, seed=seed)
        p = program("evert_2004", "n_best_lists").ranking_differences(broken, range(700, 1501))["p_value"]
        run = int((p <= 0.01).cumprod().sum())
        rows.append((ties, seed, 699 + run if run else 0, (p <= 0.01).mean()))
    pd.testing.assert_frame_equal(found, pd.DataFrame(rows, columns=["ties", "seed", "significant_up_to", "share"]))
    assert found["share"].nunique() == 4


@pytest.mark.parametrize(
    ("section", "changes", "message"),
    [
        ("figures", {"n_from": 2000}, "figures: n_from and n_to must hold 800 to 1500 between them, not 2000 to 2000"),
        ("figures", {"n_to": 1000}, "figures: n_from and n_to must hold 800 to 1500 between them, not 100 to 1000"),
        ("parts", {"rankings": ["t_score", "tscore"]}, "parts.rankings.*'tscore'.*did you mean 't_score'"),
        ("tests", {"tests": ["fishers"]}, "tests.tests.*did you mean 'fisher'"),
        ("parts", {"arrangements": ["dealt", "random"]}, "parts.arrangements"),
        ("parts", {"share_accepted": 1.0}, "parts.share_accepted"),
        ("simulated", {"clusters": [[5, 1.0]]}, "simulated.clusters"),
    ],
)
def test_wrong_keys_are_named(section: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        study(**{section: {**SMALL[section], **changes}})


@needs_data
def test_what_the_paper_says_of_its_figures(done: Results) -> None:
    """The paper's own numbers: 11.09 %, 35.7 % to 44.4 %, significant up to 1,250."""
    found = done.tables["claims"].set_index("claim")
    assert found.loc["baseline precision", "here"] == "11.09 %"
    assert found.loc["95 % interval of 200 of 500", "here"] == "35.7 % to 44.4 %"
    assert found.loc["t is marginally better than G2", "holds"] == "yes"
    assert found.loc["G2 is marginally better than t", "holds"] == "yes"
    differ = found.loc["G2 and X2 differ significantly"]
    last = int(re.match(r"up to ([\d,]+)", differ["here"])[1].replace(",", ""))
    assert 1250 <= last < 1300
