"""How the prose of a task's answers has to read, and what it earns where it does not."""

import re

from rewards.parsing.fluency import Limits, reads
from rewards.parsing.kinds import kind
from rewards.parsing.text import fold, hands_back, words
from rewards.types import PromptLike

READS = 0.6
BROKEN = 0.1
"""From which share on prose is whole, and what is left of a share below: a step, since who pays for half-broken prose
shows the way to prose that passes and means nothing. Weak texts still differ."""
PUSH = Limits({3: (-1.8, -1.4), 8: (-1.2, -0.9)}, (-0.7, -0.5), (-0.3, -0.12))
INSIGHTS = Limits({3: (-2.4, -2.0), 8: (-1.4, -1.15)}, (-0.7, -0.5), (-0.1, 0.04))
"""What reads (rewards/parsing/fluency.py): from the second of each two numbers on. Nineteen of twenty good answers of
other writers do; below, the share between the two numbers is all that tells weak texts apart."""
_STAND_IN = {"<noun-o>": "produto", "<noun-a>": "nota"}


def handed_back(answer: str, prompt: PromptLike) -> int:
    """Length in words of the longest run of its brief in a push; the product's name, which it has to say, is one."""
    said, brief, product = map(fold, (answer, prompt.user, prompt.reference.get("product", "")))
    name = re.compile(rf"\b{re.escape(product)}\b")
    if product and name.search(said):
        said, brief = name.sub("produto", said), name.sub("produto", brief)
    return hands_back(words(said), brief)


def credit(answer: str, prompt: PromptLike, limits: Limits) -> float:
    """Credit for how well a text reads; the product's name counts as one noun of its gender."""
    names = filter(None, (prompt.reference.get("product", ""), *prompt.reference.get("terms", ())))
    for name in sorted(names, key=len, reverse=True):
        answer = re.sub(rf"(?i)\b{re.escape(name)}\b", _STAND_IN.get(kind(name.split()[0]), "item"), answer)
    share = reads(_ONE_BY_ONE.sub("logo", answer), limits)
    return 1.0 if share == 1 else BROKEN * (0.25 + 0.75 * share)


def unnamed(answer: str, prompt: PromptLike) -> str:
    """An answer with its product's name in small letters, however it is written."""
    name = re.escape(prompt.reference.get("product", ""))
    return re.sub(rf"(?i)(?<=[a-zà-ÿ,] )({name})\b", lambda found: found[1].lower(), answer) if name else answer


def stepped(share: float) -> float:
    """A share of credit for how whole prose is; next to nothing below `READS`."""
    return share if share >= READS else BROKEN * share


_ONE_BY_ONE = re.compile(r"(?i)\b(uma?) a \1\b")
