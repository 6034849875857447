"""What `plan` is told of systems and items that have no outputs yet: guesses, clusters and judges.

Each object checks its fields when it is made; `plan` checks whether they fit the metric and the other arguments.
The command has an option for each field with a help (`simstudy.cli.options`). A message names a field with its class,
as in "Clusters.size must be at least 1 item, not 0.5", and the command names the option in its place.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf, sqrt

from simstudy.notes import Argument, Words
from simstudy.planning.settings import Range, check_size, ends, option
from simstudy.text.reprs import FieldsMixin
from simstudy.validation import InputError, check_choice, check_number, check_share, check_whole

#: How the two systems of a pair are related.
RELATIONS = ("same family", "different families")

#: The numbers that a field of `Guess` may have, both ends included, whatever the metric is.
_POSSIBLE = {"score": (0.0, 100.0), "agreement": (0.0, 1.0), "r12": (-1.0, 1.0)}


@dataclass(frozen=True)
class Guess(FieldsMixin):
    """Guesses about two systems that have no outputs yet.

    Where neither agreement, r12 nor a standard deviation is given, the usual values of known test sets are taken, with
    the range that 80 % of pairs have there.

    Attributes
    ----------
    score
        Accuracy: the worse system's, in percent, from 0 to 100. `plan` refuses 1 and less, which are fractions.
    agreement
        Accuracy: the share of items on which both are right or both are wrong. Win rate: the share of ties. A
        fraction, or a range of which only the possible part is taken.
    r12
        The correlation of the two systems' item scores, or a range.
    sd
        The standard deviation of one system's item scores, on the metric's scale. It needs r12 or usual values of it.
    sd_difference
        Instead of sd and r12: the standard deviation of the two systems' difference on one item, on the metric's
        scale, or a range.
    relation
        "same family" (of one base model or one group) or "different families": the pairs whose usual values are taken.
        None: both.

    Raises
    ------
    ValueError
        For what is no number or range, numbers that no systems have, an unknown relation, and a relation with values
        that leave no use for it.

    Examples
    --------
    >>> import simstudy as ss
    >>> found = ss.plan(metric="mean", gain=0.1, guess=ss.Guess(sd=1.2, r12=(0.5, 0.7)))
    >>> print(found.sentences[0])
    You need 907 items (681 to 1,133, the guessed range) to detect a true gain of 0.1 of mean with power 0.8.
    """

    score: float | None = option(None, "Accuracy of the worse system, in percent.")
    agreement: Range | None = option(
        None,
        "Accuracy: share of items on which both systems are right or both are wrong (0.9, or a range 0.85:0.95). Win "
        "rate: share of ties.",
    )
    r12: Range | None = option(
        None,
        "Correlation of the two systems' item scores (0.6, or a range 0.5:0.7). Default: the range of 80 % of pairs on "
        "known test sets.",
    )
    sd: float | None = option(
        None, "Other metrics: standard deviation of one system's item scores, in points of the metric."
    )
    sd_difference: Range | None = option(
        None, "Instead of sd: standard deviation of the two systems' difference on one item."
    )
    relation: str | None = option(
        None,
        "'same family' (variants of one model, or systems of one group) or 'different families': uses the usual "
        "values of such pairs (default: both).",
    )

    def __post_init__(self) -> None:
        for name in ("score", "sd"):
            if (value := getattr(self, name)) is not None:
                check_number(f"Guess.{name}", value)
                _check_possible(name, value)
        ranges = [name for name in ("agreement", "r12", "sd_difference") if getattr(self, name) is not None]
        for name in ranges:
            for end in ends(f"Guess.{name}", getattr(self, name))[1:]:
                _check_possible(name, end)
        if self.relation is not None:
            check_choice("Guess.relation", self.relation, RELATIONS)
            if ranges:
                rule = "must not be given with {other}, for which it has usual values"
                raise InputError("Guess.relation", Words(rule, other=Argument(f"Guess.{ranges[0]}")))


def _check_possible(name: str, value: float) -> None:
    """Raise a ValueError where no systems have this number, whatever the metric is."""
    if name in _POSSIBLE:
        low, high = _POSSIBLE[name]
        if not low <= value <= high:
            percent = " %" if name == "score" else ""
            meant = f": did you mean {value / 100:g}?" if name == "agreement" and 1 < value <= 100 else ""
            raise InputError(f"Guess.{name}", f"must be from {low:g} to {high:g}{percent}", value, meant)
        return
    check_size(f"Guess.{name}", value)
    if not value > 0:
        raise InputError(f"Guess.{name}", "must be above 0", value)


@dataclass(frozen=True)
class Clusters(FieldsMixin):
    """Items that come in clusters: sentences of documents, samples of one question, issues of repositories.

    Attributes
    ----------
    size
        Items of a cluster, on average; at least 1.
    icc
        The correlation of the two systems' difference on two items of one cluster, at most 1.
    cv
        How unequal clusters are: the standard deviation of their sizes over the mean, or a range; 0 where all have one
        size. None: that of documents and repositories of known test sets, with its range.

    Raises
    ------
    ValueError
        For a size without icc, or icc without a size, and for sizes and correlations that no clusters can have.

    Examples
    --------
    >>> import simstudy as ss
    >>> guess, clusters = ss.Guess(sd_difference=1.0), ss.Clusters(size=10, icc=0.1, cv=0.8)
    >>> print(ss.plan(metric="mean", gain=0.1, guess=guess, clusters=clusters).sentences[0])
    You need 202 clusters of 10 items (2,020 items) to detect a true gain of 0.1 of mean with power 0.8.
    """

    size: float | None = option(
        None,
        "Mean number of items of a cluster: sentences of a document, samples of a question (with --cluster-cv 0).",
        "cluster_size",
    )
    icc: float | None = option(
        None, "Intra-cluster correlation: of the systems' difference on two items of one cluster."
    )
    cv: Range | None = option(
        None,
        "Coefficient of variation of the cluster sizes (1, or a range 0.5:1.5); 0 if all clusters have one size, as "
        "samples of questions have. Default: as in known documents and repositories.",
        "cluster_cv",
    )

    def __post_init__(self) -> None:
        for name, other in (("size", "icc"), ("icc", "size"), ("size", "cv")):
            if getattr(self, name) is None and getattr(self, other) is not None:
                rule = "must be given with {other}: how many items a cluster has, and how alike they are"
                raise InputError(f"Clusters.{name}", Words(rule, other=Argument(f"Clusters.{other}")))
        if self.size is not None and self.icc is not None:
            for end in (0.0,) if self.cv is None else ends("Clusters.cv", self.cv):
                Design(self.size, self.icc, end)


@dataclass(frozen=True)
class Design(FieldsMixin):
    """Units that have several items each; the fields are those of `Clusters`, all of them known."""

    size: float
    icc: float
    cv: float = 0.0

    def __post_init__(self) -> None:
        check_number("Clusters.size", self.size)
        check_number("Clusters.icc", self.icc)
        if not 1 <= self.size < inf:
            raise InputError("Clusters.size", "must be at least 1 item", self.size)
        check_number("Clusters.cv", self.cv)
        if not 0 <= self.cv < inf:
            raise InputError("Clusters.cv", "must be at least 0", self.cv)
        if self.size == 1 and self.cv > 0:
            raise InputError("Clusters.cv", "must be 0 for clusters of one item", self.cv)
        least = self.least_icc(self.size, self.cv)
        if not least <= self.icc <= 1:
            rule = f"must be from {least:.3g} to 1 for {self.size:g} items a cluster"
            unequal = Words(" ({cv} {value:.3g})", cv=Argument("Clusters.cv"), value=self.cv) if self.cv > 0 else ""
            raise InputError("Clusters.icc", Words("{rule}{unequal}", rule=rule, unequal=unequal), self.icc)

    @staticmethod
    def least_icc(size: float, cv: float) -> float:
        """The least correlation that leaves the mean of units a variance: -1 / (size - 1) where all have one size."""
        others = (1 + cv**2) * size - 1
        return max(-1 / others, -1.0) if others > 0 else -1.0

    @property
    def effect(self) -> float:
        """The design effect: how many times the variance is that of as many independent items (Kish 1965)."""
        return 1 + ((1 + self.cv**2) * self.size - 1) * self.icc

    def of_size(self, size: float) -> Design | None:
        """Units of another mean size, as alike and as unequal; None where the items of such units cannot be so."""
        cv = self.cv if size > 1 else 0.0
        return Design(size, self.icc, cv) if self.icc >= self.least_icc(size, cv) else None

    @property
    def unit_sd(self) -> float:
        """The standard deviation of a unit's difference, per mean size, over that of one item."""
        return sqrt(max(self.effect, 1e-9) / self.size)


