"""The errors that cross a boundary, and the one place that says which of them are worth a retry.

Outcomes are data: a bad completion scores low, a failed audit is a report. Only what prevents a stage from giving
any answer is an error, and each error knows whether a person has to act (`UserError`, exit code 2), whether the
gate said no (`GateClosed`, exit code 1) or whether trying again can help (`Transient`).
"""

import errno


class TucanoError(Exception):
    """Base of all typed errors of this program."""


class UserError(TucanoError, ValueError):
    """Something a person has to mend. The message is one sentence: what, where, how to mend."""


class SecretInSettings(TucanoError):
    """A password, token or key in settings. No ValueError: pydantic would wrap it and print the value, and Prefect
    would log it.
    """


class GateClosed(TucanoError):
    """A gate (audit, preflight) refused to go on. Its report says why; nothing is broken."""


class Transient(TucanoError):
    """The work was interrupted from outside; the same work started again is expected to succeed."""


class WorkerCrashed(Transient):
    """A training child ended by a signal. Its checkpoints stay, so a retry continues from the newest valid one."""


class WorkerFailed(TucanoError):
    """A training child raised. Deterministic work fails the same way again, so it is not retried."""


class SeedGivenUp(TucanoError):
    """The run that trained a seed ended without it. The other seeds go on."""


def is_worth_a_retry(error: BaseException | None) -> bool:
    """True for interruptions from outside, a full disk among them; False for users' mistakes, closed gates and our own
    bugs.
    """
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    return full or isinstance(error, (Transient, ConnectionError, TimeoutError))
