"""The study of error rates, small, and its modules."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from simstudy.studies import load_study
from tests.experiments.programs import program, small

MODELS, TABLES, PAGE = (program("error_rates", part) for part in ("models", "tables", "page"))
SHIPPED: Any = load_study("error_rates")
LEVELS = SHIPPED.factors["condition"]
PAIRS = {name: MODELS.model(level) for name, level in LEVELS.items()}
NULLS = [name for name, pair in PAIRS.items() if abs(pair.true_gain) < 1e-9]

# The condition accuracy_gain, with the better system second.
TURNED = LEVELS["accuracy_gain"] | {"title": "turned", "accuracies": [0.8, 0.83]}


def study(conditions: list[str], n_units: list[int], page: dict[str, Any], **changes: Any) -> Any:
    """A study with these conditions, of which one may be "turned", and some values of the page."""
    levels = {name: LEVELS.get(name, TURNED) for name in conditions}
    texts = deepcopy(SHIPPED.page)
    texts["situations"]["right or wrong"].append("turned")
    texts["systems"]["turned"] = "Turned"
    texts["aims"] |= page.pop("aims", {})
    factors = {"n_units": n_units, "condition": levels}
    return small("error_rates", **{"factors": factors, "rules": [], "page": texts | page, **changes})
