"""What all pruning methods promise, their refusals, and faults seen elsewhere."""

import inspect
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from tests.pruning import slow

import quorate
from quorate import pruning
from quorate._rows import take_rows
from quorate.exceptions import QuorateWarning
from quorate.pruning import _evolution
from quorate.pruning._evolution import _mutations
from quorate.testing import check_pruner, example_votes

METHODS = pruning.METHODS


@pytest.fixture
def votes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    easy = rng.beta(2, 1, 80)
    return quorate.Votes(np.where(rng.random((10, 80)) < easy, y, 1 - y), y)


def make(name, **parameters):
    if name in ("sep", "pep"):
        parameters.setdefault("n_iter", 40)
    if "random_state" in METHODS[name]().get_params():
        parameters.setdefault("random_state", 0)
    return METHODS[name](**parameters)


def fit(name, votes, **parameters):
    X = np.random.default_rng(0).normal(size=(votes.n_samples, 3))
    if name.startswith("tsp") and not votes.is_masked:
        valid = np.random.default_rng(1).random(votes.codes.shape) < 0.5
        valid[:, 0] = valid[0] = True
        votes = quorate.Votes(votes.codes, votes.y, valid=valid)
    with warnings.catch_warnings(action="ignore", category=QuorateWarning):
        return make(name, **parameters).fit(votes, X if name == "tsp_dp" else None)


# ------------------------------------------------- all of them


@pytest.mark.parametrize("name", METHODS)
def test_conformance(name):
    check_pruner(make(name))


@pytest.mark.slow
@pytest.mark.parametrize("measure", quorate.measures())
def test_conformance_of_ftad(measure):
    check_pruner(pruning.FTAD(measure))


@pytest.mark.parametrize(
    "pruner",
    [
        pruning.EPBD(lambda_="ensemble"),
        pruning.EPBD(search="contested"),
        pruning.FTAD("entropy_cc", search="contested"),
        pruning.ReducedError(backfitting=True),
        pruning.ReducedError(ties="lowest"),
        pruning.MRMR(mi="bits"),
        pruning.MarginDistance(p="schedule"),
        pruning.FarthestFirst(distance="disagreement", start="random"),
        pruning.LocalSearch(distance="disagreement"),
        pruning.KLDivergence(symmetric=False),
        pruning.UMEP(margin="supervised"),
        pruning.DREP(rho=0.5),
        *(
            pytest.param(pruner, marks=pytest.mark.slow)
            for pruner in (
                pruning.BrierSelection(target="soft"),
                pruning.BrierSelection(sweeps=0),
                pruning.MarginLoss(slope=8.0, sweeps=0),
                pruning.GreedySelection(loss="brier"),
                pruning.GreedySelection(loss="log_loss", n_rounds=5),
                pruning.SimplexWeights(smoothing=0.0),
            )
        ),
    ],
    ids=repr,
)
def test_conformance_of_options(pruner):
    check_pruner(pruner)


def test_names_are_the_public_classes():
    classes = {
        thing
        for name in pruning.__all__
        if inspect.isclass(thing := getattr(pruning, name))
        and issubclass(thing, pruning.Pruner)
        and thing is not pruning.Pruner
    }
    assert set(METHODS.values()) == classes
    assert len(METHODS) == 32


@pytest.mark.parametrize("name", METHODS)
def test_the_unit_of_the_weights_does_not_matter(name):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    codes = np.where(rng.random((8, 60)) < 0.6, y, rng.integers(0, 3, (8, 60)))
    mask = (
        rng.random(codes.shape) < 0.6 if METHODS[name].tags.needs_out_of_bag else None
    )
    weights = rng.uniform(0.5, 2.0, 8)
    orders = [
        make(name, keep=4)
        .fit(quorate.Votes(codes, y, weights=unit * weights, valid=mask), X=codes.T)
        .order_.tolist()
        for unit in (1.0, 2.0**-50, 2.0**50)
    ]
    assert orders[1:] == orders[:1] * 2


@pytest.mark.parametrize("name", METHODS)
def test_documentation(name):
    doc = inspect.getdoc(METHODS[name])
    assert "Parameters\n" in doc
    assert "Examples\n" in doc
    summary = quorate.methods()[name].summary
    assert 10 < len(summary) <= 60
    for parameter in inspect.signature(METHODS[name]).parameters:
        assert f"\n{parameter} : " in doc, parameter


def test_constructors_only_store():
    for cls in METHODS.values():
        parameters = dict.fromkeys(inspect.signature(cls).parameters, "anything")
        assert cls(**parameters).get_params() == parameters


