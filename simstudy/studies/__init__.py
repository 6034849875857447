"""Studies: a definition in TOML, and the run that turns it into tables, figures and a page."""

from simstudy.studies.catalogue import load_study, make_study, shipped_studies
from simstudy.studies.definition import Study, StudyError
from simstudy.studies.run import Results, run_study

__all__ = ["Results", "Study", "StudyError", "load_study", "make_study", "run_study", "shipped_studies"]
