"""The outcome of one comparison for machines: JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pandas as pd

from simstudy.examination.rows import sorted_pairs, systems
from simstudy.schema import JSON_NAME, JSON_VERSION
from simstudy.statistics.decisions import Decision
from simstudy.suites.averages import THESE
from simstudy.tables import records
from simstudy.text.plain_text import json_text

if TYPE_CHECKING:
    from simstudy.examination.examination import Examination
    from simstudy.suites import AcrossTasks

# Rows that are made into text together.
_TOGETHER = 2**12


# Tables of an examination that take all items together, whatever average of tasks is the answer.
_POOLED = ("systems", "pairs", "groups", "thresholds", "significant_gains")


def as_json(found: Examination, settings: Mapping[str, Any], more: Mapping[str, Any] | None = None) -> Iterator[str]:
    """Everything that was found as a JSON object, in pieces to be written one after the other; null: not known.

    Systems are listed best first, pairs the most significant first, groups as lists of names; tables are lists of
    rows. A million pairs are never held as one text. Fields of `more` come after the verdict. With averages of tasks
    the field ``answer`` has the main one, and ``all_items_together`` names the tables that are not of it.
    """
    members = found.groups.groupby("group")["system"].agg(list)
    content: dict[str, Any] = {
        "schema": {"name": JSON_NAME, "version": JSON_VERSION},
        "simstudy": version("simstudy"),
        "settings": dict(settings),
        "verdict": found.verdict if found.tasks is None else "\n".join(found.tasks.sentences),
        **({} if found.tasks is None else _answer(found.tasks)),
        **(more or {}),
        "notes": list(found.notes),
        "systems": systems(found),
        "pairs": sorted_pairs(found),
        "groups": [list(group) for group in members],
        "thresholds": found.thresholds,
        "significant_gains": found.gains,
        # None: nobody looked for them.
        "near_duplicates": None if found.test_set.duplicates == "keep" else found.duplicates,
        **({"noises": found.noises, "score_noises": found.score_noises} if len(found.noises) else {}),
    }
    if found.tasks is not None:
        content["tasks"] = found.tasks.facts()
        content |= {name: table for name, table in found.tasks.tables().items()}
    before = "{\n"
    for key, value in content.items():
        yield f'{before}  "{key}": '
        yield from _rows(value) if isinstance(value, pd.DataFrame) else [_indented(value, "  ")]
        before = ",\n"
    yield "\n}"


def _answer(tasks: AcrossTasks) -> dict[str, Any]:
    """What the verdict rests on: the main average on these tasks, of two systems or of all pairs."""
    about = {"average": tasks.average, "hypothesis": THESE, "tasks": tasks.n_tasks}
    pair = ["system_a", "system_b", "score_a", "score_b", "gain", "gain_low", "gain_high"]
    decision = Decision(tasks.alpha)
    rows = [
        {**row, "significant": decision.is_significant(pd.Series(row))}
        for row in records(tasks.answer[[*pair, "p_value", "unit", "n_units", "p_floor"]])
    ]
    answer = {**about, **rows[0]} if len(rows) == 1 else {**about, "pairs": rows}
    return {"answer": answer, "all_items_together": list(_POOLED)}


def _rows(table: pd.DataFrame) -> Iterator[str]:
    before = "[\n    "
    for start in range(0, len(table), _TOGETHER):
        for record in records(table.iloc[start : start + _TOGETHER]):
            yield before + _indented(record, "    ")
            before = ",\n    "
    yield "\n  ]" if len(table) else "[]"


def _indented(value: object, by: str) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2, default=str)
    return json_text(text.replace("\n", "\n" + by))