@pytest.mark.parametrize("name", METHODS)
def test_refused_by_all(name, votes):
    for keep in (0, -1, 11, 0.0, -0.5, 1.5, 5.0, float("nan"), True, "many", [3]):
        with pytest.raises(ValueError, match=r"must be 1 to 10 members \(an int\)"):
            fit(name, votes, keep=keep)
    with pytest.raises(TypeError, match=r"expected Votes, got ndarray.*collect_votes"):
        make(name).fit(votes.codes)
    with pytest.raises(NotFittedError):
        make(name).get_support()


@pytest.mark.parametrize("name", METHODS)
def test_keep_none(name, votes):
    if METHODS[name].tags.finds_size and not name.startswith("tsp"):
        assert 1 <= fit(name, votes, keep=None).n_kept_ <= 10
        return
    with pytest.raises(ValueError, match=rf"{METHODS[name].__name__}\(keep=None\)"):
        fit(name, votes, keep=None)


@pytest.mark.parametrize(
    ("keep", "n", "expected"),
    [(0.3, 10, 3), (0.31, 10, 4), (1.0, 10, 10), (1, 10, 1), (0.01, 10, 1),
     (0.2, 1, 1), (np.int64(4), 10, 4), (np.float32(0.5), 10, 5), (0.07, 100, 7)],
)  # fmt: skip
def test_size_rule(keep, n, expected):
    assert pruning.members_to_keep(keep, n, "test") == expected


def test_weights_matter_where_said(votes):
    # one member that decides every vote alone
    heavy = quorate.Votes(votes.codes, votes.y, weights=[100] + [1] * 9)
    changed = {
        name
        for name in METHODS
        if fit(name, heavy, keep=5).order_.tolist()
        != fit(name, votes, keep=5).order_.tolist()
    }
    assert {"re", "mrmc", "cm"} <= changed
    assert all(METHODS[name].tags.uses_weights for name in changed)


def test_a_member_without_weight_does_not_stop_a_method():
    votes = quorate.Votes(
        [[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 1, 1]], [1, 1, 1, 1], weights=[0, 1, 1]
    )
    for name in METHODS:
        assert 1 <= fit(name, votes, keep=2).n_kept_ <= 2, name


@pytest.mark.parametrize("name", METHODS)
def test_all_true_mask_changes_nothing(name, votes):
    if name.startswith("tsp"):
        return
    everything = np.ones(votes.codes.shape, dtype=bool)
    masked = quorate.Votes(votes.codes, votes.y, valid=everything)
    for keep in (2, 5):
        np.testing.assert_array_equal(
            fit(name, votes, keep=keep).order_, fit(name, masked, keep=keep).order_
        )


@pytest.mark.parametrize("name", METHODS)
def test_member_order_matters_only_for_ties(name):
    """Shuffled members give the shuffled choice, on votes without ties to speak of."""
    if name in ("es", "random", "sep", "pep", "gma", "kl", "ges"):
        return  # these start from a position or a draw, or tie at an early pick
    if name.startswith("tsp"):
        return  # the mask made in fit() is not shuffled along
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 3001)
    accuracy = np.linspace(0.55, 0.8, 9)[:, None]
    codes = np.where(rng.random((9, 3001)) < accuracy, y, 1 - y)
    mixed = rng.permutation(9)
    first = fit(name, quorate.Votes(codes, y), keep=4)
    second = fit(name, quorate.Votes(codes[mixed], y), keep=4)
    assert set(mixed[second.order_]) == set(first.order_)


# ------------------------------------------------- names and parameters


def test_methods_list():
    listed = quorate.methods()
    assert list(listed) == list(METHODS)
    assert len(repr(listed).splitlines()) == 32
    assert listed._repr_html_().count("<tr>") == 32


def test_make_pruner():
    names = {"epbd": "EPBD", "RE": "ReducedError", "tsp.ap": "TwoStageAccuracy"}
    for name, cls in names.items():
        pruner = pruning.make_pruner(name, keep=3)
        assert (type(pruner).__name__, pruner.keep) == (cls, 3)
    given = pruning.FTAD("kw_variance", keep=0.5)
    made = pruning.make_pruner(given, keep=3)
    assert (made.measure, made.keep, given.keep) == ("kw_variance", 3, 0.5)


