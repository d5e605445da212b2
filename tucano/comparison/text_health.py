"""Are the texts still texts? Rewards can rise while language decays; these numbers look at language alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tucano.comparison.answers import Answer
from tucano.files.prompts import PromptFiles
from tucano.prompts import read_prompts
from tucano.specs.texts import words

LEAST_DISTINCT = 0.5
LEAST_KNOWN = 0.9
MOST_LOSS = 1.5
"""Relative to the start. Sound runs had .78 to 1.07, 1.00 to 1.03 and .72 to 1.19 (LOG.md); a model that writes the
same again and again, or letters instead of words, is far beyond.
"""


@dataclass(frozen=True, slots=True)
class TextHealth:
    """Of the answers of one arm in the primary decoding.

    `distinct_2`: different word pairs / word pairs (Li et al. 2016), per task, then the mean over tasks.
    `known_words`: share of the words that occur in the training texts. `loss`: nats per token under the start model.
    `tokens`: mean length. `truncated`: share of answers cut at the ceiling.
    """

    distinct_2: float
    known_words: float
    loss: float
    tokens: float
    truncated: float

    def ratio(self, reference: "TextHealth") -> dict[str, float | None]:
        """Each of the first three relative to the reference's; None where that is 0."""
        names = ("distinct_2", "known_words", "loss")
        return {name: getattr(self, name) / below if (below := getattr(reference, name)) else None for name in names}


def decay(health: TextHealth, reference: TextHealth) -> str | None:
    """What says that an arm's texts are texts no more, against those of its start; None where nothing does."""
    than = health.ratio(reference)
    distinct, known, loss = than["distinct_2"], than["known_words"], than["loss"]
    if distinct is not None and not distinct >= LEAST_DISTINCT:
        return f"its answers repeat themselves: {distinct:.0%} as many different word pairs as its start's"
    if known is not None and not known >= LEAST_KNOWN:
        return f"it writes words that nobody knows: {known:.0%} as many known ones as its start"
    if loss is not None and not loss <= MOST_LOSS:  # NaN is no text either
        return f"its start finds its answers strange: {loss:.0%} of the nats per token of its own"
    return None


def known_words(files: PromptFiles) -> frozenset[str]:
    """The words of all prompts and demonstrations that were trained on."""
    seen = [*read_prompts(files.train), *read_prompts(files.demonstrations)]
    return vocabulary(text for prompt in seen for text in (prompt.user, prompt.demonstration or ""))


def vocabulary(texts: Iterable[str]) -> frozenset[str]:
    """All words of some texts, for `known_words`: the training prompts and demonstrations."""
    return frozenset(word for text in texts for word in words(text))


def distinct_2(texts: Iterable[str]) -> float:
    """Different word pairs / word pairs, pairs within a text only; 0.0 where there is no pair."""
    pairs = [pair for text in texts for pair in pairwise(words(text))]
    return len(set(pairs)) / len(pairs) if pairs else 0.0


def text_health(answers: Sequence[Answer], known: frozenset[str]) -> TextHealth:
    """The health of one arm's answers (at least one)."""
    by_task: dict[str, list[str]] = {}
    for answer in answers:
        by_task.setdefault(answer.task, []).append(answer.completion)
    spoken = [word for answer in answers for word in words(answer.completion)]
    tokens = sum(answer.tokens for answer in answers)
    return TextHealth(
        distinct_2=sum(map(distinct_2, by_task.values())) / len(by_task),
        known_words=sum(word in known for word in spoken) / len(spoken) if spoken else 0.0,
        loss=_mean_loss(answers),
        tokens=tokens / len(answers),
        truncated=sum(answer.truncated for answer in answers) / len(answers),
    )


def _mean_loss(answers: Sequence[Answer]) -> float:
    """Per token of what was judged: the text without its thought, and nothing where no text is left."""
    judged = [answer for answer in answers if answer.completion]
    tokens = [answer.tokens - answer.think_tokens for answer in judged]
    nats = sum(answer.loss * said for answer, said in zip(judged, tokens, strict=True))
    return nats / max(1, sum(tokens))
