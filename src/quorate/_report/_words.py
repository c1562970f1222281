"""What the words on the page mean."""

UNSCORED = (
    "The members were trained on these samples, so how good they are cannot be told "
    "from them; give samples that no member has seen."
)

CHOSEN_BEFORE = (
    "These members were chosen, or their leaves distilled, on many of these samples "
    "before, so that they look better on them than they are, held back or not."
)

# What a page of counts does not have: what it is, and who has it.
LEFT_OUT = (
    ("which members to keep, and what that saves",
     "Members are chosen and judged on single samples; quorate.report(ensemble, X, y) "
     "does both, also on a sample that max_samples draws from batches."),
    ("the size curve, the comparison of methods, and why each member stays or goes",
     "They ask what other subsets of the members decide on each sample."),
    ("how clear each verdict is, and what each member contributes",
     "Margins and contributions are counted sample by sample."),
    ("size, time to predict and lazy voting",
     "A summary knows the votes and not the model."),
)  # fmt: skip
LEFT_OUT_WITHOUT_RIVAL = (
    "a comparison with a smaller model, and what can be promised about it",
    "Counted in the same pass if asked: quorate.summarise(ensemble, batches, "
    "against=small).",
)

GLOSSARY = (
    ("member", "One classifier of the ensemble."),
    ("vote", "The class that a member predicts for a sample."),
    ("plurality vote", "The class with the most votes, or the largest total weight. "
     "The theory of diversity is about it; a forest averages probabilities instead "
     "and may decide otherwise on close samples."),
    ("accuracy, error", "The share of samples that are predicted right, and the rest. "
     "Of an ensemble, as its own predict decides, unless the plurality vote is named."),
    ("accuracy alone", "The share of a member's own votes that are right. Out of bag "
     "these are its votes on the samples it was not trained on."),
    ("percentage point (pp)", "The unit of differences between percentages: from 90 % "
     "to 91 % is one point."),
    ("out-of-bag", "A member of a bootstrapped ensemble was trained on about 63 % "
     "of the samples. Its votes on the others are out of bag, as honest as on new "
     "data."),
    ("held back", "Samples that a method did not see while it chose. Accuracy on the "
     "samples it chose on flatters the choice."),
    ("to expect", "As many members are chosen without each fifth of the samples in "
     "turn and judged on it, so that no sample judges a choice it had a part in. Out "
     "of bag, as many as may vote on a sample are judged: on a new one all vote."),
    ("diversity", "How differently the members vote. There are many ways to count it, "
     "and none of them is good in itself: what counts is the error."),
    ("error decomposition", "Error of the plurality vote = mean error of the members - "
     "diversity. Diversity, in this sense, is what voting saves."),
    ("margin", "How clearly a sample is decided by votes: the share of the votes for "
     "the true class minus the largest share for another one. Below zero the plurality "
     "vote is wrong."),
    ("risk estimate", "A formula that relates the diversity on the worst sample to a "
     "bound on the error. Where the vote errs on that sample, the bound does not "
     "hold."),
    ("kappa", "Agreement of two members beyond what chance would give: 1 for equal "
     "votes, 0 for independent ones."),
    ("agreement", "The mean share of the other members that vote as a member does."),
    ("contribution", "How much the error of the ensemble grows if this one member is "
     "taken away. Below zero it is better without it."),
    ("pruning", "Keeping only some of the members. It saves memory and time."),
    ("keep, order", "How many members stay, and the sequence in which a method picks "
     "them."),
    ("promise", "An upper limit on the extra error of fewer members on samples to "
     "come, which holds with the confidence named. It needs samples that no member has "
     "seen."),
    ("lazy voting", "Asking members one after the other and stopping once the rest can "
     "no longer change the verdict, or hardly. It saves time and no memory."),
    ("standard error", "How far a measured accuracy may be off because the samples are "
     "only some of all that there could be."),
)  # fmt: skip

OF_CHOOSING = frozenset(
    {"held back", "to expect", "contribution", "pruning", "keep, order", "lazy voting"}
)
"""Words that a page without a choice of members does not use."""

STUDY_GLOSSARY = (
    ("cell", "One method on one fold of one data set with one ensemble."),
    ("average rank", "In each data set the best method has rank 1, the next rank 2, "
     "and so on; equal ones share. The average over data sets sums up a study."),
    ("W/T/L", "Wins, ties and losses of the reference against a method: data sets on "
     "which a paired t-test tells them apart, or does not."),
    ("+ and -", "In the table of accuracies, + marks a result that the reference beats "
     "significantly, - one that beats the reference."),
    ("critical difference", "Average ranks that differ by less cannot be told apart "
     "(Nemenyi test)."),
    *(pair for pair in GLOSSARY if pair[0] in (
        "member", "vote", "out-of-bag", "pruning", "percentage point (pp)")),
)  # fmt: skip
