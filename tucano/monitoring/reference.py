"""What the champion did on its own test prompts: its stored answers, read as served ones are."""

from dataclasses import dataclass
from pathlib import Path

from rewards import load_reward_set
from tucano.artifacts.lineage import verify
from tucano.comparison.answers import Answer, read_answers
from tucano.comparison.text_health import known_words
from tucano.errors import UserError
from tucano.files.prompts import PromptFiles
from tucano.files.results import AnswerFiles
from tucano.monitoring.quantities import TRUTH, Look, Quantity, masked, quantities
from tucano.prompts import read_prompts
from tucano.settings import RewardSetName
from tucano.tracking import RegisteredModel


@dataclass(frozen=True, slots=True)
class Value:
    """`task`: whose values it is held against; empty: all."""

    number: float
    task: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    """`values`: those of the test answers by quantity."""

    watched: list[Quantity]
    values: dict[str, list[Value]]


def reference_of(root: Path, champion: RegisteredModel, rewards: RewardSetName) -> Reference:
    """UserError where the storage does not hold what the champion was made from and judged by."""
    prompts = PromptFiles(_folder(root, champion, "data"))
    answers = read_answers(AnswerFiles(_folder(root, champion, "answers")).answers)
    arm = f"seed-{champion.tags['seed']}"
    own = [answer for answer in answers if answer.decoding == "served" and answer.arm == arm]
    if not own:
        raise UserError(f"{champion} has no test answers; train another one")
    watched = quantities(load_reward_set(rewards, prompts.folder), known_words(prompts), prompts.folder)
    return Reference(watched, _values(prompts, own, watched))


def _values(prompts: PromptFiles, own: list[Answer], watched: list[Quantity]) -> dict[str, list[Value]]:
    asked = {prompt.id: prompt for prompt in read_prompts(prompts.test)}
    looks = [masked(asked[answer.prompt_id], answer.completion) for answer in own]
    values = {quantity.name: values_of(quantity, looks) for quantity in watched}
    return values | {TRUTH: [Value(answer.truth, answer.task) for answer in own if answer.truth is not None]}


def values_of(quantity: Quantity, looks: list[Look]) -> list[Value]:
    """What can be told."""
    return [
        Value(number, look.prompt.task if quantity.within_task else "")
        for look in looks
        if (number := quantity.read(look)) is not None
    ]


def _folder(root: Path, champion: RegisteredModel, stage: str) -> Path:
    (link,) = verify(root, {stage: champion.tags.get(f"digest.{stage}", "")}, sources=False)
    if link.folder is None or link.fault is not None:
        raise UserError(
            f"storage {root} does not hold the {stage} that {champion} was judged by (whole, as it was made); name the"
            " storage of its run with --set storage=FOLDER"
        )
    return link.folder
