import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score

import quorate
from quorate._blending._means import geometric_means, log_ratios, plain_means, shares_of
from quorate._scoring import stratified_folds
from quorate.exceptions import QuorateWarning


def made(n=300, n_models=8, n_classes=3, seed=0):
    """Models of different skill that see the same thing, each with noise of its own."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    truth = 1.5 * np.eye(n_classes)[y] + rng.normal(size=(n, n_classes)) * 0.7
    noise = rng.normal(size=(n_models, n, n_classes))
    skill = np.linspace(0, 1, n_models)[:, None, None]
    logits = skill * truth + noise
    shares = np.exp(logits)
    shares /= shares.sum(axis=2, keepdims=True)
    names = [f"m{place}" for place in range(n_models)]
    return dict(zip(names, shares, strict=True)), np.array(["ant", "bee", "cow"])[y]


ARRAYS, Y = made()
NAMES = list(ARRAYS)


def loss_of(weights, arrays=ARRAYS, y=Y):
    mean = sum(weight * arrays[name] for name, weight in weights.items())
    return log_loss(y, mean, labels=np.unique(y))


@pytest.fixture(scope="module")
def found():
    return quorate.blend(ARRAYS, Y)


def test_better_than_the_best_and_the_mean(found):
    assert sum(found.weights.values()) == pytest.approx(1)
    assert list(found.weights.values()) == sorted(found.weights.values(), reverse=True)
    alone = {name: loss_of({name: 1.0}) for name in NAMES}
    assert found.best_single == min(alone, key=alone.get)
    own = log_loss(Y, found.predict_proba(ARRAYS))
    assert own < min(alone.values())
    assert own < loss_of(dict.fromkeys(NAMES, 1 / len(NAMES)))
    assert found.score > max(found.best_nested.score, found.mean_nested.score)
    assert found.mean_nested.score == pytest.approx(
        -loss_of(dict.fromkeys(NAMES, 1 / len(NAMES)))
    )
    # Weights chosen on other folds do a little worse than on their own.
    assert -found.score > own


@pytest.mark.parametrize(
    ("method", "keep"), [("simplex", None), ("geometric", None), ("mean", 5)]
)
def test_scores_are_of_samples_that_did_not_choose(method, keep):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    noise = {f"n{place}": rng.uniform(0.3, 0.7, 40) for place in range(200)}
    found = quorate.blend(noise, y, method=method, keep=keep)
    own = log_loss(y, found.predict_proba(noise))
    assert own < np.log(2) - 0.03  # what choosing makes of noise
    assert -found.score > np.log(2) - 0.02  # and what it is worth
    assert -found.best_nested.score > np.log(2) - 0.02


@pytest.mark.parametrize(
    ("method", "n"), [("geometric", 300), ("geometric", 12_000), ("simplex", 16_000)]
)
def test_nested_scores_are_those_of_weights_found_without_the_fold(method, n):
    arrays, y = made(n=n, n_models=6)
    found = quorate.blend(arrays, y, method=method, folds=3)
    codes = np.unique(y, return_inverse=True)[1]
    places = stratified_folds(codes, 3, 0)
    shares = np.empty((n, 3))
    for fold in range(3):
        seen, new = places != fold, places == fold
        if method == "simplex":
            true = np.stack([a[np.arange(n), codes] for a in arrays.values()])
            weights = plain_means(true[:, seen])[0].weights
            shares[new] = np.tensordot(weights, [a[new] for a in arrays.values()], 1)
        else:
            logs = log_ratios(np.stack(list(arrays.values())))
            weights, sharpness = geometric_means(logs[:, seen], codes[seen])[0]
            shares[new] = shares_of(sharpness * np.tensordot(weights, logs[:, new], 1))
    # On their own samples weights look better by more than this.
    assert -found.score == pytest.approx(log_loss(y, shares), abs=2e-6)


@pytest.mark.parametrize("options", [
    {}, {"method": "simplex"}, {"method": "geometric"}, {"scoring": "roc_auc_ovr"},
    {"method": "simplex", "keep": 3}])  # fmt: skip
def test_identical_models_get_equal_weights(options):
    twins = {"t1": ARRAYS["m7"], **ARRAYS, "t2": ARRAYS["m7"].copy()}
    found = quorate.blend(twins, Y, **options)
    weights = [found.weights.get(name, 0.0) for name in ("t1", "m7", "t2")]
    weights = [weight for weight in weights if weight or "keep" not in options]
    assert weights == [weights[0]] * len(weights) != []
    assert weights[0] > 0
    assert sum(found.weights.values()) == pytest.approx(1)
    assert len(found.weights) <= options.get("keep", 11)
    once = quorate.blend(ARRAYS, Y, **options)
    assert found.score == pytest.approx(once.score, abs=0.003)


@pytest.mark.parametrize("scoring", [None, "accuracy"])
def test_identical_models_share_what_both_means_keep(scoring):
    """The two means of "auto" may give their weights to different twins."""
    options = {} if scoring is None else {"scoring": scoring}
    for n, keep in ((2, 2), (4, 4), (3, 2), (4, 1)):
        weights = quorate.blend([ARRAYS["m7"]] * n, Y, keep=keep, **options).weights
        assert [*weights] == [f"model_{place}" for place in range(len(weights))]
        assert [*weights.values()] == [1 / len(weights)] * len(weights)
        assert len(weights) <= keep


class Watched:
    """An array that counts how often it is looked at."""

    def __init__(self, array):
        self.array, self.looks = array, 0

    def __array__(self, dtype=None, copy=None):
        self.looks += 1
        return self.array


def test_an_array_is_looked_at_once_and_once_more_where_it_counts():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    good = {f"g{place}": np.clip(0.3 + 0.4 * y + rng.normal(0, 0.2, 400), 0.01, 0.99)
            for place in range(3)}  # fmt: skip
    bad = {f"b{place}": 1 - array for place, array in enumerate(good.values())}
    watched = {name: Watched(array) for name, array in (good | bad).items()}
    with pytest.warns(QuorateWarning):
        found = quorate.blend(watched, y, method="auto")
    assert set(found.weights) == set(good)
    # Once, and once more since they are worse than the class shares.
    assert [watched[name].looks for name in bad] == [2, 2, 2]
    # The first tells the shape. Those with weight are scored, and the best one alone.
    assert watched["g0"].looks <= 4
    assert max(watched[name].looks for name in good) <= 4


def each(change, arrays=ARRAYS):
    """Return what a change makes of the array of each model."""
    return {name: change(array) for name, array in arrays.items()}


def frames(names, order=(2, 0, 1), arrays=ARRAYS):
    return each(lambda a: pd.DataFrame(a[:, list(order)], columns=names), arrays)


STRAIGHT, MIXED = ["ant", "bee", "cow"], ["cow", "ant", "bee"]
CODES = np.searchsorted(STRAIGHT, Y)
AS_TEXT = np.array(["8", "9", "10"])[CODES]  # of which "10" sorts before "9"
FORMS = {
    "list": (list(ARRAYS.values()), Y, {}),
    "one array": (np.stack(list(ARRAYS.values())), Y, {}),
    "pandas": (each(pd.DataFrame), Y, {}),
    "polars": (each(pl.DataFrame), Y, {}),
    "declared": (each(lambda a: a[:, [2, 0, 1]]), Y, {"classes": MIXED}),
    "named": (frames(MIXED), Y, {}),
    "named in polars": (
        {name: pl.from_pandas(part) for name, part in frames(MIXED).items()}, Y, {}
    ),
    "declared against names": (frames(["dog", "elk", "fox"]), Y, {"classes": MIXED}),
    "numbers": (frames([2, 0, 1]), CODES, {}),
    "numbers as text": (frames(["2", "0", "1"]), CODES, {}),
    "places": (frames([0, 1, 2], (0, 1, 2)), CODES + 1, {}),
    "labels as text": (ARRAYS, AS_TEXT, {"classes": ["8", "9", "10"]}),
    "labels as text, named": (frames(["10", "8", "9"]), AS_TEXT, {}),
}  # fmt: skip

TWO, Y_TWO = made(n_classes=2)
SIDES = np.where(Y_TWO == "ant", "no", "yes")
BITS = (SIDES == "yes").astype(int)


def series(side, name=None, make=pd.Series):
    return each(lambda a: make(a[:, side], name=name), TWO)


def polars_series(values, name):
    return pl.Series(name, values)


def columns(names=None):
    """Return the columns of a table of models, by its names."""
    table = pd.DataFrame([array[:, 1] for array in TWO.values()]).T
    table.columns = names or table.columns
    return {name: table[name] for name in table}


COLUMN_FORMS = {
    "one column": (each(lambda a: a[:, 1], TWO), SIDES, {}),
    "a matrix of one": (each(lambda a: a[:, 1:], TWO), SIDES, {}),
    "frame of the first": (frames(["no"], (0,), TWO), SIDES, {}),
    "frame of the second": (frames(["yes"], (1,), TWO), SIDES, {}),
    "frame of another name": (frames(["p"], (1,), TWO), SIDES, {}),
    "frame without a name": (frames([0], (1,), TWO), SIDES, {}),
    "frame without a name, of bits": (frames([0], (1,), TWO), BITS, {}),
    "frame declared": (frames([0], (0,), TWO), BITS, {"classes": [1, 0]}),
    "series declared": (series(0, "no"), SIDES, {"classes": ["yes", "no"]}),
    "columns of a table": (columns(), SIDES, {}),
    "models called as classes are": (columns(["yes", "no", *"cdefgh"]), SIDES, {}),
    "a list of numbered models": (list(columns().values()), BITS + 1, {}),
}
for make in (pd.Series, polars_series):
    COLUMN_FORMS[make.__name__] = (series(1, "yes", make), SIDES, {})


def own_shares(found, arrays, y):
    """Return what each sample's own class gets."""
    return found.predict_proba(arrays)[np.arange(len(y)), np.searchsorted(
        found.classes, y)]  # fmt: skip


