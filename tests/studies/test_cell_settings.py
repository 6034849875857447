"""Settings of cells: only those that a result depends on."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import cloudpickle
import pytest
from pydantic import PrivateAttr

from simstudy.running.fingerprints import fingerprint
from simstudy.studies import DataFile, Keys, Study
from simstudy.studies.definition import place_of, placed


class Pair(Keys):
    title: str
    scores: list[float]
    parameters: dict[str, Any] = {}

    @property
    def gain(self) -> float:
        return self.scores[0] - self.scores[1]


class Board(Study):
    sizes: list[int]
    pairs: dict[str, Pair]
    alpha: float = 0.05

    def largest(self) -> int:
        return max(self.sizes)


PAIR = Pair(title="A pair", scores=[0.8, 0.5], parameters={"b": 1, "a": 2.0})


def board(**changes: Any) -> Board:
    given = {"name": "board", "title": "Title", "question": "Question?", "kind": "program", "sizes": [1, 2]}
    return Board(**{**given, "pairs": {"one": PAIR, "other": PAIR}, **changes})


def known(study: Study) -> tuple[str, str]:
    return fingerprint(study), study.fingerprint()


def test_a_copy_has_its_settings_and_the_methods_of_its_class() -> None:
    one = board().only("sizes", pairs={"one": PAIR.only("scores")})
    assert type(one) is Board
    assert one.largest() == 2
    assert one.sizes == [1, 2]
    assert one.pairs["one"].gain == 0.8 - 0.5
    assert one.only("pairs", sizes=[3]).largest() == 3, "a copy of a copy"


@pytest.mark.parametrize("name", ["title", "seed", "alpha"])
def test_another_setting_raises_and_is_named(name: str) -> None:
    one = board().only("sizes", "kind")
    with pytest.raises(AttributeError, match=rf"^'{name}' is not among the cell's settings \(kind, sizes\)$"):
        getattr(one, name)
    with pytest.raises(AttributeError, match=f"^'{name}' is not among the cell's settings"):
        one.only(name)


def test_a_property_names_the_setting_that_it_lacks() -> None:
    with pytest.raises(AttributeError, match=r"^'scores' is not among the cell's settings \(title\)$"):
        _ = PAIR.only("title").gain
    with pytest.raises(AttributeError, match="'sizes' is not among"):
        board().only("seed").largest()


def test_other_attributes_are_missing_as_ever() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = board().only("sizes").nothing
    for wrong in ({"names": ["largest"]}, {"names": [], "nothing": 1}):
        with pytest.raises(ValueError, match="names must be some of name, title, .*, not '(largest|nothing)'"):
            board().only(*wrong.pop("names"), **wrong)


@pytest.mark.parametrize("library", [pickle, cloudpickle])
def test_a_copy_is_pickled(library: Any) -> None:
    one = board().only("sizes", pairs={"one": PAIR.only("scores")})
    again = library.loads(library.dumps(one))
    assert again == one
    assert known(again) == known(one)
    with pytest.raises(AttributeError, match="'title' is not among the cell's settings"):
        _ = again.pairs["one"].title


def test_copies_of_equal_settings_are_known_by_one_hash(tmp_path: Path) -> None:
    def of(study: Study, *names: str) -> tuple[str, str]:
        return known(study.only(*names, pairs={"one": PAIR.only("scores", "parameters")}))

    one = of(board(), "sizes", "seed")
    assert of(board(), "seed", "sizes") == one
    assert of(board(title="Other", question="Why?", alpha=0.1, name="small"), "sizes", "seed") == one
    assert of(board(seed=0), "sizes", "seed") == one, "a default that is written down"
    assert of(placed(board(), tmp_path), "sizes", "seed") == one
    for other in (of(board(), "sizes"), of(board(seed=1), "sizes", "seed"), of(board(sizes=[2, 1]), "sizes", "seed")):
        assert not set(one) & set(other)
    assert place_of(placed(board(), tmp_path).only("seed")) is None, "no path is among the settings"


def test_a_fingerprint_is_of_values_alone() -> None:
    class Elsewhere(Board):
        _place: Path | None = PrivateAttr(default=Path("elsewhere"))

    other = Elsewhere.model_validate(board().model_dump())
    assert other.fingerprint() == board().fingerprint() != board(sizes=[1]).fingerprint()


CODE = """
from simstudy.running.fingerprints import fingerprint
from simstudy.studies import load_study

study = load_study("tools_bench")
name = min(study.conditions)
one = study.only("levels", "seed", conditions={name: study.conditions[name].only("model", "parameters")})
print(fingerprint(one), one.fingerprint())
"""


def test_the_hash_is_the_same_in_every_process(capsys: pytest.CaptureFixture[str]) -> None:
    exec(CODE, {})
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    said = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, check=True, text=True)
    assert said.stdout == capsys.readouterr().out


def test_a_data_file_is_known_by_its_content(tmp_path: Path) -> None:
    one, copy, other = (tmp_path / name for name in ("one", "copy", "other"))
    for path, content in ((one, b"scores"), (copy, b"scores"), (other, b"others")):
        path.write_bytes(content)
    files = [DataFile.of(path) for path in (one, copy, other)]
    assert [file.path for file in files] == [one, copy, other]
    prints = [file.fingerprint() for file in files]
    assert prints[0] == prints[1] == "a6235752ef51e86cdf1d56634948c32f75fe6a492e212797315ea43f5ecfa66e"
    assert prints[2] != prints[0]
