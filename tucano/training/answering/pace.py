"""How fast each arm answers the benchmark's prompts, drawn greedily from weights that stay, as `tucano serve` does."""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import cycle, islice
from pathlib import Path
from random import Random

from tucano.benchmark.pace import AT_A_TIME, Pace, write_paces
from tucano.files.prompts import PromptFiles
from tucano.files.results import PaceFiles
from tucano.prompts import read_prompts
from tucano.settings.comparison import GreedyAnswersStage
from tucano.training.jobs import Arm, Job, Progress, emit
from tucano.training.policies.chat import encode, stop_tokens
from tucano.training.policies.load import Policy, load_arm
from tucano.training.policies.per_task import drawn_by_speaker
from tucano.training.samplers import Decoding, Sampler
from tucano.training.samplers.opening import rank_of, sampler_for


def run(job: Job) -> dict[str, object]:
    """Write `PaceFiles` into `job.output`: for every arm one row for each number of requests at a time."""
    settings = GreedyAnswersStage.model_validate(job.settings)
    paces: list[Pace] = []
    for number, arm in enumerate(job.arms):
        paces += _paces(job, settings, arm)
        emit(Progress(f"speed of {arm.name}", number + 1, len(job.arms), {"answers/s": paces[-1].per_second}))
    write_paces(PaceFiles(Path(job.output)).paces, paces)
    return {"arms": [arm.name for arm in job.arms]}


def _paces(job: Job, settings: GreedyAnswersStage, arm: Arm) -> Iterator[Pace]:
    policy, tokenizer = load_arm(settings.model, arm, job.seed)
    policy.eval()
    files = PromptFiles(Path(job.prompts))
    asked = read_prompts(files.test)
    Random(job.seed).shuffle(asked)  # every number at a time meets all tasks
    prompts = list(zip((prompt.task for prompt in asked), encode(tokenizer, asked, files.systems()), strict=True))
    decoding = Decoding(settings.grpo.max_completion_tokens, 0.0, tuple(stop_tokens(policy, tokenizer)))
    with closing(sampler_for(job, arm.base, rank_of(arm), settings.model, settings.grpo, fixed=True)) as sampler:
        _drawn(policy, sampler, list(dict(prompts).items()), decoding)  # what is slow the first time is not counted
        for at_a_time, rounds in AT_A_TIME.items():
            source, seconds, tokens = cycle(prompts), [], 0
            for _ in range(rounds):
                batch = list(islice(source, at_a_time))
                began = time.perf_counter()
                tokens += _drawn(policy, sampler, batch, decoding)
                seconds.append(time.perf_counter() - began)
            yield Pace(arm.name, at_a_time, seconds, tokens)


def _drawn(policy: Policy, sampler: Sampler, batch: Sequence[tuple[str, list[int]]], decoding: Decoding) -> int:
    """Tokens of the answers to these (task, prompt): in one go, or task by task where each has its own adapter."""
    tasks, prompts = zip(*batch, strict=True)
    return sum(len(draw.tokens) for draw in drawn_by_speaker(sampler, policy, tasks, prompts, decoding))
