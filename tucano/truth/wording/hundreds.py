"""Shares that are told in whole numbers: «de cada 100 pedidos, 7 voltam», «69 de cada mil»."""

import re
from collections.abc import Sequence

from tucano.truth.figures import Figure

_OF_SO_MANY = re.compile(
    r"\b(?:(?P<each>cada)|em|por|entre|de|dos|das)\s(?:(?P<hundred>100|cem)|1\.?000|mil)\b(?!\s*%)"
)
_THE_REST = re.compile(r"\b(?:nao|nem|sem|nunca|outr\w+|demais|rest\w+|sobr\w+)\b")


def is_share(sentence: str, figure: Figure, shares: Sequence[float]) -> bool:
    """Whether a number is one of the shares of the hundred or thousand that its sentence names, or of the rest where
    it speaks of one."""
    scale = _OF_SO_MANY.search(sentence)
    if scale is None or figure.unit or figure.value > (100 if scale["hundred"] else 1000):
        return False
    times, slack = (1, 1) if scale["hundred"] else (10, 5)
    parts = [times * share for share in shares]
    if _THE_REST.search(sentence):
        parts += [times * (100 - share) for share in shares]
    return any(abs(figure.value - part) < slack or figure.shows(part) for part in parts)
