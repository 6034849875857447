"""Whether lower scores are better: by the user's option, and by the name of the score."""

from __future__ import annotations

import re

from simstudy.metrics.arrays import ARRAYS
from simstudy.metrics.base import Metric
from simstudy.metrics.mean import LOWER, MEAN, Mean
from simstudy.notes import Argument, Words
from simstudy.validation import InputError

#: What errors are called: of such scores lower is better.
_ERRORS = frozenset((
    "wer", "ter", "cer", "eer", "error", "errors", "err", "errs", "loss", "losses", "logloss", "perplexity",
    "perplexities", "ppl", "rmse", "mae", "mse", "mape", "smape", "rmsle", "msle", "nll", "brier", "crps",
    "ece", "bpb", "bpc", "fpr", "fnr", "mistake", "mistakes", "deviance", "distance", "distances",
    "latency", "runtime", "seconds", "cost", "costs", "toxicity", "tokens", "time",
))  # fmt: skip

#: Of these higher is better, unless they are turned round.
_LIKELIHOODS = frozenset(("likelihood", "loglikelihood"))

#: What turns a score round, as in neg_mean_squared_error.
_TURNED = frozenset(("neg", "negative", "negated", "minus", "inverse", "reduction", "free"))

# Where one word of evalLoss or NLLLoss ends and the next one begins.
_BETWEEN = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W\d_]+")
_FALSE = re.compile(r"\bfalse (alarm|positive|negative)s?\b")
_ONE_LESS = re.compile(r"\s*1\s*[-−]")


def directed(metric: Metric, lower_is_better: bool | None) -> Metric:
    """The metric in the direction of the option, if it is given; ValueError where the metric has only the other one."""
    if lower_is_better is not None and not isinstance(lower_is_better, bool):
        raise InputError("lower_is_better", "must be True, False or None (not said)", lower_is_better)
    if lower_is_better is None or lower_is_better != metric.higher_is_better:
        return metric
    if metric == Mean():
        return Mean(higher_is_better=False)
    if metric == ARRAYS["median"]:
        return ARRAYS[f"median{LOWER}"]
    end, hint = ("lower", "") if lower_is_better is False else ("higher", f"; the metric of errors is '{MEAN}'")
    rule = f"{{option}} must not be given for metric '{metric.name}': {end} is better{hint}"
    raise InputError(Words(rule, option=Argument("lower_is_better", lower_is_better)))


def sounds_like_error(name: str) -> bool:
    """Whether a whole word of a score's name, in any case, says that lower is better."""
    words = [word.lower() for word in _WORD.findall(_BETWEEN.sub(" ", name))]
    turned = not _TURNED.isdisjoint(words) or _ONE_LESS.match(name) is not None
    if _FALSE.search(" ".join(words)):
        return True
    return not (_LIKELIHOODS if turned else _ERRORS).isdisjoint(words)