def test_methods_of_other_packages(monkeypatch, tmp_path):
    info = tmp_path / "outsiders-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: outsiders\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[quorate.pruners]\noutside = outsiders:Outside\nepbd = outsiders:Outside\n"
    )
    (tmp_path / "outsiders.py").write_text(
        "from quorate.pruning import BestMembers\n\n\n"
        "class Outside(BestMembers):\n    'Do what an outsider does.'\n"
    )
    before = list(quorate.methods())
    monkeypatch.syspath_prepend(tmp_path)
    assert list(quorate.methods()) == [*before, "outside"]
    cls = quorate.methods()["outside"].cls
    assert cls.__module__ == "outsiders"
    assert isinstance(pruning.make_pruner("outside"), cls)
    assert isinstance(pruning.make_pruner("epbd"), pruning.EPBD)
    with pytest.raises(ValueError, match="outside"):
        pruning.make_pruner("outsid")
    monkeypatch.undo()
    assert list(quorate.methods()) == before


def test_entry_points_are_read_once(monkeypatch):
    quorate.methods()
    monkeypatch.setattr("quorate.pruning._names.entry_points", None)
    assert quorate.methods()["epbd"].cls is pruning.EPBD


@pytest.mark.parametrize(
    "seed", [0, np.random.default_rng(0), np.random.RandomState(0), None]
)
def test_seeds(seed, votes):
    assert pruning.RandomSubset(0.5, random_state=seed).fit(votes).n_kept_ == 5
    assert pruning.SEP(n_iter=5, random_state=seed).fit(votes).n_kept_ >= 1


def test_progress(votes):
    for pruner in (
        pruning.ReducedError(keep=4),
        pruning.ForwardSearch(4, "f1_macro"),
        pruning.PEP(n_iter=4, random_state=0),
    ):
        seen = []
        pruner.fit(votes, progress=lambda *step, seen=seen: seen.append(step))
        assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


# ------------------------------------------------- EPBD and FTAD


@pytest.mark.parametrize("search", ["printed", "contested"])
def test_ftad_with_the_error_gap_is_epbd(votes, search):
    ftad = pruning.FTAD("error_gap", keep=6, search=search).fit(votes)
    epbd = pruning.EPBD(keep=6, search=search).fit(votes)
    np.testing.assert_array_equal(ftad.order_, epbd.order_)
    np.testing.assert_array_equal(ftad.trace_samples_, epbd.trace_samples_)
    np.testing.assert_array_equal(ftad.trace_margins_, epbd.trace_margins_)


def test_contested_samples_are_those_just_right():
    """By hand: of five members 4, 3, 2, 0 and 5 are right on the samples."""
    rows = ["11001", "11101", "11001", "10101", "00001"]
    votes = quorate.Votes([[int(b) for b in row] for row in rows], [1] * 5)
    epbd = pruning.EPBD(keep=3, search="contested").fit(votes)
    # Sample 1, 3 of 5, takes member 1, the most accurate; then sample 0 has 3 of 4
    # and 2 of 3, where sample 1 has a tie and 1 of 3.
    assert epbd.trace_samples_.tolist() == [1, 0, 0]
    assert epbd.order_.tolist() == [1, 0, 2]
    np.testing.assert_allclose(epbd.trace_margins_, [1 / 5, 2 / 4, 1 / 3])


def test_explanation_names_the_sample_that_chose(votes):
    for search in ("printed", "contested"):
        selection = quorate.select(votes, pruning.EPBD(4, search=search))
        steps = selection.explain().steps
        traced = votes.samples[selection.pruner.trace_samples_].tolist()
        assert [step["sample"] for step in steps] == traced
        assert "chosen by sample" in repr(selection.explain())
    others = quorate.select(votes, "best", keep=4).explain()
    assert "sample" not in others.steps[0]
    assert "chosen by sample" not in repr(others)


def test_ftad_takes_functions(votes):
    named = pruning.FTAD("disagreement", keep=6).fit(votes)

    def disagreement(c, n):
        assert n >= 1
        return 2 * c * (n - c) / max(1, n * (n - 1))

    own = pruning.FTAD(disagreement, keep=6).fit(votes)
    np.testing.assert_array_equal(named.order_, own.order_)
    np.testing.assert_allclose(named.trace_margins_, own.trace_margins_)
    check_pruner(pruning.FTAD(disagreement))


@pytest.mark.parametrize("name", quorate.measures())
def test_warning_for_measures_that_cannot_choose(name, votes):
    if quorate.measures()[name].informative_per_sample:
        pruning.FTAD(name).fit(votes)
        return
    with pytest.warns(QuorateWarning, match="same on every") as seen:
        pruning.FTAD(name).fit(votes)
    assert seen[0].filename == __file__


