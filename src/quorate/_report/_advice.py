"""Recommendations derived from the numbers of a page."""

import math

from quorate._blending import Blend
from quorate._report import _text
from quorate._report._expected import CurveSection, ExpectedSection
from quorate._report._page import EnsemblePage, Step, VotesPage
from quorate._report._sections import CHOSEN_BEFORE
from quorate._report._text import count, number, percent, points, unsigned

# Differences below this many standard errors are not significant.
_CLEAR = 2.0
# A loss below this does not justify a large model.
_SMALL_LOSS = 0.005
# Recommend early exit if it evaluates at most this share of the members.
_FEW_ASKED = 0.8
# Recommend distillation if at most this share of the members is kept.
_FEW_KEPT = 0.5
_OTHER_SAMPLES = "Run this report on samples that no member was trained on."
_NEW_SAMPLES = Step(
    "Run this report on samples that were not used for an earlier choice.",
    CHOSEN_BEFORE,
)


def advice(page: EnsemblePage) -> list[Step]:
    """Return recommendations, the most important first.

    There is one recommendation about which members to keep: a single member or another
    method replaces the selection of the page.
    """
    steps = [
        None if page.votes.honest else Step(_OTHER_SAMPLES, page.votes.meaning),
        _NEW_SAMPLES if page.votes.chosen_before else None,
        *_who_stays(page),
        _distil(page),
        _any_choice(page),
        _lazy(page),
    ]
    about_votes = votes_advice(page)[0 if page.judged is None else 1 :]
    return [step for step in (*steps, *about_votes) if step is not None]


def choice_text(page: EnsemblePage) -> str:
    """Describe how the selection compares with random members.

    Differences below two standard errors are not significant.
    """
    mine, pruning, measure = page.methods.mine, page.pruning, page.measure
    if mine is None or pruning.n_kept == page.ensemble.n_members:
        return ""
    chance = page.methods.random
    gain = mine.score - chance.score
    scores = f"{measure.write(mine.score)} and {measure.write(chance.score)}"
    if gain <= _CLEAR * math.hypot(mine.gain_error, chance.gain_error):
        also = ", and distilling them" if pruning.can_distil else ""
        return (
            "The choice hardly matters here: as many members drawn at random are about "
            f"as good ({scores}, cross-validated). What matters is how many you "
            f"keep{also}."
        )
    return (
        "The choice matters here: the kept members are "
        f"{unsigned(measure.differ(gain))} better than as many drawn at random "
        f"({scores}, cross-validated)."
    )


def contributions_text(page: EnsemblePage) -> str:
    """Return a note if no single member changes the error significantly."""
    grown = [row.contribution for row in page.members if row.contribution is not None]
    accuracy = page.votes.accuracy
    if not grown or accuracy is None:
        return ""
    largest = max(map(abs, grown))
    doubt = math.sqrt(accuracy * (1 - accuracy) / page.votes.n_samples)
    if largest >= doubt:
        return ""
    return (
        "No single member matters: without any one of them, the error of all members "
        f"changes by at most {unsigned(points(largest))} (one standard error is "
        f"{unsigned(points(doubt))})."
    )


def votes_advice(page: VotesPage) -> list[Step | None]:
    """Return recommendations from votes: weak members, poor classes, diversity."""
    return [_weak_members(page), _poor_class(page), _diversity(page)]


def _who_stays(page: EnsemblePage) -> list[Step]:
    """Recommend which members to use: all in a blend, one, or some."""
    step = _other_choice(page) or _prune(page)
    if page.blend is None:
        return [step]
    steps = [_blend(page.blend)]
    if page.pruning.n_kept < page.ensemble.n_members:
        steps.append(Step(step.title, f"If fewer models are to be run: {step.text}"))
    return steps


def _other_choice(page: EnsemblePage) -> Step | None:
    """Recommend a single member if it is better than all, or a better method."""
    # Single members are not compared with a blend or by another score.
    by_accuracy = page.judged is None and page.blend is None
    return (best_member(page) if by_accuracy else None) or _better_method(page)


def _blend(blend: Blend) -> Step:
    """Recommend a blend, or one of its models."""
    name, n_weighted = blend.best_single, count(len(blend.weights))
    if len(blend.weights) == 1:
        return Step(
            f"Use {name} alone: no other model has a weight.",
            f"With {blend.method}, adding other models does not help.",
        )
    ours, single = number(blend.nested.score), number(blend.best_nested.score)
    scores = (
        f"Its {blend.scoring} is {{}}, and {{}} for {{}}, on samples used to choose "
        "neither weights nor model; higher is better."
    )
    behind, doubt = blend.nested.behind(blend.best_nested)
    if behind > _CLEAR * doubt:
        return Step(
            f"You may not need the blend: {name} alone is better.",
            scores.format(single, ours, "the blend"),
        )
    if behind >= -_CLEAR * doubt:
        return Step(
            f"Choose between the blend of {n_weighted} and {name} alone: they are "
            "about as good.",
            "The blend needs more models. " + scores.format(single, ours, "the blend"),
        )
    why = scores.format(ours, single, f"{name} alone")
    if blend.rule == "mean":
        how = "with the weights in the table of members"
        return Step(f"Use the blend of {n_weighted}, {how}.", why)
    simplex = ""
    if blend.plain_nested is not None:
        score = number(blend.plain_nested.score)
        simplex = f", with a {blend.scoring} of {score}"
    return Step(
        f"Use the blend of {n_weighted}, by Blend.predict_proba or quorate blend "
        "--test FOLDER.",
        f"{why} It is {blend.in_words()}; a plain mean with the weights in the table "
        "of members is something else. The method simplex finds weights for one"
        f"{simplex}.",
    )


