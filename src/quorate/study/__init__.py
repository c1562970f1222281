"""Compare pruning methods on data sets, store the results and make tables.

A :class:`Plan` describes a study, :func:`run_plan` computes missing results and writes
them to a :class:`Store`, and :class:`Results` reads them. The unit of work is one fit:
the votes of its members are collected once and shared by all methods.
"""

from quorate.study._data_set import DataSet
from quorate.study._load_data import load_data
from quorate.study._plan import DataSpec, EnsembleSpec, MethodSpec, Plan, read_plan
from quorate.study._presets import PRESETS, make_preset
from quorate.study._results import Results, ScoreTable, Standing
from quorate.study._run import run_plan
from quorate.study._store import Store

__all__ = [
    "PRESETS",
    "DataSet",
    "DataSpec",
    "EnsembleSpec",
    "MethodSpec",
    "Plan",
    "Results",
    "ScoreTable",
    "Standing",
    "Store",
    "load_data",
    "make_preset",
    "read_plan",
    "run_plan",
]
