"""Pairs that people preferred, kept apart from the prompts that a run is judged by."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

from data.separation import NearDuplicates
from tucano.files.prompts import PromptFiles
from tucano.preferences import UNLEARNABLE, AnswerPair, read_answer_pairs
from tucano.prompts import read_prompts
from tucano.thoughts import bare


def trainable_pairs(path: Path, prompts: PromptFiles) -> tuple[list[AnswerPair], dict[str, int]]:
    """The pairs of a file that a run with these prompts may learn from, and how many are left out for which reason.

    `tucano data feedback` has left out what the runs of one storage are judged by; this run may be another one. It does
    not know either whether a model can think: the switch of the system prompt becomes this run's.
    UserError where the file holds no pairs.
    """
    judged = NearDuplicates(prompt.user for file in (prompts.validation, prompts.test) for prompt in read_prompts(file))
    systems = {bare(system): system for system in prompts.systems().values()}
    kept = list[AnswerPair]()
    left_out: Counter[str] = Counter()
    for pair in read_answer_pairs(path):
        if (own := systems.get(bare(pair.system))) is None:
            left_out["another system prompt than this run's"] += 1
        elif judged.near(pair.user) or any(judged.stand_in(text) for text in pair.texts):
            left_out["a test prompt, or near one"] += 1
        elif not pair.is_learnable:
            left_out[UNLEARNABLE] += 1
        else:
            kept.append(replace(pair, system=own))
    return kept, dict(left_out)
