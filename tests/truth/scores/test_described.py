"""Pairs of systems that are described in tables, for studies."""

from __future__ import annotations

import tomllib
from typing import Any

import numpy as np
import pytest

from simstudy.metrics import METRICS
from simstudy.truth import PAIR_MODELS
from simstudy.truth.known import Scores
from simstudy.truth.scores import Beta, Clayton, ItemClusters, Khoudraji, ScoreModel

TABLE = """
scored_by = "ap"
gain = 0
null = "equal means"
margins = [{ kind = "Beta", average = 0.2, concentration = 2 }, { kind = "Beta", average = 0.3, concentration = 6 }]
dependence = { kind = "Khoudraji", shares = [0.9, 0.5], of = { kind = "Clayton", theta = 3.0 } }
clusters = { correlation = 0.2, size = 3 }
"""


def _described(**changed: Any) -> Any:
    # Studies hand over lists as tuples.
    given = {**tomllib.loads(TABLE), **changed}
    return PAIR_MODELS["Scores"](
        **{name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    )


def test_a_table_makes_the_model() -> None:
    pair = _described()
    model = ScoreModel(
        [Beta(0.3, 2), Beta(0.3, 6)], Khoudraji(Clayton(3.0), (0.9, 0.5)), ItemClusters(0.2, 3), metric="ap"
    )
    one, other = (of.draw(4, 6, np.random.default_rng(0)).statistics for of in (pair, model.pair()))
    np.testing.assert_array_equal(one, other)
    assert (pair.metric, pair.units, pair.true_gain, pair.exchangeable) == ("ap", ("cluster", "item"), 0, False)
    METRICS["ap"].check(one.reshape(8, -1, 2))


def test_exchangeable_needs_equal_margins_and_symmetry() -> None:
    assert not _described(null="equal margins").exchangeable
    assert _described(null="equal margins", dependence={"kind": "Gumbel", "theta": 2}).exchangeable
    assert not _described(dependence={"kind": "Gumbel", "theta": 2}).exchangeable


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"margins": [{"kind": "Beta"}]}, "margins must be two tables"),
        ({"margins": [{"kind": "Beta"}] * 2}, "margins must have the parameters of Beta"),
        ({"margins": [{"kind": "beta"}] * 2}, "margins.kind must be one of"),
        ({"dependence": {"kind": "Survival", "of": {"kind": "Frank"}}}, "dependence.of.kind must be one of"),
        ({"dependence": 0.5}, "dependence must be a table with kind"),
        ({"gain": 0.8}, "gain must be from -0.3 to 0.7"),
        ({"scored_by": "bleu"}, "metric must take one score of an item"),
    ],
)
def test_bad_input(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _described(**changed)
    assert Scores.__name__ in PAIR_MODELS
