"""What is refused in tables of scores: where, and the remedy as the command words it."""

from __future__ import annotations

from pathlib import Path

import pytest

from simstudy.cli.wording import worded_error
from tests.readers.line_files import refused


class Option:
    """An option of the command, as far as `worded_error` looks at it."""

    def __init__(self, name: str) -> None:
        self.name, self.opts, self.secondary_opts = name, [f"--{name}"], ()


OPTIONS = [Option(name) for name in ("columns", "missing", "metric", "systems", "references")]
DROP = "; --missing drop leaves such items out, --missing zero scores a missing one as no answer"
DESCRIBES = "may describe the items, or be scores of a system; "
ROW = '{"id": "q1", "scores": {"bleu": 1, "rouge": 2}}\n{"id": "q2", "scores": {"bleu": 2, "rouge": 1}}\n'
SHAPES = (
    "a table in JSON is a list of records, records one below the other (JSON lines), one list of records under a key, "
    '{"columns": [...], "data": [[...]]}, or {"system": {"item": score}}'
)


def describes(name: str) -> str:
    aside = f"--columns {name}={name} makes it no system"
    return f": column '{name}' {DESCRIBES}{aside}; a table of systems (--systems) that names it makes it one"


def summary(key: str) -> str:
    row = f'[{{"item": "{key}", "score": 0.5}}, ...]'
    return f": '{key}' seems to be a summary or a metric, and no item; take it out, or write records: {row}"


SUMS_UP = "seems to sum up others and to be no item; take the row out, or give the item another name"


