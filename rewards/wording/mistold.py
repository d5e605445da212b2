"""What the text beside a query is worth, and whether it speaks of something else: of another state or month, or of
another kind, such as a category or a way of payment, where the gold query asks for one by `column = 'text'` or `IN`.
"""

import re
from functools import lru_cache
from pathlib import Path

from sqlglot import exp

from rewards.parsing.prose import query_stands
from rewards.parsing.sql import FREE_STEPS, Query, parse, run_query
from rewards.parsing.text import fold, originality, portuguese, word_set, words
from rewards.types import PromptLike, clip
from rewards.wording.beside import denies_all, retracts, without_notes

FEWEST_WORDS = 10
"""Words of an explanation that earns all."""
MOST_KINDS = 200
"""A column with more values names things, not kinds."""
FEWEST_LETTERS = 5
"""Shorter values, like «moda» or «loja», may be any word of an explanation. They count where they are asked for."""
INFLECTED = 6
"""Letters from which on a word counts with any ending: «cancelado», «cancelados»."""
_UNDER = (exp.Not, exp.NEQ, exp.Or, exp.Case, exp.If, exp.Subquery, exp.CTE, exp.Having)
"""What asks for a kind below one of these may rightly be explained by others."""
_DENIED = r"\b(?:nao|nem|sem|exceto|fora|menos|alem|salvo|nenhum\w*|diferente\w*)(?: [\w-]+){0,3} $"
_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d)?$")


def explains(prose: str, prompt: PromptLike) -> float:
    """How much the prose beside a query explains: Portuguese words of its own, ten for all."""
    tokens = words(prose)
    own = portuguese(tokens) * (originality(tokens, prompt.user) > 0)
    return clip(len(tokens) / FEWEST_WORDS) * own


def takes_itself_back(query: Query) -> bool:
    """Whether prose or comments say of a query that it is none to use, or prose only what it does not do."""
    prose = without_notes(query.prose)
    return not query_stands(prose) or retracts(f"{prose}\n{without_notes(query.comments)}") or denies_all(prose)


def mistells(query: Query, prompt: PromptLike, databases: Path | None) -> bool:
    """Whether an answer's prose is about others than its question and its query."""
    if tells_of_others(query.prose, f"{prompt.user} {query.text}"):
        return True
    gold = prompt.reference.get("sql")
    database = prompt.reference.get("database")
    if not gold or not database or databases is None:
        return False
    return tells_of_other_kinds(query.prose, prompt.user, gold, databases / database)


def tells_of_other_kinds(text: str, question: str, gold: str, database: Path) -> bool:
    """Whether a text names kinds of a column that the gold query asks for by name, and none of those that it asks for
    or the question names.
    """
    prose = _spaced(text)
    about = _spaced(question)
    for asked, others in _kinds(gold, database):
        told = {value for value, pattern in others.items() if _told(pattern, prose)}
        known = {value for value, pattern in others.items() if pattern.search(about)}
        if told - known and not told & known and not any(pattern.search(prose) for pattern in asked):
            return True
    return False


def _told(pattern: re.Pattern[str], spaced: str) -> bool:
    """Whether a value stands in a text and is not denied within the hundred characters before it."""
    found = pattern.finditer(spaced)
    return any(not re.search(_DENIED, spaced[max(0, one.start() - 100) : one.start()]) for one in found)


@lru_cache(maxsize=1024)
def _kinds(gold: str, database: Path) -> tuple[tuple[list[re.Pattern[str]], dict[str, re.Pattern[str]]], ...]:
    """For each column that the gold query asks for: patterns of what it asks, and of the store's other values."""
    tree = parse(gold)
    if tree is None:
        return ()
    tables = {table.name for table in tree.find_all(exp.Table)}
    asked: dict[str, set[str]] = {}
    for node in tree.find_all(exp.EQ, exp.In):
        sides = [node.this, *node.expressions, node.args.get("expression")]
        texts = {_spaced(side.name) for side in sides if isinstance(side, exp.Literal) and side.is_string}
        column = next((side.name for side in sides if isinstance(side, exp.Column)), "")
        if texts and column and not node.find_ancestor(*_UNDER):
            asked.setdefault(column, set()).update(texts)
    return tuple(
        (
            [_pattern(text) for text in texts],
            {
                value: _pattern(value)
                for table in tables
                for value in _values(database, table, column)
                if not any(set(value.split()) <= set(text.split()) for text in texts)
            },
        )
        for column, texts in asked.items()
    )


