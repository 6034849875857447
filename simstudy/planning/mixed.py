"""Differences that are made of others: of many pairs of systems, and of items that come in units."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from simstudy.metrics.base import FloatArray
from simstudy.planning.designs import Design
from simstudy.planning.differences import Detection, Difference, NormalDifference
from simstudy.planning.level import Level
from simstudy.planning.right_or_wrong import RightOrWrongDifference

# Pairs are put into so many classes of equal size by their spread; more change a power by less than 0.001.
_CLASSES = 15


@dataclass(frozen=True)
class MixedDifference(Difference):
    """Many pairs of systems, one as likely as the other: what is found is the mean over them.

    Attributes
    ----------
    parts
        The differences of the pairs. Where one cannot have a true gain as large as another, it is taken to have just
        this gain on the units that differ.
    """

    parts: tuple[Difference, ...]

    @property
    def largest(self) -> float:
        return max(part.largest for part in self.parts)

    def sd_of(self, gain: float) -> float:
        return float(np.sqrt(np.mean([part.allowing(gain).sd_of(gain) ** 2 for part in self.parts])))

    def power(self, gain: float, n: int, level: Level) -> float:
        return float(np.mean([part.allowing(gain).power(gain, n, level) for part in self.parts]))

    def within(self, gain: float, margin: float, n: int, tail: float, *, both: bool) -> float:
        each = [part.allowing(abs(gain)).within(gain, margin, n, tail, both=both) for part in self.parts]
        return float(np.mean(each))

    def detection(self, gain: float, n: int, level: Level) -> Detection:
        each = [part.allowing(gain).detection(gain, n, level) for part in self.parts]
        significant = np.array([one.power + one.wrong for one in each])
        sizes = np.array([one.exaggeration for one in each])
        known = significant > 0
        larger = float(significant[known] @ sizes[known] / significant.sum()) if known.any() else np.nan
        power, wrong, worse = (
            float(np.mean([getattr(one, name) for one in each])) for name in ("power", "wrong", "wrong_winner")
        )
        return Detection(power, wrong, larger, worse)


def of_pairs(spreads: FloatArray, scale: float | None, largest: float = np.inf) -> Difference:
    """The pairs' differences: sds (P,) above 0, or, where a scale is given, shares of items that differ.

    `largest` is the largest true gain of pairs that are described by their sds.

    Examples
    --------
    >>> of_pairs(np.full(1000, 0.1), 100.0).detection(1.0, 8000, Level()).power > 0.79
    True
    """
    ordered = np.sort(np.asarray(spreads, dtype=np.float64))
    # Classes are equally large: a pair between two of them is a part of both.
    n_classes = min(_CLASSES, len(ordered))
    classes = np.repeat(ordered, n_classes).reshape(n_classes, len(ordered)).mean(axis=1)
    if scale is None:
        return MixedDifference(tuple(NormalDifference(float(sd), largest) for sd in classes))
    return MixedDifference(tuple(RightOrWrongDifference(float(share), scale) for share in classes))


@dataclass(frozen=True)
class ClusteredDifference(Difference):
    """The mean difference of a unit of several items, from the difference on one item.

    Attributes
    ----------
    item
        The difference on one item.
    design
        How many items a unit has, and how they correlate.
    """

    item: Difference
    design: Design

    @property
    def largest(self) -> float:
        return self.item.largest

    @property
    def visible(self) -> float:
        return self.item.visible

    def sd_of(self, gain: float) -> float:
        # Items that all differ in one direction have no spread.
        return self.design.unit(max(self.item.sd_of(gain), 1e-9 * gain)).sd

    def allowing(self, gain: float) -> ClusteredDifference:
        return replace(self, item=self.item.allowing(gain))

    def detection(self, gain: float, n: int, level: Level) -> Detection:
        unit = NormalDifference(self.sd_of(gain), step=self.item.step / self.design.size)
        found = unit.detection(gain, n, level)
        return replace(found, exaggeration=self.visible * found.exaggeration)

    def within(self, gain: float, margin: float, n: int, tail: float, *, both: bool) -> float:
        return NormalDifference(self.sd_of(abs(gain))).within(gain, margin, n, tail, both=both)