def best_member(page: VotesPage) -> Step | None:
    """Recommend a single member if it is clearly more accurate than the ensemble."""
    votes = page.votes
    if votes.best_member_accuracy is None or votes.accuracy is None:
        return None
    best, together = votes.best_member_accuracy, votes.accuracy
    doubt = math.sqrt(together * (1 - together) / votes.n_samples)
    if best <= together + _CLEAR * doubt:
        return None
    return Step(
        f"You may not need an ensemble: member {votes.best_member} alone is better.",
        f"Its accuracy is {percent(best)}, that of the {page.words.ensemble} "
        f"{percent(together)}. The best of many looks better than it is, so confirm it "
        "on new data.",
    )


def _prune(page: EnsemblePage) -> Step:
    pruning, expected = page.pruning, page.pruning.expected
    n_kept, n_members = pruning.n_kept, page.ensemble.n_members
    of_all = f" of {count(n_members)}"
    kept = f"{count(n_kept)}{of_all}"
    if n_kept == n_members:
        weights = ", with new weights" if pruning.new_weights else ""
        return Step(
            f"Keep all {count(n_kept)} members{weights}.",
            f"{pruning.method} with {pruning.asked} drops none of them, so nothing is "
            "saved.",
        )
    chosen = f"Chosen by {pruning.method}, they need {_needs(page)}."
    if not page.votes.honest:
        return Step(
            f"Test {kept} members on other samples before you use them.",
            f"{chosen} The loss of accuracy cannot be estimated on samples that the "
            "members were trained on.",
        )
    if expected is None:
        return Step(
            f"Test {kept} members on more samples before you use them.",
            f"{chosen} There are too few samples to estimate the loss of accuracy.",
        )
    why = (
        f"The {count(n_kept)} that {pruning.method} picks need {_needs(page)}. In "
        f"cross-validation they are {_change(page, expected)}"
    )
    if not _is_clear_loss(expected):
        return Step(f"Keep {kept} members: no clear loss.", f"{why}.")
    if expected.by_fewer_votes:
        return Step(
            f"Check on new data before you keep only {kept} members.",
            f"{why}. But with out-of-bag votes, only some of these vote on each "
            "sample, so a few members look weaker than they are.",
        )
    more = advised_size(page)
    if more == n_kept:
        other = "" if _any_choice(page) else ", or another choice of them"
        return Step(f"Keep more than {kept} members{other}.", f"{why}.")
    some = f"all {count(n_members)}"
    if more < n_members:
        some = f"{count(more)}{of_all}"
        why += f"; {count(more)} are within one standard error of the best"
    return Step(f"Keep {some} members rather than {count(n_kept)}.", f"{why}.")


def _change(page: EnsemblePage, expected: ExpectedSection) -> str:
    """Describe the difference in score between the kept members and all."""
    measure, lost = page.measure, expected.gain < 0
    than = f"{'less' if lost else 'more'} accurate than all of them"
    if not measure.is_accuracy:
        than = f"{'worse' if lost else 'better'} than all of them in {measure.title}"
    by = unsigned(measure.differ(abs(expected.gain)))
    return f"{by} {than} (standard error {measure.doubt(expected.gain_error)})"


def advised_size(page: EnsemblePage) -> int:
    """Return how many members to keep: those of the page, or more if needed.

    More only if those of the page are clearly worse than all members: then the smallest
    size within one standard error of the best, and at least the size that the pruning
    section calls enough.
    """
    curve, n_kept = page.pruning.curve, page.pruning.n_kept
    expected, sizes = page.pruning.expected, page.sizes
    if expected is None or _other_choice(page) or not _is_clear_loss(expected):
        return n_kept
    if expected.by_fewer_votes or not isinstance(curve, CurveSection):
        return n_kept
    if curve.best_size is None or sizes.scores is None:
        return n_kept
    best = curve.sizes.tolist().index(curve.best_size)
    limit = curve.errors[best] + curve.standard_errors[best]
    will_do = (sizes.members > n_kept) & (page.measure.top - sizes.scores <= limit)
    will_do &= sizes.members >= (curve.enough or 0)
    return int(sizes.members[will_do][0]) if will_do.any() else n_kept


def _is_clear_loss(expected: ExpectedSection) -> bool:
    return -expected.gain > max(_SMALL_LOSS, _CLEAR * expected.gain_error)


