"""Studies: a definition in TOML, and the run that turns it into tables, figures and a page.

A study whose study.toml says kind = "program" has a study.py beside it, which imports what it needs from here, from
`simstudy` itself, and from `simstudy.sections`: see `simstudy.studies.programs.load_program`.
"""

from simstudy.cells import Cell
from simstudy.studies.catalogue import load_study, make_study, shipped_studies
from simstudy.studies.comparing import run_comparisons
from simstudy.studies.definition import (
    EACH_ONCE,
    Comparison,
    Keys,
    Positive,
    Resamples,
    SideBySide,
    Size,
    Study,
    StudyError,
    Training,
    one_of,
)
from simstudy.studies.findings import Findings, RunContext
from simstudy.studies.problems import Problems
from simstudy.studies.resampling.study import check_systems, train
from simstudy.studies.run import Results, run_study
from simstudy.studies.side_by_side import side_by_side
from simstudy.studies.stand_ins import check_comparison

__all__ = [
    "EACH_ONCE",
    "Cell",
    "Comparison",
    "Findings",
    "Keys",
    "Positive",
    "Problems",
    "Resamples",
    "Results",
    "RunContext",
    "SideBySide",
    "Size",
    "Study",
    "StudyError",
    "Training",
    "check_comparison",
    "check_systems",
    "load_study",
    "make_study",
    "one_of",
    "run_comparisons",
    "run_study",
    "shipped_studies",
    "side_by_side",
    "train",
]
