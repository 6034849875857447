"""Cases from outputs: a pilot of two systems, and many systems by relation class."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import scipy

from simstudy.comparisons.comparing import compare
from simstudy.comparisons.duplicates import distinct
from simstudy.comparisons.relation_classes import related, relation_classes
from simstudy.comparisons.significant_gains import CLOSE, just_significant, significant_gains
from simstudy.metrics.base import FloatArray
from simstudy.metrics.influence import contributions, deviations
from simstudy.notes import Argument, Note
from simstudy.outputs import Outputs
from simstudy.outputs.units import in_units
from simstudy.pairs import ALL_PAIRS
from simstudy.planning.arguments import Design
from simstudy.planning.cases import LEVEL, TWO_SYSTEMS, Case, scale_of
from simstudy.planning.differences import NormalDifference
from simstudy.planning.right_or_wrong import RightOrWrongDifference
from simstudy.planning.sampled import called, for_samples
from simstudy.planning.settings import Pilot, check_size
from simstudy.planning.spreads import (
    answer_scale,
    gain_parts,
    gain_weights,
    intraclass_correlation,
    is_right_or_wrong,
    of_pairs,
    share_interval,
    spread_interval,
    widened,
)
from simstudy.text.numerals import units_name, units_text
from simstudy.validation import InputError

#: Units that outputs must have for a plan.
LEAST_UNITS = 10

#: Pairs that a relation class must have, and those in doubt that are enough without the others.
LEAST_PAIRS, _ENOUGH = 3, 10

# From this kurtosis on of differences other than 0 the intervals of their spread hold less than they say.
_LONG_TAILED = 6.0

# A p-value that nobody looks at is cheapest from few random flips.
_FEW_FLIPS: dict[str, Any] = {"n_resamples": 10, "monte_carlo": True}

# What ranges cover.
_INTERVAL = f"{100 * LEVEL:g} % interval"

# Groups of units that are left out, one at a time, to see what spreads hang on.
_GROUPS = 20


def check_units(outputs: Outputs, unit: str | None) -> Outputs:
    """The outputs with a row for each unit; a ValueError where they are too few."""
    units = in_units(outputs, unit)
    if units.n_items < LEAST_UNITS:
        named = units_text(LEAST_UNITS, called(outputs, unit or outputs.natural_unit))
        raise InputError("outputs", f"must have at least {named} for a plan", units.n_items)
    return units


def distinct_systems(pilot: Pilot) -> tuple[Pilot, list[Note]]:
    """The pilot without near-duplicates of three systems and more, and a note on them."""
    outputs = pilot.outputs
    if outputs.n_systems < 3 or pilot.duplicates == "keep":
        return pilot, []
    kept, alike = distinct(outputs, pilot.duplicates)
    if pilot.duplicates == "note" and len(alike):
        drop = Argument("duplicates", "drop")
        return pilot, [Note("near-duplicates kept", {"n_pairs": len(alike), "drop": drop})]
    gone = outputs.n_systems - kept.n_systems
    if gone == 0 or kept.n_systems < 3:
        return pilot, []
    fields = {"n": gone, "all": outputs.n_systems, "keep": Argument("duplicates", "keep")}
    return replace(pilot, outputs=kept), [Note("near-duplicates left out", fields)]


def of_outputs(pilot: Pilot) -> list[Case]:
    """The cases of a pilot's systems: two systems, or relation classes of more."""
    outputs = pilot.outputs
    if outputs.n_systems < 2:
        raise InputError("outputs", "must be of at least two systems for a plan", outputs.n_systems)
    cases = [of_two(outputs, pilot.unit)] if outputs.n_systems == 2 else of_many(outputs, pilot.by, pilot.unit)
    return [for_samples(case, pilot) for case in cases] if outputs.samples is not None else cases


