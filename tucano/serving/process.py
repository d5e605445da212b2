"""The server's side of a process that holds a model (tucano/training/answering): start it, ask it, end it."""

import asyncio
import json
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from tucano.errors import UserError
from tucano.security.printable import printable
from tucano.storage.logs import BoundedLog
from tucano.training.answering.messages import Drawn, Opened, Opening, Question, line
from tucano.training.launch import environment

MODULE = "tucano.training.answering.child"
LONGEST_LINE_BYTES = 2**26
START_SECONDS = 1200
"""A vLLM server of its own may take a quarter of an hour."""
LEAST_SECONDS = 60
BATCH_SECONDS = 600
PATIENCE = 4
"""A process that gives a batch no answer for so many times `serving.timeout_s` hangs: who asked has gone by then. Not
before `LEAST_SECONDS`, since a short timeout only says when the next of a route is asked; nor later than
`BATCH_SECONDS`.
"""
END_SECONDS = 20
CHUNK = 65_536


class ModelDied(Exception):
    """The process ended, or does not answer any more."""


def patience(timeout_s: float) -> float:
    """How many seconds a process may have for a batch, where nobody waits longer than `timeout_s` for an answer."""
    return min(max(PATIENCE * timeout_s, LEAST_SECONDS), BATCH_SECONDS)


class ModelProcess:
    """One process with one model. It answers one batch at a time, within `seconds`."""

    def __init__(self, process: Process, log: Path, seconds: float) -> None:
        self._process, self._log, self.seconds = process, log, seconds
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls, opening: Opening, python: str | None, log: Path, seconds: float) -> "ModelProcess":
        """Load the model and wait until it can answer. UserError with its reason where it cannot; ModelDied."""
        process = await asyncio.create_subprocess_exec(
            *(python or sys.executable, "-m", MODULE),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            limit=LONGEST_LINE_BYTES,
            start_new_session=True,  # Ctrl-C ends the server, which ends this one in order
            env=environment(opening.threads),
        )
        started = cls(process, log, seconds)
        try:
            opened = Opened(**await started._exchange(line(opening), START_SECONDS))
            if opened.fault is not None:
                raise UserError(f"{opening.model} cannot be served: {printable(opened.fault)} (details in {log})")
        except BaseException:
            await started.close()
            raise
        return started

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def ask(self, questions: Sequence[Question]) -> list[Drawn]:
        """One answer per question, in order. ModelDied where the process does not give them."""
        found = [Drawn(**fields) for fields in await self._exchange(line(questions), self.seconds)]
        assert len(found) == len(questions), "every question has its answer"
        return found

    async def ended(self) -> None:
        """Returns when the process has ended, for whatever reason."""
        await self._process.wait()

    async def close(self) -> None:
        """End it: its input ends, and it has some seconds to follow."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), END_SECONDS)
        except TimeoutError:
            self._kill()
            await self._process.wait()
        await self._listening

    async def _exchange(self, said: bytes, seconds: float) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            async with asyncio.timeout(seconds):
                self._process.stdin.write(said)
                await self._process.stdin.drain()
                answer = await self._process.stdout.readline()
        except TimeoutError:
            self._kill()
            raise ModelDied(f"no answer within {seconds:g} s") from None
        except ConnectionError as error:
            raise ModelDied(str(error)) from None
        if not answer.endswith(b"\n"):
            raise ModelDied(f"it ended (details in {self._log})")
        return json.loads(answer)

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGKILL)

    async def _listen(self) -> None:
        """What it prints goes to a log of bounded size, but for its signs of life (`jobs.pulse`)."""
        assert self._process.stderr is not None
        with closing(BoundedLog(self._log)) as file:
            while chunk := await self._process.stderr.read(CHUNK):
                if chunk.strip():
                    file.write(printable(chunk.decode("utf-8", "replace")))
