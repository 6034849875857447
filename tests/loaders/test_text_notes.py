"""What is said of texts: empty outputs, those of a length that no reference has, and scripts that words do not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from simstudy.loaders.base import Source, Texts
from simstudy.loaders.door import load
from simstudy.loaders.text_notes import note_script
from simstudy.metrics import get_metric
from simstudy.notes import notes_kept

REFERENCES = ["the cat sat on the mat and saw a dog"] * 40 + ["a " * 200] * 2
LONG = "more than 5 times as long as each reference"
SHORT = "less than 1/5 as long as each reference"


def notes(folder: Path, outputs: dict[str, dict[int, str]], metric: str = "bleu", *more: list[str]) -> list[str]:
    """What is said of systems whose lines are the reference's but for these, by their numbers from 1."""
    for name, other in outputs.items():
        (folder / name).write_text("\n".join(other.get(i, text) for i, text in enumerate(REFERENCES, 1)) + "\n")
    for k, texts in enumerate([REFERENCES, *more]):
        (folder / f"ref.{k}").write_text("\n".join(texts) + "\n")
    references = [folder / f"ref.{k}" for k in range(1 + len(more))]
    loaded = load([folder / name for name in outputs], metric, references=references)
    return [note.replace(f"{folder}/", "") for note in loaded.notes]


def test_empty_lines_and_one_of_260_words_for_9_are_named(tmp_path: Path) -> None:
    """The others, twice as long or half as long, are not."""
    outputs = {
        "empty": dict.fromkeys((3, 5, 8, 13, 21, 41), "") | {2: " \t"},
        "wild": {17: "dog " * 260, 4: REFERENCES[0] * 2, 5: REFERENCES[0][:18]},
        "cut": {42: "a"},
        "well": {},
    }
    assert notes(tmp_path, outputs) == [
        "empty outputs: empty has 7, first in line 2",
        f"outputs {LONG}: wild has 1, first in line 17",
        f"outputs {SHORT}: cut has 1, first in line 42",
    ]
    assert notes(tmp_path, outputs, "chrf")[:1] == ["empty outputs: empty has 7, first in line 2"]
    assert notes(tmp_path, {"well": {}}) == []


def test_one_reference_of_that_length_is_enough(tmp_path: Path) -> None:
    more = [REFERENCES[0]] * 16 + ["cat " * 52] + [REFERENCES[0]] * 23 + ["a " * 99, "a " * 9]
    outputs = {"wild": {17: "dog " * 260, 16: "dog " * 260}, "cut": {41: "b" * 30, 42: "b" * 17}}
    assert notes(tmp_path, outputs, "bleu", more) == [f"outputs {LONG}: wild has 1, first in line 16"]


def test_labels_may_be_empty_only_and_files_with_most_come_first(tmp_path: Path) -> None:
    outputs = {name: dict.fromkeys(range(1, n + 1), "") for name, n in zip("abcde", (2, 5, 1, 0, 3), strict=True)}
    outputs["d"] = {1: "no label at all " * 99}
    assert notes(tmp_path, outputs, "accuracy") == [
        "empty outputs: b has 5, first in line 1; e has 3, first in line 1; a has 2, first in line 1; 1 more file"
    ]


def test_translations_of_public_systems(shared_data: Path) -> None:
    """Counted line by line: one that is often silent or goes on and on, one that stops early, and one that does not."""
    folder = shared_data / "wmt24_en-de"
    files = [folder / "sys" / f"{name}.de" for name in ("Occiglot", "TSU-HITs", "GPT-4")]
    gold = (folder / "ref.A.de").read_text().split("\n")[:-1]
    said = list(load(files, "chrf", references=folder / "ref.A.de").notes)
    found = {"empty outputs": 0, f"outputs {LONG}": 0, f"outputs {SHORT}": 0}
    for path in files:
        pairs = [(len(text.strip()), len(own)) for text, own in zip(path.read_text().split("\n"), gold, strict=False)]
        counts = (
            sum(n == 0 for n, _ in pairs),
            sum(n > 5 * own and n >= own + 200 for n, own in pairs),
            sum(0 < 5 * n < own and n + 200 <= own for n, own in pairs),
        )
        for kind, count in zip(found, counts, strict=True):
            (note,) = [note for note in said if note.startswith(kind)]
            assert (f"{path} has {count}, first in line " in note) == (count > 0)
            found[kind] += count
    assert all(found.values())
    assert not any("GPT-4" in note for note in said)


def test_labels_of_which_none_is_a_gold_one_are_told(tmp_path: Path) -> None:
    labels = {"a": "yes yes", "b": "YES No", "c": "entailment neutral", "d": "no maybe"}
    for name, own in {**labels, "gold": "yes no"}.items():
        (tmp_path / name).write_text("\n".join(own.split()) + "\n")
    for names, told in (
        ("abcd", ("none of the labels of 'b', 'c' is a gold label; they differ in case",)),
        ("acd", ("none of the labels of 'c' is a gold label",)),
        ("ad", ()),
    ):
        loaded = load([tmp_path / name for name in names], "accuracy", references=tmp_path / "gold")
        assert loaded.notes == told


SCRIPTS = {
    "Chinese": ("今天天气很好，我们去公园。", "zh"),
    "Japanese": ("今日は天気がいいので公園に行きます。", "ja-mecab"),
    "Korean": ("오늘은 날씨가 좋아서 공원에 갑니다.", "ko-mecab"),
    "Thai": ("วันนี้อากาศดีมากเราไปสวนสาธารณะ", "flores200"),
    "Lao, Khmer or Burmese": ("ထမင်းစားပြီးပြီလား", "flores200"),
}


def told(text: str, metric: str, tokenize: str | None = None) -> str:
    """What is said of references in a script, if anything."""
    with notes_kept() as notes:
        note_script([[text], [f"{text} A B"]], Source((), get_metric(metric), texts=Texts(tokenize)))
    return "; ".join(notes)


@pytest.mark.parametrize("language", SCRIPTS)
def test_scripts_without_words_between_spaces_are_told(language: str) -> None:
    text, tokenizer = SCRIPTS[language]
    bleu = told(text, "bleu")
    assert bleu.startswith(f"the references look {language}, and BLEU with its default tokenizer (13a)")
    assert f"tokenize='{tokenizer}' is" in bleu
    assert told(text, "bleu", "char") == told(text, "chrf") == ""
    assert told(text, "chrf++").startswith(f"the references look {language}: chrf++ counts words between spaces")
    assert told(text, "rouge1").startswith("ROUGE looks at runs of a-z and 0-9 only")


def test_a_text_of_few_kana_is_japanese() -> None:
    """A fifth of its letters are kana, more than a Chinese text has."""
    assert told("東京都知事選挙の投票率が過去最高記録を更新した。", "bleu").startswith("the references look Japanese")


@pytest.mark.parametrize("text", ["Today 今天 is fine and we go", "Сегодня хорошая погода", "1 2 3", "naïve déjà vu"])
def test_texts_with_spaces_are_not_told(text: str) -> None:
    assert told(text, "bleu") == told(text, "chrf++") == ""
    assert ("'rougeL' does not see them" in told(text, "rougeL")) == text.startswith("С")
