"""One line that says how p-values came about, to be printed beside them, as sacrebleu's signatures are (Post 2018)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from importlib.metadata import version

import numpy as np
import pandas as pd

from simstudy.tables import COMPARISONS, check_table, takes_pairs
from simstudy.text.plain_text import shown
from simstudy.validation import InputError

_COLUMNS = ["metric", "metric_signature", "test", "alternative", "convention", "unit", "strata", "seed", "n_resamples"]


@takes_pairs
def signature(pairs: pd.DataFrame) -> str:
    """Everything beside the outputs that decides the p-values: metric, test set, test, sides, unit, resamples, seed.

    Parameters
    ----------
    pairs
        Comparisons of one metric, test and unit; test sets may be several.

    Returns
    -------
    signature
        ``key:value`` pairs between bars, the version last; after the metric's name stands what counted its statistics
        of texts (sacrebleu's own signature). ``test_set`` is its name, or the domain that the items were cut to, where
        all pairs are of one that has a name. ``resamples`` is the largest number that was drawn for a pair; where all
        p-values were computed there are neither resamples nor a seed.

    Raises
    ------
    ValueError
        Where these are no Comparisons, or rows ask unlike questions.

    Examples
    --------
    >>> import simstudy as ss
    >>> outputs = ss.Outputs.from_scores(pd.DataFrame({"a": [1, 1, 0, 1], "b": [0, 1, 0, 1]}), "accuracy")
    >>> signature(ss.compare(outputs)).rpartition("|")[0]
    'metric:accuracy|test:sign_flips|sides:two|unit:item'
    >>> signature(ss.compare(outputs, monte_carlo=True, seed=7, alternative="greater")).rpartition("|")[0]
    'metric:accuracy|test:sign_flips|sides:one|unit:item|resamples:262144|seed:7'
    """
    found = signatures(pairs)
    if len(found) > 1:
        raise InputError("pairs", f"must be of one question, not of {len(found)}: {found[0]}, {found[1]}")
    # An empty name is missing in a table that was read again from a file of comma-separated values.
    names = list(pairs["test_set"].dropna().unique()) if "test_set" in pairs else []
    named = f"|test_set:{shown(names[0])}" if len(names) == 1 and names[0] else ""
    question, _, software = found[0].rpartition("|")
    return f"{question}{named}|{software}"


def signatures(pairs: pd.DataFrame) -> list[str]:
    """The signature of each question that a table of Comparisons asks, each once; see `signature`."""
    check_table("pairs", pairs, _COLUMNS, COMPARISONS)
    # Of a million pairs of one question one row tells it, with the most resamples.
    most = int(np.argmax(pairs["n_resamples"].to_numpy()))
    rows = pairs[_COLUMNS].iloc[[most]] if _is_one(pairs) else pairs[_COLUMNS]
    # A file of comma-separated values that is read again has nothing for empty text.
    asked = rows.astype(object).where(rows.notna(), "")
    questions = asked.groupby(_COLUMNS[:-1], sort=False)["n_resamples"].max().reset_index()
    return [_written(row) for row in questions.to_dict("records")]


def _is_one(pairs: pd.DataFrame) -> bool:
    """Whether all rows say the same of what is asked, and nothing is missing."""
    return all(bool((pairs[name] == pairs[name].iloc[0]).all()) for name in _COLUMNS[:-1])


def _written(row: Mapping[Hashable, object]) -> str:
    parts = [f"metric:{row['metric']}", row["metric_signature"], f"test:{row['test']}"]
    parts.append(f"sides:{'two' if row['alternative'] == 'two-sided' else 'one'}")
    parts.append(f"convention:{row['convention']}" if row["convention"] != "default" else "")
    parts.append(f"unit:{row['unit']}")
    parts.append(f"strata:{row['strata']}" if row["strata"] else "")
    parts.append(f"resamples:{row['n_resamples']}|seed:{row['seed']}" if row["n_resamples"] else "")
    return "|".join(str(part) for part in (*parts, f"simstudy:{version('simstudy')}") if part)
