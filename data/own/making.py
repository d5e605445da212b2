"""Demonstrations by a model behind a chat API: a larger one of others, or an own champion that `tucano serve` serves.

Each training prompt of a run is asked several times. The best answer is kept that reward and truth both call good;
where one of them calls none good, the prompt makes no row. Only training prompts are asked, so nothing that judges is
learned.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from data.own.rows import fault_of_answer
from data.separation import NearDuplicates
from rewards import RewardSet, load_reward_set
from tucano.benchmark.endpoint import REFUSAL, SILENCE, Bill, NotTaken, ask, bill, refuse_unless_allowed
from tucano.benchmark.replies import Reply
from tucano.errors import UserError
from tucano.files.prompts import PromptFiles
from tucano.prompts import Prompt, Task, read_prompts
from tucano.settings.endpoint import EndpointSettings
from tucano.specs.registry import spec_of
from tucano.thoughts import answer_of
from tucano.truth import truth

TEMPERATURE = 1.0
SEED = 2**30
"""Of the requests: another one than a run's answers have."""
CUT = "its answers are cut; raise --tokens"
MOST_SILENT = 0.1
"""Of all requests; more of them without any answer are an outage, and one that never gets one holds up no other."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """count: prompts that are asked at most, of `task` or of all; samples: answers to each; least: what reward and
    truth of one that is kept are at least, in [0, 1]; longest_tokens: of an answer; licence: of the rows.
    """

    endpoint: EndpointSettings
    task: Task | None
    count: int
    samples: int
    least: float
    longest_tokens: int
    licence: str
    allow_external: bool


@dataclass(frozen=True, slots=True)
class Made:
    """left_out: prompts without a row, by the reason; passed: {task: (answers that would do, answers)}; uncounted:
    answers that came without a number of tokens.
    """

    prompts: list[Prompt]
    left_out: Counter[str]
    passed: dict[str, tuple[int, int]]
    bill: Bill
    uncounted: int


def make(files: PromptFiles, wanted: Wanted, kept: Path) -> Made:
    """Ask, judge and choose. Replies are kept in the folder `kept` as they come, so that the same command goes on where
    it was interrupted. UserError where nothing is to be asked, or may not leave this machine, or was not answered.
    """
    asked = [prompt for prompt in read_prompts(files.train) if wanted.task in (None, prompt.task)][: wanted.count]
    if not asked:
        raise UserError(f"{files.folder} has no training prompt of the task {wanted.task}; name another one")
    refuse_unless_allowed(
        [wanted.endpoint], asked, wanted.samples, wanted.allow_external, mend="--allow-external, or name another one"
    )
    replies = _replies(asked, files.systems(), wanted, kept)
    rewards = load_reward_set("grounded", files.folder)
    source = "made-" + re.sub(r"[^A-Za-z0-9.]+", "-", wanted.endpoint.model)[:40].strip("-.")
    uncounted = sum(reply is not REFUSAL and not (reply.tokens_in and reply.tokens_out) for reply in replies)
    made = Made([], Counter(), {}, bill(wanted.endpoint, replies), uncounted)
    known = NearDuplicates()
    for place, prompt in enumerate(asked):
        drawn = replies[place * wanted.samples :][: wanted.samples]
        answers = _usable(drawn)
        judged = [(_worth(prompt, answer, rewards, files.folder), answer) for answer in answers]
        good = [(worth, answer) for worth, answer in judged if worth >= wanted.least]
        passed, tried = made.passed.get(prompt.task, (0, 0))
        made.passed[prompt.task] = passed + len(good), tried + wanted.samples
        if not good:
            made.left_out["no answer that is good enough" if answers else _why_none(drawn)] += 1
            continue
        answer = max(good)[1]
        if _is_prose(prompt) and known.copied_in(answer):
            made.left_out["its answer is nearly one that is kept"] += 1
            continue
        known.add(answer)
        made.prompts.append(replace(prompt, demonstration=answer, source=source, licence=wanted.licence))
    return made


def _replies(asked: Sequence[Prompt], systems: dict[str, str], wanted: Wanted, kept: Path) -> list[Reply]:
    """As many to each prompt as are wanted. UserError where the endpoint refuses them, or is silent to many: what an
    outage leaves is no set of demonstrations.
    """
    repeated = [prompt for prompt in asked for _ in range(wanted.samples)]
    try:
        replies = ask(wanted.endpoint, repeated, systems, TEMPERATURE, wanted.longest_tokens, SEED, kept)
    except NotTaken as refusal:
        raise UserError(f"{refusal} (--endpoint, --model, --key-env and --tokens say this)") from None
    silent = sum(reply is SILENCE for reply in replies)
    if silent > MOST_SILENT * len(replies):
        answered = len(replies) - silent - sum(reply is REFUSAL for reply in replies)
        raise UserError(
            f"{wanted.endpoint.url} did not answer {silent} of {len(replies)} requests, so nothing was written; give"
            f" the same command again, which asks for them alone: {answered} answers are kept in {kept}"
        )
    return replies


def _why_none(replies: Sequence[Reply]) -> str:
    """Why no answer to a prompt can be used."""
    if all(reply is REFUSAL for reply in replies):
        return "refused by the endpoint"
    if any(reply is SILENCE for reply in replies):
        return "not answered by the endpoint; once the file is removed, the same command asks for these alone"
    return CUT if any(reply.truncated for reply in replies) else "no answer that is whole and plain text"


def _usable(replies: Sequence[Reply]) -> list[str]:
    """Whole answers that own data may hold: what it would not read is not worth a demonstration."""
    whole = [answer_of(reply.text).strip() for reply in replies if not (reply.failed or reply.truncated)]
    return [answer for answer in whole if fault_of_answer(answer) is None]


def _worth(prompt: Prompt, answer: str, rewards: RewardSet, databases: Path) -> float:
    """The lower one of reward and truth; the reward alone where nothing is known to be true."""
    found = truth(prompt, answer, databases)
    reward = rewards.score(prompt, answer).total
    return reward if found is None else min(reward, found)


def _is_prose(prompt: Prompt) -> bool:
    """Whether two prompts should have different answers; the same JSON or query may be right for both."""
    return not spec_of(prompt.task).fields and "sql" not in prompt.reference
