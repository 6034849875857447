"""Groups of systems that do not differ significantly (Chinchor 1992, Figures 7-11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.pairs import order_of
from simstudy.statistics.decisions import Decision
from simstudy.statistics.multiplicity import corrected
from simstudy.tables import TEST_SET, require_columns, require_one_table, takes_family
from simstudy.validation import InputError, check_choice

RULES = ("maximal", "greedy")

#: Maximal sets can be as many as 3^(systems / 3); nobody reads so many.
MOST_GROUPS = 1_000


@takes_family
def groups(
    pairs: pd.DataFrame,
    *,
    alpha: float = 0.05,
    certainty: float | None = None,
    rule: str = "maximal",
    p: str = "p_holm",
) -> pd.DataFrame:
    """Groups of systems that do not differ significantly.

    Two systems differ where the gain of one is significant, by the rule that holds everywhere
    (`simstudy.statistics.decisions.Decision`): p is at most alpha, the test prefers the system with the better
    score, and the units that differ are enough. By default p-values are corrected by Holm for the number of pairs: of
    equally good systems some two then differ in less than 5 % of tables, where single tests keep their level. With p =
    "p_value" nothing is corrected: of ten equally good systems some two differ at 0.05 more often than not. That
    systems do not differ is not transitive, so groups can overlap, and a group need not be a run of
    neighbours.

    Parameters
    ----------
    pairs
        Comparisons of all pairs of K systems: one test set, metric and test.
    alpha, certainty
        Fractions; Chinchor's (1992) are 0.1 and 0.99. With a certainty, systems differ only where the probability that
        more resamples would leave p at or below alpha is at least that; None takes p as it is.
    rule
        "maximal": every largest possible set of systems no two of which differ, as in her figures. "greedy": the
        best system left leads, those after it join up to the first that differs from the leader, where the next
        group begins; members of a group may differ from each other.
    p
        "p_holm" or "p_bh" of `Comparisons.corrected`, or "p_value" for each pair by itself: a pair that does not
        differ by its own p-value does not by a corrected one either. A corrected one is made where it is not there.

    Returns
    -------
    groups
        One row for each group and member: task, test_set, n_items, metric, test, alternative, rule, p, alpha,
        certainty (NaN where none was asked for), group (1 … by places), n_members, rank (1 for the best score;
        equal ones by name), system, score. A system that differs from all others is a group of its own.

    Raises
    ------
    ValueError
        For a table that lacks columns, mixes test sets or tests, or has not each pair once with the better system
        first; for options outside their rules; and where there are more than 1,000 maximal sets.

    Examples
    --------
    Chinchor's GE, GE-CMU and UMASS: 0.0994 is below 0.1, but with 9,999 shuffles it is not certainly so.

    >>> pairs = pd.DataFrame({
    ...     "task": "MUC-4", "test_set": "TST3", "n_items": 100, "metric": "f1", "test": "randomization",
    ...     "system_a": ["GE", "GE", "GE-CMU"], "system_b": ["GE-CMU", "UMASS", "UMASS"],
    ...     "score_a": [56.01, 56.01, 51.98], "score_b": [51.98, 51.61, 51.61], "gain": [4.03, 4.40, 0.37],
    ...     "p_value": [0.0415, 0.0994, 0.8918], "n_extreme": [414, 993, 8917], "n_resamples": 9999})
    >>> groups(pairs, alpha=0.1, certainty=0.99, p="p_value").groupby("group")["system"].agg(list).tolist()
    [['GE', 'UMASS'], ['GE-CMU', 'UMASS']]
    """
    check_choice("rule", rule, RULES)
    decision = Decision(alpha, certainty, p)
    columns = [*TEST_SET, "test", "system_a", "system_b", "score_a", "score_b", "gain", "n_extreme", "n_resamples"]
    require_columns(pairs, [*columns, "p_value"])
    require_one_table(pairs)
    order = order_of(pairs)
    pairs = pairs if p in pairs else corrected(pairs)
    if pairs[p].isna().any():
        raise InputError(p, "must be a number in every row")
    differ = order.matrix(decision.significant(pairs))
    members = _maximal(differ) if rule == "maximal" else _greedy(differ)
    place = np.concatenate(members)
    sizes = [len(group) for group in members]
    return pd.DataFrame(
        {
            **{column: pairs[column].iloc[0] for column in [*TEST_SET, "test", "alternative"] if column in pairs},
            "rule": rule,
            "p": p,
            "alpha": alpha,
            "certainty": np.nan if certainty is None else certainty,
            "group": np.repeat(np.arange(1, len(members) + 1), sizes),
            "n_members": np.repeat(sizes, sizes),
            "rank": place + 1,
            "system": order.names[place],
            "score": order.by_place(pairs["score_a"], pairs["score_b"])[place],
        }
    )


def _maximal(differ: NDArray[np.bool_]) -> list[list[int]]:
    found = list(islice(_cliques(~differ & ~np.eye(len(differ), dtype=np.bool_)), MOST_GROUPS + 1))
    if len(found) > MOST_GROUPS:
        raise InputError(f"rule 'maximal' gives more than {MOST_GROUPS:,} groups here; rule='greedy' gives few")
    return sorted(found)


def _cliques(alike: NDArray[np.bool_]) -> Iterator[list[int]]:
    """Every largest set no two of which are apart (Bron and Kerbosch 1973, with the pivot of Tomita et al. 2006).

    Sets of systems are the bits of whole numbers: a thousand systems are a thousand of these, and not a graph of half a
    million edges.
    """
    neighbours = [int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little") for row in alike]
    # What is chosen, what may join it, and what would have but was looked at before.
    todo: list[tuple[list[int], int, int]] = [([], (1 << len(alike)) - 1, 0)]
    while todo:
        chosen, candidates, seen = todo.pop()
        if not candidates:
            if not seen:
                yield sorted(chosen)
            continue
        for k in _members(candidates & ~neighbours[_pivot(neighbours, candidates, seen)]):
            todo.append(([*chosen, k], candidates & neighbours[k], seen & neighbours[k]))
            candidates &= ~(1 << k)
            seen |= 1 << k


def _pivot(neighbours: Sequence[int], candidates: int, seen: int) -> int:
    """The system that is alike to the most candidates."""
    found, most = -1, -1
    # One that is alike to all others leaves nothing to branch on: no other needs to be looked at.
    enough = candidates.bit_count() - 1
    for k in _members(candidates | seen):
        if (n := (neighbours[k] & candidates).bit_count()) > most:
            found, most = k, n
            if n >= enough:
                break
    return found


def _members(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _greedy(differ: NDArray[np.bool_]) -> list[list[int]]:
    members = [[0]]
    for k in range(1, len(differ)):
        if differ[members[-1][0], k]:
            members.append([])
        members[-1].append(k)
    return members
