"""A storage with a promoted champion, made by hand: real settings, prompts, rewards and verdict; nothing is trained."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from rewards import load_reward_set
from tucano.artifacts.identity import fingerprint
from tucano.artifacts.records import write_record
from tucano.artifacts.store import Artifact, Recipe, Store
from tucano.audit.parallel.process import ratings_of
from tucano.audit.report import AuditReport
from tucano.bundle.reading import SEED_STAGE
from tucano.bundle.received import code_here
from tucano.comparison.answers import Answer, Decoding
from tucano.comparison.compare import Comparison, Design, compare
from tucano.comparison.forgetting import read_readings
from tucano.comparison.text_health import known_words
from tucano.files.models import MergedFiles, SeedFiles, ServedFiles, StartFiles
from tucano.files.prompts import PromptFiles
from tucano.files.results import AnswerFiles, AuditFiles, ComparisonFiles, ReportFiles
from tucano.profiles import load_profile
from tucano.project import OF_RELATIONS
from tucano.prompts import Prompt, write_prompts
from tucano.settings import PipelineSettings
from tucano.settings import stages as received
from tucano.settings.base import Section
from tucano.tracking import RegisteredModel, registry
from tucano.truth import truth

ROOT = Path(__file__).parent.parent
SEEDS = (42, 123)
DECODINGS: tuple[Decoding, ...] = ("served", "sampled")
PRODUCTS = (
    "fone Bluetooth", "bolsa de couro", "panela de ferro", "mochila azul", "caneca térmica", "luminária de mesa",
)  # fmt: skip
OVERRIDES = (f"grpo.seeds={list(SEEDS)}", "data.mix={push: 1, extraction: 0, sql_qa: 0, insights: 0}")
Settings = dict[str, Any]


@dataclass(frozen=True)
class Made:
    """What a forger may make otherwise, all seals fitting."""

    overrides: Sequence[str] = OVERRIDES
    answers: Callable[[list[Answer]], list[Answer]] = lambda answers: answers
    comparison: Callable[[Comparison], Comparison] = lambda comparison: comparison
    received: Mapping[str, Callable[[Settings], Settings]] = field(default_factory=dict)
    best: Mapping[int, float] = field(default_factory=lambda: {42: 0.6, 123: 0.5})
    registered: int = 42
    code: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    licences: Sequence[str] = ("CC0-1.0",)


@dataclass(frozen=True)
class Champion:
    root: Path
    version: RegisteredModel
    model: Path
    ratings: Path


def champion(home: Path, made: Made = Made()) -> Champion:
    return _Making(home, made).champion()


class _Making:
    def __init__(self, home: Path, made: Made) -> None:
        self.root, self.made, self.home = home / "runs", made, home
        self.settings = load_profile(ROOT, "nano", list(made.overrides))
        self.stages: dict[str, Artifact] = {}

    def champion(self) -> Champion:
        ratings = self.home / "ratings"
        ratings.mkdir(parents=True)
        (ratings / "ratings.jsonl").write_text('{"rating": 4}\n', encoding="utf-8")
        run, prompts = self.settings, _prompts()
        data = self._data(prompts)
        self._stage("plan", received.of_plan(run), {})
        stores = {name: sha256 for name, sha256 in ratings_of(run)[1].items() if name.startswith(OF_RELATIONS)}
        assert stores, "of the program, beside the folder"
        rated = {"ratings.jsonl": str(fingerprint(ratings / "ratings.jsonl")["sha256"])} | stores
        self._stage("audit", received.of_audit(run), rated, _audited)
        self._stage("sft", received.of_sft(run, run.seed), self._from("data"), write_sft)
        self._stage("preflight", received.of_preflight(run, SEEDS[0]), self._from("data", "sft"))
        for seed in SEEDS:
            grpo, start = received.of_grpo(run, seed), self._from("data", "sft")
            self._stage(f"{SEED_STAGE}seed-{seed}", grpo, start, self._seed(seed))
        inputs = self._from("data", "sft", *(f"{SEED_STAGE}seed-{seed}" for seed in SEEDS))
        answers = self.made.answers(_answers(prompts, run, data))
        made = self._stage("answers", received.of_answers(run, run.seed), inputs, lambda draft: _write(draft, answers))
        self._stage("re-audit", received.of_reaudit(run), self._from("data", "answers"))
        compared = received.of_comparison(run, True, {}, ())
        inputs = self._from("data", "answers")
        self._stage("comparison", compared, inputs, lambda draft: self._compared(draft, prompts, answers, made))
        self._stage("merged", received.of_merge(run, run.seed), self._from("data", "sft"), write_merged)
        chain = {name: artifact.digest for name, artifact in self.stages.items()}
        self._report()
        return Champion(self.root, *self._registered(chain), ratings)

    def _from(self, *stages: str) -> dict[str, str]:
        called = {"data": "prompts", "sft": "start"}
        return {called.get(s, s.removeprefix(SEED_STAGE)): self.stages[s].digest for s in stages}

    def _stage(
        self,
        stage: str,
        settings: Section,
        inputs: Mapping[str, str],
        write: Callable[[Path], Mapping[str, Any]] = lambda draft: {},
    ) -> Artifact:
        chosen = self.made.received.get(stage, lambda same: same)(settings.model_dump(mode="json"))
        code = self.made.code or code_here(stage)
        recipe = Recipe(stage, json.loads(json.dumps(chosen)), inputs, code)
        self.stages[stage] = Store(self.root).make(recipe, write, lambda sentence: None)
        return self.stages[stage]

    def _data(self, prompts: Sequence[Prompt]) -> PromptFiles:
        def write(draft: Path) -> Mapping[str, Any]:
            files = PromptFiles(draft)
            for place in (files.train, files.test, files.demonstrations):
                write_prompts(place, prompts)
            return {"licences": [*self.made.licences]}

        return PromptFiles(self._stage("data", received.of_data(self.settings), {}, write).folder)

    def _seed(self, seed: int) -> Callable[[Path], Mapping[str, Any]]:
        def write(draft: Path) -> Mapping[str, Any]:
            write_weights(SeedFiles(draft).adapter, f"adapter {seed}")
            return {"seed": seed, "best_step": 4, "best_value": self.made.best[seed]}

        return write

    def _compared(
        self, draft: Path, prompts: Sequence[Prompt], answers: Sequence[Answer], made: Artifact
    ) -> Mapping[str, Any]:
        data = PromptFiles(self.stages["data"].folder)
        readings = read_readings(AnswerFiles(made.folder).language)
        design = Design("sft", SEEDS, max(SEEDS, key=lambda seed: self.made.best[seed]), untrained_base=True)
        judged = compare(answers, prompts, self.settings.comparison, design, known_words(data), readings)
        self.comparison = self.made.comparison(judged)
        write_record(ComparisonFiles(draft).comparison, self.comparison)
        return {}

    def _report(self) -> None:
        plain = self.settings.model_dump(mode="json", exclude={"storage", "tracking_uri"})

        def write(draft: Path) -> Mapping[str, Any]:
            ReportFiles(draft).settings.write_text(json.dumps(plain), encoding="utf-8")
            return {"registered": 1}

        inputs = {name: artifact.digest for name, artifact in self.stages.items()}
        code = self.made.code or code_here("report")
        Store(self.root).make(Recipe("report", {"settings": plain}, inputs, code), write, lambda sentence: None)

    def _registered(self, chain: Mapping[str, str]) -> tuple[RegisteredModel, Path]:
        folder = self.home / "version"
        served = ServedFiles(folder / "data" / "data")
        write_merged(served.folder)
        write_weights(served.adapter, f"adapter {self.made.registered}")
        served.serving.write_text("{}", encoding="utf-8")
        tags = {f"digest.{name}": value for name, value in chain.items()}
        tags |= {
            "digest.grpo": chain[f"{SEED_STAGE}seed-{self.made.registered}"],
            "digest.files": registry.digest(folder),
        }
        tags |= {"verdict": self.comparison.verdict.headline, "licences": "CC0-1.0", "audit": "passed", "base": "nano"}
        return RegisteredModel("tucano", 1, "run", "", {**tags, **self.made.tags}), folder


def _prompts() -> list[Prompt]:
    return [
        Prompt(
            f"push-{n}",
            "push",
            f"Crie um push para {name}, com {10 + n}% de desconto.",
            f"t{n}",
            "synthetic",
            "CC0-1.0",
            reference={"product": name, "terms": [name.split()[0]], "figures": [10 + n]},
            demonstration=f"Leve {name} com {10 + n}% de desconto hoje!",
        )
        for n, name in enumerate(PRODUCTS)
    ]


def _answers(prompts: Sequence[Prompt], run: PipelineSettings, data: PromptFiles) -> list[Answer]:
    """The start names the product, the seeds what is offered, too."""
    rewards = load_reward_set(run.comparison.rewards, data.folder)
    made = []
    for arm, prompt in product(("base", "sft", *(f"seed-{seed}" for seed in SEEDS)), prompts):
        tuned = arm.startswith("seed-")
        text = prompt.demonstration or "" if tuned else f"Veja {prompt.reference['product']}"
        score, true = rewards.score(prompt, text), truth(prompt, text, data.folder)
        for decoding, sample in product(DECODINGS, range(1 if tuned else len(SEEDS))):
            made.append(
                Answer(
                    arm, prompt.id, "push", decoding, sample, text, score.total, score.components, true, 1.0, 9, False
                )
            )
    return made


def _write(draft: Path, answers: Sequence[Answer]) -> Mapping[str, Any]:
    files = AnswerFiles(draft)
    files.answers.write_text("".join(json.dumps(asdict(answer)) + "\n" for answer in answers), encoding="utf-8")
    arms = dict.fromkeys(answer.arm for answer in answers)
    readings = [
        {"arm": arm, "passage": n, "nats": 40.0 + n, "tokens": 10, "characters": 50} for arm in arms for n in range(3)
    ]
    files.language.write_text("".join(json.dumps(reading) + "\n" for reading in readings), encoding="utf-8")
    return {}


def _audited(draft: Path) -> Mapping[str, Any]:
    report = AuditReport(2, "grounded", 42, 2000, {}, False, (), (), (), (), (), ())
    write_record(AuditFiles(draft).report, report)
    return {}


def write_sft(draft: Path) -> Mapping[str, Any]:
    write_weights(StartFiles(draft).base, "base")
    write_weights(StartFiles(draft).model, "model")
    return {}


def write_merged(draft: Path) -> Mapping[str, Any]:
    write_weights(MergedFiles(draft).model, "merged")
    return {"faithful": True, "mean_difference": 0.001}


def write_weights(folder: Path, content: str) -> None:
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_text(content, encoding="utf-8")


def other_reward(answers: list[Answer]) -> list[Answer]:
    """The first tuned answer earns more than it is worth."""
    place = next(place for place, answer in enumerate(answers) if answer.arm == "seed-42")
    changed = replace(answers[place], reward=answers[place].reward + 0.01)
    return [*answers[:place], changed, *answers[place + 1 :]]