@pytest.mark.parametrize(
    ("arrays", "y", "given", "labels", "options"),
    [
        *(pytest.param(ARRAYS, Y, *form, id=name) for name, form in FORMS.items()),
        *(pytest.param(TWO, SIDES, *form, id=f"two classes, {name}")
          for name, form in COLUMN_FORMS.items()),
    ],
)  # fmt: skip
def test_all_forms_give_the_same(arrays, y, given, labels, options):
    plain = quorate.blend(arrays, y, method="mean")
    found = quorate.blend(given, labels, method="mean", **options)
    assert found.score == pytest.approx(plain.score, abs=1e-6)
    wanted = own_shares(plain, arrays, y)
    np.testing.assert_allclose(own_shares(found, given, labels), wanted, atol=1e-6)
    assert (found.votes().correct == plain.votes().correct).all()


@pytest.mark.parametrize(
    ("suffix", "write"),
    [
        ("npy", lambda file, a: np.save(file, a.astype(np.float16))),
        ("npy", lambda file, a: np.save(file, a)),
        ("parquet", lambda file, a: pd.DataFrame(a, columns=["0", "1", "2"])
            .to_parquet(file)),
        ("csv", lambda file, a: pd.DataFrame(a).to_csv(file, index=False)),
        ("csv", lambda file, a: pd.DataFrame(a[:, [2, 0, 1]], columns=MIXED)
            .to_csv(file, index=False)),
    ],
)  # fmt: skip
def test_folders(found, suffix, write, tmp_path):
    for name, array in ARRAYS.items():
        write(tmp_path / f"{name}.{suffix}", array)
    (tmp_path / "about.txt").write_text("not a model")
    wanted = found.predict_proba(ARRAYS)
    for folder in (tmp_path, str(tmp_path)):
        again = quorate.blend(folder, Y)
        assert again.weights == pytest.approx(found.weights, abs=2e-3)
        np.testing.assert_allclose(again.predict_proba(folder), wanted, atol=2e-3)
        np.testing.assert_allclose(found.predict_proba(folder), wanted, atol=2e-3)


