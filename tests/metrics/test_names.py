"""Other names of metrics, and what is meant by names of none."""

from __future__ import annotations

import re

import pytest

from simstudy.metrics import METRICS, find_metric, get_metric
from simstudy.metrics.names import ALIASES


def test_other_names_are_the_metrics_own() -> None:
    for name in ("acc", "em", "exact_match", "pass@1"):
        assert get_metric(name) is METRICS["accuracy"]
    for other, own in ALIASES.items():
        assert find_metric(other) is None
        assert get_metric(other).name == own


@pytest.mark.parametrize(
    ("typed", "hint"),
    {
        "f-score": "(did you mean 'f1' or 'macro_f1'?)",
        "macro f1": "(did you mean 'macro_f1'?)",
        "Macro-F1": "(did you mean 'macro_f1'?)",
        "rouge": "(did you mean 'rouge1', 'rouge2' or 'rougeL'?)",
        "map": "(did you mean 'ap'?)",
        "mrr": "(did you mean 'rr'?)",
        "AUROC": "(did you mean 'auc'?)",
        "comet": "(segment scores of COMET: metric='mean')",
        "kappa": "(did you mean 'mcc'? ss.metric(…, resample=True) accepts a function of the items' arrays)",
        "perplexity": "(did you mean 'mean'? The mean of the items' log losses, with lower_is_better=True, ranks as",
        "word error rate": "(did you mean 'wer'?)",
        "acuracy": "(did you mean 'accuracy'?)",
        "eval_loss": "; errors that files have as numbers are 'mean' with lower_is_better=True",
    }.items(),
)
def test_what_is_meant(typed: str, hint: str) -> None:
    with pytest.raises(ValueError, match=f"not '{typed}' ?{re.escape(hint)}"):
        get_metric(typed)
