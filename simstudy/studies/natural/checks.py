"""What can be known of a study of natural comparisons once its files are read: all of it is told before it runs."""

from __future__ import annotations

from collections.abc import Sequence

from simstudy.outputs import TestSet
from simstudy.studies.natural.cross_domain import homes_of
from simstudy.studies.natural.definition import NaturalStudy
from simstudy.studies.problems import Problems
from simstudy.studies.stand_ins import check_comparison


def check(study: NaturalStudy, test_sets: Sequence[TestSet]) -> None:
    """Raise a StudyError that says every comparison that cannot be made, and why.

    `test_sets` have the systems that are to be compared.
    """
    problems = Problems(study.name)
    # One list of sizes serves all test sets of an entry; one of them must have as many items.
    for entry in study.test_sets:
        of_entry = [one for one in test_sets if one.name in entry.names and one.metric in entry.metrics]
        largest = max(one.outputs.n_items for one in of_entry)
        for one in of_entry:
            where, n_items = f"test set '{one.name}'", one.outputs.n_items
            if one.outputs.n_systems < 2:
                problems.add(where, "fewer than 2 systems are left, without near-duplicates and those of leave_out")
                continue
            for size in one.sizes:
                if size > largest:
                    problems.add(f"{where}, sizes", f"{size} is more than its {n_items} items")
            for segment in one.segments():
                size = segment.outputs.n_items
                with problems.at(where if size == n_items else f"{where}, sizes {size}"):
                    check_comparison(segment)
    for number, followed in enumerate(study.calibration):
        with problems.at(f"calibration.{number}"):
            for home, _ in homes_of(followed, test_sets):
                check_comparison(study.comparison.on(home, study.seed))
    problems.raise_any()
