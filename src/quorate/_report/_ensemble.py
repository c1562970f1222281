"""The report on an ensemble: collect votes once, measure, draw, write the page."""

import os
import platform
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sklearn.utils import resample

from quorate._diagnosis import diagnose
from quorate._report import _facts, _method_comparison
from quorate._report._advice import advice, lead
from quorate._report._certificate import certificate_facts
from quorate._report._lazy import lazy_facts, make_lazy
from quorate._report._page import Report, embeddable, render, require_extra
from quorate._report._pictures import ensemble_pictures
from quorate._report._sections import (
    certificate_rows,
    ensemble_rows,
    ensemble_tables,
    risk_rows,
)
from quorate._report._words import GLOSSARY
from quorate._typing import Array, IntArray
from quorate._versions import versions
from quorate.choosing import Selection, select
from quorate.ensembles import keep_members, member_costs
from quorate.pruned import votes_to_choose_on
from quorate.pruning import Pruner, choose_method, make_pruner
from quorate.votes import Votes
from quorate.votes._members import kind_of, read_members

# Beyond these numbers, parts of the report look at some of the samples; it says so.
_CONTEST_SAMPLES = 6_000
_PAIR_SAMPLES = 3_000
_TIMED_ROWS = 500


@dataclass(frozen=True, slots=True)
class Source:
    """The files a report was made from, for the command that makes it again."""

    model: str
    data: str
    target: str
    options: tuple[str, ...] = ()


