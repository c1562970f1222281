"""Types that a file may bring along without being asked about.

skops builds an object by making an empty one and giving it its attributes; a type is
harmless if nothing of that runs what the file holds. Each type here was read for it:
none calls, imports or opens anything when it is built. What a forged file could still
do is make compiled code read beyond an array; ``_sound`` looks for that.
"""

import importlib

HARMLESS = frozenset(
    {
        "numpy.dtype",
        # Nodes of trees, and what trees are searched by: arrays, checked in _sound.
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.neighbors._ball_tree.BallTree",
        "sklearn.neighbors._kd_tree.KDTree",
        "sklearn.tree._tree.Tree",
        # Distances that hold no array of their own.
        "sklearn.metrics._dist_metrics.ChebyshevDistance64",
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.metrics._dist_metrics.ManhattanDistance64",
        # Plain Python: attributes only.
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.calibration._TemperatureScaling",
        "sklearn.compose._column_transformer.make_column_selector",
        "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
        "sklearn.gaussian_process.kernels.ConstantKernel",
        "sklearn.gaussian_process.kernels.Matern",
        "sklearn.gaussian_process.kernels.Product",
        "sklearn.gaussian_process.kernels.RBF",
        "sklearn.gaussian_process.kernels.RationalQuadratic",
        "sklearn.gaussian_process.kernels.Sum",
        "sklearn.gaussian_process.kernels.WhiteKernel",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.model_selection._split.KFold",
        "sklearn.model_selection._split.StratifiedKFold",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
        "sklearn.utils._bunch.Bunch",
    }
)


def is_harmless(name: str) -> bool:
    """Return whether a type may be built without being approved."""
    return name in HARMLESS or _is_own_class(name)


def _is_own_class(name: str) -> bool:
    """Return whether it is a class of quorate; those hold data, as they all must."""
    room, _, last = name.rpartition(".")
    if not room.startswith("quorate."):
        return False
    try:
        found = getattr(importlib.import_module(room), last, None)
    except ImportError:
        return False
    return isinstance(found, type) and found.__module__ == room
