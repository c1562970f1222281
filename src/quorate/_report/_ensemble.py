"""The report on an ensemble: collect votes once, choose, measure, draw the page."""

import os
import platform
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from quorate._blending import Blend
from quorate._choosing import (
    DEFAULT,
    Evidence,
    FixedSize,
    Keep,
    Selection,
    check_method,
    choose,
    expectations,
    gather,
    size_for,
)
from quorate._data import count_rows, take_rows
from quorate._report import _facts
from quorate._report._advice import advice, advised_size, lead
from quorate._report._blend import blend_facts
from quorate._report._certificate import certificate_facts
from quorate._report._expected import (
    curve_facts,
    expected_confusion,
    expected_facts,
)
from quorate._report._lazy import lazy_facts, no_lazy_facts
from quorate._report._measure import judged_facts, measure_of, score_to_judge_by
from quorate._report._method_comparison import (
    TOO_FEW,
    compare_methods,
    halves_of,
)
from quorate._report._page import Report, embeddable, render, require_extra
from quorate._report._pictures import ensemble_pictures
from quorate._report._reproduce import Source, as_code, reproduce
from quorate._report._savings import (
    can_distil,
    measured_times,
    model_of,
    pickled_pair,
    pruning_facts,
)
from quorate._report._sections import (
    certificate_rows,
    ensemble_rows,
    ensemble_tables,
    has_two_accuracies,
    risk_rows,
)
from quorate._report._sizes import full_score, prune_commands, size_facts
from quorate._report._summary import summary_report
from quorate._report._words import CHOSEN_BEFORE, GLOSSARY, UNSCORED
from quorate._scoring import check_scoring
from quorate._theory import diagnose
from quorate._version import versions
from quorate._votes import Summary, Votes, VoteSource
from quorate.ensembles import RowSource

