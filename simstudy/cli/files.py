"""How files of system outputs are read: the options that `compare` and `plan` share."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from simstudy.cli.groups import option
from simstudy.cli.usage import mapping

if TYPE_CHECKING:
    from simstudy.loaders.base import Loaded


@dataclass(frozen=True)
class Files:
    """How files of system outputs are read."""

    panel: ClassVar[str] = "How files are read"

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

    def load(self, paths: list[Path], metric: str, **more: Any) -> tuple[Loaded, dict[str, str]]:
        """The outputs in these files, and the hash of each file that was read.

        Parameters
        ----------
        paths
            Files, or folders of them.
        metric
            Its name, or module:function.
        more
            Other options of `simstudy.loaders.formats.load`.
        """
        from simstudy.cli.user_metric import metric_named
        from simstudy.loaders.formats import load
        from simstudy.loaders.reading import reading

        # What a metric of the user's own prints is no part of our output, which may be JSON.
        with reading() as read, redirect_stdout(sys.stderr):
            loaded = load(
                paths, metric_named(metric, self.lower_is_better), references=self.references or (),
                format=self.format, items=self.items, systems=self.systems, columns=mapping(self.columns),
                missing=self.missing, domain=self.domain, lower_is_better=self.lower_is_better, **more,
            )  # fmt: skip
        return loaded, {str(path): digest for path, digest in sorted(read.hashes.items())}
