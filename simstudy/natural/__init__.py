"""Natural comparisons: the outputs that others made (Berg-Kirkpatrick et al. 2012, section 3.1)."""

from simstudy.natural.examination import Examination, examine
from simstudy.natural.systems_table import describe_systems
from simstudy.natural.verdict import verdict

__all__ = ["Examination", "describe_systems", "examine", "verdict"]
