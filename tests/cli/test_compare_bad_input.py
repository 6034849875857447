"""Whatever is wrong with the files or the arguments: one line that says so, and exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import compare

_SAMPLES = "samples_boolq_2025-01-31T10-00-00.123456.jsonl"
_SAMPLE = '{"doc_id": %d, "metrics": ["acc"], "acc": 1.0, "filtered_resps": ["yes"]}'
_TREES = "(S (NP (DT the) (NN cat)) (VP (VBD sat)))\n(S (NP (DT a) (NN dog)) (VP (VBD ran)))\n"


@pytest.fixture
def bad(two: str, four: str) -> None:
    """Files in which something is wrong, beside good ones."""
    tidy = "system,item,score\nold,q1,0\nold,q2,%s\nnew,q1,1\nnew,q2,1\n"
    texts = {
        **{"a.txt": "the cat\nthe dog\na bird\n", "b.txt": "a cat\nthe dog\nthe bird\n", "ref.txt": "x y\ny\nz\n"},
        **{"empty.txt": "", "short.txt": "the cat\nthe dog\n", "numbers.txt": "1\nNaN\n0\n", "big.txt": "0\n1\n3\n"},
        **{"nan.csv": tidy % "NaN", "words.csv": tidy % "much", "range.csv": tidy % "1.5"},
        "twice.csv": "system,item,score\nold,q1,0\nold,q1,1\nnew,q1,1\n",
        "lacks.csv": "system,item,score\nold,q1,0\nnew,q1,1\nnew,q2,1\n",
        "ragged.csv": "system,item,score\nold,q1,0\nold,q2\n",
        **{"gold.mrg": _TREES, "good.mrg": _TREES, "open.mrg": _TREES.replace("ran)))", "ran))")},
        **{"gold.wa": "0-0\n0-0 1-1\n", "good.wa": "0-0\n1-1\n", "out.wa": "0-0\n0-5\n", "src": "a\nb c\n"},
        **{"others.csv": "system,group\nx,g\ny,g\n", "again.csv": "system,group\nold,g\nold,h\nnew,g\n"},
        **{"unnamed.csv": "model,group\nold,g\n", "items.csv": "domain\nnews\nweb\n", "notes.csv": "system\nold\n"},
    }
    for name, text in texts.items():
        Path(name).write_text(text)
    Path("latin.txt").write_bytes("the cat\nle garçon\na bird\n".encode("latin-1"))
    Path("wide.txt").write_text("the cat\nthe dog\na bird\n", encoding="utf-16")
    for model, end in (("whole", ""), ("cut", '\n{"doc_id": 1, "metrics": ["acc"], "acc"')):
        Path(model).mkdir()
        Path(model, _SAMPLES).write_text(_SAMPLE % 0 + (end or "\n" + _SAMPLE % 1))


_TEXT = "--metric bleu --references ref.txt"
_BAD = {
    "not UTF-8": (f"a.txt latin.txt {_TEXT}", "latin.txt, line 2: not UTF-8 (byte 0xe7); convert the file to UTF-8"),
    "references not UTF-8": ("a.txt b.txt --metric bleu --references latin.txt", "latin.txt, line 2: not UTF-8"),
    "UTF-16": (f"a.txt wide.txt {_TEXT}", "wide.txt, line 1: not UTF-8 but UTF-16"),
    "empty": (f"a.txt empty.txt {_TEXT}", "empty.txt is empty"),
    "length": (f"a.txt short.txt {_TEXT}", "short.txt has 2 lines, ref.txt 3"),
    "length of references": ("a.txt b.txt --metric chrf --references short.txt", "a.txt has 3 lines, b.txt 3, short."),
    "id twice": ("twice.csv --metric accuracy", "twice.csv, line 3: item 'q1' of system 'old' again"),
    "NaN": ("nan.csv --metric accuracy", "nan.csv, line 3: "),
    "NaN in text": ("numbers.txt big.txt --metric mean", "numbers.txt, line 2: mean must be a number, not 'NaN'"),
    "no number": ("words.csv --metric mean", "words.csv, line 3: a score must be a number, not 'much'"),
    "range": (
        "range.csv --metric win_rate",
        "range.csv, line 3: a score must be between 0 and 1 for metric 'win_rate'",
    ),
    "range in text": ("big.txt a.txt --metric win_rate", "big.txt, line 3: win_rate must be at most 1, not '3'"),
    "an item missing": (
        "lacks.csv --metric accuracy",
        "items differ: lacks.csv lacks 1 of 2 items, first 'q2' (system 'old'); --missing drop leaves such items out",
    ),
    "cells": ("ragged.csv --metric accuracy", "ragged.csv, line 3: 2 cells, but the header has 3"),
    "cut JSON": ("whole cut --metric accuracy", f"cut/{_SAMPLES}, line 2: not a whole JSON line (is the file cut?)"),
    "open bracket": (
        "good.mrg open.mrg --metric parseval --references gold.mrg",
        "open.mrg, line 2: the bracket opened here does not close",
    ),
    "link": (
        "good.wa out.wa --metric aer --references gold.wa --references src --references src",
        "out.wa, line 2: link 0-5 is outside the sentence (2 x 2 words)",
    ),
    "metric": ("scores.csv --metric acuracy", "not 'acuracy' (did you mean 'accuracy'?)"),
    "test": ("scores.csv --metric accuracy --test sgin", "not 'sgin' (did you mean 'sign'?)"),
    "convention": ("scores.csv --metric accuracy --convention sacrebleau", "(did you mean 'sacrebleu'?)"),
    "alternative": ("scores.csv --metric accuracy --alternative two_sided", "(did you mean 'two-sided'?)"),
    "format": ("scores.csv --metric accuracy --format score", "not 'score' (did you mean 'scores'?)"),
    "no file": (f"a.txt nothing.txt {_TEXT}", "no such file: nothing.txt"),
    "no reference file": ("a.txt b.txt --metric bleu --references nothing.txt", "no such file: nothing.txt"),
    "no items file": (f"a.txt b.txt {_TEXT} --items nothing.csv", "no such file: nothing.csv"),
    "no systems file": ("scores.csv --metric accuracy --systems nothing.csv", "no such file: nothing.csv"),
    "one system": (f"a.txt {_TEXT}", "at least two systems are needed to compare, but there is only 'a'"),
    "no references": ("a.txt b.txt --metric bleu", "metric 'bleu' needs references: at least one file"),
    "references of scores": ("scores.csv --metric accuracy --references ref.txt", "references are not for CSV, TSV or"),
    "columns": ("scores.csv --metric accuracy --columns item:q", "columns must be like item=instance_id,score=resol"),
    "a slip in a name of ours": (
        "scores.csv --metric accuracy --columns itme=item",
        "simstudy: --columns must map our names (system, item, id, sample, score, gold, reference, domain, cluster, "
        "filter, tag, correct, total, or one of your own that is unlike these), not 'itme' (did you mean 'item'?)",
    ),
    "half a column": ("scores.csv --metric accuracy --columns item=", "columns must be like item=instance_id"),
    "no column": ("scores.csv --metric accuracy --columns item=itme", "scores.csv: no column 'itme' among item, old"),
    "the column of items under another name": (
        "scores.csv --metric accuracy --columns domain=item",
        "scores.csv: no column 'item' among old, new, domain; --columns item=... names it",
    ),
    "domain": (
        "four.csv --metric accuracy --columns domain=genre,cluster=doc --domain sports",
        "--domain must be one of mail, news, web, not 'sports'",
    ),
    "no domains": ("scores.csv --metric accuracy --domain news", "items have no column 'domain'; they have id"),
    "items of another length": (
        f"a.txt b.txt {_TEXT} --items items.csv",
        "items.csv has 2 rows, but there are 3 items",
    ),
    "other systems": (
        "scores.csv --metric accuracy --systems others.csv",
        "others.csv must have rows for the systems; it has none for 'old' and all others",
    ),
    "a system twice": (
        "scores.csv --metric accuracy --systems again.csv",
        "again.csv, line 3: system 'old' occurs twice",
    ),
    "unnamed systems": (
        "scores.csv --metric accuracy --systems unnamed.csv",
        "unnamed.csv must have a column 'system'",
    ),
    "by": (
        "four.csv --metric accuracy --columns domain=genre,cluster=doc --systems systems.csv --by base_modle",
        "systems.csv: no column 'base_modle' with values among family, group, source, base_model (did you mean "
        "'base_model'?)",
    ),
    "by a column without values": (
        "scores.csv --metric accuracy --by group",
        "--by needs a systems table (--systems) ",
    ),
    "unknown system": (
        "scores.csv --metric accuracy --fail-unless-better newer old",
        "--fail-unless-better: no system 'newer' among old, new (did you mean 'new'?)",
    ),
    "itself": (
        "scores.csv --metric accuracy --fail-unless-better new new",
        "must name two different systems, not 'new'",
    ),
    "missing": ("scores.csv --metric accuracy --missing ignore", "missing must be one of error, drop, zero, not 'ign"),
    "jobs": ("scores.csv --metric accuracy --jobs 0", "simstudy: --jobs (-1: all cores) must be at least 1, not 0"),
    "max size": (
        "scores.csv --metric mean --max-size much",
        "simstudy: --max-size must be a size such as 500M or 4G, ",
    ),
    "margin": ("scores.csv --metric mean --margin -1", "simstudy: --margin must be a number above 0"),
    "seed": ("scores.csv --metric mean --seed -1", "simstudy: --seed must be at least 0"),
    "ties": ("scores.csv --metric mean --ties x", "simstudy: --ties must be one of jitter, keep, not 'x'"),
    "the direction of another metric": (
        "scores.csv --metric accuracy --lower-is-better",
        "simstudy: --lower-is-better must not be given for metric 'accuracy', of which higher is better",
    ),
    "a column of tags": (
        "a.txt b.txt --metric span_f1 --references ref.txt --columns tag=x",
        "simstudy: --columns must give the number of the tag's column, from 1 on, not tag=x",
    ),
    "two gold files": (
        "good.mrg open.mrg --metric parseval --references gold.mrg --references gold.mrg",
        "simstudy: --references of trees must be one gold file, not 2",
    ),
    "duplicates": ("scores.csv --metric accuracy --duplicates no", "duplicates must be one of keep, drop, not 'no'"),
    "alpha": ("scores.csv --metric accuracy --alpha 5", "alpha must lie between 0 and 1, both excluded, not 5"),
    "resamples": ("scores.csv --metric accuracy --resamples 0", "simstudy: --resamples must be at least 1"),
    "unit": (
        "scores.csv --metric accuracy --unit cluster",
        "simstudy: --unit must be a column of the items, not 'cluster'; they have id",
    ),
    "strata": (
        "scores.csv --metric accuracy --test bootstrap --strata domain",
        "simstudy: --strata must be a column of the items, not 'domain'; they have id",
    ),
    "strata of another test": (
        "scores.csv --metric accuracy --strata domain",
        "simstudy: --strata must not be given for test 'sign_flips'; only the bootstrap draws units of a stratum (--t",
    ),
    "a convention of another test": (
        "scores.csv --metric accuracy --convention bk2012",
        "convention 'bk2012' is a rule for bootstrap, not for 'sign_flips'",
    ),
    "tokenize": (
        "scores.csv --metric accuracy --tokenize zh",
        "tokenize and lowercase are for plain text, not for CSV",
    ),
    "a test of another metric": (f"a.txt b.txt {_TEXT} --test t_paired", "test 't_paired' needs a metric that is a me"),
    "a file as folder": ("scores.csv --metric accuracy --out a.txt", "out must be a folder, but a.txt is a file"),
    "one file twice": ("a.txt ./a.txt --metric mean", "a.txt is given twice"),
}


@pytest.mark.usefixtures("bad")
@pytest.mark.parametrize(("arguments", "message"), _BAD.values(), ids=_BAD)
def test_bad_input_is_one_line_and_exit_code_2(arguments: str, message: str) -> None:
    code, out, err = compare(*arguments.split())
    assert (code, out) == (2, "")
    assert err.startswith("simstudy: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert message in err
