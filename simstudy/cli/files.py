"""How files of system outputs are read: the options that `compare` and `plan` share."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simstudy.cli.usage import mapping
from simstudy.planning.settings import option

if TYPE_CHECKING:
    from simstudy.loaders.base import Loaded

#: The heading of their options.
HEADING = "How files are read"


@dataclass(frozen=True)
class Files:
    """How files of system outputs are read."""

    references: list[Path] | None = option(None, "File of gold answers; more than once for several references.")
    systems: Path | None = option(None, "CSV with a row for each system: system, group, family, …")
    by: str | None = option(None, "Column of the systems table for relation classes (default: group or family).")
    items: Path | None = option(
        None, "CSV with a row for each item, in their order or with ids: domain, cluster (or doc, user, repo, …), …"
    )
    columns: str | None = option(None, "The files' columns under our names: item=instance_id,score=resolved.")
    format: str | None = option(
        None,
        "scores, text, conll, conllu, trees, alignments, trec, lm-eval, inspect, candidates (default: as names tell).",
    )
    missing: str = option("error", "Items that a system lacks: error, drop or zero.")
    duplicates: str = option("keep", "Near-duplicate systems: keep or drop.")
    domain: str | None = option(None, "Only the items of this domain.")
    unit: str | None = option(None, "Resampling unit: item, or a column of the items (default: cluster, if any).")
    lower_is_better: Annotated[
        bool | None,
        typer.Option(
            "--lower-is-better/--higher-is-better",
            help="What is better of scores under --metric mean (default: higher, with a note where they are called "
            "wer, error, loss, …).",
        ),
    ] = None

    def read(self, paths: list[Path], metric: str, **more: Any) -> tuple[Loaded, dict[str, str]]:
        """What `simstudy.load` makes of the files, with `more` of its arguments, and the SHA-256 of each file."""
        from simstudy.cli.user_metric import metric_named
        from simstudy.loaders.formats import load
        from simstudy.loaders.reading import reading

        # What a metric of the user's own prints is no part of our output, which may be JSON.
        with reading() as read, redirect_stdout(sys.stderr):
            loaded = load(
                paths,
                metric_named(metric, self.lower_is_better),
                references=self.references or (),
                format=self.format,
                items=self.items,
                systems=self.systems,
                columns=mapping(self.columns),
                missing=self.missing,
                domain=self.domain,
                lower_is_better=self.lower_is_better,
                **more,
            )
        return loaded, read.files()

    def relation(self, loaded: Loaded) -> str | None:
        """The column of relation classes: the one that was asked for, or group or family of the systems table."""
        from simstudy.examination.asking import own_relation
        from simstudy.validation import nearest

        if self.by is None:
            return own_relation(loaded.outputs) if self.systems is not None else None
        if self.systems is None:
            raise ValueError(f"--by needs a systems table (--systems) with a column '{self.by}'")
        table = loaded.outputs.systems
        known = [str(name) for name in table if name != "name" and table[name].notna().any()]
        if self.by in known:
            return self.by
        raise ValueError(
            f"{self.systems}: no column '{self.by}' with values among {', '.join(known)}{nearest(self.by, known)}"
        )
