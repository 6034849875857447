"""The formats that system outputs come in, and the one door to all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path

from simstudy.loaders.alignments import read_alignments
from simstudy.loaders.base import MISSING, Loaded, Source, Texts, Ties, check_columns, note_doubt, noting
from simstudy.loaders.candidates import has_candidates, read_candidates
from simstudy.loaders.conll_columns import read_conll_columns
from simstudy.loaders.conllu import read_conllu_outputs
from simstudy.loaders.inspect_logs import read_inspect
from simstudy.loaders.lm_eval import read_lm_eval
from simstudy.loaders.reading import require_file
from simstudy.loaders.sample_columns import of_questions
from simstudy.loaders.scores import read_scores
from simstudy.loaders.systems import describe_systems
from simstudy.loaders.text import read_text
from simstudy.loaders.trec import read_trec
from simstudy.loaders.trees import read_trees
from simstudy.metrics import Metric, get_metric
from simstudy.metrics.direction import directed
from simstudy.metrics.of_samples import of_samples
from simstudy.validation import brief, check_choice, check_list, check_path, check_text


@dataclass(frozen=True)
class Format:
    """A format of system outputs.

    Its files are known by patterns of their names, packed (.gz) or not, or else by the metrics that no other format of
    files without such names has; "@" stands for precision@n and the like. Formats that share names of files (.json) say
    by `holds` whether a file is theirs; the last of them takes what no other does.
    """

    what: str
    read: Callable[[Source], Loaded]
    files: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    holds: Callable[[Path], bool] | None = None


#: Name -> format, in the order in which they are tried.
FORMATS = {
    "scores": Format("CSV, TSV or Parquet of item scores", read_scores, ("*.csv", "*.tsv", "*.parquet")),
    "lm-eval": Format("sample logs of lm-evaluation-harness", read_lm_eval, ("samples_*.jsonl", "*.jsonl")),
    "inspect": Format("Inspect eval logs in JSON form", read_inspect, ("*.json", "*.eval")),
    "conllu": Format("CoNLL-U treebanks", read_conllu_outputs, ("*.conllu",), ("uas", "las")),
    "conll": Format("CoNLL columns", read_conll_columns, ("*.conll", "*.bio"), ("span_f1",)),
    "trees": Format("bracketed trees", read_trees, ("*.mrg", "*.ptb"), ("parseval",)),
    "alignments": Format("word alignments, i-j or NAACL .wa", read_alignments, ("*.wa", "*.talp"), ("aer",)),
    "trec": Format("TREC runs", read_trec, (), ("ap", "rr", "@")),
    "text": Format("plain text, one line for each item", read_text),
    # Known by the columns of its file.
    "candidates": Format("a table of candidates", read_candidates),
}

# Formats of files that say themselves what is right: nothing is compared with gold answers.
_SCORED = {
    **dict.fromkeys(("scores", "lm-eval", "inspect"), "which have scores already"),
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
) -> Loaded:
    r"""Outputs of systems from the files that others wrote.

    Parameters
    ----------
    paths
        Files, or folders of files; one system a file, but for tables and logs that name their systems.
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
        which items are resampled together, and ``{"sample": "k"}`` what numbers several answers to one item.
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
    chosen = directed(get_metric(metric), lower_is_better)
    check_choice("missing", missing, MISSING)
    check_text("domain", domain, "the name of a domain", or_none=True)
    if not isinstance(texts, Texts | None):
        raise ValueError(f"texts must be Texts(tokenize, lowercase), not {brief(texts)}")
    check_columns(columns, chosen)
    source = Source(
        tuple(_opened(_listed("paths", paths))),
        chosen,
        tuple(_file(path, "references") for path in _listed("references", references)),
        _file(items, "items") if items is not None else None,
        dict(columns or {}),
        missing,
        texts or Texts(),
        ties if isinstance(ties, Ties) else Ties(ties),
        domain,
    )
    loaded = read_source(source, format, lower_is_better)
    outputs = loaded.outputs if systems is None else describe_systems(loaded.outputs, systems)
    return replace(loaded, outputs=replace(outputs, task="", test_set=domain or ""))


@noting
def read_source(source: Source, format: str | None = None, lower_is_better: bool | None = None) -> Loaded:
    """What is in the files of a source; `format` and `lower_is_better` are as for `load`."""
    wanted = source.metric.name
    if of_samples(wanted):
        # Samples are right or wrong; what the metric makes of them comes after.
        source = replace(source, metric=get_metric("accuracy"))
    if format is not None:
        check_choice("format", format, FORMATS)
    name = format or _format_of(source)
    source = replace(source, paths=_of_format(source.paths, name))
    what = FORMATS[name].what
    if (source.texts != Texts() or source.mark) and name != "text":
        raise ValueError(f"tokenize and lowercase are for plain text, not for {what}")
    if source.ties.how != "jitter" and name != "candidates":
        raise ValueError(f"ties are for candidates, not for {what}")
    if source.references and name in _SCORED:
        raise ValueError(f"references are not for {what}, {_SCORED[name]}")
    loaded = FORMATS[name].read(source)
    note_doubt(loaded, lower_is_better)
    if source.domain is not None and name != "candidates":
        loaded = replace(loaded, outputs=loaded.outputs.domain(source.domain))
    return replace(loaded, outputs=of_questions(loaded.outputs, wanted, source.missing))


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


def _opened(paths: Sequence[Path]) -> list[Path]:
    """Files, with folders opened: those in it, or where there are none, those in its subfolders."""
    files = []
    for path in paths:
        if not path.is_dir():
            require_file(path)
            files.append(path)
            continue
        for inside in (path.glob("*"), path.rglob("*")):
            found = sorted(file for file in inside if file.is_file() and not file.name.startswith("."))
            if found:
                break
        else:
            raise ValueError(f"folder {path} has no files")
        files += found
    if not files:
        raise ValueError("paths must name at least one file or folder of system outputs")
    return files


def _format_of(source: Source) -> str:
    own = "@" if "@" in source.metric.name else source.metric.name
    if own in FORMATS["trec"].metrics and any(has_candidates(file, source.columns) for file in source.paths):
        return "candidates"
    for name, known in FORMATS.items():
        if any(_matches(file, known.files) and (known.holds is None or known.holds(file)) for file in source.paths):
            return name
    return next((name for name, known in FORMATS.items() if own in known.metrics), "text")


def _of_format(files: Sequence[Path], name: str) -> tuple[Path, ...]:
    """Of a folder of mixed files, those that the format is known by."""
    for pattern in FORMATS[name].files if name in ("lm-eval", "inspect") else ():
        known = tuple(file for file in files if _matches(file, (pattern,)))
        if known:
            return known
    return tuple(files)


def _matches(file: Path, patterns: Sequence[str]) -> bool:
    return any(fnmatch(file.name.lower().removesuffix(".gz"), pattern) for pattern in patterns)
