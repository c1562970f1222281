"""Threads that share what they work on, and processes that help this one."""

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from numbers import Integral
from typing import Any

from joblib import effective_n_jobs, parallel_config
from joblib.parallel import BACKENDS, get_active_backend
from sklearn.utils.parallel import Parallel, delayed


def in_threads(
    n_jobs: int | None, call: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]
) -> list[Any]:
    """Return what calls give, made by threads whatever joblib was told to use.

    Trees and most other members release the interpreter lock at work. Processes would
    need a copy of everything, which compiled engines cannot be sent as.

    Examples
    --------
    >>> in_threads(2, pow, [(2, 3), (3, 2)])
    [8, 9]
    """
    if count_threads(n_jobs) == 1:
        return [call(*given) for given in arguments]
    workers = Parallel(n_jobs=n_jobs, backend="threading")
    return list(workers(delayed(call)(*given) for given in arguments))


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads that so many jobs are.

    Examples
    --------
    >>> count_threads(3), count_threads(None)
    (3, 1)
    """
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ValueError(
            f"n_jobs={n_jobs!r}: must be a number of jobs such as 2, -1 for all cores, "
            "or None."
        )
    with parallel_config(backend="threading"):
        return int(effective_n_jobs(n_jobs))


def connect(address: str) -> Any:
    """Return a client of the Dask scheduler at an address.

    Raises
    ------
    ImportError
        If Dask is not installed.
    OSError
        If no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(f"{address}: needs Dask; pip install distributed") from error
    try:
        client: Any = Client
        return client(address, timeout="10s")
    except (OSError, TimeoutError, ValueError) as error:
        raise OSError(
            f"{address}: no Dask scheduler responds; addresses look like "
            "tcp://host:8786."
        ) from error


@contextmanager
def without_forks() -> Iterator[None]:
    """Let joblib start its processes anew where it was told to fork this one.

    A fork copies one thread and the locks that all the others hold: if the bar of
    progress is writing meanwhile, the copy waits for ever. Joblib's ``multiprocessing``
    is the backend that forks, and ``loky`` the one that does the same work without.
    """
    forks = type(get_active_backend()[0]) is BACKENDS["multiprocessing"]
    with parallel_config(**{"backend": "loky"} if forks else {}):
        yield


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Let the processes started meanwhile not hear Ctrl-C, which a whole group gets.

    The caller hears it, also if it comes meanwhile, and ends its workers. One of them
    that heard it too would only print a traceback from wherever it is, its imports for
    example. A blocked signal is inherited by processes, and waits for threads; systems
    without masks of signals are left as they are.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    # It starts with the first worker, and unblocks what was blocked before it did.
    resource_tracker.ensure_running()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
