"""SIGTERM during training. The signal only sets a flag; work that may be dropped asks for it and raises.

Asked for at every token of a rollout, before every forward pass of the trained model and between micro-batches; never
between an optimizer step and the record of what it did.
"""

import signal

_requested = False


class Interrupted(Exception):
    """The process has been asked to end: what is unfinished is to be dropped."""


def listen() -> None:
    """From now on SIGTERM is noticed by `check` instead of ending the process."""
    signal.signal(signal.SIGTERM, _request)


def check() -> None:
    """Raise Interrupted once SIGTERM has come."""
    if _requested:
        raise Interrupted


def _request(*_: object) -> None:
    global _requested
    _requested = True
