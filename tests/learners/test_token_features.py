"""Views of tokens by plain loops over words: spelling, neighbours, and vectors of contexts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simstudy_learners.sequences import token_features
from simstudy_learners.sequences.token_features import Tokens, bayes_view, dense_view, linear_view, numbered_view

SENTENCES = [
    text.split()
    for text in (
        "The cat sat on the Mat", "A catty McDonald's-3rd", "cats sat on 35 x@y.z", "SAT", "The USA , walked quickly !",
        "Mid-1990s-pre-Y2K walker Low-2s-x-ray",
        "cat sat the editor walking 2nd",
    )
]  # fmt: skip
SHAPES = {
    "The": "Xx", "cat": "x", "Mat": "Xx", "A": "X", "McDonald's-3rd": "XxXx'x-d", "35": "d", "x@y.z": "x@x.x",
    "Mid-1990s-pre-Y2K": "Xx-dx-x-", "Low-2s-x-ray": "Xx-dx-x-", "SAT": "X", "USA": "X", ",": "_", "!": "_",
    "2nd": "dx",
}  # fmt: skip
N_TRAIN = sum(map(len, SENTENCES[:-1]))


def shape(word: str) -> str:
    return SHAPES.get(word, "x" if word else "")


def windows() -> list[list[str]]:
    """Each token with the two words before it and the two behind it; "" outside of its sentence."""
    padded = [["", "", *words, "", ""] for words in SENTENCES]
    return [words[k - 2 : k + 3] for words in padded for k in range(2, len(words) - 2)]


def test_numbers_tell_words_affixes_shapes_and_neighbours_apart() -> None:
    """Each column has its own numbers; what is not in the training text has 0."""

    def spelt(before: str, one: str, word: str, other: str, behind: str) -> list[str]:
        low = word.lower()
        own = [word, low, *(low[-k:] for k in (1, 2, 3, 4)), word[:1], low[:3], shape(word)]
        beside = [(w.lower(), w.lower()[-3:], shape(w)) for w in (one, other)]
        return [*own, *(kind for pair in zip(*beside, strict=True) for kind in pair), before.lower(), behind.lower()]

    expected = list(zip(*(spelt(*window) for window in windows()), strict=True))
    numbers = numbered_view(Tokens.index(SENTENCES), N_TRAIN)
    assert numbers.shape == (len(windows()), len(expected))
    seen = set[int]()
    for column, texts in zip(numbers.T.tolist(), expected, strict=True):
        known = set(texts[:N_TRAIN])
        assert [number > 0 for number in column] == [text in known for text in texts]
        pairs = {(number, text) for number, text in zip(column, texts, strict=True) if number}
        assert len(pairs) == len(known) == len({number for number, _ in pairs})
        assert not seen & set(column) - {0}
        seen |= set(column)


@pytest.mark.parametrize("view", [linear_view, bayes_view])
def test_what_two_tokens_have_in_common_is_what_a_linear_model_sees(view: Callable[..., Any]) -> None:
    """Products of two rows count the features that both have: suffixes of naive Bayes have half the weight."""

    def suffixes(word: str, longest: int) -> set[str]:
        return {word.lower()[-k:] for k in range(1, longest + 1) if k <= len(word)}

    rows = windows()
    found = (view(Tokens.index(SENTENCES)) @ view(Tokens.index(SENTENCES)).T).toarray()
    for i, (_, one, word, other, _) in enumerate(rows):
        for j, (_, before, own, behind, _) in enumerate(rows):
            alike = len(suffixes(word, 3) & suffixes(own, 3))
            same = (word.lower() == own.lower()) + (shape(word) == shape(own)) + (one.lower() == before.lower())
            if view is bayes_view:
                expected = same + alike / 4 + (word == own) + (other.lower() == behind.lower())
            else:
                form = (other.lower()[-2:] == behind.lower()[-2:]) + (shape(other) == shape(behind))
                expected = same + alike + form
            assert found[i, j] == expected, (word, own)


# Capital first, all capitals, all small, a number, any digit, hyphen, stop or at, no letter or digit; length; endings.
FLAGS: dict[str, list[int]] = {
    "The": [1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0], "USA": [1, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0],
    "A": [1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0], "McDonald's-3rd": [1, 0, 0, 0, 1, 1, 0, 0, 14, 0, 0, 0, 0, 0],
    "cats": [0, 0, 1, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0], "35": [0, 0, 0, 1, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0],
    "x@y.z": [0, 0, 1, 0, 0, 0, 1, 0, 5, 0, 0, 0, 0, 0], "!": [0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0],
    "walked": [0, 0, 1, 0, 0, 0, 0, 0, 6, 0, 1, 0, 0, 0], "walking": [0, 0, 1, 0, 0, 0, 0, 0, 7, 0, 0, 1, 0, 0],
    "walker": [0, 0, 1, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 1],
    "Mid-1990s-pre-Y2K": [1, 0, 0, 0, 1, 1, 0, 0, 15, 0, 0, 0, 0, 0],
    "quickly": [0, 0, 1, 0, 0, 0, 0, 0, 7, 0, 0, 0, 1, 0], "editor": [0, 0, 1, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 1],
}  # fmt: skip


def test_the_dense_view_has_vectors_of_contexts_and_those_of_its_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_features, "_N_CONTEXTS", 4)
    low = [[word.lower() for word in words] for words in SENTENCES]
    training = low[:-1]
    often = Counter(word for words in training for word in words)
    # The three most frequent words, of equals the first ones; all others are one context, and the boundary is one.
    order = sorted(often, key=lambda word: (-often[word], list(often).index(word)))
    contexts = {"": 0, **{word: k for k, word in enumerate(order[:3], start=1)}}
    counts: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(10))
    for words in training:
        for before, word, behind in zip(["", *words], words, [*words[1:], ""], strict=False):
            counts[word][contexts.get(before, 4)] += 1
            counts[word][5 + contexts.get(behind, 4)] += 1
    width, narrow = 10, 3
    view = dense_view(Tokens.index(SENTENCES), N_TRAIN, width=width, context_width=narrow)
    tokens = [word for words in low for word in words]
    meaning = {word: row[:width] for word, row in zip(tokens, view, strict=True)}
    assert view.shape == (len(tokens), width + 1 + narrow + 14 + 2 * (narrow + 3))
    # As many dimensions as contexts that there are keep all angles.
    logs = {word: np.log1p(row) for word, row in counts.items()}
    for one in often:
        for other in often:
            cosine = logs[one] @ logs[other] / np.linalg.norm(logs[one]) / np.linalg.norm(logs[other])
            assert meaning[one] @ meaning[other] == pytest.approx(cosine, abs=2e-3)
    unknown = set(tokens) - set(often)
    assert not any(meaning[word].any() for word in unknown)
    # A word's spelling has the mean of what its affixes have, where words weigh the logarithm of their frequency.
    weight = {word: np.log1p(often[word]) for word in tokens}

    def affixes(word: str) -> list[str]:
        return [*(f"-{word[-k:]}" for k in range(1, 5) if k <= len(word)), f"2{word[:2]}", f"3{word[:3]}"]

    def of_affix(affix: str) -> Any:
        alike = [word for word in weight if affix in affixes(word)]
        return sum(weight[one] * meaning[one] for one in alike) / (sum(weight[one] for one in alike) + 0.5)

    parts = np.split(view, np.cumsum([width, 1, narrow, 14, narrow + 3]), axis=1)
    meanings, weights, spelling, flags, left, right = parts
    rows = {word: k for k, (_, _, word, _, _) in enumerate(windows())}
    for k, (_, one, word, other, _) in enumerate(windows()):
        assert weights[k] == pytest.approx(weight[word.lower()])
        own = [of_affix(affix) for affix in affixes(word.lower())]
        np.testing.assert_allclose(spelling[k], np.mean(own, axis=0)[:narrow], atol=1e-6)
        assert word not in FLAGS or flags[k].tolist() == FLAGS[word]
        for neighbour, side in ((one, left), (other, right)):
            at = rows.get(neighbour, 0)
            has = [*meanings[at, :narrow], *weights[at], flags[at, 0], 0] if neighbour else [0] * (narrow + 2) + [1]
            np.testing.assert_allclose(side[k], has)
