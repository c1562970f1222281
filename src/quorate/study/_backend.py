"""Where units of work run: a joblib backend by name, or a Dask cluster."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from joblib import parallel_config

from quorate._summarising import connect

_ALWAYS_THERE = ("loky", "multiprocessing", "threading")


@contextmanager
def workers_on(backend: str | None = None, dask: str | None = None) -> Iterator[None]:
    """Make joblib use a backend, or a Dask cluster, for the time of a ``with`` block.

    Parameters
    ----------
    backend : str, optional
        What ``joblib.parallel_config`` knows.
    dask : str, optional
        Address of a Dask scheduler, such as ``tcp://host:8786``.

    Raises
    ------
    ValueError
        If joblib does not know the backend.
    ImportError
        If Dask is not installed.
    OSError
        If no scheduler answers.

    Examples
    --------
    >>> from joblib import effective_n_jobs
    >>> from quorate.study import workers_on
    >>> with workers_on("sequential"):
    ...     effective_n_jobs(4)
    1
    """
    with ExitStack() as stack:
        if dask is not None:
            stack.enter_context(connect(dask))
            stack.enter_context(parallel_config(backend="dask"))
        elif backend is not None:
            try:
                stack.enter_context(parallel_config(backend=backend))
            except (ValueError, ImportError) as error:
                raise ValueError(
                    f"backend {backend!r}: joblib cannot use it here; "
                    f"{', '.join(_ALWAYS_THERE)} are always there."
                ) from error
        yield
