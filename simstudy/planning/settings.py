"""What a plan is told beside guesses: the level of the test, what test sets cost, and the outputs of a pilot.

The fields of these classes and of those in `simstudy.planning.arguments` are options of the command, which therefore
imports both before it shows its help: modules that take time to import are imported where they are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from math import floor, inf, nan
from typing import TYPE_CHECKING, Any

from simstudy.notes import Argument, Words
from simstudy.text.reprs import FieldsMixin
from simstudy.validation import InputError, check_choice, check_fraction, check_number, check_text, check_whole

if TYPE_CHECKING:
    from simstudy.outputs import Outputs

#: A number, or the two ends of a range, the lower one first.
Range = float | tuple[float, float]

ALTERNATIVES = ("two-sided", "greater")

#: Test sets that a simulation, and a prediction, must have at least.
FEWEST_SETS, FEWEST_DRAWS = 200, 100

# Numbers whose squares are neither 0 nor infinite, with room for sizes and ratios.
_LEAST, _MOST = 1e-60, 1e60

# If the level leaves more than this number of the 2^n outcomes of sign flips, it is practically continuous.
_MANY_FLIPS = 1000


def option(default: Any, help: str, name: str | None = None) -> Any:
    """A field with the help of its option, and the option's name where that is another one."""
    return field(default=default, metadata={"help": help} | ({"option": name} if name else {}))


def ends(argument: str, value: Range) -> tuple[float, float, float]:
    """The middle, the lower and the upper end of a range; of a number three times itself."""
    if isinstance(value, Sequence):
        if len(value) != 2:
            raise InputError(argument, "must be a number, or the two ends of a range", value)
        for end in value:
            check_number(argument, end)
        low, high = map(float, value)
        if low > high:
            raise InputError(argument, "must have the lower end of its range first", value)
        return (low + high) / 2, low, high
    check_number(argument, value, "a number, or the two ends of a range")
    return float(value), float(value), float(value)


def check_size(argument: str, value: object, *, must: str = "be 0 or") -> None:
    """Raise a ValueError where a number of the metric's scale is so large or so small that squares are inexact.

    `must` begins what the argument has to do.
    """
    check_number(argument, value)
    size = abs(float(value))  # type: ignore[arg-type]
    if size and not _LEAST <= size <= _MOST:
        raise InputError(argument, f"must {must} from {_LEAST:g} to {_MOST:g} in size", value, ": rescale the scores")


@dataclass(frozen=True)
class Level(FieldsMixin):
    """The level of a test.

    Attributes
    ----------
    alpha
        Between 0 and 1.
    alternative
        "two-sided", or "greater": one-sided, for the system that was named beforehand.
    comparisons
        How many comparisons share alpha (Bonferroni; Holm's procedure needs no more).

    Raises
    ------
    ValueError
        For an alpha that is no fraction, an unknown alternative, and fewer than one comparison.

    Examples
    --------
    >>> import simstudy as ss
    >>> guess = ss.Guess(score=80, agreement=0.9)
    >>> found = ss.plan(metric="accuracy", gain=1, alpha=ss.Level(0.05, comparisons=10), guess=guess)
    >>> print(found.sentences[0])
    You need 13,481 items to detect a true gain of 1 point of accuracy with power 0.8.
    """

    alpha: float = option(0.05, "Significance level.")
    alternative: str = option("two-sided", "two-sided, or greater (one-sided: the better system was predicted).")
    comparisons: int = option(1, "Number of comparisons that share the level (Bonferroni).")

    def __post_init__(self) -> None:
        check_fraction("Level.alpha", self.alpha)
        check_choice("Level.alternative", self.alternative, ALTERNATIVES)
        check_whole("Level.comparisons", self.comparisons, 1)

    @property
    def tail(self) -> float:
        """The probability of one tail of the test under the null hypothesis."""
        return self.alpha / self.comparisons / (2 if self.alternative == "two-sided" else 1)

    @property
    def margin_tail(self) -> float:
        """The level of each one-sided test against a margin: half of alpha, whatever the alternative is."""
        return self.alpha / self.comparisons / 2

    def least_p(self, n: int) -> float:
        """The least p-value that sign flips of n units can have: 2^-n, and twice that if the test is two-sided."""
        return (2 if self.alternative == "two-sided" else 1) * 0.5**n

    def attainable_tail(self, n: int) -> float:
        """The largest multiple of 2^-n up to `tail`: what one tail of sign flips of n units can have; 0 for too few."""
        outcomes = self.tail * 2.0 ** min(n, 1000)
        many = n >= 1000 or outcomes > _MANY_FLIPS
        return self.tail if many else floor(outcomes) / 2.0**n


