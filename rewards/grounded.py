"""Reward set `grounded`: form, plus truth where a prompt's reference holds some; dense, and hard to please without an
answer.

Credit for form is multiplied by how much the text is an answer at all: Portuguese, not the same again and again, not
the prompt copied. Where a reference is empty nothing is known to be true, and the credit for form is scaled up to fill
[0, 1].
"""

from dataclasses import dataclass
from pathlib import Path

from rewards import v42
from rewards.extraction import CHECKS, FIELDS, agreement
from rewards.parsing import text
from rewards.parsing.claims import insight_figures, names_product, push_figures, push_inventions
from rewards.parsing.objects import find_object
from rewards.parsing.sql import answers_gold, find_query, names
from rewards.types import Component, PromptLike, TaskReward, clip

_SOURCE = "DESIGN, tasks and rewards"
_DESCRIPTORS = text.word_set(
    "string str text texto boolean bool booleano integer int inteiro number numero null none valor value categoria"
    " resumo reclamacao"
)
_URGES = text.any_of("""
    aproveit* garant* compr* confir* corr* pegue leve descubr* experiment* volt* vem venha veja entr* finaliz* renov*
    gratis desconto* off cupom ultim* so ate hoje agora chegou estoque frete oferta promocao
    """)


def filled(
    shares: tuple[float, ...], components: tuple[Component, ...], truths: frozenset[str], known: bool
) -> tuple[float, ...]:
    """The shares as they are where truth is known; else those of positive form components scaled so that their weights
    fill 1.
    """
    if known:
        return shares
    form = sum(c.weight for c in components if c.weight > 0 and c.name not in truths)
    return tuple(share / form if c.weight > 0 else share for c, share in zip(components, shares, strict=True))


def _is_answer(tokens: list[str], prompt: PromptLike) -> float:
    """How much a text is an answer at all, in [0, 1]: Portuguese x variety x originality."""
    return text.portuguese(tokens) * text.variety(tokens) * text.originality(tokens, prompt.user)


