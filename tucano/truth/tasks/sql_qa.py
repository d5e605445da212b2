"""Facts of `sql_qa`: what the query gives on every store of its question, and what is said beside it."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tucano.truth.facts import text_facts
from tucano.truth.figures import figures
from tucano.truth.reading import plain, share, stems, words
from tucano.truth.sql import gives, query_of
from tucano.truth.standing import LEFT
from tucano.truth.types import PromptLike

WIDER = 2
"""Further columns that a nearly right result may have."""
MEANING = {
    "right": "1 where the query gives the right result on every store",
    "wider": "1 where it does, but for two further columns at most",
    "coarser": "1 where it does, but for how it rounds",
    "query": "1 where the answer holds one query that runs",
    "explained": "words beside the query",
    "of the gold": "share of the gold query's words that the query has",
    "of the query": "share of its words that the gold query has",
    "literals": "texts in quotation marks that only one of both has",
    "statements": "semicolons in the query",
    "selects": "SELECTs of the answer",
    "named": "1 where a result has a name of its own",
    "explained of asked": "share of the explanation's stems that the question has",
    "figures told": "figures in the explanation",
    "fenced": "1 where the query stands in a fence",
    "garbled": "1 where figures hang at words («RJ,8,8»)",
}
RISING = frozenset({"right", "wider", "coarser", "query", "stands"})
FALLING = frozenset({"literals", "said twice", "odd places", "garbled"})
WRONG = 0.25
"""What the exact check leaves of an answer whose query gives another result; .85 with further columns, .5 rounded."""
WITH_MORE, ROUNDED = 0.85, 0.5
GARBLED = 0.65
"""What it leaves of an answer with figures that hang at words or at each other by commas («de RJ,8,8»): none of 1,068
answers rated 5 has one, and a trained model wrote dozens."""
_CODE = re.compile(r"[a-z_]{1,30} ?\([^)]{0,99}\)|`[^`]{0,99}`", re.IGNORECASE)
_GARBLED = re.compile(r"[^\W\d_],\d|,\d+,\d|/\d\d\d\d,\d")
_FENCED = re.compile(r"```[ \t]*(?:\w+[ \t]*\n)?(?:sql\b)?\s*(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_BARE = re.compile(r"\b(?:SELECT|WITH)\b.*?(?:;|\n[ \t]*\n|\Z)", re.DOTALL | re.IGNORECASE)
_TOKEN = re.compile(r"[a-z_]+|'[^']*'")
_SELECT = re.compile(r"\bselect\b", re.IGNORECASE)


def facts(prompt: PromptLike, answer: str, databases: Path | None) -> dict[str, float]:
    """ValueError without `databases`, and where the gold query does not run."""
    gold = str(prompt.reference["sql"])
    query = query_of(prompt.reference, answer, databases)
    fenced = _FENCED.search(answer)
    bare = _BARE.search(answer)
    shown = fenced[1] if fenced else bare[0] if bare else ""
    prose = (_FENCED.sub(" ", answer) if fenced else _BARE.sub(" ", answer, count=1)).strip()
    ours, theirs = (frozenset(_TOKEN.findall(text.lower())) for text in (shown, gold))
    right = query is not None and databases is not None and gives(prompt.reference, query, databases)
    return {
        **text_facts(prompt.user, answer, prose),
        "right": float(right),
        "wider": float(right or (query is not None and gives(prompt.reference, query, _of(databases), WIDER))),
        "coarser": float(right or (query is not None and gives(prompt.reference, query, _of(databases), 0, True))),
        "query": float(query is not None),
        "explained": float(len(words(prose))),
        "of the gold": share(theirs, ours),
        "of the query": share(ours, theirs),
        "literals": float(len({one for one in ours ^ theirs if one.startswith("'")})),
        "statements": float(shown.count(";")),
        "selects": float(len(_SELECT.findall(answer))),
        "named": float(" as " in shown.lower()),
        "explained of asked": share(stems(prose), stems(prompt.user)),
        "figures told": float(len(figures(plain(prose)))),
        "fenced": float(fenced is not None),
        "garbled": float(_GARBLED.search(_CODE.sub("", prose)) is not None),
    }


def exact(told: Mapping[str, float]) -> float:
    """What is left by what the query gives, by the answer's own word against it, and by figures as in no sentence."""
    given = 1.0 if told["right"] else WITH_MORE if told["wider"] else ROUNDED if told["coarser"] else WRONG
    return given * (1.0 if told["stands"] else LEFT) * (GARBLED if told["garbled"] else 1.0)


def is_known(reference: Mapping[str, Any]) -> bool:
    return bool(reference.get("sql"))


def _of(databases: Path | None) -> Path:
    assert databases is not None, "query_of has refused it"
    return databases
