"""Every key of a natural study's study.toml changes what is read or what is made of it; none is accepted and lost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy.comparisons.calibration import calibration
from simstudy.outputs import Outputs, TestSet
from simstudy.readers.text_files import Reading
from simstudy.running.fingerprints import derived_seed
from simstudy.studies import RunContext, StudyError, make_study
from simstudy.studies.baselines import _NO_BASELINE
from simstudy.studies.natural import cross_domain, sources, study
from simstudy.studies.natural.definition import CrossDomain, NaturalStudy, NaturalTestSet, SystemsTable
from simstudy.studies.natural.kept import KeptReads
from simstudy.studies.natural.sources import read_all
from tests.studies.test_cells import Heard

TABLE: dict[str, Any] = {
    "name": "t", "metric": "mean", "paths": ["scores.csv"], "columns": {"domain": "genre"}, "by": [],
}  # fmt: skip
WHERE = {**TABLE, "paths": ["long.csv"], "where": {"kind": "x"}}
SYSTEMS = {**TABLE, "by": ["group"], "systems": {"file": "systems.csv", "where": {"kind": "x"}}}
HOLES = {**TABLE, "paths": ["holes.csv"]}
TEXTS = {"name": "t", "metric": "accuracy", "paths": ["texts"], "references": ["gold.txt"], "by": []}
BLEU = {**TEXTS, "metric": "bleu"}

# A key -> a test set without it, and with what it matters there.
TEST_SETS: dict[str, list[tuple[Mapping[str, Any], dict[str, Any]]]] = {
    "name": [(TABLE, {"name": "u"})],
    "each": [({**TABLE, "name": "t {}"}, {"each": ["a", "b"]})],
    "metric": [(TEXTS, {"metric": "bleu"})],
    "paths": [(TABLE, {"paths": ["holes.csv"], "missing": "drop"})],
    "references": [(TEXTS, {"references": ["other.txt"]})],
    "items": [(TABLE, {"items": "items.csv"})],
    "systems": [({**TABLE, "by": ["group"]}, {"systems": SYSTEMS["systems"]})],
    "groups": [({**TABLE, "by": ["group"]}, {"groups": {"G": ["s0", "s1"]}})],
    "by": [(TABLE, {"by": ["group"]})],
    "format": [(TEXTS, {"format": "scores"})],
    "columns": [(TABLE, {"columns": {"cluster": "genre"}})],
    "where": [(WHERE, {"where": {"kind": "y"}})],
    "lower_is_better": [(TABLE, {"lower_is_better": True})],
    "missing": [({**HOLES, "missing": "drop"}, {"missing": "zero"})],
    "leave_out": [(TABLE, {"leave_out": ["s0"]}), (TEXTS, {"leave_out": ["a"]})],
    "lowercase": [(BLEU, {"lowercase": True})],
    "mark": [(BLEU, {"mark": "#"})],
    "mixed": [(TABLE, {"mixed": True})],
    "sizes": [(TABLE, {"sizes": [8]})],
    "n_resamples": [(TABLE, {"n_resamples": 70})],
    "duplicates": [(TABLE, {"duplicates": "keep"})],
}

# Key of a table of systems -> one without it, and its value; a column "team" stands beside "group".
SYSTEM_TABLES: dict[str, dict[str, Any]] = {
    "file": {"file": "more.csv"},
    "columns": {"columns": {"group": "team"}},
    "where": {"where": {"kind": "y"}},
}

DOMAINS = {"domains_of": "t", "n_draws": 2, "n_splits": 2, "min_pairs": 1, "bins": [0.0, 1.0]}
AMONG = {"among": ["t", "u"], "n_splits": 2, "min_pairs": 1, "bins": [0.0, 1.0]}

# Key of a calibration -> one without it, and its value.
CALIBRATIONS: dict[str, tuple[Mapping[str, Any], dict[str, Any]]] = {
    "among": (AMONG, {"among": ["u", "t"]}),
    "domains_of": (DOMAINS, {"domains_of": "u"}),
    "metric": (DOMAINS, {"metric": "ap"}),
    "least_items": (DOMAINS, {"least_items": 7}),
    "n_draws": (DOMAINS, {"n_draws": 3}),
    "n_splits": (DOMAINS, {"n_splits": 3}),
    "min_pairs": (DOMAINS, {"min_pairs": 1000}),
    "bins": (DOMAINS, {"bins": [0.0, 0.4, 1.0]}),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("options")
    rng = np.random.default_rng(2)
    scores = pd.DataFrame(rng.normal(0.5, 0.2, (36, 5)).round(3), columns=[f"s{k}" for k in range(5)])
    scores.insert(0, "item", [f"i{k}" for k in range(36)])
    scores.insert(1, "genre", list("xyxxyxzxxyxz") * 3)
    scores.to_csv(folder / "scores.csv", index=False)
    scores.assign(s0=scores["s0"].where(scores.index > 1)).to_csv(folder / "holes.csv", index=False)
    long = scores.melt(["item", "genre"], var_name="system", value_name="score")
    pd.concat([long.assign(kind="x"), long.assign(kind="y", score=long["score"] / 2)]).to_csv(
        folder / "long.csv", index=False
    )
    pd.DataFrame({"id": scores["item"], "cluster": [k // 4 for k in range(36)]}).to_csv(
        folder / "items.csv", index=False
    )
    rows = [(f"s{k}", kind, f"{kind}{k % 2}", f"team {k % 3}") for kind in "xy" for k in range(5)]
    systems = pd.DataFrame(rows, columns=["system", "kind", "group", "team"])
    systems.to_csv(folder / "systems.csv", index=False)
    systems.assign(group="one").to_csv(folder / "more.csv", index=False)
    (folder / "texts").mkdir()
    for name, text in {"a": "A cat # sat here\nthe dog\nfive\n", "b": "a cat sat here\nThe # dog ran\nsix\n"}.items():
        (folder / "texts" / f"{name}.txt").write_text(text)
    (folder / "gold.txt").write_text("A cat sat here\nThe dog ran\nfive\n")
    (folder / "other.txt").write_text("A cat lay here\nthe dog\nsix\n")
    return folder


def seen(data: Path, test_set: Mapping[str, Any], cells: Path | None = None) -> list[Any]:
    """All that is read of a test set, and the hashes of its files; a folder of cells keeps what is read."""
    kept = KeptReads(cells)
    found, hashes = read_all("n", [NaturalTestSet(**test_set)], data, lambda _: None, kept=kept)
    kept.write()
    return [hashes] + [
        (
            one.outputs.fingerprint(), one.name, one.outputs.systems.to_json(), one.outputs.items.to_json(), one.by,
            one.options, one.sizes, one.duplicates,
        )
        for one in found
    ]  # fmt: skip


def test_every_key_is_tried() -> None:
    assert set(TEST_SETS) == set(NaturalTestSet.model_fields)
    assert set(SYSTEM_TABLES) == set(SystemsTable.model_fields)
    assert set(CALIBRATIONS) == set(CrossDomain.model_fields)


@pytest.mark.parametrize(
    ("without", "given"), [case for cases in TEST_SETS.values() for case in cases], ids=lambda each: ",".join(each)
)
def test_a_key_of_a_test_set_changes_what_is_read(
    data: Path, without: Mapping[str, Any], given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where both have been read and kept: neither is taken for the other, and nothing is parsed again."""
    before = seen(data, without)
    if "format" in given:
        with pytest.raises(StudyError, match="a table must be a file .csv"):
            seen(data, {**without, **given})
    else:
        after = seen(data, {**without, **given})
        assert before != after
        for k in range(2):
            assert seen(data, without, tmp_path) == before
            assert seen(data, {**without, **given}, tmp_path) == after
            if k == 0:
                monkeypatch.setattr(sources, "read", lambda *_: pytest.fail("it was kept"))


