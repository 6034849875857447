"""What the figures of pages are given: of which test set, metric, size and relation each panel's rows are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy import plot
from simstudy.pages.sections import Section
from simstudy.studies.natural import gains as module
from simstudy.studies.natural.definition import NaturalStudy
from simstudy.studies.resampling import page as resampling
from tests.studies.test_pages import THRESHOLDS, by_heading, calibrated, of_natural, rows, study, tables

__all__ = ["study", "tables"]

# Panel -> the rows of each table that is drawn there, by their index, and the options.
Drawn = list[tuple[str, list[list[int]], dict[str, Any]]]


class Panel(str):
    """The title of a panel, in its place."""

    def set_ylim(self, bottom: float) -> None:
        assert 0 <= bottom < 0.45


@pytest.fixture(autouse=True)
def drawn(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    found: Drawn = []

    def draw(*given: pd.DataFrame, ax: str = "", **options: Any) -> None:
        found.append((ax, [table.index.tolist() for table in given], options))

    def single(draw: Any, *given: pd.DataFrame, title: str = "", **options: Any) -> None:
        draw(*given, ax=title, **{k: v for k, v in options.items() if k not in ("width", "height", "legend_aside")})

    names = ("curve", "calibration", "gains_by_size", "gains_by_test_set", "leaderboard", "thresholds")
    fakes = {**dict.fromkeys(names, draw), "single": single, "share_legend": lambda *_: None}
    for name, fake in {**fakes, "panels": lambda titles, **_: (None, [*map(Panel, titles)])}.items():
        monkeypatch.setattr(plot, name, fake)
    return found


def of(parts: dict[str, Section], heading: str, drawn: Drawn) -> Drawn:
    """What is drawn in a part of a page."""
    figure = parts[heading].figure
    assert figure is not None
    drawn.clear()
    figure.draw()
    return [*drawn]


def test_curves_have_lines_of_classes_with_forty_pairs_that_are_not_decided(
    drawn: Drawn, tables: dict[str, pd.DataFrame], study: NaturalStudy
) -> None:
    kinds = [("one", "accuracy", "a", 0.001, 40), ("one", "accuracy", "b", 0.5, 39), ("one", "accuracy", "b", 9e-4, 5),
             ("two", "ap", "a", 0.5, 41), ("one", "ap", "a", 0.5, 40)]  # fmt: skip
    rows = [(*kind[:4], 1500) for kind in kinds for _ in range(kind[4])]
    points = pd.DataFrame(rows, columns=["test_set", "metric", "relation", "p_value", "n_items"])
    curves = points.drop_duplicates(["test_set", "metric", "relation"])
    parts = of_natural({**tables, "points": points, "curves": curves}, study)
    one, two, other = [*range(84)], [*range(84, 125)], [*range(125, 165)]
    assert of(parts, "Gain against confidence", drawn) == [
        ("one, accuracy", [one, [0]], {}), ("two, average precision", [two, [84]], {}),
        ("one, average precision", [other, [125]], {}),
    ]  # fmt: skip
    alone = of_natural({**tables, "points": points[:84], "curves": curves}, study)
    assert of(alone, "Gain against confidence", drawn) == [("one, 1,500 items", [one, [0]], {})]


def test_the_leaderboard_is_of_the_first_forty_systems_by_the_first_metric(
    drawn: Drawn, tables: dict[str, pd.DataFrame], study: NaturalStudy
) -> None:
    board = pd.concat([tables["leaderboard"].iloc[:1]] * 130, ignore_index=True)
    board["test_set"], board["metric"] = ["two"] * 20 + ["one"] * 110, ["ap"] * 20 + ["accuracy"] * 60 + ["ap"] * 50
    for shown, first in (([], 0), (["one"], 20)):
        parts = of_natural({**tables, "leaderboard": board}, study.model_copy(update={"shown": shown}))
        assert of(parts, "Leaderboard", drawn) == [("", [[*range(first, 60 if first else 20)]], {})]


def test_calibrations_are_drawn_of_each_home_that_has_a_share(
    drawn: Drawn, tables: dict[str, pd.DataFrame], study: NaturalStudy
) -> None:
    table = calibrated(["two", "one"], ["all pairs"], measured=True).assign(metric="accuracy")
    among = table.assign(test_set=["one"] * 3 + ["two"] * 3, homes="one, two")
    parts = of_natural({**tables, "calibration": among}, study)
    options = {"by": "elsewhere", "among": ["one", "two"]}
    assert of(parts, "Does the winner win elsewhere? one, two", drawn) == [
        ("one", [[0, 1, 2]], options), ("two", [[3, 4, 5]], options),
    ]  # fmt: skip
    domains = among.assign(test_set=[f"one / {k // 3}" for k in range(6)], homes="one", elsewhere="all other domains")
    domains.loc[3:, "share"] = np.nan
    parts = of_natural({**tables, "calibration": domains}, study)
    assert of(parts, "Does the winner win elsewhere? one", drawn) == [("one", [[0, 1, 2]], {"by": "home"})]


def test_gains_are_charted_by_class_and_drawn_by_size_of_whole_test_sets_and_segments(
    drawn: Drawn, tables: dict[str, pd.DataFrame], study: NaturalStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Classes of groups where they are known, else all pairs; a metric that is no share of a hundred has no bar."""
    sets = [(f"t{k}", metric, 100 + k, by, relation) for k in range(8)
            for metric, by, relation in [("ap" if k == 7 else "accuracy", "group", "all pairs")]
            + [("accuracy", by, "same") for by in ("group", "base_model") if k < 2]]  # fmt: skip
    sets += [("t1", "accuracy", 50, "group", "all pairs"), ("t7", "ap", 60, "group", "all pairs")]
    gains = pd.DataFrame(sets, columns=["test_set", "metric", "n_items", "by", "relation"])
    gains = gains.assign(unit="item", pairs="all pairs", alternative="two-sided", alpha=0.05, true_80=2.0, task="")
    gains = gains.assign(**dict.fromkeys(tables["significant_gains"].columns.difference(gains.columns), 1.0))
    gains.loc[1, "true_80"] = np.nan
    other = gains.assign(unit="document", true_80=3.0)
    every = pd.concat([gains, other], ignore_index=True)
    thresholds = (
        tables["thresholds"]
        .head(0)
        .merge(every[["test_set", "metric", "n_items", "by", "relation", "unit"]], how="right")
    )
    monkeypatch.setattr(module, "_rule", lambda known: f" {known.index.tolist()}")
    parts = of_natural({**tables, "significant_gains": every, "thresholds": thresholds}, study)
    chart, sizes, segments = [1, 4, 0, *range(6, 11)], [0, 3, *range(6, 12)], [12, 13, 3, 11]
    assert of(parts, "The gain that is significant", drawn) == [("", [chart], {})]
    assert of(parts, "Test size", drawn) == [("", [sizes], {})]
    assert parts["Test size"].text.endswith(f" {sizes}")
    assert of(parts, "Initial segments", drawn) == [("", [segments], {"by": "test_set"})]


