"""Writes the example files beside it: what nine classifiers of scikit-learn say of 797 handwritten digits.

A file of answers has one line for each image. classifiers.csv has a row for each image and a column for each
classifier: 1 where the classifier is right.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

HERE = Path(__file__).parent
N_TRAIN = 1000

CLASSIFIERS = {
    "support vectors": SVC(),
    "linear support vectors": LinearSVC(max_iter=20_000, random_state=0),
    "nearest neighbours": KNeighborsClassifier(),
    "nearest centroid": NearestCentroid(),
    "random forest": RandomForestClassifier(random_state=0),
    "decision tree": DecisionTreeClassifier(random_state=0),
    "logistic regression": LogisticRegression(max_iter=5_000),
    "linear discriminant": LinearDiscriminantAnalysis(),
    "naive Bayes": GaussianNB(),
}

images, digits = load_digits(return_X_y=True)
gold = digits[N_TRAIN:]
answers = pd.DataFrame(
    {name: made.fit(images[:N_TRAIN], digits[:N_TRAIN]).predict(images[N_TRAIN:]) for name, made in CLASSIFIERS.items()}
)
files = {"old": answers["random forest"], "new": answers["nearest neighbours"], "gold": gold}
for name, lines in files.items():
    (HERE / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
answers.eq(gold, axis=0).astype(int).rename_axis("item").to_csv(HERE / "classifiers.csv")
