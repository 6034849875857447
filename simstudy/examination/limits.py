"""What a comparison does not show, in sentences that hold for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simstudy.examination.rows import sides
from simstudy.metrics import label
from simstudy.outputs.samples import SAMPLE_OF, has_samples
from simstudy.statistics.decisions import Decision

if TYPE_CHECKING:
    from simstudy.examination.examination import Examination
    from simstudy.outputs import Outputs


def limits(found: Examination) -> list[str]:
    """Sentences on chance among many pairs, on items, clusters, training and what the metric measures."""
    pairs, outputs = found.pairs.frame, found.outputs
    said, one_sided = [], sides(found) == "one-sided"
    if len(pairs) > 1:
        said.append("The intervals of gains and column p are for one pair that was chosen beforehand.")
    if len(pairs) > 1 and not one_sided:
        said[-1] += f" For a pair that the results suggested, use p (Holm), corrected for all {len(pairs):,} pairs."
    if one_sided:
        said.append("One-sided p-values, corrected or not, are valid only for pairs whose better system was predicted.")
    if not Decision(found.alpha).significant(pairs).all():
        said.append("A gain that is not significant is not shown to be zero: the test set may be too small to tell.")
    unit = str(pairs["unit"].iloc[0])
    said.append(
        "The results are for items like these. Items of another domain or language may give another answer."
        if unit in ("item", SAMPLE_OF)
        else "The results are for items and clusters like these. Another domain or language may give another answer."
    )
    if unit == "item" and outputs.natural_unit == "item":
        said.append(
            "No clusters of items are known, such as documents. If items depend on each other, the intervals are too "
            "narrow and the p-values too small."
        )
    said += one_by_one(outputs, unit)
    again = "trained again" if has_samples(outputs) else "trained or run again"
    said.append(f"How much a score would change if a system were {again} is not part of the intervals.")
    said.append(f"The tests are about {label(found.test_set.metric)}. They do not say whether people notice a gain.")
    return said


def one_by_one(outputs: Outputs, unit: str | None) -> list[str]:
    """Items of clusters that were tested one by one: what this is worth. Of samples of one question a note says it."""
    if unit != "item" or outputs.natural_unit == "item" or has_samples(outputs):
        return []
    return [
        "The items come in clusters, but they were resampled one by one. If items of a cluster depend on each other, "
        "the intervals are too narrow and the p-values too small."
    ]
