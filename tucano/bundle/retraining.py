"""A champion that began with what this program has, trained again on a CPU from its recipe: the same seeds, the same
numbers of threads.

Nothing of the bundle is loaded as a model. Of its settings everything that names a program, a server or a place is left
out.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from data.prepare import prepare
from tucano.artifacts.identity import digests_at
from tucano.artifacts.lineage import STARTS_STAGE
from tucano.bundle.checks import Check, held
from tucano.bundle.reading import SEED_STAGE, Contents, Holds
from tucano.bundle.remaking import compared
from tucano.comparison.answers import arms_of, read_answers
from tucano.errors import UserError
from tucano.files.models import MergedFiles, SeedFiles, StartFiles
from tucano.files.results import AnswerFiles
from tucano.requirements import seeds_at_a_time
from tucano.requirements.memory import require_memory
from tucano.settings import PipelineSettings
from tucano.settings.execution import ExecutionSettings, WorkerSettings
from tucano.settings.stages import of_data
from tucano.training.jobs import Arm, ChildKind, Progress
from tucano.training.launch import forking, run_job
from tucano.training.orders import JobFolders, order

WEIGHTS = "*.safetensors"
SAY_EVERY_SECONDS = 5.0


@dataclass(frozen=True)
class Retraining:
    """Everything is made below `scratch`; `say` hears how far it is."""

    contents: Contents
    scratch: Path
    same_code: bool
    say: Callable[[str], None]

    def checks(self) -> Iterator[Check]:
        """Train, and hold against the bundle what came out. UserError before any work where it cannot be done here."""
        require_retrainable(self.settings)
        with forking(self.settings.model, None):
            yield held("again: data", self.data)
            yield held("again: SFT", self.fine_tuned)
            yield held("again: seeds", self.seeds)
            yield held("again: model", self.merged)
            yield held("again: answers", self.answered)
            yield held("again: verdict", self.judged)

    @cached_property
    def settings(self) -> PipelineSettings:
        """The run's, without what names programs and places."""
        here = {
            "worker": WorkerSettings(threads=self.contents.settings.worker.threads),
            "execution": ExecutionSettings(),
            "storage": str(self.scratch),
            "tracking_uri": None,
        }
        return self.contents.settings.model_copy(update=here)

    @cached_property
    def prompts(self) -> Path:
        """Generated prompts are made again; others are those of the bundle."""
        chosen = of_data(self.settings)
        general = self.settings.data.general
        if any((*self.settings.data.paths, self.settings.data.judge, general.path)) or (
            general.share and self.settings.benchmark.named
        ):
            return self.contents.prompts.folder
        folder = self.scratch / "data"
        prepare(chosen.data, chosen.seed, chosen.tasks, folder, self.settings.data.paths)
        return folder

    def data(self) -> Holds:
        if self.prompts == self.contents.prompts.folder:
            return Holds("the bundle's prompts are taken: what they were made from is not in it")
        said = _changed(self.contents.prompts.folder, self.prompts, "*.jsonl *.sqlite *.txt system_prompts.json")
        return self._judged("the same prompts and stores", said, [])

    def fine_tuned(self) -> Holds:
        made = self._work("sft", "sft", self.settings.seed)
        there = StartFiles(self.contents.of("sft"))
        said = _changed(there.weights, self._start.weights)
        if there.built_here:
            said += _changed(there.base, self._start.base)
        return self._judged("the same weights, bit for bit", said, self._elsewhere("sft", made))

    def seeds(self) -> Holds:
        """As many at a time as there are cores for."""
        lines = self.contents.seeds
        with ThreadPoolExecutor(seeds_at_a_time(self.settings)) as pool:
            trained = pool.map(
                lambda arm: self._work("grpo", f"{SEED_STAGE}{arm}", lines[arm].seed, start=self._begin), lines
            )
            made = dict(zip(lines, trained, strict=True))
        said: list[str] = []
        elsewhere: list[str] = []
        for arm in lines:
            stage = f"{SEED_STAGE}{arm}"
            said += _changed(SeedFiles(self.contents.of(stage)).adapter, SeedFiles(self._of(stage)).adapter)
            elsewhere += self._elsewhere(stage, made[arm])
        return self._judged(f"{len(lines)} adapters, bit for bit", said, elsewhere)

    def merged(self) -> Holds:
        adapter = SeedFiles(self._of(f"{SEED_STAGE}{self.contents.candidate}")).adapter
        self._work("merge", "merged", self.settings.seed, start=(self._begin[0], str(adapter)))
        there = MergedFiles(self.contents.of("merged")).model
        here = MergedFiles(self._of("merged")).model
        return self._judged("the registered weights, bit for bit", _changed(there, here), self._known)

    def answered(self) -> Holds:
        """Base, start and seeds answer again; an arm whose weights are not in the bundle, a champion before, cannot."""
        base, adapter = self._begin
        times = len(self.contents.seeds)
        first = [Arm("base", str(self._start.base))] if self._start.built_here else [Arm("base", base, times=times)]
        arms = [*first, Arm("sft", base, adapter, times=times)]
        beside = self.contents.settings.execution.stages is None
        if beside:  # the starts answered while the seeds trained
            self._work("answer", STARTS_STAGE, self.settings.seed, arms=arms)
        arms += [Arm(arm, base, str(SeedFiles(self._of(SEED_STAGE + arm)).adapter)) for arm in self.contents.seeds]
        answered = self._of(STARTS_STAGE) if beside else None
        self._work("answer", "answers", self.settings.seed, arms=arms, answered=answered)
        now = {_place(answer): answer for answer in read_answers(self._answers.answers)}
        asked = {arm.name for arm in arms}
        there = [answer for answer in self.contents.answers if answer.arm in asked]
        said = [f"{place} is another answer" for answer in there if now.get(place := _place(answer)) != answer]
        return self._judged(f"{len(now)} answers, letter for letter", said, self._known)

    def judged(self) -> Holds:
        """The verdict on the answers that were drawn now."""
        asked = read_answers(self._answers.answers)
        others = [answer for answer in self.contents.answers if answer.arm not in arms_of(asked)]
        made = compared(self.contents, [*asked, *others], self._answers)
        same = made.verdict.sentences == self.contents.comparison.verdict.sentences
        said = [] if same else [f"now: {made.verdict.headline}"]
        return self._judged(f"the same: {made.verdict.headline}", said, self._known)

    @property
    def _start(self) -> StartFiles:
        return StartFiles(self._of("sft"))

    @property
    def _begin(self) -> tuple[str, str | None]:
        """What GRPO begins with: the model that SFT trained whole, or a base and SFT's adapter."""
        start = self._start
        return (str(start.model), None) if start.built_here else (self.settings.model.place, str(start.adapter))

    @property
    def _answers(self) -> AnswerFiles:
        return AnswerFiles(self._of("answers"))

    @cached_property
    def _known(self) -> list[str]:
        """Why bits may differ here, as the trainings have found."""
        return []

    @cached_property
    def _threads(self) -> int:
        """What SFT computed with, and all that takes every core of a machine."""
        record: dict[str, Any] = self.contents.made("sft")["record"]
        return int(record["arithmetic"][-1]["threads"])

    def _of(self, stage: str) -> Path:
        return self.scratch / "made" / stage

    def _work(
        self,
        kind: ChildKind,
        stage: str,
        seed: int,
        start: tuple[str, str | None] | None = None,
        arms: list[Arm] | None = None,
        answered: Path | None = None,
    ) -> dict[str, Any]:
        output = self._of(stage)
        output.mkdir(parents=True)
        folders = JobFolders(self.prompts, self.scratch / "work" / stage, output, answered=answered)
        threads = self.settings.worker.threads if kind == "grpo" or stage == STARTS_STAGE else self._threads
        began = time.monotonic()
        said = -SAY_EVERY_SECONDS

        def show(progress: Progress) -> None:
            nonlocal said
            if time.monotonic() - said >= SAY_EVERY_SECONDS:
                said = time.monotonic()
                self.say(f"{said - began:5.0f} s  {progress.line()}")

        return run_job(order(kind, self.settings, seed, threads, folders, start, arms or ()), None, show)

    def _elsewhere(self, stage: str, made: dict[str, Any]) -> list[str]:
        """Where the machine that trained adds otherwise than this one."""
        there = self.contents.made(stage)["record"]["arithmetic"]
        here = made["arithmetic"]
        if there == here:
            return []
        found = f"{stage} was computed on {_told(there)}, here on {_told(here)}"
        self._known.append(found)
        return [found]

    def _judged(self, well: str, said: list[str], elsewhere: list[str]) -> Holds:
        """Bits that differ are a fault where code and processor are the same."""
        if said and (elsewhere or not self.same_code):
            return Holds("", others=(*elsewhere, *said))
        return Holds(well, tuple(said))


