"""The processes that workers of this machine are: what they hear, and when they end."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from multiprocessing import resource_tracker

from joblib.externals.loky.backend import resource_tracker as loky_tracker

_QUIET = "ignore:resource_tracker"


@contextmanager
def deaf_to(*signals: signal.Signals) -> Iterator[None]:
    """Processes that start within the block do not hear these signals: they are for the command."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    _start_trackers()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def deaf_workers() -> AbstractContextManager[None]:
    """Workers that start within the block leave Ctrl-C and `kill` to the command.

    joblib keeps workers for the next use, whoever starts them: so all are alike.
    """
    return deaf_to(signal.SIGINT, signal.SIGTERM)


def _start_trackers() -> None:
    """Start the processes that clean up what workers leave: later, they would undo the mask.

    They say nothing of what Ctrl-C made the workers leave.
    """
    filters = os.environ.get("PYTHONWARNINGS", "")
    if _QUIET not in filters:
        os.environ["PYTHONWARNINGS"] = f"{filters},{_QUIET}".lstrip(",")
    for tracker in (resource_tracker, loky_tracker):
        tracker.ensure_running()


@cache
def end_with_the_command() -> None:
    """From now on, a worker on this machine whose command was killed ends within a second."""
    command = multiprocessing.parent_process()
    if command is not None and command.pid == os.getppid():
        threading.Thread(target=_end_after, args=(command.pid,), daemon=True).start()


def _end_after(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)
