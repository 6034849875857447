"""A model of two systems of which one is better on large clusters, and the other on small ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simstudy.truth.pair_base import Drawn, PairModel, Two, check_one
from simstudy.validation import check_whole

# The second system's true score.
_SCORE = 10.0


@dataclass(frozen=True)
class GrowingGains(PairModel):
    """Item scores in clusters whose gain grows with the cluster's size: few large clusters decide.

    Sizes are geometric and drawn anew for each cluster of each test set. In a cluster of s items the first system's
    scores are higher by gain + slope (s - m) on average, where m = 2 size - 1 is the mean size of the cluster that an
    item is in, so that over all items they are higher by the gain. Only sums over clusters are drawn.

    Attributes
    ----------
    size
        The mean number of items of a cluster.
    slope
        By how much the gain grows for each item that a cluster has more.
    spread
        The standard deviation of the difference of the two systems' scores on one item of a given cluster (normal).
    gain
        The true gain.

    Examples
    --------
    >>> model = GrowingGains(size=5, slope=0.2, spread=3.0)
    >>> model.scores(), model.draw(3, 8, np.random.default_rng(0)).statistics.shape
    ((10.0, 10.0), (3, 2, 8, 2))
    """

    size: int
    slope: float
    spread: float
    gain: float = 0.0
    metric: ClassVar[str] = "mean"
    units: ClassVar[tuple[str, ...]] = ("cluster",)

    def __post_init__(self) -> None:
        check_whole("size", self.size, 1)
        check_one("slope", self.slope, -np.inf)
        check_one("spread", self.spread, 0)
        check_one("gain", self.gain, -np.inf)

    @property
    def exchangeable(self) -> bool:
        return self.slope == 0 and self.gain == 0

    def scores(self) -> Two:
        return _SCORE + self.gain, _SCORE

    def draw(self, n_sets: int, n_units: int, rng: np.random.Generator) -> Drawn:
        sizes = rng.geometric(1 / self.size, (n_sets, n_units)).astype(np.float64)
        # Half of an item's variance is each system's own.
        noise = rng.standard_normal((2, n_sets, n_units)) * np.sqrt(sizes / 2) * self.spread
        statistics = np.stack([np.zeros_like(noise), np.broadcast_to(sizes, noise.shape)], axis=-1)
        statistics[..., 0] = _SCORE * sizes + noise
        statistics[0, ..., 0] += sizes * (self.gain + self.slope * (sizes - (2 * self.size - 1)))
        return Drawn(statistics.swapaxes(0, 1))
