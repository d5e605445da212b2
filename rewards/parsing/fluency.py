"""How well a text reads: a small model of what kinds of words follow each other in sentences of Brazilian shops
(rewards/corpus, written for this, CC0).

Function words stand for themselves, other words for their form or ending, figures for their unit. A place is worth how
much likelier it is there than anywhere, so that rare words cost nothing. What counts is the mean and the worst stretch:
good sentences do not pay for a list of words between them.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import log
from pathlib import Path

from rewards.parsing.kinds import bare, clash, coarse, is_scrap, kind
from rewards.types import PromptLike

_CORPUS = Path(__file__).parents[1] / "corpus"
_FILES = ("push.txt", "insights.txt", "frames.txt")
_SHARES = ((0.3, 0.2), (0.3, 0.2))
"""Of a place's worth: by the two words before it and by one, each in kinds and in coarse kinds."""
_UNSEEN = 3.0
"""Places that count as seen before any is."""
_TOKEN = re.compile(
    r"(?P<money>r\$\s*\d+(?:[.,]\d+)*)|(?P<percent>\d+(?:[.,]\d+)*\s*%)|(?P<figure>\d+(?:[.,]\d+)*)|(?P<scrap>r?\$|%)"
    r"|(?P<word>[^\W\d_]+(?:-[^\W\d_]+)*)|(?P<mark>[,:;()])|(?P<end>[.!?…]+|[^\w\s.,:;()*#\"'“”%$/_-]+|\n)",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"(?m)^[ \t]*(?:[-*•–]|#+|\d{1,2}[.)])[ \t]+|\*\*|[\"'“”]|\u200d|\ufe0f")


def sentences(text: str) -> Iterator[list[str]]:
    """The kinds of each sentence; lines, end marks and pictures end one."""
    found: list[str] = []
    for match in _TOKEN.finditer(_MARKUP.sub("", text)):
        group = match.lastgroup or ""
        if group != "end":
            inside = bool(found) and found[-1] != ":"
            found.append(kind(match[0], inside) if group == "word" else match[0] if group == "mark" else f"<{group}>")
        elif found:
            yield found
            found = []
    if found:
        yield found


def _count(lines: Sequence[str]) -> Counter[tuple[str, ...]]:
    """How often each run of up to three kinds occurs, and under "before" what it began with."""
    counts: Counter[tuple[str, ...]] = Counter()
    for sentence in (found for line in lines for found in sentences(line)):
        fine = list(map(bare, sentence))
        for places in (["", "", *fine, ""], ["", "", *map(coarse, fine), ""]):
            for place in range(2, len(places)):
                for start in (place - 2, place - 1, place):
                    counts[tuple(places[start : place + 1])] += 1
                    counts["before", *places[start:place]] += 1
    return counts


_LINES = {name: (_CORPUS / name).read_text(encoding="utf-8").splitlines() for name in _FILES}
_COUNTS = _count([line for lines in _LINES.values() for line in lines])
_ALL = _COUNTS["before",] / 2
_KINDS = 100
_BEST = 2.0
"""Worth that no place exceeds, so that a common turn does not pay for what stands around it."""
CLASH = -3.0
"""Worth of a word that does not agree with the one before it."""


@lru_cache(maxsize=1 << 16)
def _worth(*places: str) -> float:
    """How much likelier the last of three kinds is behind the others than anywhere, as a logarithm."""
    if clash(*places[1:]):
        return CLASH
    places = tuple(map(bare, places))
    return log(
        sum(
            share * _lift(run[start:])
            for share_of, run in zip(_SHARES, (places, tuple(map(coarse, places))), strict=True)
            for start, share in enumerate(share_of)
        )
    )


def _lift(run: tuple[str, ...]) -> float:
    once = (_COUNTS[run[-1:]] + 1) / (_ALL + _KINDS)
    return (_COUNTS[run] / once + _UNSEEN) / (_COUNTS["before", *run[:-1]] + _UNSEEN)


def stream(text: str) -> list[list[float]]:
    """The worth of each place of each sentence of a text, the sentence's end among them."""
    found = []
    for sentence in sentences(text):
        places = ["", "", *sentence, ""]
        if is_scrap(sentence):
            found.append([CLASH] * 2)
            continue
        found.append([min(_BEST, _worth(*places[place - 2 : place + 1])) for place in range(2, len(places))])
    return found


def worst(worth: Sequence[float], stretch: int) -> float:
    """The mean of the worst stretch of so many places."""
    starts = range(max(1, len(worth) - stretch + 1))
    return min(sum(part) / len(part) for part in (worth[start : start + stretch] for start in starts))


_CLOSING = re.compile(
    r"(?i)(?<=[.!?])\s+(?:atenciosamente|cordialmente)\b[^.!?\n]{0,50}[.!]?\s*$|(?<=\bprezad[oa])\(as?\)"
)


def unnamed(answer: str, prompt: PromptLike) -> str:
    """An answer with the words of its product's name in small letters inside of a sentence, however it writes them
    («Fone Bluetooth com ...»), and without what closes a letter.
    """
    answer = _CLOSING.sub("", answer)
    words = "|".join(map(re.escape, prompt.reference.get("product", "").split()))
    return re.sub(rf"(?i)(?<=[a-zà-ÿ,] )(?:{words})\b", lambda found: found[0].lower(), answer) if words else answer