def of_two(outputs: Outputs, unit: str | None = None) -> Case:
    """How two systems differ on one unit, from a pilot of both; a ValueError where they never do."""
    units = check_units(outputs, unit)
    unit = unit or outputs.natural_unit
    item, named = called(outputs, "item"), called(outputs, unit)
    n, size = units.n_items, outputs.n_items / units.n_items
    _check_magnitude(units)
    _check_spread(units, named)
    values = n * gain_parts(units)
    if size == 1 and (scale := answer_scale(units)) is not None:
        share, low, high = share_interval(int((np.abs(values) > scale / 2).sum()), n)
        middle, least, most = (RightOrWrongDifference(max(end, 1e-9), scale) for end in (share, low, high))
        differ = "that only one system has right" if is_right_or_wrong(units) else "on which the two scores differ"
        known = f"{100 * share:.3g} % of {units_name(item)} {differ} (in a pilot of {n:,})"
        ends = f"{100 * low:.3g} to {100 * high:.3g} %, the 95 % interval of such a pilot"
        design = _design(outputs, unit, scale * share**0.5)
        return Case(TWO_SYSTEMS, middle, least, most, known, ends, unit, size, *design, coverage=_INTERVAL, item=item)
    sd, low, high = spread_interval(values)
    known = f"a standard deviation of {sd:.3g} of the difference on one {units_name(named, 1)} (in a pilot of {n:,})"
    ends = f"{low:.3g} to {high:.3g}, the 95 % interval of such a pilot"
    # By the jackknife a difference of 0 is one of rounding.
    if scipy.stats.kurtosis(values[np.abs(values) > 1e-9 * np.abs(values).max()], fisher=False) > _LONG_TAILED:
        ends += ", which holds 82 to 89 % for tails as long as log-normal ones"
    # The better system of the pilot is taken to be the better one, as in the simulation, whichever is named first.
    first, second = units.scores()
    weights = (gain_weights(units) - 1) * (-1 if first < second else 1)
    pilot = NormalDifference(
        sd, scale_of(outputs.metric), float(np.mean(weights**2)), float(np.mean(values * weights)),
        (answer_scale(outputs) or 0.0) / size,
    )  # fmt: skip
    return Case(
        TWO_SYSTEMS, pilot, pilot.times(low / sd), pilot.times(high / sd), known, ends, unit, size,
        *_design(outputs, unit, sd), kurtosis=float(scipy.stats.kurtosis(values, fisher=False)), coverage=_INTERVAL,
        item=item,
    )  # fmt: skip


