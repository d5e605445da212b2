"""How the prose of a task's answers has to read, and what it earns where it does not."""

import re

from rewards.parsing.fluency import Limits, reads
from rewards.parsing.kinds import kind
from rewards.parsing.text import fold, hands_back, words
from rewards.types import PromptLike

UNREAD = 0.25
"""Credit of prose that does not read: some, so that weak texts still differ."""
PUSH = Limits({3: (-1.5, -1.1), 8: (-0.75, -0.5)}, (-0.45, -0.3), (-0.15, 0.02))
INSIGHTS = Limits({3: (-2.5, -2.0), 8: (-1.3, -1.0)}, (-0.6, -0.38), (-0.18, 0.02))
"""What reads (rewards/parsing/fluency.py): from none to all credit."""
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
    return UNREAD + (1 - UNREAD) * reads(_ONE_BY_ONE.sub("logo", answer), limits)


_ONE_BY_ONE = re.compile(r"(?i)\b(uma?) a \1\b")
