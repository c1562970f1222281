"""Somebody else's package: a kind and a member adapter, known by entry points alone.

The package is built here, installed into a folder, and used by processes that import
nothing of it themselves but what they were given.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

pytestmark = pytest.mark.slow  # three processes, a report among what they make

PACKAGE = '''
"""committees: trees on random halves of the columns, and rules of thumb."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted, validate_data


class Committee(ClassifierMixin, BaseEstimator):
    def __init__(self, n_trees=15, random_state=0):
        self.n_trees = n_trees
        self.random_state = random_state

    def fit(self, X, y):
        X, y = validate_data(self, X, y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        rng = np.random.default_rng(self.random_state)
        half = X.shape[1] // 2
        self.columns_ = [
            rng.permutation(X.shape[1])[:half] for _ in range(self.n_trees)
        ]
        self.trees_ = [
            DecisionTreeClassifier(max_depth=4, random_state=0).fit(X[:, seen], codes)
            for seen in self.columns_
        ]
        return self

    def predict_proba(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        pairs = zip(self.trees_, self.columns_, strict=True)
        return sum(t.predict_proba(X[:, seen]) for t, seen in pairs) / self.n_trees

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class RuleOfThumb:
    """Knows a column, a limit and two labels."""

    def __init__(self, column, limit, below, above):
        self.column, self.limit = column, limit
        self.below, self.above = below, above

    def predict(self, X):
        return np.where(X[:, self.column] < self.limit, self.below, self.above)
'''

PLUGIN = '''
"""committees.plugin: what quorate has to know about them."""

from committees import Committee
from quorate.ensembles import DecisionRule, Ensemble, Kind, Member, checker


class CommitteeKind(Kind):
    name = "committee"
    family = "bagging"
    models = (Committee,)
    per_member = ("trees_", "columns_")

    def read(self, model):
        pairs = zip(model.trees_, model.columns_, strict=True)
        return Ensemble(
            kind=self, model=model, core=model,
            members=tuple(
                Member(str(place), tree, model.classes_, seen, is_soft=True)
                for place, (tree, seen) in enumerate(pairs)
            ),
            classes=model.classes_,
            rule=DecisionRule("average"),
            prepare=checker(model),
        )

    def keep_members(self, smaller, members):
        smaller.trees_ = [smaller.trees_[member] for member in members]
        smaller.columns_ = [smaller.columns_[member] for member in members]
        smaller.n_trees = len(members)

'''

ENTRY_POINTS = """\
[quorate.ensembles]
committee = committees.plugin:CommitteeKind
"""

DATA = """
import json, sys
import numpy as np
import quorate
from sklearn.datasets import load_breast_cancer
folder = sys.argv[1]
X, y = load_breast_cancer(return_X_y=True)
y = np.array(["bad", "good"])[y]
"""

MAKE = DATA + dedent("""
    from committees import Committee, RuleOfThumb
    from sklearn.naive_bayes import GaussianNB
    from quorate.testing import check_ensemble

    check_ensemble(Committee(5).fit)
    model = Committee().fit(X[::3], y[::3])
    small = quorate.prune(model, X[1::3], y[1::3], "mdm", keep=4)
    page = quorate.report(model, X[1::3], y[1::3], method="mdm", keep=4)
    quorate.save(small, folder + "/committee.skops")

    pool = {
        "bayes": GaussianNB().fit(X[::3], y[::3]),
        "radius": RuleOfThumb(0, 15.0, "good", "bad"),
        "texture": RuleOfThumb(1, 19.0, "good", "bad"),
        "nonsense": RuleOfThumb(1, 19.0, "bad", "good"),
    }
    few = quorate.prune(pool, X[1::3], y[1::3], "best", keep=2)
    about = quorate.report(pool, X[1::3], y[1::3], method="best", keep=2)
    quorate.save(few, folder + "/pool.skops")
    print(json.dumps({
        "type": type(small).__name__, "trees": len(small.trees_),
        "reported": page.data["pruning"]["n_kept"],
        "columns": [seen.tolist() for seen in small.columns_],
        "columns before": [seen.tolist() for seen in model.columns_],
        "kept": small.pruning_["kept"],
        "committee": small.predict(X).tolist(),
        "pool": few.predict(X).tolist(), "names": list(few.estimators),
        "reported names": list(about.selection.names),
        "rule": pool["radius"].predict(X).tolist(),
        "bayes": pool["bayes"].predict(X).tolist(),
    }))
""")

SERVE = DATA + dedent("""
    trusted = [
        "committees.Committee", "committees.RuleOfThumb", "sklearn.tree._tree.Tree",
        "quorate._ensembles._weighted_voting.WeightedVoting",
    ]
    committee = quorate.load(folder + "/committee.skops", trusted)
    pool = quorate.load(folder + "/pool.skops", trusted)
    lazy = quorate.LazyClassifier(committee).fit()
    print(json.dumps({
        "committee": committee.predict(X).tolist(), "lazy": lazy.predict(X).tolist(),
        "pool": pool.predict(X).tolist(),
        "pool, lazily": quorate.LazyClassifier(pool).fit().predict(X).tolist(),
    }))
""")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The package as pip leaves it: a folder of code and one of metadata."""
    folder = tmp_path_factory.mktemp("site")
    code = folder / "committees"
    code.mkdir()
    (code / "__init__.py").write_text(PACKAGE)
    (code / "plugin.py").write_text(PLUGIN)
    info = folder / "committees-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: committees\nVersion: 1.0\n"
    )
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    return folder


def run(code, folder):
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), source])},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def made(folder):
    return run(MAKE, folder)


def test_pruned_and_reported(made):
    assert (made["type"], made["trees"], made["reported"]) == ("Committee", 4, 4)
    before = [made["columns before"][member] for member in made["kept"]]
    assert made["columns"] == before


def test_a_pool_with_rules_of_thumb(made):
    assert made["names"] == ["bayes", "radius"]
    assert sorted(made["reported names"]) == made["names"]
    # Of two that count the same, the first label wins where they differ.
    both = np.array([made["bayes"], made["rule"]])
    expected = np.where(both[0] == both[1], both[0], "bad")
    np.testing.assert_array_equal(made["pool"], expected)


def test_served_by_another_process(made, folder):
    served = run(SERVE, folder)
    assert served["committee"] == served["lazy"] == made["committee"]
    assert served["pool"] == served["pool, lazily"] == made["pool"]
