"""LaTeX as tests read it: what a table says, by TeX's own rules and not by the code that writes it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

# What commands print.
_PRINTED = {
    r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", r"\textasciigrave{}": "`",
    r"\textless{}": "<", r"\textgreater{}": ">", r"\textbar{}": "|", r"\dots{}": "…", r"\allowbreak{}": "",
    r"$\langle$": "⟨", r"$\rangle$": "⟩", r"\,": " ", "$-$": "−", "$^{\\dagger}$": "†", "$^{\\ddagger}$": "‡",
    r"$^{\S}$": "§", r"$^{\P}$": "¶", "$^{*}$": "*", r"$\dagger$": "†", r"$\ddagger$": "‡", r"\S{}": "§",
    r"\P{}": "¶", r"$\leq$": "≤", r"\raggedright": "", r"\hangindent=1em ": "", "''": '"',
}  # fmt: skip

PREAMBLE = "\\usepackage[utf8]{inputenc}\n\\usepackage{booktabs}\n\\usepackage{natbib}\n"


def plain(text: str) -> str:
    """What TeX prints of a text without formulas and macros of ours."""
    text = re.sub(r"\\textbf\{((?:[^{}\\]|\\.|\{\})*)\}", r"\1", text)
    pieces = re.split("(" + "|".join(map(re.escape, sorted(_PRINTED, key=len, reverse=True))) + ")", text)
    printed = [_PRINTED.get(piece, re.sub(r"\\([&%$#_{}])|\{\}|--(?!-)", _one, piece)) for piece in pieces]
    return "".join(printed).strip()


def _one(found: re.Match[str]) -> str:
    return found[1] or {"{}": "", "--": "–"}[found[0]]


def tables(document: str) -> list[tuple[str, list[list[str]], str]]:
    """The columns, rows (the header first) and caption of each table, as TeX prints them."""
    found = []
    for body in re.findall(r"\\begin\{table\*?\}\[t\]\n(.*?)\\end\{table\*?\}", document, flags=re.DOTALL):
        columns = re.search(r"\\begin\{tabular\}\{(.*)\}\n", body)
        assert columns is not None
        inside = body[columns.end() : body.index(r"\end{tabular}")]
        lines = [line for line in inside.split("\n") if line.endswith(r" \\")]
        rows = [re.split(r"(?<!\\) ?& ?", line.removesuffix(r" \\").removeprefix("{}")) for line in lines]
        caption = re.search(r"^\\caption\{(.*)\}$", body, flags=re.MULTILINE)
        assert caption is not None
        aligned = re.sub(r"p\{[^}]*\}", "p", columns[1])
        found.append((aligned, [[plain(cell) for cell in row] for row in rows], plain(caption[1])))
    return found


def check_structure(document: str) -> None:
    """Environments open and close in order, braces are balanced, and each row has as many cells as columns."""
    opened: list[str] = []
    for what, name in re.findall(r"^\\(begin|end)\{([a-z*]+)\}", document, flags=re.MULTILINE):
        if what == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert opened == []
    typeset = re.sub(r"\\iffalse\n.*?\\fi", "", document, flags=re.DOTALL)
    typeset = "\n".join(line for line in typeset.split("\n") if not line.startswith("%"))
    depth = 0
    for brace in re.findall(r"(?<!\\)(?:\\\\)*([{}])", typeset):
        depth += 1 if brace == "{" else -1
        assert depth >= 0
    assert depth == 0
    for aligned, rows, _ in tables(document):
        assert {len(row) for row in rows} == {len(aligned)}


def compiled(document: str, folder: Path, *, options: str = "10pt,twocolumn") -> str:
    """The text of the PDF that pdfLaTeX makes of it in an article."""
    source = f"\\documentclass[{options}]{{article}}\n{PREAMBLE}\\begin{{document}}\n{document}\n\\end{{document}}\n"
    (folder / "paper.tex").write_text(source, encoding="utf-8")
    run = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"], cwd=folder, capture_output=True,
        timeout=120, check=False,
    )  # fmt: skip
    log = run.stdout.decode("utf-8", "replace")
    assert run.returncode == 0, log[-2000:]
    if shutil.which("pdftotext") is None:
        return ""
    subprocess.run(["pdftotext", "-layout", "paper.pdf"], cwd=folder, check=True, timeout=60)
    return (folder / "paper.txt").read_text(encoding="utf-8", errors="replace")
