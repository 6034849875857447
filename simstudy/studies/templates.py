"""New studies from templates: a study.toml that explains its keys, with small files that it runs on as it is."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from simstudy.files.whole import atomic_path
from simstudy.running.program_files import shipped_studies
from simstudy.validation import InputError, check_choice, check_path

#: Kind of study -> the package that holds its template, and the template's files.
TEMPLATES = {
    "natural": ("simstudy.studies.natural", ("study.toml", "scores.csv", "systems.csv")),
    "simulation": ("simstudy.studies.simulation", ("study.toml", "study.py")),
}


def new_study(folder: str | Path, template: str = "natural") -> list[Path]:
    """Write the files of a new study into a new folder, which gives it its name.

    The template "natural" is for systems that exist, compared on files of one's own. "simulation" is for tests on
    simulated data, with a test of one's own. A ValueError is raised for an
    unknown template, a folder that holds anything, and the name of a study that comes with simstudy.
    """
    check_path("folder", folder)
    check_choice("template", template, TEMPLATES)
    target = Path(folder)
    if target.resolve().name in shipped_studies():
        raise InputError(
            "folder", f"must have a name of its own: a study that comes with simstudy is called '{target.name}'"
        )
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise InputError("folder", f"must be new or empty, but {target} is there: nothing in it is written over")
    package, names = TEMPLATES[template]
    source = resources.files(package).joinpath("template")
    for name in names:
        with atomic_path(target / name) as temporary:
            temporary.write_bytes(source.joinpath(name).read_bytes())
    return [target / name for name in names]