@dataclass(frozen=True)
class Judge(FieldsMixin):
    """How judges of the answers err.

    Attributes
    ----------
    error
        Accuracy and win rate: the share of verdicts that a judge turns round, below 0.5. Gains shrink by 1 - 2 of it.
    sd
        Other metrics: the standard deviation of the scores that a judge gives one answer again and again, on the
        metric's scale.
    judgements
        Of each answer: the majority of verdicts (an odd number) counts, or the mean of scores.
    agreement
        The correlation of the errors of two judgements of one answer, from 0 to 1; None: errors are independent.
        Judges that err on the same answers add less to each other. If errors have a latent correlation of 0.5, this is
        0.2 to 0.33.

    Raises
    ------
    ValueError
        For a judge who is no better than a coin, several judgements by judges who do not err, an even number of
        verdicts, and an agreement of one judgement.

    Examples
    --------
    >>> import simstudy as ss
    >>> found = ss.plan(metric="win_rate", gain=3, judge=ss.Judge(error=0.15, judgements=3))
    >>> print(found.sentences[0])
    You need 11,298 items to detect a true gain of 3 points of win rate with power 0.8.
    """

    error: float | None = option(None, "Accuracy, win rate: error rate of one judgement.", "judge_error")
    sd: float | None = option(
        None, "Other metrics: standard deviation of repeated judgements of one answer.", "judge_sd"
    )
    judgements: int = option(1, "Number of judgements of each answer, combined by majority or mean.")
    agreement: float | None = option(
        None, "Correlation of the errors of two judgements of one answer (default: independent).", "judge_agreement"
    )

    def __post_init__(self) -> None:
        check_whole("Judge.judgements", self.judgements, 1)
        if self.error is not None:
            check_number("Judge.error", self.error)
            if not 0 <= self.error < 0.5:
                raise InputError("Judge.error", "must be at least 0 and below 0.5 (a coin flip)", self.error)
            if self.judgements % 2 == 0:
                raise InputError(
                    "Judge.judgements", "must be an odd number where the majority decides", self.judgements
                )
        if self.sd is not None:
            check_size("Judge.sd", self.sd)
            if self.sd < 0:
                raise InputError("Judge.sd", "must be at least 0", self.sd)
        if self.judgements > 1 and self.error is None and self.sd is None:
            rule = "must be 1 where neither {error} nor {sd} is given"
            raise InputError("Judge.judgements", Words(rule, error=Argument("Judge.error"), sd=Argument("Judge.sd")))
        if self.agreement is not None:
            check_share("Judge.agreement", self.agreement)
            if self.judgements == 1:
                raise InputError("Judge.agreement", "must not be given where each answer has one judgement")


def changed(noun: Guess | Clusters | Judge) -> list[tuple[str, object]]:
    """The fields that were set, each as Class.field, with their defaults."""
    kind = type(noun).__name__
    own = [(one, getattr(noun, one.name)) for one in fields(noun)]
    return [
        (f"{kind}.{one.name}", one.default)
        for one, value in own
        if type(value) is not type(one.default) or value != one.default
    ]


def check_noun(argument: str, value: object, kind: type, example: str) -> None:
    """Raise a ValueError where an argument of `plan` is no object of its class."""
    if not isinstance(value, kind):
        name = kind.__name__
        raise InputError(argument, f"must be a {name}, such as ss.{name}({example})", value)
