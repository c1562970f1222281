"""The report about an ensemble: collect votes once, choose, measure, draw."""

import os
import time
from dataclasses import fields, replace
from typing import Any

from quorate._checks import check_number
from quorate._choosing import (
    DEFAULT,
    EnsembleEvidence,
    Evidence,
    Keep,
    Size,
    check_method,
    choose,
    gather,
    size_for,
)
from quorate._data import count_rows
from quorate._ensembles import RowSource
from quorate._progress import stage
from quorate._pruned import prune_on_evidence
from quorate._report import _advice, _expected, _reproduce, _savings, _sections
from quorate._report._expected import Analysis
from quorate._report._page import Report, page_head, render
from quorate._report._pictures import ensemble_pictures
from quorate._report._reproduce import Request
from quorate._report._sections import Section
from quorate._report._stored import summary_report
from quorate._report._text import reasons
from quorate._scoring import check_scoring, with_positive
from quorate._votes import Summary, Votes, VoteSource, with_changes
from quorate.pruning import Pruner

# Maximum number of samples for figures of pairs.
_PAIR_SAMPLES = 3_000


def report(
    ensemble: Any,
    X: Any = None,
    y: Any = None,
    *,
    output: str | os.PathLike[str] | None = None,
    method: str | Pruner = "auto",
    keep: Keep = DEFAULT,
    scoring: Any = None,
    positive: Any = None,
    source: RowSource = "auto",
    noise: float = 0.01,
    title: str | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    max_samples: int | None = None,
    verbose: int = 1,
) -> Report:
    """Create an HTML report about an ensemble: diversity, members and savings.

    Parameters
    ----------
    ensemble : fitted ensemble, list or dict; or Votes or Summary
        Any ensemble that :func:`quorate.collect_votes` accepts. It is not changed.
        Votes with labels are accepted, too; their report has no sizes and times, which
        need the models. So is a summary of votes on data of any size, with
        ``output``, ``noise`` and ``title`` only; its report omits what needs single
        samples.
    X, y : array-like
        Samples and labels: the training data of an ensemble that bootstraps, or new
        data. Omit both for votes and summaries, which contain the labels.
    output : path, optional
        File to write the page to.
    method : str or Pruner
        Pruning method: a name from :func:`quorate.methods`, a pruner object, or "auto"
        for a method that suits the ensemble, as in :func:`quorate.prune`.
    keep : float, int, "auto", None or "default"
        How many members to keep; see :func:`quorate.select`.
    scoring : str, scorer, callable or None
        Score used for choosing and reporting; see :func:`quorate.select`. Accuracy by
        default.
    positive : label, optional
        The positive class for ``scoring``, against all others: for "average_precision",
        "roc_auc", "recall", "precision" or "f1", with any labels.
    source : {"auto", "new", "training"}
        Whether the samples are new or training data; see :func:`quorate.prune`.
    noise : float
        Assumed share of wrong labels, for the risk estimate.
    title : str, optional
        Title of the page.
    n_jobs : int, optional
        Number of members evaluated in parallel.
    random_state : int
        Seed of all random choices.
    max_samples : int, optional
        Use a stratified sample of this size if there are more samples; 200 000 by
        default, with a warning.
    verbose : int
        0 to hide the progress bar, which is shown on a terminal or in a notebook after
        two seconds.

    Returns
    -------
    Report
        ``html`` is the page, ``data`` its numbers, ``selection`` the chosen members
        (None for a summary), and ``save`` writes it to a file. Notebooks display it in
        a frame.

    Notes
    -----
    The kept members are those of :func:`quorate.prune` with the same method, size and
    votes. Accuracies are those of the ensembles themselves: on new data they equal
    ``score``. On training data without out-of-bag votes, nothing is scored. Kept
    members are distilled if ``prune`` would distil them; their accuracy is then that of
    ``pruning_["expected"]``.

    The page is a single file without external resources. It contains the names of
    classes, features and members, and numbers about votes, but no samples.

    Members are evaluated on the samples once, and again on up to 500 of them to measure
    times, and on generated samples if a method needs additional ones.
    Figures of pairs use up to 3,000 samples, the reasons for keeping members up to
    6,000. The expected accuracy of the kept members
    and of other sizes is cross-validated on up to 10,000 samples, as in the output of
    ``quorate prune``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import quorate
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(30, random_state=0).fit(X, y)
    >>> page = quorate.report(forest, X, y)
    >>> page.data["votes"]["chosen_on"], page.data["pruning"]["n_kept"]
    ('out-of-bag votes', 6)
    >>> small = quorate.prune(forest, X, y)
    >>> small.pruning_["kept"] == page.selection.members.tolist()
    True
    >>> page.html[:15]
    '<!DOCTYPE html>'

    A report from a summary:

    >>> votes = quorate.collect_votes(forest, X, y, out_of_bag=True)
    >>> page = quorate.report(votes.summary())
    >>> page.data["votes"]["accuracy"] == votes.accuracy()
    True
    """
    request = Request(
        method=method,
        keep=keep,
        scoring=with_positive(scoring, positive, "report"),
        source=source,
        noise=check_number("report", "noise", noise, least=0, below=0.5),
        title=title,
        n_jobs=n_jobs,
        random_state=random_state,
        max_samples=max_samples,
    )
    if isinstance(ensemble, (Votes, Summary)):
        _refuse_options(ensemble, X, y, request)
    if isinstance(ensemble, Summary):
        made = summary_report(ensemble, noise=noise, title=title)
    else:
        with stage("evaluating members", verbose):
            made = make_report(ensemble, X, y, request)
    if output is not None:
        made.save(output)
    return made