def test_running_out_of_samples():
    votes = quorate.Votes([[0, 0], [0, 0], [1, 0]], [1, 1])
    with pytest.warns(QuorateWarning, match="1 of 2 members") as seen:
        fitted = pruning.EPBD(keep=2).fit(votes)
    assert seen[0].filename == __file__
    assert fitted.order_.tolist() == [2]
    hopeless = quorate.Votes([[0, 0], [0, 0]], [1, 1])
    with pytest.warns(QuorateWarning, match="the most accurate one is kept"):
        assert pruning.EPBD(keep=2).fit(hopeless).order_.tolist() == [0]


# ------------------------------------------------- SEP and PEP by their invariants


def test_evolution_never_gets_worse_and_keeps_to_the_size():
    for seed in range(30):
        votes = slow.random_votes(seed, weighted=seed % 3 == 0)
        for cls in (pruning.SEP, pruning.PEP):
            none = cls(n_iter=0, random_state=seed).fit(votes)
            some = cls(n_iter=60, random_state=seed).fit(votes)
            assert some.error_ <= none.error_ + 1e-12
            for fitted in (none, some):
                error = votes.keep(fitted.order_).error()
                assert fitted.error_ == pytest.approx(error)
            assert some.n_iter_ == 60
            one = cls(keep=1, n_iter=50, random_state=seed).fit(votes)
            assert one.n_kept_ == 1


def slow_sep(votes, n_iter, seed):
    """Flip as SEP does, vote anew each time, and keep what is not worse."""
    n = votes.n_members
    rng = np.random.default_rng(seed)
    inside = set(pruning.SEP()._start(rng, n, n).tolist())
    for flips in _mutations(rng, n, n_iter):
        after = inside ^ set(flips)
        if after and votes.keep(sorted(after)).error() <= (
            votes.keep(sorted(inside)).error() + 1e-12
        ):
            inside = after
    return sorted(inside)


@pytest.mark.parametrize("weighted", [False, True])
def test_sep_keeps_what_is_not_worse(weighted):
    """Equals count: the search drifts over plains, with one flip and with several."""
    for seed in range(12):
        votes = slow.random_votes(seed, weighted=weighted, masked=False)
        fitted = pruning.SEP(n_iter=40, random_state=seed).fit(votes)
        assert fitted.order_.tolist() == slow_sep(votes, 40, seed)


def test_nothing_beats_an_exhaustive_search():
    for seed in range(25):
        votes = slow.random_votes(seed, masked=False)
        n = votes.n_members
        best = min(
            votes.keep(np.flatnonzero([bits >> t & 1 for t in range(n)])).error()
            for bits in range(1, 2**n)
        )
        for pruner in (
            pruning.OrderedError(),
            pruning.SEP(n_iter=100, random_state=0),
            pruning.PEP(n_iter=30, random_state=0),
            pruning.DREP(),
        ):
            assert votes.keep(pruner.fit(votes).order_).error() >= best - 1e-12
        thorough = pruning.PEP(n_iter=300, random_state=0).fit(votes)
        assert thorough.error_ == pytest.approx(best)


# ------------------------------------------------- two stages


class TestTwoStage:
    @pytest.fixture
    def bagged(self):
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 60)
        codes = np.where(rng.random((10, 60)) < 0.7, y, 1 - y)
        valid = rng.random((10, 60)) < 0.4
        valid[0] = True
        return quorate.Votes(codes, y, valid=valid), rng.normal(size=(60, 2))

    def test_accuracy(self, bagged):
        votes, _ = bagged
        fitted = pruning.TwoStageAccuracy(keep=4).fit(votes)
        best = pruning.BestMembers(4).fit(votes)
        assert fitted.order_.tolist() == best.order_.tolist()
        plain = pruning.TwoStageAccuracy(None, ta=5).fit(votes)
        passing = votes.accuracies >= np.percentile(votes.accuracies, 50)
        assert plain.order_.tolist() == np.flatnonzero(passing).tolist()
        assert pruning.TwoStageAccuracy(2, ta=5).fit(votes).n_kept_ == 2

    def test_masks_per_query(self, bagged):
        votes, X = bagged
        fitted = pruning.TwoStageDistance(None, td=3).fit(votes, X)
        masks = fitted.query_support(X[:7])
        assert masks.shape == (7, 10)
        apart = np.linalg.norm(X[:7, None] - fitted.centres_, axis=2)
        for mask, row in zip(masks, apart, strict=True):
            np.testing.assert_array_equal(mask, row <= np.percentile(row, 30))
        fitted = pruning.TwoStageDistance(None, td=5, ta=5).fit(votes, X)
        accurate = votes.accuracies >= np.percentile(votes.accuracies, 50)
        assert not fitted.query_support(X)[:, ~accurate].any()

    @pytest.mark.parametrize("form", ["coo", "dia", "bsr", "csr", "csc", "lil", "dok"])
    def test_sparse_features_of_every_kind(self, bagged, form):
        votes, X = bagged
        plain = pruning.TwoStageDistance(4).fit(votes, X)
        for make in (sparse.csr_array, sparse.csr_matrix):
            table = make(X).asformat(form)
            fitted = pruning.TwoStageDistance(4).fit(votes, table, queries=table)
            np.testing.assert_array_equal(fitted.order_, plain.order_)
            np.testing.assert_array_equal(
                fitted.query_support(table), plain.query_support(X)
            )
            some = take_rows(table, [5, 3])  # as prune does
            np.testing.assert_array_equal(some.toarray(), X[[5, 3]])

    def test_samples_left_out_do_not_shift_the_features(self):
        valid = np.array([[True, False, True], [True, False, False]])
        X = np.array([[0.0], [100.0], [4.0]])
        with pytest.warns(quorate.exceptions.LeftOutWarning):
            votes = quorate.Votes([[0, 0, 1], [0, 1, 1]], [0, 1, 1], valid=valid)
        for features in (X, X[[0, 2]]):  # all, or those that were voted on
            fitted = pruning.TwoStageDistance(keep=1).fit(votes, features)
            np.testing.assert_allclose(fitted.centres_, [[2.0], [0.0]])


