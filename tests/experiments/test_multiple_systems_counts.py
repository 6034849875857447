"""The tables and figures of many systems of made-up counts, and its cells against loops over `compare`."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pytest
from scipy import stats

import simstudy as ss
from simstudy.running.fingerprints import derived_seed
from simstudy.studies import DrawnBoards
from tests.experiments.programs import drawn_lines, figures_of, known_otherwise, program, small, told
from tests.oracles import compared

STUDY, FAMILIES = (program("multiple_systems", part) for part in ("study", "families"))
SHIPPED: Any = small("multiple_systems")
ACCURACY, CLUSTERS = "accuracy_100", "clusters"
TWO_SIDED, AS_THE_DATA_SAY = "two-sided", "one-sided, as the data say"
NAMED = "one-sided, named beforehand"
CLAIMS = [*product(["all pairs", "one baseline"], [TWO_SIDED, AS_THE_DATA_SAY], ["none", "Holm"]),
          ("all pairs", TWO_SIDED, "Romano-Wolf")]  # fmt: skip
TRIED = [*product([1, 3], [TWO_SIDED, NAMED], ["none", "Holm"]), (1, TWO_SIDED, "Romano-Wolf")]
Drawn = dict[tuple[Any, ...], list[np.ndarray]]


def study(**changes: Any) -> Any:
    conditions = {name: SHIPPED.conditions[name].model_dump() | {"n_units": 40} for name in (ACCURACY, CLUSTERS)}
    conditions[ACCURACY] |= {"truths": ["all equal", "half equal"], "n_systems": [6, 2, 4]}
    conditions[CLUSTERS] |= {"truths": ["all equal"], "n_systems": [2, 4]}
    variants = {name: SHIPPED.variants[name].model_dump() for name in ("r_05", "r_07_gain", "skewed")}
    variants["skewed"]["gain"] = 0.25
    few: dict[str, Any] = {
        "alpha": 0.2, "n_draws": 29, "seed": 3, "conditions": conditions, "variants": variants,
        "sets": {"of_few": 5, "of_many": 3, "large": 6, "block": 2},
        "groups": {"condition": ACCURACY, "n_systems": [3, 4], "sets": 3, "block": 2},
        "looks": {"n_variants": [1, 3], "sets": 5, "corrected_sets": 3, "block": 2},
        "stopping": {"conditions": [CLUSTERS, ACCURACY], "step": 20, "n_looks": [1, 10], "sets": 5, "block": 2},
    }  # fmt: skip
    return small("multiple_systems", **{**few, **changes})


@pytest.fixture(scope="module")
def ran() -> tuple[Any, Drawn]:
    """What a run finds of made-up numbers of each test set, and these numbers."""
    drawn: Drawn = defaultdict(list)
    rng = np.random.default_rng(7)

    def of_systems(cell: Any) -> dict[str, Any]:
        _, name, truth, k, _, n_sets = cell.arguments
        claims, held = [], []
        for key in CLAIMS:
            # For each test set: whether any claim is false or wrong, three counts, the share of false claims and power.
            own = np.vstack([rng.integers(0, 2, (2, n_sets)), rng.integers(0, 9, (3, n_sets)), rng.random((2, n_sets))])
            own[-1] = own[-1] if truth == "half equal" else np.nan
            drawn["families", name, truth, k, *key].append(own)
            names = ("n_any_false", "n_any_wrong", "n_claims", "n_false", "n_wrong", "sum_proportion", "sum_power")
            row = dict(zip(("family", "alternative", "method"), key, strict=True))
            squares = {"squares_proportion": (own[5] ** 2).sum(), "squares_power": (own[6] ** 2).sum()}
            claims.append(row | {"n_sets": n_sets, **dict(zip(names, own.sum(axis=1), strict=True)), **squares})
        for guarantee in FAMILIES.GUARANTEES:
            own = np.array([rng.random(n_sets) if guarantee == "own rank" else rng.integers(0, 2, n_sets),
                            rng.uniform(1, k, n_sets)])  # fmt: skip
            drawn["rank_sets", name, truth, k, guarantee].append(own)
            held.append({"guarantee": guarantee, "n_sets": n_sets, "sum_held": own[0].sum(),
                         "squares_held": (own[0] ** 2).sum(), "sum_size": own[1].sum()})  # fmt: skip
        return {"claims": claims, "rank_sets": held}

    def of_looks(cell: Any) -> list[dict[str, Any]]:
        _, name, _, n_sets = cell.arguments[:4]
        kind, rows = cell.label.split()[0], []
        plain: dict[str, list[Any]] = {"tables": ["groups, p_bh", "neighbours, p_holm"], "stopping": [1, 10]}
        keys = plain.get(kind, TRIED)
        for key in keys:
            own = np.array([rng.integers(0, 2, n_sets), rng.uniform(0.5, 9, n_sets)])
            drawn[kind, name, *(key if isinstance(key, tuple) else (key,))].append(own)
            found = own[1][own[0] > 0]
            if kind == "variants":
                row: Any = dict(zip(("n_variants", "alternative", "method"), key, strict=True))
                sums = {"sum_best": own[1].sum(), "sum_found": found.sum(), "squares_found": (found**2).sum()}
                rows.append(row | {"n_sets": n_sets, "n_significant": len(found), **sums})
            else:
                names = ("claim", "n_any_false") if kind == "tables" else ("n_looks", "n_significant")
                rows.append({names[0]: key, "n_sets": n_sets, names[1]: len(found)})
        return rows

    found, _ = told(
        "multiple_systems", study(), lambda cell: (of_systems if len(cell.arguments) == 6 else of_looks)(cell)
    )
    return found, drawn


def mean_and_error(values: np.ndarray) -> list[Any]:
    error = stats.sem(values) if len(values) > 1 else np.nan
    return [pytest.approx(value, nan_ok=True) for value in (values.mean() if len(values) else np.nan, error)]


def interval(yes: np.ndarray) -> list[Any]:
    return of_counts(int(yes.sum()), len(yes))


@cache
def of_counts(n: int, n_sets: int) -> list[Any]:
    return [n / n_sets, *map(pytest.approx, stats.binomtest(n, n_sets).proportion_ci(method="exact"))]


def test_tables_are_means_over_all_test_sets_of_all_blocks(ran: Any) -> None:
    """Sets are as many as their number of systems says; half of two systems is no pair."""
    found, drawn = ran
    tables = found.tables
    asked = [(ACCURACY, truth, k) for truth in ("all equal", "half equal") for k in (6, 2, 4)]
    asked = [key for key in asked if key != (ACCURACY, "half equal", 2)] + [
        (CLUSTERS, "all equal", 2), (CLUSTERS, "all equal", 4)
    ]  # fmt: skip
    keys = [(*at, *key) for at in asked for key in CLAIMS]
    at = ["condition", "truth", "n_systems"]
    of_claims = ["family", "alternative", "method"]
    assert list(tables["families"][at + of_claims].itertuples(index=False, name=None)) == keys
    for row in tables["families"].to_dict("records"):
        own = np.hstack(drawn[("families", *(row[name] for name in at + of_claims))])
        assert own.shape[1] == row["n_sets"] == (3 if row["n_systems"] == 6 else 5)
        counts = [int(row[name]) for name in ("n_any_false", "n_any_wrong", "n_claims", "n_false", "n_wrong")]
        assert counts == own[:5].sum(axis=1).tolist()
        assert row["alpha"] == 0.2
        assert [row[name] for name in ("share", "low", "high")] == interval(own[0])
        assert [row[name] for name in ("wrong", "wrong_low", "wrong_high")] == interval(own[1])
        assert [row[name] for name in ("false_discoveries", "false_discoveries_se")] == mean_and_error(own[5])
        assert [row[name] for name in ("power", "power_se")] == mean_and_error(own[6])
    assert len(tables["rank_sets"]) == 3 * len(asked)
    for row in tables["rank_sets"].to_dict("records"):
        held, size = np.hstack(drawn["rank_sets", row["condition"], row["truth"], row["n_systems"], row["guarantee"]])
        share, low, high = interval(held)
        if row["guarantee"] == "own rank":
            share, error = held.mean(), 1.96 * stats.sem(held)
            low, high = (pytest.approx(np.clip(share + side * error, 0, 1)) for side in (-1, 1))
        assert (row["share"], row["low"], row["high"]) == (pytest.approx(share), low, high)
        assert (row["n_sets"], row["mean_size"]) == (len(held), pytest.approx(size.mean()))
    for row in tables["tables"].to_dict("records"):
        (yes, _) = np.hstack(drawn["tables", row["n_systems"], row["claim"]])
        assert [row["n_sets"], row["n_any_false"]] == [3, yes.sum()]
        assert [row[name] for name in ("share", "low", "high")] == interval(yes)
    assert len(tables["tables"]) == 2 * 2
    for row in tables["stopping"].to_dict("records"):
        (yes, _) = np.hstack(drawn["stopping", row["condition"], row["n_looks"]])
        assert [row[name] for name in ("share", "low", "high")] == interval(yes)
        assert row["published"] == {1: 0.05, 10: 0.193}[row["n_looks"]]
    assert found.facts == {
        "Test sets": "5 of fewer than 6 systems, else 3; 5 of variants and 5 of items that come in",
        "Draws of signs for the stepdown": "29",
        "Seed": "3",
    }


def test_gains_that_are_reported_are_means_over_significant_test_sets(ran: Any) -> None:
    """Algebra expects 1 - (1 - q)^m finds without a gain and a correction: q is 0.2 one-sided, 0.1 two-sided."""
    tables, drawn = ran[0].tables["variants"], ran[1]
    names = ["variants", "n_variants", "alternative", "method"]
    expected = [(name, *key) for name in ("r_05", "r_07_gain", "skewed") for key in TRIED]
    assert list(tables[names].itertuples(index=False, name=None)) == expected
    for row in tables.to_dict("records"):
        yes, gains = np.hstack(drawn[("variants", *(row[name] for name in names))])
        assert [row["n_sets"], row["n_significant"], row["alpha"]] == [5, yes.sum(), 0.2]
        assert [row[name] for name in ("share", "low", "high")] == interval(yes)
        assert row["mean_best"] == pytest.approx(gains.mean())
        assert [row["mean_reported"], row["mean_reported_se"]] == mean_and_error(gains[yes > 0])
        assert row["true_gain"] == pytest.approx({"r_05": 0, "r_07_gain": 1, "skewed": 0.25}[row["variants"]])
        q = 0.1 if row["alternative"] == TWO_SIDED else 0.2
        plain = row["variants"] == "r_05" and row["method"] == "none"
        at_all = 1 - (1 - q) ** row["n_variants"] if plain else np.nan
        assert row["expected"] == pytest.approx(at_all, nan_ok=True)


def test_figures_have_equal_systems_two_sided_and_variants_that_are_no_better(ran: Any) -> None:
    """Conditions of two numbers of systems have no panel beside one of three."""
    settings, tables = study(), ran[0].tables
    shown = STUDY.show(settings, tables)
    figures = figures_of(shown)
    (ax,) = figures["family_wise_error"].axes
    lines = drawn_lines(ax)
    assert [*lines] == ["no correction", "Holm", "Romano-Wolf"]
    rows = tables["families"].query("family == 'all pairs' and alternative == 'two-sided' and truth == 'all equal'")
    columns = ("share", "low", "high")
    for method, line in lines.items():
        own = rows[(rows["method"] == method.replace("no correction", "none")) & (rows["condition"] == ACCURACY)]
        own = own.sort_values("n_systems")
        assert line == tuple(pytest.approx(own[name].tolist()) for name in ("n_systems", *columns))
    assert ax.get_title("left") == settings.conditions[ACCURACY].title
    tried = tables["variants"].query("variants == 'r_05' and method == 'none'")
    panels = [ax for ax in figures["repeated_looks"].axes if ax.containers]
    for ax, side in zip(panels, (TWO_SIDED, NAMED), strict=True):
        own, title = tried[tried["alternative"] == side], settings.variants["r_05"].title
        assert ax.get_title("left") == side
        assert drawn_lines(ax) == {title: tuple(pytest.approx(own[name].tolist()) for name in ("n_variants", *columns))}
        dashed = [[*line.get_ydata()] for line in ax.get_lines() if line.get_linestyle() == "--"]
        assert pytest.approx(own["expected"].tolist()) in dashed
        assert 0.2 in ax.get_lines()[0].get_ydata(), "the level"
    ((title, table),) = shown.summary.items()
    assert title == "Any false claim, all systems equal"
    cells = rows.groupby(["condition", "n_systems"], sort=False)["share"].agg(lambda own: [f"{n:.3f}" for n in own])
    assert table.text().to_numpy().tolist() == [[name, str(k), *own] for (name, k), own in cells.items()]


def test_a_cell_counts_stepdown_claims_and_sets_of_ranks_as_loops_do() -> None:
    """At a level at which some claims of either sign are false."""
    settings = study(alpha=0.45)
    # The best is the last: most claims are that the second one of a pair is better.
    of = settings.conditions[ACCURACY].model_copy(update={"least": 0.85, "spread": -0.2})
    settings.conditions[ACCURACY], k, n_sets = of, 6, 8
    model = of.model("half equal", k)
    assert model.scores().round(9).tolist() == pytest.approx([65, 71.6666667, 78.3333333, 85, 85, 85])
    at = (ACCURACY, "half equal", k, 1)
    rng = np.random.default_rng(derived_seed(3, "test sets", *at))
    (drawn,) = DrawnBoards.of(model, n_sets, 40, rng)
    found = drawn.places(level=0.55, n_draws=29, seed=derived_seed(3, "signs", *at) % 2**64)
    counts: Counter[str] = Counter()
    true = model.scores().round(9)
    for one in found:
        claims = [(i, j) for i, j in product(range(k), range(k)) if one.better[i, j]]
        false = [(i, j) for i, j in claims if true[i] <= true[j]]
        counts += Counter(n_claims=len(claims), n_false=len(false), n_any_false=bool(false))
        right = sum(true[i] > true[j] for i, j in claims) / sum(a > b for a, b in product(true, true))
        counts.update(sum_power=right, sum_size=one.may_be_best.sum(), sum_held=bool(one.may_be_best[3:].all()))
    of_names = dict(zip(model.names, true, strict=True))
    for statistics in drawn.statistics:
        pairs = compared(ss.Outputs.from_statistics(statistics, "accuracy", list(model.names)), alternative="two-sided")
        pairs = pairs[(pairs["p_value"] <= 0.45) & (pairs["gain"] > 0)]
        counts["alone"] += len(pairs)
        counts["alone_false"] += int((pairs["system_a"].map(of_names) <= pairs["system_b"].map(of_names)).sum())
    cell = FAMILIES.examine(settings, *at, n_sets)
    alone = cell["claims"][0]
    assert tuple(alone.values())[:3] == ("all pairs", TWO_SIDED, "none")
    assert (alone["n_claims"], alone["n_false"]) == (counts["alone"], counts["alone_false"])
    (row,) = [row for row in cell["claims"] if row["method"] == "Romano-Wolf"]
    assert (row["family"], row["alternative"], row["n_sets"]) == ("all pairs", TWO_SIDED, n_sets)
    for name in ("n_claims", "n_false", "n_any_false"):
        assert row[name] == counts[name]
    assert row["sum_power"] == pytest.approx(float(counts["sum_power"]))
    (best,) = [row for row in cell["rank_sets"] if row["guarantee"] == "the best"]
    assert (best["n_sets"], best["sum_held"], best["sum_size"]) == (n_sets, counts["sum_held"], counts["sum_size"])


def test_tables_of_equal_systems_are_said_to_have_groups_where_any_pair_is_significant() -> None:
    settings, n_sets = study(alpha=0.4), 8
    model = settings.conditions[ACCURACY].model("all equal", 4)
    (drawn,) = DrawnBoards.of(model, n_sets, 40, np.random.default_rng(derived_seed(3, "tables", 4, 4)))
    counts: Counter[str] = Counter()
    for statistics in drawn.statistics:
        pairs = compared(ss.Outputs.from_statistics(statistics, "accuracy", list("abcd")), alternative="two-sided")
        order = np.argsort(-statistics[..., 0].sum(axis=1), kind="stable")
        p = dict(
            zip(map(frozenset, zip(pairs["system_a"], pairs["system_b"], strict=True)), pairs["p_value"], strict=True)
        )
        near = [p[frozenset("abcd"[k] for k in pair)] for pair in pairwise(order)]
        adjusted: dict[str, Any] = {"value": pairs["p_value"], "holm": pairs["p_value"].sort_values().iloc[:1] * 6,
                    "bh": stats.false_discovery_control(pairs["p_value"])}  # fmt: skip
        counts.update({f"groups, p_{name}": int((values <= 0.4).any()) for name, values in adjusted.items()})
        counts.update({"neighbours, p_value": min(near) <= 0.4, "neighbours, p_holm": 3 * min(near) <= 0.4})
    found = {
        row["claim"]: row["n_any_false"]
        for row in FAMILIES.tables(settings, 4, 4, n_sets, settings.conditions[ACCURACY])
    }
    assert found == dict(counts)
    assert len(set(found.values())) >= 3


def test_systems_of_a_family_are_more_alike_and_spread_as_their_kind_says() -> None:
    """Eleven systems are two families in turn; logarithms spread by 0.2 to 1 where they do so unequally."""
    of = SHIPPED.conditions["unequal_100"]
    matrix = of.model("all equal", 11).dependence.matrix(11)
    assert {(i % 2 == j % 2, round(float(matrix[i, j]), 9)) for i, j in combinations(range(11), 2)} == {
        (True, 0.8), (False, 0.5)
    }  # fmt: skip
    assert [margin.spread for margin in of.margins(np.ones(3))] == pytest.approx([0.2, 0.6, 1])
    assert [margin.spread for margin in SHIPPED.conditions["skewed_100"].margins(np.ones(3))] == [1, 1, 1]
    clusters = SHIPPED.conditions[CLUSTERS]
    assert clusters.model("all equal", 2).clusters.mean_size == clusters.cluster_size


def test_cells_are_computed_again_where_what_they_depend_on_changes() -> None:
    """The four parts: test sets of many systems, tables of pairs, variants, and looks at more items."""
    settings = study()
    base = settings.model_dump()
    for change, parts in (
        ({"alpha": 0.1}, {0, 1, 2, 3}), ({"seed": 4}, {0, 1, 2, 3}), ({"n_draws": 59}, {0, 2}),
        ({"conditions": base["conditions"] | {ACCURACY: base["conditions"][ACCURACY] | {"within": 0.6}}}, {0, 1, 3}),
        ({"conditions": {name: of | {"title": "other"} for name, of in base["conditions"].items()}}, set()),
        ({"groups": base["groups"] | {"condition": CLUSTERS}}, {1}),
        ({"variants": {name: of | {"n_units": 90} for name, of in base["variants"].items()}}, {2}),
        ({"looks": base["looks"] | {"corrected_sets": 4}}, {2}), ({"stopping": base["stopping"] | {"step": 9}}, {3}),
        ({"sets": base["sets"] | {"block": 3}}, {0}),
    ):  # fmt: skip
        assert known_otherwise("multiple_systems", settings, study(**change), 4) == parts, change
