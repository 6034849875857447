"""Cells of the study of Urbano, Lima and Hanjalic 2019: which models they test, what they count, what tables sum up."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.running.keys import Cell
from simstudy.studies import DataFile, derived_seed
from tests.experiments.programs import Answered, small
from tests.experiments.test_urbano_2019 import CONDITIONS, CONTROLS, MEASURES, SMALL, STUDY

SYMMETRIC = CONDITIONS.SYMMETRIC
TIED = CONDITIONS.SIGN_WITH_TIES


@dataclass(frozen=True)
class Run:
    """A margin that draws its own number: 10 times its collection plus its run, and a tenth where it was moved."""

    number: float

    @property
    def mean(self) -> float:
        return self.number / 100

    def quantile(self, uniforms: Any) -> Any:
        return self.number + 0 * uniforms

    def with_mean(self, mean: float) -> Run:
        if self.number == 14:
            raise ValueError("no such mean")
        return Run(self.number + mean / 10)


class Runs:
    """Two collections of eight runs; of the pairs of like runs the first has a margin that can not be moved."""

    study: Any = SimpleNamespace(measures={"ap": SimpleNamespace(lattice="tenths")})
    measure = "ap"

    def __init__(self) -> None:
        self.gains: list[float] = []

    def any_pair(self, rng: Any) -> tuple[int, int, int]:
        return 0, 1, 2

    def like_pair(self, gain: float, rng: Any) -> tuple[int, int, int]:
        self.gains.append(gain)
        return (1, 3, 4) if len(self.gains) == 1 else (1, 5, 6)

    def scores(self, collection: int) -> Any:
        return 10 * collection + np.arange(8.0)[:, None] + np.arange(5) ** 2 * np.arange(8)[:, None] / 1000

    def margin(self, collection: int, run: int) -> Run:
        return Run(10 * collection + run)


def fitted(fits: tuple[Any, Any], families: Any = None) -> Any:
    """A fit whose family says of which scores it is, and of which families; its copula draws 99 and 99."""
    kind = "symmetric" if SYMMETRIC in (families, fits[1]) else "all"
    named = f"{fits[0][0, 0]:g}, {fits[0][1, 0]:g}, {kind}"
    dependence = SimpleNamespace(uniforms=lambda n, systems, rng: np.full((n, systems), 99.0))
    return SimpleNamespace(family=named, dependence=dependence)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (CONDITIONS, CONTROLS):
        monkeypatch.setattr(module, "pseudo_observations", lambda scores, rng: scores)
        monkeypatch.setattr(module, "fit_families", lambda uniforms, families=None: (uniforms, families))
        monkeypatch.setattr(module, "best_fit", fitted)
    monkeypatch.setattr(CONTROLS, "fitted_margin", lambda row, lattice: Run(row[0] + 70 * (lattice == "tenths")))


def drawn(model: Any) -> list[Any]:
    return [*model.draw(3, np.random.default_rng(0))[:, 0].round(9), model.family]


def test_models_are_of_the_runs_and_families_that_their_names_say(read: None) -> None:
    """Numbers are those of the runs: 15 and 16 are like runs, and a moved margin is the mean over ten larger."""
    of, rng = Runs(), np.random.default_rng(0)
    models = CONDITIONS.null_models(of, rng)
    topics = models.pop("real topics")
    assert {name: drawn(model) for name, model in models.items()} == {
        "fitted": [1, 1, "1, 2, all"],
        "symmetric": [1, 1, "1, 2, symmetric"],
        "refitted": [1, 1, "99, 99, all"],
        "equal means": [15, 16.015, "15, 16, symmetric"],
    }
    assert of.gains == [0, 0]
    scores = of.scores(1)[[5, 6]]
    moved = np.stack([scores[0] + scores[1].mean() - scores[0].mean(), scores[1]])
    several = topics.draw(400, rng)
    assert {tuple(topic) for topic in several.T.round(9)} == {tuple(topic) for topic in moved.T.round(9)}
    assert topics.family == ""
    of = Runs()
    # The better one comes first: its mean is that of the other one and the gain.
    assert drawn(CONDITIONS.gain_model(of, 0.2, rng)) == [16.035, 15, "16, 15, all"]
    assert of.gains == [0.2, 0.2]
    of = Runs()
    controls = CONTROLS.control_models(of, rng)
    equal, exchanged = CONTROLS.CONTROLS
    assert drawn(controls[equal]) == [83, 83.083, "13, 13, symmetric"], "each margin is fitted again, to drawn topics"
    assert of.gains == [0, 0]
    gains = np.abs(np.subtract(*controls[exchanged].draw(400, rng)))
    assert len(np.unique(gains.round(9))) <= 10


@pytest.mark.parametrize(
    ("module", "kind", "names"), [(CONDITIONS, "null", CONDITIONS.NULLS), (CONTROLS, "control", CONTROLS.CONTROLS)]
)
def test_a_cell_tests_every_model_at_every_number_of_topics(
    module: Any, kind: str, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    gains = {"values": [0.05, 0.2], "n_topics": 60, "pairs": 2, "sets": 3}
    study: Any = small("urbano_2019", **{**SMALL, "gains": gains, "seed": 9})
    states, made = [], Counter[Any]()

    def model(of: Any, rng: np.random.Generator, gain: float | None = None) -> Any:
        states.append(rng.bit_generator.state)
        assert (of.measure, of.paths) == ("p10", ["here", "there"])
        made[gain] += 1
        return {name: (name, made[gain]) for name in names} if gain is None else (gain, made[gain])

    monkeypatch.setattr(module, f"{kind}_models", model)
    monkeypatch.setattr(CONDITIONS, "gain_model", lambda of, gain, rng: model(of, rng, gain))
    monkeypatch.setattr(module, "profile", lambda model, *_: {"model": model})
    monkeypatch.setattr(module, "tested", lambda models, n, sets, *_: [{"models": models, "n": n, "sets": sets}])
    examine = CONDITIONS.examine if kind == "null" else CONTROLS.examine_controls
    found = examine(study, "p10", 4, DataFile(Path("here"), ""), DataFile(Path("there"), ""))
    seed = derived_seed(9, "pairs" if kind == "null" else "controls", "p10", 4)
    assert states[0] == np.random.default_rng(seed).bit_generator.state
    assert found["profiles"] == [{"condition": name, "model": (name, k)} for name in names for k in (1, 2, 3)]
    rows = [(name, n, 0.0, [(name, k) for k in (1, 2, 3)], n, 4) for name in names for n in (25, 50)]
    if kind == "null":
        rows += [("gain", 60, gain, [(gain, k) for k in (1, 2)], 60, 3) for gain in (0.05, 0.2)]
    assert [tuple(row.values()) for row in found["rates"]] == rows
    assert [*found["rates"][0]] == ["condition", "n_topics", "gain", "models", "n", "sets"]


def test_p_values_are_counted_by_model_level_and_better_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two models with three sets of eight topics; of each set, p and the better system are those of the t test."""
    study: Any = small("urbano_2019", **{**SMALL, "alphas": [0.1, 0.4], "tie": 0.02})
    asked, scores = [], []

    def draw(n: int, rng: np.random.Generator) -> Any:
        scores.append(np.round(rng.random((2, n)) / 5, 2))
        return scores[-1]

    def p_values(sets: Any, tests: tuple[str, ...], n_resamples: int, seed: int) -> Any:
        asked.append((sets, tests, n_resamples, seed))
        found = {
            (test, side): stats.ttest_rel(sets[:, 0], sets[:, 1] + k / 100, axis=1, alternative=side).pvalue
            for k, test in enumerate(tests)
            for side in ("two-sided", "greater")
        }
        return found, SimpleNamespace(first_is_better=sets[:, 0].mean(axis=1) >= sets[:, 1].mean(axis=1))

    monkeypatch.setattr(CONDITIONS, "p_values", p_values)
    rows = CONDITIONS.tested([CONDITIONS.Model(draw, "")] * 2, 8, 3, study, np.random.default_rng(5))
    (sets, tests, *more), (tied, sign, *others) = asked
    assert (tests, sign, more, more[0]) == (CONDITIONS.TESTS, ("sign",), others, 99)
    np.testing.assert_array_equal(sets, np.stack([s[:, 8 * k : 8 * k + 8] for s in scores for k in range(3)]))
    close = np.abs(sets[:, 0] - sets[:, 1]).round(9) <= 0.02
    assert 0 < close.sum() < close.size
    np.testing.assert_array_equal(tied[:, 0], np.where(close, sets[:, 1], sets[:, 0]))
    np.testing.assert_array_equal(tied[:, 1], sets[:, 1])
    wanted = []
    told, better = p_values(sets, tests, 0, 0)
    told |= {(TIED, side): p for (_, side), p in p_values(tied, sign, 0, 0)[0].items()}
    for (test, side), p in told.items():
        for alpha in (0.1, 0.4):
            each, wrong = ((p <= alpha) & which for which in (True, ~better.first_is_better))
            each, wrong = each.reshape(2, 3).sum(axis=1), wrong.reshape(2, 3).sum(axis=1)
            counts = [each.sum(), (each**2).sum(), wrong.sum(), (wrong**2).sum()]
            wanted.append([test, side, alpha, 2, 6, *counts])
    assert [[*row.values()] for row in rows] == wanted
    assert sum(row["n_wrong"] for row in rows) > 0


