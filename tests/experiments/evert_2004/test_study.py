"""The study of Evert 2004, small, on the paper's own candidates and the Brown corpus."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simstudy as ss
from simstudy.studies import Results, Study, StudyError
from tests.experiments.programs import small

SHARED = Path(__file__).parents[4] / "shared" / "data"
needs_data = pytest.mark.skipif(
    not (SHARED / "colloc_krenn" / "KrennPPV.rda").exists() or not (SHARED / "nltk" / "brown.zip").exists(),
    reason="../shared/data has no colloc_krenn or no nltk",
)

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


@needs_data
def test_intervals_overlap_where_pandas_says_so(done: Results) -> None:
    curves = done.tables["curves"]
    g2, x2 = (curves[curves["ranking"] == name].set_index("n") for name in ("log_likelihood", "chi_squared"))
    overlap = (g2["low"] <= x2["high"]) & (x2["low"] <= g2["high"])
    claim = done.tables["claims"].set_index("claim").loc["intervals of G2 and X2 overlap"]
    assert (claim["holds"] == "yes") == overlap.all()
    assert claim["holds"] == "in part", "the paper has them overlap for all n"


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


@needs_data
def test_pairs_are_shares_of_the_lengths(done: Results) -> None:
    pairs = done.tables["pairs"]
    assert len(pairs) == 36
    assert (pairs["share_holm"] <= pairs["share"]).all()
    assert (pairs["share_holm"] <= pairs["share_bh"]).all()
    shown = done.tables["differences"]
    row = pairs[(pairs["ranking_1"] == "log_likelihood") & (pairs["ranking_2"] == "chi_squared")].iloc[0]
    assert row["share"] == pytest.approx((shown["p_value"] <= 0.05).mean(), abs=0.01), "every fifth length of all"


@needs_data
def test_lists_longer_than_the_candidates_are_refused(tmp_path: Path) -> None:
    long = study(tests={**SMALL["tests"], "lengths": [200, 6000]})
    with pytest.raises(StudyError, match=r"tests.lengths: must be at most 5102, not 6000"):
        ss.run_study(long, out=tmp_path, data_dir=SHARED)


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