def test_columns_of_new_samples_may_stand_in_another_order(found):
    mixed, straight = frames(MIXED), frames(STRAIGHT, (0, 1, 2))
    again = quorate.blend(mixed, Y)
    assert again.weights == pytest.approx(found.weights)
    for blend, given in ((again, straight), (again, mixed), (found, mixed)):
        np.testing.assert_allclose(
            blend.predict_proba(given), found.predict_proba(ARRAYS), atol=1e-9
        )


def test_a_first_row_taken_for_names(tmp_path):
    for name, array in ARRAYS.items():
        np.savetxt(tmp_path / f"{name}.csv", array, delimiter=",")
    with pytest.raises(ValueError, match=r"the columns are called '[0-9.e-]+', "):
        quorate.blend(tmp_path, np.asarray(Y)[1:])


@pytest.mark.parametrize("method", ["simplex", "geometric"])
def test_predictions_by_hand(method):
    found = quorate.blend(ARRAYS, Y, method=method)
    new = {name: array[:5] for name, array in made(seed=5)[0].items()}
    if method == "simplex":
        assert found.sharpness is None
        mean = sum(found.weights.get(name, 0) * array for name, array in new.items())
    else:
        assert found.sharpness > 1  # eight that err apart are surer together
        powers = {name: found.sharpness * found.weights.get(name, 0) for name in new}
        parts = [np.maximum(new[name], 1e-3) ** powers[name] for name in new]
        mean = np.prod(parts, axis=0)
        mean /= mean.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.predict_proba(new), mean)
    assert found.predict(new).tolist() == np.unique(Y)[mean.argmax(axis=1)].tolist()
    both = quorate.blend(ARRAYS, Y, method="auto")
    other = {"simplex": "geometric", "geometric": "simplex"}[method]
    mate = quorate.blend(ARRAYS, Y, method=other)
    np.testing.assert_allclose(
        both.predict_proba(new), (mate.predict_proba(new) + mean) / 2
    )
    for name, weight in both.weights.items():
        pair = found.weights.get(name, 0), mate.weights.get(name, 0)
        assert weight == pytest.approx(sum(pair) / 2)
    few = quorate.blend(ARRAYS, Y, keep=2)
    needed = {name: new[name] for name in few.weights}
    np.testing.assert_allclose(few.predict_proba(needed), few.predict_proba(new))