def made_up(cell: Cell) -> Any:
    """Rates of four sets of each of three pairs, counted by pair, and profiles of the pairs."""
    _, measure, batch = cell.arguments[:3]
    control = "controls" in cell.label
    rng = np.random.default_rng([len(measure), batch, control])
    names = CONTROLS.CONTROLS if control else CONDITIONS.NULLS
    keys: list[Any] = [(name, n, 0.0) for name in names for n in (25, 50)]
    rates = []
    keys += [("gain", 50, 0.05)] * (not control)
    for (name, n, gain), test, side, alpha in product(keys, ("t_paired", TIED), ("two-sided", "greater"), (0.05, 0.1)):
        each = rng.integers(0, 5, size=3)
        wrong = rng.integers(0, each + 1)
        row = {"condition": name, "n_topics": n, "gain": gain, "test": test, "alternative": side, "alpha": alpha}
        row |= {"n_pairs": 3, "n_sets": 12, "n_rejected": each.sum(), "squares": (each**2).sum()}
        rates.append({**row, "n_wrong": wrong.sum(), "wrong_squares": (wrong**2).sum()})
    shape = ["balance", "unequal", "balance_beyond_ties", "unequal_beyond_ties", "skewness"]
    profiles = [
        {"condition": name, "family": "" if name == "real topics" else str(rng.choice(["tawn1", "frank", "t"])),
         **dict(zip(shape, (*rng.uniform([-0.4, 0.5, -0.3, 0.4], [0.4, 1, 0.3, 1]), rng.normal()), strict=True))}
        for name in names for _ in range(3)
    ]  # fmt: skip
    return {"rates": rates, "profiles": profiles}


