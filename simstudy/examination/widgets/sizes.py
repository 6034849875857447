"""The section on smaller test sets: what is still significant on the first items, as a figure with a slider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from simstudy import plot
from simstudy.examination.sizes import Sizes, significant_from
from simstudy.pages.sections import Chart, Figure, Section, Table
from simstudy.text.numerals import p_text, score_format, units_text
from simstudy.text.plain_text import shown

if TYPE_CHECKING:
    from simstudy.examination.examination import Examination

# Systems of which a page shows what is significant at each size.
_MOST_SYSTEMS = 60

_ENDS = ("system_a", "system_b")


def size_sections(found: Examination, sizes: Sizes) -> list[Section]:
    """The section; nothing where the test set is too small to cut."""
    if len(sizes.table) == 0:
        return []
    return [
        Section(
            "Smaller test sets",
            _text(found, sizes),
            figure=Figure(
                "sizes",
                lambda: plot.smaller_test_sets(sizes.table),
                chart=lambda: _chart(found, sizes),
                alt="What is significant on the first items of the test set; the table has the numbers.",
            ),
            table=_table(found, sizes),
        )
    ]


def size_tables(found: Examination, sizes: Sizes) -> dict[str, pd.DataFrame]:
    """The CSV files: the sizes, and the fewest items from which on each pair is significant."""
    if len(sizes.table) == 0:
        return {}
    pairs = found.pairs.frame[["system_a", "system_b"]].reset_index(drop=True)
    fewest = pd.Series(significant_from(sizes)).astype("Int64")
    tables = {"sizes": sizes.table}
    return tables if len(pairs) == 1 else tables | {"sizes_pairs": pairs.assign(n_items=fewest.where(fewest > 0))}


def _text(found: Examination, sizes: Sizes) -> str:
    table = sizes.table
    half = table.iloc[int(np.argmin(np.abs(np.log(table["n_items"] / table["n_items"].iloc[0] * 2))))]
    whole = table.iloc[0]
    unit = str(found.pairs["unit"].iloc[0])
    units = "" if whole["n_units"] == whole["n_items"] else f" ({units_text(half['n_units'], unit)})"
    first = f"On the first {half['n_items']:,.0f} of {whole['n_items']:,.0f} items{units}"
    if whole["pairs"] == 1:
        outcome = "is significant" if half["significant"] else "is not significant"
        again, reach = "with the same test", ""
        # The other system may be better on these items.
        ahead, behind = (shown(found.pairs[name].iloc[0]) for name in _ENDS[:: -1 if half["gain"] < 0 else 1])
        said = f"{first}, the gain of {ahead} over {behind} {outcome} at {found.alpha:g}."
    else:
        again = "with the same test, and Holm's correction for all pairs"
        reach = " A pair could be significant if its systems differ on enough items."
        said = (
            f"{first}, {half['significant_holm']:,.0f} of {whole['pairs']:,.0f} pairs differ significantly at "
            f"{found.alpha:g} (Holm); on all items {whole['significant_holm']:,.0f} do."
        )
    return (
        f"{said} The systems were compared again on the first items, in the order of the files, {again}. Each size "
        "holds all smaller ones, so that their results depend on each other. They are of this one order of the items, "
        f"and do not predict another test set.{_domains(sizes)} The command simstudy plan is for "
        f"other sizes, larger ones too.{reach}"
    )


def _domains(sizes: Sizes) -> str:
    """A sentence where the first items lack domains of the test set."""
    n, known = sizes.table["n_items"].to_numpy(), sizes.domains
    lacking = np.flatnonzero(known < known[0])
    if not len(lacking):
        return ""
    first = lacking[0]
    return f" The first {n[first]:,} items have only {known[first]} of {known[0]} domains."


def _table(found: Examination, sizes: Sizes) -> Table:
    table = sizes.table
    columns = {"items": "{n_items:,}"}
    if (table["n_units"] != table["n_items"]).any():
        columns["clusters"] = "{n_units:,}"
    if len(found.pairs) == 1:
        digits = score_format(np.abs(found.outputs.scores()).max())
        interval = f"[{{gain_low:{digits}}} to {{gain_high:{digits}}}]"
        return Table(table, columns | {"gain": f"{{gain:{digits}}}", "95 %": interval, "p": "{p_value:p}"})
    return Table(
        table,
        columns
        | {
            "significant (uncorrected)": "{significant:,}",
            "significant (Holm)": "{significant_holm:,}",
            "also on all items": "{agreeing:,}",
            "on these items only": "{only_here:,}",
            "the other way round": "{reversed:,}",
            "could be significant": "{reachable:,}",
        },
    )


def _chart(found: Examination, sizes: Sizes) -> Chart:
    """The same as data, the smallest size first; of a pair at a size "+", "-" (the other way round) or "."."""
    table = sizes.table.iloc[::-1].reset_index(drop=True)
    unit = str(found.pairs["unit"].iloc[0])
    of_units = (table["n_units"] != table["n_items"]).any()
    label = [
        f"{n_items:,} items" + (f" ({units_text(n_units, unit)})" if of_units else "")
        for n_items, n_units in table[["n_items", "n_units"]].to_numpy(np.int64).tolist()
    ]
    if len(found.pairs) == 1:
        title = [p_text(p, found.alpha) for p in table["p_value"]]
        tables = {
            "sizes": table[["n_items", "gain", "gain_low", "gain_high", "significant"]].assign(label=label, p=title)
        }
        return Chart("sizes", tables, {"alpha": found.alpha, "pair": True})
    board = found.leaderboard["system"].tolist()
    kept = board[:_MOST_SYSTEMS]
    place = {name: k for k, name in enumerate(kept)}
    pairs = found.pairs.frame
    kept_pairs = (pairs["system_a"].isin(place) & pairs["system_b"].isin(place)).to_numpy()
    marks = np.array([".", "+", "-"])[sizes.directions[::-1, kept_pairs]]
    digits = score_format(np.abs(found.outputs.scores()).max())
    scores = {f"s{k}": row[: len(kept)] for k, row in enumerate(sizes.scores[::-1])}
    tables = {
        "sizes": table.assign(label=label),
        "pairs": pd.DataFrame(
            {
                **{end: pairs.loc[kept_pairs, f"system_{end}"].map(place).to_numpy() for end in ("a", "b")},
                "at": ["".join(column) for column in marks.T],
            }
        ),
        "systems": pd.DataFrame({"system": [shown(name) for name in kept], **scores}),
    }
    settings: dict[str, Any] = {
        "alpha": found.alpha,
        "pair": False,
        "decimals": int(digits.removeprefix("z.").removesuffix("f")) if digits.startswith("z.") else 4,
        "lower": not found.outputs.metric.higher_is_better,
        "left_out": len(board) - len(kept),
    }
    return Chart("sizes", tables, settings)
