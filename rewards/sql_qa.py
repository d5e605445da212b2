"""The reward of sql_qa: does the query give the gold query's rows on every store, and is it explained?

`total` is query (.05), explanation (.15), names (.10), running (.05) and result (.65), all times a gate: no repetition,
Portuguese beside the query, one statement, not taken back.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sqlglot import exp

from rewards.parsing import text
from rewards.parsing.sql import Query, find_query, has_another, names, parse, run_query
from rewards.parsing.sql_readings import readings
from rewards.parsing.sql_results import answers_gold
from rewards.parsing.text import fold, originality, portuguese, words
from rewards.types import Component, PromptLike, clip, filled
from rewards.wording.beside import retracts

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
MOST_KINDS = 200
"""A column with more values names things, not kinds."""
FEWEST_LETTERS = 5


@dataclass(frozen=True)
class SqlQa:
    components: tuple[Component, ...] = (
        Component("sql_qa.query", 0.05, "a query that sqlglot parses and that reads a table"),
        Component(
            "sql_qa.explanation",
            0.15,
            "a Portuguese explanation beside the query",
            "10 words earn all, x the square of the names' F1, half beside a wrong query; none for prose"
            " that tells of other states, months or kinds than question and query, or has figures that hang at"
            " words («de RJ,8,8»), which leaves 65 % of the result",
        ),
        Component(
            "sql_qa.names",
            0.10,
            "tables and columns: F1 against those of the gold query",
            "the square of F1, so that naming everything does not pay",
        ),
        Component("sql_qa.executes", 0.05, "the query runs within the limits, x the names' F1"),
        Component(
            "sql_qa.result",
            0.65,
            "its result equals the gold result",
            "85 % with more columns or other decimals, 87 % without names, 60 % unexplained; all x .25 for two",
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
        mistold |= has_hanging_figures(query.prose)
        mistold |= bool(gold) and tells_of_other_kinds(query.prose, prompt, databases)
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
    if not answers_gold(prompt.reference, sql, databases).ran:
        return False, 0.0
    meant = list(readings(prompt.reference, prompt.user))
    if any(answers_gold(one, sql, databases).equal for one in meant):
        return True, 1.0
    is_near = not leaves_open(prompt.reference["sql"], sql)
    return True, NEAR * (is_near and any(answers_gold(one, sql, databases, near=True).equal for one in meant))


def leaves_open(gold: str, sql: str) -> bool:
    """Whether it stays open which figure answers: more different aggregates of a kind than the gold query has and than
    one, or two of others in front."""
    asked, told = _aggregates(gold), _aggregates(sql)
    kinds = Counter(kind for kind, _ in asked)
    is_doubled = any(count > max(1, kinds[kind]) for kind, count in Counter(kind for kind, _ in told).items())
    is_behind = bool(told) and told[0][0] not in kinds and " GROUP BY " not in gold
    return is_doubled or len(told) - len(asked) > (1 if is_behind else 2)


@lru_cache(maxsize=4096)
def _aggregates(sql: str) -> tuple[tuple[str, str], ...]:
    """The different aggregates of a query, each by its kind and by what it is worked out from."""
    tree = parse(sql)
    nodes = tree.find_all(exp.AggFunc, bfs=False) if tree is not None else ()
    wholes = ((node, node.find_ancestor(exp.Filter) or node.find_ancestor(exp.Subquery) or node) for node in nodes)
    return tuple(dict.fromkeys((type(node).__name__, whole.sql()) for node, whole in wholes))


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


_CALL = re.compile(r"\w{1,30} ?\([^()\n]{0,99}\)|`[^`\n]{0,99}`")
_HANGING = re.compile(r"[a-z],\d|\d,\d+,\d|/\d{4},\d")


def has_hanging_figures(prose: str) -> bool:
    """Whether figures hang at words or at each other by commas («de RJ,8,8», «03/2018,5»), code left out: training
    found that such a chain is one word, which makes an explanation long. Of 1,068 answers rated 5 none has one.
    """
    return bool(_HANGING.search(fold(_CALL.sub(" ", prose))))


_NOT_SO = re.compile(r"\b(?:consulta|query|sql|select|ela) nao \w+\b[^.,;:\n]*")


def denies_all(prose: str) -> bool:
    """Whether prose says of a query what it does not do («A consulta não conta os pagamentos»), and nothing else."""
    rest, denied = _NOT_SO.subn(" ", fold(prose))
    return denied > 0 and len(words(rest)) <= 2


_STATES = {
    "mato grosso do sul": "MS", "rio grande do norte": "RN", "rio grande do sul": "RS", "distrito federal": "DF",
    "espirito santo": "ES", "rio de janeiro": "RJ", "santa catarina": "SC", "minas gerais": "MG", "mato grosso": "MT",
    "pernambuco": "PE", "sao paulo": "SP", "tocantins": "TO", "amazonas": "AM", "maranhao": "MA", "rondonia": "RO",
    "alagoas": "AL", "paraiba": "PB", "roraima": "RR", "sergipe": "SE", "parana": "PR", "bahia": "BA", "ceara": "CE",
    "goias": "GO", "amapa": "AP", "piaui": "PI", "acre": "AC", "estado: para": "PA",
}  # fmt: skip
_STATE = re.compile(rf"\b(?:{'|'.join(_STATES)})\b")
_MONTHS = ("jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set", "out", "nov", "dez")
_MONTH = re.compile(
    rf"\b(?:(\d{{4}})-(\d\d)|(\d\d)/(\d{{4}})|({'|'.join(_MONTHS)})[a-z]*\.?(?: de | ?/ ?| )(\d{{4}}))\b"
)
_DENIED = re.compile(
    r"(?i)\b(?:nao|nem|exceto|salvo|alem|menos|fora|sem|nenhum\w*|diferente|troque|trocar|em vez)\b[^.;\n]{0,40}"
)
_UNDER = (exp.Not, exp.NEQ, exp.Or, exp.Case, exp.If, exp.Subquery, exp.CTE, exp.Having)
"""What asks for a kind below one of these may rightly be explained by others."""


def tells_of_others(prose: str, about: str) -> bool:
    """Whether a text names states («SP», «São Paulo») or months («2018-05», «05/2018», «maio de 2018») that it is not
    about, and does not leave them out."""
    told, known = (_told_of(some) for some in (_DENIED.sub(" ", re.sub("[ãÃ]", "a", prose)), about))
    return any(there and not found <= there for found, there in zip(told, known, strict=True))


def _told_of(told: str) -> tuple[set[str], set[str]]:
    folded = fold(told)
    states = {code for code in re.findall(r"\b[A-Z]{2}\b", told) if code in _STATES.values()}
    months = {
        f"{year or other or last}-{month or one or _MONTHS.index(name) + 1:>02}"
        for year, month, one, other, name, last in _MONTH.findall(folded)
    }
    return states | {_STATES[name] for name in _STATE.findall(folded)}, months


def tells_of_other_kinds(prose: str, prompt: PromptLike, databases: Path | None) -> bool:
    """Whether a text names a kind (a category, a way to pay) of a column of which the gold query asks for others by
    name, and none that it or the question asks for."""
    gold = prompt.reference["sql"]
    store = databases / prompt.reference["database"] if databases is not None else None
    told = words(_DENIED.sub(" ", fold(prose)))
    for asked, others in _kinds(gold, store) if store is not None else ():
        if any(_names(value, told) for value in others) and not any(_names(value, told) for value in asked):
            return not any(_names(value, told) for value in others if _names(value, words(prompt.user)))
    return False


def _names(value: str, told: list[str]) -> bool:
    """Whether a text has the words of a value, long ones with any ending: «cancelado», «cancelados»."""
    return all(any(one.startswith(word[: max(4, len(word) - 2)]) for one in told) for word in words(value))


@lru_cache(maxsize=1024)
def _kinds(gold: str, store: Path) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """For each column that a gold query asks for by name: what it asks, and the store's other values."""
    tree = parse(gold)
    asked: dict[str, set[str]] = {}
    for node in tree.find_all(exp.EQ, exp.In) if tree is not None else ():
        sides = [node.this, *node.expressions, node.args.get("expression")]
        column = next((side.name for side in sides if isinstance(side, exp.Column)), "")
        texts = {side.name for side in sides if isinstance(side, exp.Literal) and side.is_string}
        if column and texts and not node.find_ancestor(*_UNDER):
            asked.setdefault(column, set()).update(texts)
    found = []
    for column, texts in asked.items():
        values: set[str] = set()
        for table in {table.name for table in tree.find_all(exp.Table)} if tree is not None else ():
            result = run_query(store, f"SELECT DISTINCT [{table}].[{column}] FROM [{table}] LIMIT {MOST_KINDS + 1}")
            if result is not None and len(result.rows) <= MOST_KINDS:
                values |= {value for (value,) in result.rows if isinstance(value, str) and _is_kind(value)}
        found.append((frozenset(texts), frozenset(values - texts)))
    return tuple(found)


def _is_kind(value: str) -> bool:
    """Shorter values, like «moda», may be any word of an explanation; months and codes are no words."""
    return len(value) >= FEWEST_LETTERS and not any(letter.isdigit() for letter in value)
