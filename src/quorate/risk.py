r"""How diversity and generalisation hang together (Theorem 2).

The theorem starts from a margin bound for a linear classifier, here the vote, whose
leading factor it writes as a function of the diversity on the worst sample:

.. math::

    \gamma = (1 - 2\epsilon)\,\min_i (\lambda_i - 2\,div_i), \qquad
    \hat R = \left(\frac{8\delta}{\gamma}\right)^2
             \log_2\!\left(8 e |S| \left(\frac{\gamma}{8\delta}\right)^2\right)

with label noise :math:`\epsilon`, feature radius :math:`\delta` and :math:`|S|`
samples. Signs of its derivatives cut the axis of diversity into eight intervals.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._checks import check_number, one_of
from quorate._output import Result
from quorate._typing import Array, FloatArray, Lambda
from quorate._votes import VoteCounts, check_counts, totals

__all__ = [
    "Endpoints",
    "MarginBound",
    "RiskAssessment",
    "assess_risk",
    "endpoints",
    "estimate",
    "interval",
    "margin_bound",
]


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where on the positive axis of diversity the risk estimate changes behaviour.

    Attributes
    ----------
    q0 : float
        The estimate is zero; beyond it is negative and means nothing.
    q1 : float
        The noise rate.
    q2 : float
        First derivative zero: the maximum of the estimate.
    q3 : float
        The margin equals the noise rate.
    q4 : float
        The same point as q2; the paper names it twice.
    q5 : float
        Second derivative zero.
    q6 : float
        Third derivative zero.
    qv : float
        The underlying bound holds only below this point.
    ordered : bool
        Whether q1 <= q2 <= q3, by the corrected condition.
    ordered_as_printed : bool
        The condition as the paper prints it, whose left half is too weak.
    complete : bool
        Whether all eight intervals exist, which needs q1 < q6 besides.
    """

    q0: float
    q1: float
    q2: float
    q3: float
    q4: float
    q5: float
    q6: float
    qv: float
    ordered: bool
    ordered_as_printed: bool
    complete: bool


@dataclass(frozen=True, slots=True)
class MarginBound:
    """An upper bound on the risk, and whether it applies.

    Attributes
    ----------
    bound : float
        The bound.
    applies : bool
        Whether the margin is positive and large enough for the bound to hold.
    kappa : float
        The effective number of dimensions, ``ceil((8 radius / margin)**2)``.
    """

    bound: float
    applies: bool
    kappa: float

    @property
    def vacuous(self) -> bool:
        """Whether the bound is at least 1 and says nothing; look at ``applies`` too."""
        return self.bound >= 1.0


def estimate(
    diversity: Any,
    n_samples: int,
    noise: float = 0.01,
    radius: float = 1.0,
    order: int = 0,
) -> Any:
    r"""Estimate the risk from the diversity on the worst sample, or a derivative of it.

    With :math:`u = \mathrm{sgn}(div) - 2\,div` (1 at zero) and
    :math:`A = (8\delta/(1-2\epsilon))^2`, :math:`\ell = \ln(8|S|u^2/A)`:

    .. math::

        \hat R = \frac{A}{u^2}\frac{\ell + 1}{\ln 2}, \quad
        \hat R' = \frac{4A\ell}{u^3\ln 2}, \quad
        \hat R'' = \frac{8A(3\ell - 2)}{u^4\ln 2}, \quad
        \hat R''' = \frac{32A(6\ell - 7)}{u^5\ln 2}

    Parameters
    ----------
    diversity : float or array-like
    n_samples : int
        Number of samples the diversity was measured on.
    noise : float
        Rate of wrong labels, in [0, 1/2).
    radius : float
        Bound on the norm of the members' votes; 1 for equal weights.
    order : {0, 1, 2, 3}
        Which derivative with respect to diversity.

    Returns
    -------
    float or ndarray
        Infinite (NaN for derivatives) where the margin is zero, at diversity 1/2.

    Examples
    --------
    >>> from quorate import risk
    >>> round(risk.estimate(0.1, 200), 3)
    560.642
    >>> risk.estimate(0.1, 200, order=1) > 0
    True
    """
    _check_setting("risk.estimate", n_samples, noise, radius)
    if order not in (0, 1, 2, 3):
        raise ValueError(f"risk.estimate(order={order!r}): use 0, 1, 2 or 3.")
    div = np.asarray(diversity, dtype=float)
    lambda_ = np.where(div < 0, -1.0, 1.0)
    value = _from_margin(lambda_ - 2.0 * div, n_samples, noise, radius, order)
    return float(value) if div.ndim == 0 else value


