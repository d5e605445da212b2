"""The models that answer on the page of `tucano try`: each in a process of its own, started when it is first asked."""

import asyncio
import threading
import time
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from pathlib import Path

from tucano.errors import UserError
from tucano.files.models import WorkFiles
from tucano.prompts import Task
from tucano.requirements import cores
from tucano.serving.process import BATCH_SECONDS, ModelDied, ModelProcess
from tucano.settings import PipelineSettings
from tucano.settings.base import narrowed
from tucano.settings.model import LoadedModel
from tucano.settings.training.drawing import Completions
from tucano.training.answering.messages import Drawn, Opening, Question
from tucano.training.jobs import Arm


class NoAnswer(Exception):
    """A model gave none; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, the seconds that it took, and those before it that loading the model took: 0 where it was loaded."""

    drawn: Drawn
    seconds: float
    loading: float


class Models:
    """Answers with the arms of a run, as they are served. Safe from several threads; a model answers one at a time.

    systems: system prompts by task. logs: the folder for what the processes say.
    """

    def __init__(
        self, settings: PipelineSettings, arms: Mapping[str, Arm], systems: Mapping[str, str], logs: Path
    ) -> None:
        self._settings, self._arms, self._systems, self._logs = settings, arms, systems, logs
        self._processes: dict[str, ModelProcess] = {}
        self._asking: set[Future[Answered]] = set()
        self._loop = asyncio.new_event_loop()
        self._locks = {name: asyncio.Lock() for name in arms}
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def answer(self, name: str, task: Task, text: str) -> Answered:
        """Its answer. NoAnswer where it gives none: its files cannot be loaded, or its process died."""
        most = self._settings.grpo.max_completion_tokens
        temperature = self._settings.comparison.served_temperature
        question = Question(self._systems[task], text, most, temperature, task)
        asking = asyncio.run_coroutine_threadsafe(self._answer(name, question), self._loop)
        self._asking.add(asking)
        try:
            return asking.result()
        except (UserError, ModelDied, OSError, CancelledError) as fault:
            raise NoAnswer(str(fault) or "the page is being closed") from None
        finally:
            self._asking.discard(asking)

    def close(self) -> None:
        """End every process, whatever it does."""
        for asking in tuple(self._asking):
            asking.cancel()
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _answer(self, name: str, question: Question) -> Answered:
        async with self._locks[name]:
            began = ready = time.monotonic()
            if name not in self._processes:
                python = self._settings.worker.python
                log = WorkFiles(self._logs / name)
                log.folder.mkdir(parents=True, exist_ok=True)
                self._processes[name] = await ModelProcess.start(self._opening(name), python, log.log, BATCH_SECONDS)
                ready = time.monotonic()
            try:
                (drawn,) = await self._processes[name].ask([question])
            except ModelDied:
                await self._processes.pop(name).close()  # the next question starts another one
                raise
            return Answered(drawn, time.monotonic() - ready, ready - began)

    async def _close(self) -> None:
        """What was being asked has been cancelled, and leaves its lock when it has tidied up."""
        for name, lock in self._locks.items():
            async with lock:
                if name in self._processes:
                    await self._processes.pop(name).close()

    def _opening(self, name: str) -> Opening:
        """A server of vLLM's would take longer to start than the few answers that are asked for."""
        settings = self._settings
        arm = self._arms[name]
        completions = narrowed(Completions, settings.grpo).model_copy(update={"sampler": "local"})
        return Opening(
            model=arm.base,
            adapter=arm.adapter,
            loaded=narrowed(LoadedModel, settings.model).model_dump(mode="json"),
            completions=completions.model_dump(mode="json"),
            threads=max(1, cores() // len(self._arms)),
            seed=settings.seed,
            log=str(WorkFiles(self._logs / name).server_log),
            deterministic=settings.worker.deterministic,
        )
