"""The study of error rates, small."""

from __future__ import annotations

from typing import Any

from tests.experiments.programs import program, small

SETTINGS, ASKED, TABLES, CHOICES = (
    program("error_rates", part) for part in ("settings", "conditions", "tables", "choices")
)
DEPENDENT_SYSTEMS, DEPENDENT_UNITS, NULL = SETTINGS.DEPENDENT_SYSTEMS, SETTINGS.DEPENDENT_UNITS, SETTINGS.NULL
CONDITIONS = small("error_rates").conditions  # type: ignore[attr-defined]

NULLS = [name for name, condition in CONDITIONS.items() if condition.null]
# One condition of each kind: others differ from these in parameters only.
KINDS = [
    "accuracy", "accuracy_easy", "ratings_means", "ap_asymmetric", "skewed_means", "clusters", "f1", "f1_opposite",
    "precision_few", "bleu_short", "clusters_growing", "accuracy_gain", "ratings_gain", "ratings_clusters_gain",
    "f1_gain",
]  # fmt: skip
SMALL: dict[str, Any] = {
    "n_units": [6, 40], "shown": [40], "batches": 2, "sets": 12, "n_resamples": 99, "many_units": 1000,
    "batches_of_many": 1, "bands": [[5, 10], [40, 50]],
}  # fmt: skip
KEYS = ["condition", "unit", "n_units"]


def study(conditions: list[str] | None = None, **changes: Any) -> Any:
    if conditions is not None:
        changes["conditions"] = {name: CONDITIONS[name].model_dump() for name in conditions}
    return small("error_rates", **{**SMALL, "aims": {"from_units": 40}, **changes})


def examine(some: Any, name: str, n_units: int, batch: int) -> Any:
    """What a cell of the study finds."""
    return ASKED.examine(some, name, n_units, batch, n_units in some.shown, n_units == some.shown[0])


VIEWS = [(name, unit) for name in KINDS for unit in CONDITIONS[name].pair.units]
