"""Studies: a definition in TOML, and the run that turns it into tables, figures and a page.

Read `run.py` first, then `natural/study.py`, `resampling/study.py` and `simulation/study.py`. A study whose study.toml
says kind = "program" has a study.py beside it (`simstudy.studies.catalogue`). It imports from `simstudy`,
`simstudy.pages.sections`, `simstudy.truth` and from here: building blocks check their arguments less than the
functions of `simstudy` do.
"""

from simstudy.comparisons.significant_gains import close_pairs
from simstudy.engines.classical_tests import fisher_exact
from simstudy.engines.drawn_pairs import DrawnPairs
from simstudy.files.datasets import DataFile
from simstudy.metrics import METRICS, label
from simstudy.planning.benchmarks import central_range
from simstudy.planning.correlated_answers import disagreement_of_correlation, of_spread
from simstudy.planning.differences import NormalDifference
from simstudy.planning.right_or_wrong import RightOrWrongDifference
from simstudy.planning.settings import Level
from simstudy.planning.solving import minimum_detectable_gain, size_for
from simstudy.planning.spreads import of_pairs
from simstudy.running.fingerprints import derived_seed
from simstudy.running.keys import Cell, declared_version
from simstudy.running.program_files import shipped_studies
from simstudy.statistics.decisions import Decision
from simstudy.statistics.multiplicity import benjamini_hochberg, holm
from simstudy.statistics.proportions import tango
from simstudy.statistics.pvalues import clopper_pearson
from simstudy.studies.catalogue import load_study, make_study
from simstudy.studies.comparing import run_comparisons
from simstudy.studies.context import Findings, RunContext, ShippedTables, Shown
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
    TaskName,
    Training,
    one_of,
)  # fmt: skip
from simstudy.studies.drawn_boards import DrawnBoards
from simstudy.studies.problems import Problems, check_comparison
from simstudy.studies.resampling.study import check_systems, train
from simstudy.studies.resampling.training_variance import training_variance
from simstudy.studies.reused import hashes_of, outputs_of, tables_of
from simstudy.studies.run import Results, run_study
from simstudy.studies.side_by_side import side_by_side, side_by_side_sections
from simstudy.studies.simulation.definition import Condition, Simulation
from simstudy.studies.simulation.drawing import Block, Replicate, by_block, model_of
from simstudy.studies.simulation.page import lines_figure, rates_figure
from simstudy.truth import MODELS
from simstudy.truth.redrawn import halves

__all__ = [
    "EACH_ONCE", "METRICS", "MODELS", "Block", "Cell", "Comparison", "Condition", "DataFile", "Decision",
    "DrawnBoards", "DrawnPairs", "Findings", "Keys", "Level", "NormalDifference", "Positive", "Problems", "Replicate",
    "Resamples", "Results", "RightOrWrongDifference", "RunContext", "ShippedTables", "Shown", "SideBySide",
    "Simulation", "Size", "Study", "StudyError", "TaskName", "Training", "benjamini_hochberg", "by_block",
    "central_range", "check_comparison", "check_systems", "clopper_pearson", "close_pairs", "declared_version",
    "derived_seed", "disagreement_of_correlation", "fisher_exact", "halves", "hashes_of", "holm", "label",
    "lines_figure", "load_study", "make_study", "minimum_detectable_gain", "model_of", "of_pairs", "of_spread",
    "one_of", "outputs_of", "rates_figure", "run_comparisons", "run_study", "shipped_studies", "side_by_side",
    "side_by_side_sections", "size_for", "tables_of", "tango", "train", "training_variance",
]  # fmt: skip
