"""Rows that make no sense when crossed: distilled trees on handwritten digits.

``python -m experiments distil_digits`` prints, for ten splits of scikit-learn's digits
in halves, what ten chosen trees of 200 are worth before and after they are distilled.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import train_test_split

import quorate

SPLITS, TREES, KEPT = 10, 200, 10


def run() -> None:
    """Print accuracy and logarithmic loss of each split, and their means."""
    X, y = load_digits(return_X_y=True)
    found = []
    print("split  accuracy: all, chosen, distilled   log-loss: all, chosen, distilled")
    for seed in range(SPLITS):
        X_fit, X_new, y_fit, y_new = train_test_split(
            X, y, test_size=0.5, stratify=y, random_state=seed
        )
        forest = RandomForestClassifier(TREES, random_state=seed).fit(X_fit, y_fit)
        models = [
            forest,
            quorate.prune(forest, X_fit, y_fit, keep=KEPT),
            quorate.prune(forest, X_fit, y_fit, keep=KEPT, distil=True),
        ]
        shares = [model.predict_proba(X_new) for model in models]
        row = [accuracy_score(y_new, each.argmax(axis=1)) for each in shares]
        row += [log_loss(y_new, each) for each in shares]
        found.append(row)
        print(f"{seed:>5}  " + "  ".join(f"{value:.3f}" for value in row))
    print(" mean  " + "  ".join(f"{value:.3f}" for value in np.mean(found, axis=0)))


if __name__ == "__main__":
    run()
