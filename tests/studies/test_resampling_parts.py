"""The parts of a study of resampled systems: each gets the pairs, the test sets and the settings that are its own."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy.outputs import Outputs, TestSet
from simstudy.studies import RunContext, StudyError, make_study
from simstudy.studies.resampling import overlay, study, test_sets
from simstudy.studies.resampling.definition import ResamplingStudy
from tests.studies.conftest import tags

CONTENT: dict[str, Any] = {
    "name": "n", "title": "T", "question": "Q?", "task": "digits", "seed": 6,
    "comparison": {"test": "bootstrap", "n_resamples": 70, "alternative": "greater", "unit": "item"},
    "home": {"test_set": "home", "sizes": [10, 20]},
    "domains": {"test_sets": ["away", "mixed / y"], "size": 8, "n_splits": 4},
    "calibration": {"population": ["away", "mixed"], "size": 9, "unit": "cluster", "n_draws": 3, "n_resamples": 80},
}  # fmt: skip


def asked(**sections: Mapping[str, Any] | None) -> ResamplingStudy:
    content = {name: {**CONTENT[name], **part} for name, part in sections.items() if part is not None}
    made = make_study(
        {key: value for key, value in {**CONTENT, **content}.items() if sections.get(key, value) is not None}, "here"
    )
    assert isinstance(made, ResamplingStudy)
    return made


@pytest.fixture
def outputs(rng: np.random.Generator) -> dict[str, Outputs]:
    """Four systems on test sets of 24, 12 and 24 items."""

    def made(name: str, n: int) -> Outputs:
        right = (rng.random((4, n)) < np.array([0.4, 0.5, 0.7, 0.9])[:, None]).astype(int)
        items = {
            "id": [f"{name}{k}" for k in range(n)],
            "domain": ["x", "y"] * (n // 2),
            "cluster": [k // 2 for k in range(n)],
        }
        systems = {"name": list("abcd"), "family": list("ffgg"), "train_size": [1000, 50, 1000, 50]}
        statistics = np.stack([right, np.ones_like(right)], axis=-1)
        return Outputs.from_statistics(
            statistics, "accuracy", pd.DataFrame(systems), pd.DataFrame(items), test_set=name
        )

    return {name: made(name, n) for name, n in {"home": 24, "away": 12, "mixed": 24}.items()}


Heard = list[tuple[str, list[TestSet]]]


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Heard:
    """Comparisons as they are asked for; each gives a row with the name and the size of its test set."""
    found: Heard = []

    def compare(title: str, asked: list[TestSet], context: RunContext) -> list[pd.DataFrame]:
        found.append((title, asked))
        return [pd.DataFrame({"test_set": [one.name], "n_items": [one.outputs.n_items]}) for one in asked]

    monkeypatch.setattr(study, "run_comparisons", compare)
    return found


CONTEXT = RunContext(Path(), 1)
OPTIONS = {
    "test": "bootstrap", "n_resamples": 70, "alternative": "greater", "unit": "item", "convention": "default",
    "monte_carlo": False, "strata": None, "seed": 6,
}  # fmt: skip


@pytest.mark.parametrize(
    ("domains", "compares"),
    [
        ({}, [("home", 8), ("home", 10), ("home", 20), ("away", 8), ("mixed / y", 8)]),
        ({"curves": ["away"]}, [("home", 8), ("home", 10), ("home", 20), ("away", 8)]),
        ({"size": 10}, [("home", 10), ("home", 20), ("mixed / y", 10), ("away", 10)]),
        (
            {"home": "mixed / x"},
            [("home", 10), ("home", 20), *[("mixed / x", n) for n in (8, 12)], ("mixed / y", 8), ("away", 8)],
        ),
        (None, [("home", 10), ("home", 20)]),
    ],
)
def test_home_is_compared_at_all_sizes_and_the_domains_at_one(
    outputs: dict[str, Outputs], heard: Heard, domains: dict[str, Any] | None, compares: list[tuple[str, int]]
) -> None:
    pairs = study._compare_all(asked(domains=domains), outputs, CONTEXT)
    ((title, found),) = heard
    assert title == "comparing systems"
    mine = [(one.name, one.outputs.n_items) for one in found]
    assert [each for each in mine if each[0] == "home"] == [each for each in compares if each[0] == "home"]
    assert mine.index(("home", 20)) < min([mine.index(each) for each in mine if each[0] != "home"], default=99)
    assert sorted(mine) == sorted(compares)
    assert list(pairs.itertuples(index=False, name=None)) == mine
    assert all(one.options == OPTIONS for one in found)


def test_other_metrics_are_compared_at_home_at_all_sizes(outputs: dict[str, Outputs], heard: Heard) -> None:
    study._compare_home(asked(), outputs, CONTEXT)
    ((title, found),) = heard
    assert title == "the same by accuracy"
    assert [(one.name, one.outputs.n_items) for one in found] == [("home", 10), ("home", 20)]
    assert all(one.options == OPTIONS for one in found)


@pytest.mark.parametrize("unit", ["cluster", None])
def test_redrawn_test_sets_are_of_the_joined_population_with_settings_of_their_own(
    outputs: dict[str, Outputs], monkeypatch: pytest.MonkeyPatch, unit: str | None
) -> None:
    found: list[Any] = []
    monkeypatch.setattr(study, "compare_redrawn", lambda *given: found.append(given))
    monkeypatch.setattr(study, "calibration", lambda *given, **options: (given, options))
    made = asked(calibration={"unit": unit} if unit else None) if unit else asked()
    if unit is None:
        part = {key: value for key, value in CONTENT["calibration"].items() if key != "unit"}
        made = made.model_copy(update={"calibration": type(made.calibration)(**part)})  # type: ignore[misc]
    tables: Any = study._redrawn(made, outputs, CONTEXT)
    ((population, size, n_draws, context),) = found
    assert (size, n_draws, context) == (9, 3, CONTEXT)
    assert population.outputs.n_items == 12 + 24
    assert population.options == {**OPTIONS, "n_resamples": 80, "unit": unit or "item"}
    (pairs, elsewhere), options = tables["calibration_identical"]
    assert (pairs, elsewhere["population"]) == (None, population.outputs)
    assert options == {"population": True, "seed": 6}
    assert study._redrawn(asked(calibration=None), outputs, CONTEXT) == {}


@pytest.mark.parametrize("home", [None, "mixed / x"])
def test_winners_are_followed_from_the_home_of_the_domains(
    outputs: dict[str, Outputs], monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    """Both the calibration and its baseline: by default the home test set at its largest size."""
    found: dict[str, Any] = {}

    def calibration(pairs: pd.DataFrame, elsewhere: dict[str, Outputs], **options: Any) -> str:
        found["domains"] = pairs, {name: one.n_items for name, one in elsewhere.items()}, options
        return "domains"

    monkeypatch.setattr(
        study, "baseline", lambda *given, **options: found.update(baseline=(given, options)) or "halves"
    )
    monkeypatch.setattr(study, "calibration", calibration)
    monkeypatch.setattr(study, "with_baseline", lambda table, halved: (table, halved))
    made = asked(domains={"home": home} if home else {})
    pairs = pd.DataFrame({"test_set": ["home", "home", "away", "mixed / x"], "n_items": [10, 20, 20, 12]})
    tables: Any = study._across_domains(made, outputs, pairs, CONTEXT)
    (test_set, sizes), options = found["baseline"]
    whole = ("mixed / x", 12) if home else ("home", 20)
    assert (test_set.name, test_set.outputs.n_items) == whole
    assert test_set.options == OPTIONS
    assert sizes == {"away": 12, "mixed / y": 12}
    assert options == {"n_splits": 4, "context": CONTEXT}
    assert tables == {"calibration_domains": ("domains", "halves")}
    followed, elsewhere, options = found["domains"]
    assert list(followed.itertuples(index=False, name=None)) == [whole]
    assert (elsewhere, options) == (sizes, {"seed": 6})
    assert study._across_domains(asked(domains=None), outputs, pairs, CONTEXT) == {}


def test_test_sets_are_found_by_name_and_by_domain(outputs: dict[str, Outputs]) -> None:
    assert test_sets.find(outputs, "mixed") is outputs["mixed"]
    part = test_sets.find({**outputs, "a / b": outputs["mixed"]}, "a / b / y")
    assert (part.test_set, part.items["id"].tolist()) == ("a / b / y", [f"mixed{k}" for k in range(1, 24, 2)])
    assert test_sets.find({"a / b": outputs["away"]}, "a / b") is outputs["away"]


@pytest.mark.parametrize(
    ("home", "name", "shared"),
    [
        ("mixed", "mixed / x", True), ("mixed / x", "mixed", True), ("mixed / x", "mixed / x", True),
        ("mixed / x", "mixed / y", False), ("home", "mixed / x", False), ("mixed / x", "away", False),
    ],
)  # fmt: skip
def test_no_other_test_set_may_have_items_of_home(home: str, name: str, shared: bool) -> None:
    """A test set has the items of its domains; two of its domains have none together."""
    said = f"study 'n': domains.test_sets: '{name}' and the home test set '{home}' share items"
    with pytest.raises(StudyError, match=f"^{said}$") if shared else nullcontext():
        test_sets.check(asked(domains={"home": home, "test_sets": [name]}, calibration=None), tags(None))


def test_facts_say_what_was_run(outputs: dict[str, Outputs]) -> None:
    pairs = pd.DataFrame(
        {
            "test": "bootstrap", "alternative": "greater", "unit": "cluster", "computation": "resampled",
            "exact_level": False,
            "convention": "default", "strata": None, "seed": 6, "n_resamples": 70, "n_units": [5, 1210, 6],
            "test_set": ["home", "home", "away"], "n_items": [10, 2420, 8],
        }
    )  # fmt: skip
    other = {name: one.with_metric("accuracy") for name, one in outputs.items()}
    facts = study._facts(asked(), {"accuracy": outputs, "other": other}, pairs)
    assert facts["Systems"] == "4: 2 f, 2 g"
    assert facts["Training items drawn with replacement"] == "1,000, 50"
    assert facts["Test"].endswith("; units are clusters (1,210 on the whole home test set)")
    assert "one-sided" in facts["Test"]
    assert facts["Metric"] == "accuracy; thresholds also by accuracy"
    assert facts["Seed"] == "6"
    by_items = study._facts(asked(), {"accuracy": outputs}, pairs.assign(unit="item"))
    assert by_items["Test"].endswith("; units are items")
    assert by_items["Metric"] == "accuracy"


def test_every_system_has_its_score_on_every_test_set_by_every_metric(outputs: dict[str, Outputs]) -> None:
    one = study._systems({"accuracy": outputs})
    assert one["name"].tolist() == list("abcd")
    assert one.columns.tolist()[-3:] == [f"score on {name}" for name in outputs]
    for name, found in outputs.items():
        np.testing.assert_allclose(one[f"score on {name}"], found.scores())
    ones = pd.DataFrame(np.ones((6, 4)), columns=list("abcd"))
    by_mean = {name: Outputs.from_scores(ones, "mean", test_set=name) for name in outputs}
    several = study._systems({"accuracy": outputs, "mean": by_mean})
    assert several.columns.tolist()[-6:] == [f"{what} on {name}" for what in ("accuracy", "mean") for name in outputs]
    assert set(several["mean on away"]) == {1.0}


@pytest.mark.parametrize("given", ["", "at hand", "public"])
def test_natural_outputs_are_read_as_the_context_allows(
    monkeypatch: pytest.MonkeyPatch, outputs: dict[str, Outputs], tmp_path: Path, given: str
) -> None:
    found: list[Any] = []

    def read(*asked: Any, **options: Any) -> tuple[list[TestSet], dict[str, str]]:
        found.append((asked[:3], options))
        return [TestSet(outputs["home"], notes=("a note",), duplicates="drop")], {"set/a.csv": "hash"}

    kept = {"keep": outputs["home"], "drop": outputs["home"].select(list("abc"))}
    monkeypatch.setattr(overlay, "read_all", read)
    monkeypatch.setattr(overlay, "distinct", lambda one, duplicates: (kept[duplicates], one))
    monkeypatch.setattr(overlay, "registry", lambda: {"set/gold.txt": "address"} if given == "public" else {})
    content: dict[str, Any] = {"name": "others", "metric": "accuracy", "each": ["x"]}
    content |= {"paths": ["set/{}_{metric}.csv"], "references": ["set/gold.txt"]}
    made = make_study({**CONTENT, "natural": content}, "here")
    assert isinstance(made, overlay.OverlaidStudy)
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "x_accuracy.csv").touch()
    # A user's study has files beside its study.toml too.
    home = tmp_path / "study"
    (home / "set").mkdir(parents=True)
    if given == "at hand":
        (home / "set" / "gold.txt").touch()
    made_of = overlay.natural_outputs(made, RunContext(tmp_path, 1, tmp_path, True, home=home))
    if given:
        assert found == [(("n", [made.natural], tmp_path), {"allow_outside": True, "home": home})]
        assert made_of == (kept["drop"], {"set/a.csv": "hash"}, "3 systems on others, 24 items; a note")
    else:
        said = "others is left out: set/gold.txt has no public address and is not at hand"
        assert (made_of, found) == ((None, {}, said), [])


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_thresholds_are_by_all_kinds_and_fitted_at_home(monkeypatch: pytest.MonkeyPatch, alternative: str) -> None:
    """Of one-sided p-values two-sided ones too; by items too where these are no units."""
    monkeypatch.setattr(study, "two_sided", lambda pairs: pairs.assign(alternative="two-sided"))
    monkeypatch.setattr(study, "size_fit", lambda rows: rows.assign(fit=4.0))
    monkeypatch.setattr(
        study, "thresholds", lambda pairs, seed: pairs[["test_set"]].assign(threshold=5.0 if seed == 6 else 0)
    )
    pairs = pd.DataFrame({"test_set": ["home", "away"], "alternative": alternative, "unit": "cluster"})
    made = asked(comparison={"alternative": alternative})
    found = study._thresholds(made, pairs, pairs.head(1).assign(unit="item"), [])
    sides = ["greater", "two-sided"] if alternative == "greater" else ["two-sided"]
    assert found[["test_set", "unit", "alternative", "fit"]].fillna(0).to_numpy().tolist() == [
        row for side in sides
        for row in (["home", "cluster", side, 4], ["away", "cluster", side, 0], ["home", "item", side, 0])
    ]  # fmt: skip
    assert set(found["threshold"]) == {5}
    assert set(found["residual"].dropna()) == {0.25}
    alone = study._thresholds(made, pairs.head(1), None, [])
    assert alone[["unit", "alternative"]].to_numpy().tolist() == [["cluster", side] for side in sides]
    others = study._thresholds(made, pairs.head(1), None, [pairs.head(1).assign(unit="other")]).tail(len(sides))
    assert others[["unit", "alternative", "fit"]].to_numpy().tolist() == [["other", side, 4] for side in sides]
