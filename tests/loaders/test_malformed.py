"""A file that is not as its format has it is refused in one line, which names file and line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from simstudy.loaders.door import load
from simstudy.loaders.items import HINT
from simstudy.loaders.tables import MISSING_HINT

TREES = "( (S (NP (DT the) (NN cat)) (VP (VBD sat)) (. .)) )\n( (S (NP-SBJ (-NONE- *))\n     (VP (VB go))) )\n"
COLUMNS = "# a comment: words\n#\tNN\tO\nEU\tNNP\tB-group\nrejects\tVBZ\tO\n\nPeter\tNNP\tB-person\n\n"
CONLLU = """\
# newdoc id = d1
# sent_id = d1-1
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tdo\tdo\tAUX\t_\t_\t0\troot\t_\t_
2\tn't\tnot\tPART\t_\t_\t1\tadvmod:neg\t_\t_

# sent_id = d1-2
1\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_
1.1\tthere\tthere\tADV\t_\t_\t_\t_\t_\t_
2\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_

"""
RUN = "1 Q0 a 1 3.0 t\n1 Q0 b 2 2.0 t\n"
HEAD = "system,item,score\na,01,1\n"
F1 = "item,gold,a:correct,a:guessed,b:correct,b:guessed\nx,2,1,2,1,1\ny,1,1,1,,\n"
SAMPLE = '{"doc_id": 0, "metrics": ["em"], "em": 1}'
LOG = '{"status": "success", "eval": {"task": "t", "model": "m"}, "samples": '

#: Format -> metric, gold text, name of the file.
FORMATS: dict[str, tuple[str, str | None, str]] = {
    "trees": ("parseval", TREES, "bad.mrg"),
    "conll": ("span_f1", COLUMNS, "bad.conll"),
    "conllu": ("uas", CONLLU, "bad.conllu"),
    "alignments": ("aer", "0-0 1p1 2-1\n0-0\n\n1-0 0?1\n", "bad.wa"),
    "trec": ("ap", "1 0 a 1\n1 0 b 0\n", "bad.run"),
    "scores": ("mean", None, "bad.csv"),
    "lm-eval": ("accuracy", None, "samples_t_2025-01-31T10-00-00.jsonl"),
    "inspect": ("accuracy", None, "bad.json"),
}

NO_LINK = "is neither links like 3-4 nor the numbers of a sentence, a source word and a target word, from 1 on"
NO_LOG = ": not an Inspect eval log: it has no status, or no task and model"
NO_SPAN = "tags of spans must be O, B-label or I-label"
NO_LIST = ": not as Inspect writes it (samples are no list)"
JUST_NAMES = "Name it with columns={'score': 'NAME'}."

#: Of the texts, what is said after the name of the file; {gold} is the file of gold answers.
CASES: dict[str, list[tuple[str, str]]] = {
    "trees": [
        (TREES.replace("(VB go)))", "(VB go))"), ", line 2: the bracket opened here does not close"),
        (TREES.replace("(VB go)))", "(VB go))))"), ", line 3: this closing bracket has no opening one"),
        (TREES.replace("(VB go)", "go (VB x)"), ", line 3: 'go' must stand alone with its tag in brackets: (tag word)"),
        (TREES.replace("(VB go)", "(VB)"), ", line 3: bracket 'VB' holds nothing: neither a word nor brackets"),
        ("(S\n (NN a b))", ", line 2: 'a' must stand alone with its tag in brackets: (tag word)"),
        (TREES + "(NP (NN end))", " has 3 trees, {gold} 2"),
        (
            TREES.replace("go", "stay"),
            ", line 2: trees must be of the same words; the first that differs is 'stay', in the gold tree 'go' "
            "({gold}, line 2)",
        ),
    ],
    "conll": [
        (COLUMNS.replace("B-group", "B-"), f", line 3: {NO_SPAN}, not 'B-'"),
        (COLUMNS.replace("rejects\tVBZ\tO\n", ""), ", line 2: sentence 1 has 2 tokens, not 3 as in {gold}, line 2"),
        (COLUMNS + "more\tNN\tO\n", " has 3 sentences, {gold} 2"),
        (COLUMNS.replace("EU", "# in a sentence\nEU"), ", line 3: 1 column, where the file's first sentence has 3"),
        (COLUMNS.replace("\tVBZ", ""), ", line 4: 2 columns, where the file's first sentence has 3"),
        ("the\ncat\n", " has 1 column, where a token and its tag need 2"),
    ],
    "conllu": [
        ("\n# a\n", ", line 2: a sentence has no sent_id"),
        (CONLLU + "# sent_id = d1-3\n", ", line 12: a sentence has no words"),
        (CONLLU.replace("1\tgo\tgo", "1 go go"), ", line 8: 8 columns between tabs, where CoNLL-U has 10"),
        (CONLLU.replace("2\t.", "3\t."), ", line 10: '3' is not the id of word 2"),
        (
            CONLLU.replace("1\tpunct", "one\tpunct"),
            ", sentence at line 7: Failed parsing field 'head': 'one' is not a valid value for parse_int_value.",
        ),
        (CONLLU.replace("d1-2", "d1-1"), ", line 7: sentence 'd1-1' is there already, at line 1"),
        (CONLLU.replace("1\tpunct", "3\tpunct"), ", line 10: head '3' is outside the sentence of 2 words"),
        (CONLLU.replace("1\tpunct", "-1\tpunct"), ", line 10: head '-1' is outside the sentence of 2 words"),
        (CONLLU.replace("1\tpunct", "_\tpunct"), ", line 7: sentence 'd1-2' has a word without a head"),
        (
            CONLLU.replace("\tgo\t", "\tstay\t", 1),
            ", line 7: the words of sentence 'd1-2' are not those of {gold}, line 7",
        ),
    ],
    "alignments": [
        ("0-0\n0-0 1:1\n\n\n", ", line 2: '1:1' is not a link; links are like 3-4, possible ones like 3p4"),
        ("1 1 1\n\n1 1\n", f", line 3: '1 1' {NO_LINK}"),
        ("0 1 1\n", f", line 1: '0 1 1' {NO_LINK}"),
        ("0-٣\n\n\n\n", f", line 1: '0-٣' {NO_LINK}"),
        ("0-0\n" * 5, " has 5 lines, {gold} 4"),
        ("5 1 1\n", " has sentence 5, which {gold} lacks"),
    ],
    "trec": [
        ("1 Q0 a 1 3.0\n", ", line 1: 5 columns, not 6 (topic Q0 docno rank score tag)"),
        (RUN + "\n1 Q0 x 4 high t\n", ", line 4: the score must be a number, not 'high'"),
        (RUN + "1 Q0 a 4 0.5 t\n", ", line 3: document 'a' is twice in topic '1'"),
    ],
    "scores": [
        (HEAD + "a,02,x\n", ", line 3: a score must be a number, not 'x'"),
        (HEAD + "a,02,inf\n", ", line 3: a score must be a number, not inf"),
        (HEAD + "a,02,\n", f", line 3: no score; {MISSING_HINT}"),
        (
            HEAD + "b,02,1\na,01,0\n",
            f", line 4: item '01' of system 'a' again, first in {{bad}}, line 2; {HINT}. If the row is there twice by "
            "mistake, take one out",
        ),
        (HEAD + 'a,"0\n2",1\n', r", line 3: the item must be of one line, not '0\n2'"),
        (HEAD + "a,,1\n", ", line 3: no item"),
        (HEAD + "a,02\n", ", line 3: 2 cells, but the header has 3"),
        (
            "system;item;score\na;1;0,5\n",
            " is separated by semicolons: save it with commas (or with tabs, as .tsv), and with decimal points",
        ),
        (HEAD + 'a,02,"-0,5"\n', ", line 3: a score must be a number, not '-0,5' (write numbers with a decimal point)"),
        (HEAD + "a,02,Yes\n", ", line 3: a score must be a number, not 'Yes' (write 1 for right and 0 for wrong)"),
        (
            "item,a\nx,wrong\n",
            ", line 2: a score of system 'a' must be a number, not 'wrong' (write 1 for right and 0 for wrong)",
        ),
        (
            "system,itm,score\na,1,1\n",
            ": no column 'item' (columns: system, itm, score). Did you mean 'itm'? Name it with "
            "columns={'item': 'NAME'}. If the rows have no ids, use columns={'item': 'row'}.",
        ),
        (
            "system,item,scor\na,1,1\n",
            f": no column 'score' (columns: system, item, scor). Did you mean 'scor'? {JUST_NAMES}",
        ),
        (
            "item,a,note\nx,1,good\n",
            ", line 2: column 'note' is used as a system, but has 'good'; columns={'note': 'note'} makes it a column "
            "of the items",
        ),
    ],
    "lm-eval": [
        (SAMPLE + "\n" + SAMPLE[:20], ", line 2: not JSON (is the file cut?): Unterminated string starting at"),
        (SAMPLE + "\n[1]\n", ", line 2: not a sample of lm-evaluation-harness: it has no doc_id"),
        (
            SAMPLE + "\n" + SAMPLE,
            ", line 2: doc_id 0 again, first in line 1; samples of a document go into a table of scores, with a column "
            "'sample'",
        ),
        (SAMPLE.replace("1}", '["A"]}'), """, line 1: 'em' is no score of this one sample, but ["A"]"""),
        (SAMPLE.replace("1}", "NaN}"), ", line 1: no score, 'em' is NaN"),
        (SAMPLE.replace("1}", f"{10**400}}}"), f", line 1: 'em' is no score of this one sample, but 1{'0' * 59}"),
        (SAMPLE.replace('["em"]', '"em"'), """, line 1: 'metrics' must be a list of names, not "em\""""),
        (SAMPLE + "\n" + "[" * 10**5, ", line 2: nested too deeply"),
        (SAMPLE.replace("1}", "1" * 5000 + "}"), ", line 1: a number of more than 4300 digits"),
        (SAMPLE + '\n{"doc_id": 1, "doc_id": 2}', ", line 2: an object of JSON has the key 'doc_id' twice"),
        (SAMPLE + '\n{"doc_id": 1, "metrics": []}', ", line 2: no metric 'em' in this sample"),
        ('{"doc_id": 1, "metrics": []}', ": samples have no metric"),
        (
            SAMPLE.replace("1}", "1.5}"),
            ", line 1: a score must be between 0 and 1 for metric 'accuracy', not 1.5; divide percentages by 100, "
            "or take metric='mean'",
        ),
    ],
    "inspect": [
        (
            '{\n"status": "success",\n"eval": {"task": "t"',
            ", line 3: not JSON (is the file cut?): Expecting ',' delimiter",
        ),
        ('{"a": 1}', NO_LOG),
        (LOG + '"abc"}', NO_LIST),
        (LOG + "[]}", ": the log has no samples"),
        (
            LOG.replace("success", "cancelled") + "[]}",
            ": the log's status is 'cancelled', not 'success': the evaluation is not complete",
        ),
        (LOG + '"[[\\"[",\n"more": ' + "[" * 10**5, ", line 2: nested too deeply"),
        (LOG + '[\n"' + "1" * 5000 + '",\n' + "1" * 5000 + "]}", ", line 3: a number of more than 4300 digits"),
    ],
}


