"""The report about an ensemble: collect votes once, choose, measure, draw."""

import os
import time
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from quorate._blending import Blend
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
from quorate._pruned import distilled_size, will_distil
from quorate._report import _expected, _savings, _sections
from quorate._report._advice import (
    advice,
    advised_size,
    choice_text,
    contributions_text,
)
from quorate._report._page import EnsemblePage, Report, render
from quorate._report._pictures import ensemble_pictures
from quorate._report._reproduce import Request, reproduce, settings_of
from quorate._report._summary import summary_report
from quorate._report._text import Measure
from quorate._report._why import reasons
from quorate._scoring import check_scoring, find_score, with_positive
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
    methods: Sequence[Any] | None = None,
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
    ensemble : fitted ensemble, list or dict; or Votes, Blend or Summary
        Any ensemble that :func:`quorate.collect_votes` accepts. It is not changed.
        Votes with labels and results of :func:`quorate.blend` are accepted, too; their
        report has no sizes, times and early exit, which need the models. So is a
        summary of votes on data of any size, with ``output``, ``noise`` and ``title``
        only; its report omits what needs single samples.
    X, y : array-like
        Samples and labels: the training data of an ensemble that bootstraps, or new
        data. Omit both for votes, blends and summaries, which contain the labels.
    output : path, optional
        File to write the page to.
    method : str or Pruner
        Pruning method: a name from :func:`quorate.methods`, a pruner object, or "auto"
        for a method that suits the ensemble, as in :func:`quorate.prune`.
    keep : float, int, "auto", None or "default"
        How many members to keep; see :func:`quorate.select`.
    scoring : str, scorer, callable or None
        Score used for choosing and reporting; see :func:`quorate.select`. Accuracy by
        default. If it is not given and the members were trained with class weights,
        members are chosen as usual but evaluated by balanced accuracy.
    positive : label, optional
        The positive class for ``scoring``, against all others: for "average_precision",
        "roc_auc", "recall", "precision" or "f1", with any labels.
    source : {"auto", "new", "training"}
        Whether the samples are new or training data; see :func:`quorate.prune`.
    methods : sequence of str or Pruner, optional
        Methods to compare with at the same size; some fast ones by default.
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
    ``score``. On training data without out-of-bag votes, nothing is scored. If
    ``prune`` distils the kept members, numbers are before distillation.

    The page is a single file without external resources. It contains the names of
    classes, features and members, and numbers about votes, but no samples.

    Members are evaluated on the samples once, and again on up to 500 of them to measure
    times and early exit, and on generated samples if a method needs additional ones.
    Figures of pairs use up to 3,000 samples; the comparison of methods and the
    contributions of members up to 6,000. The expected accuracy of the kept members and
    of other sizes is cross-validated on up to 10,000 samples, as in the output of
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
        methods=methods,
        noise=noise,
        title=title,
        n_jobs=n_jobs,
        random_state=random_state,
        max_samples=max_samples,
    )
    if isinstance(ensemble, Summary):
        _refuse_for_summary(X, y, request)
        made = summary_report(ensemble, noise=noise, title=title)
    else:
        with stage("evaluating members", verbose):
            made = make_report(ensemble, X, y, request)
    if output is not None:
        made.save(output)
    return made


def make_report(ensemble: Any, X: Any, y: Any, request: Request) -> Report:
    """Create the requested page."""
    _check_settings(request)
    size = size_for(request.method, request.keep, owner="report")
    for wanted in (request.method, *(request.methods or ())):
        check_method(wanted)
    start = time.perf_counter()
    evidence = _evidence(ensemble, X, y, request, size)
    collected = time.perf_counter() - start
    scoring, seed = request.scoring, request.random_state
    # The same selection as in prune, including distillation.
    distils = isinstance(evidence, EnsembleEvidence) and will_distil(
        "auto", evidence.ensemble, evidence.X, request.method, size, scoring
    )
    with stage("choosing members"):
        selection = choose(
            evidence,
            request.method,
            size,
            scoring=scoring,
            seed=seed,
            distilled_size=distilled_size if distils else None,
            owner="report",
        )
    if distils and selection.drops_members:
        selection = selection.with_new_leaves()
    # Some methods use out-of-bag votes in any case.
    evidence = replace(evidence, votes=selection.votes)
    with stage("cross-validating"):
        analysis = _expected.analyse(request, evidence, selection)
    blend = ensemble if isinstance(ensemble, Blend) else None
    with stage("measuring, comparing methods"):
        page = _page(analysis, blend, collected)
    votes = analysis.votes
    pair_votes = votes.at(_expected.some_samples(votes, _PAIR_SAMPLES, seed))
    with stage("drawing figures"):
        pictures = ensemble_pictures(page, analysis, pair_votes)
    settings = replace(page.settings, seconds=time.perf_counter() - start)
    return render(
        "ensemble.html",
        replace(page, settings=settings),
        pictures,
        selection=selection,
        pair_samples=pair_votes.n_samples,
        measure=page.measure,
        blend=blend,
        unscored=_sections.why_unscored(analysis.votes),
        chosen_before=_sections.CHOSEN_BEFORE,
    )


