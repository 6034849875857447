"""What files support: the parts that were read, what each is good for, and what is missing for what."""

from __future__ import annotations

import pandas as pd

from simstudy.notes import Argument, Words
from simstudy.outputs import Outputs
from simstudy.outputs.samples import SAMPLE_OF, has_samples
from simstudy.readers.long_table import Loaded, of_several_tasks
from simstudy.readers.request import column
from simstudy.text.numerals import counted
from simstudy.text.reprs import listed

# Columns of the items that are parts of their own, or no resampling units.
_PARTS = ("id", "domain", "cluster", "factor", SAMPLE_OF, "scored_by")


def support(loaded: Loaded) -> pd.DataFrame:
    """A table of what was read: a row for each part, with what it supports, or what is missing for what.

    Columns: ``part``; ``found``, text, empty if the files do not have the part; ``supports``, text with options as
    `simstudy.notes.Argument`.

    Examples
    --------
    >>> from simstudy.readers.load import load
    >>> table = support(load({"old": [1, 0, 1], "new": [1, 1, 1]}, "accuracy"))
    >>> table.set_index("part")["found"][["systems", "items", "clusters"]].to_dict()
    {'systems': '2 (old, new)', 'items': '3', 'clusters': ''}
    """
    outputs, items = loaded.outputs, loaded.outputs.items
    clusters = counted(items["cluster"].nunique(), "cluster") if "cluster" in items else ""
    domains = [*map(str, items["domain"].unique())] if "domain" in items else []
    levels = [*map(str, items["factor"].unique())] if "factor" in items else []
    rows = [
        _systems(loaded),
        ("items", f"{outputs.n_items:,}", "scores are means over items" if clusters else "tests resample items"),
        _row("clusters", clusters, "tests resample clusters as wholes", _units(outputs)),
        _row(
            "domains",
            listed(domains, 6) if len(domains) > 1 else "",
            "comparisons by domain",
            Words("for comparisons by domain: {c}, {items}", c=column("domain"), items=Argument("items", "FILE")),
        ),
        _row(
            "tasks",
            f"{len(domains):,}" if of_several_tasks(outputs) else "",
            "averages over tasks, and each task alone",
            "for averages over tasks: logs of several tasks, or a column of tasks (--each COLUMN of compare)",
        ),
        _samples(outputs),
        _row(
            "factor",
            listed(levels, 6),
            "items that differ in the factor only are tested together",
            Words("for items crossed with prompts or raters: {c}", c=column("factor")),
        ),
        _row(
            "classes of systems",
            listed(_classes(outputs), 6),
            "thresholds and tables by relation class",
            Words("for tables by relation class: {s}", s=Argument("systems", "FILE")),
        ),
        _row("texts", ", ".join(_kinds_of_texts(loaded)), "shown with the items that decide a comparison", ""),
    ]
    return pd.DataFrame(rows, columns=["part", "found", "supports"], dtype=object)


def _row(part: str, found: str, supports: str, missing: str) -> tuple[str, str, str]:
    return part, found, supports if found else missing


def _units(outputs: Outputs) -> str:
    """What names the clusters, if the files do not: among it columns of the items that have a value several times."""
    items = outputs.items
    units = [str(name) for name in items if name not in _PARTS and 1 < items[name].nunique() < outputs.n_items]
    options = {f"unit{k}": Words(" or {unit}", unit=Argument("unit", name)) for k, name in enumerate(units[:3])}
    text = "for tests of documents or users: {columns}, {items}" + "".join(f"{{{key}}}" for key in options)
    return Words(text, columns=column("cluster"), items=Argument("items", "FILE"), **options)


def _classes(outputs: Outputs) -> list[str]:
    """The columns of the systems by which they may be classed."""
    systems = outputs.systems
    filled = [name for name in systems if name not in ("name", "source") and systems[name].notna().any()]
    return [str(name) for name in filled if not (systems[name] == systems["name"]).all()]


def _kinds_of_texts(loaded: Loaded) -> list[str]:
    if (texts := loaded.texts) is None:
        return []
    kinds = {"questions": texts.inputs, "right answers": texts.references, "answers": texts.answers}
    return [name for name, found in kinds.items() if found]


def _systems(loaded: Loaded) -> tuple[str, str, str]:
    names = loaded.outputs.names
    found = f"{len(names):,} ({listed(names, 6)})"
    if len(names) == 1:
        return "systems", found, "any comparison needs the outputs of a second system"
    return "systems", found, "a verdict, and a plan from a pilot" if len(names) == 2 else "a leaderboard, and a plan"


def _samples(outputs: Outputs) -> tuple[str, str, str]:
    if not has_samples(outputs):
        missing = Words("for pass@k, majority@k and the noise of samples: {columns}", columns=column("sample"))
        return "samples", "", missing
    if outputs.samples is not None:
        number = outputs.samples[..., 0]
        low, high = int(number.min()), int(number.max())
    else:
        counts = outputs.items[SAMPLE_OF].value_counts()
        low, high = int(counts.min()), int(counts.max())
    found = f"{low} of each question" if low == high else f"{low} to {high} of a question"
    return "samples", found, "pass@k, majority@k, and the noise of samples"
