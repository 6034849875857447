"""Everything about one test set's systems: which are the same, every pair tested, groups, curve, thresholds, ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from simstudy.analyses.classes import ALL_PAIRS
from simstudy.analyses.curves import curve
from simstudy.analyses.duplicates import near_duplicates, without_duplicates
from simstudy.analyses.equivalence import check_margin, equivalence
from simstudy.analyses.groups import groups
from simstudy.analyses.leaderboard import leaderboard
from simstudy.analyses.multiplicity import corrected
from simstudy.analyses.relations import related
from simstudy.analyses.significant_gains import significant_gains
from simstudy.analyses.thresholds import thresholds
from simstudy.choices import check_choice, check_fraction
from simstudy.engines.comparisons import compare
from simstudy.engines.memory import check_memory
from simstudy.engines.registry import DEFAULT_TEST, TESTS
from simstudy.loaders.base import Loaded, counted
from simstudy.natural.verdict import FEW_UNITS, verdict
from simstudy.outputs import Outputs
from simstudy.plain_text import shown
from simstudy.runner import n_workers

#: What to do with near-duplicates.
DUPLICATES = ("keep", "drop")

# Systems that a note names.
_MOST_NAMED = 20


@dataclass(frozen=True)
class Examination:
    """What `examine` found on one test set.

    Attributes
    ----------
    outputs
        The systems that were compared.
    pairs
        Comparisons with the relation of the two systems, p_holm and p_bh; what they say about a margin where there is
        one.
    leaderboard
        Scores with their intervals, and the places that each system may have (`simstudy.leaderboard`).
    duplicates
        Near-duplicates among all systems, also those that were dropped.
    groups
        Systems that do not differ significantly after Holm's correction for all pairs; by the maximal rule of Chinchor
        1992, or, where there are too many such groups, from the top ("greedy").
    curve, thresholds, gains
        As `simstudy.curve`, `thresholds` and `significant_gains` have them.
    verdict
        Of two systems: what `simstudy.verdict` says.
    notes
        What a reader should know about the data.
    """

    outputs: Outputs
    pairs: pd.DataFrame
    leaderboard: pd.DataFrame
    duplicates: pd.DataFrame
    groups: pd.DataFrame
    curve: pd.DataFrame
    thresholds: pd.DataFrame
    gains: pd.DataFrame
    verdict: str | None
    notes: tuple[str, ...]


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

    Parameters
    ----------
    loaded
        What `simstudy.load` returned, with at least two systems.
    by
        The column of the systems table that relation classes come from; None: all pairs are one class.
    duplicates
        "keep", or "drop" all but the first by name of systems that are near-duplicates of one another.
    alpha
        The level at which groups are told apart, after Holm's correction.
    margin
        The smallest true gain that would matter, on the metric's scale (`simstudy.equivalence`).
    comparison
        Options of `simstudy.compare`.

    Raises
    ------
    ValueError
        As `simstudy.compare`; for an unknown column, and where dropping leaves one system.

    Examples
    --------
    >>> from simstudy.generators.synthetic import correlated_accuracies
    >>> found = examine(Loaded(correlated_accuracies([0.5, 0.7, 0.9], 400)))
    >>> found.groups.groupby("group")["system"].agg(list).tolist()
    [['system-3'], ['system-2'], ['system-1']]
    """
    check_choice("duplicates", duplicates, DUPLICATES)
    check_fraction("alpha", alpha)
    options = dict(comparison or {})
    outputs, notes = loaded.outputs, list(loaded.notes)
    if duplicates == "keep":
        _check_memory(outputs, options)
    alike = near_duplicates(outputs)
    if duplicates == "drop" and len(alike):
        kept = without_duplicates(outputs.names, alike)
        dropped = [name for name in outputs.names if name not in kept]
        if len(kept) < 2:
            raise ValueError(f"duplicates must be 'keep': all {outputs.n_systems} systems are near-duplicates")
        outputs = outputs.select(kept)
        more = f" and {len(dropped) - _MOST_NAMED} more" if len(dropped) > _MOST_NAMED else ""
        notes.append(f"near-duplicates dropped: {', '.join(map(shown, dropped[:_MOST_NAMED]))}{more}")
    elif len(alike):
        first = f"{shown(alike['system_a'][0])} / {shown(alike['system_b'][0])}"
        notes.append(f"{counted(len(alike), 'pair')} of near-duplicates kept, first {first}")
    if duplicates == "drop":
        _check_memory(outputs, options)
    notes += _domains(outputs, options.get("strata"))
    if by is not None and outputs.n_systems > 1:
        # A column that is not there, or says what it can not, is told before minutes of resampling.
        related(pd.DataFrame({"system_a": outputs.names[:1], "system_b": outputs.names[1:2]}), outputs.systems, by)
    if margin is not None:
        check_margin(margin)
    pairs = compare(outputs, **options)
    pairs = pairs.assign(relation=ALL_PAIRS) if by is None else related(pairs, outputs.systems, by)
    pairs = corrected(pairs)
    if margin is not None:
        pairs = equivalence(pairs, margin, alpha=alpha)
    board = leaderboard(outputs, unit=options.get("unit"), seed=options.get("seed", 0))
    notes += [*_few(pairs), *_one_sided(pairs), *_others(pairs, alpha), *_no_interval(pairs, board)]
    return Examination(
        outputs,
        pairs,
        board,
        alike,
        _groups(pairs, alpha),
        curve(pairs),
        thresholds(pairs),
        significant_gains(pairs, alpha=alpha),
        verdict(pairs.iloc[0], alpha=alpha, margin=margin) if len(pairs) == 1 else None,
        tuple(notes),
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


def _domains(outputs: Outputs, strata: str | None) -> list[str]:
    """A note where items of several domains are tested together: they are never mixed silently."""
    if "domain" not in outputs.items or strata == "domain" or outputs.items["domain"].nunique() < 2:
        return []
    counts = outputs.items["domain"].value_counts()
    listed = ", ".join(f"{shown(name)} {count:,}" for name, count in counts.head(6).items())
    more = f" and {len(counts) - 6} more" if len(counts) > 6 else ""
    return [f"items of {len(counts)} domains are tested together: {listed}{more}"]


def _few(pairs: pd.DataFrame) -> list[str]:
    """A note where there are so few units that tests and intervals are rough."""
    n, unit = int(pairs["n_units"].iloc[0]), pairs["unit"].iloc[0]
    if n >= FEW_UNITS or len(pairs) == 1:
        return []
    rough = "intervals" if pairs["exact"].all() else "tests and intervals"
    return [f"only {counted(n, 'unit')} ({shown(unit)}): {rough} of fewer than {FEW_UNITS} are rough"]


def _others(pairs: pd.DataFrame, alpha: float) -> list[str]:
    """A note where the test speaks for systems with the worse score: it asks something else than the scores do."""
    against = pairs[(pairs["favours"] == pairs["system_b"]) & (pairs["p_value"] <= alpha)]
    if against.empty or len(pairs) == 1:
        return []
    first = f"{shown(against['system_a'].iloc[0])} / {shown(against['system_b'].iloc[0])}"
    test = TESTS[against["test"].iloc[0]]
    return [
        f"the {test.title} speaks for the system with the worse score in {counted(len(against), 'pair')}, first "
        f"{first}: its null hypothesis is that {test.null}; these pairs do not count as significant"
    ]


def _no_interval(pairs: pd.DataFrame, board: pd.DataFrame) -> list[str]:
    """Notes where pairs have no interval, and why."""
    none = pairs[pairs["gain_low"].isna()]
    if none.empty or len(pairs) == 1:
        return []
    undefined = board.loc[board["n_undefined"] > 0, "system"]
    spread_unknown = none["system_a"].isin(undefined) | none["system_b"].isin(undefined)
    alike = ~spread_unknown & (none["n_better"] + none["n_worse"] == 0)
    reasons = {
        "the two systems do equally well on every unit": alike,
        "one system is ahead by the same on every unit": ~spread_unknown & ~alike,
        "without one of the units a score is undefined (0 / 0), so that nothing is known of its spread": spread_unknown,
    }
    return [f"no interval for {counted(int(n.sum()), 'pair')}: {reason}" for reason, n in reasons.items() if n.any()]


def _one_sided(pairs: pd.DataFrame) -> list[str]:
    """A note where one-sided p-values of a table of all pairs were asked for."""
    if pairs["alternative"].iloc[0] == "two-sided" or len(pairs) == 1:
        return []
    return [
        "p-values are one-sided, as was asked for: where the data choose the better system, two equally good ones have "
        "p <= 0.05 one time in ten, in corrected p-values and groups too"
    ]


def _groups(pairs: pd.DataFrame, alpha: float) -> pd.DataFrame:
    try:
        return groups(pairs, cutoff=alpha, p="p_holm")
    except ValueError:
        # More than 10,000 maximal sets.
        return groups(pairs, cutoff=alpha, p="p_holm", rule="greedy")
