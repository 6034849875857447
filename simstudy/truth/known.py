"""What a study.toml names: models of two systems, and the margins and the dependence of one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from simstudy.truth.pair_answers import Clusters, RightOrWrong
from simstudy.truth.pair_base import PairModel
from simstudy.truth.pair_models import Responses, SkewedMeans
from simstudy.truth.scores.archimedean import Clayton, Gumbel
from simstudy.truth.scores.base import Null, TruePair
from simstudy.truth.scores.clusters import ItemClusters
from simstudy.truth.scores.dependence import Dependence, GaussianCopula, Independent, Khoudraji, Survival, TCopula
from simstudy.truth.scores.discrete import Ordinal
from simstudy.truth.scores.item_response import ItemResponse
from simstudy.truth.scores.margins import Bernoulli, Beta, BetaBinomial, LogNormal, Margin, StudentT
from simstudy.truth.scores.model import ScoreModel
from simstudy.validation import InputError, check_choice

#: Margins by name, with the parameters of their classes.
MARGINS: dict[str, type[Margin]] = {
    kind.__name__: kind for kind in (Bernoulli, Beta, BetaBinomial, LogNormal, Ordinal, StudentT)
}

#: Dependence by name, with the parameters of their classes; ``of`` is another one.
DEPENDENCES: dict[str, type[Dependence]] = {
    kind.__name__: kind
    for kind in (Clayton, GaussianCopula, Gumbel, Independent, ItemResponse, Khoudraji, Survival, TCopula)
}


class Scores(TruePair):
    """Two systems with one score an item, of any margins, dependence and clusters; see `ScoreModel`.

    Parameters
    ----------
    margins
        Two tables, each with ``kind``, a name in `MARGINS`, and that class's parameters.
    dependence
        A table with ``kind``, a name in `DEPENDENCES`, and parameters; one of these, ``of``, may be such a table.
    scored_by
        The name of a metric of one score an item.
    gain, null
        The true gain that the first system is given, and how (`ScoreModel.with_gain`); None: the margins are as they
        are.
    clusters
        The parameters of `ItemClusters`; None, or empty: items are independent.

    Examples
    --------
    >>> import numpy as np
    >>> judged = {"kind": "Ordinal", "values": [1, 2, 3], "probabilities": [0.2, 0.3, 0.5]}
    >>> pair = Scores((judged, {"kind": "Beta", "average": 0.5, "concentration": 2}), {"kind": "Clayton", "theta": 2})
    >>> [round(score, 6) for score in pair.scores()], pair.draw(5, 20, np.random.default_rng(0)).statistics.shape
    ([2.3, 0.5], (5, 2, 20, 2))
    """

    def __init__(
        self,
        margins: tuple[Mapping[str, Any], Mapping[str, Any]],
        dependence: Mapping[str, Any] = MappingProxyType({"kind": "Independent"}),
        scored_by: str = "mean",
        gain: float | None = None,
        null: Null = "equal margins",
        *,
        clusters: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(margins, Sequence) or len(margins) != 2:
            raise InputError("margins", "must be two tables, one of each system", margins)
        both = [_made("margins", margin, MARGINS) for margin in margins]
        items = ItemClusters(**clusters) if clusters else None
        model = ScoreModel(both, _made("dependence", dependence, DEPENDENCES), items, metric=scored_by)
        super().__init__(model if gain is None else model.with_gain(gain, null=null))


def _made(argument: str, table: object, kinds: Mapping[str, Callable[..., Any]]) -> Any:
    """What a table with ``kind`` and parameters describes; ValueError where it describes nothing."""
    if not isinstance(table, Mapping) or "kind" not in table:
        raise InputError(argument, "must be a table with kind and parameters", table)
    check_choice(f"{argument}.kind", table["kind"], kinds)
    parameters = {name: value for name, value in table.items() if name != "kind"}
    if "of" in parameters:
        parameters["of"] = _made(f"{argument}.of", parameters["of"], kinds)
    try:
        return kinds[table["kind"]](**parameters)
    except TypeError as error:
        raise InputError(argument, f"must have the parameters of {table['kind']}: {error}") from None


#: Models of two systems whose true scores are known, by name: what draws test sets for them.
PAIR_MODELS: dict[str, type[PairModel]] = {
    model.__name__: model for model in (Clusters, Responses, RightOrWrong, Scores, SkewedMeans)
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