def endpoints(n_samples: int, noise: float = 0.01, radius: float = 1.0) -> Endpoints:
    r"""Return the diversities at which the risk estimate changes its behaviour.

    With :math:`x = \frac{\delta}{1-2\epsilon}\sqrt{8/|S|}`:

    .. math::

        q_1 = \epsilon, \quad q_2 = q_4 = \tfrac{1 - x}{2}, \quad
        q_3 = \tfrac{1}{2}\Big(1 - \frac{\epsilon}{1 - 2\epsilon}\Big), \quad
        q_5 = \tfrac{1 - x e^{1/3}}{2}, \quad q_6 = \tfrac{1 - x e^{7/12}}{2}, \quad
        q_v = \tfrac{1 - 2x}{2}, \quad q_0 = \tfrac{1 - x e^{-1/2}}{2}

    Parameters
    ----------
    n_samples, noise, radius
        As for :func:`estimate`.

    Examples
    --------
    >>> from quorate import risk
    >>> q = risk.endpoints(200)
    >>> round(q.q6, 6), round(q.q5, 6), round(q.q2, 6), q.ordered
    (0.317143, 0.357591, 0.397959, True)
    """
    _check_setting("risk.endpoints", n_samples, noise, radius)
    clean = 1.0 - 2.0 * noise
    x = radius / clean * math.sqrt(8.0 / n_samples)

    def at(stretch: float) -> float:
        return (1.0 - x * stretch) / 2.0

    q2, q6 = at(1.0), at(math.exp(7 / 12))
    ordered = noise / clean <= x <= clean
    return Endpoints(
        q0=at(math.exp(-1 / 2)),
        q1=noise,
        q2=q2,
        q3=(1.0 - noise / clean) / 2.0,
        q4=q2,
        q5=at(math.exp(1 / 3)),
        q6=q6,
        qv=at(2.0),
        ordered=ordered,
        ordered_as_printed=noise <= x <= clean,
        complete=ordered and noise < q6,
    )


def interval(
    diversity: float, n_samples: int, noise: float = 0.01, radius: float = 1.0
) -> int | None:
    """Return which of the eight intervals a diversity lies in, or None.

    Intervals 1 to 4 lie on the negative axis, from -q3 over -q2, -q5, -q6 to -q1; 5 to
    8 on the positive one, from q1 over q6, q5, q2 to q3. None means closer to zero than
    q1, beyond q2 and q3, or exactly on an endpoint. Where the endpoints are not
    ordered, intervals 1 and 8 are empty.

    Parameters
    ----------
    diversity : float
    n_samples, noise, radius
        As for :func:`estimate`.

    Examples
    --------
    >>> from quorate import risk
    >>> [risk.interval(div, 200) for div in (-0.45, -0.2, 0.0, 0.1, 0.34, 0.45)]
    [1, 4, None, 5, 6, 8]
    """
    q = endpoints(n_samples, noise=noise, radius=radius)
    size: float = abs(check_number("risk.interval", "diversity", diversity))
    inner = (q.q6, q.q5, q.q2)
    if size <= q.q1 or size >= max(q.q2, q.q3) or size in inner:
        return None
    step = sum(size > point for point in inner)
    return 5 + step if diversity > 0 else 4 - step


