"""The signature of a question says what its p-values rest on, whichever pairs they are of."""

from __future__ import annotations

from importlib.metadata import version

import pandas as pd
import pytest

import simstudy as ss
from simstudy.comparisons.signature import signatures


@pytest.mark.parametrize("drawn", [(0, 5_000, 20_000), (20_000, 0, 5_000), (5_000, 20_000, 0)])
def test_the_largest_number_of_resamples_is_named_wherever_it_is(drawn: tuple[int, ...]) -> None:
    pairs = question().loc[[0, 0, 0]].assign(n_resamples=drawn)
    assert "|resamples:20000|seed:12|" in ss.comparisons.signature(pairs)


def question(**given: object) -> pd.DataFrame:
    row = {
        "metric": "bleu", "metric_signature": "", "test": "sign_flips", "alternative": "greater",
        "convention": "default", "unit": "item", "strata": "", "seed": 12, "n_resamples": 0, "test_set": "",
    }  # fmt: skip
    return pd.DataFrame([{**row, **given}])


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({}, "metric:bleu|test:sign_flips|sides:one|unit:item"),
        ({"alternative": "two-sided"}, "metric:bleu|test:sign_flips|sides:two|unit:item"),
        ({"test_set": None, "strata": None}, "metric:bleu|test:sign_flips|sides:one|unit:item"),
        ({"n_resamples": 9, "test_set": "wmt", "strata": "g", "metric_signature": "x", "convention": "c", "unit": "u"},
         "metric:bleu|x|test:sign_flips|sides:one|convention:c|unit:u|strata:g|resamples:9|seed:12|test_set:wmt"),
    ],
)  # fmt: skip
def test_a_signature_has_all_that_is_not_usual(given: dict[str, object], part: str) -> None:
    assert ss.comparisons.signature(question(**given)) == f"{part}|simstudy:{version('simstudy')}"


@pytest.mark.parametrize(
    "column", ["metric", "metric_signature", "test", "alternative", "convention", "unit", "strata"]
)
def test_rows_of_two_questions_have_two_signatures(column: str) -> None:
    """In the order of the rows, each once; a missing word is an empty one."""
    first, second = question(), question(**{column: "two-sided" if column == "alternative" else "other"})
    both = pd.concat([second, first, second.assign(n_resamples=7)])
    with_seven = signatures(second.assign(n_resamples=7))
    assert signatures(both) == [*with_seven, *signatures(first)]
    with pytest.raises(ValueError, match="pairs must be of one question, not of 2: ") as error:
        ss.comparisons.signature(both)
    assert str(error.value).endswith(f": {with_seven[0]}, {signatures(first)[0]}")
    if column in ("metric_signature", "strata"):
        assert len(signatures(pd.concat([first, first.assign(**{column: None})]))) == 1


def test_seeds_are_told_apart_and_test_sets_are_not() -> None:
    drawn = question(n_resamples=5)
    assert [text.split("seed:")[1][:2] for text in signatures(pd.concat([drawn, drawn.assign(seed=34)]))] == [
        "12",
        "34",
    ]
    assert "test_set" not in ss.comparisons.signature(pd.concat([question(test_set="a"), question(test_set="b")]))
