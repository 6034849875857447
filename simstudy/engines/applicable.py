"""Which tests apply to outputs."""

from __future__ import annotations

from simstudy.engines.asking import ask
from simstudy.engines.registry import DEFAULT_TEST, TESTS
from simstudy.outputs import Outputs, require_outputs
from simstudy.validation import check_flag


def applicable(outputs: Outputs, *, unit: str | None = None, of_scores: bool = False) -> list[str]:
    """The names of the tests that apply to these outputs, in the order of `TESTS`.

    Parameters
    ----------
    unit
        As in `compare`.
    of_scores
        Only those whose null hypothesis is about the scores; what each says, ``TESTS[name].null`` tells.

    Examples
    --------
    >>> import pandas as pd
    >>> outputs = Outputs.from_statistics([[[1, 2, 2]] * 3, [[1, 1, 2]] * 3], "f1")
    >>> applicable(outputs)
    ['sign_flips', 'bootstrap', 'randomization', 'skew_corrected']
    >>> scores = Outputs.from_scores(pd.DataFrame({"a": [0.2, 0.5, 0.4], "b": [0.1, 0.3, 0.5]}))
    >>> [name for name in applicable(scores) if name not in applicable(scores, of_scores=True)]
    ['sign', 'wilcoxon']
    """
    require_outputs(outputs, 2)
    check_flag("of_scores", of_scores)
    question = ask(outputs.best_first(), test=DEFAULT_TEST, unit=unit)
    return [name for name, test in TESTS.items() if not test.refusal(question) and (test.of_scores or not of_scores)]
