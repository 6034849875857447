"""What can be wrong with the files and options of a comparison."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from hypothesis import strategies as st

from tests.attacks.inputs import CASES

#: Values that may stand in a field of a file, or behind an option.
VALUES = [
    *("", " ", "0", "-1", "1e400", "-1e308", "1e-320", "nan", "NaN", "inf", "1,5", "1 000", "0x10", "1_0", "٣", "½"),
    *("9" * 25, "9" * 5_000, "-9223372036854775809", "1.7976931348623157e308", "true", "None", "null", "[]", "{}", "'"),
    *("=1+1", "\x1b[31m", "\u202e", "\r", "a\tb", 'a"b', '"', "a,b", "é", "\ud7ff", "\U0001f600", "x" * 3_000, "$$"),
    *("../../etc/passwd", "/dev/zero", "..", ".", "-", "--", "%s", "{}", "\\"),
    *("mean", "accuracy", "item", "system", "score"),
]

_TAILS: list[bytes] = [
    *(b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"\r", b"\r\n", b"\n\n\n", b'"', b"\t", b",", b"[" * 3_000, b"{" * 3_000),
    *(b"NaN", b"\x1b]0;x\x07", b"\xc2\x9b", b"\xe2\x80\xa8", b"(" * 3_000, b")", b"1-", b"#", b"\\", b"\x1a"),
]


def _cut(content: bytes, at: int) -> bytes:
    return content[:at]


#: Changes of the bytes of a file.
CHANGES: dict[str, Callable[[bytes, int], bytes]] = {
    "cut": _cut,
    "empty": lambda content, at: b"",
    "blank": lambda content, at: b" \n\t\n",
    "byte order mark": lambda content, at: b"\xef\xbb\xbf" + content,
    "UTF-16": lambda content, at: content.decode().encode("utf-16"),
    "Windows": lambda content, at: content.replace(b"\n", b"\r\n"),
    "old Macintosh": lambda content, at: content.replace(b"\n", b"\r"),
    "a line twice": lambda content, at: content + b"".join(content.splitlines(keepends=True)[-1:]),
    "a line less": lambda content, at: b"".join(content.splitlines(keepends=True)[:-1]),
    "upside down": lambda content, at: b"".join(content.splitlines(keepends=True)[::-1]),
    "twice": lambda content, at: content * 2,
    "a byte": lambda content, at: content[:at] + bytes([at % 256]) + content[at + 1 :],
    "a key twice": lambda content, at: re.sub(rb'("id"|"acc"): ', rb"\1: 0, \1: ", content),
    "packed": lambda content, at: b"\x1f\x8b\x08\x00" + content,
}

#: Things that may stand in the place of a file.
PLACES: dict[str, Callable[[Path], None]] = {
    "a folder": lambda path: path.mkdir(),
    "a pipe": lambda path: os.mkfifo(path),
    "zeros without an end": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "nothing": lambda path: None,
}

#: Options that may be put in, with any value.
OPTIONS = [
    *("--metric", "--references", "--systems", "--by", "--items", "--columns", "--format", "--missing", "--ties"),
    *("--duplicates", "--allow-different", "--tokenize", "--domain", "--test", "--resamples", "--seed"),
    *("--alternative", "--convention"),
    *("--unit", "--strata", "--alpha", "--margin", "--jobs", "--nonsense", "--json", "--lowercase", "--out"),
]

KNOWN = {
    "--test": ["bootstrap", "randomization", "t_paired", "mcnemar", "sign", "wilcoxon", "z", "fisher", "chi_square"],
    "--format": [
        *("scores", "text", "conll", "conllu", "trees", "alignments", "trec"),
        *("lm-eval", "inspect", "helm", "swe-bench", "candidates"),
    ],
    "--missing": ["drop", "zero"],
    "--duplicates": ["drop", "note"],
    "--allow-different": ["metric", "version,target", "prompt,", "scorers"],
    "--convention": ["bk2012", "sacrebleu", "chinchor1992"],
    "--metric": [
        *("bleu", "chrf", "accuracy", "mean", "f1", "span_f1", "las", "aer", "ap"),
        *("precision@3", "ndcg@x", "win_rate"),
    ],
    "--unit": ["item", "cluster", "id"],
    "--strata": ["domain", "id"],
    "--columns": [
        *("sample=row", "item=row", "item=id+item", "system=a+b", "score=a.b", "item=id", "score=x,score=y"),
        *("=", "a=b=c", "item=,", "system=system,item=item", "score=item", "score@q=acc"),
    ],
    "--resamples": ["1", "10", "1.5"],
    "--jobs": ["1", "-2", "0"],
    "--alternative": ["greater", "less"],
    # Only what is refused: else it is written to, wherever it is.
    "--out": [".", "old.txt", "scores.csv"],
    "--ties": ["keep"],
    "--tokenize": ["zh", "none", "13a", "flores101"],
}


@st.composite
def attacks(
    draw: st.DrawFn, names: Sequence[str] = tuple(CASES)
) -> tuple[str, dict[str, bytes], dict[str, str], list[str]]:
    """A case with one to three things wrong: its name, files, what is in the place of some, and the arguments."""
    name = draw(st.sampled_from(sorted(names)))
    case = CASES[name]
    files = case.content
    places: dict[str, str] = {}
    arguments = list(case.arguments)
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["bytes", "insert", "field", "field", "place", "option", "option", "argument"]))
        path = draw(st.sampled_from(sorted(files)))
        content = files[path]
        at = draw(st.integers(0, len(content)))
        if kind == "bytes":
            try:
                files[path] = CHANGES[draw(st.sampled_from(sorted(CHANGES)))](content, at)
            except UnicodeDecodeError:
                continue
        elif kind == "insert":
            files[path] = content[:at] + draw(st.sampled_from(_TAILS) | st.binary(max_size=8)) + content[at:]
        elif kind == "field" and Path(path).suffix in (".json", ".jsonl"):
            values = [*re.finditer(rb'"[^"]*"|[-+.\d]+|true|false|null|NaN', content)] or [re.match(b"", content)]
            found = draw(st.sampled_from(values))
            value = draw(st.sampled_from([*VALUES, "[1, 2]", '{"a": 1}', "NaN", "-Infinity"]))
            written = draw(st.sampled_from([value, json.dumps(value)]))
            files[path] = content[: found.start()] + written.encode() + content[found.end() :]
        elif kind == "field":
            separator = {".csv": b",", ".tsv": b"\t"}.get(Path(path).suffix, b" ")
            lines = [line.split(separator) for line in content.split(b"\n")]
            row = draw(st.integers(0, len(lines) - 1))
            column = draw(st.integers(0, len(lines[row]) - 1))
            lines[row][column] = draw(st.sampled_from(VALUES)).encode()
            files[path] = b"\n".join(separator.join(line) for line in lines)
        elif kind == "place":
            places[path] = draw(st.sampled_from(sorted(PLACES)))
        elif kind == "option":
            option = draw(st.sampled_from(OPTIONS))
            known = option == "--out" or (option in KNOWN and draw(st.booleans()))
            value = draw(st.sampled_from(KNOWN[option] if known else VALUES))
            if option in arguments and draw(st.booleans()):
                arguments[arguments.index(option) + 1] = value
            else:
                arguments += [option] if option in ("--json", "--lowercase") else [option, value]
        else:
            arguments[draw(st.integers(0, len(arguments) - 1))] = draw(st.sampled_from(VALUES))
    return name, files, places, arguments
