"""`examine`: from outputs, or files of them, to everything that they say about the systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from simstudy.comparisons.comparing import compare
from simstudy.comparisons.comparisons import Comparisons
from simstudy.comparisons.duplicates import DUPLICATES, distinct, no_duplicates
from simstudy.comparisons.equivalence import check_margin, equivalence
from simstudy.engines.memory import check_memory
from simstudy.engines.registry import default_test
from simstudy.examination import notes
from simstudy.examination.examination import OPTIONS, Examination, classified
from simstudy.metrics import Metric, get_metric
from simstudy.notes import notes_kept
from simstudy.outputs import Outputs, TestSet
from simstudy.outputs.frames import Table
from simstudy.readers.items import for_unit
from simstudy.readers.load import Paths, load
from simstudy.readers.long_table import Loaded
from simstudy.readers.text_files import reading
from simstudy.running.jobs import n_workers
from simstudy.running.progress import shown_to_people
from simstudy.statistics.multiplicity import corrected
from simstudy.validation import InputError, check_choice, check_fraction

Gold = str | Path | Sequence[str | Path]


@shown_to_people
def examine(
    outputs: Outputs | TestSet | Loaded | Paths | Table,
    metric: str | Metric | None = None,
    *,
    references: Gold | None = None,
    items: str | Path | None = None,
    systems: str | Path | None = None,
    columns: Mapping[str, str] | None = None,
    allow_different: str | Sequence[str] | None = None,
    by: str | None = None,
    duplicates: str | None = None,
    alpha: float = 0.05,
    margin: float | None = None,
    test: str | None = None,
    n_resamples: int | None = None,
    seed: int | None = None,
    alternative: str | None = None,
    convention: str | None = None,
    monte_carlo: bool | None = None,
    unit: str | None = None,
    strata: str | None = None,
    n_jobs: int | None = None,
) -> Examination:
    """Compare every pair of systems of one test set, and analyse the comparisons, as ``simstudy compare`` does.

    Parameters
    ----------
    outputs
        Outputs of at least two systems; or files or folders of outputs, or a table of scores in memory, as for
        `simstudy.load`; or what that gave, for files that need more of its parameters than are here; or a `TestSet`,
        whose settings are taken where nothing else is said.
    metric
        For files and tables: what the items are scored by, as for `simstudy.load`. For outputs it must be their own.
    references, items, systems, columns, allow_different
        Of files: as for `simstudy.load`.
    by
        Column of the systems table that relation classes come from. None: of files with a table of systems its column
        group or family; else all pairs are one class.
    duplicates
        "keep" near-duplicate systems without a look at them (the default), "note" which there are, or "drop" all but
        the first by name.
    alpha
        The level of significance. Groups are of systems that do not differ at it after Holm's correction.
    margin
        The smallest true gain that would matter, on the metric's scale (`Comparisons.equivalence`).
    test, n_resamples, seed, alternative, convention, monte_carlo, unit, strata, n_jobs
        As for `simstudy.compare`. None: its default, or the setting of a `TestSet`.

    Returns
    -------
    found
        ``print(found.text)`` is what the command prints, ``found.to_json()`` what it prints with ``--json`` (settings
        have the names of `simstudy.compare` there), and
        ``found.write("report")`` what it writes with ``--out``. ``found.pairs`` are `Comparisons`; tables are data
        frames.

    Raises
    ------
    ValueError
        For outputs with another metric, fewer than two systems (before or after near-duplicates are dropped), and as
        `simstudy.load`, `simstudy.compare` and `Comparisons.equivalence`.
    FileNotFoundError
        If a path does not exist.

    Examples
    --------
    >>> from simstudy.truth import correlated_accuracies
    >>> found = examine(correlated_accuracies([0.5, 0.7, 0.9], 400))
    >>> found.groups.groupby("group")["system"].agg(list).tolist()
    [['system-3'], ['system-2'], ['system-1']]
    >>> print(found.text.splitlines()[0])
    system-3 is the best of 3 systems (95 % confidence).
    """
    check_fraction("alpha", alpha)
    if margin is not None:
        check_margin(margin)
    options = {
        **{"test": test, "n_resamples": n_resamples, "seed": seed, "alternative": alternative, "unit": unit},
        **{"convention": convention, "monte_carlo": monte_carlo, "strata": strata, "n_jobs": n_jobs},
    }
    options = {name: value for name, value in options.items() if value is not None}
    files: dict[str, str] = {}
    if isinstance(outputs, Outputs | TestSet | Loaded):
        given = {
            **{"references": references, "items": items, "systems": systems, "columns": columns},
            "allow_different": allow_different,
        }
        test_set = _known(outputs, metric, [name for name, one in given.items() if one is not None])
    else:
        with reading() as read:
            gold = () if references is None else references
            loaded = load(
                outputs,
                metric,
                references=gold,
                items=items,
                systems=systems,
                columns=columns,
                allow_different=() if allow_different is None else allow_different,
                item_columns=[name for name in (unit, strata) if isinstance(name, str) and name],
            )
        test_set = TestSet(loaded.outputs, notes=loaded.notes, texts=loaded.texts)
        files = read.files()
        if systems is not None:
            test_set = replace(test_set, by=own_relation(loaded.outputs) or ())
    return _examined(_asked(test_set, by, duplicates, options), alpha=alpha, margin=margin, files=files)


def own_relation(outputs: Outputs) -> str | None:
    """The column that relation classes come from where none is named: group, or family where it says anything."""
    known = [name for name in outputs.systems if outputs.systems[name].notna().any()]
    own = "group" if "group" in known else "family"
    return own if (outputs.systems[own] != outputs.systems["name"]).any() else None


def _known(given: Outputs | TestSet | Loaded, metric: str | Metric | None, of_files: list[str]) -> TestSet:
    """The test set of outputs that are there; a ValueError for what is said of files."""
    if of_files:
        raise InputError(of_files[0], "must not be given with outputs: it says how files are read")
    if isinstance(given, Loaded):
        test_set = TestSet(given.outputs, notes=given.notes, texts=given.texts)
    else:
        test_set = given if isinstance(given, TestSet) else TestSet(given)
    if metric is not None and get_metric(metric).name != test_set.metric:
        raise InputError("metric", f"must be that of the outputs, '{test_set.metric}'", metric)
    return test_set


def _asked(test_set: TestSet, by: str | None, duplicates: str | None, options: Mapping[str, Any]) -> TestSet:
    """The test set with what is said beside it."""
    settings = {**test_set.options, **options}
    for name in settings:
        check_choice("settings", name, tuple(OPTIONS))
    own: dict[str, Any] = {
        name: value for name, value in {"by": by, "duplicates": duplicates}.items() if value is not None
    }
    unit = settings.pop("unit")
    test_set = replace(test_set, unit=unit, settings=settings, notes=for_unit(test_set.notes, unit), **own)
    check_choice("duplicates", test_set.duplicates, DUPLICATES)
    return test_set


def _examined(test_set: TestSet, *, alpha: float, margin: float | None, files: Mapping[str, str]) -> Examination:
    every, options = test_set.outputs, test_set.options
    by = test_set.by[0] if test_set.by else None
    if test_set.duplicates != "drop":
        _check_memory(test_set)
    with notes_kept() as told:
        # Whether systems are alike is looked at only when it is asked for.
        kept = test_set.duplicates == "keep"
        outputs, alike = (every, no_duplicates()) if kept else distinct(every, test_set.duplicates)
        test_set = replace(test_set, outputs=outputs)
        notes.note_duplicates(every, outputs, alike)
        _check_memory(test_set)
        notes.note_domains(outputs, options.get("strata"))
        if margin is not None:
            check_margin(margin, outputs.metric.unit)
            notes.note_margin(margin, outputs)
        if outputs.n_systems > 1:
            # A column that is not there, or says what it can not, is told before minutes of resampling.
            names = outputs.names
            classified(pd.DataFrame({"system_a": names[:1], "system_b": names[1:2]}), outputs, by)
        pairs = corrected(classified(compare(outputs, **options).frame, outputs, by))
        if margin is not None:
            pairs = equivalence(pairs, margin, alpha=alpha)
        found = Examination(
            Comparisons(pairs, outputs.systems),
            alpha,
            options.get("seed", 0),
            test_set=test_set,
            duplicates=alike,
            margin=margin,
            files=files,
        )
        notes.note_resamples(pairs, options)
        if len(pairs) > 1:
            notes.note_pairs(found)
    return replace(found, test_set=replace(test_set, notes=(*test_set.notes, *told)))


def _check_memory(test_set: TestSet) -> None:
    """Raise a ValueError where the comparison and what is made of it would take more memory than there is."""
    outputs, options = test_set.outputs, test_set.options
    k, n, s = outputs.statistics.shape
    unit = test_set.unit or outputs.natural_unit
    if isinstance(unit, str) and unit in outputs.items:
        n = outputs.items[unit].nunique()
    check_memory(
        str(options.get("test") or default_test(outputs.metric)),
        (k, n, s),
        k * (k - 1) // 2,
        n_workers(options.get("n_jobs", 1)),
        analysed=True,
    )
