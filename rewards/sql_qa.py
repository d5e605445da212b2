"""The reward of sql_qa: does the query give the gold query's rows on every store, and is it explained?

`total` is query (.05), explanation (.15), names (.10), running (.05) and result (.65), all times a gate: no repetition,
Portuguese beside the query, one statement, not taken back.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sqlglot import exp

from rewards.parsing import text
from rewards.parsing.sql import Query, find_query, has_another, names, parse
from rewards.parsing.sql_results import answers_gold
from rewards.parsing.text import fold, originality, portuguese, word_set, words
from rewards.types import Component, PromptLike, clip, filled
from rewards.wording.beside import retracts

_SOURCE = "DESIGN, tasks and rewards"
NEAR = 0.85
"""Credit of a result that is the gold one but for further columns or other decimals."""
NAMELESS = 0.87
"""Credit of a query with a column that is worked out and has no name: a blemish to raters (of 153 right ones five are
rated 5; of 261 with names 226)."""
MISTOLD = 0.65
UNEXPLAINED = 0.6
WRONGLY = 0.5
NOT_ONE = 0.25
"""Credit of a right query beside which other states or months are told, of one without a word of explanation, of the
explanation of a query with another result, and of two queries."""
FEWEST_WORDS = 10
"""Words of an explanation that earns all."""


@dataclass(frozen=True)
class SqlQa:
    components: tuple[Component, ...] = (
        Component("sql_qa.query", 0.05, "a query that sqlglot parses and that reads a table", _SOURCE, "weight"),
        Component(
            "sql_qa.explanation",
            0.15,
            "a Portuguese explanation beside the query",
            _SOURCE,
            "weight; 10 words earn all, x the square of the names' F1, half beside a wrong query; none for prose that"
            " tells of other states or months than question and query, which leaves 65 % of the result",
        ),
        Component(
            "sql_qa.names",
            0.10,
            "tables and columns: F1 against those of the gold query",
            _SOURCE,
            "weight; the square of F1, so that naming everything does not pay",
        ),
        Component("sql_qa.executes", 0.05, "the query runs within the limits, x the names' F1", _SOURCE, "weight"),
        Component(
            "sql_qa.result",
            0.65,
            "its result equals the gold result",
            _SOURCE,
            "weight; 85 % with more columns or other decimals, 87 % without names, 60 % unexplained; all x .25 for two",
        ),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        query = find_query(answer)
        if query is None or not (gate := _is_answer(query, prompt)):
            return (0.0,) * len(self.components)
        gold = names(prompt.reference.get("sql", ""))
        named = names(query.text)
        overlap = 2 * len(named & gold) / (len(named) + len(gold)) if gold else 0.0
        ran, right = _result(query.text, prompt, databases) if gold else (False, 0.0)
        mistold = tells_of_others(query.prose, f"{prompt.user} {query.text}")
        explained = 0.0 if mistold else explains(query.prose, prompt)
        told = MISTOLD if mistold else UNEXPLAINED + (1 - UNEXPLAINED) * explained
        shares = (
            gate,
            gate * explained * (overlap**2 * (1.0 if right else WRONGLY) if gold else 1.0),
            gate * overlap**2,
            gate * overlap * ran,
            gate * right * told * naming(query.text),
        )
        truths = frozenset({"sql_qa.names", "sql_qa.executes", "sql_qa.result"})
        return filled(shares, self.components, truths, bool(gold))


def _is_answer(query: Query, prompt: PromptLike) -> float:
    """How much a query is one answer of its own, in [0, 1]: it reads a table, stands alone, and is not taken back."""
    if not any(name.startswith("table:") for name in names(query.text)) or query.text in prompt.user:
        return 0.0
    if retracts(query.prose) or retracts(query.comments) or denies_all(query.prose):
        return 0.0
    prose = words(query.prose)
    return text.variety(prose) * (1 - 0.75 * text.foreign(prose)) * (NOT_ONE if has_another(query) else 1.0)


def _result(sql: str, prompt: PromptLike, databases: Path | None) -> tuple[bool, float]:
    """Whether a query runs, and how right its result is: 1, `NEAR` or 0."""
    outcome = answers_gold(prompt.reference, sql, databases)
    if outcome.equal or not outcome.ran:
        return outcome.ran, float(outcome.equal)
    return True, NEAR * answers_gold(prompt.reference, sql, databases, near=True).equal


@lru_cache(maxsize=4096)
def naming(sql: str) -> float:
    """Credit of a query for the names of the columns that it works out («AVG(nota) AS nota_media»)."""
    tree = parse(sql)
    columns = tree.selects if isinstance(tree, exp.Query) else []
    is_bare = any(not isinstance(column, exp.Alias) and column.find(exp.AggFunc) for column in columns)
    return NAMELESS if is_bare else 1.0


def explains(prose: str, prompt: PromptLike) -> float:
    """How much the prose beside a query explains: Portuguese words of its own, ten for all."""
    tokens = words(prose)
    return clip(len(tokens) / FEWEST_WORDS) * portuguese(tokens) * (originality(tokens, prompt.user) > 0)


_NOT_SO = re.compile(r"\b(?:consulta|query|sql|select|ela) nao \w+\b[^.,;:\n]*")


def denies_all(prose: str) -> bool:
    """Whether prose says of a query what it does not do («A consulta não conta os pagamentos»), and nothing else."""
    rest, denied = _NOT_SO.subn(" ", fold(prose))
    return denied > 0 and len(words(rest)) <= 2


_STATES = word_set("AC AL AP AM BA CE DF ES GO MA MT MS MG PA PB PR PE PI RJ RN RS RO RR SC SP SE TO")
_NAMED = {
    "rio de janeiro": "RJ", "sao paulo": "SP", "minas gerais": "MG", "bahia": "BA", "parana": "PR", "ceara": "CE",
    "pernambuco": "PE", "rio grande do sul": "RS", "santa catarina": "SC", "goias": "GO", "espirito santo": "ES",
    "distrito federal": "DF", "amazonas": "AM", "rio grande do norte": "RN", "mato grosso": "MT", "maranhao": "MA",
}  # fmt: skip
_MONTHS = ("jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set", "out", "nov", "dez")
_MONTH = re.compile(rf"\b(?:(\d{{4}})-(\d\d)|(\d\d)/(\d{{4}})|({'|'.join(_MONTHS)})[a-z]*\.?(?: de |/| )(\d{{4}}))\b")


def tells_of_others(prose: str, about: str) -> bool:
    """Whether a text names states («SP», «São Paulo») or months («2018-05», «05/2018», «maio de 2018»), and none of
    those that it is about."""
    return any(
        told and known and not told & known for told, known in zip(_told_of(prose), _told_of(about), strict=True)
    )


def _told_of(told: str) -> tuple[set[str], set[str]]:
    states = set(_STATES).intersection(re.findall(r"\b[A-Z]{2}\b", told))
    folded = fold(told)
    months = {
        f"{year or other or last}-{month or one or _MONTHS.index(name) + 1:>02}"
        for year, month, one, other, name, last in _MONTH.findall(folded)
    }
    return states | {code for name, code in _NAMED.items() if name in folded}, months