def test_figures_of_resampled_systems_are_of_their_test_sets_sizes_and_relations(drawn: Drawn) -> None:
    keys = ["test_set", "n_items", "relation"]
    sets = [("home", 1200), ("home", 300), ("away", 300)]
    points = pd.DataFrame(
        [(*one, kind) for one in sets for kind in ("same family", "different families")], columns=keys
    )
    table = calibrated(["news", "wiki"], ["same family", "all pairs"], measured=True)
    table.loc[3:5, "share"] = np.nan
    identical = calibrated(["population"], ["same family", "all pairs"], measured=False)
    natural = {"test_set": ["others"], "n_items": [5], "others_test_set": ["home"], "others_n_items": [6]}
    given = {
        "points": points, "curves": points, "thresholds": THRESHOLDS, "calibration_identical": identical,
        "calibration_domains": table, "overlay": pd.DataFrame(natural), "overlay_points": points,
    }  # fmt: skip
    parts = by_heading(resampling.sections(given, home="home", home_size=1200, domain_size=300))
    family, by_relation = ["same family", "different families"], {"by": "relation"}
    assert {heading: of(parts, heading, drawn) for heading in parts} == {
        "Gain against confidence": [("home, 1,200 items", [[0, 1], [0, 1]], {})],
        "Natural comparisons on the same curve": [
            ("others, and resampled systems on home", [[*range(6)]], {"over": "others"})
        ],
        "Test sizes": [(family[k], [[k, k + 2]] * 2, {"by": "n_items"}) for k in range(2)],
        "Domains": [(family[k], [[k + 2, k + 4]] * 2, {"by": "test_set"}) for k in range(2)],
        "Gain threshold against test size": [("home: gain threshold by test size", [[0]], {})],
        "Calibration under identical distribution": [
            ("Redrawn test sets: does the winner win in the population?", [[0, 1, 2]], by_relation)
        ],
        # Where no class of a test set has a share, all pairs are drawn too.
        "Calibration across domains": [
            ("news", [[0, 1, 2]], by_relation),
            ("wiki", [[3, 4, 5, 9, 10, 11]], by_relation),
        ],
    }
    one = {**given, "calibration_domains": table[table["elsewhere"] == "news"]}
    parts = by_heading(resampling.sections(one, home="home", home_size=1200, domain_size=None))
    assert "Domains" not in parts
    title = "winners on home, looked up on news"
    assert of(parts, "Calibration across domains", drawn) == [(title, [[0, 1, 2]], by_relation)]


def test_natural_pairs_beside_each_resampled_class_have_intervals_of_their_own() -> None:
    """A ratio may have no interval; where nothing can be compared a note says why."""
    overlay = pd.DataFrame(
        {
            "test_set": "others", "n_items": 5, "others_test_set": "home", "others_n_items": 6,
            "others_relation": ["same family", "different families"], "n_pairs": [1001, 1002],
            "n_others": [2001, 2002], "difference": [0.0123, np.nan], "low": [-0.0456, np.nan],
            "high": [0.0789, np.nan], "note": ["", "too few"], "gain_ratio": [1.11, 1.22], "ratio_low": [0.91, np.nan],
            "ratio_high": [1.31, np.nan], "threshold": [2.22, np.nan],
        }
    )  # fmt: skip
    points = pd.DataFrame({"test_set": ["home"], "n_items": [1200], "relation": "same family"})
    parts = by_heading(resampling.sections(
        {"points": points, "curves": points, "thresholds": THRESHOLDS, "overlay": overlay, "overlay_points": points},
        home="home", home_size=1200, domain_size=None,
    ))  # fmt: skip
    assert rows(parts["Natural comparisons on the same curve"]) == [
        ["resampled class", "natural pairs", "resampled pairs", "difference in confidence", "ratio of gains",
         "natural threshold"],
        ["same family", "1,001", "2,001", "+0.012 (-0.046 to +0.079)", "1.11 (0.91 to 1.31)", "2.22"],
        ["different families", "1,002", "2,002", "too few", "1.22", "too few pairs"],
    ]  # fmt: skip
