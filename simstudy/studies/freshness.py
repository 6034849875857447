"""Whether shipped results are what today's program would make: its settings and its code, not its page."""

from __future__ import annotations

from pathlib import Path

from simstudy.running.manifest import MANIFEST, changed_rooms, json_object, other_versions
from simstudy.studies.catalogue import load_study, program_behind
from simstudy.studies.definition import StudyError


def why_not_fresh(path: str | Path, study: str | Path | None = None) -> tuple[list[str], str]:
    """What differs between the program that made the results in a folder and today's, and between the versions.

    Parameters
    ----------
    path
        A folder that `run_study` wrote.
    study
        As for `run_study`; None for the shipped study that the results say they are of.

    Returns
    -------
    reasons
        A line each: settings, and rooms of code. None of them: the tables are what the program would make today from
        the same data. A change in a room need not change a table; what draws and writes pages does not count.
    versions
        Which versions of Python and libraries differ, in words; empty where none does.

    Raises
    ------
    ValueError
        Where no study has written there.
    """
    folder = Path(path)
    manifest = json_object(folder / MANIFEST)
    written = (manifest or {}).get("study")
    if manifest is None or not isinstance(written, dict):
        raise ValueError(f"{folder} holds no results of a study")
    try:
        asked = load_study(study if study is not None else str(written.get("name")))
    except StudyError as error:
        raise ValueError(f"{folder}: {error}") from None
    settings = asked.model_dump(mode="json")
    keys = [key for key in {**settings, **written} if settings.get(key) != written.get(key)]
    reasons = [f"settings have changed: {', '.join(keys)}"] if keys else []
    rooms = changed_rooms(manifest, program_behind(asked))
    if rooms is None:
        reasons.append(f"{MANIFEST} does not say what program made the results")
    elif rooms:
        reasons.append(f"code has changed: {', '.join(rooms)}")
    return reasons, other_versions(manifest)
