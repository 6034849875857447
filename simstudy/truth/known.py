"""The models of two systems, by name."""

from collections.abc import Mapping
from typing import Any

from simstudy.truth.growing_gains import GrowingGains
from simstudy.truth.pair_base import PairModel
from simstudy.truth.pair_models import Clusters, RightOrWrong, SkewedMeans
from simstudy.truth.pair_responses import Acceptances, Responses
from simstudy.truth.scores.described import Scores
from simstudy.truth.translations import Translations

#: Models of two systems whose true scores are known, by name: what draws test sets for them.
PAIR_MODELS: dict[str, type[PairModel]] = {
    model.__name__: model
    for model in (Acceptances, Clusters, GrowingGains, Responses, RightOrWrong, Scores, SkewedMeans, Translations)
}


def pair_model(name: str, parameters: Mapping[str, Any]) -> PairModel:
    """The model of this name with parameters as a study.toml has them: lists stand for tuples.

    Examples
    --------
    >>> pair_model("RightOrWrong", {"accuracies": [0.9, 0.8], "between": 0.5}).true_gain
    10.0
    """
    return PAIR_MODELS[name](
        **{key: tuple(value) if isinstance(value, list) else value for key, value in parameters.items()}
    )
