"""Error rates, power and coverage: two systems of known scores, drawn many times, asked every test that applies.

If the two systems have equal scores in the population, each rejection is an error, whatever null hypothesis a test has.
The tables say beside each rate which assumption of the test the condition breaks.
"""

from __future__ import annotations

from .models import model
from .page import show
from .tables import summarise

__all__ = ["model", "show", "summarise"]
