"""Word alignment of English and French, with gold links to learn from."""

from __future__ import annotations

from pathlib import Path

from simstudy.training import Task, mixed_order
from simstudy_learners.alignment.aligners import LinkClassifier
from simstudy_learners.alignment.hansards import (
    FAST_ALIGN,
    HMM,
    JOINT_HMM,
    N_TEST,
    Corpus,
    alignment_task,
    read_hansards,
)


def alignment(data_dir: Path | None = None) -> Task:
    """Word alignment, supervised and not, as Berg-Kirkpatrick et al. (2012, section 3.2.4) have it; the metric is AER.

    Trained on 2,383 sentence pairs of the 36th Canadian Parliament without links and the first 347 hand-aligned ones of
    the shared task of NAACL 2003 (Mihalcea and Pedersen 2003), tested on the last 100 in a fixed mixed order.
    Unsupervised aligners read the words of all training pairs, the supervised one the gold links of those that have
    any, too. An item is a sentence pair, its id the number of its line.

    The hand-aligned pairs have no public address: a folder of data files must hold them. A ValueError is raised where
    texts have unequal numbers of lines, or a sentence or a link is not as it must be.
    """
    text, aligned, links, files = read_hansards(data_dir)
    n_gold = len(aligned) - N_TEST
    test = mixed_order([""] * N_TEST) + n_gold
    return alignment_task(
        "alignment",
        train=Corpus([*text, *aligned[:n_gold]], [*[None] * len(text), *links[:n_gold]]),
        test=Corpus([aligned[k] for k in test], [links[k] for k in test]),
        ids=[str(1 + k) for k in test],
        systems={
            "link classifier": LinkClassifier(JOINT_HMM),
            "joint HMM": JOINT_HMM,
            "HMM": HMM,
            "fast_align": FAST_ALIGN,
        },
        files=files,
    )