def require_retrainable(settings: PipelineSettings) -> None:
    """UserError for what this machine cannot train again to the same bits, or would be another's program."""
    if not settings.model.is_ours or settings.model.device != "cpu":
        raise UserError(
            f"--retrain trains models that begin with what this program has; this one is {settings.model.name} on"
            f" {settings.model.device}: verify it without"
        )
    if not settings.sft.enabled:
        raise UserError("--retrain begins with SFT, and this model had none: verify it without")
    if settings.grpo.sampler == "vllm":
        raise UserError("--retrain draws with the trainer's own code, and this one drew from vLLM: verify it without")
    require_memory(settings)


def _changed(there: Path, here: Path, pattern: str = WEIGHTS) -> list[str]:
    """Files that are not the same in both folders."""
    before = digests_at(there, pattern)
    after = digests_at(here, pattern)
    if not before:
        return [f"{there.parent.name}/{there.name} holds nothing to compare with"]
    names = sorted({*before, *after})
    return [
        f"{here.parent.name}/{here.name}: {name} is another" for name in names if before.get(name) != after.get(name)
    ]


def _place(answer: Any) -> str:
    return f"{answer.arm}, {answer.decoding} {answer.sample} to {answer.prompt_id}"


def _told(arithmetic: list[dict[str, Any]]) -> str:
    return ", then ".join(f"{one['machine']} with {one['threads']} threads" for one in arithmetic)
