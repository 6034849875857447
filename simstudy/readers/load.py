"""The one door to all formats: Outputs of systems from files or from a table in memory, and what these support."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from simstudy.files.packed import as_given, zip_files_named
from simstudy.metrics import METRICS, Metric, get_metric
from simstudy.metrics.mean import MEAN, sample_metric, strength_metric
from simstudy.metrics.registry import directed, sounds_like_error
from simstudy.notes import Argument, Note, Words, notes_kept, tell
from simstudy.outputs import Outputs
from simstudy.outputs.frames import Table, is_table
from simstudy.outputs.samples import SAMPLE_OF, has_samples
from simstudy.readers.columns import check_columns, numbers
from simstudy.readers.formats import Format, format_of, formats
from simstudy.readers.items import describe_systems, read_systems, system_rows
from simstudy.readers.logs import DIFFERENCES, only_in_logs
from simstudy.readers.long_table import Loaded, LongTable, number_range, of_several_tasks, outputs_of
from simstudy.readers.request import (
    Named,
    Request,
    Texts,
    Ties,
    column,
    named_file,
    named_paths,
    opened_files,
    without_others,
)
from simstudy.readers.scores import read_table_in_memory
from simstudy.running.progress import doing, shown_to_people
from simstudy.text.numerals import counted
from simstudy.text.reprs import listed
from simstudy.validation import InputError, check_choice, check_flag, check_list, check_text, check_texts

# Names of files with more letters are not all listed.
_LONG_NAMES = 60

#: Files of outputs: one path, several, some of them with the names of their systems, or all by these names.
Paths = str | Path | Sequence[Named] | Mapping[str, str | Path]


@shown_to_people
def load(
    paths: Paths | Table,
    metric: str | Metric | None = None,
    *,
    references: str | Path | Sequence[str | Path] = (),
    format: str | None = None,
    items: str | Path | None = None,
    systems: str | Path | None = None,
    columns: Mapping[str, str] | None = None,
    missing: str = "error",
    domain: str | None = None,
    lower_is_better: bool | None = None,
    texts: Texts | None = None,
    ties: str | Ties = "jitter",
    ids: str = "auto",
    allow_different: str | Sequence[str] = (),
    item_columns: Sequence[str] = (),
    narrow: bool = False,
) -> Loaded:
    r"""Outputs of systems from files, or from a table of scores in memory.

    Parameters
    ----------
    paths
        Files, or folders or zip files of files, packed (.gz, .zst) or not; one system a file, except tables and logs
        that name their systems. A dictionary names the systems: ``{"base": "runs/base/hyp.txt", "new":
        "runs/new/hyp.txt"}``; in a list a pair ``("base", "runs/base/hyp.txt")`` does. Files of one name are called
        after the folders that differ. Or a table of scores: of pandas, polars or pyarrow, wide or long as in a file,
        whose index may name the items; or a dictionary system -> scores.
    metric
        What the items are scored by: a name in `simstudy.metrics.METRICS`. For logs of evaluation harnesses also the
        name of a metric in the logs, ``"acc_norm"``. None, if the files leave one choice: accuracy for scores that are
        all 0 or 1, the mean for other scores.
    references
        Files of gold answers: reference texts, a gold treebank, gold alignments, qrels.
    format
        The name of a format; by default the one that the files' content, their names and the metric say.
    items
        A table (CSV, TSV, JSON, Parquet) with a row for each item: domain, cluster, … Rows are matched by ids, or are
        in the order of the files if those have no ids.
    systems
        A table with a row for each system, as for `simstudy.describe_systems`: system, group, family, …
    columns
        Our name -> the name in the files: ``{"score": "resolved", "item": "instance_id"}``. ``{"cluster": "user"}``
        says which items are resampled together, and ``{"sample": "k"}`` what numbers several answers to one item
        (``{"sample": "row"}``: their order). ``{"item": "category+id"}`` joins two columns. Nested keys of JSON have
        dotted names, ``{"score": "metrics.em"}``. ``{"length": "length"}`` makes a column of numbers no system. For
        logs also the metric and the filter, of all tasks or of some: ``{"score": "acc", "score@gsm8k": "exact_match",
        "filter@gsm8k": "strict-match", "score@mmlu_*": "acc_norm"}``.
    missing
        What to do if a system lacks an item: "error", "drop" the item, or "zero" for no answer.
    domain
        Only the items of this domain, which gives the test set its name; candidates are ranked among those of it.
    lower_is_better
        True for scores that are errors (word error rates, losses): the mean is then the metric "mean (lower is
        better)". None: higher is better, with a note if the files call the scores after an error.
    texts
        For BLEU and chrF of plain texts: ``simstudy.Texts(tokenize="zh", lowercase=True)``.
    ties
        Rank of candidates with equal scores: "jitter" (at random), "keep" (an n-best list has all that tie with its
        last one), or ``simstudy.Ties("jitter", seed=3)``.
    ids
        "auto": lines of text are matched by their ids if all files have the same ones (Kaldi, sclite, fairseq,
        ``id<TAB>text``), which the first note says. "none": lines are matched by their order.
    allow_different
        What logs of one task may differ in, which is an error otherwise: "metric", "filter", "scorer", "version",
        "shots", "input", "target", "prompt", or several of these.
    item_columns
        Columns of tables of scores that describe the items and are no systems. Tables need not have them.
    narrow
        For large tables: scores are held in the fewest bytes (right and wrong answers in one, counts in four), and
        texts of items are not kept. All numbers of a comparison are the same.

    Returns
    -------
    loaded
        The Outputs, with the systems' answers where the files have them, and notes, the first of which says what was
        read. ``loaded.named(test_set="2024")`` gives them a name that appears in every table. Packed files may unpack
        to 1G, or to the size in the environment variable SIMSTUDY_MAX_SIZE ("4G", "none").

    Raises
    ------
    InputError
        For anything in the files that is not as the format has it, with file and line; for unknown names.
    NoSuchFile
        If a path does not exist.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> folder = Path(mkdtemp())
    >>> for name, text in {"old": "a cat\nthe dog", "new": "the cat\nthe dog", "gold": "the cat\nthe dog"}.items():
    ...     _ = (folder / f"{name}.txt").write_text(text)
    >>> loaded = load([folder / "old.txt", folder / "new.txt"], "accuracy", references=folder / "gold.txt")
    >>> loaded.outputs.names, loaded.outputs.scores().tolist()
    (['old', 'new'], [50.0, 100.0])
    """
    read_by = directed(_metric_to_read(metric), lower_is_better)
    check_text("domain", domain, "the name of a domain", or_none=True)
    check_flag("narrow", narrow)
    check_texts("item_columns", item_columns, "names of columns")
    if not isinstance(texts, Texts | None):
        raise InputError("texts", "must be Texts(tokenize, lowercase)", texts)
    check_columns(columns, read_by)
    differences = _several("allow_different", allow_different, "names, or one name")
    for name in differences:
        check_choice("allow_different", name, tuple(DIFFERENCES))
    with notes_kept() as notes, zip_files_named():
        in_memory = is_table(paths) or (
            isinstance(paths, Mapping) and not any(isinstance(path, str | Path) for path in paths.values())
        )
        named = [] if in_memory else named_paths(paths)  # type: ignore[arg-type]
        files, inside = ({}, frozenset()) if in_memory else opened_files(named)
        other_files = {
            "references": [
                named_file("references", path) for path in _several("references", references, "paths, or one path")
            ],
            "items": [] if items is None else [named_file("items", items)],
            "systems": [] if systems is None else [named_file("systems", systems)],
        }
        files = without_others(files, inside, other_files)
        request = Request(
            tuple(files),
            read_by,
            tuple(other_files["references"]),
            items=next(iter(other_files["items"]), None),
            columns=dict(columns or {}),
            missing=missing,
            texts=texts or Texts(),
            ties=ties if isinstance(ties, Ties) else Ties(ties),
            domain=domain,
            allow_different=tuple(differences),
            names={path: name for path, name in files.items() if name is not None},
            choose_metric=metric is None,
            asked=metric if isinstance(metric, str) else "",
            ids=ids,
            keeps_texts=not narrow,
            item_columns=tuple(item_columns),
            systems=tuple(
                name for path in other_files["systems"] for name in system_rows(read_systems(path), str(path))["name"]
            ),
            narrow=narrow,
        )
        folders = [path for _, path in named if path.is_dir()]
        table = paths if in_memory else None
        loaded = read(request, format, lower_is_better, inside, folders=folders, table=table)
        outputs = loaded.outputs if systems is None else describe_systems(loaded.outputs, systems)
    return replace(loaded, outputs=replace(outputs, task="", test_set=domain or ""), notes=(*loaded.notes[:1], *notes))


def read(
    request: Request,
    format: str | None = None,
    lower_is_better: bool | None = None,
    inside: Collection[Path] = frozenset(),
    *,
    folders: Sequence[Path] = (),
    table: object = None,
) -> Loaded:
    """Outputs from the files of a request, of which those in `inside` come from folders, or from a table in memory.

    Each of the `folders` must have files of the format. The result's only note says what was read; others are told.
    """
    if table is None:
        chosen, paths = format_of(request, format, inside)
        for folder in folders:
            if not any(path.is_relative_to(folder) for path in paths):
                raise InputError(f"folder {folder} has no {chosen.what}")
        request = replace(request, paths=paths)
    else:
        chosen, paths = formats()["scores"], ()
        if format not in (None, "scores"):
            raise InputError("format", "must be 'scores' or None for a table in memory", format)
        if request.references:
            raise InputError("references", "must not be given with a table in memory")
        if {*formats()["arena"].columns} <= {*map(str, getattr(table, "columns", ()))}:
            raise InputError("a table of preferences between two systems must be in a file")
    only_of_logs = bool(request.asked) and only_in_logs(request.asked)
    names_measures = chosen.name == "trec-eval" or (chosen.is_log and chosen.name != "swe-bench")
    if only_of_logs and not names_measures:
        # Raises an error: we do not know the metric.
        get_metric(request.asked)
    if request.choose_metric and (not chosen.scored or chosen.metrics):
        request = _with_only_metric(request, chosen)
    _check_options(request, chosen)
    with doing(f"reading {counted(len(paths), 'file')}"):
        rows = chosen.read(request) if table is None else read_table_in_memory(table, request)
    remarks, reason = [*rows.remarks], ""
    is_open = (only_of_logs and chosen.is_log) or request.choose_metric
    if is_open and (rows.metric or request.metric) == get_metric(MEAN) and tuple(rows.values) == ("score",):
        metric, reason = _metric_of_scores(rows, request)
        request = replace(request, metric=metric)
    elif request.choose_metric and rows.metric == (metric := get_metric("accuracy")):
        reason = "labels are compared"
    if reason:
        text, option = "the metric is {name}, as {reason} ({option} chooses another)", Argument("metric", "NAME")
        remarks.append(Words(text, name=metric.name, reason=reason, option=option))
    loaded = outputs_of(rows, request)
    outputs = loaded.outputs
    if lower_is_better is None and (doubt := direction_doubt(loaded)):
        tell(doubt)
    first_note = Note(
        "read",
        {
            "files": _files_in_words(paths) if paths else "the table",
            "what": rows.read_as or (chosen.what if paths else "a table"),
            "systems": listed(outputs.names, 12),
            "by": f" by '{rows.items_by}'" if rows.items_by else "",
            "n": f"{outputs.items[SAMPLE_OF].nunique() if SAMPLE_OF in outputs.items else outputs.n_items:,}",
            "remarks": Words(
                "".join(f"; {{remark{k}}}" for k in range(len(remarks))),
                **{f"remark{k}": remark for k, remark in enumerate(remarks)},
            ),
        },
    )
    if request.domain is not None and "domain" in outputs.items:
        outputs = outputs.domain(request.domain)
    return replace(loaded, outputs=outputs, notes=(first_note,))


def _files_in_words(paths: Sequence[Path]) -> str:
    """The files that were read, for the first note: all of a few, else how many there are."""
    if len(paths) > 1 and sum(len(path.name) for path in paths[:3]) > _LONG_NAMES:
        return f"{counted(len(paths), 'file')} such as {paths[0].name}"
    return listed([str(as_given(path)) for path in paths], 3)


def _metric_to_read(metric: str | Metric | None) -> Metric:
    """The metric by which items are read: accuracy for a metric of samples, the mean for one that only logs know."""
    if isinstance(metric, str) and sample_metric(metric):
        return get_metric("accuracy")
    return get_metric(MEAN if metric is None or (isinstance(metric, str) and only_in_logs(metric)) else metric)


def _with_only_metric(request: Request, format: Format) -> Request:
    """The request with the one metric of a format that compares with references; an InputError if it has several."""
    names = [name for name in format.metrics if name in METRICS]
    if len(names) == 1:
        return replace(request, metric=get_metric(names[0]), choose_metric=False)
    examples = f", such as {listed(names)}" if names else ""
    raise InputError("metric", f"must be given for {format.what}: what the items are scored by{examples}")


def _check_options(request: Request, format: Format) -> None:
    """Raise an InputError for an option that the format has not, or a system that is its own reference."""
    outputs = {path.resolve() for path in request.paths}
    if again := [path for path in request.references if path.resolve() in outputs]:
        remedy = Words("{gold} names a column of gold tags or labels in the same file", gold=column("gold"))
        raise InputError("references", f"must not name a system's file: {again[0]} is one", remedy=remedy)
    if (request.texts != Texts() or request.mark) and format.name != "text":
        raise InputError("texts", f"must not be given for {format.what}: tokenize and lowercase are for plain text")
    if request.allow_different and not format.is_log:
        raise InputError("allow_different", f"must not be given for {format.what}: it is for logs of harnesses")
    if request.ties.how != "jitter" and format.name != "candidates":
        raise InputError("ties", f"must not be given for {format.what}: they are for candidates")
    if strength_metric(request.metric.name) is not None and format.name != "arena":
        rule = f"'{request.metric.name}' is for preferences: a table with columns model_a, model_b and winner"
        raise InputError("metric", rule)
    if request.names and format.name == "candidates":
        raise InputError("paths", f"must have no names for {format.what}: its columns name the scoring functions")
    if request.references and format.scored and format.name not in ("scores", "candidates"):
        raise InputError("references", f"must not be given for {format.what}, which have scores already")


def _metric_of_scores(table: LongTable, request: Request) -> tuple[Metric, str]:
    """The metric of scores that were read by the mean, and the reason: accuracy, or the mean as they are.

    Without a metric, scores of 0 and 1 only are accuracy, and so are shares of samples. A metric of logs is accuracy if
    its values are from 0 to 1.
    """
    scores = pd.Series(numbers(table.rows["score"]))
    if not request.choose_metric:
        right = bool(scores.min() >= 0 and scores.max() <= 1)
        reason = f"'{request.asked}' of the logs has values from {scores.min():g} to {scores.max():g}"
    elif "n_samples" in table.rows and scores.between(0, 1).all():
        right, reason = True, "scores are shares of samples"
    else:
        are_right_or_wrong = scores.isna() | scores.isin((0, 1))
        of_systems = are_right_or_wrong.groupby(table.rows["system"].array, observed=True, sort=False).all()
        right = bool(of_systems.all())
        reason = "all scores are 0 or 1" if right else "scores are other numbers than 0 and 1"
        if of_systems.any() and not right:
            first, other = (str(of_systems.index[of_systems == value][0]) for value in (True, False))
            rule = f"must be given: scores of '{first}' are 0 or 1, those of '{other}' are not"
            aside = Words("{aside} makes '{other}' a column of the items; ", aside=column(other, other), other=other)
            mean = Argument("metric", MEAN)
            remedy = Words("{aside}{mean} compares means", aside=aside if table.wide else "", mean=mean)
            raise InputError("metric", rule, remedy=remedy)
    return get_metric("accuracy") if right else request.metric, reason


def direction_doubt(loaded: Loaded) -> Note | None:
    """The note that lower may be better, as the names of the scores sound, although higher wins; None without doubt."""
    metric = loaded.outputs.metric
    suspects = [name for name in (*loaded.scored_by, metric.name) if sounds_like_error(name)]
    if not suspects or not metric.higher_is_better:
        return None
    mean = "" if metric.name == MEAN else Words(" with {metric}", metric=Argument("metric", MEAN))
    lower, higher = (Argument("lower_is_better", value) for value in (True, False))
    return Note("direction", {"name": suspects[0], "lower": lower, "higher": higher, "mean": mean})


def _several(argument: str, values: Any, what: str) -> list[Any]:
    """The values of an argument that may have one or several."""
    values = [values] if isinstance(values, str | Path) else values
    check_list(argument, values, what)
    return list(values)


# What was read supports ----------------------------------------------------------------------------------------------
# Columns of the items that are parts of their own, or no resampling units.
_PARTS = ("id", "domain", "cluster", "factor", SAMPLE_OF, "scored_by")


def support(loaded: Loaded) -> pd.DataFrame:
    """A table of what was read: a row for each part, with what it supports, or what is missing for what.

    Columns: ``part``; ``found``, text, empty if the files do not have the part; ``supports``, text with options as
    `simstudy.notes.Argument`.

    Examples
    --------
    >>> table = support(load({"old": [1, 0, 1], "new": [1, 1, 1]}, "accuracy"))
    >>> table.set_index("part")["found"][["systems", "items", "clusters"]].to_dict()
    {'systems': '2 (old, new)', 'items': '3', 'clusters': ''}
    """
    outputs, items = loaded.outputs, loaded.outputs.items
    names = outputs.names
    domains, factors = ([*map(str, items[name].unique())] if name in items else [] for name in ("domain", "factor"))
    texts = loaded.texts
    kinds = {"questions": texts.inputs, "right answers": texts.references, "answers": texts.answers} if texts else {}
    content = {
        "systems": f"{len(names):,} ({listed(names, 6)})",
        "items": f"{outputs.n_items:,}",
        "clusters": counted(items["cluster"].nunique(), "cluster") if "cluster" in items else "",
        "domains": listed(domains, 6) if len(domains) > 1 else "",
        "tasks": f"{len(domains):,}" if of_several_tasks(outputs) else "",
        "samples": _samples_in_words(outputs),
        "factor": listed(factors, 6),
        "classes of systems": listed(_classes(outputs), 6),
        "texts": ", ".join(name for name, kept in kinds.items() if kept),
    }
    of_systems = "a verdict, and a plan from a pilot" if len(names) == 2 else "a leaderboard, and a plan"
    supports = {
        "systems": of_systems if len(names) > 1 else "any comparison needs the outputs of a second system",
        "items": "scores are means over items" if "cluster" in items else "tests resample items",
        "clusters": "tests resample clusters as wholes",
        "domains": "comparisons by domain",
        "tasks": "averages over tasks, and each task alone",
        "samples": "pass@k, majority@k, and the noise of samples",
        "factor": "items that differ in the factor only are tested together",
        "classes of systems": "thresholds and tables by relation class",
        "texts": "shown with the items that decide a comparison",
    }
    domain, sample, factor = map(column, ("domain", "sample", "factor"))
    missing = {
        "clusters": _if_no_clusters(outputs),
        "domains": Words("for comparisons by domain: {c}, {items}", c=domain, items=Argument("items", "FILE")),
        "tasks": "for averages over tasks: logs of several tasks, or a column of tasks (--each COLUMN of compare)",
        "samples": Words("for pass@k, majority@k and the noise of samples: {columns}", columns=sample),
        "factor": Words("for items crossed with prompts or raters: {c}", c=factor),
        "classes of systems": Words("for tables by relation class: {s}", s=Argument("systems", "FILE")),
    }
    rows = [(part, text, supports[part] if text else missing.get(part, "")) for part, text in content.items()]
    return pd.DataFrame(rows, columns=["part", "found", "supports"], dtype=object)


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


def _samples_in_words(outputs: Outputs) -> str:
    if not has_samples(outputs):
        return ""
    n_samples = outputs.items[SAMPLE_OF].value_counts() if outputs.samples is None else outputs.samples[..., 0]
    return f"{number_range(n_samples)} of each question"
