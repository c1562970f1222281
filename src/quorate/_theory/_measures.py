"""Names, directions and sources of the measures."""

from dataclasses import dataclass
from typing import Literal

from quorate._messages import unknown_name
from quorate._output import Catalogue

Direction = Literal["higher", "lower", "not monotone"]


@dataclass(frozen=True, slots=True)
class Measure:
    """One diversity measure.

    Attributes
    ----------
    name : str
        The name of the method or measure.
    paper_name : str
        The short name in the paper's tables.
    summary : str
        What it is, in a line.
    range : str
        The values it can take.
    direction : str
        Which values mean more diverse.
    reference : str
        Where it comes from.
    pairwise : bool
        Whether it is defined for two members.
    undefined : float
        The conventional value where the definition divides by zero.
    weighted : bool
        Whether its definition has a place for voting weights.
    informative_per_sample : bool
        Whether it tells single samples apart.
    """

    name: str
    paper_name: str
    summary: str
    range: str
    direction: Direction
    reference: str
    pairwise: bool = False
    undefined: float = 0.0
    weighted: bool = False
    informative_per_sample: bool = True


_KUNCHEVA = "L. I. Kuncheva, C. J. Whitaker, Machine Learning 51, 2003"

MEASURES = Catalogue(
    (measure.name, measure)
    for measure in (
        Measure(
            "disagreement", "Disag", "pairs of which exactly one is correct",
            "[0, 1]", "higher", "D. B. Skalak, AAAI workshop, 1996", pairwise=True,
        ),
        Measure(
            "q_statistic", "QStat", "Yule's Q of two members being correct",
            "[-1, 1]", "lower", "G. U. Yule, Phil. Trans. A 194, 1900",
            pairwise=True, informative_per_sample=False,
        ),
        Measure(
            "correlation", "Corre", "correlation of two members being correct",
            "[-1, 1]", "lower", f"P. Sneath, R. Sokal, 1973; {_KUNCHEVA}",
            pairwise=True, informative_per_sample=False,
        ),
        Measure(
            "kappa", "KStat", "agreement of two members beyond chance",
            "[-1, 1]", "lower", "J. Cohen, Educ. Psychol. Meas. 20, 1960",
            pairwise=True, informative_per_sample=False,
        ),
        Measure(
            "double_fault", "DoubF", "pairs that are wrong together",
            "[0, 1]", "lower", "G. Giacinto, F. Roli, Image Vis. Comput. 19, 2001",
            pairwise=True,
        ),
        Measure(
            "kw_variance", "KWVar", "variance of correctness over members",
            "[0, 1/4]", "higher", "R. Kohavi, D. Wolpert, ICML, 1996",
        ),
        Measure(
            "interrater", "Inter", "agreement of all members beyond chance",
            "[-1/(n-1), 1]", "lower", "J. L. Fleiss, 1981; " + _KUNCHEVA, undefined=1.0,
        ),
        Measure(
            "entropy_cc", "EntCC", "entropy of the votes over the classes",
            "[0, ln min(n, L)]", "higher", "P. Cunningham, J. Carney, ECML, 2000",
            weighted=True,
        ),
        Measure(
            "entropy_sk", "EntSK", "size of the minority, correct or not",
            "[0, 1]", "higher", "C. Shipp, L. Kuncheva, Inf. Fusion 3, 2002",
        ),
        Measure(
            "difficulty", "Diffi", "variance of the share of correct members",
            "[0, 1/4]", "lower", "L. Hansen, P. Salamon, IEEE TPAMI 12, 1990",
            informative_per_sample=False,
        ),
        Measure(
            "generalized", "GeneD", "failures that two members do not share",
            "[0, 1]", "higher", "D. Partridge, W. Krzanowski, IST 39, 1997",
            undefined=1.0,
        ),
        Measure(
            "coincident_failure", "CFail", "members correct where others fail",
            "[0, 1]", "higher", "D. Partridge, W. Krzanowski, IST 39, 1997",
        ),
        Measure(
            "error_gap", "Div", "members' mean error minus the vote's",
            "(-1/2, 1 - 1/L)", "not monotone", "Y. Bian, H. Chen, 2021", weighted=True,
        ),
    )
)  # fmt: skip

_BY_ANY_NAME: dict[str, Measure] = {
    **{name.lower(): measure for name, measure in MEASURES.items()},
    **{measure.paper_name.lower(): measure for measure in MEASURES.values()},
}


def measures() -> Catalogue:
    """List the diversity measures.

    Returns
    -------
    dict from name to Measure
        Prints as one line per entry.

    Examples
    --------
    >>> import quorate
    >>> quorate.measures()["kappa"].direction
    'lower'
    >>> [name for name, m in quorate.measures().items() if m.pairwise]
    ['disagreement', 'q_statistic', 'correlation', 'kappa', 'double_fault']
    """
    return Catalogue(MEASURES)


def find_measure(name: object) -> Measure:
    """Return a measure by its name or the paper's, ignoring case."""
    if isinstance(name, str) and name.lower() in _BY_ANY_NAME:
        return _BY_ANY_NAME[name.lower()]
    known = [*MEASURES, *(measure.paper_name for measure in MEASURES.values())]
    raise ValueError(unknown_name("measure", name, known))
