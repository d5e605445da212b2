"""Truth of `sql_qa`: the one query that answers the question, with an explanation in plain words."""

import re
from pathlib import Path

from tucano.truth.fluency import Norm, fluency
from tucano.truth.reading import plain, words
from tucano.truth.single import stands
from tucano.truth.sql import query_of, right_answer
from tucano.truth.types import PromptLike
from tucano.truth.wording.places import tells_of_another
from tucano.truth.wording.sql_meant import naming, nearness
from tucano.truth.wording.values import tells_of_another_value

UNEXPLAINED = 0.6
"""A right query without a readable explanation."""
MISTOLD = 0.5
"""What is left beside an explanation of another state, month or value of a column."""
EXPLANATION = Norm(mean=-1.0, odd=0.62)
"""One or two sentences, with the names of columns among their words."""
SHORTEST = 4
"""Words of an explanation."""
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LABEL = re.compile(r"```[ \t]*(?:(?:text|plaintext|txt|csv|tsv|resultado|output)[ \t]*)?\r?\n", re.IGNORECASE)
_SQL = re.compile(r"\b(?:SELECT|WITH|FROM|INSERT|UPDATE|DELETE|DROP|CREATE|ALTER|PRAGMA)\b", re.IGNORECASE)
LONGEST_ROW = 4
"""Words of a row of a result."""
_BARE = re.compile(r"\b(?:SELECT|WITH)\b[^;]{0,1024}?\bFROM\b[^;]*?(?:;|\n[ \t]*\n|\Z)", re.IGNORECASE)
"""A query without a fence; «o SELECT de fora conta» only speaks of one."""


def truth(prompt: PromptLike, answer: str, databases: Path | None) -> float | None:
    """1 for the right query with an explanation, .6 without one, .85 for further columns, at most .25 for another one;
    0 for several, for one taken back. .88 is left where sums and means have no names, half where the explanation tells
    of another state, month or category.

    ValueError without `databases`.
    """
    if not prompt.reference.get("sql"):
        return None
    right = float(right_answer(prompt.reference, answer, databases))
    block = _FENCED if "```" in answer else _BARE
    prose = block.sub(" ", answer).strip()
    shown = [found for found in block.findall(answer) if not _is_result(found)]
    if len(shown) != 1 or not stands(prose) or _is_denied(prose):
        return 0.0
    if databases and (query := query_of(prompt.reference, answer, databases)):
        right = (right or nearness(prompt.reference, query, databases, prompt.user)) * naming(query)
    told = 1.0 if _explains(prose) else UNEXPLAINED
    if right and databases and _mistold(prose, prompt, databases):
        return right * MISTOLD
    return right * told


def _is_result(block: str) -> bool:
    """Whether a block shows a table of figures and no SQL: nobody knows the result yet, so it counts for nothing."""
    label = _LABEL.match(block)
    if label is None or _SQL.search(block):
        return False
    rows = block[label.end() :].splitlines()
    return any(map(str.isdigit, block)) and all(len(words(row)) <= LONGEST_ROW for row in rows)


_SUBJECT = r"(?:\A|(?<=[.!?:\n])) {0,2}(?:(?:(?:est|ess)?[ae] |o )?(?:consulta|query|sql|codigo|comando) |el[ae] )?"
_EXPLAINING = (
    r"(?:cont[ae]|som[ae]|calcul[ae]|mostr[ae]|busc[ae]|list[ae]|retorn[ae]|devolv[ae]|traz|procur[ae]|pega)m?\b"
)
_NOT_EXPLAINING = re.compile(rf"{_SUBJECT}nao {_EXPLAINING}[^.!?\n]*")
_BUT = re.compile(r"\b(?:mas|sim|apenas|so|somente|porem|nem|duas vezes)\b")


def _is_denied(prose: str) -> bool:
    """Whether the one thing that an explanation says is what the query does not do («A consulta não conta os pedidos»).
    Beside anything else that is a note, and so is what it does instead."""
    told = plain(prose)
    denied = _NOT_EXPLAINING.search(told)
    if denied is None or _BUT.search(denied[0]):
        return False
    return len(words(told[: denied.start()] + told[denied.end() :])) < SHORTEST


def _explains(prose: str) -> bool:
    """Whether an explanation reads as a whole, or half of its words do in lines of their own (lists, tables)."""
    count = len(words(prose))
    rows = [row for row in re.split(r"[\n|]", prose) if fluency(row, EXPLANATION) >= 0.4]
    return count >= SHORTEST and (
        fluency(prose, EXPLANATION) >= 0.4 or 2 * sum(len(words(row)) for row in rows) >= count
    )


def _mistold(prose: str, prompt: PromptLike, databases: Path) -> bool:
    gold = prompt.reference["sql"]
    store = databases / prompt.reference["database"]
    return tells_of_another(prose, prompt.user, gold) or tells_of_another_value(prose, prompt.user, gold, store)
