"""Results that a run of a study wrote: their page, and whether today's settings and code would make the same tables."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from simstudy.pages.report import Page, write_results
from simstudy.running.folders import MANIFEST, ResultsFolder, json_object, other_versions, results_folder, verify
from simstudy.running.keys import RESULTS_VERSION
from simstudy.running.program_files import SHOWING
from simstudy.running.progress import shown
from simstudy.studies.catalogue import asked_for, blaming_program, code_behind, load_study, shown_by
from simstudy.studies.context import ShippedTables
from simstudy.studies.definition import Study, StudyError
from simstudy.validation import InputError

# Settings that are words of the page alone.
_WORDS = ("title", "question", "texts")


def publish_page(
    study: Study,
    results: ResultsFolder,
    manifest: Mapping[str, Any],
    seconds: Mapping[str, float] | None = None,
    *,
    unchanged: bool = False,
) -> dict[str, pd.DataFrame]:
    """Write the page of tables that are gathered, and publish all of it; what a terminal shows at the end.

    What is there already (`unchanged`) is left as it is.
    """
    page, summary = page_of(study, ShippedTables(results.gathered, manifest["tables"], results.path), manifest)
    if not unchanged:
        write_results(results, page, manifest, seconds)
    return summary


def page_of(study: Study, tables: ShippedTables, manifest: Mapping[str, Any]) -> tuple[Page, dict[str, pd.DataFrame]]:
    """The page of a study, from its tables and what the manifest says of the run; what a terminal shows at the end."""
    found, told = shown_by(study, tables), manifest["page"]
    page = Page(
        title=study.title,
        question=study.question,
        command=told["command"],
        place=told["place"],
        facts=told["facts"],
        sections=found.sections,
        tables=tables,
        closing=found.closing,
        answer=told["answers"],
    )
    return page, {title: table.text() for title, table in found.summary.items()}


def rewrite_page(
    study: str | Path | Study, *, out: str | Path | None = None, seed: int | None = None
) -> tuple[Path, dict[str, pd.DataFrame]]:
    """Write the page and figures of a study's results again, as today's code shows the tables; nothing is computed.

    The arguments are those of `run_study`. The result is the folder and the summary, as `Results` has them. A
    ValueError is raised where the files are not as a run wrote them, or the run had other settings.
    """
    definition, folder = asked_for(study, out, seed)
    manifest = _manifest_in(folder)
    if changed := _other_settings(definition, manifest):
        raise InputError(f"{folder} was made with other settings ({', '.join(changed)}): run the study")
    with shown(), results_folder(folder, of=f"study {definition.name}") as results, blaming_program(definition):
        for name in manifest["tables"]:
            shutil.copyfile(folder / f"{name}.csv", results.gathered / f"{name}.csv")
        return folder, publish_page(definition, results, manifest)


def why_not_fresh(path: str | Path, study: str | Path | None = None) -> tuple[list[str], str]:
    """Why a run would make the results in a folder anew, and which versions of libraries differ.

    `study` is as for `run_study`; None is the shipped study that the results name. The first result has a line for each
    change: of settings, of the study's own files, of `RESULTS_VERSION`. Changed data, and an edit of the library under
    the same `RESULTS_VERSION`, are not seen. The second result names the versions of Python and libraries that differ;
    it is empty if none does. A ValueError is raised where no study has written there.
    """
    folder = Path(path)
    manifest = json_object(folder / MANIFEST)
    if manifest is None or not isinstance(manifest.get("study"), dict):
        raise InputError(f"{folder} holds no results of a study")
    try:
        asked = load_study(study if study is not None else str(manifest["study"].get("name")))
    except StudyError as error:
        raise InputError(str(error), at=folder) from None
    changed = _other_settings(asked, manifest)
    reasons = [f"settings have changed: {', '.join(changed)}"] if changed else []
    here, made = code_behind(asked), manifest.get("code", {})
    if code := sorted(name for name in {*here, *made} - {*SHOWING} if here.get(name) != made.get(name)):
        reasons.append(f"the study's code has changed: {', '.join(code)}")
    if (made_by := manifest.get("results_version")) != RESULTS_VERSION:
        reasons.append(f"RESULTS_VERSION was {made_by} and is {RESULTS_VERSION}: numbers may have changed")
    return reasons, other_versions(manifest)


def _manifest_in(folder: Path) -> dict[str, Any]:
    """The manifest of a folder whose files are as a run of a study wrote them."""
    problems = verify(folder, cells=False)
    manifest = json_object(folder / MANIFEST) or {}
    if problems or not {"study", "tables", "page"} <= manifest.keys():
        what = problems[0] if problems else f"{MANIFEST} is not of a run of a study"
        raise InputError(str(folder), f"must be as a run of the study left it: {what}")
    return manifest


def _other_settings(study: Study, manifest: Mapping[str, Any]) -> list[str]:
    """The settings that differ between a study and the run of a manifest, by name."""
    today, written = study.model_dump(mode="json"), manifest["study"]
    return [key for key in {**today, **written} if key not in _WORDS and today.get(key) != written.get(key)]
