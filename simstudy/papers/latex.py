r"""A paper's tables and sentences in LaTeX: nothing of a name is a command, a formula or a column.

What is written needs the package booktabs, and \citep, which natbib has and the styles of most conferences. Names keep
their letters; a comment says which need XeLaTeX or LuaLaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version

from simstudy.papers.document import Cell, Cite, Code, Paper, PValue, Table, Text, cells, parts
from simstudy.papers.references import bibtex
from simstudy.text.plain_text import printable

# Lines of a table that a page has room for; points of one of two columns, of a letter in \small, and between columns;
# letters of a name before it is broken, and the part of the text's width that one broken name takes, or each of two.
_MOST_LINES, _COLUMN, _LETTER, _BETWEEN = 40, 218, 4.5, 8
# These are half as wide as a letter.
_NARROW = re.compile(r"[ .,:;'|()\[\]]")
_NAME, _BROKEN = 28, (0.38, 0.24)

_ALIGNED = {"left": "l", "right": "r", "middle": "c"}

# Characters that TeX takes for something else, or that its usual fonts lack.
_CHARACTERS = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "`": r"\textasciigrave{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''", "⟨": r"$\langle$", "⟩": r"$\rangle$",
    "–": "--", "—": "---", "…": r"\dots{}", "−": "$-$", "×": r"$\times$", "≤": r"$\leq$", "≥": r"$\geq$",
    "≈": r"$\approx$", "√": r"$\surd$", "\u00a0": "~", "†": r"$\dagger$", "‡": r"$\ddagger$", "§": r"\S{}",
    "¶": r"\P{}",
}  # fmt: skip
_SUPERSCRIPTS = {"†": r"\dagger", "‡": r"\ddagger", "§": r"\S", "¶": r"\P", "*": "*"}

# Two of these become one character: "--" is a dash.
_LIGATURES = "-',"

# Letters that only the encoding T1 has, and the last one that pdfLaTeX knows by itself.
_ONLY_T1, _LAST = frozenset("«»ÐÞðþĄąĐđĘęĮįŊŋŲų"), "\u017f"

# Where a long name may be broken.
_BREAKS = re.compile(r"(?<=[/_:.@+-])(?=\w)")


def escaped(text: str) -> str:
    r"""Text in which nothing acts on TeX: printable, and every special character as one.

    Examples
    --------
    >>> print(escaped("50 % of $x_1$ & more, pre--trained"))
    50\,\% of \$x\_1\$ \& more, pre-{}-trained
    """
    plain = printable(text)
    written = "".join(
        _CHARACTERS.get(character, character) + ("{}" if character in _LIGATURES and character == following else "")
        for character, following in zip(plain, f"{plain[1:]} ", strict=False)
    )
    return re.sub(r"(?<=\d) \\%", r"\\,\\%", written)


def document(paper: Paper, made_by: str = "") -> str:
    """Everything of a paper, to be copied from: comments say what is what."""
    needed = _comment(_needed(paper))
    by = f": {printable(made_by)}" if made_by else ""
    blocks = [
        f"% simstudy {version('simstudy')}{by}\n% Needs \\usepackage{{booktabs}}, and \\usepackage{{natbib}} or a "
        f"style that has \\citep.\n{needed}{_comment(f'Note: {note}' for note in paper.notes)}",
        *(table(one) for one in paper.tables),
        sentences(paper),
        "% References, for the .bib file\n\\iffalse\n" + bibtex(paper.cited) + "\\fi\n",
    ]
    return "\n".join(blocks).rstrip("\n")


def sentences(paper: Paper) -> str:
    """The sentences for both sections."""
    told = {"Results": paper.results, "Methods": paper.methods}
    return "\n".join(f"% {name}\n{text(said)}\n" for name, said in told.items() if said)


def table(one: Table) -> str:
    """A table with booktabs' rules and its caption below; one of very many rows as several."""
    longest = [max(len(cell.text) for cell in cells(row)) for row in one.rows] or [0]
    # A row is as high as its longest name has lines; a table has rows of one height, to be on the safe side.
    lines = 1 if max(longest) <= _NAME else -(-max(longest) // _NAME)
    return "\n".join(map(_table, parts(one, _MOST_LINES // lines)))


def _table(one: Table) -> str:
    rows = [cells(row) for row in one.rows]
    widths = [max([len(heading), *(len(row[k].text) for row in rows)]) for k, (heading, _) in enumerate(one.columns)]
    points = [
        max(_points(text) for text in (heading, *(row[k].text for row in rows)))
        for k, (heading, _) in enumerate(one.columns)
    ]
    broken = [kind == "left" and widths[k] > _NAME for k, (_, kind) in enumerate(one.columns)]
    share = _BROKEN[sum(broken) > 1]
    aligned = "".join(f"p{{{share}\\textwidth}}" if wrap else _ALIGNED[kind]
                      for wrap, (_, kind) in zip(broken, one.columns, strict=True))  # fmt: skip
    wide = any(broken) or sum(width + _BETWEEN for width in points) > _COLUMN
    float_ = "table*" if wide else "table"
    head = _row([Cell(heading) for heading, _ in one.columns], broken)
    body = "\n".join("\\midrule\n" * (k in one.ruled) + _row(row, broken) for k, row in enumerate(rows))
    return (
        f"\\begin{{{float_}}}[t]\n\\centering\n\\small\n\\setlength{{\\tabcolsep}}{{4pt}}\n\\begin{{tabular}}{{{aligned}}}\n\\toprule\n{head}\n\\midrule\n"
        f"{body}\n\\bottomrule\n\\end{{tabular}}\n\\caption{{{text(one.caption)}}}\n\\label{{tab:{one.name}}}\n"
        f"\\end{{{float_}}}\n"
    )


def _points(text: str) -> float:
    """About how wide a text is."""
    return _LETTER * (len(text) - len(_NARROW.findall(text)) / 2)


def _row(row: Sequence[Cell], broken: Sequence[bool]) -> str:
    written = [_cell(cell, wrap) for cell, wrap in zip(row, broken, strict=True)]
    # Behind the end of the row before both would be an option of it.
    before = "{}" if written[0].startswith(("[", "*")) else ""
    return before + " & ".join(written) + r" \\"


def _cell(cell: Cell, wrap: bool) -> str:
    pieces = _BREAKS.split(cell.text) if wrap else [cell.text]
    written = r"\allowbreak{}".join(map(escaped, pieces))
    if cell.bold:
        written = f"\\textbf{{{written}}}"
    if cell.mark:
        written += "$^{" + "".join(_SUPERSCRIPTS[mark] for mark in cell.mark) + "}$"
    return f"\\raggedright\\hangindent=1em {written}" if wrap else written


def text(said: Text) -> str:
    """Sentences with citations."""
    return "".join(map(_part, said))


def _part(part: str | Cite | Code | PValue) -> str:
    if isinstance(part, Cite):
        return f"~\\citep{{{','.join(part.keys)}}}"
    if isinstance(part, Code):
        pieces = re.split(r"(?<=[|,;=])", part.text)
        return "\\texttt{" + r"\allowbreak{}".join(map(escaped, pieces)) + "}"
    if isinstance(part, PValue):
        sign = part.text.replace("<=", r"\leq")
        return f"$p {sign}$"
    return escaped(part)


def _needed(paper: Paper) -> list[str]:
    """What the names need of LaTeX, for comments."""
    said = [*paper.results, *paper.methods, *(part for one in paper.tables for part in one.caption)]
    texts = [part for part in said if isinstance(part, str)]
    texts += [cell.text for one in paper.tables for row in one.rows for cell in cells(row)]
    # Systems and tasks may be columns.
    texts += [heading for one in paper.tables for heading, _ in one.columns]
    letters = {*printable("".join(texts))} - {*_CHARACTERS}
    if beyond := sorted(letter for letter in letters if letter > _LAST):
        some = "".join(beyond[:20])
        return [f"XeLaTeX or LuaLaTeX, and a font that has {some}, are needed for the names."]
    return ["\\usepackage[T1]{fontenc} is needed for the names."] if letters & _ONLY_T1 else []


def _comment(lines: Iterable[str]) -> str:
    return "".join(f"% {printable(one)}\n" for one in lines)
