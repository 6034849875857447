"""The formats that system outputs come in, and the one door to all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from simstudy.loaders.alignments import read_alignments
from simstudy.loaders.arena import declares_battles, holds_battles, read_arena
from simstudy.loaders.base import MISSING, Loaded, Source, Texts, Ties, check_columns, counted, note_doubt, noting
from simstudy.loaders.candidates import has_candidates, read_candidates
from simstudy.loaders.conll_columns import read_conll_columns
from simstudy.loaders.conllu import read_conllu_outputs
from simstudy.loaders.folders import Format, files_of, files_to_read, format_of, opened, without_others
from simstudy.loaders.helm import holds_helm, read_helm
from simstudy.loaders.in_memory import read_in_memory
from simstudy.loaders.inspect_logs import holds_inspect, read_inspect
from simstudy.loaders.lm_eval import holds_lm_eval, read_lm_eval
from simstudy.loaders.mixtures import OfSome, check_allowed
from simstudy.loaders.naming import Named, named_paths
from simstudy.loaders.reading import require_file
from simstudy.loaders.sample_columns import of_questions
from simstudy.loaders.scores import read_scores
from simstudy.loaders.segment_scores import holds_segment_scores, read_segment_scores
from simstudy.loaders.swe_bench import holds_swe_bench, read_swe_bench
from simstudy.loaders.systems import describe_systems
from simstudy.loaders.task_logs import by_own_metric, is_of_logs
from simstudy.loaders.text import read_text
from simstudy.loaders.trec import read_trec
from simstudy.loaders.trees import read_trees
from simstudy.metrics import Metric, get_metric
from simstudy.metrics.direction import directed
from simstudy.metrics.mean import MEAN
from simstudy.metrics.of_samples import of_samples
from simstudy.notes import note
from simstudy.outputs import Outputs
from simstudy.outputs.frames import Table, is_table
from simstudy.outputs.samples import SAMPLE_OF, unit_in_words
from simstudy.running.progress import doing, shown_to_people
from simstudy.validation import brief, check_choice, check_flag, check_list, check_path, check_text

#: Names of files of tables.
TABLES = ("*.csv", "*.tsv", "*.parquet", "*.json", "*.jsonl", "*.ndjson")

_SCORES = "which have scores already"

#: Name -> format, in the order in which they are tried.
FORMATS = {
    "segments": Format(
        "segment scores of COMET, BERTScore, sacrebleu or mt-metrics-eval",
        read_segment_scores,
        ("*.seg.score", "*"),
        holds=holds_segment_scores,
        scored=_SCORES,
    ),
    "lm-eval": Format(
        "sample logs of lm-evaluation-harness",
        read_lm_eval,
        ("samples_*.jsonl", "*.jsonl"),
        holds=holds_lm_eval,
        scored=_SCORES,
        is_log=True,
        beside=("*_????-??-??t*.json",),
    ),
    "inspect": Format(
        "Inspect eval logs", read_inspect, ("*.eval", "*.json"), holds=holds_inspect, scored=_SCORES, is_log=True
    ),
    "helm": Format(
        "HELM runs",
        read_helm,
        ("per_instance_stats.json", "*.json"),
        holds=holds_helm,
        scored=_SCORES,
        is_log=True,
        beside=("*.json", "*.txt"),
    ),
    "swe-bench": Format(
        "reports of SWE-bench",
        read_swe_bench,
        ("report.json", "*.json"),
        holds=holds_swe_bench,
        scored=_SCORES,
        is_log=True,
        beside=("patch.diff", "eval.sh", "run_instance.log", "test_output.txt"),
    ),
    "arena": Format("preferences between two systems", read_arena, TABLES, holds=holds_battles, scored=_SCORES),
    # After all formats that share names of files with it: JSON of any other shape is a table.
    "scores": Format("tables of item scores (CSV, TSV, JSON, Parquet)", read_scores, TABLES, scored=_SCORES),
    "conllu": Format("CoNLL-U treebanks", read_conllu_outputs, ("*.conllu",), ("uas", "las")),
    "conll": Format("CoNLL columns", read_conll_columns, ("*.conll", "*.bio"), ("span_f1",)),
    "trees": Format("bracketed trees", read_trees, ("*.mrg", "*.ptb"), ("parseval",)),
    "alignments": Format("word alignments, i-j or NAACL .wa", read_alignments, ("*.wa", "*.talp"), ("aer",)),
    "trec": Format("TREC runs", read_trec, (), ("ap", "rr", "@")),
    "text": Format("plain text, one line for each item", read_text),
    # Known by the columns of its file.
    "candidates": Format("a table of candidates", read_candidates, scored="which says which candidates are true"),
}


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
        again (`simstudy.loaders.items` has the rule), as it is in tables of scores; a note says which.
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
        raise ValueError(f"texts must be Texts(tokenize, lowercase), not {brief(texts)}")
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
    )
    if in_memory:
        loaded = _read_table(paths, source, format, lower_is_better)
    else:
        loaded = read_source(source, format, lower_is_better, inside)
    outputs = loaded.outputs if systems is None else describe_systems(loaded.outputs, systems)
    return replace(loaded, outputs=replace(outputs, task="", test_set=domain or ""))


@noting
def read_source(
    source: Source,
    format: str | None = None,
    lower_is_better: bool | None = None,
    inside: frozenset[Path] = frozenset(),
) -> Loaded:
    """What is in the files of a source; `format` and `lower_is_better` are as for `load`.

    Files that came from folders (`inside`) are read if they are of the format. Others are read in any case.
    """
    wanted, source = source.metric.name, _of_answers(source)
    if format is not None:
        check_choice("format", format, FORMATS)
    own = is_of_logs(source.asked) if source.asked else False
    try:
        name = format or _format_of(source, inside)
    except ValueError:
        # Whatever these files are: a metric that is not known is wrong in any case.
        if own:
            get_metric(source.asked)
        raise
    if own and not (FORMATS[name].is_log and name != "swe-bench"):
        get_metric(source.asked)
    source = replace(source, paths=files_of(source.paths, FORMATS[name], inside))
    what, scored = FORMATS[name].what, FORMATS[name].scored
    if (source.texts != Texts() or source.mark) and name != "text":
        raise ValueError(f"tokenize and lowercase are for plain text, not for {what}")
    if source.allow_different and not FORMATS[name].is_log:
        raise ValueError(f"allow_different must not be given for {what}: it is for logs of evaluation harnesses")
    if source.ties.how != "jitter" and name != "candidates":
        raise ValueError(f"ties are for candidates, not for {what}")
    if source.metric.name == "bradley_terry" and name != "arena":
        raise ValueError("metric 'bradley_terry' is for preferences: a table with columns model_a, model_b and winner")
    if source.names and name == "candidates":
        raise ValueError(f"paths must have no names for {what}: its columns name the scoring functions")
    if source.references and scored:
        raise ValueError(f"references must not be given for {what}, {scored}")
    with doing(f"reading {counted(len(source.paths), 'file')}"):
        loaded = FORMATS[name].read(source)
    if own:
        if source.asked not in loaded.scored_by:
            get_metric(source.asked)
        loaded = by_own_metric(loaded, source.asked)
    return _finished(loaded, source, lower_is_better, wanted, cut=name != "candidates")


@noting
def _read_table(table: object, source: Source, format: str | None, lower_is_better: bool | None) -> Loaded:
    """What is in a table in memory; the other arguments are as for `load`."""
    check_choice("format of a table in memory", format or "scores", ("scores",))
    for argument, given in (
        ("references", source.references), ("texts", source.texts != Texts()), ("ties", source.ties != Ties()),
    ):  # fmt: skip
        if given:
            raise ValueError(f"{argument} must not be given with a table in memory, which has scores already")
    get_metric(source.asked or source.metric)
    wanted, source = source.metric.name, _of_answers(source)
    return _finished(read_in_memory(table, source), source, lower_is_better, wanted)


def _of_answers(source: Source) -> Source:
    """The source with accuracy in place of a metric of samples, which are right or wrong: that metric comes after."""
    return replace(source, metric=get_metric("accuracy")) if of_samples(source.metric.name) else source


def _finished(loaded: Loaded, source: Source, lower_is_better: bool | None, wanted: str, *, cut: bool = True) -> Loaded:
    """What was read with a note on its direction, cut to the domain that is wanted, and by the metric that is."""
    note_doubt(loaded, lower_is_better)
    if source.domain is not None and cut:
        loaded = replace(loaded, outputs=loaded.outputs.domain(source.domain))
    loaded = replace(loaded, outputs=of_questions(loaded.outputs, wanted, source.missing))
    _note_samples(loaded.outputs)
    return loaded


def _note_samples(outputs: Outputs) -> None:
    """Say that samples are no questions, where each sample is an item."""
    if SAMPLE_OF not in outputs.items:
        return
    n, questions = outputs.n_items, outputs.items[SAMPLE_OF].nunique()
    said = f"{counted(questions, 'question')} with {counted(n, 'sample')}."
    if unit_in_words(outputs, "cluster") == SAMPLE_OF:
        said += " The samples of a question form one cluster. unit='item' treats each sample as independent."
    note(said)


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
        raise ValueError(f"{argument} must be a file, but {path} is a folder")
    require_file(Path(path))
    return Path(path)


def _is_in_memory(paths: object) -> bool:
    """Whether these are scores: a table, or a dictionary of anything but paths."""
    of_paths = isinstance(paths, Mapping) and any(isinstance(path, str | Path) for path in paths.values())
    return is_table(paths) or (isinstance(paths, Mapping) and not of_paths)


def ranks_within_domain(metric: Metric) -> bool:
    """Whether candidates may be ranked by this metric, which a domain has lists of its own for: it cannot be cut."""
    return _kind(metric) in FORMATS["trec"].metrics


def files_of_folder(folder: Path, every: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """The files that are read of all files below a folder, and the others."""
    return files_to_read(folder, every, FORMATS.values())


def _kind(metric: Metric) -> str:
    return "@" if "@" in metric.name else metric.name


def _format_of(source: Source, inside: frozenset[Path]) -> str:
    own = _kind(source.metric)
    if own in FORMATS["trec"].metrics and any(has_candidates(file, source.columns) for file in source.paths):
        return "candidates"
    if own in FORMATS["trec"].metrics and source.references:
        return "trec"
    if declares_battles(source):
        return "arena"
    by_metric = next((name for name, known in FORMATS.items() if own in known.metrics), "text")
    return format_of(source, FORMATS, by_metric, inside)
