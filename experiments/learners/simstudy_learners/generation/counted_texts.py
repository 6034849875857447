"""Statistics of generated texts, counted against references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from simstudy.metrics import METRICS
from simstudy.metrics.base import Array, TextCounter
from simstudy.training import Examples


@dataclass(frozen=True)
class CountTexts:
    """Counts a metric's statistics (n, S) of n texts against their references, without regard to case.

    In the place of a text may stand a list of texts, of which the first counts: gold answers are lists of references.

    Examples
    --------
    >>> examples = Examples([(("name", "Cotto"),)], [["Cotto is cheap."]])
    >>> CountTexts("bleu")(examples, ["Cotto is Cheap."]).tolist()
    [[4, 3, 2, 1, 4, 3, 2, 1, 4, 4]]
    """

    metric: str

    def __call__(self, examples: Examples, answers: Sequence[str | Sequence[str]]) -> Array:
        texts = [answer if isinstance(answer, str) else answer[0] for answer in answers]
        return _counter(self.metric, tuple(map(tuple, examples.gold))).statistics(texts)


# References are prepared once for all the systems that a process trains.
@lru_cache(maxsize=4)
def _counter(metric: str, references: tuple[tuple[str, ...], ...]) -> TextCounter:
    counter = METRICS[metric].text_counter(references, lowercase=True)
    assert counter is not None
    return counter
