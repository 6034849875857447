"""How often each system wins against each other one, where systems met in battles."""

from __future__ import annotations

import numpy as np
import pandas as pd

from simstudy.outputs import Outputs, require_outputs
from simstudy.outputs.units import meetings
from simstudy.statistics.proportions import wilson
from simstudy.validation import InputError, check_fraction


def win_rates(outputs: Outputs, *, level: float = 0.95) -> pd.DataFrame:
    r"""The win rate of each system against each opponent that it met, the best systems first.

    Parameters
    ----------
    outputs
        Systems from a file of preferences (`simstudy.load` with metric "bradley_terry" or "win_rate").
    level
        Confidence of each interval by itself, a fraction.

    Returns
    -------
    rates
        One row for each system and opponent: system, opponent, battles, wins, losses, ties, win_rate (percent; a tie is
        half a win), win_rate_low and win_rate_high. The interval is Wilson's (1927) for battles that are independent of
        each other. Ties make it wider than need be; several battles with one prompt may make it too narrow.

    Raises
    ------
    ValueError
        For outputs whose items are no battles, and for a level that is no fraction.

    Examples
    --------
    >>> import simstudy as ss
    >>> from tempfile import mkdtemp
    >>> path = f"{mkdtemp()}/votes.csv"
    >>> with open(path, "w") as file:
    ...     _ = file.write("model_a,model_b,winner\nnew,old,model_a\nold,new,model_b\nnew,old,model_b\nold,new,tie\n")
    >>> rates = win_rates(ss.load(path, "bradley_terry").outputs)
    >>> rates[["system", "opponent", "battles", "wins", "win_rate"]].to_numpy().tolist()
    [['new', 'old', 4, 2, 62.5], ['old', 'new', 4, 1, 37.5]]
    """
    require_outputs(outputs)
    check_fraction("level", level)
    ranked = outputs.best_first()
    found = meetings(ranked)
    if found is None:
        raise InputError("outputs", "must be of battles: ss.load(file of preferences, 'bradley_terry')")
    won, tied = found
    met = won + won.T + tied
    i, j = np.nonzero(met)
    share = (won[i, j] + tied[i, j] / 2) / met[i, j]
    low, high = wilson(share, met[i, j], level)
    names = np.array(ranked.names, dtype=object)
    return pd.DataFrame(
        {
            "system": names[i],
            "opponent": names[j],
            "battles": met[i, j],
            "wins": won[i, j],
            "losses": won[j, i],
            "ties": tied[i, j],
            "win_rate": 100 * share,
            "win_rate_low": 100 * low,
            "win_rate_high": 100 * high,
        }
    )
