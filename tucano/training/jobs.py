"""What a training child is asked to do and how it reports: plain records that both sides of the process border import.

The parent writes `job.json`, the child prints one line per event (`@ {json}`), and writes `result.json` or `error.json`
beside the job last.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from tucano.artifacts.records import parsed
from tucano.files.models import ServedFiles
from tucano.files.per_task import adapters_by_task
from tucano.presentation.numbers import duration

EVENT_MARK = "@ "


@dataclass(frozen=True, slots=True)
class Arm:
    """One model that answers: a base (folder or hub id) with or without an adapter. `system_prompts`: the file of those
    that it is served with; None for the prompt set's. It answers a prompt `times` as often as the settings say.
    """

    name: str
    base: str
    adapter: str | None = None
    system_prompts: str | None = None
    times: int = 1


def version_arm(name: str, served: ServedFiles) -> Arm:
    """A registered version as it is served: with its own system prompts, and the adapters of its tasks where its base
    is not all of it.
    """
    adapter = str(served.adapter) if adapters_by_task(served.adapter) else None
    return Arm(name, str(served.model), adapter, str(served.system_prompts))


ChildKind = Literal["sft", "preflight", "grpo", "dpo", "answer", "public", "pace", "merge", "trial", "untrained"]
MODULES: dict[ChildKind, str] = {
    "sft": "tucano.training.sft",
    "preflight": "tucano.training.preflight",
    "grpo": "tucano.training.grpo",
    "dpo": "tucano.training.preferences.dpo",
    "answer": "tucano.training.answers",
    "public": "tucano.training.answering.public",
    "pace": "tucano.training.answering.pace",
    "merge": "tucano.training.merge",
    "trial": "tucano.training.foresight.trial",
    "untrained": "tucano.training.foresight.untrained",
}
"""The engine of each kind of job: a module whose `run(job)` does it."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a training child.

    `settings` are what its stage receives (tucano/settings/stages.py); nothing else shapes the result. `work` keeps
    checkpoints and the journal over attempts, `mirror` is the URL of their copy in remote storage, where there is one;
    `output` receives what the job makes. `base` and `adapter` are where training starts; `arms` are who answers in an
    `answer`, a `public` or a `pace` job, and `answered` says of some the artifact's folder where they did so before;
    under the `reference` their texts are looked at, where it is not one of them.
    `preferences` is a file of answer pairs for a `dpo` job. A recovery checkpoint is written every `save_steps` steps
    and before `checkpoint_minutes` have passed. The vLLM fields are for a server that draws, where the settings ask
    for one; `gpu_share` is how much of a GPU's memory this child may fill. `gpus` are those of a machine with several
    that children work on, each child on one; `vllm_gpu` is the one that their servers have for themselves.
    `teacher` is how the teacher is asked (EndpointSettings), where there is one.
    """

    kind: ChildKind
    settings: dict[str, Any]
    prompts: str
    work: str
    output: str
    threads: int
    deterministic: bool = True
    base: str = "nano"
    adapter: str | None = None
    mirror: str | None = None
    arms: list[Arm] = field(default_factory=list)
    reference: Arm | None = None
    answered: dict[str, str] = field(default_factory=dict)
    preferences: str | None = None
    save_steps: int = 100
    checkpoint_minutes: float = 10.0
    vllm_python: str | None = None
    vllm_memory_share: float = 0.35
    gpu_share: float = 0.0
    gpus: list[str] = field(default_factory=list)
    vllm_gpu: str | None = None
    teacher: dict[str, Any] | None = None

    @property
    def seed(self) -> int:
        """The seed of the child's generators."""
        return self.settings["seed"]

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "Job":
        return parsed(cls, json.loads(path.read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a child is: `values` are its newest metrics, `seconds_left` an estimate (None until there is one).

    `notice` is a sentence that a person must not miss.
    """

    stage: str
    step: int
    steps: int
    values: dict[str, float]
    seconds_left: float | None = None
    notice: str | None = None

    def line(self) -> str:
        """The sentence a person sees, like `grpo seed 42   step 12/40   reward 0.612   1 min 20 s left`."""
        if self.notice is not None:
            return f"{self.stage}   {self.notice}"
        shown = "   ".join(f"{name} {value:.3f}" for name, value in self.values.items())
        seconds = round(self.seconds_left or 0)
        left = f"   {duration(seconds)} left" if seconds else ""
        return f"{self.stage}   step {self.step}/{self.steps}   {shown}{left}"


def emit(progress: Progress) -> None:
    """Child's side: one event line on standard output."""
    print(EVENT_MARK + json.dumps(asdict(progress)), flush=True)


def pulse() -> None:
    """Child's side: a sign of life, where one piece of work may take long (worker.silence_minutes)."""
    print(flush=True)


def parse(line: str) -> Progress | None:
    """Parent's side: the event in a line of the child's output, or None for ordinary output."""
    if not line.startswith(EVENT_MARK):
        return None
    return Progress(**json.loads(line.removeprefix(EVENT_MARK)))
