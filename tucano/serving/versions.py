"""The registered versions that routes name, each held by a process of its own, and taken over when an alias moves.

A new version is fetched, held against the digest that it was registered with, loaded beside the old one and asked once.
Then it is asked instead; the old one answers what it was asked and ends. Whatever of that fails, the old one goes on.
"""

import asyncio
import json
import logging
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tucano.errors import Transient, UserError
from tucano.files.models import ServedFiles, WorkFiles
from tucano.files.per_task import adapters_by_task
from tucano.prompts import TASKS
from tucano.requirements import cores
from tucano.serving.answers import Answer, Ask, Refused
from tucano.serving.metrics import Metrics
from tucano.serving.model import ServedModel
from tucano.serving.process import ModelDied, ModelProcess, patience
from tucano.settings import PipelineSettings
from tucano.settings.base import narrowed
from tucano.settings.model import LoadedModel
from tucano.settings.training.drawing import Completions
from tucano.specs.registry import schema_of
from tucano.thoughts import thinks
from tucano.tracking import RegisteredModel, Tracker
from tucano.tracking.models import WEIGHTS
from tucano.training.answering.messages import Opening, Question

log = logging.getLogger(__name__)

FILES = "versions"
"""Below the server's folder: copies of what is served, while it is."""
AGAIN_SECONDS = 300
"""A version that was refused is tried again after this time: somebody may have brought its files back."""


@dataclass(frozen=True)
class Version:
    """One registered version with all that answering takes: its system prompts and how it is decoded. forms: the JSON
    schemas that its answers are held to while they are drawn, by task.
    """

    name: str
    digest: str
    model: ServedModel
    systems: dict[str, str]
    max_tokens: int
    temperature: float
    forms: dict[str, str]
    folder: Path

    async def answer(self, ask: Ask) -> Answer:
        if ask.task not in self.systems:
            raise Refused(f"{self.name} was not trained for {ask.task}")
        most = self.max_tokens if ask.max_tokens is None else ask.max_tokens
        if most > self.max_tokens:
            raise Refused(f"an answer of {self.name} has at most {self.max_tokens} tokens; ask for no more")
        temperature = self.temperature if ask.temperature is None else ask.temperature
        system = self.systems[ask.task]
        form = None if thinks(system) else ask.form or self.forms.get(ask.task)  # a thought has none
        question = Question(system, ask.text, most, temperature, ask.task, form, ask.earlier, ask.seed)
        drawn = await self.model.answer(question)
        if drawn.refused is not None:
            raise Refused(drawn.refused)
        return Answer(drawn.text, self.name, drawn.tokens_in, drawn.tokens_out, drawn.truncated)


