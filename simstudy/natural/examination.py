"""Everything about one test set's systems: which are the same, every pair tested, groups, curve, thresholds, ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from simstudy.analyses.classes import ALL_PAIRS
from simstudy.analyses.curves import curve
from simstudy.analyses.duplicates import near_duplicates, without_duplicates
from simstudy.analyses.groups import groups
from simstudy.analyses.multiplicity import corrected
from simstudy.analyses.relations import related
from simstudy.analyses.significant_gains import significant_gains
from simstudy.analyses.thresholds import thresholds
from simstudy.choices import check_choice, check_fraction
from simstudy.engines.comparisons import compare
from simstudy.engines.registry import TESTS
from simstudy.loaders.base import Loaded, counted
from simstudy.natural.verdict import speaks_for_other, verdict
from simstudy.outputs import Outputs

# With fewer units the bootstrap rejects true null hypotheses clearly more often than it says.
_FEW = 30

#: What to do with near-duplicates.
DUPLICATES = ("keep", "drop")


@dataclass(frozen=True)
class Examination:
    """What `examine` found on one test set.

    Attributes
    ----------
    outputs
        The systems that were compared.
    pairs
        Comparisons with the relation of the two systems, p_holm and p_bh.
    duplicates
        Near-duplicates among all systems, also those that were dropped.
    groups
        Systems that do not differ significantly; by the maximal rule of Chinchor 1992, or, where there are too many
        such groups, from the top ("greedy").
    curve, thresholds, gains
        As `simstudy.curve`, `thresholds` and `significant_gains` have them.
    verdict
        Of two systems: one sentence, with the p-value of the other alternative where the test has one.
    notes
        What a reader should know about the data.
    """

    outputs: Outputs
    pairs: pd.DataFrame
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
        The level at which groups are told apart.
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
    alike = near_duplicates(outputs, loaded.answers)
    if duplicates == "drop" and len(alike):
        kept = without_duplicates(outputs.names, alike)
        dropped = [name for name in outputs.names if name not in kept]
        if len(kept) < 2:
            raise ValueError(f"duplicates must be 'keep': all {outputs.n_systems} systems are near-duplicates")
        outputs = outputs.select(kept)
        notes.append(f"near-duplicates dropped: {', '.join(dropped)}")
    elif len(alike):
        first = f"{alike['system_a'][0]} / {alike['system_b'][0]}"
        notes.append(f"{counted(len(alike), 'pair')} of near-duplicates kept, first {first}")
    notes += _domains(outputs, options.get("strata"))
    notes += _few(outputs, options)
    if by is not None and outputs.n_systems > 1:
        # A column that is not there, or says what it can not, is told before minutes of resampling.
        related(pd.DataFrame({"system_a": outputs.names[:1], "system_b": outputs.names[1:2]}), outputs.systems, by)
    pairs = compare(outputs, **options)
    pairs = pairs.assign(relation=ALL_PAIRS) if by is None else related(pairs, outputs.systems, by)
    pairs = corrected(pairs)
    against = pairs[speaks_for_other(pairs) & (pairs["p_value"] <= alpha)]
    if len(against):
        first = f"{against['system_a'].iloc[0]} / {against['system_b'].iloc[0]}"
        notes.append(
            f"p speaks for the system with the lower precision in {counted(len(against), 'pair')}, first {first}: they "
            "accept different numbers of items"
        )
    return Examination(
        outputs,
        pairs,
        alike,
        _groups(pairs, alpha),
        curve(pairs),
        thresholds(pairs),
        significant_gains(pairs, alpha=alpha),
        _verdict(outputs, pairs, alpha, options),
        tuple(notes),
    )


def _verdict(outputs: Outputs, pairs: pd.DataFrame, alpha: float, options: Mapping[str, Any]) -> str | None:
    if len(pairs) != 1:
        return None
    pair, other = pairs.iloc[0], None
    if pair["convention"] == "default" and len(TESTS[pair["test"]].alternatives) > 1:
        alternative = "greater" if pair["alternative"] == "two-sided" else "two-sided"
        again = {**options, "alternative": alternative, "progress": None}
        other = float(compare(outputs, **again)["p_value"].iloc[0])
    return verdict(pair, alpha=alpha, other_tail=other)


def _domains(outputs: Outputs, strata: str | None) -> list[str]:
    """A note where items of several domains are tested together: they are never mixed silently."""
    if "domain" not in outputs.items or strata == "domain" or outputs.items["domain"].nunique() < 2:
        return []
    counts = outputs.items["domain"].value_counts()
    listed = ", ".join(f"{name} {count:,}" for name, count in counts.head(6).items())
    more = f" and {len(counts) - 6} more" if len(counts) > 6 else ""
    return [f"items of {len(counts)} domains are tested together: {listed}{more}"]


def _few(outputs: Outputs, options: Mapping[str, Any]) -> list[str]:
    """A note where there is so little to resample that the bootstrap is too sure."""
    unit = options.get("unit") or "item"
    n = outputs.n_items if unit == "item" else outputs.sum_by(unit).n_items
    if options.get("test", "bootstrap") != "bootstrap" or n >= _FEW:
        return []
    few = counted(n, "unit")
    return [f"only {few} ({unit}) to resample: of so few the bootstrap is too sure; --test randomization is not"]


def _groups(pairs: pd.DataFrame, alpha: float) -> pd.DataFrame:
    try:
        return groups(pairs, cutoff=alpha)
    except ValueError:
        # More than 10,000 maximal sets.
        return groups(pairs, cutoff=alpha, rule="greedy")
