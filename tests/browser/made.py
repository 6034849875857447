"""Outputs with names and tasks of their own."""

from __future__ import annotations

from dataclasses import replace

from simstudy.outputs import Outputs

#: Names that are markup, end a script or an attribute, turn the direction of writing, or are a formula or a template.
ATTACKS = [
    "<script>window.hacked = 1</script>",
    "</script><img src=x onerror=window.hacked=1>",
    '"onload="window.hacked=1',
    "\u202egnp.exe\u2066",
    "{{ 7 * 7 }}",
    "=HYPERLINK(1)",
    "<!--<script>",
    "a & b | c_d $x$ 50 %",
    "line\nend\u2028end",
    "x" * 150,
]


def named(outputs: Outputs, names: list[str], groups: list[str] | None = None) -> Outputs:
    """The outputs with these names of systems."""
    systems = outputs.systems.assign(name=names)
    return replace(outputs, systems=systems if groups is None else systems.assign(group=groups))


def of_tasks(outputs: Outputs, n: int) -> Outputs:
    """The outputs with a column of n tasks, item by item."""
    items = outputs.items.assign(domain=[f"task {k % n}" for k in range(outputs.n_items)])
    return replace(outputs, items=items)
