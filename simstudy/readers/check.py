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
    names = outputs.names
    of_systems = "a verdict, and a plan from a pilot" if len(names) == 2 else "a leaderboard, and a plan"
    of_items = "scores are means over items" if "cluster" in items else "tests resample items"
    clusters = counted(items["cluster"].nunique(), "cluster") if "cluster" in items else ""
    domains = [*map(str, items["domain"].unique())] if "domain" in items else []
    factors = [*map(str, items["factor"].unique())] if "factor" in items else []
    # Part, what the files have of it, what that supports, and what to do if the files do not have it.
    rows: list[tuple[str, str, str, str]] = [
        (
            "systems",
            f"{len(names):,} ({listed(names, 6)})",
            of_systems if len(names) > 1 else "any comparison needs the outputs of a second system",
            "",
        ),
        ("items", f"{outputs.n_items:,}", of_items, ""),
        ("clusters", clusters, "tests resample clusters as wholes", _if_no_clusters(outputs)),
        (
            "domains",
            listed(domains, 6) if len(domains) > 1 else "",
            "comparisons by domain",
            Words("for comparisons by domain: {c}, {items}", c=column("domain"), items=Argument("items", "FILE")),
        ),
        (
            "tasks",
            f"{len(domains):,}" if of_several_tasks(outputs) else "",
            "averages over tasks, and each task alone",
            "for averages over tasks: logs of several tasks, or a column of tasks (--each COLUMN of compare)",
        ),
        (
            "samples",
            _samples_in_words(outputs),
            "pass@k, majority@k, and the noise of samples",
            Words("for pass@k, majority@k and the noise of samples: {columns}", columns=column("sample")),
        ),
        (
            "factor",
            listed(factors, 6),
            "items that differ in the factor only are tested together",
            Words("for items crossed with prompts or raters: {c}", c=column("factor")),
        ),
        (
            "classes of systems",
            listed(_classes(outputs), 6),
            "thresholds and tables by relation class",
            Words("for tables by relation class: {s}", s=Argument("systems", "FILE")),
        ),
        ("texts", ", ".join(_kinds_of_texts(loaded)), "shown with the items that decide a comparison", ""),
    ]
    table = [(part, content, supports if content else missing) for part, content, supports, missing in rows]
    return pd.DataFrame(table, columns=["part", "found", "supports"], dtype=object)


def _if_no_clusters(outputs: Outputs) -> str:
    """The options that name clusters: also columns of the items that have a value several times."""
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


def _samples_in_words(outputs: Outputs) -> str:
    if not has_samples(outputs):
        return ""
    numbers = outputs.items[SAMPLE_OF].value_counts() if outputs.samples is None else outputs.samples[..., 0]
    low, high = int(numbers.min()), int(numbers.max())
    return f"{low} of each question" if low == high else f"{low} to {high} of a question"