def test_keep():
    for method in ("simplex", "geometric"):
        losses = []
        for keep in (1, 2, 4, 50):
            few = quorate.blend(ARRAYS, Y, keep=keep, method=method)
            assert 1 <= len(few.weights) <= min(keep, 8)
            losses.append(log_loss(Y, few.predict_proba(ARRAYS)))
        assert losses[0] > losses[1] > losses[2] > losses[3] - 1e-3


@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy"])
def test_the_plain_mean_of_the_best(scoring):
    found = quorate.blend(ARRAYS, Y, method="mean", keep=3, scoring=scoring)
    scores = {
        name: -log_loss(Y, array) if scoring == "neg_log_loss"
        else (np.unique(Y)[array.argmax(axis=1)] == Y).mean()
        for name, array in ARRAYS.items()
    }  # fmt: skip
    best = sorted(NAMES, key=lambda name: -scores[name])[:3]
    assert found.weights == pytest.approx(dict.fromkeys(best, 1 / 3))
    mean = sum(ARRAYS[name] for name in best) / 3
    np.testing.assert_allclose(found.predict_proba(ARRAYS), mean)
    whole = quorate.blend(ARRAYS, Y, method="mean", keep=50, scoring=scoring)
    assert whole.weights == pytest.approx(dict.fromkeys(NAMES, 1 / 8))
    assert found.mean_nested.score == whole.score
    # Equals stay in the order they came in.
    same = dict.fromkeys(["c", "a", "b"], ARRAYS["m7"])
    few = quorate.blend(same, Y, method="mean", keep=2)
    assert list(few.weights) == ["c", "a"]


@pytest.mark.parametrize("method", ["auto", "simplex", "geometric", "mean"])
@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy"])
def test_every_method_keeps_at_most_so_many(method, scoring):
    arrays, y = made(n=60, n_models=5)
    for keep in (2, 50):
        found = quorate.blend(
            arrays, y, method=method, keep=keep, scoring=scoring, folds=2
        )
        assert 1 <= len(found.weights) <= keep


