"""Mutants that once lived, by name: each must be noticed for ever.

A change of the code that takes one of these pieces away brings it up to date here.
"""

from pathlib import Path

from mutation.mutants import Mutant

# What is wrong with it, the file, what stands there once, and what the mutant says.
NAMED: list[tuple[str, str, str, str]] = [
    # votes
    (
        "slack of ties without the total weight",
        "_votes/_counted.py",
        "verdicts.TIE_TOLERANCE * float(self._weights.sum())",
        "verdicts.TIE_TOLERANCE",
    ),
    (
        "slack of ties without the total weight, along an order",
        "_votes/_deciding.py",
        "TIE_TOLERANCE * float(self.weights[self.inside].sum())",
        "TIE_TOLERANCE",
    ),
    (
        "slack of ties without the total weight, in subsets",
        "_votes/_subsets.py",
        "TIE_TOLERANCE * shares.sum(axis=1)[:, None]",
        "TIE_TOLERANCE",
    ),
    (
        "slack of ties without the total weight, in ballots",
        "pruning/_ballot.py",
        "self.slack = TIE_TOLERANCE * float(votes.weights.sum())",
        "self.slack = TIE_TOLERANCE",
    ),
    (
        "a million times the slack of ties",
        "_kernels/verdicts.py",
        "TIE_TOLERANCE = 1e-12",
        "TIE_TOLERANCE = 1e-6",
    ),
    (
        "a file's -1 is a vote though none is masked",
        "_votes/_files.py",
        'lowest = -1 if bool(arrays["masked"]) else 0',
        "lowest = -1",
    ),
    (
        "so are probabilities of a vote that is not there",
        "_votes/_files.py",
        '(-1 if bool(arrays["masked"]) else 0)',
        "-1",
    ),
    # ensembles
    (
        "a reference vote without the weights",
        "ensembles/_asking.py",
        "whole.predict(), rule",
        "whole.unweighted().predict(), rule",
    ),
    (
        "n_jobs of collect_votes dropped",
        "ensembles/_collect.py",
        "        n_jobs=n_jobs,\n        probabilities=probabilities,\n",
        "        probabilities=probabilities,\n",
    ),
    (
        "n_jobs does not reach the members",
        "ensembles/_ask.py",
        'Parallel(n_jobs=n_jobs, prefer="threads")',
        'Parallel(prefer="threads")',
    ),
    # lazy
    (
        "n_jobs of lazy voting dropped",
        "lazy/_ready.py",
        "effective_n_jobs(n_jobs)",
        "effective_n_jobs(None)",
    ),
    # pruning
    (
        "SEP leaves equals after one flip",
        "pruning/_evolution.py",
        "after = single[flips[0]]\n                if after > error:",
        "after = single[flips[0]]\n                if after >= error:",
    ),
    (
        "SEP leaves equals after many flips",
        "pruning/_evolution.py",
        "after = ballot.error\n                if after > error:",
        "after = ballot.error\n                if after >= error:",
    ),
    (
        "backfitting of one round",
        "pruning/_reduced_error.py",
        "in range(_BACKFITTING_ROUNDS)",
        "in range(1)",
    ),
    # choosing
    (
        "a tolerance with the wrong sign",
        "_choosing/_curve.py",
        "self.full_error + tolerance",
        "self.full_error - tolerance",
    ),
    (
        "a tolerance with the wrong sign, on errors that are cross-fitted",
        "_choosing/_crossfit.py",
        "self.excess_limits <= tolerance",
        "self.excess_limits <= -tolerance",
    ),
    (
        "out of bag, one vote more than there are members",
        "_choosing/_crossfit.py",
        "(np.cumsum(may, axis=0) <= number)",
        "(np.cumsum(may, axis=0) <= number + 1)",
    ),
    (
        "out of bag, the first so many by the votes they have",
        "_choosing/_crossfit.py",
        "rows[n_votes[voted], voted] = last[voted]",
        "rows[member, voted] = last[voted]",
    ),
    (
        "what to expect, of the samples judged on alone",
        "_choosing/_expected.py",
        "error=_full_error(evidence.votes, score) + expected.excess",
        "error=expected.error",
    ),
    (
        "methods that refine are not fitted again",
        "_choosing/_choose.py",
        "if not whole.tags.nested:",
        "if False:",
    ),
    (
        "errors without the new weights",
        "_choosing/_selection.py",
        "return self.applied_to(self.votes).error(), self.votes.error()",
        "return self.votes.keep(self.members).error(), self.votes.error()",
    ),
    (
        "errors without the new weights, in notebooks",
        "_choosing/_selection.py",
        '("error where chosen, kept", f"{found[0]:.4f}")',
        '("error where chosen, kept", f"{self.votes.keep(self.members).error():.4f}")',
    ),
    # certificates, statistics
    (
        "new weights pass as the ensemble itself",
        "_judging/_certify.py",
        "(sizes == votes.n_members) & (weights is None)",
        "sizes == votes.n_members",
    ),
    (
        "a t-test is not significant at exactly alpha",
        "stats/_paired.py",
        "return self.p_value <= self.alpha",
        "return self.p_value < self.alpha",
    ),
    (
        "a t-test leaves no mark at exactly alpha",
        "stats/_paired.py",
        "np.where(p_value <= alpha,",
        "np.where(p_value < alpha,",
    ),
    # study
    (
        "repeats that do not shuffle anew",
        "study/_cell.py",
        "random_state=plan.seed + repeat)",
        "random_state=plan.seed)",
    ),
    (
        "a seed that does not know the fold",
        "study/_cell.py",
        "plan.seed + 1000 * unit.repeat + unit.fold",
        "plan.seed + 1000 * unit.repeat",
    ),
    (
        "what is held out is trained on",
        "study/_cell.py",
        "X_train, X_choose, y_train, y_choose = train_test_split(",
        "_, X_choose, _, y_choose = train_test_split(",
    ),
    (
        "out-of-bag votes with those on samples seen",
        "study/_cell.py",
        '"oob": VoteSource.OUT_OF_BAG',
        '"oob": VoteSource.NEW',
    ),
    (
        "new weights are not used",
        "study/_cell.py",
        "kept = selection.applied_to(self.test)",
        "kept = self.test.keep(selection.members)",
    ),
    (
        "the key of a cell without the version",
        "study/_store.py",
        '"version": __version__, "learners": _learners()',
        '"learners": _learners()',
    ),
    # report
    (
        "a certificate on the half that was chosen on",
        "_report/_certificate.py",
        "certify(halves.second.votes, order,",
        "certify(halves.first.votes, order.order,",
    ),
    (
        "each half judges its own choice",
        "_report/_method_comparison.py",
        "return second.applied_to(self.first.votes), first.applied_to",
        "return first.applied_to(self.first.votes), first.applied_to",
    ),
    (
        "errors of one half beside those of the other",
        "_report/_method_comparison.py",
        "[votes.sample_errors() for votes in self.votes]",
        "[votes.sample_errors() for votes in self.votes[::-1]]",
    ),
    (
        "each half judges its own order, out of bag",
        "_report/_method_comparison.py",
        "first_votes(self.first.votes, second.order, size)",
        "first_votes(self.first.votes, first.order, size)",
    ),
    # command line
    (
        "--tolerance dropped",
        "cli/_prune.py",
        "            tolerance=tolerance,\n",
        "",
    ),
    (
        "--test ignored",
        "cli/_prune.py",
        "judged = test or data",
        "judged = data",
    ),
    (
        '"test samples" whatever they are',
        "cli/_prune.py",
        '"samples chosen on" if test is None else "test samples"',
        '"test samples"',
    ),
    (
        "what was printed is of the samples chosen on",
        "cli/_prune.py",
        "expect=not (test or distil or y is None)",
        "expect=False",
    ),
]


def named_mutants(folder: Path) -> list[Mutant]:
    """Return these mutants, where they are in the source."""
    found = []
    for name, file, old, new in NAMED:
        source = (folder / file).read_bytes()
        times = source.count(old.encode())
        if times != 1:
            raise ValueError(f"{file}: {old!r} stands there {times} times ({name}).")
        start = source.index(old.encode())
        end = start + len(old.encode())
        first, last = (source.count(b"\n", 0, place) + 1 for place in (start, end))
        span = (start, end, new.encode(), first, last, source)
        found.append(Mutant("named", file, first, name, *span))
    return found
