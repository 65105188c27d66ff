"""Experiments: `python -m experiments` lists the commands."""

import os
import signal
import sys
from types import FrameType

STARTED_AS_COMMAND = sys.argv[:1] == ["-m"]
"""Python has this there while it looks for the module to run."""


def _stop(number: int, frame: FrameType | None) -> None:
    """Ctrl-C while a command's libraries are being imported: `run_command` comes later."""
    os.write(2, b"stopped: nothing has begun\n")
    os._exit(130)


if STARTED_AS_COMMAND and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _stop)
    if hasattr(signal, "pthread_sigmask"):  # a worker that starts it is deaf: `parallel.jobs`
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
