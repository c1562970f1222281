"""Mutants that once lived, by name: each must be noticed for ever.

A change of the code that takes one of these pieces away brings it up to date here.
"""

from pathlib import Path

from mutation.mutants import Mutant

# What is wrong with it, the room, what stands there once, and what the mutant says.
NAMED: list[tuple[str, str, str, str]] = [
    # votes
    (
        "slack of ties without the total weight",
        "_votes",
        "verdicts.TIE_TOLERANCE * float(votes.weights.sum())",
        "verdicts.TIE_TOLERANCE",
    ),
    (
        "slack of ties without the total weight, along an order",
        "_votes",
        "TIE_TOLERANCE * float(self.weights[self.inside].sum())",
        "TIE_TOLERANCE",
    ),
    (
        "slack of ties without the total weight, in running votes",
        "pruning",
        "self.slack = TIE_TOLERANCE * float(self.weights.sum())",
        "self.slack = TIE_TOLERANCE",
    ),
    (
        "a million times the slack of ties",
        "_kernels",
        "TIE_TOLERANCE = 1e-12",
        "TIE_TOLERANCE = 1e-6",
    ),
    (
        "a file's -1 is a vote though none is masked",
        "_votes",
        "lowest = -1 if is_masked else 0",
        "lowest = -1",
    ),
    (
        "so are probabilities of a vote that is not there",
        "_votes",
        '(-1 if about["masked"] else 0)',
        "-1",
    ),
    # ensembles
    (
        "a reference vote without the weights",
        "_ensembles",
        "positions(votes.predict(), classes",
        "positions(votes.unweighted().predict(), classes",
    ),
    (
        "n_jobs of collect_votes dropped",
        "_ensembles",
        "source=source,\n        n_jobs=n_jobs,\n        probabilities",
        "source=source,\n        n_jobs=None,\n        probabilities",
    ),
    (
        "n_jobs does not reach the members",
        "_ensembles",
        "answers = in_threads(n_jobs, evaluate, pairs)",
        "answers = in_threads(None, evaluate, pairs)",
    ),
    # lazy
    (
        "n_jobs of lazy voting dropped",
        "_lazy",
        "min(count_threads(self.n_jobs), n_rows",
        "min(count_threads(None), n_rows",
    ),
    # pruning
    (
        "SEP leaves equals after one flip",
        "pruning",
        "after = single[flips[0]]\n                if after > error:",
        "after = single[flips[0]]\n                if after >= error:",
    ),
    (
        "SEP leaves equals after many flips",
        "pruning",
        "after = running.error\n                if after > error:",
        "after = running.error\n                if after >= error:",
    ),
    (
        "backfitting of one round",
        "pruning",
        "rounds = _BACKFITTING_ROUNDS if",
        "rounds = 1 if",
    ),
    # choosing
    (
        "a tolerance with the wrong sign",
        "_choosing",
        "self.full_error + tolerance",
        "self.full_error - tolerance",
    ),
    (
        "a tolerance with the wrong sign, on errors that are cross-fitted",
        "_choosing",
        "self.excess_limits <= tolerance",
        "self.excess_limits <= -tolerance",
    ),
    (
        "out of bag, one vote more than there are members",
        "_choosing",
        "(np.cumsum(may, axis=0) <= number)",
        "(np.cumsum(may, axis=0) <= number + 1)",
    ),
    (
        "out of bag, the first so many by the votes they have",
        "_choosing",
        "rows[n_votes[voted], voted] = last[voted]",
        "rows[member, voted] = last[voted]",
    ),
    (
        "what to expect, of the samples judged on alone",
        "_choosing",
        "error=expected.score.estimate_votes(votes).loss + expected.excess",
        "error=expected.error",
    ),
    (
        "methods that refine are not fitted again",
        "_choosing",
        "if members.pruner.tags.nested:",
        "if True:",
    ),
    (
        "errors without the new weights",
        "_choosing",
        "return self.score.estimate_votes(self.applied_to(self.votes))",
        "return self.score.estimate_votes(self.votes.keep(self.members))",
    ),
    (
        "a fold in which all members stay is the last one judged",
        "_choosing",
        "# all members are kept\n            continue",
        "# all members are kept\n            break",
    ),
    (
        "sizes that only some folds have",
        "_choosing",
        "n_sizes = min(n_sizes, fitted.order_.size)",
        "n_sizes = max(n_sizes, fitted.order_.size)",
    ),
    (
        "further votes dropped in every fold",
        "_choosing",
        "unlabelled=given.further",
        "unlabelled=None",
    ),
    (
        "any score taken for accuracy, in what to expect of both models",
        "_choosing",
        "if self.score.is_accuracy:\n            return 1",
        "if True:\n            return 1",
    ),
    (
        "any score taken for accuracy, after distilling",
        "_choosing",
        "if not score.is_accuracy:\n        return None\n    kept",
        "kept",
    ),
    # certificates, comparisons
    (
        "new weights pass as the ensemble itself",
        "_judging",
        "(sizes == n_members) & (order is not None and weights is None)",
        "(sizes == n_members) & (order is not None)",
    ),
    (
        "a certificate on rows that the second model was trained on",
        "_judging",
        "for each in ensembles]\n    for each in sources:",
        "for each in ensembles[:1]] * 2\n    for each in sources:",
    ),
    (
        "a certificate on rows that the second model was chosen on",
        "_judging",
        "    if were_chosen_on(ensembles, X, source):",
        "    if were_chosen_on(ensembles[:1], X, source):",
    ),
    (
        "members chosen from another number of members",
        "_summarising",
        "if pruner.support_.size != n_members:",
        "if False:",
    ),
    (
        "a comparison where only one of two models has out-of-bag votes",
        "_judging",
        "np.intersect1d(votes[0].samples, votes[1].samples)",
        "np.union1d(votes[0].samples, votes[1].samples)",
    ),
    # blending
    (
        "one column of the class declared for it is enough",
        "_blending",
        "(named == declared).all()",
        "(named == declared).any()",
    ),
    (
        "the models of the least weight stay",
        "_blending",
        'np.sort(np.argsort(-weights, kind="stable")[: there',
        'np.sort(np.argsort(weights, kind="stable")[: there',
    ),
    (
        "half of those too many leave at a time",
        "_blending",
        "(there - keep) // 3",
        "(there - keep) // 2",
    ),
    # statistics
    (
        "a t-test leaves no mark at exactly alpha",
        "stats",
        "np.where(p_values <= level,",
        "np.where(p_values < level,",
    ),
    # study
    (
        "repeats that do not shuffle anew",
        "study",
        "random_state=plan.seed + repeat)",
        "random_state=plan.seed)",
    ),
    (
        "a seed that does not know the fold",
        "study",
        "plan.seed + 1000 * unit.repeat + unit.fold",
        "plan.seed + 1000 * unit.repeat",
    ),
    (
        "what is held out is trained on",
        "study",
        "X_train, X_choose, y_train, y_choose = train_test_split(",
        "_, X_choose, _, y_choose = train_test_split(",
    ),
    (
        "out-of-bag votes with those on samples seen",
        "study",
        'out_of_bag=prune_on == "oob",',
        "out_of_bag=False,",
    ),
    (
        "new weights are not used",
        "study",
        "kept = selection.applied_to(self.test)",
        "kept = self.test.keep(selection.members)",
    ),
    (
        "the key of a cell without the version",
        "study",
        '"quorate": __version__,',
        "",
    ),
    # files
    (
        "a step of a file that takes a negative column",
        "_serving",
        "type(place) is int and 0 <= place < size",
        "type(place) is int and place < size",
    ),
    # command line
    (
        "--tolerance dropped",
        "cli",
        "return_selection=True,\n            **choice,",
        "return_selection=True,\n            **{**choice, 'tolerance': None},",
    ),
    (
        "--test ignored",
        "cli",
        "X, y = read_table(form, test, target)",
        "X, y = read_table(form, data, target)",
    ),
    (
        '"test samples" whatever they are',
        "cli",
        '"samples chosen on" if test is None else "test samples"',
        '"test samples"',
    ),
]


def named_mutants(folder: Path) -> list[Mutant]:
    """Return these mutants, where they are in the source."""
    found = []
    for name, room, old, new in NAMED:
        files = [*folder.glob(f"{room}/**/*.py"), *folder.glob(f"{room}.py")]
        sources = {path: path.read_bytes() for path in files}
        times = sum(source.count(old.encode()) for source in sources.values())
        if times != 1:
            raise ValueError(f"{room}: {old!r} stands there {times} times ({name}).")
        path = next(path for path in files if old.encode() in sources[path])
        file, source = str(path.relative_to(folder)), sources[path]
        start = source.index(old.encode())
        end = start + len(old.encode())
        first, last = (source.count(b"\n", 0, place) + 1 for place in (start, end))
        span = (start, end, new.encode(), first, last, source)
        found.append(Mutant("named", file, "", first, name, *span))
    return found
