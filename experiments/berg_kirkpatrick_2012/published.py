"""What the paper prints: thresholds (sections 3.1.1, 3.2 and 4.1) and calibration (section 4.2 and Table 1)."""

from __future__ import annotations

import pandas as pd

#: Gains from which on a difference is usually significant, one-sided, by sentence: a row for each.
THRESHOLDS = pd.DataFrame(
    [
        ("dependency parsing", "UAS, CoNLL 2007 Chinese", 690, "same family", 1.20),
        ("dependency parsing", "UAS, CoNLL 2007 Chinese", 690, "different families", 1.51),
        ("machine translation", "BLEU, WMT 2010 de-en", 2034, "same family", 0.28),
        ("machine translation", "BLEU, WMT 2010 de-en", 2034, "different families", 0.37),
        ("word alignment", "AER, Hansards", 100, "same family", 0.50),
        ("word alignment", "AER, Hansards", 100, "different families", 1.12),
        # The paper does not say how many sentences section 23 has; it is known to have 2,416.
        ("constituency parsing", "F1, WSJ section 23", 2416, "same family", 0.47),
        ("constituency parsing", "F1, WSJ section 23", 2416, "different families", 0.57),
        ("constituency parsing", "F1, Brown corpus", 24000, "all pairs", 0.22),
        ("constituency parsing", "F1, Brown corpus", 100, "all pairs", 3.00),
    ],
    columns=["task", "theirs", "n_theirs", "relation", "published"],
)

#: Section 3.1.1: test set of a natural comparison here -> the threshold of the like in the paper, from how many pairs.
NATURAL = {"REALSumm": (1.10, 47)}

#: Table 1: p on section 23 of the WSJ corpus -> percent of pairs whose winner also wins there.
TABLE_1 = pd.DataFrame(
    [
        (0.00125, 0.0025, 97, 95, 73),
        (0.0025, 0.005, 92, 92, 60),
        (0.005, 0.01, 92, 85, 56),
        (0.01, 0.02, 88, 92, 54),
        (0.02, 0.04, 87, 78, 51),
        (0.04, 0.08, 83, 74, 48),
    ],
    columns=["p_from", "p_to", "WSJ section 22", "WSJ section 24", "Brown corpus"],
)

#: Section 4.2: of test sets of 1,600 sentences redrawn from the Brown corpus, 869 of 942 pairs with p near 0.05.
SAME_DISTRIBUTION = 869 / 942
