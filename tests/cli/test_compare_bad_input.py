"""Whatever is wrong with the files or the arguments: one line that says so, and exit code 2."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.cli.command import compare

_TREES = "(S (NP (DT the) (NN cat)) (VP (VBD sat)))\n(S (NP (DT a) (NN dog)) (VP (VBD ran)))\n"


@pytest.fixture
def bad(two: str, four: str) -> None:
    """Files in which something is wrong, beside good ones."""
    texts = {
        **{"a.txt": "the cat\nthe dog\na bird\n", "b.txt": "a cat\nthe dog\nthe bird\n", "ref.txt": "x y\ny\nz\n"},
        **{
            "lacks.csv": "system,item,score\nold,q1,0\nnew,q1,1\nnew,q2,1\n",
            "gold.csv": "item,gold,a,b\n1,1,1,0\n2,0,1,0\n",
            "gold.mrg": _TREES,
            "good.mrg": _TREES,
        },
    }
    for name, text in texts.items():
        Path(name).write_text(text)


_TEXT = "--metric bleu --references ref.txt"
_BAD = {
    "an item missing": (
        "lacks.csv --metric accuracy",
        "items differ: system 'old' (lacks.csv) lacks 1 of 2 items, first 'q2'; --missing drop leaves such items out",
    ),
    "metric": ("scores.csv --metric acuracy", "not 'acuracy' (did you mean 'accuracy'?)"),
    "no file": (f"a.txt nothing.txt {_TEXT}", "no such file: nothing.txt"),
    "one system": (f"a.txt {_TEXT}", "at least two systems are needed to compare, but there is only 'a'"),
    "columns twice": (
        "scores.csv --metric accuracy --columns 'item=item, item=old'",
        "columns must name each of ours once, not 'item=item, item=old'",
    ),
    "columns": ("scores.csv --metric accuracy --columns item:q", "columns must be like item=instance_id,score=resol"),
    "a slip in a name of ours": (
        "scores.csv --metric accuracy --columns itme=item",
        "simstudy: --columns must map our names (system, item, id, sample, n_samples, score, gold, "
        "predicted, reference, domain, "
        "cluster, factor, input, answer, filter, tag, correct, total, or one of your own that is unlike these), "
        "not 'itme' (did you mean 'item'?)",
    ),
    "no column": (
        "scores.csv --metric accuracy --columns item=itme",
        "scores.csv: no column 'itme' (columns: item, old",
    ),
    "the column of items under another name": (
        "scores.csv --metric accuracy --columns domain=itme",
        "scores.csv: no column 'itme' (columns: item, old",
    ),
    "gold labels that are numbers": (
        "gold.csv --metric accuracy",
        "gold.csv: column 'gold' may have gold labels, or scores of a system; --columns gold=gold compares labels",
    ),
    "domain": (
        "four.csv --metric accuracy --columns domain=genre,cluster=doc --domain sports",
        "--domain must be one of mail, news, web, not 'sports'",
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
    "jobs": (
        "scores.csv --metric accuracy --jobs 0",
        "--jobs must be at least 1, or -1 for all cores, not 0",
    ),
    "seed": ("scores.csv --metric mean --seed -1", "simstudy: --seed must be at least 0"),
    "ties": ("scores.csv --metric mean --ties x", "simstudy: --ties must be one of jitter, keep, not 'x'"),
    "the direction of another metric": (
        "scores.csv --metric accuracy --lower-is-better",
        "simstudy: --lower-is-better must not be given for metric 'accuracy': higher is better",
    ),
    "a column of tags": (
        "a.txt b.txt --metric span_f1 --references ref.txt --columns tag=x",
        "simstudy: --columns must give the number of a column, from 1 on, not 'tag=x'",
    ),
    "two gold files": (
        "good.mrg --metric parseval --references gold.mrg --references gold.mrg",
        "simstudy: --references of trees must be one gold file, not 2",
    ),
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
        "simstudy: --strata must not be given for test 'sign_flips'; only --test bootstrap resamples within strata",
    ),
    "a table for LaTeX as folder": (
        "scores.csv --metric accuracy --out a.tex",
        "--out must be the name of a folder, not of a file such as a.tex",
    ),
    "a file as folder": ("scores.csv --metric accuracy --out a.txt", "out must be a folder, but a.txt is a file"),
}


@pytest.mark.usefixtures("bad")
@pytest.mark.parametrize(("arguments", "message"), _BAD.values(), ids=_BAD)
def test_bad_input_is_one_line_and_exit_code_2(arguments: str, message: str) -> None:
    code, out, err = compare(*shlex.split(arguments))
    assert (code, out) == (2, "")
    assert err.startswith("simstudy: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert message in err