@dataclass(frozen=True)
class Costs(FieldsMixin):
    """The costs of a test set, in any currency.

    Attributes
    ----------
    item
        Of each item; None: nothing is known of costs.
    cluster
        Of a cluster (document, question) beside its items.
    sample
        Of each sample of an item, taken from every system that is compared, beside the item itself (`Pilot.samples`).
        With two systems it is the cost of two samples.
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

    item: float | None = option(None, "Cost of one item.", "cost_item")
    cluster: float = option(0.0, "Cost of one cluster, without its items.", "cost_cluster")
    budget: float | None = option(None, "Budget: the plan gives the minimum detectable gain.")
    sample: float = option(
        0.0,
        "Cost of each sample of an item, taken from every compared system (with two systems: the cost of two samples), "
        "in addition to the item's cost.",
        "cost_sample",
    )

    def __post_init__(self) -> None:
        for name in ("item", "cluster", "budget", "sample"):
            if (value := getattr(self, name)) is not None or name in ("cluster", "sample"):
                check_size(f"Costs.{name}", value)
                if not 0 <= value < inf or (name == "budget" and value == 0):
                    raise InputError(f"Costs.{name}", f"must be {'above' if name == 'budget' else 'at least'} 0", value)
        for name, given in (
            ("budget", self.budget is not None),
            ("cluster", self.cluster > 0),
            ("sample", self.sample > 0),
        ):
            if given and self.item is None:
                raise InputError("Costs.item", Words("must be given with {other}", other=Argument(f"Costs.{name}")))
        if self.item == 0 and self.cluster == 0 and self.sample == 0:
            raise InputError("Costs.item", "must be above 0 where a cluster costs nothing else")

    def with_samples(self, samples: int) -> Costs:
        """The costs where each item has so many samples, which are part of the item."""
        return self if self.item is None else replace(self, item=self.item + samples * self.sample, sample=0.0)

    def of(self, size: float) -> float:
        """The cost of a cluster of so many items; NaN where that is not known."""
        return nan if self.item is None else self.cluster + size * self.item

    def buys_two(self, size: float) -> bool:
        """Whether the budget buys two clusters of so many items."""
        assert self.budget is not None
        return 2 * self.of(size) <= self.budget * (1 + 1e-12)

    def affordable(self, size: float) -> int:
        """How many clusters of so many items the budget buys."""
        assert self.budget is not None
        return int(self.budget / self.of(size) + 1e-9)


@dataclass(frozen=True, eq=False)
class Pilot(FieldsMixin):
    """Outputs from which a plan is made, and how they are read and simulated.

    Attributes
    ----------
    outputs
        Of two systems (a pilot) or more (a leaderboard), with at least ten items or clusters.
    by
        Three systems or more: the column of their table that tells which ones are related.
    unit
        The resampling unit, "item" or a column of the items; None: the natural unit.
    duplicates
        Three systems or more: "drop" leaves near-duplicates out (`simstudy.comparisons.near_duplicates`), which differ
        less than systems that somebody would compare, if three others are left; "note" says how many there are; or
        "keep".
    n_sets
        Test sets to draw from a fitted model, to compare the closed form with: at least 200, or 0 for none.
    n_draws
        Three systems or more: test sets of each size that are drawn to predict what they show (at least 100, or 0 for
        none).
    seed
        Of what is drawn, from 0 to 2^64 - 1.
    samples
        Outputs with several samples of each item: samples of each item and system that the test set will have. None:
        as many as the outputs have.

    Raises
    ------
    ValueError
        For what are no Outputs, an unknown way with duplicates, and numbers of test sets that are too small.

    Examples
    --------
    >>> import simstudy as ss
    >>> outputs = ss.truth.correlated_accuracies([0.7, 0.75], n_items=200)
    >>> found = ss.plan(ss.Pilot(outputs, n_sets=0), gain=5)
    >>> found.simulated is None
    True
    """

    outputs: Outputs
    by: str | None = None
    unit: str | None = None
    duplicates: str = "drop"
    n_sets: int = 2000
    n_draws: int = 1000
    seed: int = 0
    samples: int | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """All fields but the outputs."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "outputs"}

    def __post_init__(self) -> None:
        from simstudy.comparisons.duplicates import DUPLICATES
        from simstudy.outputs import check_outputs

        check_outputs("pilot", self.outputs)
        check_text("Pilot.by", self.by, "the name of a column of the systems", or_none=True)
        check_text("Pilot.unit", self.unit, "the name of a column of the items", or_none=True)
        check_choice("Pilot.duplicates", self.duplicates, DUPLICATES)
        for name, fewest in (("n_sets", FEWEST_SETS), ("n_draws", FEWEST_DRAWS)):
            check_whole(f"Pilot.{name}", number := getattr(self, name), 0)
            if number:
                check_whole(f"Pilot.{name}", number, fewest)
        check_whole("Pilot.seed", self.seed, 0, 2**64)
        if self.samples is not None:
            check_whole("Pilot.samples", self.samples, 1)
        if self.by is not None and self.outputs.n_systems == 2:
            raise InputError("Pilot.by", "must not be given with outputs of two systems, which are one pair")
