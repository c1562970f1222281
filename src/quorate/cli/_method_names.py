"""Names of methods, known before the methods are.

Importing them takes scikit-learn, and seconds; a name that was mistyped is refused
before that.
"""

from importlib.metadata import entry_points

from quorate._messages import unknown_name

NAMES = {
    "epbd": "EPBD", "ftad": "FTAD", "es": "early_stopping", "kl": "KL_divergence",
    "kp": "kappa_pruning", "oo": "orientation_ordering", "drep": "DREP", "sep": "SEP",
    "pep": "PEP", "mrmr": "MRMR", "mrmc": "MRMC", "discep": "disc_EP",
    "tsp_ap": "two_stage_accuracy", "tsp_dp": "two_stage_distance",
    "gma": "farthest_first", "lcs": "local_search", "re": "reduced_error",
    "oep": "ordered_error", "cm": "complementariness", "mdm": "margin_distance",
    "epic": "individual_contribution", "umep": "UMEP", "mdep": "MDEP",
    "concurrency": "concurrency", "uwa": "uncertainty_weighted",
    "best": "best_members", "random": "random_subset", "brier": "brier_selection",
    "herding": "herding", "margin_loss": "margin_loss", "l1": "sparse_weights",
    "ges": "greedy_selection", "forward": "forward_search",
    "simplex": "simplex_weights",
}  # fmt: skip
"""Method -> its long name, in words."""
_OTHERS = "quorate.pruners"


def check_method_name(typed: str, *also: str) -> None:
    """Refuse a name that no method has, if that can be told.

    Parameters
    ----------
    typed : str
        The name, short or long, however it is written.
    *also : str
        Other words that fit.

    Examples
    --------
    >>> from quorate.cli._method_names import check_method_name
    >>> check_method_name("Reduced-Error")
    >>> check_method_name("reduced_eror")
    Traceback (most recent call last):
    ...
    ValueError: unknown method 'reduced_eror'; did you mean 'reduced_error'...
    """
    folded = typed.lower().replace("-", "_").replace(".", "_")
    letters = folded.replace("_", "").replace(" ", "")
    long = {name.lower().replace("_", "") for name in NAMES.values()}
    if typed in also or folded in NAMES or letters in long:
        return
    if entry_points(group=_OTHERS):
        return  # a method of another package: whoever knows them all will tell
    problem = unknown_name("method", typed, {*NAMES.values(), *NAMES, *also})
    if "did you mean" not in problem:
        problem = unknown_name("method", typed, {*NAMES, *also})
    raise ValueError(problem)
