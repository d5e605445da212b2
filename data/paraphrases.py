"""Further wordings of what is trained on: prompt augmentation (2602.03190).

Instructions and frames change, drawn from the known templates and from further ones that nothing else uses; reviews,
figures, products and the values of a question stay as they are, and so does everything that is true of the prompt. They
are made here rather than while training, so that the separation of the sets is checked on the very texts that a model
will see. Which of them an epoch shows is said in tucano/training/rollouts/wordings.py.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random

from data.separation import NearPrompts, normal_form
from data.sources.synthetic import SyntheticSource
from tucano.prompts import Paraphrase, Prompt

TRIES = 12
"""Draws for each wording: some are the prompt's own, one that it has, or near a judged text."""


def paraphrased(
    prompts: Iterable[Prompt], sources: Sequence[SyntheticSource], judged: NearPrompts, count: int, seed: int
) -> list[Paraphrase]:
    """Up to `count` wordings of each prompt, different from it and from each other, near no judged one."""
    found: list[Paraphrase] = []
    for prompt in prompts if count else ():
        taken = {normal_form(prompt.user)}
        for user, template in _draws(prompt, sources, TRIES * count, Random(f"{seed}/paraphrases/{prompt.id}")):
            normal = normal_form(user)
            if normal not in taken and not judged.near(replace(prompt, user=user)):
                taken.add(normal)
                found.append(Paraphrase(prompt.id, user, template))
            if len(taken) > count:
                break
    return found


def _draws(prompt: Prompt, sources: Sequence[SyntheticSource], most: int, rng: Random) -> Iterator[tuple[str, str]]:
    """Wordings by the source that knows the prompt; none where no source does."""
    for _ in range(most):
        drawn = next((said for source in sources if (said := source.reword(prompt, rng))), None)
        if drawn is None:
            return
        yield drawn