def test_tables_sum_up_the_cells_in_the_order_of_the_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two batches of two measures, and the controls of each; the rate that follows from a balance is made up."""
    monkeypatch.setattr(STUDY, "sign_rate", lambda balance, unequal, n, level: n * balance.mean() + level)
    (tmp_path / "trec_urbano").mkdir()
    paths = {name: tmp_path / "trec_urbano" / f"{name}.csv.gz" for name in ("two", "one")}
    for name, path in paths.items():
        path.write_text(name)
    measures = {"p10": {**MEASURES["p10"], "collections": ["two", "one"]}, "ap": MEASURES["ap"]}
    changes: dict[str, Any] = {**SMALL, "measures": measures, "batches": 2, "seed": 3}
    run = Answered(made_up, tmp_path)
    found = STUDY.run(small("urbano_2019", **changes), run)
    asked = [run.parts[title] for title in ("batches of pairs of runs", "controls")]
    assert [function for function, _ in asked] == [STUDY.examine, STUDY.examine_controls]
    cells = [cell for _, of_part in asked for cell in of_part]
    assert [cell.arguments[1:3] for cell in cells] == [(m, b) for m in measures for b in range(2)] * 2
    assert cells[0].arguments[3:] == tuple(DataFile.of(path) for path in paths.values())
    rows, profiles = (
        pd.DataFrame([{"measure": cell.arguments[1], **row} for cell in cells for row in made_up(cell)[kind]])
        for kind in ("rates", "profiles")
    )
    keys = ["measure", "condition", "n_topics", "gain", "test", "alternative", "alpha"]
    wanted = rows.groupby(keys).sum()
    for count, squares, share in (("n_rejected", "squares", ""), ("n_wrong", "wrong_squares", "wrong_")):
        limits = STUDY.by_pair(wanted[count], wanted[squares], 6, 24)
        wanted[[f"{share}low", f"{share}high"]] = np.transpose(limits)
        wanted[share.rstrip("_") or "share"] = wanted[count] / 24
    both = found.tables["rates"].assign(gain=0.0), found.tables["gains"].assign(condition="gain")
    ours = [own.set_index(keys) for own in both]
    for own in ours:
        pd.testing.assert_frame_equal(own, wanted.loc[own.index, list(own)], check_dtype=False)
    left = wanted.drop([*ours[0].index, *ours[1].index]).reset_index()
    assert set(zip(left["condition"], left["alpha"], strict=True)) == {("gain", 0.05)}, "of gains at the level only"
    assert set(wanted.columns) - set(ours[1]) == {"squares", "wrong_squares"}
    for title in ("rates", "gains", "shapes", "published"):
        assert [*dict.fromkeys(found.tables[title]["measure"])] == [*measures]
    shapes = found.tables["shapes"].set_index(["measure", "condition"])
    for (measure, condition), own in profiles.groupby(["measure", "condition"]):
        shape: dict[str, Any] = {"n_pairs": 6, "skewness": own["skewness"].abs().mean()}
        shape["asymmetric"] = (own["family"] == "tawn1").mean()
        for end in ("", "_beyond_ties"):
            square, unequal = (own[f"balance{end}"] ** 2).mean(), own[f"unequal{end}"].mean()
            shape |= {f"balance{end}": np.sqrt(square - (unequal - square) / 400), f"unequal{end}": unequal}
        for n in (25, 50):
            share = wanted.loc[(measure, condition, n, 0.0, TIED, "two-sided", 0.1), "share"]
            shape |= {f"predicted_{n}": n * own["balance_beyond_ties"].mean() + 0.1, f"sign_{n}": share}
        assert shapes.loc[(measure, condition)].to_dict() == pytest.approx(shape)
    chosen = profiles[profiles["family"] != ""].groupby(["measure", "condition", "family"]).size()
    families = found.tables["families"]
    assert families.set_index(["measure", "condition", "family"])["n_pairs"].to_dict() == chosen.to_dict()
    order = [*zip(families["measure"], families["condition"], -families["n_pairs"], strict=True)]
    assert order == sorted(order)
    assert found.facts["Test sets"].startswith("24 for each measure, null hypothesis and number of topics, of 6 pairs")
    study = small("urbano_2019", **changes).model_dump()
    keys = ["seed", "n_topics", "n_resamples", "alphas", "tie", "dropped", "neighbours", "profile", "null", "gains"]
    for cell in cells:
        given, measure, _, *files = cell.arguments
        of = study["measures"][measure]
        assert [file.path for file in files] == [paths[name] for name in of["collections"]]
        assert {*vars(given)} - {"measures"} <= {*keys}
        assert given.measures.keys() == {measure}
        assert given.measures[measure].lattice == of["lattice"]
