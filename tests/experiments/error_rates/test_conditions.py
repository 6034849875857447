"""What is drawn and counted of a batch, against `compare`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.engines.drawn_pairs import DrawnPairs, p_values
from simstudy.engines.registry import TESTS
from simstudy.studies import StudyError
from tests.experiments.error_rates.small import CONDITIONS, NULLS, SMALL, VIEWS
from tests.experiments.programs import small
from tests.oracles import compared


@pytest.mark.parametrize(("name", "unit"), VIEWS)
def test_many_test_sets_in_one_question_are_many_questions(name: str, unit: str) -> None:
    """p-values, the order of the two systems and intervals are those of `compare` on each test set alone."""
    model, n_sets, seed = CONDITIONS[name].pair, 2, 11
    statistics = model.draw(n_sets, 35, np.random.default_rng(3)).by(unit)
    drawn = DrawnPairs(statistics, model.metric, n_resamples=199, seed=seed)
    question = replace(drawn.question, alternative="two-sided")
    systems = ["first", "second"]
    alone = [ss.Outputs.from_statistics(of_set, model.metric, systems) for of_set in statistics]
    applied = 0
    for test in TESTS:
        way = drawn.is_resampled(test)
        found = p_values(replace(question, monte_carlo=way), test)
        if found is None:
            with pytest.raises(ValueError, match=f"test '{test}'"):
                compared(alone[0], test=test)
            continue
        applied += 1
        rows = pd.concat(compared(of_set, test=test, n_resamples=199, seed=seed, monte_carlo=way) for of_set in alone)
        np.testing.assert_allclose(found, rows["p_value"], rtol=1e-9, err_msg=test)
    assert applied >= 3
    assert rows["system_a"].tolist() == [systems[better % 2] for better in question.pairs[0]]


@pytest.mark.parametrize("name", NULLS)
def test_conditions_are_exchangeable_and_independent_where_they_say_so(name: str) -> None:
    """Item statistics' means and squares are alike where systems could be exchanged; correlations are 0 or not."""
    condition = CONDITIONS[name]
    # Precisions have little in common where nearly all candidates are true.
    n = 1_000_000 if condition.model == "Acceptances" else 100_000
    drawn = condition.pair.draw(1, n, np.random.default_rng(8)).by(condition.pair.units[0])[0].astype(float)
    first, second = drawn
    features = [first - second, first**2 - second**2, first**2 * second - first * second**2]
    z = np.abs([f[:, s].mean() / max(f[:, s].std(), 1e-9) for f in features for s in range(drawn.shape[2])])
    assert (z.max() < 5.5 / np.sqrt(n)) == condition.pair.exchangeable
    # A constant score is correlated with nothing.
    correlation = np.corrcoef(first[:, 0], second[:, 0])[0, 1] if second[:, 0].std() else 0.0
    assert (abs(correlation) < 5.5 / np.sqrt(n)) == condition.pair.independent


def test_true_gains_are_exactly_nought_or_what_titles_say() -> None:
    gains = {name: condition.pair.true_gain for name, condition in CONDITIONS.items()}
    assert [name for name in gains if name.endswith("_gain")] == [name for name in CONDITIONS if name not in NULLS]
    assert max(abs(gains[name]) for name in NULLS) < 1e-12
    for name in set(gains) - set(NULLS):
        assert re.search(rf"\+{gains[name]:.2g}( point|$)", CONDITIONS[name].title)


BAD = {
    "title": "T",
    "situation": "right or wrong",
    "systems": "S",
    "model": "RightOrWrong",
    "parameters": {"accuracy": [0.8, 0.8], "between": 0.5},
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"conditions": {"f2": BAD | {"model": "Coins"}}}, "conditions.f2.model: it must be one of Acceptances, Clus"),
        ({"conditions": {"f2": BAD}}, "conditions.f2: parameters are not those of RightOrWrong: "),
        ({"conditions": {"f2": BAD | {"parameters": {}}}}, "conditions.f2: parameters are not those of RightOrWrong: "),
        ({"conditions": {}}, "conditions: dictionary should have at least 1 item"),
        ({"alphas": [0.01]}, "alpha must be one of alphas, not 0.05 of [0.01]"),
        ({"bands": [[10, 5]]}, "bands.0: it must be a lower and an upper bound, not (10, 5)"),
        ({"tests": ["t_test"]}, "tests.0: it must be one of sign_flips, bootstrap"),
        ({"shown": [40, 50]}, r"shown must be some of n_units, not [40, 50] of [6, 40]"),
        ({"n_units": [1, 40]}, "n_units.0: input should be greater than or equal to 2, not 1"),
        ({"aims": {"target": [0.03, 1.2]}}, "aims.target.1: input should be less than or equal to 1, not 1.2"),
        ({"set": 3}, "unknown key 'set' (did you mean 'sets'?)"),
    ],
)
def test_wrong_keys_and_values_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError) as error:
        small("error_rates", **{**SMALL, **changes})
    assert message in str(error.value)