# ------------------------------------------------- the checks themselves


@pytest.mark.parametrize(
    ("choose", "message"),
    [
        (lambda votes, size: [0] * size,
         "contains members more than once"), (lambda votes, size:
        range(votes.n_members), "allowed"), (lambda votes, size:
        np.random.permutation(votes.n_members)[:size],  # noqa: NPY002
         "two runs differ|global random state"),
        (lambda votes, size: [int(votes.y.argmax() % votes.n_members)], "keep = n"),
        (lambda votes, size: np.argsort([hash(str(c)) for c in
        votes.classes[votes.codes[:, 0]]])[:size],
         "change the order|order of samples|two runs differ"),
    ],
)  # fmt: skip
def test_checks_catch_what_they_should(choose, message):
    class Tested(pruning.Pruner):
        """Do what the test says."""

        def _select(self, inputs, size):
            return choose(inputs.votes, size)

    with pytest.raises(AssertionError, match=message):
        check_pruner(Tested())


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (lambda c, n: np.zeros(3), r"returned shape \(3,\)"),
        # By chance, two runs may choose alike; the state of the generator tells then.
        (lambda c, n: np.random.random(c.size), "differ|state was changed"),  # noqa: NPY002
    ],
)
def test_measures_are_checked_by_what_they_choose(measure, message):
    with pytest.raises(AssertionError, match=message):
        check_pruner(pruning.FTAD(measure))


def test_examples_are_named_once():
    names = [name for name, _ in example_votes()]
    assert len(names) == len(set(names)) == 22


def forty_votes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    return quorate.Votes(np.where(rng.random((40, 40)) < 0.6, y, 1 - y), y)


@pytest.mark.parametrize("cls", [pruning.SEP, pruning.PEP])
def test_random_searches_end_where_nobody_says_how_long(cls, monkeypatch):
    """Of many members, as many mutations as of 303; whoever asks gets more."""
    votes = forty_votes()
    assert round(302**2 * np.log(302)) < _evolution._MOST_MUTATIONS == 2**19
    assert round(303**2 * np.log(303)) > _evolution._MOST_MUTATIONS
    assert cls(random_state=0).fit(votes).n_iter_ == round(40**2 * np.log(40))
    assert cls(random_state=0, n_iter=10**9, time_limit=0.2).fit(votes).n_iter_ < 10**9
    monkeypatch.setattr(_evolution, "_MOST_MUTATIONS", 300)
    assert cls(random_state=0).fit(votes).n_iter_ == 300
    assert cls(random_state=0, n_iter=301).fit(votes).n_iter_ == 301


def test_pareto_search_ends_after_so_many_evaluations(monkeypatch):
    votes = forty_votes()
    monkeypatch.setattr(_evolution, "_MOST_EVALUATIONS", 5000)
    found = pruning.PEP(random_state=0).fit(votes)
    assert 5000 <= found.n_evaluations_ <= 5000 + 40 * 41 // 2
    assert found.n_iter_ < round(40**2 * np.log(40))
    asked = pruning.PEP(random_state=0, n_iter=5903).fit(votes)
    assert (asked.n_iter_, asked.n_evaluations_ > 6000) == (5903, True)
