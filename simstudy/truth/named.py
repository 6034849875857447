"""Models of a few words: systems of given accuracies, and what a study.toml names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from types import MappingProxyType
from typing import Any

from simstudy.outputs import Outputs
from simstudy.truth.corpus import Responses
from simstudy.truth.dependence import (
    Clayton,
    Dependence,
    GaussianCopula,
    Gumbel,
    Independent,
    Survival,
    TCopula,
    of_families,
)
from simstudy.truth.margins import Bernoulli, Beta, BetaBinomial, Gamma, LogNormal, Margin, Ordinal, StudentT
from simstudy.truth.models import ItemClusters, KnownTruth, ScoreModel
from simstudy.validation import InputError, check_choice, check_whole, number_list

#: Margins by name, with the parameters of their classes.
MARGINS: dict[str, type[Margin]] = {
    kind.__name__: kind for kind in (Bernoulli, Beta, BetaBinomial, Gamma, LogNormal, Ordinal, StudentT)
}

#: Dependence by name, with the parameters of their classes; ``of`` is another one.
DEPENDENCES: dict[str, type[Dependence]] = {
    kind.__name__: kind for kind in (Clayton, GaussianCopula, Gumbel, Independent, Survival, TCopula)
}


def correlated_accuracies(
    accuracies: Sequence[float],
    n_items: int,
    *,
    families: Sequence[str] | None = None,
    between: float = 0.5,
    within: float = 0.8,
    seed: int = 0,
    test_set: str = "synthetic",
) -> Outputs:
    """Outputs of K systems with these true accuracies on n independent items.

    The systems' latent scores on an item, which are normal, correlate by `within` in a family and by `between` else: a
    `ScoreModel` with a `GaussianCopula`.

    Parameters
    ----------
    accuracies
        K true accuracies, fractions from 0 to 1; the systems table has them as ``true_score``, in percent.
    n_items
        At least 1. A longer test set with the same seed begins with a shorter one.
    families
        K names; by default each system is its own family.
    between, within
        Latent correlations, 0 <= between <= within <= 1.
    seed
        0 … 2^64 - 1.
    test_set
        Its name.

    Raises
    ------
    ValueError
        For an argument outside its rule.

    Examples
    --------
    >>> outputs = correlated_accuracies([0.7, 0.75], 10_000, seed=0)
    >>> outputs.scores().round(0).tolist(), outputs.systems["true_score"].tolist()
    ([70.0, 75.0], [70.0, 75.0])
    """
    margins = _bernoullis(accuracies)
    names = [f"system-{k + 1}" for k in range(len(margins))] if families is None else families
    copula = GaussianCopula(of_families(names, between=between, within=within))
    model = ScoreModel(margins, copula, metric="accuracy", families=families)
    return model.outputs(n_items, seed=seed, test_set=test_set)


def clustered_accuracies(
    accuracies: Sequence[float],
    n_clusters: int,
    cluster_size: int,
    *,
    within: float = 0.2,
    between: float = 0.5,
    seed: int = 0,
    test_set: str = "clustered",
) -> Outputs:
    """Outputs of K systems with these true accuracies on clusters of items (documents, users).

    Clusters suit a system or not: latent scores of two systems on one item correlate by `between`, those of one system
    on two items of a cluster by `within`, all others not at all. So two systems of equal accuracy may swap all their
    outputs on a cluster and nothing changes in law: a test that swaps clusters is exact. One that swaps items is not,
    unless `within` is 0: it takes what a cluster's items share for as many independent parts (Yeh 2000, section 4).

    Parameters
    ----------
    accuracies
        K true accuracies, fractions from 0 to 1; the systems table has them as ``true_score``, in percent.
    n_clusters
        At least 1. A longer test set with the same seed begins with a shorter one.
    cluster_size
        Items of each cluster, at least 1.
    within, between
        Latent correlations, each at least 0, within + between <= 1.
    seed
        0 … 2^64 - 1.
    test_set
        Its name.

    Returns
    -------
    outputs
        Metric "accuracy"; items have ``cluster``.

    Raises
    ------
    ValueError
        For an argument outside its rule.

    Examples
    --------
    >>> outputs = clustered_accuracies([0.7, 0.7], n_clusters=40, cluster_size=5)
    >>> outputs.n_items, outputs.items["cluster"].nunique()
    (200, 40)
    """
    check_whole("n_clusters", n_clusters, 1)
    check_whole("cluster_size", cluster_size, 1)
    model = right_or_wrong(accuracies, between, within=within, size=cluster_size)
    return model.outputs(n_clusters * cluster_size, seed=seed, test_set=test_set)


def right_or_wrong(
    accuracies: Sequence[float], between: float, *, within: float = 0.0, size: int = 0, varying: bool = False
) -> ScoreModel:
    """Right and wrong answers: the model of `correlated_accuracies` or, with a size, of `clustered_accuracies`.

    Examples
    --------
    >>> right_or_wrong((0.75, 0.5), between=0.5).scores().tolist()
    [75.0, 50.0]
    """
    margins = _bernoullis(accuracies)
    if not size:
        return ScoreModel(margins, GaussianCopula(between), metric="accuracy")
    if not (within >= 0 and between >= 0 and within + between <= 1 + 1e-12):
        raise InputError("within and between", f"must be at least 0 and at most 1 in sum, not {within} and {between}")
    # The item's part is what the cluster's leaves.
    on_item = min(between / (1 - within), 1.0) if within < 1 else 0.0
    clusters = ItemClusters(within, size, varying, effects=Independent())
    return ScoreModel(margins, GaussianCopula(on_item), clusters, metric="accuracy")


def _bernoullis(accuracies: Sequence[float]) -> list[Margin]:
    shares = number_list("accuracies", accuracies)
    if shares.size == 0 or not ((shares >= 0) & (shares <= 1)).all():
        raise InputError("accuracies", "must be one or more fractions from 0 to 1", accuracies)
    return [Bernoulli(share) for share in shares.tolist()]


def scores(
    margins: Sequence[Mapping[str, Any]],
    dependence: Mapping[str, Any] = MappingProxyType({"kind": "Independent"}),
    metric: str = "mean",
    *,
    clusters: Mapping[str, Any] | None = None,
    n_systems: int | None = None,
) -> ScoreModel:
    """A `ScoreModel` in the words of a study.toml.

    Parameters
    ----------
    margins
        A table for each system, with ``kind``, a name in `MARGINS`, and that class's parameters.
    dependence
        A table with ``kind``, a name in `DEPENDENCES`, and parameters; one of these, ``of``, may be such a table.
    metric
        The name of a metric of one score an item.
    clusters
        The parameters of `ItemClusters`, of which ``effects`` is a table as `dependence`; None: items are independent.
    n_systems
        So many systems have the one margin that is given.

    Examples
    --------
    >>> judged = {"kind": "Ordinal", "values": [1, 2, 3], "probabilities": [0.2, 0.3, 0.5]}
    >>> pair = scores([judged, {"kind": "Beta", "average": 0.5, "concentration": 2}], {"kind": "Clayton", "theta": 2})
    >>> pair.scores().round(6).tolist()
    [2.3, 0.5]
    """
    if not isinstance(margins, Sequence) or not margins:
        raise InputError("margins", "must be tables, one of each system", margins)
    if n_systems is not None and len(margins) > 1:
        raise InputError("n_systems", "must be left out where each system has a margin of its own", n_systems)
    described = dict(clusters or {})
    if "effects" in described:
        described["effects"] = _made("clusters.effects", described["effects"], DEPENDENCES)
    return ScoreModel(
        [_made("margins", margin, MARGINS) for margin in margins] * (n_systems or 1),
        _made("dependence", dependence, DEPENDENCES),
        _made("clusters", {"kind": "ItemClusters", **described}, {"ItemClusters": ItemClusters}) if described else None,
        metric=metric,
    )


def _made(argument: str, table: object, kinds: Mapping[str, Callable[..., Any]]) -> Any:
    """What a table with ``kind`` and parameters describes; ValueError where it describes nothing."""
    if not isinstance(table, Mapping) or "kind" not in table:
        raise InputError(argument, "must be a table with kind and parameters", table)
    check_choice(f"{argument}.kind", table["kind"], kinds)
    parameters = {name: value for name, value in table.items() if name != "kind"}
    if "of" in parameters:
        parameters["of"] = _made(f"{argument}.of", parameters["of"], kinds)
    return _called(argument, table["kind"], kinds[table["kind"]], parameters)


def _called(argument: str, name: str, function: Callable[..., Any], parameters: Mapping[str, Any]) -> Any:
    """What a function or class makes of parameters; a ValueError names those that it has."""
    allowed = signature(function).parameters
    if unallowed := [key for key in parameters if key not in allowed]:
        raise InputError(argument, f"must have parameters of {name}, {', '.join(allowed)}", unallowed[0])
    try:
        return function(**parameters)
    except TypeError as error:
        raise InputError(argument, f"must have the parameters of {name}, {', '.join(allowed)}: {error}") from None


#: Models whose true scores are known, by name: what draws test sets for them.
MODELS: dict[str, Callable[..., KnownTruth]] = {
    "Responses": Responses,
    "RightOrWrong": right_or_wrong,
    "Scores": scores,
}


def parameters_of(model: str) -> list[str]:
    """The names of what a model of `MODELS` may be given."""
    check_choice("model", model, MODELS)
    return [*signature(MODELS[model]).parameters, "gain", "null"]


def named_model(model: str, parameters: Mapping[str, Any]) -> KnownTruth:
    """The model of this name in `MODELS`, with its parameters.

    Beside these, `gain` and `null` may say which true gain the first of two systems is given, and how
    (`KnownTruth.with_gain`); without a gain the systems are as their parameters make them.

    Examples
    --------
    >>> named_model("RightOrWrong", {"accuracies": [0.9, 0.8], "between": 0.5}).true_gain
    10.0
    >>> round(named_model("Responses", {"recall": [0.7, 0.7], "precision": [0.8, 0.8], "gain": 2}).true_gain, 9)
    2.0
    """
    check_choice("model", model, MODELS)
    rest = {name: value for name, value in parameters.items() if name not in ("gain", "null")}
    made: KnownTruth = _called("model", model, MODELS[model], rest)
    gain = parameters.get("gain")
    return made if gain is None else made.with_gain(gain, null=parameters.get("null", "equal margins"))
