"""The section on the items that decide gains: a table of the first two systems, and the data of all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from simstudy.comparisons.deciding_items import CHOSEN, DecidingItems, contributions_of_pairs, items_of
from simstudy.examination.samples import in_points
from simstudy.examination.widgets.item_data import MOST_SYSTEMS, item_data
from simstudy.outputs.samples import has_samples
from simstudy.pages.sections import Column, Section, Table, Widget
from simstudy.text.numerals import score_format
from simstudy.text.plain_text import printable, shown

if TYPE_CHECKING:
    from simstudy.examination.examination import Examination

# Items of a pair that a page in Markdown lists, and characters of their texts there.
_ROWS, _CHARACTERS = 10, 160
# Items of a file: of the only pair, and of each of several; characters of a text there.
_MOST, _EACH, _CELL = 100, 10, 2000
# Leaving out the items of a metric of arrays one at a time takes so many of them at most.
_MOST_OF_ARRAYS = 5000


def item_sections(found: Examination) -> list[Section]:
    """The section; nothing where a metric of arrays would take too long."""
    if not _can_be_told(found):
        return []
    best = _first_two(found)
    # The first sample by one system and the first by the other have nothing in common but their question.
    questions = best.clusters if has_samples(found.outputs) else None
    of_samples = questions is not None
    table = _table(best, found) if questions is None else _questions(questions)
    several = found.outputs.n_systems > 2
    names = f"{shown(best.system_a)} and {shown(best.system_b)}{', the first two systems' if several else ''}"
    which = f"The {'questions' if of_samples else 'items'} with the largest contributions to the gain of {names}."
    sizes = table.rows["contribution"].abs()
    equal = len(sizes) > 1 and sizes.max() > 0 and bool(np.isclose(sizes.min(), sizes.max(), rtol=1e-9))
    if equal and not of_samples:
        each = f"{sizes.max():{score_format(sizes.max())}}{in_points(found)}"
        which = (
            f"Items that add or take most of the gain of {names}: the first {len(sizes)} in the order of the files. "
            f"Each adds or takes {each}."
        )
    of_two = f"{which} {' '.join(best.sentences[of_samples:])} {_contribution(found)}"
    of_any = f"Choose two systems to see the items on which they differ most. {CHOSEN} {_contribution(found)}"
    return [
        Section(
            "Where they differ",
            of_two,
            table=table,
            on_screen=(lambda: (of_any, table)) if several else None,
            widget=lambda: Widget("items", item_data(found)),
        )
    ]


def item_tables(found: Examination) -> dict[str, pd.DataFrame]:
    """The CSV file: the items of the only pair, or of neighbours by score; long texts are cut."""
    if not _can_be_told(found):
        return {}
    return {"deciding_items": pd.concat(_listed(found), ignore_index=True)}


def _listed(found: Examination) -> Iterator[pd.DataFrame]:
    names = found.leaderboard["system"].tolist()[:MOST_SYSTEMS]
    n = _MOST if len(names) == 2 else _EACH
    ranked = found.outputs.select(names)
    first = np.arange(len(names) - 1)
    for k, parts in enumerate(contributions_of_pairs(ranked, first, first + 1)):
        one, other = names[k : k + 2]
        rows = items_of(ranked.select([one, other]), parts, n, found.test_set.texts)
        rows = rows.map(lambda cell: cut(cell, _CELL) if isinstance(cell, str) else cell)
        yield pd.concat([pd.DataFrame({"system_a": one, "system_b": other}, index=rows.index), rows], axis=1)


def _can_be_told(found: Examination) -> bool:
    outputs = found.outputs
    return outputs.metric.of_sums or (outputs.n_systems == 2 and outputs.n_items <= _MOST_OF_ARRAYS)


def _first_two(found: Examination) -> DecidingItems:
    one, other = found.leaderboard["system"].iloc[:2]
    return found.deciding_items(str(one), str(other), _ROWS)


def _contribution(found: Examination) -> str:
    """What a contribution is, for this metric."""
    metric = found.outputs.metric
    points = f" in{in_points(found)}" if in_points(found) else ""
    if not metric.of_sums:
        return f"A contribution is what leaving the item out takes from the gain{points}."
    exact = "" if metric.ratio(found.outputs.statistics[:1]) is not None else "nearly "
    return f"Contributions are{points or ' on the scale of the scores'} and {exact}add up to the gain."


def _questions(clusters: pd.DataFrame) -> Table:
    """Questions of several samples by what they add to the gain."""
    contribution = score_format(clusters["contribution"].abs().max(), float(clusters["contribution"].abs().min()))
    columns: dict[str, str | Column] = {"question": "{cluster:name}", "samples": "{n_items:,}"}
    return Table(clusters, columns | {"contribution": f"{{contribution:{contribution}}}"})


def _table(best: DecidingItems, found: Examination) -> Table:
    rows = best.items
    one, other = shown(best.system_a), shown(best.system_b)
    texts = [name for name in ("input", "reference", "answer_a", "answer_b") if name in rows]
    for name in texts:
        rows = rows.assign(**{name: pd.Series([None if pd.isna(text) else in_line(text) for text in rows[name]])})
    scores = rows[["score_a", "score_b"]].to_numpy()
    digits = score_format(np.nanmax(np.abs(scores))) if np.isfinite(scores).any() else ".4g"
    contribution = score_format(np.abs(rows["contribution"]).max(), float(np.abs(rows["contribution"]).min()))
    columns: dict[str, str | Column] = {"item": "{id:name}"}
    columns |= {name: f"{{{name}:name}}" for name in ("domain", "cluster") if name in rows}
    if np.isfinite(scores).any():
        columns |= {f"score of {one}": f"[{{score_a:{digits}}}]", f"score of {other}": f"[{{score_b:{digits}}}]"}
    columns["contribution"] = f"{{contribution:{contribution}}}"
    headings = {
        "input": "input",
        "reference": "reference",
        "answer_a": f"answer of {one}",
        "answer_b": f"answer of {other}",
    }
    columns |= {headings[name]: f"[{{{name}}}]" for name in texts}
    return Table(rows, columns)


def in_line(text: str) -> str:
    """A text for a cell of a table: on one line, and cut."""
    return printable(cut(" ".join(text.split()), _CHARACTERS))


def cut(text: str, most: int) -> str:
    """A text of at most so many characters; the mark of a cut one says how many it has."""
    return text if len(text) <= most else f"{text[:most]} … [{len(text):,} characters]"
