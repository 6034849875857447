"""Meaning representations and texts: how they are read, and texts with placeholders for values."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence

from simstudy.readers.text_files import decoded

#: The slots and values that a text is to say: (("name", "The Mill"), ("food", "Indian"), …), each slot once.
Meaning = tuple[tuple[str, str], ...]

#: Words, punctuation and placeholders of a text, in lower case.
Tokens = tuple[str, ...]

#: The slots whose values are put into texts as they are; any other value is said in words of its own.
OPEN_SLOTS = ("name", "near", "eatType", "food")

_SLOT = re.compile(r"\s*([^\[\],]+)\[([^\[\]]+)\]\s*")
_TOKEN = re.compile(r"\{\w+\}|[^\W_]+(?:['’-][^\W_]+)*|£\d+(?:-£?\d+)?|[^\w\s]")
_SENTENCE_ENDS = (".", "!", "?")
_NO_BLANK_BEFORE = {".", ",", "!", "?", ";", ":", ")", "%"}
_NO_BLANK_AFTER = {"("}


def read_meaning(text: str) -> Meaning:
    """The slots and values of a meaning representation as the E2E challenge writes it (Novikova et al. 2017).

    A ValueError says where it is empty, not of this form, or has a slot twice.

    Examples
    --------
    >>> read_meaning("name[The Mill], food[Indian]")
    (('name', 'The Mill'), ('food', 'Indian'))
    """
    pairs = []
    for part in text.split("],"):
        found = _SLOT.fullmatch(part if part.rstrip().endswith("]") else part + "]")
        if not found or not found[2].strip():
            raise ValueError(f"mr must be slot[value], slot[value], … with no value empty, not '{text}'")
        pairs.append((found[1].strip(), found[2].strip()))
    if len({slot for slot, _ in pairs}) < len(pairs):
        raise ValueError(f"mr must have each slot once, not '{text}'")
    return tuple(pairs)


def read_references(content: bytes, where: str) -> list[tuple[Meaning, str]]:
    r"""The meanings and references of a file: CSV with columns mr and ref, a row for each reference.

    A ValueError names file and row where a column is missing, a meaning is malformed or a reference empty.

    Examples
    --------
    >>> read_references(b'mr,ref\n"name[Cotto], food[Thai]",Cotto is Thai.\n', "train.csv")
    [((('name', 'Cotto'), ('food', 'Thai')), 'Cotto is Thai.')]
    """
    rows = csv.DictReader(io.StringIO(decoded(content.replace(b"\r\n", b"\n"), where), newline=""))
    if missing := {"mr", "ref"} - set(rows.fieldnames or ()):
        raise ValueError(f"{where}: there is no column '{min(missing)}'; columns must be mr and ref")
    found = []
    for number, row in enumerate(rows, start=1):
        if not (row["ref"] or "").strip():
            raise ValueError(f"{where}, row {number}: the reference is empty")
        try:
            found.append((read_meaning(row["mr"] or ""), row["ref"]))
        except ValueError as error:
            raise ValueError(f"{where}, row {number}: {error}") from None
    if not found:
        raise ValueError(f"{where}: there are no references")
    return found


def placeholder(slot: str) -> str:
    """What stands in a text for a slot's value.

    Examples
    --------
    >>> placeholder("food")
    '{food}'
    """
    return "{" + slot + "}"


def delexicalised(text: str, meaning: Meaning, open_slots: Sequence[str] = OPEN_SLOTS) -> Tokens:
    """The tokens of a text, with placeholders where it has the value of an open slot, in whatever case.

    Articles before a placeholder are written "a".

    Examples
    --------
    >>> meaning = (("name", "The Mill"), ("food", "English"))
    >>> delexicalised("The Mill has an English menu.", meaning)
    ('{name}', 'has', 'a', '{food}', 'menu', '.')
    """
    # Braces of the text's own are no placeholders.
    text = re.sub(r"[{}]", " ", text)
    values = {value.lower(): slot for slot, value in meaning if slot in open_slots}
    if values:
        # Longer values first: one may be part of another.
        longest = sorted(values, key=lambda value: (-len(value), value))
        pattern = r"(?<!\w)(" + "|".join(re.escape(value) for value in longest) + r")(?!\w)"
        text = re.sub(pattern, lambda m: placeholder(values[m[0].lower()]), text, flags=re.IGNORECASE)
    tokens = [token if token[0] == "{" else token.lower() for token in _TOKEN.findall(text)]
    for here, following in enumerate(tokens[1:]):
        if tokens[here] == "an" and following[0] == "{":
            tokens[here] = "a"
    return tuple(tokens)


def surface(tokens: Sequence[str], values: Mapping[str, str]) -> str:
    """The text of tokens: values in the place of placeholders, blanks and capitals as in English.

    A placeholder whose slot has no value is left out.

    Examples
    --------
    >>> surface(["a", "{food}", "pub", ",", "{name}", "."], {"food": "Indian", "name": "The Mill"})
    'An Indian pub, The Mill.'
    """
    said: list[str] = []
    starts = True
    for here, token in enumerate(tokens):
        word = values.get(token[1:-1], "") if token[0] == "{" else token
        if not word:
            continue
        if token == "a" and here + 1 < len(tokens) and tokens[here + 1][0] == "{":
            word = "an" if values.get(tokens[here + 1][1:-1], "")[:1].lower() in set("aeiou") else "a"
        if starts:
            word = word[0].upper() + word[1:]
        if said and word not in _NO_BLANK_BEFORE and said[-1] not in _NO_BLANK_AFTER:
            said.append(" ")
        said.append(word)
        starts = token in _SENTENCE_ENDS
    return "".join(said)


def sentences(tokens: Tokens) -> list[Tokens]:
    """The sentences of a text.

    Examples
    --------
    >>> sentences(("{name}", "is", "cheap", ".", "it", "is", "good"))
    [('{name}', 'is', 'cheap', '.'), ('it', 'is', 'good')]
    """
    ends = [k + 1 for k, token in enumerate(tokens) if token in _SENTENCE_ENDS and k + 1 < len(tokens)]
    bounds = [0, *ends, len(tokens)]
    return [tokens[first:end] for first, end in zip(bounds, bounds[1:], strict=False) if end > first]
