"""Candidates of section 4, from a corpus that can be had: a verb and the particle or preposition after it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

import simstudy as ss

from .association import MEASURES

#: How documents become parts.
ARRANGEMENTS = ("contiguous", "dealt")

Pair = tuple[str, str]

# Where Brown's suffixes begin (-hl -tl -nc: in a headline, in a title, cited), the tag of a contracted word, or "not".
_MORE = re.compile("[-+*]")


def particle_sets(
    documents: Sequence[Any], n_parts: int, *, floor: int, arrangement: str, measures: Sequence[str], seed: int
) -> list[ss.rankings.Candidates]:
    """Candidate sets of disjoint parts of a corpus: an evaluation that is repeated, as in section 4 of Evert 2004.

    A candidate is a verb form (a tag vb…: not be, have, do) and the next word, a preposition or an adverbial particle
    (in, rp), lower-cased. It is true where at least half of its tokens in *all* documents are tagged as particle: one
    annotation for all parts, as the paper's database of collocations. Frequencies are of the part.

    Documents have the tags of the Brown corpus. The arrangement "contiguous" has them in their order, cut into runs of
    equally many (as in the paper; runs of Brown are of one genre or two); "dealt" has document i in part i modulo
    n_parts, so that all parts have the same mixture of genres. `floor` is the least frequency of a candidate in its
    part; pairs below it count in the marginals. The seed is of the jitter that breaks ties.
    """
    if n_parts > len(documents):
        raise ValueError(f"n_parts must be at most {len(documents)}, the number of documents, not {n_parts}")
    tokens = [list(_pair_tokens(document)) for document in documents]
    every = Counter(pair for document in tokens for pair, _ in document)
    as_particle = Counter(pair for document in tokens for pair, particle in document if particle)
    true = {" ".join(pair): 2 * as_particle[pair] >= count for pair, count in every.items()}
    numbers, sets = np.arange(len(documents)), []
    dealt = [numbers[k::n_parts] for k in range(n_parts)]
    for k, members in enumerate(dealt if arrangement == "dealt" else np.array_split(numbers, n_parts), start=1):
        pairs = [pair for i in members for pair, _ in tokens[i]]
        if max(Counter(pairs).values(), default=0) < floor:
            raise ValueError(
                f"part {k} of {n_parts} ({arrangement}) has no verb and particle or preposition {floor} times: take "
                "fewer parts or a lower floor"
            )
        table = frequency_table(pairs)
        frequent = table[table["f"] >= floor]
        scores = pd.DataFrame({name: MEASURES[name](frequent) for name in measures})
        hits = [true[pair] for pair in scores.index]
        sets.append(ss.rankings.Candidates.from_scores(scores, hits, seed=seed, test_set=f"part {k}"))
    return sets


def frequency_table(pairs: Iterable[Pair]) -> pd.DataFrame:
    """Frequency signatures of pair types, a row each with the index "first second", in the order of their first tokens.

    The words of a pair stand in a syntactic relation (a verb and its preposition), so N counts pair tokens, not words,
    and f1 and f2 those with the first and with the second word (Evert 2008, Corpora and collocations, section 3).
    """
    f = Counter(pairs)
    f1, f2 = Counter[str](), Counter[str]()
    for (first, second), count in f.items():
        f1[first] += count
        f2[second] += count
    own = {"f": list(f.values()), "f1": [f1[first] for first, _ in f], "f2": [f2[second] for _, second in f]}
    return pd.DataFrame(own, index=[f"{first} {second}" for first, second in f]).assign(N=f.total())


def _pair_tokens(document: Any) -> Iterator[tuple[Pair, bool]]:
    """Verb and next word, and whether that is tagged as a particle."""
    for sentence in document.sentences:
        for (verb, verb_tag), (word, tag) in pairwise(sentence):
            if verb_tag.startswith("vb") and (plain := _MORE.split(tag)[0]) in ("in", "rp"):
                yield (verb.lower(), word.lower()), plain == "rp"
