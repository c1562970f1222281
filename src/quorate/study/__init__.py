"""Compare pruning methods on data sets, keep every result, make tables of them.

A :class:`Plan` says what to do, :func:`run_plan` does what is missing and writes it to
a :class:`Store`, :class:`Results` reads it back. The unit of work is one fit: the votes
of its members are collected once and shared by all methods.
"""

from quorate.study._backend import workers_on
from quorate.study._data_set import DataSet
from quorate.study._export import csv_text
from quorate.study._forecast import Forecast, forecast_plan
from quorate.study._load_data import known_data_sets, load_data
from quorate.study._plan import (
    DataSpec,
    EnsembleSpec,
    MethodSpec,
    Plan,
    plan_from_dict,
    quicker,
)
from quorate.study._presets import PRESETS, make_preset
from quorate.study._results import Results, Standing
from quorate.study._run import Outcome, run_plan
from quorate.study._store import Store
from quorate.study._stored_plan import stored_plan
from quorate.study._table import Table
from quorate.study._toml import read_plan

__all__ = [
    "PRESETS",
    "DataSet",
    "DataSpec",
    "EnsembleSpec",
    "Forecast",
    "MethodSpec",
    "Outcome",
    "Plan",
    "Results",
    "Standing",
    "Store",
    "Table",
    "csv_text",
    "forecast_plan",
    "known_data_sets",
    "load_data",
    "make_preset",
    "plan_from_dict",
    "quicker",
    "read_plan",
    "run_plan",
    "stored_plan",
    "workers_on",
]
