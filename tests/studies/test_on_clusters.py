"""Studies on a cluster: what is committed of their results has the bytes that two jobs make."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import simstudy as ss
from simstudy.running.parallel import cluster
from tests.running.test_parallel import scheduled

STUDIES = Path(__file__).parents[2] / "experiments"

# Lines of a parsing study, and what they become: a few variants by little training, tested on fewer sentences.
SMALL = {
    "fractions = [1.0, 0.5, 0.25]": "fractions = [0.02, 0.01]",
    "replicates = [5, 10, 10]": "replicates = [2, 2]",
    "n_resamples = 1_000_000": "n_resamples = 2_000",
    "sizes = [100, 200, 400, 800, 1600, 2077]": "sizes = [100, 500]",
    "n_draws = 20": "n_draws = 2",
    "n_resamples = 100_000": "n_resamples = 500",
}


def committed(folder: Path) -> dict[str, bytes]:
    """The files of a run, without its cells and the record of its own time."""
    files = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if not name.startswith(("cells/", "run.json", "."))}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["quickstart", "dependency_parsing"])
def test_a_study_on_a_cluster_has_the_bytes_of_two_jobs(name: str, shared_data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    shutil.copytree(STUDIES / name, folder)
    if name != "quickstart":
        text = (folder / "study.toml").read_text(encoding="utf-8")
        for line, small in SMALL.items():
            assert line in text
            text = text.replace(line, small)
        (folder / "study.toml").write_text(text, encoding="utf-8")
    ss.run_study(folder, out=tmp_path / "jobs", n_jobs=2, data_dir=shared_data)
    with scheduled(2) as (address, _, _), cluster(address) as executor:
        ss.run_study(folder, out=tmp_path / "cluster", executor=executor, n_jobs=2, data_dir=shared_data)
    assert committed(tmp_path / "cluster") == committed(tmp_path / "jobs")
