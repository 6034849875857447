"""Training-set resampling: variants of three classifiers, and what pairs of them show."""

from __future__ import annotations

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import simstudy as ss
from simstudy.studies.resampling.training_variance import training_variance
from tests.approved.record import STUDIES, Values, recording


@recording(STUDIES)
def trained_variants() -> Values:
    """Scores of all variants, and tables by relation of their pairs."""
    X, y = load_breast_cancer(return_X_y=True)
    task = ss.training.Task.from_arrays(
        "tumours",
        X[::2],
        y[::2],
        test_sets={"odd": (X[1::4], y[1::4]), "even": (X[3::4], y[3::4])},
        systems={
            "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
            "bayes": GaussianNB(),
            "random step": make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss")),
        },
    )
    trained = ss.training.resample_training(task, fractions=[1.0, 0.5, 0.1], replicates=[4, 4, 4], seed=7)
    home, away = trained["odd"], trained["even"]
    pairs = ss.compare(home)
    return {
        "systems": home.systems,
        "scores": home.scores(),
        "scores elsewhere": away.scores(),
        "pairs": pairs.frame["relation"].value_counts().sort_index(),
        "thresholds": pairs.thresholds(window=(0.01, 0.2), min_pairs=5),
        "curve": pairs.curve(n_points=8),
        "significant gains": pairs.significant_gains(),
        "training variance": training_variance(pairs.frame, home),
        "method gains": ss.comparisons.method_gains(home),
        "calibration": ss.comparisons.calibration(pairs.frame, {"even": away}, min_pairs=5, n_bootstrap=200),
    }