def _distil(page: EnsemblePage) -> Step | None:
    pruning, whole = page.pruning, page.words.ensemble
    if page.votes.honest and pruning.distilled:
        return Step(
            "Expect better probabilities than in this report: prune distils.",
            f"The leaves of the kept trees get new values, learned from the whole "
            f"{whole}. The numbers in this report are for the trees before "
            "distillation; compare both models on new data.",
        )
    if not (page.votes.honest and pruning.can_distil):
        return None
    if pruning.n_kept > _FEW_KEPT * page.ensemble.n_members:
        return None
    return Step(
        f"Distil the whole {whole} into the trees you keep.",
        "Use distil=True in Python or --distil on the command line. A few distilled "
        f"trees agree much better with the whole {whole}, above all in their "
        "probabilities. The numbers in this report are for trees that are not "
        "distilled; compare both on new data.",
    )


def _needs(page: EnsemblePage) -> str:
    """Describe memory and time of the kept members and of all."""
    memory, speed = page.pruning.bytes, page.pruning.milliseconds
    if memory is None or speed is None:
        kept = _text.plural(page.pruning.n_kept, "model")
        return f"{kept} to run instead of {count(page.ensemble.n_members)}"
    size, time = _text.size, _text.milliseconds
    return (
        f"{size(memory.after)} instead of {size(memory.before)}, and "
        f"{time(speed.after)} instead of {time(speed.before)} "
        f"for {count(speed.rows)} samples"
    )


def _better_method(page: EnsemblePage) -> Step | None:
    mine, measure = page.methods.mine, page.measure
    if mine is None:
        return None
    best = page.methods.best
    lead = best.score - mine.score
    # Conservative, because both were evaluated on the same samples.
    if lead <= max(0.001, _CLEAR * math.hypot(best.gain_error, mine.gain_error)):
        return None
    better = "more accurate" if measure.is_accuracy else f"better in {measure.title}"
    return Step(
        f"Try {best.method} instead of {mine.method}.",
        "In cross-validation, at the same size, its members are "
        f"{unsigned(measure.differ(lead))} {better}.",
    )


def _any_choice(page: EnsemblePage) -> Step | None:
    """Return a note if random members do as well as the methods."""
    mine, write = page.methods.mine, page.measure.write
    if mine is None or mine.score > page.methods.random.score or _better_method(page):
        return None
    return Step(
        "Do not expect much from the choice of members.",
        f"Members drawn at random do as well as those of {mine.method} here "
        f"({write(page.methods.random.score)} and {write(mine.score)}, "
        "cross-validated): what matters is how many you keep.",
    )


def _lazy(page: EnsemblePage) -> Step | None:
    worth = [
        row
        for row in page.lazy.rows
        if page.lazy.honest
        and row.share_asked <= _FEW_ASKED
        and row.allowed is not None
        and max(row.disagreement, row.allowed) <= _SMALL_LOSS
    ]
    if not worth:
        return None
    # By members evaluated, not by time, so that the page is reproducible.
    best = min(worth, key=lambda row: row.members_asked)
    some = f"{percent(best.disagreement)} of the predictions change"
    changed = some if best.disagreement > 0 else "no prediction changes"
    return Step(
        "If time matters more than memory, use early exit: "
        f"{percent(best.share_asked, 0)} of the members are evaluated.",
        f"Mode {best.mode} uses {count(round(best.members_asked))} members per sample "
        f"on average, and {changed} on the samples tried. Here it was "
        f"{_text.times(best.speedup)} as fast.",
    )


def _weak_members(page: VotesPage) -> Step | None:
    chance = max(row.share for row in page.classes)
    weak = [
        row.member
        for row in page.members
        if row.accuracy is not None and row.accuracy < chance
    ]
    if not weak or page.ensemble.weighted:
        return None
    many = f"{count(len(weak))} members are"
    who = f"Member {weak[0]} is" if len(weak) == 1 else many
    return Step(
        f"{who} worse than always predicting the most frequent class.",
        "Sort the table of members by accuracy to find them.",
    )


def _poor_class(page: VotesPage) -> Step | None:
    judged = [row for row in page.classes if row.recall is not None]
    poorest = min(judged, key=lambda row: row.recall, default=None)
    if poorest is None or len(judged) < 2 or poorest.recall >= 0.5:
        return None
    return Step(
        f"Look at class {poorest.class_}: the {page.words.ensemble} finds "
        f"{percent(poorest.recall, 0)} of it.",
        f"It has {count(poorest.samples)} samples. No choice of members helps where "
        "none of them has learnt the class.",
    )


def _diversity(page: VotesPage) -> Step | None:
    if page.decomposition is None or page.risk is None:
        return None
    parts = page.decomposition.all
    if parts.diversity >= 0.1 * parts.member_error:
        return None
    if page.risk["lemma_applies"] and not page.risk["risk_decreases"]:
        return None  # the risk section advises against more diversity
    return Step(
        "Train members that differ more.",
        f"Voting saves only {unsigned(points(parts.diversity))} compared with the "
        "average member: they are wrong on the same samples. Try other features, "
        "other samples or other kinds of members.",
    )
