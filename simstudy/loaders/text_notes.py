"""What to say of texts: outputs of lengths that no reference has, and scripts that a metric's words do not fit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simstudy.loaders.base import Source
from simstudy.notes import note
from simstudy.text.numerals import counted
from simstudy.text.reprs import listed

# An output is far too long where it has more than five times the characters of each of its references, and at least 200
# more; far too short where each has more than five times its characters, and at least 200 more. Of 136 systems on seven
# public test sets (WMT17 en-de, WMT21 de-en, WMT22 ja-en, WMT24 en-de, E2E, RealSumm, SummEval) that names eight: seven
# of WMT24, and the one of WMT22 whose outputs are no sentences.
_TIMES, _MORE = 5, 200

# Files that a note names.
_MOST_NAMED = 3

# Scripts that write no spaces between words, or whose words are not the unit; what sacrebleu has for each.
_HAN, _KANA = "\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff", "\u3040-\u30ff"
_SCRIPTS = {
    "Japanese": (re.compile(f"[{_KANA}]"), "ja-mecab"),
    "Chinese": (re.compile(f"[{_HAN}]"), "zh"),
    "Korean": (re.compile("[\u1100-\u11ff\uac00-\ud7af]"), "ko-mecab"),
    "Thai": (re.compile("[\u0e00-\u0e7f]"), "flores200"),
    "Lao, Khmer or Burmese": (re.compile("[\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff]"), "flores200"),
}
_LETTER = re.compile(r"[^\W\d_]|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_LATIN = re.compile("[A-Za-z]")

# What is looked at, and the share of its letters that makes a text one of a script. A Japanese text has fewer kana
# than other characters, a Chinese one none.
_TEXTS, _SHARE, _KANA_SHARE = 2_000, 0.3, 0.1


def note_lengths(outputs: Mapping[Path, Sequence[str]], references: Sequence[Sequence[str]], *, texts: bool) -> None:
    """Say which files have outputs that are empty, or, of texts, far longer or shorter than all their references.

    The outputs of each file are those of n items, each of which has at least one reference.
    """
    longest, shortest = (np.array([end(map(len, own)) for own in references]) for end in (max, min))
    lengths = {path: np.array([len(text.strip()) for text in own]) for path, own in outputs.items()}
    _say("empty outputs", {path: n == 0 for path, n in lengths.items()})
    if texts:
        long = {path: (n > _TIMES * longest) & (n >= longest + _MORE) for path, n in lengths.items()}
        short = {path: (n > 0) & (_TIMES * n < shortest) & (n + _MORE <= shortest) for path, n in lengths.items()}
        _say(f"outputs more than {_TIMES} times as long as each reference", long)
        _say(f"outputs less than 1/{_TIMES} as long as each reference", short)


def _say(what: str, found: Mapping[Path, NDArray[np.bool_]]) -> None:
    """Name the files that have some, those with the most first, and the first line of each."""
    files = sorted((path for path in found if found[path].any()), key=lambda path: -int(found[path].sum()))
    said = [f"{path} has {found[path].sum():,}, first in line {found[path].argmax() + 1:,}" for path in files]
    if len(said) > _MOST_NAMED:
        said[_MOST_NAMED:] = [counted(len(said) - _MOST_NAMED, "more file")]
    if said:
        note("text", text=f"{what}: {'; '.join(said)}")


def note_labels(outputs: Mapping[str, Sequence[str]], gold: Iterable[str]) -> None:
    """Say which systems have no label that is a gold one: labels may differ in case, or have other names."""
    known = set(gold)
    strange = [name for name, labels in outputs.items() if known.isdisjoint(labels)]
    if strange:
        folded = {label.casefold() for label in known}
        cased = any(label.casefold() in folded for name in strange for label in outputs[name])
        named = listed([f"'{name}'" for name in strange], _MOST_NAMED)
        note("text", text=f"none of the labels of {named} is a gold label{'; they differ in case' if cased else ''}")


def note_script(texts: Iterable[Iterable[str]], source: Source) -> None:
    """Say where the script of references does not fit the metric and its tokenizer."""
    text = "".join(islice(chain.from_iterable(texts), _TEXTS))
    letters = len(_LETTER.findall(text))
    if not letters:
        return
    name, words = source.metric.name, source.metric.words
    if words == "a-z0-9":
        if len(_LATIN.findall(text)) / letters < 1 - _SHARE:
            note(
                "text",
                text="ROUGE looks at runs of a-z and 0-9 only, and the references are mostly in other letters: "
                f"'{name}' does not see them; metric='chrf' does",
            )
        return
    by_default = source.metric.tokenizers and source.texts.tokenize is None
    if not by_default and words != "spaced":
        return
    shares = ((one, len(script.findall(text)) / letters) for one, (script, _) in _SCRIPTS.items())
    language = next((one for one, share in shares if share > (_KANA_SHARE if one == "Japanese" else _SHARE)), None)
    if language is None:
        return
    if not by_default:
        note("text", text=f"the references look {language}: {name} counts words between spaces; metric='chrf' does not")
        return
    note(
        "text",
        text=(
            f"the references look {language}, and BLEU with its default tokenizer (13a) counts a whole phrase as one "
            f"word; tokenize='{_SCRIPTS[language][1]}' is sacrebleu's for it"
        ),
    )
