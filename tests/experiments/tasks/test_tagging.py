"""The tagging task on its real data; skipped where the data is not at hand. Small files have test_features."""

from __future__ import annotations

import numpy as np
import pytest

from simstudy.training import Task, load_task
from simstudy.training.resampling import Variant
from tests.conftest import SHARED
from tests.training.trained import trained

# Five treebanks are read, and what a word is beside is counted over all of them.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def task() -> Task:
    if not SHARED.is_dir():
        pytest.skip(f"needs the real data in {SHARED}")
    return load_task("tagging", SHARED)


def test_sizes_are_those_of_the_treebanks(task: Task) -> None:
    """Sentences and words as the treebanks' own documentation counts them."""
    assert (task.train.n_items, len(task.train.gold)) == (12544, 204577)
    sizes = {name: (examples.n_items, len(examples.gold)) for name, examples in task.test_sets.items()}
    assert sizes == {
        "EWT test": (2077, 25094), "EWT dev": (2001, 25147), "PUD": (1000, 21180), "ATIS": (5432, 61879),
        "ESLSpok": (2320, 21312), "Tweebank": (3550, 55607),
    }  # fmt: skip
    assert len(task.systems) == 3
    genres = task.test_sets["EWT test"].items["domain"].value_counts().to_dict()
    assert genres == {"email": 606, "reviews": 535, "answers": 438, "newsgroup": 284, "weblog": 214}
    assert task.test_sets["PUD"].items["domain"].value_counts().to_dict() == {"news": 500, "wiki": 500}


def test_initial_segments_have_the_genres_of_the_whole(task: Task) -> None:
    items = task.test_sets["EWT test"].items
    whole = items["domain"].value_counts(normalize=True)
    for n in (100, 200, 400, 800):
        part = items["domain"].head(n).value_counts(normalize=True)
        assert np.abs(part - whole).max() < 0.02
    assert items["cluster"].nunique() == 316


def test_one_quarter_size_variant_of_each_base_system(task: Task) -> None:
    """Real training on real data: accuracies in the range that such taggers have."""
    for family in task.systems:
        statistics = trained(task, Variant(family, 3136, 1), seed=0)
        right, total = statistics["EWT test"]["accuracy"].sum(axis=0)
        assert total == 25094
        assert 0.88 < right / total < 0.92
        right, total = statistics["Tweebank"]["accuracy"].sum(axis=0)
        assert 0.65 < right / total < 0.80