def test_names_choose_and_name(found):
    three = quorate.blend(ARRAYS, Y, names=["m5", "m1", "m3"])
    assert three.names == ["m5", "m1", "m3"]
    named = quorate.blend(list(ARRAYS.values()), Y, names=NAMES)
    assert named.weights == pytest.approx(found.weights)
    assert quorate.blend(list(ARRAYS.values()), Y).names[0] == "model_0"
    numbered = dict(enumerate(ARRAYS.values()))
    some = quorate.blend(numbered, Y, names=[5, 1, "3"])
    assert some.names == ["5", "1", "3"]
    assert some.score == three.score


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scoring", "judge"),
    [
        ("neg_log_loss", lambda y, p: -log_loss(y, p)),
        ("balanced_accuracy",
         lambda y, p: balanced_accuracy_score(y, np.unique(Y)[p.argmax(axis=1)])),
        ("roc_auc_ovr", lambda y, p: roc_auc_score(y, p, multi_class="ovr")),
        ("accuracy", lambda y, p: (np.unique(Y)[p.argmax(axis=1)] == y).mean()),
    ],
)  # fmt: skip
def test_scorings(scoring, judge):
    found = quorate.blend(ARRAYS, Y, scoring=scoring)
    assert found.scoring == scoring
    mean = sum(ARRAYS.values()) / len(ARRAYS)
    assert found.mean_nested.score == pytest.approx(judge(Y, mean))
    assert found.score >= found.best_nested.score - 2 * found.standard_error
    assert judge(Y, found.predict_proba(ARRAYS)) >= judge(Y, ARRAYS["m0"])


def test_votes_know_their_models(found):
    votes = found.votes()
    assert quorate.select(votes, "ges", keep=4).n_kept <= 4
    assert list(votes.names) == NAMES
    assert votes.rule == "average"
    assert votes.classes.tolist() == ["ant", "bee", "cow"]
    expected = (np.unique(Y)[sum(ARRAYS.values()).argmax(axis=1)] == Y).mean()
    assert votes.accuracy() == pytest.approx(expected)
    assert 0 < quorate.diversity(votes, "disagreement") < 1


def test_same_seed_same_weights(found):
    assert quorate.blend(ARRAYS, Y).to_dict() == found.to_dict()
    seeds = [
        quorate.blend(ARRAYS, Y, method="simplex", random_state=seed).weights
        for seed in (0, 1)
    ]
    assert seeds[0] != seeds[1]


def test_reprs(found):
    assert repr(found).startswith("Blend of ")
    assert f"{found.score:.4f}" in repr(found)
    page = found._repr_html_()
    assert f"best single model ({found.best_single})" in page
    assert f"{found.weights[found.best_single]:.3f}" in page
    told = found.to_dict()
    assert json.loads(json.dumps(told))["weights"] == found.weights
    assert told["score"] == found.score


def table(name, rows=None):
    """Return the probabilities of a model as a frame, whose rows may have names."""
    found = pd.DataFrame(ARRAYS[name], columns=["ant", "bee", "cow"])
    return found if rows is None else found.set_axis(rows)


def tables(**others):
    return {name: table(name) for name in NAMES} | others


IDS = [f"id{place}" for place in range(300)]


def mean_score(given, y):
    return quorate.blend(given, y, method="mean").score


class TestRowNames:
    """Frames and series that name their rows have to agree."""

    def test_names_that_agree(self, found):
        wanted = found.mean_nested.score
        days = pd.date_range("2020-01-01", periods=300)
        for rows in (IDS, days, np.arange(300) + 7, [0] * 300, [np.nan] * 300):
            given = {name: table(name, rows) for name in NAMES}
            for y in (Y, pd.Series(Y, index=rows)):
                assert mean_score(given, y) == pytest.approx(wanted)
            # An array has no names.
            mixed = given | {"m2": ARRAYS["m2"]}
            assert mean_score(mixed, Y) == pytest.approx(wanted)
        coarse = {"m1": table("m1", days), "m2": table("m2", days.as_unit("s"))}
        assert len(quorate.blend(coarse, Y).names) == 2

    @pytest.mark.parametrize(
        ("mixed", "name", "known"),
        [("m0", "m1", "m0"), ("m1", "m1", "m0"), ("m2", "m2", "m0")],
    )
    def test_one_is_shuffled(self, found, mixed, name, known):
        shuffled = table(mixed).sample(frac=1, random_state=0)
        given = tables(**{mixed: shuffled})
        why = (
            rf"^blend: '{name}' and '{known}' have different rows, or the same rows in "
            "a different order, according to the index: row 0 is (208 here and 0|0 "
            r"here and 208) there; sort both in the same way, for example with "
            r"sort_index\(\), or drop a meaningless index with "
            r"reset_index\(drop=True\)\.$"
        )
        with pytest.raises(ValueError, match=why):
            quorate.blend(given, Y)
        column = {key: part["bee"] for key, part in given.items()}
        with pytest.raises(ValueError, match=why):
            quorate.blend(column, Y == "bee")
        again = quorate.blend(given | {mixed: shuffled.sort_index()}, Y)
        assert again.weights == found.weights
        # Whoever has no weight is not looked at; here all have one.
        mean = quorate.blend(ARRAYS, Y, method="mean")
        with pytest.raises(ValueError, match=why.replace("blend:", "Blend.*proba:")):
            mean.predict_proba(given)

    def test_files_that_keep_an_index(self, tmp_path):
        for name in NAMES[:3]:
            table(name, IDS).to_parquet(tmp_path / f"{name}.parquet")
        assert len(quorate.blend(tmp_path, Y).names) == 3
        table("m1", IDS).iloc[::-1].to_parquet(tmp_path / "m1.parquet")
        why = "'m1' and 'm0' have different rows, or the"
        with pytest.raises(ValueError, match=why):
            quorate.blend(tmp_path, Y)


