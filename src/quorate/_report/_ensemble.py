"""The page about an ensemble: collect votes once, choose, measure, draw."""

import os
import time
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from quorate._blending import Blend
from quorate._choosing import (
    DEFAULT,
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
from quorate._report import _sections
from quorate._report._advice import advice, advised_size
from quorate._report._expected import (
    MOST_SAMPLES,
    Analysis,
    Measure,
    analyse,
    certificate_section,
    ensemble_of,
    judged_section,
    methods_section,
    some_samples,
)
from quorate._report._page import Report, origin, render
from quorate._report._pages import EnsemblePage
from quorate._report._pictures import ensemble_pictures
from quorate._report._reproduce import (
    Request,
    prune_commands,
    reproduce,
    settings_of,
)
from quorate._report._savings import measured, pruning_section
from quorate._report._sizes import sizes_section
from quorate._report._summary import summary_report
from quorate._report._why import reasons
from quorate._scoring import check_scoring, find_score
from quorate._votes import Summary, Votes, VoteSource

# Pictures of pairs look at so many samples at most.
_PAIR_SAMPLES = 3_000


def report(
    ensemble: Any,
    X: Any = None,
    y: Any = None,
    *,
    output: str | os.PathLike[str] | None = None,
    method: Any = "auto",
    keep: Keep = DEFAULT,
    scoring: Any = None,
    source: RowSource = "auto",
    methods: Sequence[Any] | None = None,
    noise: float = 0.01,
    title: str | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    max_samples: int | None = None,
    target: str | None = None,
) -> Report:
    """Write one page that explains an ensemble: diversity, members, what to save.

    Parameters
    ----------
    ensemble : fitted ensemble, list or dict; or Votes, Blend or Summary
        What :func:`quorate.collect_votes` reads. It is not changed. Votes with labels,
        or the outcome of :func:`quorate.blend`, have a page too, without sizes, times
        and lazy voting, for which models are needed. So has a summary of votes on data
        of any size, with ``output``, ``noise`` and ``title`` only: what needs single
        samples is left out of its page, which says so.
    X, y : array-like
        Samples and labels: the training data of an ensemble that bootstraps, or
        samples that no member has seen. Without ``y``, X is batches of the latter, as
        :func:`quorate.prune` takes them. Votes, blends and summaries have them.
    output : path, optional
        File to write the page to.
    method : str or Pruner
        How the members to keep are chosen: a name from :func:`quorate.methods`, or
        "auto" for the method that suits the ensemble, as in :func:`quorate.prune`.
    keep : float, int, "auto", None or "default"
        How many members to keep; see :func:`quorate.select`.
    scoring : str, scorer, callable or None
        What good means; see :func:`quorate.select`. Accuracy by default. The page
        speaks in that score. Where none is given and the members were trained with
        class weights, members are chosen as usual but judged by balanced accuracy.
    source : {"auto", "new", "training"}
        What the samples are to the members; see :func:`quorate.prune`.
    methods : sequence of str or Pruner, optional
        Methods to compare with, at the same size; some quick ones by default.
    noise : float
        Share of labels that may be wrong, for the risk estimate.
    title : str, optional
        Title of the page.
    n_jobs : int, optional
        Members asked at the same time.
    random_state : int
        Seed of everything drawn at random.
    max_samples : int, optional
        Make the page from a stratified sample of so many, if there are more; 200 000 by
        default, which is said.
    target : str, optional
        The column of labels, where X is files.

    Returns
    -------
    Report
        ``html`` is the page, ``data`` the numbers on it, ``selection`` the choice of
        members (None for a summary), ``save`` writes it. A notebook shows it in a
        frame.

    Notes
    -----
    The members shown are those that :func:`quorate.prune` keeps with the same method,
    size and votes, and accuracies are those of the ensembles themselves: on samples
    that no member has seen they equal ``score``. On samples that the members were
    trained on, without out-of-bag votes, nothing is scored.

    The page is one file that loads nothing. It holds class names, feature names and
    member names, and numbers about votes, but no sample.

    The members are asked about the samples once; about five hundred of them at most
    they are asked again, to measure times and lazy voting, and about samples made from
    them where a method wants further ones. Pictures of pairs look at the votes on 3,000
    samples at most, the comparison of methods and the contributions of members on
    6,000. What to expect of those kept, and of other numbers of members, is judged on
    10,000 at most, each of them by members chosen without it: the figures that
    ``quorate prune`` prints.

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

    Of a summary, what counts can say:

    >>> votes = quorate.collect_votes(forest, X, y, out_of_bag=True)
    >>> page = quorate.report(votes.summary())
    >>> page.data["votes"]["accuracy"] == votes.accuracy()
    True
    """
    request = Request(
        method=method,
        keep=keep,
        scoring=scoring,
        source=source,
        methods=methods,
        noise=noise,
        title=title,
        n_jobs=n_jobs,
        random_state=random_state,
        max_samples=max_samples,
        target=target,
    )
    if isinstance(ensemble, Summary):
        _refuse_for_summary(X, y, request)
        made = summary_report(ensemble, noise=noise, title=title)
    else:
        made = make_report(ensemble, X, y, request)
    if output is not None:
        made.save(output)
    return made


def make_report(ensemble: Any, X: Any, y: Any, request: Request) -> Report:
    """Make the page that was asked for."""
    _check_settings(request)
    size = size_for(request.method, request.keep, owner="report")
    for wanted in (request.method, *(request.methods or ())):
        check_method(wanted)
    start = time.perf_counter()
    evidence = _evidence(ensemble, X, y, request, size)
    collected = time.perf_counter() - start
    scoring, seed = request.scoring, request.random_state
    selection = choose(
        evidence, request.method, size, scoring=scoring, seed=seed, owner="report"
    )
    # Some methods take the votes that are out of bag, whatever was asked for.
    evidence = replace(evidence, votes=selection.votes)
    found = analyse(evidence, selection, request)
    blend = ensemble if isinstance(ensemble, Blend) else None
    page = _page(found, request, blend, collected)
    pair_votes = found.votes.at(some_samples(found.votes, _PAIR_SAMPLES, seed))
    pictures = ensemble_pictures(page, found.votes, pair_votes, selection, found.before)
    settings = replace(page.settings, seconds=time.perf_counter() - start)
    return render(
        "ensemble.html",
        replace(page, settings=settings),
        pictures,
        selection=selection,
        pair_samples=pair_votes.n_samples,
        measure=page.measure,
        blend=blend,
        unscored=_sections.UNSCORED,
        chosen_before=_sections.CHOSEN_BEFORE,
    )


def _page(
    found: Analysis, request: Request, blend: Blend | None, collected: float
) -> EnsemblePage:
    """Return every section of the page."""
    evidence, selection, votes = found.evidence, found.selection, found.votes
    ensemble, honest, drawn = ensemble_of(evidence), found.honest, evidence.drawn
    n_given = votes.n_samples if evidence.X is None else count_rows(evidence.X)
    costs = None if ensemble is None else evidence.costs("bytes")
    facts = _sections.ensemble_section(votes, ensemble, costs)
    words = _sections.words(votes, ensemble)
    judged = judged_section(found)
    times, lazy = measured(found, request.random_state)
    pruning = pruning_section(found, facts, times)
    certificate = certificate_section(found, request)
    settings = settings_of(request, selection, collected)
    recorded = "" if ensemble is not None else "votes" if blend is None else "blend"
    sizes = sizes_section(
        selection,
        facts,
        pruning,
        certificate,
        judged or Measure(),
        words.members,
        prune_commands(request, settings, selection, recorded),
    )
    n_blended = None if blend is None else len(blend.weights)
    page = EnsemblePage(
        **origin(),
        title=request.title
        or _sections.default_title(ensemble, votes.n_members, n_blended),
        ensemble=facts,
        blend=blend,
        words=words,
        votes=_sections.votes_section(
            votes,
            n_given if drawn is None else drawn.n_rows,
            "" if drawn is None else str(drawn),
            chosen_before=found.chosen_before,
        ),
        classes=_sections.class_rows(votes, found.expected, honest),
        confusion=_sections.expected_confusion(found.expected, votes, honest),
        judged=judged,
        diversity=_sections.measure_rows(found.before, found.after),
        decomposition=_sections.decomposition_section(found.before, found.after),
        risk=None if found.before is None else found.before.to_dict()["risk"],
        members=_members(found, facts, blend, request.random_state),
        pruning=pruning,
        methods=methods_section(found, request),
        lazy=lazy,
        certificate=certificate,
        sizes=sizes,
        settings=settings,
        reproduce=reproduce(request, settings, selection, recorded),
        advice=[],
    )
    advised = sizes.members.tolist().index(advised_size(page))
    return replace(page, advice=advice(page), sizes=replace(sizes, advised=advised))


def _members(
    found: Analysis,
    facts: _sections.EnsembleSection,
    blend: Blend | None,
    seed: int,
) -> list[_sections.MemberRow]:
    """Return a row per member: how good it is, what it costs, whether it stays.

    What a member contributes, and why it stays or goes, is counted on some of the
    samples. Weights are those of a blend, if it is about one.
    """
    votes, selection = found.votes, found.selection
    some = votes.at(some_samples(votes, MOST_SAMPLES, seed))
    accuracy = find_score(None, votes.classes, "report")
    added = accuracy.contributions(some) if found.honest else None
    weights = votes.weights if facts.weighted else None
    if blend is not None:
        weights = np.array([blend.weights.get(name, 0.0) for name in votes.names])
    picks = {int(member): place + 1 for place, member in enumerate(selection.order)}
    every = range(votes.n_members)
    return _sections.member_rows(
        votes,
        _sections.mean_agreement(votes),
        weights,
        found.honest,
        kept=["kept" if member in picks else "dropped" for member in every],
        pick=[picks.get(member) for member in every],
        contribution=None if added is None else added.tolist(),
        bytes=facts.bytes,
        nodes=facts.nodes,
        depth=facts.depth,
        why=reasons(some, selection, votes.accuracies, added, accuracy),
    )


def _evidence(ensemble: Any, X: Any, y: Any, request: Request, size: Size) -> Evidence:
    """Return the votes to choose on, those given or those of the members."""
    if isinstance(ensemble, (Votes, Blend)):
        return _recorded(ensemble, X, y, request)
    if X is None:
        raise ValueError(
            "report: an ensemble needs samples, report(ensemble, X, y); only votes, a "
            "blend or a summary come alone."
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
        target=request.target,
        seed=request.random_state,
        size=size,
    )


def _recorded(given: Votes | Blend, X: Any, y: Any, request: Request) -> Evidence:
    """Return votes as all there is to choose on."""
    unfit = {"max_samples": request.max_samples, "target": request.target}
    unfit["source"] = None if request.source == "auto" else request.source
    for name, value in unfit.items():
        if value is not None:
            raise TypeError(
                f"report({name}={value!r}): goes with an ensemble and samples; votes "
                "have been cast already."
            )
    if X is not None or y is not None:
        raise TypeError(
            f"report: {type(given).__name__} has its samples and labels; leave out X "
            "and y."
        )
    votes = given.votes() if isinstance(given, Blend) else given
    check_scoring(request.scoring, "report", averages=votes.rule == "average")
    if votes.source is VoteSource.UNLABELLED:
        raise ValueError(f"report: {votes.source.flaw}.")
    if votes.source is None:
        votes = votes.with_source(VoteSource.ASSUMED_NEW)
    return Evidence(votes)


def _refuse_for_summary(X: Any, y: Any, request: Request) -> None:
    given = [name for name, value in (("X", X), ("y", y)) if value is not None]
    for option in fields(request):
        harmless = option.name in ("noise", "title", "n_jobs", "random_state")
        if not harmless and getattr(request, option.name) != option.default:
            given.append(option.name)
    if given:
        raise ValueError(
            f"report({given[0]}=...): a summary has its samples, and nobody is chosen "
            "from it; give only output, noise and title."
        )


def _check_settings(request: Request) -> None:
    """Refuse what the page could not be made with, before any work."""
    methods, seed = request.methods, request.random_state
    if isinstance(methods, str):
        raise ValueError(
            f"report(methods={methods!r}): a list of methods, as in [{methods!r}]."
        )
    whole = isinstance(seed, (int, np.integer))
    if not whole or isinstance(seed, bool) or seed < 0:
        raise ValueError(f"report(random_state={seed!r}): a whole number, 0 or more.")
