"""How files of system outputs are read, and by which metric: the options that `compare` and `plan` share."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simstudy.cli.errors import is_closed
from simstudy.cli.options import listed, mapping
from simstudy.planning.settings import option
from simstudy.validation import InputError

if TYPE_CHECKING:
    from simstudy.metrics import Metric
    from simstudy.readers.long_table import Loaded

#: The heading of their options.
HEADING = "How files are read"

#: The files of a command that reads system outputs.
Paths = Annotated[
    list[Path],
    typer.Argument(metavar="PATH...", help="Files of system outputs, or folders of them; name=path names a system."),
]


@dataclass(frozen=True)
class SomeFormats:
    """How files of some formats are read."""

    ties: str = option("jitter", "Candidates with equal scores: jitter (random order, by --seed) or keep (tied).")
    tokenize: str | None = option(None, "sacrebleu's tokenizer for BLEU, such as zh.")
    lowercase: bool = option(False, "Lower-case texts before scoring.")


@dataclass(frozen=True)
class Files:
    """How files of system outputs are read."""

    references: list[Path] | None = option(
        None, "File of gold answers. Repeat the option if items have several references."
    )
    systems: Path | None = option(None, "CSV with a row for each system: system, group, family, …")
    by: str | None = option(
        None,
        "Column of --systems that defines families. Pairs within a family and across families are reported separately. "
        "Default column: group, or family if there is no group.",
    )
    items: Path | None = option(
        None,
        "CSV, TSV or JSON with a row for each item, in the order of the items or with a column id: domain, cluster, …. "
        "Or a plain list: the document of each item, one on a line.",
    )
    columns: list[str] | None = option(
        None,
        "Names of columns in your files, if they differ from simstudy's: item=instance_id,score=resolved. It may be "
        "repeated.",
    )
    format: str | None = option(
        None,
        "text, scores, conll, conllu, trees, alignments, trec, trec-eval, candidates, segments, arena, lm-eval, "
        "inspect, helm, swe-bench, promptfoo (default: found from the files).",
    )
    ids: str = option(
        "auto", "Ids in lines of text: auto (lines are matched by them if all files have the same ones) or none."
    )
    missing: str = option(
        "error", "If a system lacks items: error (stop), drop (leave them out), or zero (score them 0)."
    )
    duplicates: str = option("keep", "Near-duplicate systems: keep (no search), note (name them) or drop.")
    allow_different: list[str] | None = option(
        None,
        "Differences that logs of one task may have: metric, filter, scorer, version, shots, input, target, prompt.",
    )
    domain: list[str] | None = option(
        None, "Use only the items of this domain. With compare, repeat the option to test several domains separately."
    )
    unit: str | None = option(
        None,
        "Resampling unit: item, or a column of the items (default: cluster if the items have that column, otherwise "
        "item).",
    )
    lower_is_better: Annotated[
        bool | None,
        typer.Option(
            "--lower-is-better/--higher-is-better",
            help="With --metric mean: whether lower or higher scores are better (default: higher, with a note if the "
            "score's name is wer, error, loss, …).",
        ),
    ] = None

    def read(self, paths: list[Path], metric: str | None, **more: Any) -> tuple[Loaded, dict[str, str]]:
        """What `simstudy.load` makes of the files, with `more` of its arguments, and the SHA-256 of each file."""
        if self.domain and len(self.domain) > 1:
            raise InputError("--domain", f"must be given once here, not {len(self.domain)} times")
        (loaded,), hashes = self.read_each(paths, [metric], **more)
        return loaded, hashes

    def read_each(
        self, paths: list[Path], metrics: Sequence[str | None], *, by_domain: bool = False, **more: Any
    ) -> tuple[list[Loaded], dict[str, str]]:
        """What `read` gives by each metric, on each domain that is wanted or (`by_domain`) on all; files are read once.

        A path may be ``name=path``, which names its system.
        """
        from simstudy.readers.request import name_and_path
        from simstudy.readers.text_files import reading

        domains = list(self.domain or ())
        for given, values in (("--metric", metrics), ("--domain", domains)):
            if twice := [value for value in values if list(values).count(value) > 1]:
                raise InputError(f"{given}: '{twice[0]}' is given twice")
        if by_domain and domains:
            raise InputError("--by-domain compares on all domains: leave out --domain")
        more["item_columns"] = [*filter(None, [self.unit, *more.get("item_columns", ())])]
        named = [path if name is None else (name, path) for name, path in map(name_and_path, paths)]
        several = by_domain or len(metrics) > 1 or len(domains) > 1
        found: list[Loaded] = []
        # What a metric of the user's own prints is no part of our output, which may be JSON.
        with reading(keep=several) as read, redirect_stdout(sys.stderr):
            for metric in metrics:
                found += self._by_metric(named, metric, domains, by_domain=by_domain, more=more)
        read_as = [loaded.outputs.metric.name for loaded in found[:: len(found) // len(metrics)]]
        for metric, own in zip(metrics, read_as, strict=True):
            if read_as.count(own) > 1:
                raise InputError(f"--metric: '{metric}' and another are both read as {own}: compare each by itself")
        return found, read.files()

    def _by_metric(
        self, paths: Sequence[Any], metric: str | None, domains: list[str], *, by_domain: bool, more: Mapping[str, Any]
    ) -> list[Loaded]:
        """The files by one metric, on each domain."""
        from simstudy.readers.formats import formats, metric_key
        from simstudy.readers.items import notes_of
        from simstudy.readers.load import load

        chosen = None if metric is None else _metric_named(metric, self.lower_is_better)

        def of(domain: str | None) -> Loaded:
            return load(
                paths,
                chosen,
                references=self.references or (),
                format=self.format,
                items=self.items,
                systems=self.systems,
                columns=mapping(self.columns),
                missing=self.missing,
                domain=domain,
                lower_is_better=self.lower_is_better,
                ids=self.ids,
                allow_different=listed(self.allow_different),
                **more,
            )

        if not by_domain:
            # Logs of other tasks are not read: nothing has to be chosen for them.
            return [of(name) for name in domains] or [of(None)]
        whole = of(None)
        names = list(whole.outputs.by_domain())
        if metric_key(whole.outputs.metric) in formats()["candidates"].metrics:
            # Candidates are ranked within the domain: a list cannot be cut.
            return [of(name) for name in names]
        cut = {name: replace(whole.outputs.domain(name), test_set=name) for name in names}
        return [replace(whole, outputs=outputs, notes=notes_of(outputs, whole.notes)) for outputs in cut.values()]

    def relation(self, loaded: Loaded) -> str | None:
        """The column of relation classes: the one that was asked for, or group or family of the systems table."""
        from simstudy.examination.asking import own_relation
        from simstudy.validation import nearest

        if self.by is None:
            return own_relation(loaded.outputs) if self.systems is not None else None
        if self.systems is None:
            raise InputError(f"--by needs a systems table (--systems) with a column '{self.by}'")
        table = loaded.outputs.systems
        known = [str(name) for name in table if name != "name" and table[name].notna().any()]
        if self.by in known:
            return self.by
        raise InputError(
            f"no column '{self.by}' with values among {', '.join(known)}{nearest(self.by, known)}", at=self.systems
        )


def _metric_named(text: str, lower_is_better: bool | None) -> str | Metric:
    """The metric that module:name means, a function of summed statistics or a Metric; other names as they are.

    The module is a program of the user's and is run: it is looked for in the working directory, then where Python
    looks. A ValueError is raised where there is none, or nothing of that name in it, and as by `simstudy.metric`.
    """
    from simstudy.metrics import Metric, canonical, find_metric
    from simstudy.metrics.user_metrics import metric as make_metric

    module, colon, name = text.partition(":")
    if colon and find_metric(canonical(text)) is not None:
        return text
    if not colon:
        if find_metric(text) is None and Path(f"{text}.py").is_file():
            raise InputError(f"metric '{text}'", f"must name a function of {text}.py: --metric {text}:function")
        return text
    if not name.isidentifier() or module.endswith(".py") or not all(part.isidentifier() for part in module.split(".")):
        raise InputError(f"metric '{text}'", "must be module:function, the module as Python imports it (without .py)")
    # Last: a file here that is called as one of Python's own modules must not stand in for it.
    sys.path.append("")
    try:
        # What the module prints is no part of our output, which may be JSON.
        with redirect_stdout(sys.stderr):
            program = import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0] and error.name != module:
            raise InputError(f"metric '{text}': module '{module}' needs '{error.name}', which is not there") from None
        raise InputError(f"metric '{text}': there is no module '{module}' here or among Python's own") from None
    except (Exception, SystemExit) as error:
        # The module is the user's: what it raises is no bug of ours, and its exit code is not the comparison's.
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"metric '{text}': module '{module}' cannot be imported: {said}") from None
    finally:
        sys.path.remove("")
    if is_closed(sys.__stdout__) or is_closed(sys.stderr):
        # What it takes for standard output is standard error here.
        raise InputError(f"metric '{text}': module '{module}' closes standard output")
    if not hasattr(program, name):
        where = getattr(program, "__file__", None) or "built in"
        raise InputError(f"metric '{text}': module '{module}' ({where}) has no '{name}'")
    found = getattr(program, name)
    if isinstance(found, Metric):
        return found
    try:
        return make_metric(name, found, lower_is_better=bool(lower_is_better))
    except InputError as error:
        named = f"makes a metric that {module}:NAME can name"
        remedy = f"{error.remedy} {named}" if error.remedy else ""
        if error.argument == "columns":
            remedy = f"simstudy.metric(…, columns=…) {named}"
        raise InputError(error.argument, error.rule, error.value, remedy, at=f"metric '{text}'") from None
