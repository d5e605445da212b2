"""What of Prefect's log a person at a terminal sees. A mistake of theirs is one sentence, printed by the command
itself.
"""

import logging

from tucano.errors import TucanoError

ENGINE_CHATTER = (
    "Finished in state",
    "Encountered exception during execution",
    "Beginning flow run",
    "Task run failed with exception",
    "Crash detected! Execution was aborted by an interrupt signal",  # Ctrl-C: the command says itself what that means
)


def _is_known(record: logging.LogRecord) -> bool:
    return bool(record.exc_info and isinstance(record.exc_info[1], TucanoError))


class WithoutKnownTracebacks(logging.Filter):
    """Keeps the message of a typed error and drops its traceback; our own bugs keep theirs."""

    def filter(self, record: logging.LogRecord) -> bool:
        if _is_known(record):
            record.exc_info = None
        return True


class ForPeople(logging.Filter):
    """Drops the engine's state messages, except that a retry is worth knowing."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if "Retry" in message and "will start" in message:
            return True
        return not (_is_known(record) or message.startswith(ENGINE_CHATTER))
