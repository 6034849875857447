"""Candidates of section 4, from a corpus that can be had: a verb and the particle or preposition after it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from simstudy.loaders.tagged import TaggedDocument
from simstudy.metrics.base import IntArray
from simstudy.rankings.association import association
from simstudy.rankings.candidates import Candidates
from simstudy.rankings.contingency import frequency_table
from simstudy.validation import check_choice, check_whole

#: How documents become parts.
ARRANGEMENTS = ("contiguous", "dealt")

Pair = tuple[str, str]

# Where Brown's suffixes begin (-hl -tl -nc: in a headline, in a title, cited), the tag of a contracted word, or "not".
_MORE = re.compile("[-+*]")


def particle_sets(
    documents: Sequence[TaggedDocument],
    n_parts: int,
    *,
    floor: int,
    arrangement: str,
    measures: Sequence[str],
    seed: int,
) -> list[Candidates]:
    """Candidate sets of disjoint parts of a corpus: an evaluation that is repeated, as in section 4 of Evert 2004.

    A candidate is a verb form (a tag vb…: not be, have, do) and the next word, a preposition or an adverbial particle
    (in, rp), lower-cased. It is true where at least half of its tokens in *all* documents are tagged as particle: one
    annotation for all parts, as the paper's database of collocations. Frequencies are of the part.

    Documents have the tags of the Brown corpus. The arrangement "contiguous" has them in their order, cut into runs of
    equally many (as in the paper; runs of Brown are of one genre or two); "dealt" has document i in part i modulo
    n_parts, so that all parts have the same mixture of genres. `floor` is the least frequency of a candidate in its
    part; pairs below it count in the marginals. Measures are names of `simstudy.rankings.association.MEASURES`: the
    scoring functions. The seed is of the jitter that breaks ties.

    Examples
    --------
    >>> sentences = [[("Look", "vb"), ("up", "rp")], [("look", "vb"), ("up", "rp"), ("to", "in")]]
    >>> document = TaggedDocument("ca01", "news", [*sentences, [("look", "vb"), ("at", "in")]])
    >>> (part,) = particle_sets([document], 1, floor=1, arrangement="dealt", measures=["frequency"], seed=0)
    >>> part.ids, part.scores.tolist(), part.true.tolist()
    (['look up', 'look at'], [[2.0, 1.0]], [True, False])
    """
    check_choice("arrangement", arrangement, ARRANGEMENTS)
    check_whole("n_parts", n_parts, 1)
    check_whole("floor", floor, 1)
    if n_parts > len(documents):
        raise ValueError(f"n_parts must be at most {len(documents)}, the number of documents, not {n_parts}")
    tokens = [list(_pair_tokens(document)) for document in documents]
    every = Counter(pair for document in tokens for pair, _ in document)
    as_particle = Counter(pair for document in tokens for pair, particle in document if particle)
    true = {" ".join(pair): 2 * as_particle[pair] >= count for pair, count in every.items()}
    sets = []
    for k, members in enumerate(_parts(len(documents), n_parts, arrangement), start=1):
        pairs = [pair for i in members for pair, _ in tokens[i]]
        if max(Counter(pairs).values(), default=0) < floor:
            raise ValueError(
                f"part {k} of {n_parts} ({arrangement}) has no verb and particle or preposition {floor} times: take "
                "fewer parts or a lower floor"
            )
        table = frequency_table(pairs)
        scores = association(table[table["f"] >= floor], measures)
        hits = [true[pair] for pair in scores.index]
        sets.append(Candidates.from_scores(scores, hits, seed=seed, test_set=f"part {k}"))
    return sets


def _parts(n_documents: int, n_parts: int, arrangement: str) -> list[IntArray]:
    """The numbers of each part's documents."""
    numbers = np.arange(n_documents)
    return [numbers[k::n_parts] for k in range(n_parts)] if arrangement == "dealt" else np.array_split(numbers, n_parts)


def _pair_tokens(document: TaggedDocument) -> Iterator[tuple[Pair, bool]]:
    """Verb and next word, and whether that is tagged as a particle."""
    for sentence in document.sentences:
        for (verb, verb_tag), (word, tag) in pairwise(sentence):
            if verb_tag.startswith("vb") and (plain := _MORE.split(tag)[0]) in ("in", "rp"):
                yield (verb.lower(), word.lower()), plain == "rp"
