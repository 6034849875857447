"""The one door to all formats: Outputs of systems from files, or from a table in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from simstudy.loaders.base import MISSING, Loaded, Source, Texts, Ties, noting
from simstudy.loaders.folders import opened, without_others
from simstudy.loaders.formats import FORMATS, read_source, read_table_in_memory
from simstudy.loaders.mixtures import OfSome, check_allowed
from simstudy.loaders.naming import Named, named_paths
from simstudy.loaders.reading import require_file
from simstudy.loaders.systems import describe_systems
from simstudy.loaders.task_choices import is_of_logs
from simstudy.loaders.usual_names import check_columns
from simstudy.metrics import Metric, get_metric
from simstudy.metrics.direction import directed
from simstudy.metrics.mean import MEAN
from simstudy.outputs.frames import Table, is_table
from simstudy.running.progress import shown_to_people
from simstudy.validation import InputError, brief, check_choice, check_flag, check_list, check_path, check_text

#: Files of outputs: one path, several, some of them with the names of their systems, or all by these names.
Paths = str | Path | Sequence[Named] | Mapping[str, str | Path]


@shown_to_people
@noting
def load(
    paths: Paths | Table,
    metric: str | Metric,
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
    **of_some: Unpack[OfSome],
) -> Loaded:
    r"""Outputs of systems from files, or from a table of scores in memory.

    Parameters
    ----------
    paths
        Files, or folders or zip files of files, packed (.gz, .zst) or not; one system a file, but for tables and logs
        that name their systems. A dictionary names the systems: ``{"base": "runs/base/hyp.txt", "new":
        "runs/new/hyp.txt"}``; in a list a pair ``("base", "runs/base/hyp.txt")`` does. Files of one name are called
        after the folders that differ. Or a table of scores: of pandas, polars or pyarrow, wide or long as a file is,
        where the index may name the items; or a dictionary system -> scores.
    metric
        What the items are scored by: a name in `simstudy.metrics.METRICS`. For logs of evaluation harnesses also the
        name of a metric in the logs, ``"acc"`` or ``"acc_norm"``: it chooses that metric where a log has several.
    references
        Files of gold answers: reference texts, a gold treebank, gold alignments, qrels.
    format
        A name in `FORMATS`; by default the one that the files' names and the metric tell.
    items
        A table (CSV, TSV) with a row for each item, in the order of the files: domain, cluster, … Without a column
        ``cluster`` one called doc, user, repo, session, question or the like is taken for it where its values come
        again (`simstudy.loaders.clusters` has the rule), as it is in tables of scores; a note says which.
    systems
        A table with a row for each system, as for `simstudy.describe_systems`: system, group, family, …
    columns
        Our name -> the name in the files, where they differ: ``{"score": "resolved", "item": "instance_id"}``. Of
        candidates also what is no score: ``{"gold": "is_idiom", "length": "length"}``. ``{"cluster": "doc"}`` says
        which items are resampled together, and ``{"sample": "k"}`` what numbers several answers to one item
        (``{"sample": "row"}``: their order). ``{"item": "category+id"}`` joins two columns. In JSON nested keys are
        dotted names, ``{"score": "metrics.em"}``. Usual names of columns are guessed, which a note says. Of logs
        also the metric and the filter, for all tasks or for some: ``{"score": "acc", "score@gsm8k": "exact_match",
        "filter@gsm8k": "strict-match", "score@mmlu_*": "acc_norm"}``.
    missing
        Where a system lacks an item: "error", "drop" the item, or "zero" for no answer.
    domain
        Only the items of this domain, which gives the test set its name; candidates are ranked among those of it.
    lower_is_better
        True for scores that are errors (word error rates, losses): the mean is then the metric "mean (lower is
        better)". With None there is a note where the files call the scores after an error.
    texts
        For BLEU and chrF of plain texts: ``simstudy.loaders.base.Texts(tokenize="zh", lowercase=True)``.
    ties
        Of candidates with equal scores: "jitter" (broken at random), "keep" (an n-best list has all that tie with its
        last), or ``simstudy.loaders.base.Ties("jitter", seed=3)``.
    **of_some
        ``allow_different``: what logs of one task may differ in, which is an error else: "metric", "filter", "scorer",
        "version", "shots", "input", "target", "prompt" (`simstudy.loaders.mixtures`), or several of these.
        ``narrow=True``, for large tables: scores are held in the fewest bytes (right and wrong answers in one, counts
        in four), and texts of items are not kept. All numbers of a comparison are the same.
        ``item_columns=["task"]``, for tables of scores: these columns describe the items and are no systems. Tables
        need not have them.

    Returns
    -------
    loaded
        The Outputs, with the systems' answers where the files have them, and notes on what was done to the files.
        ``loaded.named(test_set="2024")`` gives them a name that appears in every table. A packed file (.gz, .parquet)
        may unpack to 1G, or what the environment variable SIMSTUDY_MAX_SIZE says ("4G", "none").

    Raises
    ------
    ValueError
        For anything in the files that is not as the format has it: file, line, and what is wrong; for unknown names.
    FileNotFoundError
        Where a path does not exist.

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
    for name in of_some.keys() - OfSome.__annotations__.keys():
        raise TypeError(f"load() got an unexpected keyword argument '{name}'")
    asked = metric if isinstance(metric, str) else ""
    # A metric that only logs know: how it is read, its values tell.
    chosen = directed(get_metric(MEAN if asked and is_of_logs(asked) else metric), lower_is_better)
    check_choice("missing", missing, MISSING)
    check_text("domain", domain, "the name of a domain", or_none=True)
    narrow = of_some.get("narrow", False)
    check_flag("narrow", narrow)
    if not isinstance(texts, Texts | None):
        raise InputError(f"texts must be Texts(tokenize, lowercase), not {brief(texts)}")
    check_columns(columns, chosen)
    in_memory = _is_in_memory(paths)
    given = [] if in_memory else named_paths(paths)  # type: ignore[arg-type]
    names, inside = ({}, frozenset()) if in_memory else opened(given, FORMATS.values())
    gold = tuple(_file(path, "references") for path in _listed("references", references))
    of_items = None if items is None else _file(items, "items")
    if inside:
        others = {"references": gold, "items": [of_items] if of_items else []}
        others["systems"] = [Path(systems)] if isinstance(systems, str | Path) else []
        names = without_others(names, inside, others)
    source = Source(
        tuple(names),
        chosen,
        gold,
        of_items,
        dict(columns or {}),
        missing,
        texts or Texts(),
        ties if isinstance(ties, Ties) else Ties(ties),
        domain,
        allow_different=check_allowed(of_some.get("allow_different", ())),
        names={path: name for path, name in names.items() if name is not None},
        asked=asked,
        keeps_texts=not narrow,
        narrow=narrow,
        item_columns=_item_columns(of_some.get("item_columns", ())),
    )
    if in_memory:
        loaded = read_table_in_memory(paths, source, format, lower_is_better)
    else:
        loaded = read_source(source, format, lower_is_better, inside)
    outputs = loaded.outputs if systems is None else describe_systems(loaded.outputs, systems)
    return replace(loaded, outputs=replace(outputs, task="", test_set=domain or ""))


def _item_columns(names: Sequence[str]) -> tuple[str, ...]:
    check_list("item_columns", names, "names of columns")
    for name in names:
        check_text("item_columns", name, "names of columns")
    return tuple(names)


def _listed(argument: str, paths: str | Path | Sequence[str | Path]) -> list[Path]:
    if isinstance(paths, str | Path):
        paths = [paths]
    check_list(argument, paths, "paths, or one path")
    for path in paths:
        check_path(argument, path)
    return [Path(path) for path in paths]


def _file(path: str | Path, argument: str) -> Path:
    check_path(argument, path)
    if Path(path).is_dir():
        raise InputError(f"{argument} must be a file, but {path} is a folder")
    require_file(Path(path))
    return Path(path)


def _is_in_memory(paths: object) -> bool:
    """Whether these are scores: a table, or a dictionary of anything but paths."""
    of_paths = isinstance(paths, Mapping) and any(isinstance(path, str | Path) for path in paths.values())
    return is_table(paths) or (isinstance(paths, Mapping) and not of_paths)
