"""What a run would compute, and about how long it would take."""

import shutil

import pytest
from tests.study.plans import small_plan

from quorate.study import Store, forecast_plan, run_plan
from quorate.study import _run as run_module


def test_counts_and_nothing_run_or_written(tmp_path, monkeypatch):
    monkeypatch.setattr(run_module, "run_unit", None)
    path = tmp_path / "s.sqlite"
    found = forecast_plan(small_plan(), path)
    assert (found.n_data, found.n_fits, found.n_cells) == (2, 6, 18)
    assert (found.n_stored, found.n_fits_left, found.seconds) == (0, 6, None)
    assert "time       unknown until fits of this plan are stored" in repr(found)
    assert not path.exists()


def test_time_from_stored_fits(tmp_path, monkeypatch, small_store):
    path = shutil.copy(small_store, tmp_path / "s.sqlite")
    monkeypatch.setattr(run_module, "run_unit", None)
    found = forecast_plan(small_plan(), path)
    assert (found.n_stored, found.n_fits_left, found.seconds) == (18, 0, 0)
    with Store(path) as store:
        seconds = [fit["seconds"] for fit in store.fits() if fit["data"] == "wine"]
        # of the others, only one method was run
        for command in ("delete from cells where data = 'iris' and fold in (0, 1)",
                        "update fits set cells = 1 where data = 'iris'"):  # fmt: skip
            store._connection.execute(command)
        store._connection.commit()
    found = forecast_plan(small_plan(), path)
    assert (found.n_stored, found.n_fits_left) == (12, 2)
    assert found.seconds == pytest.approx(2 * sum(seconds) / 3)
    assert "cells      18, 12 stored" in repr(found)
    two = forecast_plan(small_plan(), path, n_jobs=2)
    assert (two.n_jobs, two.seconds) == (2, pytest.approx(found.seconds / 2))


@pytest.mark.parametrize("act", [run_plan, forecast_plan])
def test_another_plan_is_refused(act, small_store):
    before = small_store.read_bytes()
    with pytest.raises(ValueError, match="another plan"):
        act(small_plan(folds=2), small_store)
    assert small_store.read_bytes() == before