def _page(
    analysis: _expected.Analysis, blend: Blend | None, collected: float
) -> EnsemblePage:
    """Return all sections of the page."""
    request, evidence, votes = analysis.request, analysis.evidence, analysis.votes
    ensemble, drawn, honest = analysis.ensemble, evidence.drawn, analysis.honest
    expected, selection = analysis.expected, analysis.selection
    n_given = votes.n_samples if evidence.X is None else count_rows(evidence.X)
    about_votes = _sections.votes_sections(
        votes,
        analysis.before,
        analysis.after,
        ensemble,
        None if ensemble is None else evidence.costs("bytes"),
        n_given=n_given if drawn is None else drawn.n_rows,
        drawn="" if drawn is None else str(drawn),
        chosen_before=analysis.chosen_before,
    )
    facts, called = about_votes["ensemble"], about_votes["words"].members
    judged = _expected.judged_section(analysis)
    times, lazy = _savings.measured(analysis)
    pruning = _savings.pruning_section(analysis, facts, times)
    certificate = _expected.certificate_section(analysis)
    settings = settings_of(request, selection, collected)
    recorded = "" if ensemble is not None else "votes" if blend is None else "blend"
    again, commands = reproduce(request, settings, selection, recorded)
    known = selection, facts, pruning, certificate
    sizes = _savings.sizes_section(*known, judged or Measure(), called, commands)
    n_blended = None if blend is None else len(blend.weights)
    title = _sections.default_title(ensemble, votes.n_members, n_blended)
    page = EnsemblePage(
        title=request.title or title,
        **about_votes,
        blend=blend,
        classes=_sections.class_rows(votes, expected, honest),
        confusion=_sections.expected_confusion(expected, votes, honest),
        judged=judged,
        members=_members(analysis, facts, blend),
        pruning=pruning,
        methods=_expected.methods_section(analysis),
        lazy=lazy,
        certificate=certificate,
        sizes=sizes,
        settings=settings,
        reproduce=again,
    )
    advised = sizes.members.tolist().index(advised_size(page))
    return replace(
        page,
        advice=advice(page),
        choice=choice_text(page),
        contributions=contributions_text(page),
        sizes=replace(sizes, advised=advised),
    )


def _members(
    analysis: _expected.Analysis, facts: _sections.EnsembleSection, blend: Blend | None
) -> list[_sections.MemberRow]:
    """Return a row per member: scores, costs, and whether it is kept.

    Contributions and reasons are computed on a subsample. Weights are those of the
    blend, if there is one.
    """
    votes, selection, most = analysis.votes, analysis.selection, _expected.MOST_SAMPLES
    seed = analysis.request.random_state
    some = votes.at(_expected.some_samples(votes, most, seed))
    accuracy = find_score(None, votes.classes, "report")
    added = accuracy.contributions(some) if analysis.honest else None
    weights = votes.weights if facts.weighted else None
    if blend is not None:
        weights = np.array([blend.weights.get(name, 0.0) for name in votes.names])
    picks = {int(member): place + 1 for place, member in enumerate(selection.order)}
    every = range(votes.n_members)
    return _sections.member_rows(
        votes,
        _sections.mean_agreement(votes),
        weights,
        analysis.honest,
        kept=["kept" if member in picks else "dropped" for member in every],
        pick=[picks.get(member) for member in every],
        contribution=None if added is None else added.tolist(),
        bytes=facts.bytes,
        nodes=facts.nodes,
        depth=facts.depth,
        why=reasons(some, selection, votes.accuracies, added, accuracy),
    )


def _evidence(ensemble: Any, X: Any, y: Any, request: Request, size: Size) -> Evidence:
    """Return the votes to choose on: the given ones, or those of the members."""
    if isinstance(ensemble, (Votes, Blend)):
        return _recorded(ensemble, X, y, request)
    if X is None or y is None:
        raise ValueError(
            "report: an ensemble needs samples, report(ensemble, X, y); only votes, a "
            "blend or a summary can be passed alone."
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


def _recorded(given: Votes | Blend, X: Any, y: Any, request: Request) -> Evidence:
    """Return evidence from votes alone."""
    if unfit := {"max_samples", "source"} & _given(request):
        name = min(unfit)
        raise TypeError(
            f"report({name}={getattr(request, name)!r}): only applies to an ensemble "
            "with samples, not to votes."
        )
    if X is not None or y is not None:
        raise TypeError(
            f"report: {type(given).__name__} contains its samples and labels; leave "
            "out X and y."
        )
    votes = given.votes() if isinstance(given, Blend) else given
    check_scoring(request.scoring, "report", averages=votes.rule == "average")
    if votes.source is VoteSource.UNLABELLED:
        raise ValueError(f"report: {votes.source.why_unreliable}.")
    if votes.source is None:
        votes = with_changes(votes, source=VoteSource.ASSUMED_NEW)
    return Evidence(votes)


def _refuse_for_summary(X: Any, y: Any, request: Request) -> None:
    given = {name for name, value in (("X", X), ("y", y)) if value is not None}
    unfit = (given | _given(request)) - {"noise", "title", "n_jobs", "random_state"}
    if unfit:
        raise ValueError(
            f"report({min(unfit)}=...): a summary has no samples to choose members on; "
            "pass only output, noise and title."
        )


def _given(request: Request) -> set[str]:
    """Return the names of options that differ from their defaults."""
    usual = ((option.name, option.default) for option in fields(request))
    return {name for name, default in usual if getattr(request, name) != default}


def _check_settings(request: Request) -> None:
    """Refuse invalid settings before any work."""
    methods, seed = request.methods, request.random_state
    if isinstance(methods, str):
        raise ValueError(
            f"report(methods={methods!r}): must be a list of methods, as in "
            f"[{methods!r}]."
        )
    whole = isinstance(seed, (int, np.integer))
    if not whole or isinstance(seed, bool) or not 0 <= seed < 2**32:
        raise ValueError(
            f"report(random_state={seed!r}): must be a whole number from 0 to "
            f"{2**32 - 1}."
        )
