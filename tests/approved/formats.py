"""Outputs that are read from files: the examples of docs/formats.md, and real files of every format that is at hand."""

from __future__ import annotations

import shlex
from contextlib import chdir
from dataclasses import dataclass
from tempfile import TemporaryDirectory

import simstudy as ss
from simstudy.outputs import Outputs
from tests.approved.commands import answer
from tests.approved.record import DOORS, SHARED, Values, recording
from tests.documentation import FORMAT_EXAMPLES, write_files

DATA = SHARED / "data"


@recording(DOORS, quick=False)
def documented_formats() -> Values:
    """Each example file of docs/formats.md, by the command that reads it."""
    values: Values = {}
    for files, command, _ in FORMAT_EXAMPLES:
        with TemporaryDirectory() as folder, chdir(folder):
            write_files(files)
            values[command] = answer(shlex.split(command))
    return values


@dataclass(frozen=True)
class RealFiles:
    """Arguments of `simstudy.load` by path in the folder of real data."""

    metric: str
    paths: tuple[str, ...]
    references: tuple[str, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()
    items: str | None = None
    systems: str | None = None
    missing: str = "error"
    format: str | None = None

    def outputs(self) -> Outputs:
        return ss.load(
            [DATA / path for path in self.paths],
            self.metric,
            references=[DATA / path for path in self.references],
            columns=dict(self.columns) or None,
            items=DATA / self.items if self.items else None,
            systems=DATA / self.systems if self.systems else None,
            missing=self.missing,
            format=self.format,
        ).outputs


def _in(folder: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}" for name in names)


WNUT = _in("ner_wnut17/submissions", "arcada", "uh_ritual", "flytxt")
SUMMARIES = _in("summeval/sys", "M0.txt", "M17.txt")
ISSUES = (("item", "instance_id"), ("score", "resolved"), ("domain", "repo"))
FILES = {
    "texts, two references": RealFiles(
        "bleu", _in("wmt21_de-en/sys", "ICL.en", "VolcTrans-AT.en"), _in("wmt21_de-en", "ref.A.en", "ref.B.en")
    ),
    "texts, documents": RealFiles(
        "chrf", _in("wmt24_en-de/sys", "Aya23.de", "CUNI-NL.de"), ("wmt24_en-de/ref.A.de",), (("cluster", "doc"),),
        items="wmt24_en-de/meta.tsv",
    ),
    "texts, error rates": RealFiles(
        "wer", _in("wmt24_en-de/sys", "Aya23.de", "CUNI-NL.de"), ("wmt24_en-de/ref.A.de",)
    ),
    "texts, table of references": RealFiles(
        "rougeL", _in("e2e_nlg/sys", "tgen.txt", "slug.txt"), ("e2e_nlg/refs.tsv",),
        (("item", "mr_index"), ("reference", "ref")),
    ),
    "texts, eleven references": RealFiles("rouge1", SUMMARIES, _in("summeval", *(f"ref.{k}.txt" for k in range(11)))),
    "spans": RealFiles(
        "span_f1", WNUT, ("ner_wnut17/emerging.test.annotated",), (("domain", "source"),),
        items="ner_wnut17/emerging.test.sources.tsv", format="conll",
    ),
    "tags of tokens": RealFiles("accuracy", WNUT, ("ner_wnut17/emerging.test.annotated",), format="conll"),
    "alignments": RealFiles(
        "aer", _in("align_enfr/sys", "giza.union.wa", "fastalign.union.wa", "awesome-align.wa"), ("align_enfr/gold.wa",)
    ),
    "answers": RealFiles("accuracy", ("swebench/swebench_lite.csv.gz",), columns=ISSUES),
    "answers, families": RealFiles(
        "accuracy", ("mmlu_pro/mmlu_pro.csv.gz",), columns=(("item", "question_id"), ("score", "correct")),
        systems="mmlu_pro/systems.csv", missing="drop",
    ),
    "preferences": RealFiles(
        "win_rate", ("alpaca_eval/alpaca_eval1_gpt4.csv.gz",), columns=(("score", "preference"), ("domain", "dataset")),
        missing="drop",
    ),
    "wide table": RealFiles("accuracy", ("imagenet_cifar/cifar10_wide.csv.gz",), columns=(("class", "class"),)),
    "samples": RealFiles("accuracy", ("eval_arena/main/CRUXEval-input-T0.2.csv.gz",), missing="drop"),
    "counts": RealFiles(
        "las", ("conll2018_ud/en_pud.csv.gz",), missing="drop",
        columns=(("item", "sent"), ("correct", "las"), ("guessed", "n"), ("gold", "n_gold")),
    ),
}  # fmt: skip


@recording(DOORS, quick=False, shared=True)
def real_files() -> Values:
    """Systems, scores, sums of statistics, clusters and domains of files in the folder of real data."""
    values: Values = {}
    for name, files in FILES.items():
        outputs = files.outputs()
        counted = {column: outputs.items[column].nunique() for column in outputs.items if column != "id"}
        values[name] = {
            "shape": outputs.statistics.shape,
            "systems": list(outputs.names[:8]),
            "scores": outputs.scores()[:8],
            "sums": outputs.statistics.sum(axis=1)[:3],
            "unit": outputs.natural_unit,
            "groups of items": counted,
            "first items": outputs.items["id"].head(3),
            "labels of systems": {column: outputs.systems[column].nunique() for column in outputs.systems},
        }
    return values
