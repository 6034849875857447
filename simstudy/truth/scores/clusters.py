"""Clusters of items (documents, users) whose results resemble each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from simstudy.metrics.base import FloatArray, IntArray
from simstudy.text.reprs import FieldsMixin
from simstudy.truth.pair_base import check_one
from simstudy.truth.scores.dependence import Dependence, inside
from simstudy.validation import InputError, check_flag, check_whole


@dataclass(frozen=True)
class ItemClusters(FieldsMixin):
    """How items come in clusters.

    A system's latent score of an item is sqrt(correlation) c + sqrt(1 - correlation) e: c is the cluster's and e the
    item's, both normal and with the systems' dependence. So margins stay exactly what they are, the latent scores of a
    system on two items of a cluster correlate by `correlation`, and those of two systems on one item as they would
    without clusters (exactly so for a Gaussian copula; of another one, both parts have it and their sum nearly so).
    Where a document is hard for all systems alike, a part of c is `common`: c is sqrt(common) g + sqrt(1 - common) c',
    with one normal g of the cluster. Latent scores of two systems on one item, of a Gaussian copula with correlation r,
    then correlate by r + correlation x common x (1 - r), and clusters add less to what their gain varies by.

    Parameters
    ----------
    correlation
        The latent intra-cluster correlation, from 0 to 1.
    size
        Items of a cluster, or their mean where they vary, or the sizes of clusters one after the other, from the first
        again when all have been taken.
    varying
        Whether sizes are geometric.
    common
        The part of c's variance that all systems share, from 0 to 1.

    Examples
    --------
    >>> ItemClusters(0.2, (3, 1, 2)).sizes(5, 2, np.random.default_rng(0)).tolist()
    [2, 3, 1, 2, 3]
    """

    correlation: float
    size: int | tuple[int, ...]
    varying: bool = False
    common: float = 0.0

    def __post_init__(self) -> None:
        check_one("correlation", self.correlation, 0, 1)
        check_one("common", self.common, 0, 1)
        check_flag("varying", self.varying)
        if isinstance(self.size, tuple | list):
            object.__setattr__(self, "size", tuple(self.size))
            if not self.size or self.varying:
                raise InputError(
                    "size", "must be one whole number if varying is True, else a number or a list that is not empty"
                )
        for size in self._sizes:
            check_whole("size", size, 1)

    @property
    def _sizes(self) -> tuple[int, ...]:
        return self.size if isinstance(self.size, tuple) else (self.size,)

    @property
    def mean_size(self) -> float:
        """Items of a cluster, on average."""
        return float(np.mean(self._sizes))

    def check_items(self, n_items: int) -> None:
        """Raise a ValueError where a test set of so many items has no room for a cluster."""
        if max(self._sizes) > n_items:
            raise InputError(
                "size", f"must be at most n_items, the size of the test set, not {max(self._sizes)} of {n_items}"
            )

    def sizes(self, n_clusters: int, first: int, rng: np.random.Generator) -> IntArray:
        """The sizes of so many clusters, the first of which has this number."""
        if self.varying:
            return rng.geometric(1 / self._sizes[0], n_clusters)
        return np.array(self._sizes)[(first + np.arange(n_clusters)) % len(self._sizes)]

    def uniforms(self, dependence: Dependence, sizes: IntArray, n_systems: int, rng: np.random.Generator) -> FloatArray:
        """Uniform numbers (items, K systems) of clusters of these sizes."""
        of_clusters = dependence.normals(sizes.size, n_systems, rng)
        of_items = dependence.normals(int(sizes.sum()), n_systems, rng)
        if self.common > 0:
            shared = rng.standard_normal((sizes.size, 1))
            of_clusters = np.sqrt(self.common) * shared + np.sqrt(1 - self.common) * of_clusters
        repeated = np.repeat(of_clusters, sizes, axis=0)
        latent = np.sqrt(self.correlation) * repeated + np.sqrt(1 - self.correlation) * of_items
        return inside(special.ndtr(latent))
