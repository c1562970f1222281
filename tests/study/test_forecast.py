"""What a run would do, and about how long it would take."""

import pytest
from tests.study.plans import small_plan

from quorate.study import (
    EnsembleSpec,
    MethodSpec,
    Results,
    Store,
    forecast_plan,
    run_plan,
)
from quorate.study import _run as run_module
from quorate.study._run import _guess, _span


def test_counts_and_nothing_written(tmp_path):
    path = tmp_path / "s.sqlite"
    found = forecast_plan(small_plan(), path)
    assert (found.n_data, found.n_fits, found.n_cells) == (2, 6, 18)
    assert (found.n_stored, found.n_fits_left) == (0, 6)
    assert found.seconds > 0
    assert found.basis == "2 fits timed now on iris and wine"
    assert not path.exists()


def test_stored_fits_are_preferred(tmp_path, monkeypatch):
    path = tmp_path / "s.sqlite"
    run_plan(small_plan(), path)
    found = forecast_plan(small_plan(), path)
    assert (found.n_fits_left, found.seconds) == (0, 0)
    assert str(found).endswith("18 of them stored\nnothing is left to do")
    with Store(path) as store:
        took = {(fit["data"], fit["fold"]): fit["seconds"] for fit in store.fits()}
        store._connection.execute(
            "delete from cells where data = 'iris' and fold in (0, 1)"
        )
        store._connection.commit()

    def never(*_):
        raise AssertionError("timed again")

    monkeypatch.setattr(run_module, "run_unit", never)
    found = forecast_plan(small_plan(), path)
    assert (found.n_stored, found.n_fits_left) == (12, 2)
    mean = sum(took["iris", fold] for fold in range(3)) / 3
    assert found.seconds == pytest.approx(2 * mean)
    assert "going by 6 stored fits" in str(found)


def test_another_plan_is_refused(tmp_path):
    run_plan(small_plan(), tmp_path / "s.sqlite")
    for act in (run_plan, forecast_plan):
        with pytest.raises(ValueError, match="another plan"):
            act(small_plan(folds=2), tmp_path / "s.sqlite")
    assert len(Results.read(tmp_path / "s.sqlite").rows) == 18


def test_each_ensemble_is_timed():
    plan = small_plan(
        ensembles=(EnsembleSpec("bagging", "tree", 3), EnsembleSpec("random_forest")),
        methods=(MethodSpec("epbd", 0.5),),
    )
    assert forecast_plan(plan).basis == "4 fits timed now on iris and wine"


def test_guesses():
    sizes = {"small": 100, "middle": 200, "large": 1000, "tiny": 1}
    timed = [("small", 1.0), ("small", 3.0), ("middle", 4.0)]
    assert _guess("small", sizes, timed) == 2
    assert _guess("large", sizes, timed) == pytest.approx(20)  # on the line
    assert _guess("tiny", sizes, timed) == 1  # never below what was seen
    assert _guess("large", sizes, [("small", 2.0)]) == 20  # by size alone
    assert _guess("tiny", sizes, [("small", 2.0)]) == 2
    falling = [("small", 4.0), ("middle", 2.0)]
    assert _guess("large", sizes, falling) >= 2  # noise does not make it negative


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "1 s"), (89, "89 s"), (91, "2 min"), (5000, "83 min"), (7200, "2 h")],
)
def test_spans(seconds, said):
    assert _span(seconds) == said
