"""Other names of metrics: those that are taken, and what is meant by those that are not."""

from __future__ import annotations

import re
from collections.abc import Iterable

from simstudy.notes import Argument, Words

#: How messages say that lower scores are better.
LOWER = Argument("lower_is_better", True)

#: Other name -> the metric's own, which is what tables and pages call it.
ALIASES = {
    "acc": "accuracy", "em": "accuracy", "exact_match": "accuracy", "pass@1": "accuracy",
    "balanced_acc": "balanced_accuracy", "f1_macro": "macro_f1", "matthews_corrcoef": "mcc", "roc_auc": "auc",
    "map": "ap", "mrr": "rr", "recip_rank": "rr", "rprec": "rprecision",
}  # fmt: skip

_OWN = "ss.metric(…, resample=True) accepts a function of the items' arrays"

_LOSSES = Words("The mean of the items' log losses, with {lower}, ranks as perplexity does", lower=LOWER)

# Measures of rankings at a cutoff as trec_eval (ndcg_cut_10) and ir_measures (nDCG@10) write them.
_CUTOFF = re.compile(r"(p|prec|ndcg|ndcg_cut|map|map_cut|mrr|r|recall|success|hit|hits)[@_]([1-9][0-9]*)(:.+)?", re.I)
_AT_CUTOFF = {"p": "precision", "prec": "precision", "ndcg_cut": "ndcg", "map": "ap", "map_cut": "ap", "mrr": "rr",
              "r": "recall", "hit": "success", "hits": "success"}  # fmt: skip

# What people type, in lower case without "-", "_" and blanks -> the names that may be meant, and more to say.
_MEANT: dict[str, tuple[str, ...]] = {
    "fscore": ("f1", "macro_f1"), "fmeasure": ("f1", "macro_f1"), "f": ("f1", "macro_f1"),
    "microf1": ("accuracy", "For one label an item the two are equal; f1 is of correct, guessed and gold counts"),
    "weightedf1": ("macro_f1", _OWN), "macroprecision": ("macro_f1", _OWN), "macrorecall": ("balanced_accuracy",),
    "uar": ("balanced_accuracy",), "bacc": ("balanced_accuracy",), "matthews": ("mcc",), "phi": ("mcc",),
    "kappa": ("mcc", _OWN), "cohenkappa": ("mcc", _OWN), "cohenskappa": ("mcc", _OWN),
    "rouge": ("rouge1", "rouge2", "rougeL"), "sacrebleu": ("bleu",),
    "meanaverageprecision": ("ap",), "averageprecision": ("ap",), "meanreciprocalrank": ("rr",),
    "p": ("precision", "precision@10"), "precisionatk": ("precision@10",), "recallatk": ("recall@10",),
    "hits": ("success@10",), "hit": ("success@10",),
    "aucroc": ("auc",), "rocauc": ("auc",), "auroc": ("auc",), "aucpr": ("ap", _OWN), "auprc": ("ap", _OWN),
    "correlation": ("pearson", "spearman"), "rho": ("spearman",), "kendall": ("spearman", _OWN),
    "tau": ("spearman", _OWN),
    "worderrorrate": ("wer",), "charactererrorrate": ("cer",), "translationeditrate": ("ter",),
    "ppl": ("mean", _LOSSES),
    "perplexity": ("mean", _LOSSES),
    "elo": ("bradley_terry",), "winrate": ("win_rate",), "preference": ("win_rate",),
    "iou": ("mean", "Give its score of each item"), "ner": ("span_f1",), "entityf1": ("span_f1",),
    "seqeval": ("span_f1",), "chunkf1": ("span_f1",), "evalb": ("parseval",), "bracketf1": ("parseval",),
}  # fmt: skip


# Metrics of texts that other programs compute: their scores of segments are read.
_OF_SEGMENTS = {
    "comet": "COMET", "xcomet": "XCOMET", "cometkiwi": "CometKiwi", "bertscore": "BERTScore", "bleurt": "BLEURT",
    "mqm": "MQM", "meteor": "METEOR", "metricx": "MetricX",
}  # fmt: skip


def canonical(name: str) -> str:
    """The metric's own name where this is another one of it."""
    if at := _CUTOFF.fullmatch(name):
        kind = at[1].lower()
        return f"{_AT_CUTOFF.get(kind, kind)}@{at[2]}{at[3] or ''}"
    return ALIASES.get(name, name)


def in_own_case(name: str, known: Iterable[str]) -> str:
    """The only known name, or metric of another name, that differs in case alone; else the name as it is."""
    found = {canonical(own) for own in (*known, *ALIASES) if own.lower() == name.lower()}
    if found:
        return found.pop() if len(found) == 1 else name
    # Those with a number are in no list.
    return name.lower() if "@" in name or "^" in name else name


def meant(name: str, known: Iterable[str]) -> str:
    """A hint at the metric that an unknown name means; empty where nobody knows."""
    names = [*known]
    for plain in (_plain(name), _plain(name).removesuffix("score")):
        if plain in _OF_SEGMENTS:
            errors = ", with {lower} if they count errors" if plain in ("mqm", "metricx") else ""
            hint = f" (segment scores of {_OF_SEGMENTS[plain]}: {{mean}}{errors})"
            return Words(hint, mean=Argument("metric", "mean"), lower=LOWER)
        for own in (*names, *ALIASES):
            if _plain(own) == plain:
                return f" (did you mean '{canonical(own)}'?)"
        if plain in _MEANT:
            return _told(_MEANT[plain], names)
    return ""


def _told(found: tuple[str, ...], names: list[str]) -> str:
    listed = [f"'{one}'" for one in found if one in names]
    more = [one for one in found if one not in names]
    which = f"{', '.join(listed[:-1])} or {listed[-1]}" if len(listed) > 1 else listed[0]
    return Words(
        " (did you mean {which}?{blank}{more})", which=which, blank=" " * len(more), more=more[0] if more else ""
    )


def _plain(name: str) -> str:
    return re.sub(r"[\s_'’.-]", "", name.lower())