def of_many(outputs: Outputs, by: str | None = None, unit: str | None = None) -> list[Case]:
    """How two systems of each relation class differ on one unit: those pairs whose gain is in doubt.

    Pairs in doubt (gain below twice the just significant one) are more alike than all pairs, and plans are for them.
    The range is a 95 % interval for other systems of this kind and other units, both of the same time: families of
    systems, and groups of units, are left out in turn. The next edition of a benchmark differs more
    (`simstudy.planning.benchmarks.next_edition`).
    """
    units = check_units(outputs, unit)
    unit = unit or outputs.natural_unit
    item, named = called(outputs, "item"), called(outputs, unit)
    n, size = units.n_items, outputs.n_items / units.n_items
    _check_magnitude(units)
    # Standard errors are asked for, no p-values.
    pairs = compare(outputs, unit=unit, **_FEW_FLIPS).frame
    pairs = related(pairs, outputs.systems, by) if by else pairs.assign(relation=ALL_PAIRS)
    scale, largest = answer_scale(units) if size == 1 else None, scale_of(units.metric)
    answers = scale is not None
    without = _variances_without_groups(units)
    place = {name: k for k, name in enumerate(units.names)}
    cases = []
    for key, members in relation_classes(pairs):
        known = members[members["gain_se"] > 0]
        close = known[known["gain"] < CLOSE * just_significant(known)]
        # Of few pairs all are looked at.
        about, which = (close, "close pairs") if len(close) >= _ENOUGH else (known, "pairs")
        if len(about) < LEAST_PAIRS:
            continue
        if answers:
            # Shares of units that differ; else standard deviations of one unit's difference.
            spreads = ((about["wins"] + about["losses"]) / n).to_numpy(np.float64)
        else:
            spreads = (about["gain_se"] * np.sqrt(n)).to_numpy(np.float64)
        middle = of_pairs(spreads, scale, largest)
        i, j = (about[side].map(place).to_numpy() for side in ("system_a", "system_b"))
        of_systems = _log_error_of_systems(members)
        se = np.hypot(_log_error_of_units(without, i, j), of_systems)
        times = np.exp(scipy.stats.norm.isf((1 - LEVEL) / 2) * se * np.array([-1, 1]))
        low, high = (widened(middle, float(factor)) for factor in times)
        what = (
            f"{100 * np.median(spreads):.3g} % of {units_name(item)} that only one system has right"
            if answers
            else f"a standard deviation of {np.median(spreads):.3g} of the difference on one {units_name(named, 1)}"
        )
        single_ends = np.quantile(spreads, [0.1, 0.9])
        single = tuple(of_pairs(np.array([end]), scale, largest) for end in single_ends)
        few, most = single_ends * (100 if answers else 1)
        related_by = "" if key["relation"] == ALL_PAIRS else f", {key['relation']},"
        text = (
            f"{what} (the median of {len(about):,} {which}{related_by} on {units_text(n, named)}; "
            f"80 % of them have {few:.3g} to {most:.3g})"
        )
        others = "systems and {}" if of_systems > 0 else "{}, as systems are too few to say more,"
        ends = (
            f"spreads {times[0]:.2f} to {times[1]:.2f} times as large, a 95 % interval of the average, for other "
            f"{others.format(units_name(item))} of the same time"
        )
        ordinary = about.iloc[int(np.argsort(spreads, kind="stable")[len(spreads) // 2])]
        example = str(ordinary["system_a"]), str(ordinary["system_b"])
        design = _design(outputs, unit, middle.sd_of(0.0))
        cases.append(Case(
            key["relation"], middle, low, high, text, ends, unit, size, *design, example, (single[0], single[1]),
            coverage=f"{_INTERVAL} of the average", item=item,
        ))  # fmt: skip
    if not cases:
        raise InputError(
            "outputs", f"must have at least {LEAST_PAIRS} pairs of systems that differ, of {len(pairs)} pairs"
        )
    return cases


def _check_magnitude(units: Outputs) -> None:
    """Raise a ValueError where variances of systems' differences cannot be told."""
    parts = contributions(units.statistics, units.metric)
    check_size("outputs", units.n_items * float(np.ptp(parts, axis=0).max()), must="have differences")


def _check_spread(units: Outputs, unit: str) -> None:
    """Raise a ValueError where two systems' differences tell nothing of how much they vary."""
    parts, n = gain_parts(units), units.n_items
    these, size = units_text(n, unit), float(np.abs(parts).max())
    names = " and ".join(f"'{name}'" for name in units.names)
    if size == 0:
        raise InputError(
            "outputs",
            f"must be of systems that differ: on these {these} {names} are alike, as they may be where up to "
            f"{100 * share_interval(0, n)[2]:.1f} % differ ({100 * LEVEL:g} %); plan with a guess instead",
        )
    if answer_scale(units) is None and np.abs(parts - parts.mean()).max() <= 1e-12 * size:
        raise InputError(
            "outputs",
            f"must be of systems whose difference varies: {names} differ by the same amount on each of these "
            f"{these}; plan with a guess instead",
        )


def _variances_without_groups(units: Outputs) -> FloatArray:
    """Variances of all gains without each of some groups of units, (G, K, K), but for a factor."""
    centred = deviations(contributions(units.statistics, units.metric))
    groups = np.arange(units.n_items) % min(_GROUPS, units.n_items)
    covariances = np.stack([centred[:, groups == g] @ centred[:, groups == g].T for g in range(groups.max() + 1)])
    left = covariances.sum(axis=0) - covariances
    own = np.einsum("gkk->gk", left)
    return np.asarray(own[:, :, None] + own[:, None, :] - 2 * left)


def _log_error_of_units(without: FloatArray, i: Any, j: Any) -> float:
    """The standard error, for other units, of the mean log spread of pairs (i, j), by a delete-a-group jackknife."""
    variances = without[:, i, j]
    logs = 0.5 * np.log(np.maximum(variances, variances.max(axis=0) * 1e-3)).mean(axis=1)
    return float(np.sqrt((len(logs) - 1) / len(logs) * ((logs - logs.mean()) ** 2).sum()))


def _log_error_of_systems(members: pd.DataFrame) -> float:
    """The same for other systems, from the interval of the minimum detectable gain; 0 where there is none."""
    rows = significant_gains(members.assign(relation=ALL_PAIRS), power=(0.8,))
    low, high = (float(rows[f"true_80_{end}"].iloc[0]) for end in ("low", "high"))
    return float(np.log(high / low) / 2 / scipy.stats.norm.isf((1 - LEVEL) / 2)) if low > 0 else 0.0


def _design(outputs: Outputs, unit: str, unit_sd: float) -> tuple[Design | None, float]:
    """How items of a unit are alike, and the standard deviation on one item; none where units are items.

    Of many systems it is the mean over those that follow one another in the table.
    """
    if unit == "item":
        return None, float("nan")
    codes = pd.factorize(outputs.labels(unit))[0]
    parts = contributions(outputs.statistics, outputs.metric)
    step = max(1, outputs.n_systems // 50)
    found = [intraclass_correlation(a - b, codes) for a, b in zip(parts[:-step:step], parts[step::step], strict=False)]
    size = len(codes) / (codes.max() + 1)
    icc = float(np.nanmean(found)) if np.isfinite(found).any() else float("nan")
    if not np.isfinite(icc) or size < 1 + 1e-9:
        return None, float("nan")
    cv = float(np.bincount(codes).std() / size)
    design = Design(size, float(np.clip(icc, 0.99 * Design.least_icc(size, cv), 1.0)), cv)
    return design, unit_sd / design.unit_sd
