"""How the prose of a task's answers has to read, and what it earns where it does not."""

import re

from rewards.parsing.fluency import Limits, reads
from rewards.parsing.kinds import kind
from rewards.parsing.text import fold, hands_back, words
from rewards.types import PromptLike

READS = 0.6
"""From which share on prose is whole. Below, it is nothing: a step, since who pays for half-broken prose shows the way
to prose that passes and means nothing."""
PUSH = Limits({3: -1.75, 8: -0.53}, sentence=-0.42, mean=-0.05)
INSIGHTS = Limits({3: -2.45, 8: -1.18}, sentence=-0.42, mean=0.08)
"""What reads (rewards/parsing/fluency.py): nineteen of twenty good answers of other writers do."""
_STAND_IN = {"<noun-o>": "produto", "<noun-a>": "nota"}


def handed_back(answer: str, prompt: PromptLike) -> int:
    """Length in words of the longest run of its brief in a push; the product's name, which it has to say, is one."""
    said, brief, product = map(fold, (answer, prompt.user, prompt.reference.get("product", "")))
    name = re.compile(rf"\b{re.escape(product)}\b")
    if product and name.search(said):
        said, brief = name.sub("produto", said), name.sub("produto", brief)
    return hands_back(words(said), brief)


def reads_well(answer: str, prompt: PromptLike, limits: Limits) -> bool:
    """Whether a text reads; the product's name counts as one noun of its gender."""
    names = filter(None, (prompt.reference.get("product", ""), *prompt.reference.get("terms", ())))
    for name in sorted(names, key=len, reverse=True):
        answer = re.sub(rf"(?i)\b{re.escape(name)}\b", _STAND_IN.get(kind(name.split()[0]), "item"), answer)
    return reads(_ONE_BY_ONE.sub("logo", answer), limits)


def unnamed(answer: str, prompt: PromptLike) -> str:
    """An answer with its product's name in small letters, however it is written."""
    name = re.escape(prompt.reference.get("product", ""))
    return re.sub(rf"(?i)(?<=[a-zà-ÿ,] )({name})\b", lambda found: found[1].lower(), answer) if name else answer


def stepped(share: float) -> float:
    """A share of credit for how whole prose is; nothing below `READS`."""
    return share if share >= READS else 0.0


_ONE_BY_ONE = re.compile(r"(?i)\b(uma?) a \1\b")