class Versions:
    """What each reference of the routes (`tucano@champion`, `tucano/2`) stands for now. folder: for their files
    and what their processes say.
    """

    def __init__(
        self, settings: PipelineSettings, tracker: Tracker, folder: Path, references: Sequence[str], metrics: Metrics
    ) -> None:
        self._settings, self._tracker, self._folder, self._metrics = settings, tracker, folder, metrics
        self._references = list(dict.fromkeys(references))
        self.held: dict[str, Version] = {}
        """{reference: the version that answers for it}"""
        self._refused: dict[tuple[str, str], tuple[float, str]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self.faults: dict[str, str] = {}
        """Why a reference is not what the registry says, a sentence each."""

    async def open(self) -> None:
        """Load what every reference stands for. UserError where one stands for nothing that can be served."""
        shutil.rmtree(self._folder / FILES, ignore_errors=True)  # of a server that was killed
        for reference in self._references:
            self._hold(reference, await self._loaded(await self._found(reference)))

    async def watch(self) -> None:
        """Ask the registry again and again, until cancelled."""
        while True:
            await asyncio.sleep(self._settings.serving.poll_seconds)
            for reference in self._references:
                await self._refresh(reference)

    async def answer(self, reference: str, ask: Ask) -> Answer:
        return await self.held[reference].answer(ask)

    def systems(self) -> dict[str, str]:
        """{system prompt: its task} of all versions."""
        return {text: task for version in self.held.values() for task, text in version.systems.items()}

    async def close(self) -> None:
        """Answer what was asked, then end every process."""
        distinct = {id(version): version for version in self.held.values()}
        await asyncio.gather(*map(self._ended, distinct.values()), *self._ending)

    async def _refresh(self, reference: str) -> None:
        """Take over what the reference stands for now, if it can be served. Whatever goes wrong is said, once."""
        try:
            await self._take_over(reference, await self._found(reference))
            self.faults.pop(reference, None)
        except (UserError, Transient, ModelDied, OSError) as fault:
            self._say(reference, str(fault))
        except Exception as fault:  # a server that answers does not end over a registry
            if self._say(reference, f"{type(fault).__name__}: {fault}"):
                log.exception("%s could not be asked for or loaded", reference)

    async def _take_over(self, reference: str, found: RegisteredModel) -> None:
        """UserError where it cannot be served; then it is not looked at again for `AGAIN_SECONDS`."""
        key, held = _key(found), self.held[reference]
        if key == (held.name, held.digest):
            return
        refused_at, fault = self._refused.get(key, (-AGAIN_SECONDS, ""))
        if time.monotonic() - refused_at < AGAIN_SECONDS:
            raise UserError(fault)
        try:
            self._hold(reference, await self._loaded(found))
        except (UserError, ModelDied, OSError) as refused:
            self._refused[key] = time.monotonic(), str(refused)
            raise

    def _say(self, reference: str, fault: str) -> bool:
        """Whether it is news."""
        sentence = f"{reference}: {fault}; {self.held[reference].name} goes on answering"
        is_news = self.faults.get(reference) != sentence
        if is_news:
            log.error(sentence)
            self._metrics.refused.labels(reference).inc()
        self.faults[reference] = sentence
        return is_news

    async def _found(self, reference: str) -> RegisteredModel:
        found = await asyncio.to_thread(self._tracker.find_version, reference)
        if found is None:
            raise UserError(
                f"the registry has no {reference}; run the pipeline until a model is promoted, or name a model with an"
                " alias or a version in serving.routes, like tucano/1"
            )
        return found

    def _hold(self, reference: str, version: Version) -> None:
        """From now on this one is asked. One that nobody asks any more ends."""
        before = self.held.get(reference)
        self.held[reference] = version
        self._metrics.serving.labels(reference, version.name).set(1)
        log.info("%s is %s", reference, version.name)
        if before is None or before is version:
            return
        self._metrics.serving.labels(reference, before.name).set(0)
        if not any(version is before for version in self.held.values()):
            ending = asyncio.create_task(self._ended(before))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

    async def _ended(self, version: Version) -> None:
        await version.model.close()
        shutil.rmtree(version.folder, ignore_errors=True)

    async def _loaded(self, found: RegisteredModel) -> Version:
        """The version, ready to answer: the one that another reference holds, or a new process."""
        held = next((one for one in self.held.values() if (one.name, one.digest) == _key(found)), None)
        if held is not None:
            return held
        place = self._folder / FILES
        place.mkdir(parents=True, exist_ok=True)
        # each loading has its own folder: the same version may be loaded while its last process still answers
        folder = Path(tempfile.mkdtemp(prefix=f"{found.model}-{found.version}-", dir=place))
        try:
            return await self._opened(found, folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    async def _opened(self, found: RegisteredModel, folder: Path) -> Version:
        """Its files in the folder, and a process that has answered once."""
        fetched = await asyncio.to_thread(self._tracker.fetch, found, folder)
        files = ServedFiles(fetched / WEIGHTS.parent)
        systems, decoding = _read(files)
        logs = WorkFiles(self._folder)

        serving = self._settings.serving

        async def start() -> ModelProcess:
            opening = _opening(self._settings, files, decoding, logs.server_log)
            seconds = patience(serving.timeout_s)
            return await ModelProcess.start(opening, self._settings.worker.python, logs.log, seconds)

        name, digest = _key(found)
        model = ServedModel(name, start, serving.batch, serving.wait_ms / 1000, self._metrics)
        await model.open()
        limits = int(decoding["max_new_tokens"]), float(decoding["temperature"])
        return Version(name, digest, model, systems, *limits, _forms(self._settings, systems), folder)


def _key(found: RegisteredModel) -> tuple[str, str]:
    return found.name, found.tags.get("digest.files", "")


def _read(files: ServedFiles) -> tuple[dict[str, str], dict[str, Any]]:
    """System prompts by task, and the decoding. UserError for a folder that `tucano` has not packed."""
    try:
        systems = json.loads(files.system_prompts.read_text(encoding="utf-8"))
        return systems, json.loads(files.serving.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(
            f"{files.folder} is no model that tucano has registered ({error}); point the alias at one that is"
        ) from None


def _forms(settings: PipelineSettings, systems: Mapping[str, str]) -> dict[str, str]:
    """{task: JSON schema} where the answer is an object and the backend can hold it to one: vLLM can, and not where a
    thought comes first.
    """
    if settings.grpo.sampler != "vllm":
        return {}
    schemas = {task: schema_of(task) for task in TASKS if not thinks(systems.get(task, ""))}
    return {task: json.dumps(schema) for task, schema in schemas.items() if schema is not None}


def _opening(settings: PipelineSettings, files: ServedFiles, decoding: Mapping[str, Any], server_log: Path) -> Opening:
    """Merged weights are loaded by transformers, whatever they were trained with, and are not quantised."""
    loaded = LoadedModel(
        device=settings.model.device, dtype=settings.model.dtype, max_length_tokens=settings.model.max_length_tokens
    )
    of_version = {"max_think_tokens": decoding.get("max_think_tokens")}
    completions = narrowed(Completions, settings.grpo).model_copy(update=of_version)
    return Opening(
        model=str(files.model),
        adapter=str(files.adapter) if adapters_by_task(files.adapter) else None,
        loaded=loaded.model_dump(mode="json"),
        completions=completions.model_dump(mode="json"),
        threads=cores(),
        seed=int(decoding["seed"]),
        log=str(server_log),
        vllm_python=settings.worker.vllm_python,
        vllm_memory_share=settings.worker.vllm_memory_share,
        deterministic=settings.worker.deterministic,
    )
