"""How many members to keep."""

import math
from numbers import Integral, Real


def members_to_keep(keep: object, n_members: int, owner: str) -> int:
    """Turn a fraction or a count into a number of members, or say what would fit.

    A fraction is rounded up, since a method stops when it has reached its share.

    Examples
    --------
    >>> from quorate.pruning import members_to_keep
    >>> members_to_keep(0.3, 10, "EPBD"), members_to_keep(4, 10, "EPBD")
    (3, 4)
    """
    if isinstance(keep, bool):
        pass
    elif isinstance(keep, Integral):
        if 1 <= int(keep) <= n_members:
            return int(keep)
    elif isinstance(keep, Real) and 0 < float(keep) <= 1:
        # The hair less keeps 0.3 * 10 from becoming 4.
        return max(1, min(n_members, math.ceil(float(keep) * n_members - 1e-9)))
    raise ValueError(
        f"{owner}(keep={keep!r}): keep 1 to {n_members} members, "
        "or a fraction in (0, 1]."
    )