def test_reads_are_kept_by_study_words_and_bytes(data: Path, tmp_path: Path) -> None:
    """A file that changes while it is read is not kept."""
    path = tmp_path / "file"

    def key(said: str = "a", text: str = "x", cells: Path | None = tmp_path) -> str:
        path.write_text(text)
        (found,) = KeptReads(cells).keys(seen, [(said, [path])], Reading())
        return found

    assert key() == key()
    assert len({key(), key("b"), key(text="y")}) == 3
    assert key(cells=None) == ""
    (one,), _ = read_all("n", [NaturalTestSet(**TABLE)], data, lambda _: None)
    for name, text in {"as it was": "", "changed": "more"}.items():
        kept, reading = KeptReads(tmp_path), Reading()
        reading.digest(path)
        with path.open("a") as file:
            file.write(text)
        kept.add(name, "label", (one.outputs, (), [path]), [path], reading)
        kept.write()
        assert (kept.found(name, [path]) is not None) is (name == "as it was")
    for name in "nmnm":
        (one,), _ = read_all(name, [NaturalTestSet(**TABLE)], data, lambda _: None, kept=kept)
        kept.write()
        assert one.outputs.task == name


@pytest.mark.parametrize("given", SYSTEM_TABLES.values(), ids=SYSTEM_TABLES)
def test_a_key_of_a_table_of_systems_changes_what_is_known_of_them(data: Path, given: dict[str, Any]) -> None:
    usual = {"file": "systems.csv", "where": {"kind": "x"}}
    assert seen(data, {**SYSTEMS, "systems": usual}) != seen(data, {**SYSTEMS, "systems": {**usual, **given}})


def test_what_a_test_set_does_not_say_the_study_says(data: Path) -> None:
    parts = [NaturalTestSet(**{**TABLE, **more}) for more in ({}, {"duplicates": "keep"}, {"duplicates": "drop"})]
    for usual in ("keep", "drop"):
        found, _ = read_all("n", parts, data, lambda _: None, duplicates=usual)
        assert [one.duplicates for one in found] == [usual, "keep", "drop"]
        assert {one.outputs.task for one in found} == {"n"}


