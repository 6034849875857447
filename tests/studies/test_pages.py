"""Every cell and number of a page is the one of its row in the table: tables in which no two numbers are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy.engines.registry import TESTS
from simstudy.pages.sections import Section
from simstudy.studies import Comparison, make_study
from simstudy.studies.natural import gains
from simstudy.studies.natural import page as natural
from simstudy.studies.natural.definition import NaturalStudy
from simstudy.studies.natural.facts import facts
from simstudy.studies.resampling import page as resampling


def rows(part: Section) -> list[list[str]]:
    """The table of a part of a page, its headings first."""
    assert part.table is not None
    text = part.table.text()
    return [list(text.columns), *text.to_numpy().tolist()]


def by_heading(parts: list[Section]) -> dict[str, Section]:
    return {part.heading: part for part in parts}


# Training-set resampling

THRESHOLDS = pd.DataFrame(
    {
        "test_set": ["home", "home", "home", "away"], "n_items": [1200, 1200, 1200, 300],
        "unit": ["document", "document", "item", "document"],
        "alternative": ["greater", "two-sided", "greater", "greater"],
        "relation": "same family", "n_pairs": [1001, 1002, 1003, 1004], "n_window": [31, 32, 3, 34],
        "threshold": [1.11, 1.22, np.nan, 1.44], "low": [1.01, np.nan, np.nan, 1.04],
        "high": [2.01, np.nan, np.nan, 2.04], "fit": [3.01, 3.02, np.nan, np.nan],
        "residual": [-0.631, -0.596, np.nan, np.nan], "metric": "accuracy",
    }
)  # fmt: skip


def calibrated(elsewhere: list[str], relations: list[str], measured: bool) -> pd.DataFrame:
    """Two bins and the window of each, numbers that are all different; the last bin has too few pairs."""
    table = pd.DataFrame(
        [
            {"elsewhere": other, "test_set": "home", "relation": relation, "p_from": low, "p_to": high}
            for relation in relations
            for other in elsewhere
            for low, high in ((0.0, 0.01), (0.01, 1.0), (0.04, 0.06))
        ]
    )
    k = np.arange(len(table))
    table = table.assign(n_pairs=2000 + k, expected=0.5 + k / 100, share=0.7 + k / 100, low=0.3 + k / 100)
    table["high"] = 0.8 + k / 100
    table.loc[table["p_from"] == 0.01, ["share", "low", "high"]] = np.nan
    return table.assign(baseline=np.where(k == 2, np.nan, 0.4 + k / 100)) if measured else table


def resampled(**more: pd.DataFrame) -> dict[str, pd.DataFrame]:
    points = pd.DataFrame({"test_set": ["home"], "n_items": [1200], "relation": "same family"})
    return {"points": points, "curves": points, "thresholds": THRESHOLDS, **more}


def of_resampling(**more: pd.DataFrame) -> dict[str, Section]:
    return by_heading(resampling.sections(resampled(**more), home="home", home_size=1200, domain_size=None))


def test_thresholds_at_home_by_all_kinds_and_elsewhere_by_the_studys_own() -> None:
    # fmt: off
    assert rows(of_resampling()["Gain threshold against test size"]) == [
        ["test set", "items", "unit", "sides", "relation", "pairs", "p ≈ 0.05", "threshold", "95 %", "c / √n",
         "off by"],
        ["home", "1,200", "document", "one", "same family", "1,001", "31", "1.11", "1.01–2.01", "3.01", "-63%"],
        ["home", "1,200", "document", "two", "same family", "1,002", "32", "1.22", "none", "3.02", "-60%"],
        ["home", "1,200", "item", "one", "same family", "1,003", "3", "too few pairs", "none", "", ""],
        ["away", "300", "document", "one", "same family", "1,004", "34", "1.44", "1.04–2.04", "", ""],
    ]
    # fmt: on


def test_calibration_by_test_set_shows_all_pairs_and_the_measured_baseline() -> None:
    table = calibrated(["news", "wiki"], ["same family", "all pairs"], measured=True)
    assert rows(of_resampling(calibration_domains=table)["Calibration across domains"]) == [
        ["p", "pairs", "news", "wiki"],
        ["0 – 0.01", "2,006", "76% (46%)", ""],
        ["0.01 – 1", "2,007", "too few pairs", ""],
        ["0.04 – 0.06", "2,008", "78%, 38%–88% (48%)", ""],
        ["0 – 0.01", "2,009", "", "79% (49%)"],
        ["0.01 – 1", "2,010", "", "too few pairs"],
        ["0.04 – 0.06", "2,011", "", "81%, 41%–91% (51%)"],
    ], "pairs differ, so that no two rows are one"


def test_calibration_by_class_shows_what_is_expected() -> None:
    table = calibrated(["population"], ["same family", "all pairs"], measured=False)
    part = of_resampling(calibration_identical=table)["Calibration under identical distribution"]
    assert rows(part) == [
        ["p", "all pairs", "same family"],
        ["0 – 0.01", "73%, 33%–83% (53%), 2,003 pairs", "70%, 30%–80% (50%), 2,000 pairs"],
        ["0.01 – 1", "too few pairs, 2,004 pairs", "too few pairs, 2,001 pairs"],
        ["0.04 – 0.06", "75%, 35%–85% (55%), 2,005 pairs", "72%, 32%–82% (52%), 2,002 pairs"],
    ]


def test_a_terminal_shows_the_window_with_what_was_measured_else_expected() -> None:
    domains = calibrated(["news", "wiki"], ["all pairs"], measured=True).assign(test_set="home")
    same = calibrated(["population"], ["all pairs"], measured=False).assign(test_set="redrawn")
    shown = resampling.summary(resampled(calibration_identical=same, calibration_domains=domains))
    titles = ["The gain that is usually significant on home", "How many gains with p near 0.05 are gains elsewhere?"]
    assert [*shown] == titles
    own, window = (table.text() for table in shown.values())
    assert own["sides"].tolist() == ["one", "two", "one"], "of the home test set, whatever the kind"
    assert window.to_numpy().tolist() == [
        ["redrawn", "population", "2,002", "72%", "32%–82%", "52%"],
        ["home", "news", "2,002", "72%", "32%–82%", "52%"],
        ["home", "wiki", "2,005", "75%", "35%–85%", "45%"],
    ]


# Natural comparisons

KEYS: dict[str, Any] = {"test_set": ["one", "two"], "metric": ["accuracy", "ap"], "n_items": [1500, 1600]}
CLASS: dict[str, Any] = {"relation": "all pairs", "by": "group", "unit": ["item", "document"]}


@pytest.fixture
def study() -> NaturalStudy:
    test_sets = [{"name": "one", "metric": "accuracy", "paths": ["x"]}, {"name": "two", "metric": "ap", "paths": ["y"]}]
    content = {"name": "n", "kind": "natural", "title": "T", "question": "Q?", "alpha": 0.01, "test_sets": test_sets}
    made = make_study(content, "here")
    assert isinstance(made, NaturalStudy)
    return made


def gains_of(of: str, first: float) -> pd.DataFrame:
    """Rows of significant_gains: ten numbers in each, all different."""
    names = ["observed_50", "observed_50_low", "observed_50_high", "observed_95", "true_80", "true_80_low"]
    numbers = {name: [first + k / 100, first + 10 + k / 100] for k, name in enumerate([*names, "true_80_high"])}
    asked = {"alternative": "two-sided", "alpha": 0.01, "n_systems": [8, 9], "n_pairs": [1028, 1036]}
    return pd.DataFrame({**KEYS, **CLASS, "pairs": of, **asked, **numbers, "interval_for": "other systems"})


@pytest.fixture
def tables() -> dict[str, pd.DataFrame]:
    board = {"metric": "accuracy", "system": ["s1", "s2", "s3"], "may_be_best": [True, True, False]}
    board |= {"score": [81.25, 75.5, 61.0], "score_low": [70.1, 64.3, 50.0], "score_high": [90.4, 84.0, 71.2]}
    board |= {"rank": [1, 2, 3], "rank_low": [1, 1, 3], "rank_high": [2, 2, 3]}
    separated = {"n_systems": [8, 9], "n_adjacent": [71, 82], "n_significant": [33, 44], "n_significant_holm": [11, 25]}
    best = {"n_may_be_best": [3, 4], "rank_width": [2.5, 6.0], "gain_adjacent": [1.234, 0.0123]}
    asked = {"alternative": "two-sided", "n_window": [23, 24], "threshold": [2.22, np.nan]}
    alike = {"system_a": ["a", "c"], "system_b": ["b", "d"], "compared": ["answers", "scores"], "dropped": ["b", ""]}
    return {
        **dict.fromkeys(("points", "curves"), pd.DataFrame({"relation": ["same group", "different groups"]})),
        "significant_gains": pd.concat([gains_of("all pairs", 3.0), gains_of("close pairs", 5.0)]),
        "thresholds": pd.DataFrame({**KEYS, **CLASS, **asked, "low": [2.01, np.nan], "high": [2.51, np.nan]}),
        "ranks": pd.DataFrame({**KEYS, **separated, **best}),
        "leaderboard": pd.DataFrame({"test_set": "one", **board}),
        "duplicates": pd.DataFrame({"test_set": ["one", "two"], **alike, "share": [0.912, 0.953]}),
    }


def of_natural(tables: dict[str, pd.DataFrame], study: NaturalStudy) -> dict[str, Section]:
    return by_heading(natural.sections(tables, study))


def test_gains_beside_thresholds(tables: dict[str, pd.DataFrame], study: NaturalStudy) -> None:
    part = of_natural(tables, study)["The gain that is significant"]
    head, *cells = rows(part)
    assert head[-5:] == [
        "threshold", "observed, half of the pairs", "observed, 95 % of the pairs", "minimum detectable gain",
        "minimum detectable gain, close pairs",
    ]  # fmt: skip
    assert cells == [
        ["one", "accuracy", "1,500", "item", "all pairs", "8", "1,028", "2.22 (2.01–2.51)", "3.00 (3.01–3.02)", "3.03",
         "3.04 (3.05–3.06)", "5.04"],
        ["two", "average precision", "1,600", "document", "all pairs", "9", "1,036", "too few pairs",
         "13.00 (13.01–13.02)", "13.03", "13.04 (13.05–13.06)", "15.04"],
    ]  # fmt: skip
    assert "by the normal approximation (two-sided, alpha = 0.01, before correction for several tests)" in part.text
    ((title, shown),) = gains.summary(tables["significant_gains"], study.shown).items()
    assert title == "Gain that is significant (two-sided, alpha = 0.01)"
    many = pd.concat([tables["significant_gains"].head(1).assign(test_set=f"t{k}") for k in range(61)])
    (long,) = gains.summary(many, []).values()
    assert long.text()["test set"].tolist() == [f"t{k}" for k in range(60)], "a terminal has no room for more"
    assert shown.text().to_numpy().tolist() == [
        ["one", "accuracy", "1,500", "1,028", "3.00", "3.03", "3.04"],
        ["two", "average precision", "1,600", "1,036", "13.00", "13.03", "13.04"],
    ]


def test_only_all_pairs_of_whole_test_sets_by_their_own_unit_are_summed_up(
    tables: dict[str, pd.DataFrame], study: NaturalStudy
) -> None:
    """A segment of half the items, before the whole; another unit, behind; classes, of which the second has but one."""
    own = tables["significant_gains"].assign(relation=["all pairs", "one class"] * 2)
    segment = own.assign(n_items=own["n_items"] // 2, true_80=99.0)
    other = own.assign(unit="sentence", true_80=98.0)
    for part in (own[::2].assign(relation="same group", true_80=97.0), own[:0]):
        (shown,) = gains.summary(pd.concat([segment, part, own, other]), study.shown).values()
        assert shown.text()["minimum detectable gain"].tolist() == ["3.04", "13.04"]


def test_ranks_and_the_sum_of_neighbours(tables: dict[str, pd.DataFrame], study: NaturalStudy) -> None:
    part = of_natural(tables, study)["Ranks"]
    assert rows(part)[1:] == [
        ["one", "accuracy", "1,500", "8", "33 of 71", "11", "3", "2.5", "1.23"],
        ["two", "average precision", "1,600", "9", "44 of 82", "25", "4", "6", "0.0123"],
    ]
    assert "A pair of neighbours is significant if p <= 0.01 (two-sided)." in part.text
    assert part.text.endswith("In all, 77 of 153 pairs of neighbours differ significantly, 36 after Holm's correction.")


def test_the_leaderboard_says_how_many_may_be_the_best(tables: dict[str, pd.DataFrame], study: NaturalStudy) -> None:
    part = of_natural(tables, study)["Leaderboard"]
    assert part.text.startswith("one, accuracy. The figure has all systems, ")
    assert " 2 of 3 systems may be the best." in part.text
    assert rows(part) == [
        ["system", "score", "95 %", "rank", "ranks (95 %)", "may be the best"],
        ["s1", "81.25", "70.10–90.40", "1", "1–2", "yes"],
        ["s2", "75.50", "64.30–84.00", "2", "1–2", "yes"],
        ["s3", "61.00", "50.00–71.20", "3", "3", ""],
    ]


def test_the_table_of_a_long_leaderboard_has_its_first_ten(
    tables: dict[str, pd.DataFrame], study: NaturalStudy
) -> None:
    one = tables["leaderboard"].iloc[:1]
    many = pd.concat([one.assign(system=f"s{k}", rank=k) for k in range(1, 13)])
    part = of_natural({**tables, "leaderboard": many}, study)["Leaderboard"]
    assert "The table has the first 10." in part.text
    assert [row[0] for row in rows(part)] == ["system", *(f"s{k}" for k in range(1, 11))]


def test_near_duplicates_the_most_alike_first(tables: dict[str, pd.DataFrame], study: NaturalStudy) -> None:
    assert rows(of_natural(tables, study)["Near-duplicates"]) == [
        ["test set", "systems", "compared", "identical", "dropped"],
        ["two", "c / d", "scores", "95.3%", "none"],
        ["one", "a / b", "answers", "91.2%", "b"],
    ]


def test_calibration_beside_what_was_measured_else_expected(
    tables: dict[str, pd.DataFrame], study: NaturalStudy
) -> None:
    table = calibrated(["two"], ["all pairs"], measured=True).assign(homes="one, two", metric="accuracy")
    part = of_natural({**tables, "calibration": table}, study)["Does the winner win elsewhere? one, two"]
    assert rows(part) == [
        ["home", "elsewhere", "0 – 0.01", "0.01 – 1", "0.04 – 0.06"],
        ["home", "two", "70% (40%)", "too few", "72% (52%)"],
    ]


def test_facts_count_p_values_that_are_exact_and_from_resamples(study: NaturalStudy) -> None:
    pairs = pd.DataFrame(
        {
            "test_set": ["one"] * 3 + ["two"] * 2, "test": "sign_flips", "alternative": "greater",
            "unit": ["document"] * 3 + ["item"] * 2,
            "computation": ["exact", "exact", "approximated", "resampled", "resampled"],
            "n_resamples": [0, 0, 7, 9000, 5000],
        }
    )  # fmt: skip
    said = facts(study, pairs, [f"note {k}" for k in (1, 2, 2, 3, 4, 5, 6)])
    how = f"{TESTS['sign_flips'].title} (sign_flips), one-sided; "
    assert said == {
        "Test sets": "2, 5 comparisons of pairs",
        "Test": f"{how}p-values: exact (40%), approximated (20%), 9,000 resamples (40%)",
        "Null hypothesis": TESTS["sign_flips"].null,
        "Units": "item or, where the data name documents, document",
        "Seed": str(study.seed),
        "Data": "note 1; note 2; note 3; note 4; and 2 more notes of this kind",
    }
    neither = facts(study, pairs.assign(computation="approximated"), [])
    assert neither["Test"] == f"{how}approximated p-values"
    assert "Data" not in neither


def test_a_page_says_of_how_many_sides_its_p_values_are(tables: dict[str, pd.DataFrame], study: NaturalStudy) -> None:
    asked = study.model_copy(update={"comparison": Comparison(alternative="greater")})
    for one, curves, closing in (
        (study, "two-sided", "two-sided"),
        (asked, "one-sided", "one-sided (but those of ranks, which are two-sided)"),
    ):
        assert (
            f"Confidence is 1 - p ({curves}, not corrected)." in of_natural(tables, one)["Gain against confidence"].text
        )
        assert natural.closing(one).startswith(f"p-values are {closing} and not corrected ")


def test_figures_of_a_resampling_study_are_of_its_own_side_and_unit_which_come_first() -> None:
    """Another unit is left out on the home test set alone."""
    rows = [("home", "greater", "document", 4.0), ("home", "greater", "item", 3.0), ("away", "greater", "item", 6.0),
            ("home", "two-sided", "document", 5.0), ("home", "greater", "document", 2.0)]  # fmt: skip
    table = pd.DataFrame(rows, columns=["test_set", "alternative", "unit", "threshold"])
    assert resampling._as_studied(table)["threshold"].tolist() == [4.0, 6.0, 2.0]
