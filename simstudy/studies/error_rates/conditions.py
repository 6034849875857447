"""The conditions of the study of error rates: two systems of known scores, and which tests' assumptions they break."""

from __future__ import annotations

from dataclasses import dataclass

from simstudy.engines.registry import TESTS
from simstudy.generators.pair_models import Acceptances, Clusters, PairModel, Responses, RightOrWrong, SkewedMeans
from simstudy.generators.translations import Translations

# A true gain is 0 where it is below this on the metric's scale; what has been solved for is known to some 10^-13.
_NO_GAIN = 1e-9

#: What a condition may break, as the column ``breaks`` says it.
NULL, DEPENDENT_UNITS, DEPENDENT_SYSTEMS = "null hypothesis", "independent units", "independent systems"

# Their null hypotheses ask for more than equal scores: that results could be exchanged, or what follows from it.
_OF_EXCHANGEABLE = ("randomization", "sign", "wilcoxon")


@dataclass(frozen=True)
class Condition:
    """Two systems of known scores.

    Attributes
    ----------
    title
        For a figure.
    systems
        What they are, and what they have in common.
    model
        What draws them.
    exchangeable
        Whether the two systems' results on a unit could be exchanged.
    independent
        Whether the two systems' results are independent of each other.
    """

    name: str
    title: str
    systems: str
    model: PairModel
    exchangeable: bool = True
    independent: bool = False

    @property
    def null(self) -> bool:
        """Whether the two systems' true scores are equal."""
        return abs(self.model.true_gain) < _NO_GAIN

    def breaks(self, test: str, unit: str) -> str:
        """What a test of such units takes to be so and is not; empty where all holds that it says of itself.

        Examples
        --------
        >>> CONDITIONS["f1_opposite"].breaks("randomization", "item")
        'null hypothesis'
        >>> CONDITIONS["f1_opposite"].breaks("sign_flips", "item")
        ''
        """
        if unit != self.model.units[0]:
            return DEPENDENT_UNITS
        if test in _OF_EXCHANGEABLE and not self.exchangeable:
            return NULL
        if assumes_independence(test) and not self.independent:
            return DEPENDENT_SYSTEMS
        return ""


def assumes_independence(test: str) -> bool:
    """Whether a test takes the two systems' results to be independent of each other.

    Examples
    --------
    >>> assumes_independence("z_independent"), assumes_independence("z_paired")
    (True, False)
    """
    return "independent of each other" in TESTS[test].assumes


_ITEMS = "share the items' difficulty (latent correlation 0.5)"
_CLUSTERS = "share the items' difficulty (latent correlation 0.5); clusters suit a system or not (0.3)"
_DOCUMENTS = "share what is to be found in a document (Poisson, 3 on average), and how hard it is"
_CANDIDATES = "accept candidates independently of each other and of whether they are true; 60 % are"
_SENTENCES = "share the references and how hard a sentence is"

#: Name -> condition.
CONDITIONS = {
    condition.name: condition
    for condition in (
        Condition(
            "accuracy",
            "right or wrong",
            f"both accuracy 0.8; they {_ITEMS}; exchangeable",
            RightOrWrong((0.8, 0.8), between=0.5),
        ),
        Condition(
            "skewed_means",
            "equal means, one skewed",
            "item scores with mean 1, exponential against normal with standard deviation 0.3; nothing in common",
            SkewedMeans(0.3),
            exchangeable=False,
            independent=True,
        ),
        Condition(
            "clusters",
            "clusters of 5",
            f"both accuracy 0.8 on clusters of 5 items; they {_CLUSTERS}; clusters are exchangeable",
            Clusters((0.8, 0.8), within=0.3, between=0.5, size=5),
        ),
        Condition(
            "clusters_varying",
            "clusters of any size",
            f"both accuracy 0.8 on clusters of 5 items on average (geometric); they {_CLUSTERS}; clusters are "
            "exchangeable",
            Clusters((0.8, 0.8), within=0.3, between=0.5, size=5, varying=True),
        ),
        Condition(
            "f1",
            "F1, exchangeable",
            f"both recall 0.7, precision 0.75; they {_DOCUMENTS}; exchangeable",
            Responses(recall=(0.7, 0.7), precision=(0.75, 0.75)),
        ),
        Condition(
            "f1_opposite",
            "F1, opposite P and R",
            f"recall 0.6 and precision 0.9 against 0.9 and 0.6; they {_DOCUMENTS}",
            Responses(recall=(0.6, 0.9), precision=(0.9, 0.6)),
            exchangeable=False,
        ),
        Condition(
            "precision_unequal",
            "precision, 80 % vs 20 % accepted",
            f"80 % and 20 % accepted; they {_CANDIDATES}",
            Acceptances((0.8, 0.2), true=0.6),
            exchangeable=False,
        ),
        Condition(
            "precision_few",
            "precision, 30 % vs 8 % accepted",
            f"30 % and 8 % accepted; they {_CANDIDATES}",
            Acceptances((0.3, 0.08), true=0.6),
            exchangeable=False,
        ),
        Condition(
            "bleu",
            "BLEU, exchangeable",
            f"both 0.97 times as long as the references; they {_SENTENCES}; exchangeable",
            Translations(quality=(0.6, 0.6), length=(0.97, 0.97)),
        ),
        Condition(
            "bleu_short",
            "BLEU, short and precise",
            f"0.9 times as long and more precise against 1.05 times as long; they {_SENTENCES}",
            # The quality that makes the two scores equal, by root finding.
            Translations(quality=(0.9577213860656, 0.6), length=(0.9, 1.05)),
            exchangeable=False,
        ),
        Condition(
            "accuracy_gain",
            "accuracy, +3 points",
            f"accuracies 0.83 and 0.80; they {_ITEMS}",
            RightOrWrong((0.83, 0.8), between=0.5),
            exchangeable=False,
        ),
        Condition(
            "clusters_gain",
            "clusters of 5, +5 points",
            f"accuracies 0.85 and 0.80 on clusters of 5 items; they {_CLUSTERS}",
            Clusters((0.85, 0.8), within=0.3, between=0.5, size=5),
            exchangeable=False,
        ),
        Condition(
            "f1_gain",
            "F1, +3.6 points",
            f"recall 0.75 and precision 0.77 against 0.7 and 0.75; they {_DOCUMENTS}",
            Responses(recall=(0.75, 0.7), precision=(0.77, 0.75)),
            exchangeable=False,
        ),
        Condition(
            "bleu_gain",
            "BLEU, +1.5 points",
            f"a more and a less precise system, 1.02 and 0.97 times as long as the references; they {_SENTENCES}",
            Translations(quality=(0.65, 0.6), length=(1.02, 0.97)),
            exchangeable=False,
        ),
    )
}
