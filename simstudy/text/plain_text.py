r"""Text that comes from files, as it may be shown: names are text in a terminal, on a page, in a table and in a figure.

Inside simstudy names are what the files say; they meet by that. What people see goes through this module:

- in a terminal, and everywhere else, control characters and what turns the direction of writing are written out
  (`printable`);
- a name is never cut, in no place: it goes on in another line, or a figure is wider. What is longer than any file may
  be called is no name: a hash of the whole stands for its end (`shown`);
- on a page in Markdown nothing of a name is a link, an image, HTML, a column or a formula (`markdown`, `code`);
- in a CSV file no cell of text begins as formulas of spreadsheets do (`csv_cell`; `csv_name` reads it back);
- in a figure a name is never left out of a legend (`label`).

In a JSON document names stay whole (`json_text`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256

from rich.cells import cell_len

# Controls (escape sequences begin with one), invisible characters, line ends of Unicode, what turns the direction of
# writing, tags, and halves of characters, which have no UTF-8. Joiners belong to some scripts: not beside ASCII.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)

# Characters of a name: as many as a file may be called. Those of a word without spaces in a message (a path); of a
# whole message.
_NAME, _WORD, _LINE = 255, 550, 2_000
_LONG = re.compile(rf"\S{{{_WORD + 1},}}")

#: A name may go on in the next line after one of these.
BREAKS = " _-/.:,;=|@"

# Inside a line of Markdown. An underscore within a word is only an underscore.
_INLINE = re.compile(
    r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<=[A-Za-z]):(?=//)|(?i:(?<=www)\.)"
)
# At its beginning: headings, quotes, lists, rules and underlines of headings; numbers of lists.
_BEGINNINGS = ("#", ">", "+", "=", "-")
_NUMBERED = re.compile(r"(\d{1,9})([.)](?:\s|$))")

# What a spreadsheet takes for a formula, after apostrophes that are there already.
_FORMULA = re.compile("'*[=+\\-@\t\r\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def printable(text: object) -> str:
    r"""A text without characters that act on a terminal: each is written as its code point.

    What is printable already stays as it is, so that it does no harm to call this twice.
    """
    return _UNPRINTABLE.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", str(text))


def shown(name: object, most: int = _NAME) -> str:
    """A name as people see it: printable, and whole, but for what is longer than `most`.

    There a hash of the whole text stands for its end: two of them do not become one.
    """
    text = printable(name)
    if len(text) <= most:
        return text
    return f"{text[: most - 10]}…#{sha256(text.encode()).hexdigest()[:8]}"


def line(message: object) -> str:
    r"""A message of one line, of a length that people read."""
    text = _words(str(message).strip())
    if len(text) <= _LINE:
        return text
    # Between words, which may be names: there is a space within the length of a word.
    begins, ends = text[: _LINE - 700].rpartition(" "), text[-600:].partition(" ")
    return f"{begins[0] or begins[2]} … {ends[2] or ends[0]}"


def _words(text: str) -> str:
    """Printable text; words that are longer than paths are cut."""
    return _LONG.sub(lambda word: shown(word[0], _WORD), printable(text))


def label(name: object, width: int | None = None) -> str:
    r"""A name as a figure has it, in lines of at most `width` characters; matplotlib must not parse it.

    It does not: the house style says so.
    """
    # matplotlib leaves what begins with an underscore out of legends.
    text = ("\u200a" if str(name).startswith("_") else "") + shown(name)
    return text if width is None else "\n".join(folded(text, width))


def folded(text: str, width: int) -> list[str]:
    """A name or a heading in lines of at most so many columns.

    They end at a space, or after a sign, unless they were much shorter then; else anywhere.
    """
    lines = []
    while len(text) > 1 and cell_len(text) > width:
        wide = not text.isascii()
        end = next(n for n in range(1, len(text)) if cell_len(text[: n + 1]) > width) if wide else width
        for signs in (" ", BREAKS) if text[end] != " " else ():
            if breaks := [n for n in range(max(1, end // 3), end + 1) if text[n - 1] in signs]:
                end = breaks[-1]
                break
        lines.append(text[:end].rstrip())
        text = text[end:].lstrip(" ")
    return [*lines, text]


def in_words(name: object) -> str:
    """A name of ours (of a test, an association measure) as people write it."""
    return str(name).replace("_", " ")


def markdown(text: object) -> str:
    r"""One line of Markdown that shows just this text."""
    return _INLINE.sub(r"\\\g<0>", _words(str(text)))


def paragraph(text: object) -> str:
    r"""Lines of Markdown that show just this text: its line ends stay, and no line begins a list or a heading."""
    return "\n".join(_begun(markdown(part).strip()) for part in str(text).strip().split("\n"))


def markdown_rows(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    first, *rows = ["| " + " | ".join(row) + " |" for row in (head, *body)]
    return "\n".join([first, "|" + " --- |" * len(head), *rows])


def _begun(text: str) -> str:
    if numbered := _NUMBERED.match(text):
        return f"{numbered[1]}\\{text[len(numbered[1]) :]}"
    return f"\\{text}" if text.startswith(_BEGINNINGS) else text


def code(text: object) -> str:
    """A span of code in Markdown."""
    plain = _words(str(text))
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", plain)), default=0))
    return f"{fence} {plain} {fence}" if "`" in plain else f"{fence}{plain}{fence}"


def csv_cell(text: str) -> str:
    """A cell of text for a CSV file: an apostrophe goes before what a spreadsheet would take for a formula.

    Numbers stay numbers, also those that are written as text. `csv_name` takes the apostrophe off again.
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def csv_name(cell: str) -> str:
    """The text that `csv_cell` made a cell of."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def json_text(document: str) -> str:
    r"""A JSON document of the same meaning, without characters that act on a terminal (its line ends stay)."""
    return _UNPRINTABLE.sub(lambda found: found[0] if found[0] == "\n" else _json_escape(found[0]), document)


def json_in(document: str, encoding: str | None) -> str:
    r"""A JSON document of the same meaning, in characters of this encoding."""
    try:
        document.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return "".join(one if one.isascii() else _json_escape(one) for one in document)
    return document


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