@pytest.mark.parametrize(
    ("name", "text", "metric", "columns", "told"),
    [
        # Columns that may be something else than systems.
        *(
            ("s.csv", f"item,{name},a\nx,1,0\ny,0,1\n", metric, {}, describes(name))
            for metric, names in {
                "accuracy": "is_multiple_choice n_steps word_count mean overall std id user_id total",
                "mean": "difficulty seconds time length cost index average delta gold human count",
            }.items()
            for name in names.split()
        ),
        ("s.csv", "item,a,seconds,mean\nx,1,2,1\n", "mean", {},
         f": columns 'seconds', 'mean' {DESCRIBES}--columns seconds=seconds,mean=mean makes them no system; a table of "
         "systems (--systems) that names them makes them one"),
        ("s.csv", "item,label,a\nx,1,0\n", "accuracy", {},
         ": column 'label' may have gold labels, or scores of a system; --columns gold=label compares labels with it, "
         "--columns label=label makes it no system, a table of systems (--systems) that names it makes it one"),
        ("s.csv", "id,gold,pred,f1\nx,a,a,0.5\n", "accuracy", {},
         ": columns 'pred' and 'gold' have labels, and column 'f1' has scores; --columns gold=gold compares the "
         "labels, --columns score=f1 the means of 'f1'"),
        # Summaries as keys and as last rows.
        *(("s.json", f'{{"a": {{"q1": 1, "{key}": 0.5}}}}', "accuracy", {}, summary(key))
          for key in ("accuracy", "mean", "win_rate", "std", "total", "f1")),
        *(("s.json", f'{{"q1": 1, "{key}": 0.5}}', "accuracy", {}, summary(key))
          for key in ("accuracy", "n", "avg_score", "seed", "n_correct")),
        *(("s.csv", f"item,a\nx,1\n{key},0.5\n", "mean", {}, f", line 3: the row '{key}' {SUMS_UP}")
          for key in ("mean", "Average", "overall", "total")),
        ("s.csv", "item,a\nx,1\ny,1\nmean,0.5\nstd,0.1\n", "mean", {}, f", line 4: the row 'mean' {SUMS_UP}"),
        ("s.csv", "system,item,score\na,x,1\na,mean,1\nb,x,1\n", "mean", {}, f", line 3: the row 'mean' {SUMS_UP}"),
        # Criteria and several metrics.
        ("s.jsonl", ROW, "mean", {},
         ": scores.bleu, scores.rouge may be scores by several metrics, or of several systems (columns: scores.bleu, "
         "scores.rouge, item); name one column of scores with --columns score=scores.bleu"),
        ("s.jsonl", '{"model": "a", "scores": {"helpfulness": 1, "tone": 2}}\n', "mean", {},
         ": scores.helpfulness, scores.tone may be scores by several metrics, or of several systems (columns: model, "
         "scores.helpfulness, scores.tone); name the columns with --columns "
         "system=model,item=NAME,score=scores.helpfulness"),
        ("s.json", '{"a": {"q1": {"tone": 1}}}', "mean", {}, f": 'a' has an object under 'q1', not a score; {SHAPES}"),
        # Two usual names.
        ("s.csv", "model,run,item,score\na,r,x,1\n", "mean", {},
         ": model and run may each be the system; say which: --columns system=model or --columns system=run"),
        ("s.csv", "system,qid,uid,score\na,r,x,1\n", "mean", {},
         ": qid and uid may each be the item; say which: --columns item=qid or --columns item=uid"),
        ("s.csv", "system,item,acc,f1\na,x,1,1\n", "mean", {},
         ": acc and f1 may each be the score; say which: --columns score=acc or --columns score=f1"),
        # Columns that are missing.
        ("s.csv", "model,x\na,1\n", "mean", {},
         ": no column is known to have the scores (columns: model, x); name the columns with --columns "
         "system=model,item=NAME,score=x"),
        ("s.jsonl", '{"meta": {"run": {"model": "m"}}, "q": "x", "points": 1}\n', "mean", {},
         ": no column is known to have the scores (columns: meta.run.model, q, points); name the columns with "
         "--columns system=meta.run.model,item=NAME,score=points"),
        ("s.csv", "item,epoch,a,b\nx,1,1,0\nx,2,1,0\n", "mean", {},
         ": column 'epoch' may number the samples of an item, or be a system; --columns sample=epoch numbers samples, "
         "--columns epoch=epoch makes it a column of the items"),
        ("s.csv", "itm,a\nx,1\n", "mean", {"item": "itme", "domain": "topik"},
         ": no columns 'itme', 'topik' (columns: itm, a)"),
        ("s.csv", "system,itm,score\na,x,1\n", "mean", {},
         ": no column 'item' (columns: itm, score, system) (did you mean 'itm'?); name it with --columns item=NAME, or "
         "number the rows with --columns item=row"),
        ("s.csv", "item,category,score\nx,1,1\n", "mean", {"item": "category+idd"},
         ": no column 'idd' (columns: item, category, score); 'category+idd' joins columns"),
        ("s.csv", "system,item,score\na,x,1\n", "f1", {},
         ": no column 'correct' (columns: score, system, item) (did you mean 'score'?); metric 'f1' needs correct, "
         "guessed, gold of each system and item, each in a column"),
        # Rows that come again: the remedy keeps those of one item together.
        ("s.csv", "system,item,prompt,score\na,x,p1,1\na,x,p2,0\n", "mean", {"item": "item"},
         ", line 3: item 'x' of system 'a' comes again, first in {s}, line 2; say what 'prompt' tells apart: systems "
         "(--columns system=prompt), prompts or raters (--columns factor=prompt), samples of one question (--columns "
         "sample=prompt), or different items whose ids begin anew (--columns item=prompt+item)"),
        ("s.csv", "system,item,score\na,x,1\na,x,0\n", "mean", {},
         ", line 3: item 'x' of system 'a' comes again, first in {s}, line 2; samples of a question need a column "
         "'sample' with their numbers: --columns sample=NAME, or --columns sample=row for the order of the rows"),
        # Cells.
        ("s.csv", "system,item,score\na,x,\n", "mean", {}, f", line 2: no score{DROP}"),
        *(("s.csv", f'system,item,score\na,x,"{cell}"\n', "mean", {},
           f", line 2: score must be a number, not '{cell}'{cure}")
          for cell, cure in {
              "72.8%": "; write 0.728 or 72.8, without %", "1,640": "; leave out the thousands separator",
              "0,64": "; write numbers with a decimal point", "✔": "; write 1 for right and 0 for wrong", "%": "",
              "tie": "; write 1 for a win, 0.5 for a tie and 0 for a loss",
          }.items()),
        ("s.csv", "item,a,b\nx,1,1\ny,error,0\n", "mean", {},
         f", line 3, system 'a': score must be a number, not 'error'; leave the cell empty: {DROP[2:]}; --columns a=a "
         "makes 'a' a column of the items"),
        ("s.csv", "item,a\nx,50.5\n", "accuracy", {},
         ", line 2, system 'a': score must be between 0 and 1 for metric 'accuracy', not 50.5; --metric mean compares "
         "the means of other numbers"),
        ("s.csv", "system,item,gold,correct,guessed\na,x,1,3,2\n", "f1", {},
         ", line 2, system 'a': correct = 3, guessed = 2, gold = 1, but metric 'f1' needs 0 <= correct <= guessed and "
         "correct <= gold"),
        ("s.csv", "a;b\n1;2\n", "mean", {},
         " is separated by semicolons; save it with commas (or with tabs, as .tsv), and with decimal points"),
    ],
)  # fmt: skip
def test_where_and_what_to_do(
    tmp_path: Path, name: str, text: str, metric: str, columns: dict[str, str], told: str
) -> None:
    error = refused(tmp_path, {name: text}, metric, columns=columns)
    path = str(tmp_path / name)
    assert worded_error(error, OPTIONS) == path + told.replace("{s}", path)


def test_a_system_that_lacks_items_is_named_with_its_file(tmp_path: Path) -> None:
    files = {"a.csv": "item,score\nx,1\ny,1\n", "b.csv": "item,score\nx,1\n"}
    told = f"items differ: system 'b' ({tmp_path}/b.csv) lacks 1 of 2 items, first 'y'{DROP}"
    assert worded_error(refused(tmp_path, files, "mean"), OPTIONS) == told
    files["b.csv"] = "item,score\nz,1\n"
    assert str(refused(tmp_path, files, "mean")).endswith("no item is of all systems: are the ids alike?")
