"""The examination of a test set's systems: every pair compared and analysed, in words, as a page and as JSON."""

from simstudy.examination.asking import examine
from simstudy.examination.examination import Examination, classified

__all__ = ["Examination", "classified", "examine"]