def refused(folder: Path, format: str, text: str, told: str, metric: str | None = None, **options: Any) -> None:
    own, gold, name = FORMATS[format]
    path = folder / name
    path.write_text(text)
    if gold is not None:
        (folder / "gold").write_text(gold)
        options = {"references": folder / "gold"} | options
    told = told.replace("{gold}", str(folder / "gold")).replace("{bad}", str(path))
    with pytest.raises(ValueError, match=f"^{re.escape(str(path) + told)}$"):
        load(path, metric or own, format=format, **options)


@pytest.mark.parametrize("format", CASES)
def test_what_is_wrong_in_a_file_is_told_with_file_and_line(format: str, tmp_path: Path) -> None:
    for text, told in CASES[format]:
        refused(tmp_path, format, text, told)


@pytest.mark.parametrize(
    ("text", "metric", "told"),
    [
        (
            HEAD + "a,02,50\n",
            "accuracy",
            ", line 3: a score must be between 0 and 1 for metric 'accuracy', not 50; divide percentages by 100, or "
            "take metric='mean'",
        ),
        (HEAD + "a,02,-0.5\n", "ap", ", line 3: a score must be between 0 and 1 for metric 'ap', not -0.5"),
        (
            "item,a\nx,2\n",
            "accuracy",
            ", line 2, system 'a': a score must be between 0 and 1 for metric 'accuracy', not 2; divide percentages by "
            "100, or take metric='mean'",
        ),
        (
            HEAD,
            "f1",
            ": no column 'correct' (columns: system, item, score). Did you mean 'score'? Metric 'f1' needs "
            "<system>:correct, <system>:guessed, <system>:gold.",
        ),
        ("item,system,right\nx,a,1\n", "accuracy", f": no column 'score' (columns: item, system, right). {JUST_NAMES}"),
        (
            F1 + "z,1,3,2,1,1\n",
            "f1",
            ", line 4, system 'a': correct = 3, guessed = 2, gold = 1; metric 'f1' needs 0 <= correct <= guessed and "
            "correct <= gold",
        ),
        (F1 + "z,1,1,2,,1\n", "f1", ", line 4: 'b:correct' must be a number, not ''"),
        (
            "item,gold,a:correct,a:guessed,b:correct\nx,1,1,1,1\n",
            "f1",
            ": no column 'b:guessed' (columns: item, gold, a:correct, a:guessed, b:correct). Did you mean 'a:guessed'?",
        ),
    ],
)
def test_scores_and_counts_that_a_metric_does_not_take(text: str, metric: str, told: str, tmp_path: Path) -> None:
    refused(tmp_path, "scores", text, told, metric, missing="drop")


