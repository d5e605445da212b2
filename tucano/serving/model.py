"""A version of a model while it is served: requests that come together are answered together, none twice, none never.

A process that dies is started again, and what it had not answered is asked again: an answer reaches its request once,
through a future that takes one result.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

from tucano.errors import UserError
from tucano.serving.answers import Unavailable
from tucano.serving.metrics import Metrics
from tucano.serving.process import ModelDied, ModelProcess
from tucano.training.answering.messages import Drawn, Question

log = logging.getLogger(__name__)

PAUSES_S = (1.0, 5.0, 30.0)
"""Between attempts to start a process again, the last one for good."""
TOGETHER = 2
"""So often is a batch asked as a whole. Then each of its questions is asked alone: one that kills the process takes no
other with it."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A question and who waits for its answer."""

    question: Question
    answer: "asyncio.Future[Drawn]"


class ServedModel:
    """Answers questions with one version. most: of a batch. wait_s: how long the first of a batch waits for others."""

    def __init__(
        self, name: str, start: Callable[[], Awaitable[ModelProcess]], most: int, wait_s: float, metrics: Metrics
    ) -> None:
        self.name, self._start, self._most, self._wait_s, self._metrics = name, start, most, wait_s, metrics
        self._queue: asyncio.Queue[Waiting | None] = asyncio.Queue()
        self._process: ModelProcess | None = None
        self._starting = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False
        self._asked_at: float | None = None

    async def open(self) -> None:
        """Load it. UserError where the files cannot be served."""
        await self._started()
        self._working = asyncio.create_task(self._work())

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.alive

    @property
    def busy_s(self) -> float:
        """How long the batch that is being answered has taken so far, in seconds; 0 between batches."""
        return 0.0 if self._asked_at is None else time.monotonic() - self._asked_at

    async def answer(self, question: Question) -> Drawn:
        """Its answer. Unavailable where no process comes to give it."""
        future: asyncio.Future[Drawn] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait(Waiting(question, future))
        return await future

    async def close(self) -> None:
        """Answer what has been asked, then end the process. Nothing may be asked from now on."""
        self._closing = True
        self._queue.put_nowait(None)
        await self._working
        async with self._starting:
            if self._process is not None:
                await self._process.close()
        for task in self._tasks:  # one may be waiting to try again
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _work(self) -> None:
        async for batch in self._batches():
            self._metrics.batch.observe(len(batch))
            try:
                await self._settle(batch)
            except Exception:  # of ours; the batches behind this one shall not wait for ever
                log.exception("a batch of %s has no answers", self.name)
                _give_up(batch, f"{self.name} failed")

    async def _batches(self) -> AsyncIterator[list[Waiting]]:
        """What has come while the last batch was answered, or shortly after the first that came."""
        while (first := await self._queue.get()) is not None:
            if self._queue.qsize() + 1 < self._most:
                await asyncio.sleep(self._wait_s)
            batch = [first]
            while len(batch) < self._most and not self._queue.empty():
                following = self._queue.get_nowait()
                if following is None:
                    self._queue.put_nowait(None)  # nothing comes behind it
                    break
                batch.append(following)
            if wanted := [waiting for waiting in batch if not waiting.answer.done()]:  # others have given up
                yield wanted

    async def _settle(self, batch: Sequence[Waiting]) -> None:
        """Give each its answer, or say that there is none."""
        try:
            for _ in range(TOGETHER):
                if await self._answered(batch):
                    return
            for waiting in batch:
                if not await self._answered([waiting]):
                    _give_up([waiting], f"{self.name} died three times over this request")
        except (UserError, ModelDied) as fault:
            log.error("the model process of %s does not start again: %s", self.name, fault)
            _give_up(batch, f"{self.name} does not start")

    async def _answered(self, batch: Sequence[Waiting]) -> bool:
        """Whether each has its answer now, or has given up; not where the process died over them."""
        batch = [waiting for waiting in batch if not waiting.answer.done()]
        if not batch:
            return True
        process = await self._started()
        self._asked_at = time.monotonic()
        try:
            found = await process.ask([waiting.question for waiting in batch])
        except ModelDied as died:
            log.warning("the model process of %s died (%s); it is started again", self.name, died)
            await self._forget(process)
            return False
        finally:
            self._asked_at = None
        for waiting, drawn in zip(batch, found, strict=True):
            if not waiting.answer.done():
                waiting.answer.set_result(drawn)
        return True

    async def _started(self) -> ModelProcess:
        async with self._starting:
            if self._process is None:
                self._process = await self._start()
                self._metrics.started.labels(self.name).inc()
                task = asyncio.create_task(self._watch(self._process))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            return self._process

    async def _watch(self, process: ModelProcess) -> None:
        """Start another one when this one dies, though nobody asks: who asks only what is healthy never would."""
        await process.ended()
        if not self._closing:
            await self._forget(process)
        for pause in chain(PAUSES_S, repeat(PAUSES_S[-1])):
            if self._closing or self._process is not None:
                return
            try:
                await self._started()
            except Exception as fault:  # of whatever kind: memory that is short comes back
                log.error("the model process of %s does not start again: %s", self.name, fault)
                await asyncio.sleep(pause)

    async def _forget(self, process: ModelProcess) -> None:
        if self._process is process:
            self._process = None
        await process.close()


def _give_up(batch: Sequence[Waiting], reason: str) -> None:
    for waiting in batch:
        if not waiting.answer.done():
            waiting.answer.set_exception(Unavailable(reason))