@dataclass(frozen=True)
class Extraction:
    components: tuple[Component, ...] = (
        Component("extraction.valid_json", 0.15, "a JSON object with at least one usable field", _SOURCE, "weight"),
        Component(
            "extraction.fields_present",
            0.15,
            "usable fields / 10",
            _SOURCE,
            "weight; the field's own name, a type's name or foreign text is unusable",
        ),
        Component(
            "extraction.value_checks", 0.20, "type or value checks passed by usable fields / 9", _SOURCE, "weight"
        ),
        Component(
            "extraction.field_match",
            0.50,
            "mean agreement with the reference's fields",
            _SOURCE,
            "weight; texts by word F1, stars one off by half; summary left out",
        ),
        Component(
            "extraction.contradiction",
            -0.20,
            "the sentiment contradicts 4 or 5, 1 or 2 stars, or is none",
            _SOURCE,
            "no valid sentiment counts too, so that spoiling a field never pays",
        ),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        found = find_object(answer) or {}
        usable = {name: found[name] for name in FIELDS if name in found and _is_usable(name, found[name])}
        tokens = text.words(answer) if usable else []  # else no credit is left to weigh, however long the text
        variety = text.variety(tokens) if text.originality(tokens, prompt.user) > 0 else 0.0
        expected = {name: value for name, value in prompt.reference.get("fields", {}).items() if name != "summary"}
        agreed = [agreement(name, usable[name], value) if name in usable else 0.0 for name, value in expected.items()]
        shares = (
            variety * bool(usable),
            variety * len(usable) / len(FIELDS),
            variety * sum(name in usable and check(usable[name]) for name, check in CHECKS.items()) / len(CHECKS),
            variety * sum(agreed) / len(agreed) if agreed else 0.0,
            float(not _fits_stars(found.get("sentiment"), prompt.stars)),
        )
        return filled(shares, self.components, frozenset({"extraction.field_match"}), bool(expected))


def _is_usable(name: str, value: object) -> bool:
    """Whether a value may be an answer: not the schema's own words (`"category": "category"`, `"a|b"`), not in a
    foreign language.
    """
    if not isinstance(value, str):
        return True
    folded = text.fold(value).strip(" <>{}[]()")
    return (
        bool(folded)
        and folded != name
        and folded not in _DESCRIPTORS
        and "|" not in folded
        and text.foreign(text.words(value)) < 0.5
    )


def _fits_stars(sentiment: object, stars: int | None) -> bool:
    if stars is None or stars == 3:
        return True
    return sentiment in ("neutral", "positive" if stars >= 4 else "negative")


@dataclass(frozen=True)
class SqlQa:
    components: tuple[Component, ...] = (
        Component("sql_qa.query", 0.15, "a query that sqlglot parses and that reads a table", _SOURCE, "weight"),
        Component(
            "sql_qa.explanation",
            0.15,
            "a Portuguese explanation beside the query",
            _SOURCE,
            "weight; 10 words earn all",
        ),
        Component(
            "sql_qa.names",
            0.20,
            "tables and columns: F1 against those of the gold query",
            _SOURCE,
            "weight; F1, so that naming everything does not pay",
        ),
        Component("sql_qa.executes", 0.15, "the query runs within the limits, x names", _SOURCE, "weight"),
        Component("sql_qa.result", 0.35, "its result equals the gold result", _SOURCE, "weight"),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        query = find_query(answer)
        gold = names(prompt.reference.get("sql", ""))
        named = names(query.text) if query else frozenset()
        shares: tuple[float, ...] = (0.0,) * 5
        if query and any(name.startswith("table:") for name in named) and query.text not in prompt.user:
            prose = text.words(query.prose)
            gate = text.variety(prose) * (1 - 0.75 * text.foreign(prose))
            overlap, ran, equal = 0.0, False, False
            if gold:
                overlap = 2 * len(named & gold) / (len(named) + len(gold))
                outcome = answers_gold(prompt.reference, query.text, databases)
                ran, equal = outcome.ran, outcome.equal
            explained = clip(len(prose) / 10) * text.portuguese(prose) * (text.originality(prose, prompt.user) > 0)
            shares = tuple(gate * share for share in (1.0, explained, overlap, overlap * ran, float(equal)))
        return filled(
            shares, self.components, frozenset({"sql_qa.names", "sql_qa.executes", "sql_qa.result"}), bool(gold)
        )


@dataclass(frozen=True)
class Insights:
    components: tuple[Component, ...] = (
        Component(
            "insights.structure",
            0.15,
            "bullets, headers, numbered items",
            _SOURCE,
            "weight; 3 lines with a mark earn all",
        ),
        Component(
            "insights.action_words", 0.15, "words that ask for action", _SOURCE, "weight; 3 different ones earn all"
        ),
        Component("insights.length", 0.15, "100 to 800 characters", _SOURCE, "weight"),
        Component("insights.key_figures", 0.35, "share of the brief's key figures that occur", _SOURCE, "weight"),
        Component(
            "insights.coherence",
            0.20,
            "words of the trade and of the brief",
            _SOURCE,
            "weight; half for 2 domain words, half for 3 words of the brief",
        ),
        Component(
            "insights.invented",
            -0.30,
            "figures that the brief does not know",
            _SOURCE,
            "weight; 2 cost all; whole numbers up to 10 without a unit are free",
        ),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        folded = text.fold(answer)
        tokens = text.words(folded)
        gate = _is_answer(tokens, prompt) * text.sound(answer)
        used, inventions, _ = insight_figures(prompt, answer)
        brief = {token for token in text.words(prompt.user) if len(token) >= 4 and token.isalpha()}
        domain = clip(text.count_distinct(v42.DOMAIN_WORDS, folded) / 2)
        shares = (
            gate * clip(len(v42.STRUCTURE.findall(answer)) / 3),
            gate * clip(text.count_distinct(v42.ACTION_WORDS, folded) / 3),
            gate * v42.length_share(len(text.squeeze(answer))),
            gate * used,
            gate * (domain + clip(len(brief.intersection(tokens)) / 3)) / 2,
            clip(inventions / 2),
        )
        return filled(
            shares, self.components, frozenset({"insights.key_figures"}), bool(prompt.reference.get("key_figures"))
        )


@dataclass(frozen=True)
class Push:
    components: tuple[Component, ...] = (
        Component("push.length", 0.25, "up to 120 characters, falling to 0 at 200", _SOURCE, "weight"),
        Component(
            "push.product",
            0.30,
            "names the product",
            _SOURCE,
            "weight; without it the other credit shrinks to 35 %, and a text of advertising words loses all from 70 to"
            " 95 %",
        ),
        Component("push.portuguese", 0.20, "Portuguese and not generic", _SOURCE, "weight"),
        Component(
            "push.reason",
            0.25,
            "a figure of the brief, a reason or a call to act",
            _SOURCE,
            "weight; either earns 60 %",
        ),
        Component(
            "push.invented",
            -0.30,
            "numbers that the brief does not know",
            _SOURCE,
            "weight; 35 % of it without the product",
        ),
        Component("push.formal", -0.20, "the tone of a formal e-mail", _SOURCE, "weight"),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        folded = text.fold(answer)
        tokens = text.words(folded)
        known = bool(prompt.reference.get("product"))
        named = names_product(prompt, answer)
        urges = _URGES.findall(folded)
        talk = clip((0.95 - len(urges) / max(1, len(tokens))) / 0.25)
        worth = 1.0 if named or not known else 0.35
        gate = _is_answer(tokens, prompt) * text.sound(answer) * talk * worth
        shown = text.figures(answer)
        figure = any(text.occurs(number, shown) for number in push_figures(prompt))
        shares = (
            gate * v42.push_length_share(len(text.squeeze(answer))),
            gate * named,
            gate * clip(1 - len(v42.GENERIC.findall(folded)) / 2),
            gate * clip(0.6 * bool(urges) + 0.6 * figure),
            worth
            * (
                push_inventions(prompt, answer) > 0
            ),  # else another product with a price would be as bad as no words at all
            float(bool(v42.FORMAL.search(folded))),
        )
        return filled(shares, self.components, frozenset({"push.product"}), known)


TASKS: dict[str, TaskReward] = {"extraction": Extraction(), "sql_qa": SqlQa(), "insights": Insights(), "push": Push()}