SCORES = {"match": {"value": "C"}}


@pytest.mark.parametrize(
    ("sample", "problem"),
    [
        ("C", "'str' object has no attribute 'get'"),
        ({"epoch": 1, "scores": SCORES}, "no 'id'"),
        ({"id": 1, "scores": {"match": {"answer": "x"}}}, "no 'value'"),
        ({"id": 1, "output": {"choices": {"a": 1}}, "scores": SCORES}, "no 0"),
        (
            {"id": 1, "epoch": [1], "scores": SCORES},
            "int() argument must be a string, a bytes-like object or a real number, not 'list'",
        ),
    ],
)
def test_samples_of_another_shape_are_told_by_number(sample: object, problem: str, tmp_path: Path) -> None:
    text = LOG + json.dumps([{"id": 0, "scores": SCORES}, sample]) + "}"
    refused(tmp_path, "inspect", text, f", sample 2: not as Inspect writes it ({problem})")


@pytest.mark.parametrize(
    ("format", "gold", "told"),
    [
        ("trec", "1 0 a 1\n1 0 b 1_0\n", ", line 2: relevance must be a whole number, not '1_0'"),
        ("trec", "1 0 a\n", ", line 1: 3 columns, not 4 (topic iteration docno relevance)"),
        ("trec", "1 0 a 1\n1 0 a 0\n", ", line 2: document 'a' is twice in topic '1'"),
        ("trec", "1 0 a 0\n", ": no topic has a relevant document"),
        ("trees", TREES + "(())\n", ", line 4: a gold tree without words"),
    ],
)
def test_gold_files_are_told_too(format: str, gold: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "run").write_text(RUN)
    (tmp_path / "gold").write_text(gold)
    with pytest.raises(ValueError, match=f"^{re.escape(str(tmp_path / 'gold') + told)}$"):
        load(tmp_path / "run", FORMATS[format][0], references=tmp_path / "gold", format=format)


@pytest.mark.parametrize("missing", ["drop", "zero"])
@pytest.mark.parametrize("text", ["system,item,score\na,x,\na,y,NA\n", "item,a,b\nx,,\ny,,NA\n"])
def test_a_table_without_a_score_is_told(tmp_path: Path, text: str, missing: str) -> None:
    path = tmp_path / "s.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: no system has a score: all cells are empty$"):
        load(path, "mean", missing=missing)