def make_report(ensemble: Any, X: Any, y: Any, request: Request) -> Report:
    """Create the requested page."""
    seed = request.random_state
    check_number("report", "random_state", seed, least=0, most=2**32 - 1, whole=True)
    size = size_for(request.method, request.keep, owner="report")
    check_method(request.method)
    start = time.perf_counter()
    evidence = _evidence(ensemble, X, y, request, size)
    collected = time.perf_counter() - start
    how = {"scoring": request.scoring, "seed": seed, "owner": "report"}
    smaller = None
    with stage("choosing members"):
        if isinstance(evidence, EnsembleEvidence):
            smaller, selection = prune_on_evidence(
                evidence, request.method, size, distil="auto", verbose=0, **how
            )
        else:
            selection = choose(evidence, request.method, size, **how)
    # Some methods use out-of-bag votes in any case.
    evidence = replace(evidence, votes=selection.votes)
    with stage("cross-validating"):
        analysis = _expected.analyse_selection(request, evidence, selection, smaller)
    with stage("measuring"):
        page = _page(analysis)
    pair_votes = analysis.votes.at(analysis.some_samples(_PAIR_SAMPLES))
    with stage("drawing figures"):
        pictures = ensemble_pictures(page, analysis, pair_votes)
    page["settings"]["seconds_collecting"] = collected
    page["settings"]["seconds"] = time.perf_counter() - start
    return render(
        "ensemble.html",
        page,
        pictures,
        selection=selection,
        pair_samples=pair_votes.n_samples,
        score=analysis.score_format,
        unscored=_sections.why_unscored(analysis.votes),
        chosen_before=_sections.CHOSEN_BEFORE,
    )


