"""What files support: the parts that were read, what each is good for, and what is missing for what."""

from __future__ import annotations

import pandas as pd

from simstudy.notes import Argument, Words
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
    clustered = "cluster" in items
    rows = [
        _systems(loaded),
        ("items", f"{outputs.n_items:,}", "scores are means over items" if clustered else "tests resample items"),
    ]
    if clustered:
        n = counted(items["cluster"].nunique(), "cluster")
        rows.append(("clusters", n, "tests resample clusters as wholes"))
    else:
        units = [str(name) for name in items if name not in _PARTS and 1 < items[name].nunique() < outputs.n_items]
        named = [Words(" or {unit}", unit=Argument("unit", name)) for name in units[:3]]
        text = "for tests of documents or users: {columns}, {items}" + "".join(
            f"{{unit{k}}}" for k in range(len(named))
        )
        options = {f"unit{k}": words for k, words in enumerate(named)}
        rows.append(
            ("clusters", "", Words(text, columns=column("cluster"), items=Argument("items", "FILE"), **options))
        )
    domains = [*map(str, items["domain"].unique())] if "domain" in items else []
    tasks = of_several_tasks(outputs)
    rows.append(
        ("domains", listed(domains, 6), "comparisons by domain")
        if len(domains) > 1
        else (
            "domains",
            "",
            Words(
                "for comparisons by domain: {columns}, {items}",
                columns=column("domain"),
                items=Argument("items", "FILE"),
            ),
        )
    )
    rows.append(
        ("tasks", f"{len(domains):,}", "averages over tasks, and each task alone")
        if tasks
        else (
            "tasks",
            "",
            "for averages over tasks: logs of several tasks, or a column of tasks (--each COLUMN of compare)",
        )
    )
    rows.append(_samples(loaded))
    if "factor" in items:
        levels = listed([*map(str, items["factor"].unique())], 6)
        rows.append(("factor", levels, "items that differ in the factor only are tested together"))
    else:
        rows.append(("factor", "", Words("for items crossed with prompts or raters: {c}", c=column("factor"))))
    group = [name for name in outputs.systems if name not in ("name", "source") and outputs.systems[name].notna().any()]
    described = [str(name) for name in group if not (outputs.systems[name] == outputs.systems["name"]).all()]
    rows.append(
        ("classes of systems", listed(described, 6), "thresholds and tables by relation class")
        if described
        else ("classes of systems", "", Words("for tables by relation class: {s}", s=Argument("systems", "FILE")))
    )
    texts = loaded.texts
    kinds_of = () if texts is None else (texts.inputs, texts.references, texts.answers)
    kinds = [] if texts is None else [
        name
        for name, one in zip(("questions", "right answers", "answers"), kinds_of, strict=True)
        if one
    ]  # fmt: skip
    rows.append(("texts", ", ".join(kinds), "shown with the items that decide a comparison" if kinds else ""))
    return pd.DataFrame(rows, columns=["part", "found", "supports"], dtype=object)


def _systems(loaded: Loaded) -> tuple[str, str, str]:
    names = loaded.outputs.names
    found = f"{len(names):,} ({listed(names, 6)})"
    if len(names) == 1:
        return "systems", found, "any comparison needs the outputs of a second system"
    return "systems", found, "a verdict, and a plan from a pilot" if len(names) == 2 else "a leaderboard, and a plan"


def _samples(loaded: Loaded) -> tuple[str, str, str]:
    outputs = loaded.outputs
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