def test_a_mask_that_hides_nothing(found):
    shown = ARRAYS | {"m1": np.ma.array(ARRAYS["m1"], mask=False)}
    assert quorate.blend(shown, np.ma.array(Y)).weights == found.weights


def test_rule_formula_and_recipe(found):
    assert found.rule == "both"
    assert found.formula in " ".join(repr(found).split())
    assert found.formula in found._repr_html_()
    given = found.to_dict()
    recipe = found.recipe()
    assert recipe["model"] == list(found.weights)
    assert set(recipe["sharpness"]) == {given["sharpness"]} == {found.sharpness}
    assert set(recipe["rule"]) == {given["formula"]} == {found.formula}
    assert recipe == given["recipe"]
    for kind in ("mean", "geometric"):
        assert sum(recipe[f"{kind}_weight"]) == pytest.approx(1)
    mean = quorate.blend(ARRAYS, Y, method="mean")
    assert (mean.rule, mean.formula) == ("mean", "P = sum(weight * p)")
    assert list(mean.recipe()) == ["model", "weight", "rule"]


SKILLED = {name: ARRAYS[name] for name in NAMES[4:]}


def test_the_wrong_column_of_a_rare_class_is_refused():
    """Where even the right column is hardly better than the class shares."""
    rng = np.random.default_rng(0)
    y = np.arange(2000) < 40
    right = np.where(y, rng.beta(2, 60, 2000), rng.beta(1, 50, 2000))
    shares = -np.log(np.where(y, 0.02, 0.98)).mean()
    assert 0.9 < -np.log(np.where(y, right, 1 - right)).mean() / shares < 1
    quorate.blend({"right": right}, y)
    with pytest.raises(ValueError, match="with its columns in the order True, False"):
        quorate.blend({"wrong": 1 - right}, y)


def test_one_model_of_several_with_swapped_columns():
    one = {**SKILLED, "turned": ARRAYS["m7"][:, [1, 0, 2]]}
    said = "'turned' has a log loss of .* in the order 'bee', 'ant', 'cow'"
    with pytest.warns(QuorateWarning, match=said):
        found = quorate.blend(one, Y)
    assert found.weights.get("turned", 0) < 0.1


def test_models_that_are_too_sure_or_guess_are_not_called_swapped():
    rng = np.random.default_rng(0)
    right = rng.random(Y.size) < 0.75
    codes = np.searchsorted(["ant", "bee", "cow"], Y)
    sure = np.eye(3)[np.where(right, codes, (codes + 1) % 3)]
    shares = np.bincount(codes) / codes.size
    # Leaning the wrong way by a hair, as guesses of cross-validation do.
    guess = shares * (1 - 1e-3 * np.eye(3)[codes])
    guess /= guess.sum(axis=1, keepdims=True)
    quorate.blend({"sure": sure, "noise": rng.dirichlet(np.ones(3), Y.size)}, Y)
    quorate.blend({"guess": guess}, Y)
