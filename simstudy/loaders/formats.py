"""The formats that system outputs come in, and how the files of each, or a table in memory, are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from simstudy.loaders.alignments import read_alignments
from simstudy.loaders.arena import declares_battles, holds_battles, read_arena
from simstudy.loaders.base import Loaded, Source, Texts, Ties, note_doubt, noting
from simstudy.loaders.candidates import has_candidates, read_candidates
from simstudy.loaders.column_names import guesses
from simstudy.loaders.conll_columns import read_conll_columns
from simstudy.loaders.conllu import read_conllu_outputs
from simstudy.loaders.entries import is_tidy
from simstudy.loaders.folders import Format, files_of, files_to_read, format_of
from simstudy.loaders.helm import holds_helm, read_helm
from simstudy.loaders.inspect_logs import holds_inspect, read_inspect
from simstudy.loaders.lm_eval import holds_lm_eval, read_lm_eval
from simstudy.loaders.sample_columns import of_questions
from simstudy.loaders.scores import read_scores, scores_from_frame
from simstudy.loaders.segment_scores import holds_segment_scores, read_segment_scores
from simstudy.loaders.swe_bench import holds_swe_bench, read_swe_bench
from simstudy.loaders.tables import JSON, renamed
from simstudy.loaders.task_choices import by_own_metric, is_of_logs
from simstudy.loaders.text import read_text
from simstudy.loaders.trec import read_trec
from simstudy.loaders.trees import read_trees
from simstudy.metrics import Metric, get_metric
from simstudy.metrics.of_samples import of_samples
from simstudy.metrics.per_class import PerClass
from simstudy.notes import note
from simstudy.outputs import Outputs
from simstudy.outputs.frames import as_frame, check_no_ids, with_index
from simstudy.outputs.samples import SAMPLE_OF, unit_in_words
from simstudy.running.progress import doing
from simstudy.text.numerals import counted
from simstudy.validation import InputError, check_choice

#: Names of files of tables.
TABLES = tuple(f"*{ending}" for ending in (".csv", ".tsv", ".parquet", *JSON))

_SCORES = "which have scores already"

# What messages call a table without a file.
_THE_TABLE = "the table"

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
        raise InputError(f"tokenize and lowercase are for plain text, not for {what}")
    if source.allow_different and not FORMATS[name].is_log:
        raise InputError(f"allow_different must not be given for {what}: it is for logs of evaluation harnesses")
    if source.ties.how != "jitter" and name != "candidates":
        raise InputError(f"ties are for candidates, not for {what}")
    if source.metric.name == "bradley_terry" and name != "arena":
        raise InputError("metric 'bradley_terry' is for preferences: a table with columns model_a, model_b and winner")
    if source.names and name == "candidates":
        raise InputError(f"paths must have no names for {what}: its columns name the scoring functions")
    # Predicted labels in tables may have their gold labels in another.
    labels = name == "scores" and (isinstance(source.metric, PerClass) or source.metric.name == "accuracy")
    if source.references and scored and not labels:
        raise InputError(f"references must not be given for {what}, {scored}")
    with doing(f"reading {counted(len(source.paths), 'file')}"):
        loaded = FORMATS[name].read(source)
    if own:
        if source.asked not in loaded.scored_by:
            get_metric(source.asked)
        loaded = by_own_metric(loaded, source.asked)
    return _finished(loaded, source, lower_is_better, wanted, cut=name != "candidates")


@noting
def read_table_in_memory(table: object, source: Source, format: str | None, lower_is_better: bool | None) -> Loaded:
    """What is in a table in memory; the other arguments are as for `load`."""
    check_choice("format of a table in memory", format or "scores", ("scores",))
    for argument, given in (
        ("references", source.references), ("texts", source.texts != Texts()), ("ties", source.ties != Ties()),
    ):  # fmt: skip
        if given:
            raise InputError(f"{argument} must not be given with a table in memory, which has scores already")
    get_metric(source.asked or source.metric)
    wanted, source = source.metric.name, _of_answers(source)
    return _finished(_read_in_memory(table, source), source, lower_is_better, wanted)


def _read_in_memory(table: object, source: Source) -> Loaded:
    """Systems from a table of scores of pandas, polars or pyarrow, or a dictionary of scores by system.

    The columns tell the shape, as for `simstudy.loaders.scores.read_scores`. Where none of them is the item, the index
    is; its named levels are columns too. Items of a wide table that nothing names are numbered from 0.
    """
    item = source.columns.get("item", "item")
    frame = with_index(_THE_TABLE, as_frame(_THE_TABLE, table), item)
    if item not in frame and "item" not in guesses(frame, _THE_TABLE, source.columns, source.metric):
        ours = renamed(frame, source.columns)
        if not ({"system", "score"} & {*ours} or is_tidy(ours, source.metric)):
            check_no_ids(_THE_TABLE, frame)
            note("text", text=f"{_THE_TABLE} does not name its items: they are numbered, 0 to {len(frame) - 1:,}")
            frame = frame.assign(**{item: np.arange(len(frame))})
    if frame.empty:
        raise InputError(f"{_THE_TABLE} has {counted(len(frame.columns), 'column')}, but no rows")
    return scores_from_frame(frame.set_axis(pd.RangeIndex(1, len(frame) + 1, name="row")), _THE_TABLE, source)


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
    note("text", text=said)


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
