"""The JSON Schema of a comparison, made of the columns of Comparisons, for programs that read the JSON."""

from __future__ import annotations

from typing import Any

from simstudy.schema import COLUMNS, JSON_NAME, JSON_VERSION, Column

_TYPES = {"text": ["string", "null"], "number": ["number", "null"], "whole": ["integer", "null"], "flag": "boolean"}

_NUMBER, _TEXT = {"type": ["number", "null"]}, {"type": ["string", "null"]}

# Tables whose columns the documentation of their functions has.
_TABLES = ("systems", "thresholds", "significant_gains")
_OF_SAMPLES, _OF_TASKS = ("noises", "score_noises"), ("by_task", "averages", "average_ranks", "task_scores",
                                                      "without_task")  # fmt: skip


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what `simstudy compare --json` prints: an object, or a list of such."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{JSON_NAME}, version {JSON_VERSION}",
        "description": "What simstudy compare --json prints: an object for each comparison. null: not known.",
        "oneOf": [{"$ref": "#/$defs/comparison"}, {"type": "array", "items": {"$ref": "#/$defs/comparison"}}],
        "$defs": {"comparison": _comparison(), "pair": _pair(), "gate": _gate(), "row": {"type": "object"}},
    }


def _comparison() -> dict[str, Any]:
    rows = {"type": "array", "items": {"$ref": "#/$defs/row"}}
    every = {
        "schema": {
            "type": "object",
            "properties": {"name": {"const": JSON_NAME}, "version": {"const": JSON_VERSION}},
            "required": ["name", "version"],
        },
        "simstudy": {"type": "string", "description": "version of simstudy"},
        "settings": {"type": "object", "description": "options by name"},
        "verdict": {**_TEXT, "description": "the answer in words; of more than two systems null"},
        "notes": {"type": "array", "items": {"type": "string"}},
        "pairs": {
            "type": "array",
            "items": {"$ref": "#/$defs/pair"},
            "description": "a row for each pair, the most significant first",
        },
        "groups": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
        **dict.fromkeys(_TABLES, rows),
        "near_duplicates": {"anyOf": [rows, {"type": "null"}]},
    }
    sometimes = {
        "gates": {"type": "array", "items": {"$ref": "#/$defs/gate"}, "description": "one for each gate"},
        "answer": {"type": "object", "description": "of several tasks: the average that is asked for"},
        "all_items_together": {"type": "array", "items": {"type": "string"}},
        "n_parts": {"type": "integer", "description": "of several metrics or domains and two systems"},
        "p_holm_parts": {**_NUMBER, "description": "p_value after Holm's correction for these comparisons"},
        "tasks": {"type": "object", "description": "what was averaged"},
        **dict.fromkeys((*_OF_SAMPLES, *_OF_TASKS), rows),
    }
    return {"type": "object", "properties": every | sometimes, "required": [*every], "additionalProperties": False}


def _pair() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {column.name: _of_column(column) for column in COLUMNS},
        "required": [column.name for column in COLUMNS if column.added_by in ("", "corrected")],
        "additionalProperties": False,
    }


def _of_column(column: Column) -> dict[str, Any]:
    least = {"minimum": 0} if column.kind == "whole" else {}
    ends = {"minimum": 0, "maximum": 1} if column.unit == "fraction" else least
    unit = "the metric's scale" if column.unit == "score" else column.unit
    return {"type": _TYPES[column.kind], **ends, "description": column.meaning + (f" ({unit})" if unit else "")}


def _gate() -> dict[str, Any]:
    every = {
        "gate": {"enum": ["better", "worse", "not worse", "equivalent"]},
        "system": {"type": "string"},
        "other": {"type": "string"},
        "margin": {**_NUMBER, "description": "null where the gate has none"},
        "of": {"type": "string", "description": "the comparison in words"},
        "p_value": {**_NUMBER, "description": "two-sided, and one-sided where there is a margin"},
        "alpha": {"type": "number", "description": "what p_value was compared with"},
        "gain": {**_NUMBER, "description": "of system over other, on the metric's scale"},
        "gain_low": _NUMBER,
        "gain_high": _NUMBER,
        "passed": {"type": "boolean"},
    }
    look = {
        "type": "object",
        "properties": {
            "file": {"type": "string"},
            "number": {"type": "integer"},
            "level": {"type": "number", "description": "what of alpha the look may use"},
            "again": {"type": "boolean", "description": "the file had this look already"},
        },
        "required": ["file", "number", "level", "again"],
    }
    sometimes = {
        "n_units": {"type": "integer", "description": "of a sequential test"},
        "e_value": {"type": "number", "description": "of a sequential test: the largest so far"},
        "look": look,
    }
    return {"type": "object", "properties": every | sometimes, "required": [*every], "additionalProperties": False}
