"""Which tags a word can have: counts of known words, smoothed by how rare words of the same form are tagged."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simstudy_learners.constituency.binary_trees import FloatArray, IntArray
from simstudy_learners.constituency.grammars import totals

# Words seen no more often than this tell how unknown words are tagged.
_RARE = 4

# How many sightings the next coarser estimate is worth: from form to form, and from form to word.
_FORM_STRENGTH = 5.0
_WORD_STRENGTH = 1.0


def forms_of(words: Sequence[str]) -> IntArray:
    """Numbers (n words, 4) of the forms of words: the shape, and the shape with the last one, two and three letters.

    The shape says what the signatures of the Stanford and Berkeley parsers do: capitals, digits, hyphens and the like.
    """
    table = np.empty((len(words), 4), dtype=np.int32)
    for level in range(4):
        numbers: dict[tuple[str, str], int] = {}
        for i, word in enumerate(words):
            suffix = word.lower()[-level:] if level else ""
            table[i, level] = numbers.setdefault((_shape(word), suffix), len(numbers))
    return table


def _shape(word: str) -> str:
    """Capital at the beginning, later, all; digits; hyphens; letters; other signs."""
    letters = [c for c in word if c.isalpha()]
    marks = [
        "C" if word[:1].isupper() else "",
        "U" if len(letters) > 1 and all(c.isupper() for c in letters) else "",
        "M" if any(c.isupper() for c in word[1:]) else "",
        "d" if any(c.isdigit() for c in word) else "",
        "n" if re.fullmatch(r"[\d.,:/+-]*\d[\d.,:/+-]*", word) else "",
        "-" if "-" in word[1:-1] else "",
        "l" if any(c.islower() for c in word) else "",
        "o" if not letters else "",
        "1" if len(word) == 1 else "",
    ]
    return "".join(marks)


def tag_scores(
    words: IntArray, tags: IntArray, counts: FloatArray, n_tags: int, *, forms: IntArray, wanted: IntArray
) -> FloatArray:
    """P(tag | word) / P(tag) of some words, which is P(word | tag) but for a factor of the word.

    A pair (pairs,) has a word's number, a tag's number (0 … n_tags - 1), and how often they were seen together. `forms`
    (all words, levels) are those of `forms_of`. The scores are (n, n_tags) of the words `wanted` (n,); a tag that was
    never seen has 0.
    """
    n_words = len(forms)
    of_tag = totals(tags, counts, n_tags)
    of_word = totals(words, counts, n_words)
    # Where every word is frequent, all of them must do.
    rare = (of_word[words] <= _RARE) | (of_word[of_word > 0].min(initial=np.inf) > _RARE)
    share = totals(tags[rare], counts[rare], n_tags)
    share = np.broadcast_to(share / max(share.sum(), 1e-300), (len(wanted), n_tags))
    for level in range(forms.shape[1]):
        used, place = np.unique(forms[wanted, level], return_inverse=True)
        at = np.full(int(forms[:, level].max(initial=-1)) + 1, -1)
        at[used] = np.arange(len(used))
        row = np.where(rare, at[forms[words, level]], -1)
        share = _updated(share, _seen(row, tags, counts, (len(used), n_tags))[place], _FORM_STRENGTH)
    at = np.full(n_words, -1)
    at[wanted] = np.arange(len(wanted))
    seen = _seen(at[words], tags, counts, (len(wanted), n_tags))
    share = _updated(share, seen[at[wanted]], _WORD_STRENGTH)
    scores: FloatArray = share / np.where(of_tag > 0, of_tag / max(of_tag.sum(), 1e-300), np.inf)
    return scores


def _seen(row: NDArray[np.intp], tags: IntArray, counts: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """How often each row was seen with each tag, (rows, tags); what has row -1 does not count."""
    chosen = row >= 0
    n_rows, n_tags = shape
    return totals(row[chosen] * n_tags + tags[chosen], counts[chosen], n_rows * n_tags).reshape(shape)


def _updated(share: FloatArray, seen: FloatArray, strength: float) -> FloatArray:
    """Shares (n, tags) that have seen these counts (n, tags), the old ones being worth so many sightings."""
    updated: FloatArray = (seen + strength * share) / (seen.sum(axis=1, keepdims=True) + strength)
    return updated