@pytest.fixture(scope="module")
def test_sets(data: Path) -> list[TestSet]:
    parts = [
        {**TABLE, "metric": ["mean", "ap"]},
        {**TABLE, "name": "u", "metric": ["mean", "ap"], "leave_out": ["s4"]},
    ]
    return read_all("n", [NaturalTestSet(**part) for part in parts], data, lambda _: None)[0]


def natural(**keys: Any) -> NaturalStudy:
    content = {
        "name": "n", "kind": "natural", "title": "T", "question": "Q?", "seed": 3,
        "test_sets": [TABLE], "comparison": {"test": "t_paired"}, **keys,
    }  # fmt: skip
    made = make_study(content, "here")
    assert isinstance(made, NaturalStudy)
    return made


@pytest.mark.parametrize("name", CALIBRATIONS)
def test_a_key_of_a_calibration_changes_its_table(name: str, test_sets: list[TestSet]) -> None:
    without, given = CALIBRATIONS[name]
    assert calibrated(without, test_sets) != calibrated({**without, **given}, test_sets)


def test_every_part_of_a_calibration_is_asked_as_the_study_says(
    test_sets: list[TestSet], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Domains of 21, 9 and 6 items, each followed to all other items; redrawn test sets of the median size."""
    heard: list[Any] = []

    def calibrate(pairs: pd.DataFrame, elsewhere: Mapping[str, Outputs], **options: Any) -> pd.DataFrame:
        heard.append(({name: one.n_items for name, one in elsewhere.items()}, options))
        return calibration(pairs, elsewhere, **options)

    def halved(home: TestSet, sizes: Mapping[str, int], **options: Any) -> pd.DataFrame:
        heard.append((home.name, home.settings["seed"], sizes, options))
        return _NO_BASELINE

    monkeypatch.setattr(cross_domain, "calibration", calibrate)
    monkeypatch.setattr(cross_domain, "baseline", halved)
    part: dict[str, Any] = {**DOMAINS, "least_items": 6, "min_pairs": 4, "n_splits": 5}
    cross_domain.cross_domain(natural(seed=8), CrossDomain(**part), test_sets, context := Heard())
    bins = {"bins": [0.0, 1.0], "min_pairs": 4}
    asked = {"n_splits": 5, "context": context, "relation": "all pairs", **bins}
    for name, n in {"x": 15, "y": 27, "z": 30}.items():
        assert heard.pop(0) == ({"all other domains": n}, {"seed": 8, **bins})
        assert heard.pop(0) == (f"t / {name}", 8, {"all other domains": n}, asked)
    assert heard == [({"population": 36}, {"population": True, "seed": 8, **bins})]
    seeds = [[cell.arguments[1]["seed"] for cell in cells] for _, cells, _ in context.asked]
    assert seeds == [[8] * 3, [derived_seed(8, "redrawn", k) % 2**64 for k in (1, 2)]]
    assert {cell.arguments[0].n_items for cell in context.asked[1][1]} == {9}


def calibrated(part: Mapping[str, Any], test_sets: list[TestSet]) -> str:
    if (known := repr(part)) not in CALIBRATED:
        asked = CrossDomain(**{"least_items": 2, **part})
        CALIBRATED[known] = cross_domain.cross_domain(natural(), asked, test_sets, Heard()).to_json()
    return CALIBRATED[known]


# What most cases are held against is made once.
CALIBRATED: dict[str, str] = {}


def test_settings_of_a_study_arrive_at_each_part(
    monkeypatch: pytest.MonkeyPatch, test_sets: list[TestSet], tmp_path: Path
) -> None:
    """Data, leave and duplicates at the files; the seed at leaderboards; all settings at every test set."""
    heard: dict[str, Any] = {}

    class Stop(Exception):
        pass

    def read(name: str, asked: object, folder: object, advance: object, **options: Any) -> Any:
        heard["read"] = name, asked, folder, options
        return test_sets, {"scores.csv": "a hash"}

    def compare_all(asked: list[TestSet], context: RunContext) -> list[Any]:
        heard["compared"] = asked
        return []

    def boards(asked: list[TestSet], seed: int, context: RunContext) -> pd.DataFrame:
        heard["boards"] = asked, seed
        raise Stop

    for name, fake in {"read_all": read, "_compare_all": compare_all, "leaderboards": boards}.items():
        monkeypatch.setattr(study, name, fake)
    monkeypatch.setattr(study, "check", lambda *_: None)
    asked = natural(duplicates="keep", comparison={"test": "bootstrap", "n_resamples": 60, "unit": "domain"}, seed=8)
    with pytest.raises(Stop):
        study.run(asked, context := RunContext(tmp_path, 1, "data", True, home=tmp_path))
    assert isinstance(heard["read"][3].pop("kept"), KeptReads)
    options = {"allow_outside": True, "duplicates": "keep", "home": tmp_path}
    assert heard["read"] == ("n", asked.test_sets, "data", options)
    assert heard["boards"] == (heard["compared"], 8)
    assert set(context.clock.seconds) == {"data", "comparisons"}
    for one in heard["compared"]:
        assert one.options.items() >= {"test": "bootstrap", "n_resamples": 60, "unit": "domain", "seed": 8}.items()
