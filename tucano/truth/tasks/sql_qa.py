"""Truth of `sql_qa`: the one query that answers the question, with an explanation in plain words."""

import re
from pathlib import Path

from tucano.truth.fluency import Norm, fluency
from tucano.truth.reading import words
from tucano.truth.single import is_single
from tucano.truth.sql import right_answer
from tucano.truth.types import PromptLike

UNEXPLAINED = 0.6
"""A right query without a readable explanation."""
EXPLANATION = Norm(mean=-1.0, odd=0.62)
"""One or two sentences, with the names of columns among their words."""
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_BARE = re.compile(r"\b(?:SELECT|WITH)\b[^;]*?(?:;|\n[ \t]*\n|\Z)", re.IGNORECASE)


def truth(prompt: PromptLike, answer: str, databases: Path | None) -> float | None:
    """1 for the right query with an explanation, .6 without one; 0 for a wrong one, for several, for one taken back.

    ValueError without `databases`.
    """
    if not prompt.reference.get("sql"):
        return None
    right = right_answer(prompt.reference, answer, databases)
    block = _FENCED if "```" in answer else _BARE
    prose = block.sub(" ", answer).strip()
    if not right or len(block.findall(answer)) != 1 or not is_single(prose):
        return 0.0
    return 1.0 if len(words(prose)) >= 4 and fluency(prose, EXPLANATION) >= 0.4 else UNEXPLAINED
