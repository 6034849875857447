"""Small files that people have: what each command on them answers today, or that it is refused."""

from __future__ import annotations

import re
import shlex
import warnings
from contextlib import chdir
from pathlib import Path

from tests.approved.commands import answer
from tests.approved.record import DOORS, SHARED, Values, recording

#: Commands in the folder of cases, by folder or kind. Shorter names of options: M is --metric, R is --references.
COMMANDS = """
1: compare 1/perfect.txt 1/worse.txt M wer R 1/ref.txt
1: compare 1/perfect.txt 1/worse.txt M cer R 1/ref.txt
1: compare 1/perfect.txt 1/worse.txt M bleu R 1/ref.txt
1: compare 1/perfect.trn 1/worse.trn M wer R 1/ref.trn
1: compare 1/perfect_H.txt 1/worse_H.txt M wer R 1/plain_ref.txt
1: compare 1/perfect_labels.txt 1/worse_labels.txt M accuracy R 1/gold_labels.txt
1: compare 1/perfect_labels.txt 1/worse_labels.txt M macro_f1 R 1/gold_labels.txt
2: compare 2/h.txt 2/r.txt M bleu R 2/rtab.txt
2: compare 2/h.txt 2/r.txt M ter R 2/rtab.txt
3: compare 3/h.sgm 3/g.sgm M bleu R 3/r.sgm
4: compare 4/r1.run 4/r2.run M ap R 4/q22.txt
4: compare 4/ok.run 4/const.run M ap R 4/qt.txt
4: compare 4/ok.run 4/dist.run M rr R 4/qt.txt
5: compare 5/modelA.json 5/modelB.json M win_rate
5: compare 5/modelA.json 5/modelB.json M win_rate --columns item=instruction,score=preference,system=generator_2
5: compare 5/mlq.jsonl M accuracy --columns item=question,score=correct
6: compare 6/le_new.parquet 6/le_old.parquet M accuracy
6: compare 6/le_new.parquet 6/le_old.parquet M accuracy --columns item=doc.id,score=metric.acc
6: compare 6/lst_new.parquet 6/lst_old.parquet M accuracy
7: compare 7/c.json 7/d.json M accuracy
7: compare 7/n.json 7/n2.json M accuracy
7: compare 7/q1.json 7/q2.json M accuracy
7: compare 7/q1.json 7/q2.json M accuracy --columns score=match.acc
8: compare 8/v1 M accuracy
8: compare 8/v2 M accuracy
8: compare 8/w1 M accuracy
8: compare 8/w2 M accuracy
9: compare 9/results.json 9/m-b.json M accuracy
10: compare 10/A.run 10/Btab.run M ndcg@10 R 10/qbeir.tsv
10: compare 10/A.run 10/Btab.run M ndcg@10 R 10/qfloat.txt
10: compare 10/A.run 10/marco.tsv M ndcg@10 R 10/qfloat.txt
11: compare 11/sE.conll 11/gE.conll M span_f1 R 11/gE.conll
11: compare 11/sL.conll 11/gL.conll M span_f1 R 11/gL.conll
11: compare 11/sN.conll 11/gN.conll M span_f1 R 11/gN.conll
12: compare 12/h1.txt 12/h2.txt M wer R 12/ref.txt
12: compare 12/h1.txt 12/h2.txt M cer R 12/ref.txt
12: compare 12/h1.txt 12/h2.txt M ter R 12/ref.txt
12: compare 12/h1.txt 12/h2.txt M chrf R 12/ref.txt
13: plan M accuracy --score 80 --agreement 0.999 --gain 0.05
13: plan M accuracy --score 80 --agreement 0.999 --margin 0.05
13: plan M bleu --n-items 1000 --gain 0.05
13: plan M accuracy --score 0.8 --agreement 0.98 --gain 1
13: plan M accuracy --score 1 --agreement 0.98 --gain 1
14: compare 14/auc1.csv M auc
14: compare 14/pc.csv M pearson
14: compare 14/pg.csv M pearson
15: compare 15/f1_15.csv M f1
15: compare 15/f1_20.csv M f1
15: compare 15/f1_30.csv M f1
15: compare 15/cls.csv M macro_f1
15: compare 15/s23.conll 15/o23.conll M span_f1 R 15/g23.conll
17: compare 17/a2.conllu 17/g2.conllu M las R 17/g2.conllu
17: compare 17/a2.conllu 17/nosent2.conllu M las R 17/g2.conllu
18: compare 18/alpA.json 18/alpB.json M win_rate
18: compare 18/alpA.json 18/alpB.json M win_rate --columns item=instruction,score=preference,system=generator_2
20: compare 20/h1.txt 20/h2.txt M accuracy R 20/hg.txt
20: compare 20/l1.txt 20/l2.txt M accuracy R 20/lg.txt
21: compare 21/sq1.json 21/sq2.json M accuracy R 21/sqg.json
21: compare 21/sq1.json 21/sq2.json M accuracy R 21/sqg2.json
22: compare 22/nl M accuracy
22: compare 22/nl M accuracy --missing drop
23: compare 23/fr_hyp.txt 23/fr_same.txt M wer R 23/fr_ref.txt
23: compare 23/jw_NBSP.txt 23/jw_TAB.txt M wer R 23/jr.txt
23: compare 23/jw_CR.txt 23/jw_FF.txt M wer R 23/jr.txt
23: compare 23/jw_NEL.txt 23/jw_u2028.txt M wer R 23/jr.txt
23: compare 23/jw_dbl.txt 23/jw_lead.txt M cer R 23/jr.txt
tables: compare tables/g.csv M accuracy
tables: compare tables/s1.csv M accuracy
tables: compare tables/runs.csv M accuracy
tables: compare tables/attempts.csv M accuracy
tables: compare tables/x.json tables/y.json M accuracy
tables: compare tables/x.json tables/y.json M mean
tables: compare tables/s3a.json M accuracy
tables: compare tables/s3b.json M mean
tables: compare tables/s3c.json M mean
tables: compare tables/s4.jsonl M mean
tables: compare tables/s4.jsonl M mean --columns score=scores.bleu
tables: compare tables/d3.jsonl M mean
tables: compare tables/a5.txt tables/b5.txt M mean
tables: compare tables/a5.txt tables/b5.txt M mean --items tables/items5.tsv
tables: compare tables/quoted.tsv M accuracy
tables: compare tables/vocab.csv M mean
tables: compare tables/arena.csv M bradley_terry
prompts: compare prompts/mp.csv M accuracy
prompts: compare prompts/mp.csv M accuracy --columns item=prompt+item
prompts: compare prompts/mp.csv M accuracy --columns sample=prompt
prompts: compare prompts/eee_model-a_samples.jsonl prompts/eee_model-b_samples.jsonl M accuracy
"""


@recording(DOORS, shared=True)
def cases() -> Values:
    """Exit codes of all cases, and the numbers of those that are answered."""
    values: Values = {}
    with chdir(SHARED / "cases"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in COMMANDS.strip().splitlines():
            command = line.partition(": ")[2].replace(" M ", " --metric ").replace(" R ", " --references ")
            assert command not in values, command
            arguments = shlex.split(command)
            assert all(Path(one).exists() for one in arguments if re.match(r"(\d+|tables|prompts)/", one)), command
            values[command] = answer(arguments)
    return values
