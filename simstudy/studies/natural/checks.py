"""What can be known of a study of natural comparisons once its files are read: all of it is told before it runs."""

from __future__ import annotations

from collections.abc import Mapping

from simstudy.outputs import Outputs
from simstudy.studies.definition import Comparison
from simstudy.studies.natural.cross_domain import homes_of
from simstudy.studies.natural.definition import NaturalStudy, NaturalTestSet
from simstudy.studies.problems import Problems
from simstudy.studies.stand_ins import check_comparison


def settings_of(study: NaturalStudy, test_set: NaturalTestSet) -> Comparison:
    """How a test set's pairs are tested: its own settings go before those of the study."""
    own = {"n_resamples": test_set.n_resamples} if test_set.n_resamples else {}
    return study.comparison.model_copy(update=own)


def check(
    study: NaturalStudy, outputs: Mapping[tuple[str, str], Outputs], settings: Mapping[tuple[str, str], NaturalTestSet]
) -> None:
    """Raise a StudyError that says every comparison that cannot be made, and why.

    `outputs` are the systems that are to be compared, by name and metric, and `settings` the entry of each.
    """
    problems = Problems(study.name)
    # One list of sizes serves all test sets of an entry; one of them must have as many items.
    largest: dict[int, int] = {}
    for key, whole in outputs.items():
        entry = id(settings[key])
        largest[entry] = max(largest.get(entry, 0), whole.n_items)
    for (name, metric), whole in outputs.items():
        where, part = f"test set '{name}'", settings[name, metric]
        if whole.n_systems < 2:
            problems.add(where, "fewer than 2 systems are left, without near-duplicates and those of leave_out")
            continue
        for size in part.sizes:
            if size > largest[id(part)]:
                problems.add(f"{where}, sizes", f"{size} is more than its {whole.n_items} items")
        asked = settings_of(study, part)
        for size in [*(size for size in part.sizes if size < whole.n_items), whole.n_items]:
            with problems.at(where if size == whole.n_items else f"{where}, sizes {size}"):
                check_comparison(whole.head(size), asked)
    for number, followed in enumerate(study.calibration):
        with problems.at(f"calibration.{number}"):
            for home, _ in homes_of(followed, outputs):
                check_comparison(home, study.comparison)
    problems.raise_any()
