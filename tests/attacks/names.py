"""Names that a file may have, and that are meant to do harm where they are shown."""

from __future__ import annotations

import unicodedata

from hypothesis import strategies as st

#: What each attacks -> a name.
HOSTILE = {
    "colour": "a\x1b[31mred\x1b[0m",
    "title": "b\x1b]0;owned\x07",
    "one-byte sequence": "c\x9b2J",
    "carriage return": "d\rsimstudy: all is well",
    "bidi": "e\u202egnp.exe\u2066",
    "invisible": "f\u200b\u2060\ufeff\U000e0041",
    "backspace": "g\x08\x08\x7f",
    "markup": "[red]h[/red] [link=https://evil.example]i[/link]",
    "emoji": ":100: :boom:",
    "link": "[click](https://evil.example)",
    "image": "![](https://evil.example/pixel.png)",
    "bare link": "https://evil.example/x www.evil.example",
    "reference": "[x]: https://evil.example",
    "html": "<img src=x onerror=alert(1)> <script>alert(1)</script> <!-- ",
    "entity": "&lt;b&gt; &#60;",
    "pipe": "a | b | c\\| d",
    "backslash": "C:\\temp\\",
    "code": "`a` ``b`` ```",
    "emphasis": "*a* _b_ __c__ ~~d~~",
    "heading": "# heading",
    "list": "- item",
    "numbered": "1. item",
    "quote": "> quote",
    "rule": "---",
    "formula": "=cmd|' /C calc'!A0",
    "plus": "+1+cmd|' /C calc'!A0",
    "minus": "-2+3+cmd|' /C calc'!A0",
    "at": "@SUM(A1:A9)",
    "dollars": "$$",
    "formula of TeX": "$\\frac{1}{$",
    "TeX": "\\alpha_{x}^{2} %#&{}",
    "underscore": "_hidden",
    "long": "n" * 3_000,
    "long too": "n" * 2_999 + "m",
}

#: Also what hypothesis would not find soon: sequences that act together.
MARKS = "ab1.-=+@#>*_`~$|[]()!<>&;:/\\ \n\r\t\x1b\u202e'"
TEXTS = st.text(max_size=60) | st.text(MARKS, max_size=60)


# Signs of Arabic, Syriac and Kaithi that stand before numbers: they are of a category of what can not be seen, but can.
_SEEN = {*"\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"}


def acts(text: str) -> list[str]:
    """The characters of what was printed that act on a terminal, or can not be seen."""
    acting = [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    return [c for c in acting if c != "\n" and c not in _SEEN]
