"""An n-gram model with interpolated Kneser-Ney smoothing (Kneser and Ney 1995; Chen and Goodman 1999)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence


class KneserNey:
    """Probabilities of words given the words before.

    Words are numbers. Of the longest n-grams the occurrences are counted, of shorter ones how many words stand before
    them. Shorter ones that start a text have nothing but the start before them, and their occurrences are counted
    (as Heafield et al. 2013). An absolute discount D = n1 / (n1 + 2 n2) of each order (n1 and n2 n-grams have count 1
    and 2; 0.75 where one of them is 0) goes to the model of shorter n-grams, and that of single words to all known
    words alike.

    Parameters
    ----------
    texts
        Texts and how often they are there. None must have the words `start` and `end`.
    order
        ints of the longest n-grams.
    start, end
        What stands before the first word of a text, as often as n-grams need it, and after the last.

    Examples
    --------
    >>> model = KneserNey([([2, 3], 2), ([2, 4], 1)], order=2, start=0, end=1)
    >>> round(sum(model.probability([2], word) for word in model.vocabulary), 12)
    1.0
    >>> model.successors(2)
    [3, 4]
    """

    def __init__(self, texts: Iterable[tuple[Sequence[int], int]], order: int, start: int, end: int) -> None:
        self.order, self.start, self.end = order, start, end
        counts: list[Counter[tuple[int, ...]]] = [Counter() for _ in range(order)]
        for text, weight in texts:
            padded = (*[start] * (order - 1), *text, end)
            for k in range(order - 1, len(padded)):
                counts[-1][padded[k - order + 1 : k + 1]] += weight
        for n in range(order - 1, 0, -1):
            for gram, count in counts[n].items():
                counts[n - 1][gram[1:]] += count if gram[1] == start else 1
        # Context -> following word -> count, of contexts of 0, 1, … words.
        self._following: list[dict[tuple[int, ...], dict[int, int]]] = [defaultdict(dict) for _ in range(order)]
        self._discount = []
        for n, own in enumerate(counts):
            for gram, count in own.items():
                self._following[n][gram[:-1]][gram[-1]] = count
            often = Counter(own.values())
            self._discount.append(often[1] / (often[1] + 2 * often[2]) if often[1] and often[2] else 0.75)
        self._total = [{context: sum(words.values()) for context, words in own.items()} for own in self._following]
        self.vocabulary = list(self._following[0].get((), {}))

    def probability(self, before: Sequence[int], word: int) -> float:
        """The probability of a known word after others, of which only the last order - 1 matter."""
        chance = 1 / len(self.vocabulary)
        context = tuple(before)[max(0, len(before) - self.order + 1) :]
        for n in range(len(context) + 1):
            key = context[len(context) - n :]
            if following := self._following[n].get(key):
                total, discount = self._total[n][key], self._discount[n]
                chance = max(following.get(word, 0) - discount, 0) / total + discount * len(following) / total * chance
        return chance

    def successors(self, word: int) -> list[int]:
        """The words that were seen after another one, the most probable first; equals in ascending order."""
        following = self._following[1].get((word,), {}) if self.order > 1 else {}
        return sorted(following, key=lambda other: (-following[other], other))

    def log_probability(self, before: Sequence[int], word: int) -> float:
        """The natural logarithm of `probability`, rounded to 9 digits: what decides is more than a last bit."""
        return round(math.log(self.probability(before, word)), 9)
