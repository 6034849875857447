"""What a test set costs, and what there is to spend."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan

from simstudy.planning.fields import check_size, option


@dataclass(frozen=True)
class Costs:
    """What a test set costs, in any currency.

    Attributes
    ----------
    item
        Of each item; None: nothing is known of costs.
    cluster
        Of a cluster (document, question) beside its items.
    budget
        What there is to spend; it gives the number of items. None: no limit.

    Raises
    ------
    ValueError
        For costs below 0, a budget that is not above 0, and a budget or a cluster's cost without an item's.

    Examples
    --------
    >>> import simstudy as ss
    >>> found = ss.plan(metric="bleu", guess=ss.Guess(sd_difference=10), costs=ss.Costs(item=2, budget=2000))
    >>> int(found.answers["at_items"].item())
    1000
    """

    item: float | None = option(None, "What an item costs.", "cost_item")
    cluster: float = option(0.0, "What a cluster costs beside its items.", "cost_cluster")
    budget: float | None = option(None, "What there is to spend: which gain does it find?")

    def __post_init__(self) -> None:
        check_size("Costs.cluster", self.cluster)
        for name in ("item", "cluster", "budget"):
            if (value := getattr(self, name)) is not None:
                check_size(f"Costs.{name}", value)
                if not 0 <= value < inf or (name == "budget" and value == 0):
                    raise ValueError(
                        f"Costs.{name} must be {'above' if name == 'budget' else 'at least'} 0, not {value:g}"
                    )
        for name, given in (("budget", self.budget is not None), ("cluster", self.cluster > 0)):
            if given and self.item is None:
                raise ValueError(f"Costs.item must be given with Costs.{name}")
        if self.item == 0 and self.cluster == 0:
            raise ValueError("Costs.item must be above 0 where a cluster costs nothing else")

    def of(self, size: float) -> float:
        """The cost of a cluster of so many items; NaN where that is not known."""
        return nan if self.item is None else self.cluster + size * self.item

    def buys_two(self, size: float) -> bool:
        """Whether the budget buys two clusters of so many items."""
        assert self.budget is not None
        return 2 * self.of(size) <= self.budget * (1 + 1e-12)

    def affordable(self, size: float) -> int:
        """How many clusters of so many items the budget buys; a ValueError where they are not two."""
        assert self.budget is not None
        if not self.buys_two(size):
            raise ValueError(
                f"Costs.budget must be at least {2 * self.of(size):g}, the cost of two "
                f"{'items' if size == 1 else 'clusters'}, not {self.budget:g}"
            )
        return int(self.budget / self.of(size) + 1e-9)
