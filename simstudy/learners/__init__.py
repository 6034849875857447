"""Learners: base systems that can be trained on weighted examples, and what they read."""

from simstudy.learners.classification import Classifier, Rows
from simstudy.learners.examples import BaseSystem, Count, Examples

__all__ = ["BaseSystem", "Classifier", "Count", "Examples", "Rows"]
