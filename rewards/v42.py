"""Reward set `v4.2`: the predecessor's rewards, as its final report describes them.

Their known weakness stays: they look at form and vocabulary, so an answer of the right words in no order can earn
everything.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from rewards.extraction import CHECKS, FIELDS, contradicts
from rewards.parsing import text
from rewards.parsing.objects import find_object
from rewards.parsing.sql import find_query
from rewards.types import Component, PromptLike, TaskReward, clip

BUSINESS_WORDS = text.any_of("""
    client* pedido* produto* venda* receita* faturamento ticket entrega* prazo* atras* avaliac* nota* categoria*
    vendedor* loja* estoque* frete* pagamento* boleto* carta* parcela* desconto* preco* lucro* margem conversao
    recompra* devoluc* cancela* satisf*
    """)
ACTION_WORDS = text.any_of("""
    recomend* suger* sugir* melhor* prioriz* invest* invist* reduz* aument* ampli* elev* implement* otimiz* monitor*
    oferec* foc* revis* rever acompanh* criar crie ajust* negoci* reforc* automat* trein* test* simplific* reativ* lanc*
    confirm* agiliz* respond* envi*
    """)
DOMAIN_WORDS = text.any_of("""
    client* produto* venda* entrega* pedido* avaliac* vendedor* loja* frete* categoria*
    """)
PUSH_WORDS = text.any_of("""
    voce seu sua com para por nao hoje agora frete gratis oferta aproveite desconto ate so chegou compre confira
    """)
GENERIC = re.compile(
    r"confira (?:as )?nossas (?:ofertas|novidades|promocoes)|nao perca|aproveite (?:ja|agora|as ofertas|nossas)|ofertas"
    r" imperdiveis"
    r"|promocao imperdivel|temos novidades|visite nossa loja|clique aqui|oferta especial|caro cliente|ola cliente"
)
FORMAL = re.compile(
    r"\bprezad[oa]s?\b|\batenciosamente\b|\bcordialmente\b|\bestimad[oa]s?\b|\bvenho por meio\b|\bvimos por"
    r" meio\b|\bvossa senhoria\b"
)
STRUCTURE = re.compile(r"^[ \t]*(?:[-*•–][ \t]+\S|#[ \t]*\S|\d{1,2}[.)][ \t]+\S|\*\*[^*\n]+\*\*)", re.MULTILINE)
_KEYWORD = re.compile(
    r"\b(?:SELECT|FROM|WHERE|JOIN|GROUP\s+BY|ORDER\s+BY|HAVING|LIMIT|DISTINCT|UNION|WITH|CASE|COUNT|SUM|AVG|MIN|MAX)\b",
    re.IGNORECASE,
)
_LITERAL = re.compile(r"'[^']*+'|\"[^\"]*+\"|--[^\n]*|/\*.{0,1024}?\*/", re.DOTALL)
_ACCENTED = re.compile(r"[áàâãéêíóôõúüç]", re.IGNORECASE)


def sql_keywords(query: str) -> int:
    """How many different SQL keywords a query uses outside its literals, quoted names and comments."""
    return len({" ".join(word.upper().split()) for word in _KEYWORD.findall(_LITERAL.sub(" ", query))})


def length_share(characters: int) -> float:
    """Insights: 1 from 100 to 800 characters; rises from 0, falls to 0 at 1,600."""
    return clip(min(characters / 100, (1600 - characters) / 800))


def push_length_share(characters: int) -> float:
    """Push: 1 up to 120 characters, then a steep square to 0 at 200."""
    return clip((200 - characters) / 80) ** 2


@dataclass(frozen=True)
class Extraction:
    components: tuple[Component, ...] = (
        Component("extraction.valid_json", 0.30, "a JSON object, after decimals and repair"),
        Component("extraction.fields_present", 0.30, "fields present / 10"),
        Component("extraction.value_checks", 0.40, "type or value checks passed / 9 (a bool is no integer)"),
        Component("extraction.contradiction", -0.20, "sentiment negative with 4 or 5 stars, or positive with 1 or 2"),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        found = find_object(answer)
        if found is None:
            return (0.0, 0.0, 0.0, 0.0)
        checks = sum(name in found and check(found[name]) for name, check in CHECKS.items())
        fields = sum(name in found for name in FIELDS)
        return (
            1.0,
            fields / len(FIELDS),
            checks / len(CHECKS),
            float(contradicts(found.get("sentiment"), prompt.stars)),
        )


@dataclass(frozen=True)
class SqlQa:
    components: tuple[Component, ...] = (
        Component(
            "sql_qa.structure",
            0.30,
            "3 different SQL keywords in a query that sqlglot parses",
            "keywords counted; 1 or 2 earn a third each",
        ),
        Component(
            "sql_qa.query_and_explanation",
            0.25,
            "a query and an explanation beside it",
            "an explanation has 10 words; fewer earn their share",
        ),
        Component("sql_qa.numbers", 0.25, "concrete numbers", "2 figures; 1 earns half"),
        Component(
            "sql_qa.business_words", 0.20, "words of Brazilian e-commerce", "the 30 words; 5 different ones earn all"
        ),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        query = find_query(answer)
        structure = explanation = 0.0
        if query:
            structure = clip(sql_keywords(query.text) / 3)
            explanation = clip(len(text.words(query.prose)) / 10)
        folded = text.fold(answer)
        numbers = clip(len(text.figures(folded)) / 2)
        return (structure, explanation, numbers, clip(text.count_distinct(BUSINESS_WORDS, folded) / 5))


@dataclass(frozen=True)
class Insights:
    components: tuple[Component, ...] = (
        Component("insights.action_words", 0.40, "words that ask for action", "the stems; 4 different ones earn all"),
        Component("insights.length", 0.30, "100 to 800 characters", "linear ramps from 0 and to 0 at 1,600"),
        Component("insights.structure", 0.20, "bullets, headers, numbered items", "3 lines with a mark earn all"),
        Component("insights.domain", 0.10, "mentions clients, products, sales", "the stems; 2 different ones earn all"),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        folded = text.fold(answer)
        return (
            clip(text.count_distinct(ACTION_WORDS, folded) / 4),
            length_share(len(text.squeeze(answer))),
            clip(len(STRUCTURE.findall(answer)) / 3),
            clip(text.count_distinct(DOMAIN_WORDS, folded) / 2),
        )


@dataclass(frozen=True)
class Push:
    components: tuple[Component, ...] = (
        Component(
            "push.length",
            0.50,
            "up to 120 characters, falling to 0 at 200",
            "a square; the hard 0 above 200 is this component's, not the whole reward's",
        ),
        Component(
            "push.portuguese",
            0.30,
            "Portuguese markers",
            "half for an accented letter, half for 3 different words of a list",
        ),
        Component("push.not_generic", 0.20, "no stock phrase", "the phrases; one leaves half; at least 3 words"),
        Component("push.formal", -0.20, "the tone of a formal e-mail", "the words"),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        folded = text.fold(answer)
        markers = 0.5 * bool(_ACCENTED.search(answer)) + 0.5 * clip(text.count_distinct(PUSH_WORDS, folded) / 3)
        creative = clip(1 - len(GENERIC.findall(folded)) / 2) if len(text.words(folded)) >= 3 else 0.0
        return (push_length_share(len(text.squeeze(answer))), markers, creative, float(bool(FORMAL.search(folded))))


TASKS: dict[str, TaskReward] = {"extraction": Extraction(), "sql_qa": SqlQa(), "insights": Insights(), "push": Push()}