def margin_bound(
    margin: float, n_samples: int, radius: float = 1.0, failure: float = 0.05
) -> MarginBound:
    r"""Bound the risk of a vote that is right on all samples by its margin.

    .. math::

        R \le \frac{2}{|S|}\left(\kappa \log_2\frac{8e|S|}{\kappa}\log_2(32|S|)
              + \log_2\frac{2|S|}{\xi}\right), \quad
        \kappa = \left\lceil (8\delta/\gamma)^2 \right\rceil

    with probability :math:`1 - \xi`, if :math:`\gamma > \sqrt{32\delta^2/|S|}`.

    Parameters
    ----------
    margin : float
        Smallest margin over the samples. The formula is evaluated for its absolute
        value; ``applies`` tells whether the bound holds.
    n_samples : int
    radius : float
        Bound on the norm of the members' votes; 1 for equal weights.
    failure : float
        Probability with which the bound may fail, in (0, 1).

    Returns
    -------
    MarginBound
        With ``bound``, ``applies``, ``vacuous`` and ``kappa``.

    Notes
    -----
    The bound is weak: ``kappa`` is at least 64, so it stays above 1 until there are
    tens of thousands of samples, even for a nearly perfect margin.

    References
    ----------
    J. Shawe-Taylor, P. Bartlett, R. Williamson, M. Anthony, "Structural risk
    minimization over data-dependent hierarchies", IEEE Trans. Inf. Theory 44, 1998.

    Examples
    --------
    >>> from quorate import risk
    >>> bound = risk.margin_bound(0.98, 60_000)
    >>> round(bound.bound, 3), bound.applies, bound.vacuous
    (0.665, True, False)
    >>> risk.margin_bound(0.98, 600).vacuous
    True
    """
    _check_setting("risk.margin_bound", n_samples, 0.0, radius)
    check_number("risk.margin_bound", "failure", failure, above=0, below=1)
    margin = check_number("risk.margin_bound", "margin", margin)
    if margin == 0:
        return MarginBound(math.inf, False, math.inf)
    # A hair less before the ceiling: rounding must not turn 400 into 401.
    kappa = math.ceil((8.0 * radius / margin) ** 2 * (1.0 - 1e-12))
    complexity = kappa * math.log2(8 * math.e * n_samples / kappa)
    value = complexity * math.log2(32 * n_samples) + math.log2(2 * n_samples / failure)
    applies = margin > math.sqrt(32.0 * radius**2 / n_samples)
    return MarginBound(2.0 / n_samples * value, applies, kappa)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RiskAssessment(Result):
    """What Theorem 2 says about an ensemble; see :func:`quorate.assess_risk`.

    Attributes
    ----------
    margin : float
        Smallest mean margin over the samples, shrunk by the noise.
    worst_sample : int
        The sample of that margin.
    diversity : float
        Diversity on the worst sample.
    risk : float
        The risk estimate.
    slope : float
        Its derivative by diversity: negative if more diversity lowers the estimate.
    curvature : float
        Its second derivative.
    endpoints : Endpoints
        Where the estimate changes its behaviour.
    interval : int or None
        Which of the eight intervals the diversity lies in, if any.
    risk_decreases : bool
        Whether the estimate falls as diversity grows.
    paper_says_increase : bool
        Whether the paper recommends more diversity: intervals 3 and 4.
    lemma_applies : bool
        Whether the bound behind the estimate holds at all.
    bound : MarginBound
        The margin bound at that margin.
    advice : str
        What follows from it, in words.
    n_samples : int
        Number of samples.
    noise : float
        Rate of wrong labels that was assumed.
    radius : float
        Bound on the norm of the members' votes that was used.
    """

    margin: float
    worst_sample: int
    diversity: float
    risk: float
    slope: float
    curvature: float
    endpoints: Endpoints
    interval: int | None
    risk_decreases: bool
    paper_says_increase: bool
    lemma_applies: bool
    bound: MarginBound
    advice: str
    n_samples: int
    noise: float
    radius: float

    @property
    def _title(self) -> str:  # type: ignore[override]
        return f"Risk, from the worst of {self.n_samples:,} samples"

    @property
    def note(self) -> str:  # type: ignore[override]
        """The advice."""
        return self.advice

    def rows(self) -> list[tuple[str, ...]]:
        """Return table rows: the worst sample, and what the theorem says about it."""
        answer = {True: "yes", False: "no"}
        return [
            ("worst sample", f"{self.worst_sample}"),
            ("margin", f"{self.margin:.4f}"),
            ("diversity on it", f"{self.diversity:.4f}"),
            ("interval", "none" if self.interval is None else f"{self.interval} of 8"),
            ("risk estimate", f"{self.risk:,.4g}"),
            ("more diversity lowers the estimate", answer[self.risk_decreases]),
            ("the paper recommends more diversity", answer[self.paper_says_increase]),
            ("margin bound applies", answer[self.lemma_applies]),
        ]


