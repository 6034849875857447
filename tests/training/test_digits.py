from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import ndimage

from simstudy.training import load_task


def test_split_and_shifts() -> None:
    task = load_task("digits")
    assert task.train.n_items == 1000
    assert len(task.systems) == 4
    assert {examples.n_items for examples in task.test_sets.values()} == {797}
    plain = task.test_sets["test"].inputs.features["default"]
    weak = task.test_sets["noise 2/16"].inputs.features["default"]
    strong = task.test_sets["noise 4/16"].inputs.features["default"]
    assert 0 < np.abs(weak - plain).mean() < np.abs(strong - plain).mean()
    for examples in task.test_sets.values():
        pixels = examples.inputs.features["default"]
        assert pixels.min() >= 0
        assert pixels.max() <= 16
        np.testing.assert_array_equal(examples.gold, task.test_sets["test"].gold)


def test_fingerprint_is_the_same_in_another_process() -> None:
    code = "import simstudy; print(simstudy.training.load_task('digits').fingerprint)"
    other = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    assert other.stdout.strip() == load_task("digits").fingerprint


@pytest.mark.parametrize(("kind", "strengths"), [("rotated {}°", (10, 20)), ("blurred {} px", (0.5, 0.8))])
def test_every_shift_is_what_its_name_says_picture_by_picture(kind: str, strengths: tuple[float, float]) -> None:
    task = load_task("digits")
    pictures = {name: part.inputs.features["default"][:9].reshape(-1, 8, 8) for name, part in task.test_sets.items()}
    for strength in strengths:
        for picture, shifted in zip(pictures["test"], pictures[kind.format(strength)], strict=True):
            if kind.startswith("rotated"):
                wanted = ndimage.rotate(picture, strength, reshape=False, order=1).clip(0, 16)
            else:
                wanted = ndimage.gaussian_filter(picture, strength)
            np.testing.assert_allclose(shifted, wanted)
