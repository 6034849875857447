"""Natural comparisons: the outputs that others made (Berg-Kirkpatrick et al. 2012, section 3.1)."""

from simstudy.natural.examination import Examination, examine
from simstudy.natural.verdict import verdict

__all__ = ["Examination", "examine", "verdict"]