# Beyond these numbers, parts of the report look at some of the samples; it says so.
_COMPARED_SAMPLES = 6_000
_PAIR_SAMPLES = 3_000
_TIMED_ROWS = 500


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
    if isinstance(ensemble, Summary):
        _refuse_for_summary(
            X=X is not None,
            y=y is not None,
            method=method != "auto",
            keep=keep != DEFAULT,
            scoring=scoring is not None,
            source=source != "auto",
            methods=methods is not None,
            max_samples=max_samples is not None,
            target=target is not None,
        )
        made = summary_report(ensemble, noise=noise, title=title)
        if output is not None:
            made.save(output)
        return made
    made = make_report(
        ensemble,
        X,
        y,
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
    if output is not None:
        made.save(output)
    return made


def make_report(
    ensemble: Any,
    X: Any,
    y: Any,
    *,
    method: Any,
    keep: Keep,
    scoring: Any = None,
    source: RowSource,
    methods: Sequence[Any] | None,
    noise: float,
    title: str | None,
    n_jobs: int | None,
    random_state: int,
    files: Source | None = None,
    max_samples: int | None = None,
    target: str | None = None,
) -> Report:
    """Make the report; ``files`` names the files, where it comes from files."""
    require_extra()
    _check_settings(methods, random_state)
    size = size_for(method, keep, owner="report")
    for wanted in (method, *(methods or ())):
        check_method(wanted)
    start = time.perf_counter()
    if isinstance(ensemble, (Votes, Blend)):
        unfit = {"max_samples": max_samples, "target": target}
        said = None if source == "auto" else source
        _refuse_for_votes({**unfit, "source": said})
        evidence = _recorded(ensemble, X, y, scoring)
    elif X is None:
        raise ValueError(
            "report: an ensemble needs samples, report(ensemble, X, y); only votes, a "
            "blend or a summary come alone."
        )
    else:
        evidence = gather(
            ensemble,
            X,
            y,
            source=source,
            n_jobs=n_jobs,
            scoring=scoring,
            owner="report",
            max_samples=max_samples,
            target=target,
            seed=random_state,
            size=size,
        )
    X = evidence.X
    n_given = evidence.votes.n_samples if X is None else count_rows(X)
    if evidence.drawn is not None:
        n_given = evidence.drawn.n_rows
    collected = time.perf_counter() - start
    selection = choose(
        evidence,
        method,
        size,
        scoring=scoring,
        seed=random_state,
        owner="report",
    )
    # Some methods take the votes that are out of bag, whatever was asked for.
    evidence = replace(evidence, votes=selection.votes)
    found, votes, pruner = evidence.ensemble, evidence.votes, selection.pruner
    recorded = "" if found is not None else "votes"
    if isinstance(ensemble, Blend):
        recorded = "blend"
    assert votes.source is not None
    honest = votes.source.is_honest
    flattered = honest and evidence.chosen_on
    kept = selection.applied_to(votes)
    if found is None:
        facts, timed, lazy = _facts.recorded_facts(votes), None, no_lazy_facts()
    else:
        facts = _facts.ensemble_facts(found, votes, evidence.costs("bytes"))
        rows = some_rows(X, random_state)
        single = model_of(found, votes, np.arange(found.n_members))
        timed = measured_times(found, single, selection, rows)
        unseen = votes.source.is_unseen
        lazy = lazy_facts(single, rows, unseen=unseen, seed=random_state)
        if flattered:
            # They also agree more than on others.
            lazy |= {"honest": False, "note": f"{lazy['note']} {CHOSEN_BEFORE}".strip()}
    diagnosis = diagnose(votes, noise) if honest else None
    score, why = score_to_judge_by(scoring, found, votes, selection)
    expected, curve = None, None
    if honest:
        expected, curve = expectations(evidence, selection, score)
    halves = None
    if honest:
        halves = halves_of(
            evidence,
            method,
            _COMPARED_SAMPLES,
            random_state,
            None if selection.judged_by.is_accuracy else scoring,
            None if score.is_accuracy else score,
        )
    some = _some(votes, _COMPARED_SAMPLES, random_state)
    blend = blend_facts(ensemble) if isinstance(ensemble, Blend) else None
    data: dict[str, Any] = {
        "format": "quorate-report/1",
        "kind": "ensemble",
        "title": title or _facts.default_title(found, votes, blend),
        "made": datetime.now(UTC).date().isoformat(),
        "ensemble": facts,
        "blend": blend,
        "words": _facts.words(found, votes),
        "votes": {
            **_facts.vote_facts(votes, n_given),
            "drawn": "" if evidence.drawn is None else str(evidence.drawn),
            "chosen_before": flattered,
            **({"meaning": CHOSEN_BEFORE} if flattered else {}),
        },
        "classes": _facts.class_facts(votes, expected, honest),
        "confusion": expected_confusion(expected, votes, honest),
        "judged": judged_facts(score, why, votes, kept, expected, honest),
        "diversity": _facts.diversity_facts(diagnosis, kept),
        "decomposition": _facts.decomposition_facts(diagnosis, kept),
        "risk": None if diagnosis is None else diagnosis.to_dict()["risk"],
        "members": _facts.member_facts(votes, some, selection, facts, honest, blend),
        "pruning": {
            **pruning_facts(selection, kept, facts, honest),
            "bytes": pickled_pair(evidence, selection),
            "expected": expected_facts(expected, selection, score),
            "can_distil": found is not None and can_distil(found),
            "milliseconds": timed,
            "curve": {"refusal": _why_not(honest)},
        },
        "methods": {"refusal": _why_not(honest), "rows": []},
        "lazy": lazy,
        "certificate": certificate_facts(
            halves,
            pruner,
            votes.source,
            selection.n_kept,
            chosen_before=flattered,
        ),
        "settings": {
            "method": as_code(method),
            "keep": _resolved(keep, selection),
            **(
                {}
                if selection.judged_by.is_accuracy
                else {"scoring": selection.scoring}
            ),
            "out_of_bag": votes.source is VoteSource.OUT_OF_BAG,
            "source": _row_source(votes.source),
            "noise": noise,
            "random_state": random_state,
            **({} if max_samples is None else {"max_samples": max_samples}),
            "seconds_collecting": collected,
        },
        "versions": {
            **versions("scikit-learn", "numpy", "scipy"),
            "platform": platform.platform(),
        },
    }
    if halves is not None:
        data["methods"] = compare_methods(halves, selection.n_kept, methods)
    if expected is not None:
        data["pruning"]["curve"] = curve_facts(curve, selection, expected, score)
    data["sizes"] = {
        **size_facts(selection, data),
        "commands": prune_commands(
            data["settings"], method, source, selection, files, recorded
        ),
    }
    members = data["sizes"]["members"].tolist()
    data["sizes"]["advised"] = members.index(advised_size(data))
    data["reproduce"] = reproduce(
        data["settings"], method, methods, title, selection, files, recorded
    )
    data["advice"] = advice(data)
    few = _some(votes, _PAIR_SAMPLES, random_state)
    pictures = ensemble_pictures(votes, few, selection, diagnosis, data)
    data["settings"]["seconds"] = time.perf_counter() - start
    return render(
        "ensemble.html",
        data,
        selection=selection,
        kind="report on an ensemble",
        lead=lead(data),
        glossary=GLOSSARY,
        facts=ensemble_rows(data),
        risk_facts=risk_rows(data),
        certificate_facts=certificate_rows(data),
        tables=ensemble_tables(data),
        pictures=pictures,
        marks=embeddable({p.id: p.marks for p in pictures.values() if p.marks}),
        pair_samples=few.n_samples,
        measure=measure_of(data),
        full_score=full_score(data),
        two_accuracies=has_two_accuracies(data),
        unscored=UNSCORED,
        chosen_before=CHOSEN_BEFORE,
    )


def _refuse_for_summary(**given: bool) -> None:
    for name, is_given in given.items():
        if is_given:
            raise ValueError(
                f"report({name}=...): a summary has its samples, and nobody is chosen "
                "from it; give only output, noise and title."
            )


def _recorded(given: Votes | Blend, X: Any, y: Any, scoring: Any) -> Evidence:
    """Return votes as all there is to choose on."""
    if X is not None or y is not None:
        raise TypeError(
            f"report: {type(given).__name__} has its samples and labels; leave out X "
            "and y."
        )
    votes = given.votes() if isinstance(given, Blend) else given
    check_scoring(scoring, "report", averages=votes.rule == "average")
    if votes.source is VoteSource.UNLABELLED:
        raise ValueError(f"report: {votes.source.flaw}.")
    if votes.source is None:
        votes = votes.with_source(VoteSource.ASSUMED_NEW)
    return Evidence(votes)


def _row_source(source: VoteSource) -> RowSource:
    """Return what to say about the samples to get these votes again."""
    if source in (VoteSource.OUT_OF_BAG, VoteSource.TRAINING):
        return "training"
    return "new" if source is VoteSource.NEW else "auto"


def _refuse_for_votes(options: dict[str, Any]) -> None:
    """Refuse what says which samples members are to be asked about."""
    for name, value in options.items():
        if value is not None:
            raise TypeError(
                f"report({name}={value!r}): goes with an ensemble and samples; votes "
                "have been cast already."
            )


def _why_not(honest: bool) -> str:
    """Return why there is no comparison, where there is none."""
    return TOO_FEW if honest else UNSCORED


def _check_settings(methods: Any, random_state: Any) -> None:
    """Refuse what the page could not be made with, before any work."""
    if isinstance(methods, str):
        raise ValueError(
            f"report(methods={methods!r}): a list of methods, as in [{methods!r}]."
        )
    whole = isinstance(random_state, (int, np.integer))
    if not whole or isinstance(random_state, bool) or random_state < 0:
        raise ValueError(
            f"report(random_state={random_state!r}): a whole number, 0 or more."
        )


def _some(votes: Votes, most: int, seed: int) -> Votes:
    if votes.n_samples <= most:
        return votes
    rng = np.random.default_rng(seed)
    return votes.at(np.sort(rng.choice(votes.n_samples, most, replace=False)))


def some_rows(X: Any, seed: int) -> Any:
    """Return a few samples to measure times and lazy voting on; all, if few."""
    n_rows = count_rows(X)
    if n_rows <= _TIMED_ROWS:
        return X
    rng = np.random.default_rng(seed)
    return take_rows(X, np.sort(rng.choice(n_rows, _TIMED_ROWS, replace=False)))


def _resolved(keep: Keep, selection: Selection) -> Keep:
    """Return the size that was asked for, in the word or number it stands for."""
    if keep == DEFAULT and isinstance(selection.size, FixedSize):
        return selection.size.keep
    return keep
