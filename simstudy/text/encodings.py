"""What a terminal shows of characters that its encoding lacks: ASCII that reads like them, or their code points."""

from __future__ import annotations

import codecs

# Signs of our own: ranges, what goes on, names that act, numbers, comparisons, quotations, bars.
_LIKE = {
    "–": "-", "…": "...", "⟨": "<", "⟩": ">", "−": "-", "±": "+-", "×": "x", "√": "sqrt ",
    "≈": "~", "≤": "<=", "≥": ">=", "“": '"', "”": '"', "━": "-", "╌": ".",
}  # fmt: skip

#: The name of the error handler, for streams and `str.encode`.
READABLE = "simstudy.readable"


def _readable(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    first = error.object[error.start]
    if first in _LIKE:
        return _LIKE[first], error.start + 1
    # What comes after it may read like something.
    one = UnicodeEncodeError(error.encoding, error.object, error.start, error.start + 1, error.reason)
    return codecs.backslashreplace_errors(one)


codecs.register_error(READABLE, _readable)