def report(
    ensemble: Any,
    X: Any,
    y: Any,
    *,
    output: str | os.PathLike[str] | None = None,
    method: Any = "auto",
    keep: float | int | str | None = 0.2,
    out_of_bag: bool | str = "auto",
    methods: Sequence[Any] | None = None,
    noise: float = 0.01,
    title: str | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> Report:
    """Write one page that explains an ensemble: diversity, members, what to save.

    Parameters
    ----------
    ensemble : fitted ensemble, list or dict
        What :func:`quorate.collect_votes` reads. It is not changed.
    X, y : array-like
        Samples and labels: the training data of an ensemble that bootstraps, or
        samples that no member has seen.
    output : path, optional
        File to write the page to.
    method : str or Pruner
        How the members to keep are chosen: a name from :func:`quorate.methods`, or
        "auto" for the method that suits the ensemble, as in :func:`quorate.prune`.
    keep : float, int, "auto" or None
        How many members to keep; see :func:`quorate.select`.
    out_of_bag : {"auto", True, False}
        Which votes to use; see :func:`quorate.prune`.
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

    Returns
    -------
    Report
        ``html`` is the page, ``data`` the numbers on it, ``save`` writes it. A
        notebook shows it in a frame.

    Notes
    -----
    Members are chosen from votes. Methods that can use probabilities and further
    samples get none here, so that :func:`quorate.prune` may choose somewhat better.

    The page is one file that loads nothing. It holds class names, feature names and
    member names, and numbers about votes, but no sample.

    The samples are used to collect votes, once; five hundred of them at most are used
    again to measure times. Pictures of pairs look at the votes on 3,000 samples at
    most, the comparison of methods and the contributions of members on 6,000.

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
    >>> page.html[:15]
    '<!DOCTYPE html>'
    """
    made = make_report(
        ensemble,
        X,
        y,
        method=method,
        keep=keep,
        out_of_bag=out_of_bag,
        methods=methods,
        noise=noise,
        title=title,
        n_jobs=n_jobs,
        random_state=random_state,
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
    keep: float | int | str | None,
    out_of_bag: bool | str,
    methods: Sequence[Any] | None,
    noise: float,
    title: str | None,
    n_jobs: int | None,
    random_state: int,
    source: Source | None = None,
) -> Report:
    """Make the report; ``source`` names the files, where it comes from files."""
    require_extra()
    start = time.perf_counter()
    votes, chosen_on = votes_to_choose_on(
        ensemble, X, y, out_of_bag, n_jobs, owner="report"
    )
    collected = time.perf_counter() - start
    pruner = _pruner(method, ensemble, votes, chosen_on)
    if pruner.tags.needs_features:
        raise ValueError(
            f"report(method={method!r}): {type(pruner).__name__} needs the samples "
            "themselves; choose a method that votes are enough for."
        )
    selection = select(votes, pruner, keep)
    kept = selection.kept
    roster = read_members(ensemble)
    facts = _facts.ensemble_facts(ensemble, roster, votes)
    diagnosis = diagnose(votes, noise)
    halves = _method_comparison.halves_of(votes, _CONTEST_SAMPLES, random_state)
    rows = some_rows(X, random_state)
    unseen = chosen_on == "votes on other samples"
    single = _single_threaded(ensemble, votes.n_members)
    lazy = make_lazy(single, rows, unseen, random_state)
    times, answers = _times(single, selection, list(lazy.models.values()), rows)
    data: dict[str, Any] = {
        "format": "quorate-report/1",
        "kind": "ensemble",
        "title": title or f"{facts['type']} of {votes.n_members} members",
        "made": datetime.now(UTC).date().isoformat(),
        "ensemble": facts,
        "votes": _facts.vote_facts(votes, chosen_on, len(y)),
        "classes": _facts.class_facts(votes, kept),
        "diversity": _facts.diversity_facts(diagnosis, kept),
        "decomposition": _facts.decomposition_facts(votes, kept),
        "risk": diagnosis.to_dict()["risk"],
        "members": _facts.member_facts(
            votes, _some(votes, _CONTEST_SAMPLES, random_state), selection, facts
        ),
        "pruning": _pruning(
            votes,
            selection,
            facts,
            {"before": times[0], "after": times[1], "rows": _length(rows)},
            _method_comparison.held_back_curve(halves, pruner, random_state),
        ),
        "methods": _method_comparison.compare_methods(
            halves, pruner, selection.n_kept, methods, random_state
        ),
        "lazy": lazy_facts(
            lazy, rows, [times[0], *times[2:]], [*answers[:1], *answers[2:]]
        ),
        "certificate": certificate_facts(halves, pruner, unseen, random_state),
        "settings": {
            "method": method if isinstance(method, str) else repr(pruner),
            "keep": keep,
            "out_of_bag": chosen_on == "out-of-bag votes",
            "noise": noise,
            "random_state": random_state,
            "seconds_collecting": collected,
        },
        "versions": {
            **versions("scikit-learn", "numpy", "scipy"),
            "platform": platform.platform(),
        },
    }
    data["reproduce"] = _reproduce(data, title, methods, source)
    data["advice"] = advice(data)
    some = _some(votes, _PAIR_SAMPLES, random_state)
    pictures = ensemble_pictures(votes, some, selection, diagnosis, data)
    data["settings"]["seconds"] = time.perf_counter() - start
    return render(
        "ensemble.html",
        data,
        kind="report on an ensemble",
        lead=lead(data),
        glossary=GLOSSARY,
        facts=ensemble_rows(data),
        risk_facts=risk_rows(data),
        certificate_facts=certificate_rows(data),
        tables=ensemble_tables(data),
        pictures=pictures,
        marks=embeddable({p.id: p.marks for p in pictures.values() if p.marks}),
        pair_samples=some.n_samples,
    )


def _pruner(method: Any, ensemble: Any, votes: Votes, chosen_on: str) -> Pruner:
    if isinstance(method, str) and method == "auto":
        return choose_method(kind_of(ensemble), votes, chosen_on)
    return make_pruner(method)


def _some(votes: Votes, most: int, seed: int) -> Votes:
    if votes.n_samples <= most:
        return votes
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(votes.n_samples, most, replace=False))
    return _method_comparison.some_samples(votes, rows)


