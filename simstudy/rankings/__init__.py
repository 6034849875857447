"""Rankings of candidates by scoring functions, and their n-best lists (Evert 2004)."""

from simstudy.rankings.candidates import Candidates

__all__ = ["Candidates"]
