"""How far out-of-bag estimates of small sizes are off, and whether that can be mended.

``python -m experiments out_of_bag`` trains forests of 100 trees on 1000 samples, and
compares what is expected of their first 10 and 25 trees by margin distance with the
error on 5000 new samples. Each training sample has votes of about a third of the trees,
so the error is estimated, by cross-fitting, from

- the votes at hand among the first k trees, a third of k;
- the first k trees that have a vote, as quorate does, from further down the order;
- the votes at hand, less what a third of k randomly drawn trees err more than k do.

The error of all trees by as many votes, on out-of-bag and on new samples, tells what
the draw of the samples does to all three; it is taken off. It takes a minute or two.
"""

import warnings

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import quorate

N_TREES, N_TRAINED, N_NEW, N_FOLDS = 100, 1000, 5000, 5
SIZES, SEEDS, REPEATS = (10, 25), range(12), 6
DATA = {
    "two classes": {"n_features": 20, "n_informative": 6, "flip_y": 0.1},
    "three classes": {
        "n_features": 15, "n_informative": 8, "n_classes": 3, "flip_y": 0.05
    },
}  # fmt: skip
WAYS = ("votes at hand", "first k with a vote", "corrected")


def main() -> None:
    """Print the mean differences in percentage points, with standard errors."""
    for name, given in DATA.items():
        for kind in (RandomForestClassifier, ExtraTreesClassifier):
            found = np.array([run(given, kind, seed) for seed in SEEDS])
            doubt = found.std(axis=0) / np.sqrt(len(found))
            for at, size in enumerate(SIZES):
                print(f"{name}, {kind.__name__}, {size} trees:", end="")
                for place, way in enumerate(WAYS):
                    value, error = found.mean(axis=0)[at, place], doubt[at, place]
                    print(f" {way} {value:+.2f} +- {error:.2f},", end="")
                print(flush=True)


def run(given: dict[str, float], kind: type, seed: int) -> np.ndarray:
    """Return what each way is off by, for each size."""
    X, y = make_classification(N_TRAINED + N_NEW, random_state=seed, **given)
    forest = kind(N_TREES, bootstrap=True, random_state=seed)
    forest.fit(X[:N_TRAINED], y[:N_TRAINED])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # samples that every tree has seen
        votes = quorate.collect_votes(
            forest, X[:N_TRAINED], y[:N_TRAINED], out_of_bag=True
        )
    new = quorate.collect_votes(forest, X[N_TRAINED:], y[N_TRAINED:], source="new")
    rng = np.random.default_rng(seed)
    voted, share = votes.codes >= 0, (votes.codes >= 0).mean()
    drawn = rng.random(new.codes.shape) < share
    luck = errors(votes, voted).mean() - errors(new, drawn).mean()

    def of_random(size: int) -> float:
        orders = (rng.permutation(N_TREES) for _ in range(REPEATS))
        each = [errors(votes, first(voted, order, size)).mean() for order in orders]
        return float(np.mean(each))

    folds = rng.permutation(votes.n_samples) % N_FOLDS
    whole = margin_order(votes)
    rows = []
    for size in SIZES:
        at_hand, as_many = np.zeros(votes.n_samples), np.zeros(votes.n_samples)
        for fold in range(N_FOLDS):
            order = margin_order(votes.at(np.flatnonzero(folds != fold)))
            held = folds == fold
            kept = np.isin(np.arange(N_TREES), order[:size])[:, None] & voted
            at_hand[held] = errors(votes, kept)[held]
            as_many[held] = errors(votes, first(voted, order, size))[held]
        kept = np.isin(np.arange(N_TREES), whole[:size])[:, None]
        true = errors(new, np.broadcast_to(kept, new.codes.shape)).mean() + luck
        fewer = size * share
        low = int(fewer)
        random = of_random(low)
        random += (fewer - low) * (of_random(low + 1) - random) - of_random(size)
        ways = (at_hand.mean(), as_many.mean(), at_hand.mean() - random)
        rows.append([100 * (way - true) for way in ways])
    return np.array(rows)


def margin_order(votes: quorate.Votes) -> np.ndarray:
    return quorate.pruning.MarginDistance(keep=1.0).fit(votes).order_


def first(voted: np.ndarray, order: np.ndarray, size: int) -> np.ndarray:
    """Mark the first so many of an order that have a vote, on each sample."""
    mask = np.zeros_like(voted)
    mask[order] = voted[order] & (voted[order].cumsum(axis=0) <= size)
    return mask


def errors(votes: quorate.Votes, mask: np.ndarray) -> np.ndarray:
    """Return where the averaged probabilities of the members marked err."""
    assert votes.probabilities is not None
    shares = np.einsum("ij,ijk->jk", mask.astype(np.float32), votes.probabilities)
    return np.asarray(shares.argmax(axis=1) != votes.y)


if __name__ == "__main__":
    main()