def _pattern(value: str) -> re.Pattern[str]:
    """A value as words of a text, long ones with any ending, «alimentos bebidas» also as «alimentos e bebidas»."""
    words = [
        rf"{re.escape(word.rstrip('s')[:-1])}\w{{0,3}}"
        if len(word) >= INFLECTED and word.isalpha()
        else re.escape(word)
        for word in value.split()
    ]
    return re.compile(rf"(?<!\w){' (?:(?:e|de|da|do) )?'.join(words)}(?!\w)")


def _values(database: Path, table: str, column: str) -> set[str]:
    # [t].[c] is never taken for a text, as "c" is where the table has no such column
    sql = f"SELECT DISTINCT [{table}].[{column}] FROM [{table}] WHERE typeof([{table}].[{column}]) = 'text'"
    result = run_query(database, f"{sql} LIMIT {MOST_KINDS + 1}", 10 * FREE_STEPS)
    if result is None or len(result.rows) > MOST_KINDS:
        return set()
    values = {_spaced(value) for (value,) in result.rows}
    return {value for value in values if len(value) >= FEWEST_LETTERS and not _DATE.match(value)}


def _spaced(text: str) -> str:
    return " ".join(re.sub(r"[_.,;:!?()\"']", " ", fold(text)).split())


_STATES = word_set("ac al ap am ba ce df es go ma mt ms mg pa pb pr pe pi rj rn rs ro rr sc sp se to")
_STATE_NAMES = {
    "AC": "Acre", "AL": "Alagoas", "AP": "Amapá", "AM": "Amazonas", "BA": "Bahia", "CE": "Ceará",
    "DF": "Distrito Federal", "ES": "Espírito Santo", "GO": "Goiás", "MA": "Maranhão", "MT": "Mato Grosso",
    "MS": "Mato Grosso do Sul", "MG": "Minas Gerais", "PB": "Paraíba", "PR": "Paraná",
    "PE": "Pernambuco", "PI": "Piauí", "RJ": "Rio de Janeiro", "RN": "Rio Grande do Norte",
    "RS": "Rio Grande do Sul", "RO": "Rondônia", "RR": "Roraima", "SC": "Santa Catarina", "SP": "São Paulo",
    "SE": "Sergipe", "TO": "Tocantins",
}  # fmt: skip
_CODES = {fold(name): code for code, name in _STATE_NAMES.items()}
_STATE = re.compile(rf"\b(?:{'|'.join(sorted(_CODES, key=len, reverse=True))})\b")
_PARA = re.compile(r"\bPará\b")
"""The 27th, which is another word without its accent."""
_MONTH = re.compile(r"\b(?:(\d{4})-(\d\d)|(\d\d)/(\d{4}))\b")
_MONTHS = (
    *("janeiro", "fevereiro", "marco", "abril", "maio", "junho"),
    *("julho", "agosto", "setembro", "outubro", "novembro", "dezembro"),
)
_MONTH_IN_WORDS = re.compile(
    rf"\b({'|'.join(_MONTHS)}|(?:{'|'.join(name[:3] for name in _MONTHS)})(?=\W)) ?/? ?(?:de )?(\d{{4}})\b"
)
_BEGINNINGS = [name[:3] for name in _MONTHS]
_OTHERS_DENIED = re.compile(
    r"\b(?i:(?:nao|exceto|menos|salvo|em vez de|diferente de|sem (?:contar|incluir|considerar))(?: \w+){0,4}|sem)"
    r" (?:\d{4}-\d\d\b|[A-Z]{2}\b(?:(?:,| nem| e| ou) [A-Z]{2}\b)*|[A-Z][\w ]{2,18}|(?:de )?[a-zç]{4,9} de \d{4}\b)"
    r"|\b(?i:troque|trocar|substitua) [^.;\n]{1,40} por \S{1,20}"
)
"""Who is left out («e não para São Paulo»), or could be put in («troque 'MG' por 'SP'»)."""


def tells_of_others(text: str, about: str) -> bool:
    """Whether a text names states («SP», «São Paulo») or months («2018-05», «05/2018», «maio de 2018») where it is
    about others."""
    told = _told_of(_OTHERS_DENIED.sub("", text.replace("não", "nao").replace("Não", "Nao")))
    return any(known and not found <= known for found, known in zip(told, _told_of(about), strict=True))


def _told_of(text: str) -> tuple[set[str], set[str]]:
    coded = re.findall(r"\b[A-Z]{2}\b", _PARA.sub("PA", text))
    states = {word for word in coded if word.lower() in _STATES} | {_CODES[name] for name in _STATE.findall(fold(text))}
    months = {f"{year or other}-{month or one}" for year, month, one, other in _MONTH.findall(text)}
    months |= {f"{year}-{_BEGINNINGS.index(name[:3]) + 1:02d}" for name, year in _MONTH_IN_WORDS.findall(fold(text))}
    return states, months
