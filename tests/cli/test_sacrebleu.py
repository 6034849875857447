"""`simstudy compare --convention sacrebleu` beside sacrebleu's own command, on the same files.

sacrebleu (2.x, --paired-bs and --paired-ar) compares every system with the first of the list, the baseline. Both of its
tests count differences of absolute value that are strictly greater than the observed one and print (c + 1) / (n + 1).
Randomization is two-sided. Of the bootstrap's absolute differences their mean is taken off first: for a gain of many
standard errors what is left is one-sided, for small gains p is below any two-sided one. All systems share the draws of
one seed, SACREBLEU_SEED (12345), so that here both sides are the same at every run.

Both sides have Monte Carlo error: their counts are held against each other by Fisher's exact test of two proportions.
It is conservative here: centring by the mean of the draws themselves makes counts vary less than binomial ones.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from scipy import stats
from typer.testing import CliRunner

from simstudy.cli.command import app

DRAWS = {"bootstrap": ("bs", 1_000), "randomization": ("ar", 10_000)}

#: Score and p-value against the baseline.
Found = dict[str, tuple[float, float]]


def by_sacrebleu(test: str, systems: Sequence[Path], references: Sequence[Path]) -> Found:
    """What the command prints for every system but the baseline, which is the first."""
    kind, n = DRAWS[test]
    options = ["-m", "bleu", f"--paired-{kind}", f"--paired-{kind}-n", str(n), "-f", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "sacrebleu", *map(str, references), "-i", *map(str, systems), *options],
        check=True, capture_output=True, text=True, timeout=300, env={**os.environ, "SACREBLEU_SEED": "12345"},
    )  # fmt: skip
    baseline, *others = json.loads(done.stdout)
    assert Path(baseline["system"].removeprefix("Baseline: ")).stem == systems[0].stem
    return {Path(row["system"]).stem: (row["BLEU"]["score"], row["BLEU"]["p_value"]) for row in others}


def by_simstudy(test: str, systems: Sequence[Path], references: Sequence[Path]) -> Found:
    """The same from our command, which compares all pairs."""
    gold = [part for path in references for part in ("--references", str(path))]
    options = ["--metric", "bleu", "--convention", "sacrebleu", "--test", test, "--json"]
    result = CliRunner().invoke(app, ["compare", *map(str, systems), *gold, *options])
    assert result.exit_code == 0, result.stderr
    content = json.loads(result.stdout)
    scores = {row["system"]: row["score"] for row in content["systems"]}
    pairs = {frozenset((pair["system_a"], pair["system_b"])): pair["p_value"] for pair in content["pairs"]}
    baseline, *others = (path.stem for path in systems)
    return {name: (scores[name], pairs[frozenset((baseline, name))]) for name in others}


def assert_alike(test: str, systems: Sequence[Path], references: Sequence[Path]) -> None:
    """Equal BLEU to all digits, and p-values that chance alone sets so far apart less than once in a million runs."""
    theirs, ours = (by(test, systems, references) for by in (by_sacrebleu, by_simstudy))
    n = DRAWS[test][1]
    assert theirs.keys() == ours.keys()
    for name, (score, p) in theirs.items():
        assert ours[name][0] == pytest.approx(score, rel=1e-12), name
        there, here = (round(value * (n + 1)) - 1 for value in (p, ours[name][1]))
        surprise = stats.fisher_exact([[there, n - there], [here, n - here]]).pvalue
        assert surprise > 1e-6 / len(theirs), f"{name}: {p} and {ours[name][1]}"


def noisy(sentences: Sequence[list[str]], share: float, rng: random.Random) -> str:
    return "\n".join(" ".join(w if rng.random() > share else "x" for w in words) for words in sentences) + "\n"


@pytest.mark.parametrize("test", DRAWS)
def test_made_up_systems_have_the_p_values_that_sacrebleu_prints(test: str, tmp_path: Path) -> None:
    """Systems from as good as the baseline to clearly worse, so that p-values are large, middling and small."""
    rng = random.Random(1)
    sentences = [[f"w{rng.randrange(99)}" for _ in range(rng.randint(5, 25))] for _ in range(200)]
    (tmp_path / "gold").write_text(noisy(sentences, 0, rng))
    systems = [tmp_path / name for name in ("baseline", "alike", "worse", "bad")]
    for path, share in zip(systems, (0.2, 0.2, 0.22, 0.25), strict=True):
        path.write_text(noisy(sentences, share, rng))
    assert_alike(test, systems, [tmp_path / "gold"])


@pytest.mark.slow
@pytest.mark.parametrize("test", DRAWS)
def test_real_translations_have_the_p_values_that_sacrebleu_prints(test: str, shared_data: Path) -> None:
    folder = shared_data / "wmt24_en-de"
    systems = [folder / "sys" / f"{name}.de" for name in ("GPT-4", "Claude-3.5", "ONLINE-A", "IOL-Research")]
    assert_alike(test, systems, [folder / "ref.A.de"])


@pytest.mark.slow
@pytest.mark.parametrize("test", DRAWS)
@pytest.mark.parametrize(
    ("folder", "references"),
    [
        ("wmt21_de-en", ["ref.A.en"]),
        ("wmt21_de-en", ["ref.A.en", "ref.B.en"]),
        ("wmt22_ja-en", ["ref.A.en"]),
        ("wmt24_en-de", ["ref.A.de"]),
        ("wmt24_en-de", ["ref.A.de", "ref.B.de"]),
    ],
)
def test_all_systems_of_a_campaign(test: str, folder: str, references: list[str], shared_data: Path) -> None:
    """Against the system in the middle of the ranking, so that some are better and some are worse."""
    gold = [shared_data / folder / name for name in references]
    systems = sorted((shared_data / folder / "sys").iterdir())
    ranking = sorted(by_simstudy("bootstrap", systems, gold).items(), key=lambda found: found[1][0])
    middle = next(path for path in systems if path.stem == ranking[len(ranking) // 2][0])
    assert_alike(test, [middle, *(path for path in systems if path != middle)], gold)
