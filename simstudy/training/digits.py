"""Digit recognition: scikit-learn's built-in images of handwritten digits, and artificial shifts of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from simstudy.training.base import Task

N_TRAIN = 1000


def digits(data_dir: Path | None = None) -> Task:
    """1,000 training images and 797 test images of 8 x 8 pixels, ten classes, four unlike classifiers.

    The split keeps the file's order, so that (almost) all test images are by other writers than the training
    images. The other test sets are *artificial shifts of the same 797 images*: rotated, blurred, or with
    Gaussian noise, each at two strengths. Nothing is downloaded.
    """
    bunch = load_digits()
    images, gold = np.asarray(bunch.images), np.asarray(bunch.target)
    test, labels = images[N_TRAIN:], gold[N_TRAIN:]
    shifted = {
        "test": test,
        "rotated 10°": _rotate(test, 10),
        "rotated 20°": _rotate(test, 20),
        "blurred 0.5 px": _blur(test, 0.5),
        "blurred 0.8 px": _blur(test, 0.8),
        "noise 2/16": _add_noise(test, 2),
        "noise 4/16": _add_noise(test, 4),
    }
    return Task.from_arrays(
        "digits",
        _flat(images[:N_TRAIN]),
        gold[:N_TRAIN],
        test_sets={name: (_flat(pictures), labels) for name, pictures in shifted.items()},
        systems={
            "logistic regression": make_pipeline(MinMaxScaler(), LogisticRegression(C=0.1, max_iter=200)),
            "nearest neighbours": KNeighborsClassifier(n_neighbors=15),
            "naive Bayes": GaussianNB(var_smoothing=0.05),
            "random forest": RandomForestClassifier(n_estimators=25),
        },
    )


def _flat(images: NDArray[Any]) -> NDArray[np.float64]:
    return images.reshape(len(images), -1).astype(np.float64)


def _rotate(images: NDArray[Any], degrees: float) -> NDArray[Any]:
    rotated: NDArray[Any] = ndimage.rotate(images, degrees, axes=(1, 2), reshape=False, order=1)
    return rotated.clip(0, 16)


def _blur(images: NDArray[Any], sigma: float) -> NDArray[Any]:
    return np.asarray(ndimage.gaussian_filter(images, sigma=(0, sigma, sigma)))


def _add_noise(images: NDArray[Any], sigma: float) -> NDArray[Any]:
    # A test set is fixed data: its noise has a seed of its own, which no study changes.
    noise = np.random.default_rng(20120712).normal(scale=sigma, size=images.shape)
    return np.clip(images + noise, 0, 16)
