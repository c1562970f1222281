"""The data sets of a plan, read once, before anything is computed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from quorate.study._data_set import DataSet
from quorate.study._load_data import find_data
from quorate.study._plan import DataSpec, Plan, check_sizes


def load_plan_data(
    plan: Plan, data_dir: str | Path | None, allow_download: bool
) -> dict[str, DataSet]:
    """Return the data sets of a plan by the names they have in tables.

    Raises
    ------
    ValueError
        If an option does not fit its data set, two sets are the same, there are more
        folds than rows, or a method cannot keep what it is to keep.
    """
    check_sizes(plan)
    # All are found before the first is read, which may take long.
    readers = [
        _reader(spec, plan, data_dir, allow_download) for spec in plan.data_specs
    ]
    data: dict[str, DataSet] = {}
    seen: dict[Any, str] = {}
    for spec, read in zip(plan.data_specs, readers, strict=True):
        made = _fitting(read(), spec, plan)
        binary = plan.binary if spec.binary is None else spec.binary
        first = seen.setdefault((made.fingerprint, binary, spec.pca), spec.label)
        if first != spec.label:
            raise ValueError(
                f"{plan.name}: {first} and {spec.label} are the same data; "
                "leave one out."
            )
        data[spec.label] = made
    return data


def _reader(
    spec: DataSpec, plan: Plan, data_dir: str | Path | None, allow_download: bool
) -> Callable[[], DataSet]:
    options: dict[str, Any] = {}
    if spec.image_size is not None:
        if not Path(spec.source).is_dir():
            raise ValueError(
                f"{spec.label}: image_size is for folders of pictures, "
                f"{spec.source!r} is none."
            )
        options["image_size"] = spec.image_size
    return find_data(
        spec.source if spec.path is None else Path(spec.path),
        target=spec.target,
        data_dir=data_dir,
        allow_download=allow_download,
        random_state=plan.seed,
        n_rows=plan.rows if spec.rows is None else spec.rows,
        **options,
    )


def _fitting(made: DataSet, spec: DataSpec, plan: Plan) -> DataSet:
    """Return a data set that has rows enough for the plan."""
    if plan.folds > made.n_rows:
        raise ValueError(
            f"{spec.label}: {plan.folds} folds of {made.n_rows} rows; "
            f"2 to {made.n_rows} folds."
        )
    if (
        isinstance(spec.pca, int)
        and spec.pca > made.n_rows * (plan.folds - 1) // plan.folds
    ):
        raise ValueError(
            f"{spec.label}: pca is {spec.pca}, more than a fold has training rows."
        )
    return made
