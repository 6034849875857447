from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from simstudy.rankings.candidates import Candidates
from simstudy_learners.tagged import TaggedDocument, read_tagged
from tests.experiments.programs import program

PARTICLES = program("evert_2004", "particles")


def document(name: str, *sentences: str) -> TaggedDocument:
    pairs = [[(word, tag) for word, _, tag in (token.rpartition("/") for token in s.split())] for s in sentences]
    return TaggedDocument(name, "news", pairs)


# Each verb with what it counts as: "give up" 3 rp, 1 in; "go on" 1 rp, 1 in (half: true); "look at" in only.
DOCUMENTS = [
    document("d0", "He/pps gave/vbd up/rp and/cc Gave/vbd-hl Up/rp-tl ./.", "gave/vbd up/in+at"),
    document("d1", "go/vb on/rp looked/vbd at/in it/ppo", "looked/vbd at/in-nc", "up/rp"),
    document("d2", "go/vb on/in ,/, was/bedz up/rp had/hvd on/in gave/vbd to/to", "looked/vbd"),
    document("d3", "gave/vbd up/rp*", "looked/vbd up/rp looked/vbd at/in", "at/in fw/fw-vb in/in"),
]


def sets(documents: list[TaggedDocument], n_parts: int, floor: int = 1, arrangement: str = "dealt") -> list[Candidates]:
    measures = ["frequency", "t_score"]
    return PARTICLES.particle_sets(documents, n_parts, floor=floor, arrangement=arrangement, measures=measures, seed=0)


def rows(part: Candidates) -> dict[str, tuple[float, float, bool]]:
    """Candidate -> frequency f, expected frequency f - t sqrt(f), and whether it is true."""
    return {
        name: (float(f), round(float(f - t * np.sqrt(f)), 9), bool(true))
        for name, (f, t), true in zip(part.ids, part.scores.T, part.true, strict=True)
    }


def test_the_whole_corpus() -> None:
    """Counted by hand: 10 pair tokens. A frequency of f1 f2 / N is expected."""
    (whole,) = sets(DOCUMENTS, 1)
    assert (whole.test_set, whole.names) == ("part 1", ["frequency", "t_score"])
    assert rows(whole) == {
        "gave up": (4, 4 * 5 / 10, True),
        "go on": (2, 2 * 2 / 10, True),
        "looked at": (3, 4 * 3 / 10, False),
        "looked up": (1, 4 * 5 / 10, True),
    }


def test_pairs_below_the_floor_count_in_the_marginals() -> None:
    (whole,) = sets(DOCUMENTS, 1, floor=2)
    assert whole.ids == ["gave up", "go on", "looked at"]
    assert rows(whole) == {name: row for name, row in rows(sets(DOCUMENTS, 1)[0]).items() if row[0] >= 2}


def test_frequencies_are_of_the_part_and_truths_of_all_documents() -> None:
    contiguous = sets(DOCUMENTS, 2, arrangement="contiguous")
    assert [part.test_set for part in contiguous] == ["part 1", "part 2"]
    assert rows(contiguous[0]) == {
        "gave up": (3, 3 * 3 / 6, True),
        "go on": (1, round(1 * 1 / 6, 9), True),
        "looked at": (2, round(2 * 2 / 6, 9), False),
    }
    # In this part "go on" is a preposition only.
    assert rows(contiguous[1]) == {
        "go on": (1, 1 * 1 / 4, True),
        "gave up": (1, 1 * 2 / 4, True),
        "looked up": (1, 2 * 2 / 4, True),
        "looked at": (1, 2 * 1 / 4, False),
    }
    dealt = sets(DOCUMENTS, 2, arrangement="dealt")
    assert [sorted(part.ids) for part in dealt] == [
        ["gave up", "go on"],
        ["gave up", "go on", "looked at", "looked up"],
    ]
    assert rows(dealt[0])["gave up"] == (3, 3 * 3 / 4, True)


def test_parts_are_of_nearly_equally_many_documents() -> None:
    """Ten documents, each with a pair of its own: three, or four in the first part."""
    documents = [document(f"d{i}", f"v{i}/vb up/rp") for i in range(10)]
    found = {
        arrangement: [part.ids for part in sets(documents, 3, arrangement=arrangement)]
        for arrangement in PARTICLES.ARRANGEMENTS
    }
    numbers = {"contiguous": [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]], "dealt": [[0, 3, 6, 9], [1, 4, 7], [2, 5, 8]]}
    assert found == {name: [[f"v{i} up" for i in part] for part in parts] for name, parts in numbers.items()}


def test_parts_without_candidates_are_told() -> None:
    with pytest.raises(ValueError, match="^n_parts must be at most 4, the number of documents, not 5$"):
        sets(DOCUMENTS, 5)
    with pytest.raises(ValueError, match=r"^part 2 of 4 \(dealt\) has no verb .* 3 times: take fewer parts or a lower"):
        sets(DOCUMENTS, 4, floor=3)
    with pytest.raises(ValueError, match=r"^part 1 of 1 \(contiguous\) has no verb .* 1 times"):
        sets([document("d", "He/pps was/bedz up/rp")], 1, arrangement="contiguous")


def test_parts_of_the_brown_corpus(shared_data: Path) -> None:
    """Verb forms with in and rp, counted in the text of the files."""
    documents = read_tagged(shared_data / "nltk" / "brown.zip")
    (whole,) = sets(documents, 1)
    assert whole.scores[0].sum() == 28_419
    dealt = sets(documents, 20, floor=2)
    frequency = dict(zip(whole.ids, whole.scores[0], strict=True))
    true = dict(zip(whole.ids, whole.true.tolist(), strict=True))
    for part in dealt:
        assert all(2 <= f <= frequency[name] for name, f in zip(part.ids, part.scores[0], strict=True))
        assert part.true.tolist() == [true[name] for name in part.ids]
    assert {"give up", "went on", "looked up", "carried out"} <= {name for name, is_true in true.items() if is_true}
    assert not any(true[name] for name in ("look at", "made of", "said in"))
    sizes = np.array([part.n_candidates for part in dealt])
    share = np.mean(list(chain.from_iterable(part.true.tolist() for part in dealt)))
    assert sizes.min() > 150
    assert sizes.max() < 220
    assert 0.15 < share < 0.21


def test_counts_are_those_of_looking_at_all_pairs(rng: np.random.Generator) -> None:
    first, second = rng.choice(list("abcdef"), size=300), rng.choice(list("uvwxyz"), size=300)
    pairs = [(str(a), str(b)) for a, b in zip(first, second, strict=True)]
    table = PARTICLES.frequency_table(pairs)
    assert table.index.tolist() == list(dict.fromkeys(f"{a} {b}" for a, b in pairs))
    for pair, row in table.iterrows():
        a, b = str(pair).split()
        assert row["f"] == sum(p == (a, b) for p in pairs)
        assert row["f1"] == sum(p[0] == a for p in pairs)
        assert row["f2"] == sum(p[1] == b for p in pairs)
        assert row["N"] == 300
    assert (table.dtypes == np.int64).all()


def test_a_word_is_counted_in_its_own_place_only() -> None:
    table = PARTICLES.frequency_table(iter([("in", "up"), ("up", "in"), ("in", "in")]))
    assert table.to_dict("index") == {
        "in up": {"f": 1, "f1": 2, "f2": 1, "N": 3},
        "up in": {"f": 1, "f1": 1, "f2": 2, "N": 3},
        "in in": {"f": 1, "f1": 2, "f2": 2, "N": 3},
    }
