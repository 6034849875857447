"""Sentences to translate and translations, as numbers of words; how translations are counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import Any

import numpy as np

from simstudy.metrics import get_metric
from simstudy.training import Examples
from simstudy_learners.segments import Integers, bounds_of

# How the marks are written that stand before and after a sentence in language models, START and END.
_MARKS = ("<s>", "</s>")


@dataclass(frozen=True)
class Text:
    """n sentences of one language.

    Attributes
    ----------
    lines
        The sentences as they were written.
    words
        (all words,) their numbers, after `tokenised`.
    bounds
        (n + 1,): sentence i is words bounds[i] … bounds[i + 1] - 1.
    vocabulary
        The words of a whole task, of both languages: a word that no system knows stays as it is. The first two mark
        beginnings and ends, and are in no text.
    """

    lines: tuple[str, ...]
    words: Integers
    bounds: Integers
    vocabulary: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[str]:
        """The sentences as they were written: references are counted as translations are."""
        return iter(self.lines)

    @property
    def lengths(self) -> Integers:
        """(n,) numbers of words."""
        return np.diff(self.bounds)

    def content(self) -> list[str]:
        """What the text is, for a hash."""
        return list(self.lines)


def index_texts(texts: Sequence[Sequence[str]]) -> list[Text]:
    """The texts of a task, their words numbered together. A ValueError is raised where a sentence has no words.

    Examples
    --------
    >>> german, english = index_texts([["Ein Hund.", "Otto!"], ["A dog.", "Otto!"]])
    >>> german.vocabulary
    ('<s>', '</s>', 'ein', 'hund', '.', 'otto', '!', 'a', 'dog')
    >>> english.words.tolist(), english.bounds.tolist()
    ([7, 8, 4, 5, 6], [0, 3, 5])
    """
    sentences = [[tokenised(line) for line in text] for text in texts]
    for number, text in enumerate(sentences):
        for i, words in enumerate(text):
            if not words:
                raise ValueError(f"texts must have words in every sentence, unlike sentence {i} of text {number}")
    numbers = {mark: i for i, mark in enumerate(_MARKS)}
    found = [
        np.array([numbers.setdefault(word, len(numbers)) for word in chain(*text)], np.int64) for text in sentences
    ]
    vocabulary = tuple(numbers)
    return [
        Text(tuple(lines), words, bounds_of([*map(len, text)]), vocabulary)
        for lines, words, text in zip(texts, found, sentences, strict=True)
    ]


def tokenised(line: str) -> list[str]:
    """The words of a sentence: those that sacrebleu counts, lower-cased (its tokenizer 13a).

    Words put together with blanks are taken apart into the same words: a system's output needs no detokenisation to be
    counted as sacrebleu counts.

    Examples
    --------
    >>> tokenised("A man's dog (brown), 3.5 years.")
    ['a', "man's", 'dog', '(', 'brown', ')', ',', '3.5', 'years', '.']
    """
    words: list[str] = _tokenizer()(line.lower()).split()
    return words


@cache
def _tokenizer() -> Any:
    # Not at the top: sacrebleu takes its time to load.
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    return Tokenizer13a()  # type: ignore[no-untyped-call]


def spelt_out(words: Integers, bounds: Integers, vocabulary: Sequence[str]) -> list[str]:
    """Sentences of numbered words as text, with blanks between the words."""
    return [
        " ".join(vocabulary[word] for word in words[first:last])
        for first, last in zip(bounds[:-1], bounds[1:], strict=True)
    ]


@lru_cache(maxsize=16)
def _counter(metric: str, lines: tuple[str, ...]) -> Any:
    """References are tokenised once for all systems of a process."""
    return get_metric(metric).text_counter([[line] for line in lines], lowercase=True)


def count_bleu(examples: Examples, translations: Iterable[str]) -> Any:
    """Statistics of BLEU for each sentence: sacrebleu's, lower-cased, tokenizer 13a, one reference."""
    return _counter("bleu", examples.gold.lines).statistics([*translations])


def count_chrf(examples: Examples, translations: Iterable[str]) -> Any:
    """Statistics of chrF for each sentence: sacrebleu's, lower-cased, one reference."""
    return _counter("chrf", examples.gold.lines).statistics([*translations])
