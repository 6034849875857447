"""The formats that system outputs come in, and the one door to all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from simstudy.loaders.alignments import read_alignments
from simstudy.loaders.arena import holds_battles, read_arena
from simstudy.loaders.base import MISSING, Loaded, Source, Texts, Ties, check_columns, note_doubt, noting
from simstudy.loaders.candidates import has_candidates, read_candidates
from simstudy.loaders.conll_columns import read_conll_columns
from simstudy.loaders.conllu import read_conllu_outputs
from simstudy.loaders.folders import Format, files_of, format_of, opened
from simstudy.loaders.helm import holds_helm, read_helm
from simstudy.loaders.inspect_logs import holds_inspect, read_inspect
from simstudy.loaders.lm_eval import holds_lm_eval, read_lm_eval
from simstudy.loaders.mixtures import OfLogs, check_allowed
from simstudy.loaders.reading import require_file
from simstudy.loaders.scores import read_scores
from simstudy.loaders.segment_scores import holds_segment_scores, read_segment_scores
from simstudy.loaders.swe_bench import holds_swe_bench, read_swe_bench
from simstudy.loaders.systems import describe_systems
from simstudy.loaders.text import read_text
from simstudy.loaders.trec import read_trec
from simstudy.loaders.trees import read_trees
from simstudy.metrics import Metric, get_metric
from simstudy.metrics.direction import directed
from simstudy.validation import brief, check_choice, check_list, check_path, check_text

#: Names of files of tables.
TABLES = ("*.csv", "*.tsv", "*.parquet", "*.json", "*.jsonl", "*.ndjson")

#: Name -> format, in the order in which they are tried.
FORMATS = {
    "segments": Format(
        "segment scores of COMET, BERTScore, sacrebleu or mt-metrics-eval",
        read_segment_scores,
        ("*.seg.score", "*"),
        holds=holds_segment_scores,
    ),
    "lm-eval": Format(
        "sample logs of lm-evaluation-harness",
        read_lm_eval,
        ("samples_*.jsonl", "*.jsonl"),
        holds=holds_lm_eval,
        beside=("*_????-??-??t*.json",),
    ),
    "inspect": Format("Inspect eval logs", read_inspect, ("*.eval", "*.json"), holds=holds_inspect),
    "helm": Format(
        "HELM runs",
        read_helm,
        ("per_instance_stats.json", "*.json"),
        holds=holds_helm,
        beside=("*.json", "*.txt"),
    ),
    "swe-bench": Format(
        "reports of SWE-bench",
        read_swe_bench,
        ("report.json", "*.json"),
        holds=holds_swe_bench,
        beside=("patch.diff", "eval.sh", "run_instance.log", "test_output.txt"),
    ),
    "arena": Format(
        "preferences between two systems",
        read_arena,
        TABLES,
        holds=holds_battles,
    ),
    # After all formats that share names of files with it: JSON of any other shape is a table.
    "scores": Format("tables of item scores (CSV, TSV, JSON, Parquet)", read_scores, TABLES),
    "conllu": Format("CoNLL-U treebanks", read_conllu_outputs, ("*.conllu",), ("uas", "las")),
    "conll": Format("CoNLL columns", read_conll_columns, ("*.conll", "*.bio"), ("span_f1",)),
    "trees": Format("bracketed trees", read_trees, ("*.mrg", "*.ptb"), ("parseval",)),
    "alignments": Format("word alignments, i-j or NAACL .wa", read_alignments, ("*.wa", "*.talp"), ("aer",)),
    "trec": Format("TREC runs", read_trec, (), ("ap", "rr", "@")),
    "text": Format("plain text, one line for each item", read_text),
    # Known by the columns of its file.
    "candidates": Format("a table of candidates", read_candidates),
}

# Formats that evaluation harnesses write.
_LOGS = ("lm-eval", "inspect", "helm", "swe-bench")

# Formats of files that say themselves what is right: nothing is compared with gold answers.
_SCORED = {
    **dict.fromkeys(("scores", "arena", "segments", *_LOGS), "which have scores already"),
    "candidates": "which says itself which are true",
}


@noting
def load(
    paths: str | Path | Sequence[str | Path],
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
    **of_logs: Unpack[OfLogs],
) -> Loaded:
    r"""Outputs of systems from the files that others wrote.

    Parameters
    ----------
    paths
        Files, or folders or zip files of files, packed (.gz, .zst) or not; one system a file, but for tables and logs
        that name their systems.
    metric
        What the items are scored by: a name in `simstudy.metrics.METRICS`.
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
    **of_logs
        ``allow_different``: what logs of one task may differ in, which is an error else: "metric", "filter", "scorer",
        "version", "shots", "input", "target", "prompt" (`simstudy.loaders.mixtures`), or several of these.

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
    for name in of_logs.keys() - OfLogs.__annotations__.keys():
        raise TypeError(f"load() got an unexpected keyword argument '{name}'")
    chosen = directed(get_metric(metric), lower_is_better)
    check_choice("missing", missing, MISSING)
    check_text("domain", domain, "the name of a domain", or_none=True)
    if not isinstance(texts, Texts | None):
        raise ValueError(f"texts must be Texts(tokenize, lowercase), not {brief(texts)}")
    check_columns(columns, chosen)
    files, inside = opened(_listed("paths", paths), [FORMATS[name] for name in _LOGS])
    source = Source(
        tuple(files),
        chosen,
        tuple(_file(path, "references") for path in _listed("references", references)),
        _file(items, "items") if items is not None else None,
        dict(columns or {}),
        missing,
        texts or Texts(),
        ties if isinstance(ties, Ties) else Ties(ties),
        domain,
        allow_different=check_allowed(of_logs.get("allow_different", ())),
    )
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
    if format is not None:
        check_choice("format", format, FORMATS)
    name = format or _format_of(source, inside)
    source = replace(source, paths=files_of(source.paths, name, FORMATS, _LOGS, inside))
    what = FORMATS[name].what
    if (source.texts != Texts() or source.mark) and name != "text":
        raise ValueError(f"tokenize and lowercase are for plain text, not for {what}")
    if source.allow_different and name not in _LOGS:
        raise ValueError(f"allow_different must not be given for {what}: it is for logs of evaluation harnesses")
    if source.ties.how != "jitter" and name != "candidates":
        raise ValueError(f"ties are for candidates, not for {what}")
    if source.metric.name == "bradley_terry" and name != "arena":
        raise ValueError("metric 'bradley_terry' is for preferences: a table with columns model_a, model_b and winner")
    if source.references and name in _SCORED:
        raise ValueError(f"references are not for {what}, {_SCORED[name]}")
    loaded = FORMATS[name].read(source)
    note_doubt(loaded, lower_is_better)
    if source.domain is not None and name != "candidates":
        loaded = replace(loaded, outputs=loaded.outputs.domain(source.domain))
    return loaded


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


def _format_of(source: Source, inside: frozenset[Path]) -> str:
    own = "@" if "@" in source.metric.name else source.metric.name
    if own in FORMATS["trec"].metrics and any(has_candidates(file, source.columns) for file in source.paths):
        return "candidates"
    if own in FORMATS["trec"].metrics and source.references:
        return "trec"
    by_metric = next((name for name, known in FORMATS.items() if own in known.metrics), "text")
    return format_of(source, FORMATS, _LOGS, by_metric, inside)
