"""Systems of known truth, and resampled ones: from training sets, test sets and models."""

from simstudy.generators.growing_gains import GrowingGains
from simstudy.generators.pair_base import PairModel
from simstudy.generators.pair_models import Acceptances, Clusters, Responses, RightOrWrong, SkewedMeans
from simstudy.generators.scores.described import Scores
from simstudy.generators.translations import Translations

#: Models of two systems whose true scores are known, by name: what draws test sets for them.
PAIR_MODELS: dict[str, type[PairModel]] = {
    model.__name__: model
    for model in (Acceptances, Clusters, GrowingGains, Responses, RightOrWrong, Scores, SkewedMeans, Translations)
}