def _page(analysis: Analysis) -> Section:
    """Return all sections of the page."""
    request, evidence, votes = analysis.request, analysis.evidence, analysis.votes
    ensemble, drawn, score = analysis.ensemble, evidence.drawn, analysis.score_format
    expected, selection = analysis.expected, analysis.selection
    n_given = votes.n_samples if evidence.X is None else count_rows(evidence.X)
    page = page_head("ensemble", request.title or _title(analysis))
    page |= _sections.votes_sections(
        votes,
        analysis.before,
        analysis.after,
        ensemble,
        None if ensemble is None else evidence.costs("bytes"),
        n_given=n_given if drawn is None else drawn.n_rows,
        drawn="" if drawn is None else str(drawn),
        chosen_before=analysis.chosen_before,
    )
    facts, small = page["ensemble"], _savings.compact_form(ensemble)
    times = _savings.measured_times(analysis, small)
    settings = _reproduce.settings_section(request, selection)
    page |= {
        "compact": None if small is None else {"bytes": len(small.to_bytes())},
        "classes": _sections.class_rows(votes, expected, analysis.honest),
        "confusion": _sections.expected_confusion(expected, votes, analysis.honest),
        "judged": _expected.judged_section(analysis),
        "members": _member_rows(analysis, facts),
        "pruning": _savings.pruning_section(analysis, facts, times),
        "settings": settings,
        "reproduce": _reproduce.reproduce_section(request, settings, ensemble is None),
    }
    page["commands"] = _reproduce.commands(
        request, settings, selection, ensemble is None, small is not None
    )
    return page | {"advice": _advice.advice(page, score)}


def _title(analysis: Analysis) -> str:
    """Return the default title of a page."""
    n_members, ensemble = analysis.votes.n_members, analysis.ensemble
    if ensemble is None:
        return f"Votes of {n_members} members"
    what = "members" if ensemble.can_predict else "classifiers"
    return f"{type(ensemble.core).__name__} of {n_members} {what}"


def _member_rows(analysis: Analysis, facts: Section) -> list[Section]:
    """Return a row per member: scores, costs, and whether it is kept.

    Reasons are computed on a subsample.
    """
    votes, selection = analysis.votes, analysis.selection
    some = votes.at(analysis.some_samples())
    picks = {int(member): place + 1 for place, member in enumerate(selection.order)}
    every = range(votes.n_members)
    columns: dict[str, Any] = {
        "kept": ["kept" if member in picks else "dropped" for member in every],
        "pick": [picks.get(member) for member in every],
        **{name: facts[name] for name in ("bytes", "nodes", "depth")},
        "why": reasons(some, selection, analysis.honest),
    }
    return _sections.member_rows(votes, analysis.honest, **columns)


def _evidence(
    ensemble: Any, X: Any, y: Any, request: Request, size: Size | None
) -> Evidence:
    """Return the votes to choose on: the given ones, or those of the members."""
    if isinstance(ensemble, Votes):
        return _recorded(ensemble, request)
    if X is None or y is None:
        raise ValueError(
            "report: an ensemble needs samples, report(ensemble, X, y); only votes "
            "(of a blend: blend.votes()) or a summary can be passed alone."
        )
    return gather(
        ensemble,
        X,
        y,
        source=request.source,
        n_jobs=request.n_jobs,
        scoring=request.scoring,
        owner="report",
        max_samples=request.max_samples,
        seed=request.random_state,
        size=size,
    )


def _recorded(votes: Votes, request: Request) -> Evidence:
    """Return evidence from votes alone."""
    check_scoring(request.scoring, "report", averages=votes.rule == "average")
    if votes.source is VoteSource.UNLABELLED:
        raise ValueError(f"report: {votes.source.why_unreliable}.")
    if votes.source is None:
        votes = with_changes(votes, source=VoteSource.ASSUMED_NEW)
    return Evidence(votes)


def _refuse_options(given: Any, X: Any, y: Any, request: Request) -> None:
    """Refuse what only applies to an ensemble with samples."""
    name = type(given).__name__
    if X is not None or y is not None:
        raise TypeError(
            f"report: {name} contains its samples and labels; leave out X and y."
        )
    unfit = ["max_samples", "source"]
    if isinstance(given, Summary):
        unfit += ["method", "keep", "scoring"]
    for option in fields(request):
        value = getattr(request, option.name)
        if option.name in unfit and value != option.default:
            raise TypeError(
                f"report({option.name}={value!r}): only applies to an ensemble with "
                f"samples, not to {name}."
            )
