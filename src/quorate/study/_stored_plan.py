"""The plan that a store remembers."""

from quorate._messages import in_short
from quorate.exceptions import FileFormatError
from quorate.study._plan import Plan, plan_from_dict
from quorate.study._store import Store


def stored_plan(store: Store) -> Plan | None:
    """Return the plan whose results a store holds, or None if it holds none.

    Raises
    ------
    FileFormatError
        If what is stored is no plan.

    Examples
    --------
    >>> import os, tempfile
    >>> from quorate.study import Store, stored_plan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(os.path.join(folder, "s.sqlite")) as store:
    ...         stored_plan(store) is None
    True
    """
    raw = store.plan
    if raw is None:
        return None
    try:
        return plan_from_dict(raw)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FileFormatError(
            f"{store.path}: damaged study file, its plan cannot be read "
            f"({type(error).__name__}: {in_short(error)})."
        ) from error