def _pruning(
    votes: Votes,
    selection: Selection,
    facts: dict[str, Any],
    milliseconds: dict[str, Any],
    curve: dict[str, Any],
) -> dict[str, Any]:
    """Say what is kept, what that saves and what it costs."""
    kept = np.sort(selection.order)
    return {
        "method": type(selection.pruner).__name__,
        "rule": selection.rule,
        "n_kept": selection.n_kept,
        "order": selection.order,
        "curve": curve,
        "members": {"before": votes.n_members, "after": selection.n_kept},
        "bytes": _sums(facts["bytes"], kept),
        "nodes": _sums(facts["nodes"], kept),
        "milliseconds": milliseconds,
        "accuracy": {
            "before": votes.accuracy(),
            "after": selection.kept.accuracy(),
        },
    }


def _sums(costs: Any, kept: IntArray) -> dict[str, int] | None:
    if costs is None:
        return None
    each = np.asarray(costs)
    return {"before": int(each.sum()), "after": int(each[kept].sum())}


def _single_threaded(ensemble: Any, n_members: int) -> Any:
    """Return the same ensemble without workers, as its pruned forms are."""
    return keep_members(ensemble, np.arange(n_members))


def _times(
    whole: Any, selection: Selection, others: list[Any], rows: Any
) -> tuple[list[float], list[Array]]:
    """Return milliseconds and predictions: all members, those kept, other models.

    Models take turns, so that noise is shared, and the better of two times counts.
    """
    kept, weights = np.sort(selection.order), selection.weights
    if not hasattr(whole, "predict"):
        each = member_costs(whole, "milliseconds", rows, repeats=1)
        return [float(each.sum()), float(each[kept].sum())], []
    smaller = keep_members(whole, kept, None if weights is None else weights[kept])
    models = [whole, smaller, *others]
    best = [np.inf] * len(models)
    answers: list[Array] = []
    for _ in range(2):
        answers.clear()
        for place, model in enumerate(models):
            start = time.perf_counter()
            answers.append(np.asarray(model.predict(rows)))
            best[place] = min(best[place], 1e3 * (time.perf_counter() - start))
    return best, answers


def some_rows(X: Any, seed: int) -> Any:
    """Return a few samples to measure times on."""
    n_rows = min(_length(X), _TIMED_ROWS)
    return resample(X, replace=False, n_samples=n_rows, random_state=seed)


def _length(X: Any) -> int:
    return int(X.shape[0] if hasattr(X, "shape") else len(X))


def _reproduce(
    data: dict[str, Any],
    title: str | None,
    methods: Sequence[Any] | None,
    source: Source | None,
) -> dict[str, Any]:
    """Return the code, and the command where there was one, that does this again."""
    setting = data["settings"]
    given = {
        "method": setting["method"],
        "keep": setting["keep"],
        "out_of_bag": setting["out_of_bag"],
        "noise": setting["noise"],
        "random_state": setting["random_state"],
    }
    if methods is not None:
        given["methods"] = list(methods)
    if title is not None:
        given["title"] = title
    choice = {name: given[name] for name in ("method", "keep", "out_of_bag")}
    code = [
        "import quorate",
        "",
        *_call("page = quorate.report", given),
        'page.save("report.html")',
        "",
        *_call("smaller = quorate.prune", choice),
    ]
    return {
        "python": "\n".join(code),
        "shell": None if source is None else _command(source, given),
        "source": None
        if source is None
        else {"model": source.model, "data": source.data, "target": source.target},
    }


def _call(function: str, options: dict[str, Any]) -> list[str]:
    words = [f"    {name}={value!r}," for name, value in options.items()]
    return [f"{function}(", "    ensemble, X, y,", *words, ")"]


def _command(source: Source, given: dict[str, Any]) -> str:
    keep = "own" if given["keep"] is None else str(given["keep"])
    votes = "--out-of-bag" if given["out_of_bag"] else "--all-votes"
    words = ["quorate", "report", source.model, "--data", source.data]
    words += ["--target", source.target, "--method", str(given["method"])]
    words += ["--keep", keep, votes, "--noise", str(given["noise"])]
    words += ["--seed", str(given["random_state"]), *source.options]
    if "title" in given:
        words += ["--title", str(given["title"])]
    return shlex.join([*words, "-o", "report.html"])
