"""Word alignment of English and French: the Hansards, with the gold links of the shared task of NAACL 2003."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from simstudy.files.datasets import fetch_each, find
from simstudy.readers.alignments import Links, read_links
from simstudy.readers.text_files import read_lines
from simstudy.training import BaseSystem, Examples, Task
from simstudy_learners.alignment.aligners import TextAligner
from simstudy_learners.alignment.bitexts import SentencePair, check_sentence_pairs, count_aer, gold_cells, index_bitexts
from simstudy_learners.alignment.models import DiagonalModel, HiddenMarkov, Model1, Stage

#: Files of the registry of public data: English and French of three days.
TEXT = [
    tuple(f"hansards_train/hansard.36.1.house.debates.{day}.{language}" for language in "ef")
    for day in ("001", "002", "003")
]

#: Source text, target text and gold links; they have no public address.
GOLD = ("align_enfr/src.en", "align_enfr/tgt.fr", "align_enfr/gold.wa")

# The last 100 hand-aligned sentence pairs are the test set of Haghighi et al. (2009).
N_TEST = 100

_STAGES = (Stage(Model1()), Stage(HiddenMarkov()))
JOINT_HMM = TextAligner(_STAGES, agree=True, combination="posteriors")
HMM = TextAligner(_STAGES, combination="grow-diag-final-and")
FAST_ALIGN = TextAligner((Stage(DiagonalModel()),), combination="intersection")


class Corpus(NamedTuple):
    """Sentence pairs, and the gold links of each; None where nobody has aligned it."""

    pairs: Sequence[SentencePair]
    links: Sequence[Links | None]


def alignment_task(
    name: str,
    *,
    train: Corpus,
    test: Corpus,
    ids: Sequence[str],
    systems: Mapping[str, BaseSystem],
    files: Mapping[str, str],
) -> Task:
    """A task of word alignment, with the ids of its test items and the SHA-256 of its files."""
    learnt, tested = index_bitexts([train.pairs, test.pairs])
    return Task(
        name=name,
        train=Examples(learnt, gold_cells(learnt, train.links)),
        test_sets={"test": Examples(tested, gold_cells(tested, test.links), pd.DataFrame({"id": ids}))},
        systems=systems,
        statistics={"aer": count_aer},
        files=files,
    )


def read_hansards(data_dir: Path | None) -> tuple[list[SentencePair], list[SentencePair], list[Links], dict[str, str]]:
    """The pairs without links, those with, their links, and the SHA-256 of all files."""
    # What has no address is asked for before anything is fetched.
    gold = {name: find(name, data_dir) for name in GOLD}
    at = {**fetch_each(chain(*TEXT), data_dir), **gold}
    text = [
        pair
        for english, french in TEXT
        for pair in check_sentence_pairs(read_lines(at[english]), read_lines(at[french]), (english, french))
    ]
    english, french, links = GOLD
    aligned = check_sentence_pairs(read_lines(at[english]), read_lines(at[french]), (english, french))
    found, _ = read_links(at[links])
    if len(aligned) <= N_TEST or sorted(found) != list(range(1, 1 + len(aligned))):
        raise ValueError(
            f"{at[links]} must have a line for each sentence pair of {english}, more than {N_TEST}: "
            f"{len(found)} and {len(aligned)}"
        )
    for number, (source, target) in enumerate(aligned, start=1):
        outside = [(i, j) for i, j in found[number].all if i >= len(source) or j >= len(target)]
        if outside:
            i, j = min(outside)
            size = f"{len(source)} x {len(target)} words"
            raise ValueError(f"{at[links]}: link {i + 1} {j + 1} is outside sentence pair {number} ({size})")
    hashes = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in at.items()}
    return text, aligned, [found[number] for number in sorted(found)], hashes
