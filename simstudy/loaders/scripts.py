"""Texts in scripts that a metric's words do not fit: what to say of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, islice

from simstudy.loaders.base import Source
from simstudy.notes import note

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


def note_script(texts: Iterable[Iterable[str]], source: Source) -> None:
    """Say where the script of references does not fit the metric and its tokenizer.

    Examples
    --------
    >>> from simstudy.loaders.base import Texts
    >>> from simstudy.metrics import get_metric
    >>> from simstudy.notes import notes_kept
    >>> with notes_kept() as notes:
    ...     note_script([["今天天气很好。"]], Source((), get_metric("bleu"), texts=Texts("zh")))
    ...     note_script([["今天天气很好。"]], Source((), get_metric("bleu")))
    >>> [text.split(",")[0] for text in notes]
    ['the references look Chinese']
    """
    text = "".join(islice(chain.from_iterable(texts), _TEXTS))
    letters = len(_LETTER.findall(text))
    if not letters:
        return
    name, words = source.metric.name, source.metric.words
    if words == "a-z0-9":
        if len(_LATIN.findall(text)) / letters < 1 - _SHARE:
            note(
                "ROUGE looks at runs of a-z and 0-9 only, and the references are mostly in other letters: "
                f"'{name}' does not see them; metric='chrf' does"
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
        note(f"the references look {language}: {name} takes words between spaces; metric='chrf' takes none")
        return
    tokenizer = _SCRIPTS[language][1]
    note(
        f"the references look {language}, and BLEU with its default tokenizer (13a) takes a whole phrase for one word; "
        f"tokenize='{tokenizer}' is sacrebleu's for it"
    )
