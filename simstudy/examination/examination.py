"""All pairs of a test set's systems, and everything that follows: near-duplicates, groups, curve, thresholds, ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from simstudy.analyses.curves import curve
from simstudy.analyses.duplicates import near_duplicates, without_duplicates
from simstudy.analyses.equivalence import check_margin, equivalence
from simstudy.analyses.groups import groups
from simstudy.analyses.leaderboard import leaderboard
from simstudy.analyses.multiplicity import corrected
from simstudy.analyses.relation_classes import ALL_PAIRS
from simstudy.analyses.relations import related
from simstudy.analyses.significant_gains import significant_gains
from simstudy.analyses.thresholds import thresholds
from simstudy.comparisons.comparing import compare
from simstudy.comparisons.verdict import FEW_UNITS, verdict
from simstudy.decisions import Decision
from simstudy.engines.memory import check_memory
from simstudy.engines.registry import DEFAULT_TEST, TESTS
from simstudy.loaders.base import Loaded, counted
from simstudy.notes import note, notes_kept
from simstudy.outputs import Outputs
from simstudy.pairs import order_of
from simstudy.plain_text import shown
from simstudy.runner import n_workers
from simstudy.validation import check_choice, check_fraction

#: What to do with near-duplicates.
DUPLICATES = ("keep", "drop")

# Systems that a note names.
_MOST_NAMED = 20


@dataclass(frozen=True)
class Analysed:
    """All pairs of one test set and what follows from them; each table is made when it is first asked for."""

    pairs: pd.DataFrame
    """Comparisons with the relation of the two systems."""
    alpha: float = 0.05
    """The level of significance."""
    seed: int = 0
    """Of intervals that draw systems again."""

    @cached_property
    def groups(self) -> pd.DataFrame:
        """Systems that do not differ significantly after Holm's correction for all pairs (`simstudy.groups`).

        By the maximal rule of Chinchor 1992, or, where there are too many such groups, from the top ("greedy").
        """
        try:
            return groups(self.pairs, alpha=self.alpha, p="p_holm")
        except ValueError:
            # More than 10,000 maximal sets.
            return groups(self.pairs, alpha=self.alpha, p="p_holm", rule="greedy")

    @cached_property
    def neighbours(self) -> pd.DataFrame:
        """Pairs of systems that follow one another by score."""
        return self.pairs[order_of(self.pairs).neighbours]

    @cached_property
    def curve(self) -> pd.DataFrame:
        """Gain against confidence (`simstudy.curve`)."""
        return curve(self.pairs)

    @cached_property
    def thresholds(self) -> pd.DataFrame:
        """The gain that is usually significant (`simstudy.thresholds`)."""
        return thresholds(self.pairs, seed=self.seed)

    @cached_property
    def gains(self) -> pd.DataFrame:
        """The gain that is significant by the standard errors (`simstudy.significant_gains`)."""
        return significant_gains(self.pairs, alpha=self.alpha)


@dataclass(frozen=True, kw_only=True)
class Examination(Analysed):
    """What `examine` found on one test set; pairs have p_holm and p_bh, and what they say about a margin."""

    outputs: Outputs
    """The systems that were compared."""
    leaderboard: pd.DataFrame
    """Scores with their intervals, and the places that each system may have (`simstudy.leaderboard`)."""
    duplicates: pd.DataFrame
    """Near-duplicates among all systems, also those that were dropped."""
    margin: float | None = None
    """The smallest true gain that would matter, where one was given."""
    notes: tuple[str, ...] = ()
    """What a reader should know about the data."""

    @cached_property
    def verdict(self) -> str | None:
        """Of two systems: what `simstudy.verdict` says."""
        return verdict(self.pairs.iloc[0], alpha=self.alpha, margin=self.margin) if len(self.pairs) == 1 else None


def distinct(outputs: Outputs, duplicates: str) -> tuple[Outputs, pd.DataFrame]:
    """The systems that are to be compared, and the near-duplicates among all (`simstudy.near_duplicates`).

    With "drop" the first by name is kept of systems that are near-duplicates of one another.
    """
    alike = near_duplicates(outputs)
    if duplicates == "drop" and len(alike):
        outputs = outputs.select(without_duplicates(outputs.names, alike))
    return outputs, alike


def classified(pairs: pd.DataFrame, outputs: Outputs, by: str | None) -> pd.DataFrame:
    """Comparisons with relation classes from a column of the systems table (`simstudy.related`); None: all are one."""
    return related(pairs, outputs.systems, by) if by else pairs.assign(relation=ALL_PAIRS)


def examine(
    loaded: Loaded,
    *,
    by: str | None = None,
    duplicates: str = "keep",
    alpha: float = 0.05,
    margin: float | None = None,
    comparison: Mapping[str, Any] | None = None,
) -> Examination:
    """Compare every pair of systems of one test set, and analyse what comes out.

    Relation classes come from column `by` of the systems table; None: all pairs are one class. With `duplicates` "drop"
    the first by name is kept of systems that are near-duplicates. Groups are told apart at `alpha` after Holm's
    correction; `margin` is the smallest true gain that would matter (`simstudy.equivalence`), and `comparison` has
    options of `simstudy.compare`. A ValueError is raised as by those, and where dropping leaves one system.

    Examples
    --------
    >>> from simstudy.generators.synthetic import correlated_accuracies
    >>> found = examine(Loaded(correlated_accuracies([0.5, 0.7, 0.9], 400)))
    >>> found.groups.groupby("group")["system"].agg(list).tolist()
    [['system-3'], ['system-2'], ['system-1']]
    """
    check_choice("duplicates", duplicates, DUPLICATES)
    check_fraction("alpha", alpha)
    if margin is not None:
        check_margin(margin)
    options = dict(comparison or {})
    if duplicates == "keep":
        _check_memory(loaded.outputs, options)
    seed = options.get("seed", 0)
    with notes_kept() as notes:
        outputs, alike = distinct(loaded.outputs, duplicates)
        _note_duplicates(loaded.outputs, outputs, alike)
        _check_memory(outputs, options)
        _note_domains(outputs, options.get("strata"))
        if outputs.n_systems > 1:
            # A column that is not there, or says what it can not, is told before minutes of resampling.
            names = outputs.names
            classified(pd.DataFrame({"system_a": names[:1], "system_b": names[1:2]}), outputs, by)
        pairs = corrected(classified(compare(outputs, **options).frame, outputs, by))
        if margin is not None:
            pairs = equivalence(pairs, margin, alpha=alpha)
        board = leaderboard(outputs, unit=options.get("unit"), seed=seed)
        if len(pairs) > 1:
            _note_few(pairs)
            _note_one_sided(pairs)
            _note_others(pairs, alpha)
            _note_no_interval(pairs, board)
    told = (*loaded.notes, *notes)
    return Examination(
        pairs, alpha, seed, outputs=outputs, leaderboard=board, duplicates=alike, margin=margin, notes=told
    )


def _check_memory(outputs: Outputs, options: Mapping[str, Any]) -> None:
    """Raise a ValueError where the comparison and what is made of it would take more memory than there is."""
    k, n, s = outputs.statistics.shape
    unit = options.get("unit") or outputs.natural_unit
    if isinstance(unit, str) and unit in outputs.items:
        n = outputs.items[unit].nunique()
    check_memory(
        str(options.get("test", DEFAULT_TEST)),
        (k, n, s),
        k * (k - 1) // 2,
        n_workers(options.get("n_jobs", 1)),
        analysed=True,
    )


def _note_duplicates(every: Outputs, kept: Outputs, alike: pd.DataFrame) -> None:
    """Say which near-duplicates were dropped, or that there are some; ValueError where one system is left."""
    if kept is every:
        if len(alike):
            first = f"{shown(alike['system_a'][0])} / {shown(alike['system_b'][0])}"
            note(f"{counted(len(alike), 'pair')} of near-duplicates kept, first {first}")
        return
    if kept.n_systems < 2:
        raise ValueError(f"duplicates must be 'keep': all {every.n_systems} systems are near-duplicates")
    staying = set(kept.names)
    dropped = [shown(name) for name in every.names if name not in staying]
    more = f" and {len(dropped) - _MOST_NAMED} more" if len(dropped) > _MOST_NAMED else ""
    note(f"near-duplicates dropped: {', '.join(dropped[:_MOST_NAMED])}{more}")


def _note_domains(outputs: Outputs, strata: str | None) -> None:
    """Say where items of several domains are tested together: they are never mixed silently."""
    if "domain" not in outputs.items or strata == "domain" or outputs.items["domain"].nunique() < 2:
        return
    counts = outputs.items["domain"].value_counts()
    listed = ", ".join(f"{shown(name)} {count:,}" for name, count in counts.head(6).items())
    more = f" and {len(counts) - 6} more" if len(counts) > 6 else ""
    note(f"items of {len(counts)} domains are tested together: {listed}{more}")


def _note_few(pairs: pd.DataFrame) -> None:
    """Say where there are so few units that tests and intervals are rough."""
    n, unit = int(pairs["n_units"].iloc[0]), pairs["unit"].iloc[0]
    if n < FEW_UNITS:
        rough = "intervals" if pairs["exact"].all() else "tests and intervals"
        note(f"only {counted(n, 'unit')} ({shown(unit)}): {rough} of fewer than {FEW_UNITS} are rough")


def _note_one_sided(pairs: pd.DataFrame) -> None:
    """Say what one-sided p-values of a table of all pairs are worth."""
    if pairs["alternative"].iloc[0] != "two-sided":
        note(
            "p-values are one-sided, as was asked for: where the data choose the better system, two equally good ones "
            "have p <= 0.05 one time in ten, in corrected p-values and groups too"
        )


def _note_others(pairs: pd.DataFrame, alpha: float) -> None:
    """Say where the test speaks for systems with the worse score: it asks something else than the scores do."""
    against = pairs[Decision(alpha).speaks_for_other(pairs)]
    if len(against):
        first = f"{shown(against['system_a'].iloc[0])} / {shown(against['system_b'].iloc[0])}"
        test = TESTS[against["test"].iloc[0]]
        note(
            f"the {test.title} speaks for the system with the worse score in {counted(len(against), 'pair')}, first "
            f"{first}: its null hypothesis is that {test.null}; these pairs do not count as significant"
        )


def _note_no_interval(pairs: pd.DataFrame, board: pd.DataFrame) -> None:
    """Say how many pairs have no interval, and why."""
    none = pairs[pairs["gain_low"].isna()]
    undefined = board.loc[board["n_undefined"] > 0, "system"]
    spread_unknown = none["system_a"].isin(undefined) | none["system_b"].isin(undefined)
    alike = ~spread_unknown & (none["n_better"] + none["n_worse"] == 0)
    reasons = {
        "the two systems do equally well on every unit": alike,
        "one system is ahead by the same on every unit": ~spread_unknown & ~alike,
        "without one of the units a score is undefined (0 / 0), so that nothing is known of its spread": spread_unknown,
    }
    for reason, those in reasons.items():
        if those.any():
            note(f"no interval for {counted(int(those.sum()), 'pair')}: {reason}")
