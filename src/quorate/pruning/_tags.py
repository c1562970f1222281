"""What a pruning method declares about itself, for those who call it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PrunerTags:
    """What to expect of a pruning method, whatever its parameters.

    A method says ``tags = PrunerTags(...)`` once, with what differs from the defaults.
    Whoever calls it asks the tags and nothing else: which votes to collect, which
    sizes to try, what to read afterwards. :func:`quorate.testing.check_pruner` checks
    those that can be checked.

    Examples
    --------
    >>> import quorate
    >>> quorate.pruning.OrderedError.tags.finds_size
    True
    >>> quorate.pruning.PrunerTags(is_random=True).honours_keep
    True
    """

    finds_size: bool = False
    """Whether ``keep=None`` lets the method choose how many to keep."""
    honours_keep: bool = True
    """Whether exactly ``keep`` members come out; otherwise at most that many."""
    has_order: bool = True
    """Whether ``order_`` is the order of picking, each prefix a choice."""
    nested: bool = True
    """Whether a choice of fewer members is the start of one of more."""
    uses_weights: bool = False
    """Whether voting weights enter; other methods see the members as equals."""
    chooses_weights: bool = False
    """Whether the method sets ``weights_``, new voting weights for those it keeps."""
    uses_probabilities: bool = False
    """Whether members' class probabilities enter where the votes have them."""
    uses_unlabelled: bool = False
    """Whether votes on further samples, without labels, enter where there are some."""
    needs_features: bool = False
    """Whether ``fit`` needs the samples themselves, as numbers."""
    needs_out_of_bag: bool = False
    """Whether the method is defined on out-of-bag votes only."""
    takes_costs: bool = False
    """Whether there is a parameter ``cost``, which may name a kind of cost."""
    takes_scoring: bool = False
    """Whether there is a parameter ``scoring``, a score that is optimised as it is."""
    takes_class_weight: bool = False
    """Whether there is a parameter ``class_weight``: what is made small or large is a
    sum over samples, in which they can count by their class."""
    driven_by_accuracy: bool = False
    """Whether members that look perfect on their training samples mislead it."""
    takes_summary: bool = False
    """Whether ``fit`` takes a :class:`quorate.Summary` too: counts and the table of
    pairs are all that the method looks at, unless its parameters ask for more."""
    is_random: bool = False
    """Whether there is a ``random_state``, and it matters."""