def assess_risk(
    votes: VoteCounts,
    noise: float = 0.01,
    *,
    radius: float | None = None,
    failure: float = 0.05,
    lambda_: Lambda = "ensemble",
) -> RiskAssessment:
    """Tell where an ensemble stands on the curve of risk over diversity.

    Parameters
    ----------
    votes : Votes or Summary
    noise : float
        Rate of wrong labels, in [0, 1/2).
    radius : float, optional
        Bound on the norm of the members' votes. By default ``sqrt(n) * ||w||``, which
        is 1 for equal weights.
    failure : float
        Probability with which the bound may fail.
    lambda_ : {"ensemble", "paper"}
        As for :func:`decompose`. As printed, one unanimous sample makes the margin zero
        or less, whatever the others are.

    Returns
    -------
    RiskAssessment
        Its ``advice`` says in a sentence or two what the theory supports.

    Notes
    -----
    Everything rests on one sample, the worst: of equal margins the one of smallest
    diversity, of these the first. The paper's verdict, more diversity helps in
    intervals 3 and 4, concerns samples the vote gets wrong; there the bound does not
    hold, the estimate sees only the square of the margin, and more diversity means more
    members in the wrong. The estimate also falls in 2 and 8. On the positive axis the
    bound holds only below ``endpoints.qv``, inside interval 5. Where the vote is wrong
    on the worst sample, judge by measured error.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 0, 1], [1, 0, 1, 1], [1, 1, 1, 1]], [1, 1, 1, 1])
    >>> assessed = quorate.assess_risk(votes)
    >>> assessed.worst_sample, round(assessed.margin, 4), assessed.lemma_applies
    (1, 0.3267, False)
    """
    check_counts(votes, "assess_risk")
    one_of("assess_risk", "lambda_", lambda_, ("ensemble", "paper"))
    setting = _radius(votes) if radius is None else radius
    _check_setting("assess_risk", votes.n_samples, noise, setting)
    found = totals.smallest_margin(votes, lambda_)
    worst, unshrunk, div = found.place, found.margin, found.diversity
    gamma = (1.0 - 2.0 * noise) * unshrunk
    n = votes.n_samples

    def derivative(order: int) -> float:
        return float(_from_margin(np.asarray(unshrunk), n, noise, setting, order))

    slope = derivative(1)
    place = interval(div, n, noise=noise, radius=setting)
    limit = margin_bound(gamma, n, radius=setting, failure=failure)
    marks = endpoints(n, noise=noise, radius=setting)
    return RiskAssessment(
        margin=gamma,
        worst_sample=worst,
        diversity=div,
        risk=derivative(0),
        slope=slope,
        curvature=derivative(2),
        endpoints=marks,
        interval=place,
        risk_decreases=slope < 0,
        paper_says_increase=place in (3, 4),
        lemma_applies=limit.applies,
        bound=limit,
        advice=_advice(gamma, slope, place, limit, worst),
        n_samples=n,
        noise=noise,
        radius=setting,
    )


def _advice(
    gamma: float, slope: float, place: int | None, limit: MarginBound, worst: int
) -> str:
    if gamma == 0:
        return (
            f"The members tie on sample {worst}, so the margin is zero and the theory "
            "does not apply; inspect that sample first."
        )
    if gamma < 0:
        verdict = (
            f" The paper would recommend more diversity here (interval {place}), but "
            "on a misclassified sample that means that more members are wrong."
            if place in (3, 4)
            else ""
        )
        return (
            f"Most of the weight is against the true class on sample {worst}, so the "
            f"margin bound does not hold for this ensemble.{verdict} Use the measured "
            "error instead."
        )
    if not limit.applies:
        return (
            f"The smallest margin, {gamma:.3f} on sample {worst}, is too small for the "
            "margin bound at this number of samples, so the theory says nothing about "
            "this ensemble. Use the measured error instead."
        )
    direction = "lower" if slope < 0 else "raise"
    strength = (
        f"though the bound itself, {limit.bound:.3g}, is above 1 and guarantees nothing"
        if limit.vacuous
        else f"and the risk is at most {limit.bound:.3g} by the bound"
    )
    return (
        f"The vote is right everywhere with margin {gamma:.3f} or more; more diversity "
        f"on sample {worst} would {direction} the risk estimate, {strength}."
    )


def _radius(votes: VoteCounts) -> float:
    """Return sqrt(n) times the Euclidean norm of weights that sum to 1; 1 if equal."""
    if votes.weights is None or votes.has_equal_weights:
        return 1.0
    w = votes.weights / votes.weights.sum()
    return math.sqrt(w.size) * float(np.linalg.norm(w))


def _from_margin(
    u: Array, n_samples: int, noise: float, radius: float, order: int
) -> FloatArray:
    """Evaluate the estimate or a derivative at the unshrunk margin ``u``."""
    scale = (8.0 * radius / (1.0 - 2.0 * noise)) ** 2
    zero = u == 0
    safe = np.where(zero, 1.0, u)
    log = np.log(8.0 * n_samples * safe**2 / scale)
    if order == 0:
        value = scale / safe**2 * (log + 1.0)
    elif order == 1:
        value = 4.0 * scale * log / safe**3
    elif order == 2:
        value = 8.0 * scale * (3.0 * log - 2.0) / safe**4
    else:
        value = 32.0 * scale * (6.0 * log - 7.0) / safe**5
    return np.where(zero, math.inf if order == 0 else math.nan, value / math.log(2.0))


def _check_setting(owner: str, n_samples: int, noise: float, radius: float) -> None:
    check_number(owner, "n_samples", n_samples, least=1, whole=True)
    check_number(owner, "noise", noise, least=0, below=0.5)
    check_number(owner, "radius", radius, above=0)
