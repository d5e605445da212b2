"""Truth of `extraction`: the fields of the object that are right, weighed by what only reading the review tells."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tucano.truth.fluency import Norm, fluency, model
from tucano.truth.json_object import framed_object, is_disowned, only_object
from tucano.truth.reading import plain, stem, word_set, words
from tucano.truth.single import copied, denies_itself
from tucano.truth.types import PromptLike
from tucano.truth.unwelcome.opposites import is_reversed, is_turned
from tucano.truth.verbs import FORMS
from tucano.truth.wording.complaints import (
    denies,
    is_opinion,
    is_second,
    is_told_otherwise,
    leaves_open,
    lists_topics,
    names_other_thing,
    names_other_trouble,
    one_name,
    trouble,
    value_told,
)
from tucano.truth.wording.troubles import praises_alike

FIELDS = word_set(
    """
    sentiment sentiment_score category delivery_issue product_issue seller_issue churn_risk
    repurchase_intent main_complaint summary
    """
)
OF_STARS = word_set(
    """
    sentiment sentiment_score churn_risk repurchase_intent
    """
)
"""Fields that follow from the stars, where the prompt states them."""
COPIED, ABSENT, FOUND = 0.1, 0.5, 2.0
"""Weights of a field that the prompt's frame states, of a complaint that is not there, of one that is, and of the
summary. Other fields weigh 1."""
WRONG_FEELING, WRONG_PROBLEM, MISCOPIED, MISJUDGED = 0.25, 0.5, 0.6, 0.85
"""What is left where the sentiment, the complaint, or (for each) a field that the frame states is wrong or missing: by
the rating guide the first two make an answer mostly useless."""
OPEN_FEELING = 0.7
"""What is left for «negative» where the reference says neutral and there is a complaint."""
SUMMARY = Norm(mean=-1.0, odd=0.62)
"""A sentence has few words to tell by."""
OPEN = frozenset({"churn_risk", "repurchase_intent"})
"""What follows from the stars by and large: another value is debatable, and leaves .85."""
FRAMED = 0.75
"""What is left of an object that stands beside a sentence: a program has to look for it."""
IN_WORDS = 0.75
WRONG_KIND = 0.6
"""What is left of values told in words, and where another kind of issue is flagged."""
OTHER_THING, OF_ANOTHER_KIND = 0.6, 0.7
"""What is left of an object that sums up what was said of another thing, and of that in a wrong category."""
OPINION = 0.8
SECOND = 0.6
UNSAID = 0.5
THIN = 0.5
"""How right a lukewarm opinion is as a complaint, the other trouble of a review that has two, an intent that is left
open, and a summary of a word or two."""
THINNEST = 2
LABEL = 3
LABELLED = 0.86
"""Words beside feeling and complaint, none of them a verb, in which a summary says nothing («Cliente satisfeito com a
calça»), and what is left of an object with such a one."""
_LABELS = re.compile(
    r"client|consumid|comprador|satisf|insat|neutr|reclama|gost|aponta|content|produt|avali|muito|sobre"
)
NEXT = 0.9
NEIGHBOURS = [["low", "medium"], ["medium", "low"], ["medium", "high"], ["high", "medium"]]
AS_FAIR = (("neutral", "negative"), ("positive", "neutral"), ("positive", "negative"))
"""How right a neighbouring risk or feeling is where the stars are not told, and which feelings a complaint allows
beside the known one."""
TURNED, REVERSED = 0.5, 0.25
"""What is left of an object whose summary says the opposite of its review, and of one that does so beyond doubt
(«não recomenda»)."""
QUOTED_COMPLAINT, QUOTE, GIVEN_BACK, PASTED = 12, 16, 6, 0.75
"""Words of its prompt in a row that are no complaint, that sum nothing up, and that are neither where both are the
same, and what is left of an object with the first or the last."""
LEAST_KNOWN = 0.1
"""Share of known words below which a text is none."""
FITTING = {"negative": (1, 3), "neutral": (2, 4), "positive": (3, 5)}
"""The least and the most score that do not contradict a feeling."""
_SAYS_INTENT = re.compile(
    r"\bcompr\w+ (?:de novo|outra vez|novamente|mais)\b|\b(?:nunca|nao) (?:mais )?(?:compr|volt)|\bvolt\w* a comprar"
    r"|\bduvida se\b|\bpens\w+ (?:bem |melhor )?antes"
)
"""Whether somebody will buy again, in the review's own words."""
_WILL_RETURN = re.compile(
    r"(?<!nao )(?<!nunca )(?<!nem )\b(?:compr\w+ (?:de novo|outra vez|novamente)|volt\w+ a comprar)\b"
)
_LINKS = word_set("pelo pela pelos pelas para mais muito com sem")
_NONE = re.compile(
    r"|-|n/a|null|nenhum\w*(?: \w+){0,2}"
    r"|(?:nao ha|nada|nao consta|inexistente)(?: (?:a|para|de) \w+| \w*reclama\w*| queixas?)?"
    r"|sem (?:reclamac\w+|queixas?|problemas?|ressalvas?)"
)
"""How an answer says that there is no complaint."""
_FRAME = frozenset(
    map(
        stem,
        word_set(
            """
    extraia extrair avaliacao json nota notas dados categoria cliente clientes desta recebida produto
    produtos compra compras comprei comprou compraria comprar loja lojas entrega entregue entregar chegou
    recebi recebeu recomendo recomenda satisfeito insatisfeito neutro reclama reclamacao gostou gostei
    elogia avaliou avalia prazo qualidade pedido muito antes sobre aponta positivo negativo bom boa otimo
    otima experiencia como para mais menos ainda quero quer pelo pela veio
    """
        ),
    )
)
"""Beginnings of words that a summary shares with most reviews, read or not."""


def truth(prompt: PromptLike, answer: str, databases: Path | None) -> float | None:
    """The weight of the right fields among those that are known; 0 where the answer is not one strict JSON object.
    Less of it is left where the feeling, the complaint or a field that only had to be copied is wrong.

    A summary is right where it is a sentence with something of the review that not every review says.
    """
    known = dict(prompt.reference.get("fields", {}))
    known.pop("summary", None)
    if not known:
        return None
    found = only_object(answer)
    alone = FRAMED if found is None else 1.0
    found = framed_object(answer) if found is None else found
    if found is None or is_disowned(answer, found, FIELDS):
        return 0.0
    values = {name: value_told(name, value) for name, value in found.items()}
    alone *= IN_WORDS if any(values[name] is not found[name] for name in values) else 1.0
    alone *= _told_of_this(found, prompt, known)
    weights = {name: _weight(name, value, prompt) for name, value in known.items()}
    right = {name: float(name in values and is_right(name, values[name], value)) for name, value in known.items()}
    is_anothers = names_other_trouble(values.get("main_complaint"), known.get("main_complaint"), prompt.user)
    if "main_complaint" in known and (is_anothers or not right["main_complaint"]):
        right["main_complaint"] = _otherwise(values.get("main_complaint"), known, prompt.user)
    if (
        not right.get("repurchase_intent", 1.0)
        and "repurchase_intent" in values
        and values["repurchase_intent"] is None
    ):
        right["repurchase_intent"] = UNSAID if _SAYS_INTENT.search(plain(prompt.user)) else 1.0
    if not right.get("category", 1.0) and known["category"] == "outros" and leaves_open(values.get("category", "")):
        right["category"] = 1.0
    if not states_stars(prompt):
        right |= _undecided(values, known, bool(_WILL_RETURN.search(plain(prompt.user))))
    told = _told(prompt)
    if told or not _is_of_this(plain(str(values.get("summary") or "")), prompt.user, _NAMED):
        weights["summary"], right["summary"] = FOUND, _sums_up(values.get("summary"), told, prompt.user)
        if _is_given_back(str(values.get("main_complaint")), str(values.get("summary")), prompt.user):
            right["summary"] = 0.0
    earned = sum(weights[name] * right[name] for name in weights)
    return alone * earned / sum(weights.values()) * _kept(values, right, known, weights) * _flagged(values, known)


def _told_of_this(found: Mapping[str, Any], prompt: PromptLike, known: Mapping[str, Any]) -> float:
    """What is left beside a complaint and a summary of something else, or of nothing, or of the opposite."""
    complaint = str(found.get("main_complaint") or "")
    summary = str(found.get("summary") or "")
    kept = 1.0
    if names_other_thing(summary, prompt.user) or _is_gibberish(summary, prompt.user):
        is_its_kind = is_right("category", found.get("category"), known.get("category"))
        kept *= OTHER_THING if is_its_kind else OTHER_THING * OF_ANOTHER_KIND
    kept *= LABELLED if _is_label(summary, complaint) else 1.0
    if is_reversed(plain(summary), plain(prompt.user), known):
        kept *= REVERSED
    elif is_turned(plain(summary), plain(prompt.user), known):
        kept *= TURNED
    is_pasted = copied(complaint, prompt.user, QUOTED_COMPLAINT) or _is_given_back(complaint, summary, prompt.user)
    return kept * PASTED if is_pasted else kept


def _is_gibberish(summary: str, review: str) -> bool:
    """Whether hardly a word of a summary is one that the corpus or its review knows: Portuguese has «o» and «de»."""
    told = words(summary)
    return LEAST_KNOWN * len(told) > sum(model().is_known(word) or word in words(review) for word in told)


def _is_given_back(complaint: str, summary: str, review: str) -> bool:
    """Whether complaint and summary are one and the same piece of the review."""
    is_long = len(words(complaint)) >= GIVEN_BACK
    return is_long and words(complaint) == words(summary) and copied(complaint, review, GIVEN_BACK) == 1


def _otherwise(complaint: Any, known: Mapping[str, Any], review: str) -> float:
    """How right a complaint is that is not the reference's: the same trouble in other words, or a lukewarm opinion."""
    if not isinstance(complaint, str) or not complaint.strip():
        return 0.0
    if known["main_complaint"] is None:
        return OPINION if known.get("sentiment") == "neutral" and is_opinion(complaint, review) else 0.0
    if denies_itself(complaint) or denies(complaint, known["main_complaint"]):
        return 0.0
    if is_told_otherwise(complaint, known["main_complaint"], review):
        return 1.0
    return SECOND if is_second(complaint, known["main_complaint"], review) else 0.0


def _flagged(values: Mapping[str, Any], known: Mapping[str, Any]) -> float:
    """Less where none of the issues that there are is set and another one is, or all are where there is
    one. Whose fault a wrong or incomplete item is stays open."""
    flags = ("delivery_issue", "product_issue", "seller_issue")
    there, said = ({name for name in flags if source.get(name) is True} for source in (known, values))
    kinds = trouble(str(known.get("main_complaint")))
    is_open = bool(kinds & trouble("produto errado")) or (
        bool(kinds & trouble("produto incompleto")) and not said <= {"seller_issue"}
    )
    is_every = len(said) == len(flags) and len(there) == 1
    return WRONG_KIND if is_every or (there and said and not there & said and not is_open) else 1.0


def _kept(
    values: Mapping[str, Any], right: Mapping[str, float], known: Mapping[str, Any], weights: Mapping[str, float]
) -> float:
    """What is left of the credit, where something decisive is wrong. A complaint may be neutral or negative."""
    missed = [name for name in known if not right[name] and weights[name] == COPIED and name != "sentiment"]
    kept = MISCOPIED ** sum(name not in OPEN for name in missed) * MISJUDGED ** sum(name in OPEN for name in missed)
    if not right.get("sentiment", 1.0):
        is_open = known["sentiment"] == "neutral" and values.get("sentiment") == "negative"
        kept *= OPEN_FEELING if is_open and known.get("main_complaint") else WRONG_FEELING
    stars = values.get("sentiment_score")
    if type(stars) is int and (fitting := FITTING.get(str(values.get("sentiment")))):
        off = max(fitting[0] - stars, stars - fitting[1], 0)
        kept *= (1.0, OPEN_FEELING, WRONG_FEELING)[min(off, 2)]
    return kept if right.get("main_complaint", 1.0) else kept * WRONG_PROBLEM


def is_right(name: str, value: Any, expected: Any) -> bool:
    """Equal in value and JSON type; a category whatever its case and accents, a complaint by half of the words
    of the shorter of the two, unless it denies it; an empty one is none."""
    if name == "main_complaint" and expected is None and isinstance(value, str):
        return bool(_NONE.fullmatch(plain(value).strip(" .")))
    if type(value) is not type(expected):
        return False
    if name == "main_complaint" and isinstance(value, str):
        if denies(value, expected) or denies_itself(value):
            return False
        said, wanted = (
            {stem(word) for word in words(text) if len(word) > 3 and word not in _LINKS} for text in (value, expected)
        )
        return 2 * len(said & wanted) >= min(len(said), len(wanted)) > 0 and len(said) <= 2 * len(wanted)
    if name == "category" and isinstance(value, str):
        return plain(value).strip() == plain(expected).strip()
    return bool(value == expected)


def _undecided(values: Mapping[str, Any], known: Mapping[str, Any], returns: bool) -> dict[str, float]:
    """How right the fields are that a reader cannot know who is not told the stars: a star more or less for the same
    feeling, half for another next to it; the next risk; and another feeling that a complaint makes as fair, unless
    somebody content says that he will be back."""
    found: dict[str, float] = {}
    said = values.get("sentiment_score")
    stars = known.get("sentiment_score")
    if type(said) is int and type(stars) is int and abs(said - stars) == 1:
        found["sentiment_score"] = 1.0 if {said, stars} in ({1, 2}, {4, 5}) else 0.5
    felt = values.get("sentiment")
    is_fair = (known.get("sentiment"), felt) in AS_FAIR and not (returns and known.get("sentiment") == "positive")
    if known.get("main_complaint") and is_fair:
        found["sentiment"] = NEXT
        found["sentiment_score"] = NEXT * (type(said) is int and said in ((1, 2) if felt == "negative" else (3,)))
    risk = values.get("churn_risk")
    is_next = [risk, known.get("churn_risk")] in NEIGHBOURS
    if is_next or ("sentiment" in found and risk in (("medium", "high") if felt == "negative" else ("medium",))):
        found["churn_risk"] = NEXT
    return {name: value for name, value in found.items() if name in known}


def states_stars(prompt: PromptLike) -> bool:
    return prompt.stars is not None and bool(
        re.search(rf"\bnota\s*(?:de\s*)?{prompt.stars}\b|\b{prompt.stars}\s*estrelas?\b", plain(prompt.user))
    )


def _weight(name: str, value: Any, prompt: PromptLike) -> float:
    if name in OF_STARS:
        return COPIED if states_stars(prompt) else 1.0
    if name == "category":
        return COPIED if isinstance(value, str) and plain(value) in plain(prompt.user) else 1.0
    return FOUND if value else ABSENT


def _told(prompt: PromptLike) -> frozenset[str]:
    """Beginnings of the words that this review says and not every other one."""
    category = {stem(word) for word in words(str(prompt.reference["fields"].get("category", "")))}
    return _stems(_ASKS.sub(" ", plain(prompt.user))) - _FRAME - category


_ASKS = re.compile(
    r"\b(?:devolv[ae] (?:so )?(?:o |em )?json|levante|informac\w+|(?:d?essa|d?esta) avaliacao|\d estrelas"
    r"|que (?:dados|campos)|responda|veja|ficha|seguinte|extraia|os campos|da categoria"
    r"|recebemos|preciso do|capture|transforme)\b"
)
"""Words of those who ask, around a review."""
FEW = 3
_NOBODYS = frozenset(
    map(stem, word_set("cliente clientes avaliacao produto nota notas dados extraia json loja compra"))
)
"""A review with fewer words of its own is summed up by its common ones, but for those of every answer."""


def _sums_up(summary: Any, told: frozenset[str], review: str) -> float:
    """1 for a sentence with something of this review, half for one too thin to tell, 0 for another thing's. Of a review
    that says hardly more than others do, whatever it says counts."""
    if not isinstance(summary, str) or fluency(summary, SUMMARY) < 0.4 or names_other_thing(summary, review):
        return 0.0
    if copied(summary, review, QUOTE) or denies_itself(summary) or lists_topics(summary, review):
        return 0.0
    common = _stems(_ASKS.sub(" ", plain(review))) - _NOBODYS if len(told) < FEW else frozenset()
    if (_stems(summary) | _named(summary)) & (told | common | _named(review)):
        return 1.0
    is_told = len(_stems(summary) - _FRAME) >= LABEL and bool(trouble(summary) & trouble(review))
    is_praise = praises_alike(plain(summary), plain(review)) and _is_of_this(plain(summary), review, _NAMED)
    if is_praise or (is_told and _is_of_this(plain(summary), review)):
        return 1.0
    return THIN if _stems(summary) and len(words(summary)) <= THINNEST else 0.0


_ABOUT = re.compile(
    r"\b(?:reclam\w+|gostou|elogi\w+|(?:in)?satisfeit[oa]|content[ea])(?: com| sobre)? (?:[ao]s?|d[aeo]s?) (\w+)"
)
_NAMED = re.compile(r"(?:^|[.;:!] |\b(?:[oa]s?|uma?|d[oa]s?|n[oa]s?|aos?) )([^\W\d_]{4,})")
"""What somebody likes or not; and all that a text begins with or names with an article."""
_NO_THINGS = re.compile(
    r"\w+(?:eza|cao|dade|mento|ncia|agem)$|tempo|data|preco|servic|demor|falta|recus|descas|envio|cuidad|vended"
    r"|itens|item|mercad|encomend|pacote|tudo|anunci|esperad|combinad|previst|prometid|fotos?$|dias?$|cert|rapid"
    r"|pontual"
    r"|feliz|content|perfeit|excelen|transport|frete|correio|lojist|valor|comentari|destac|ressalt|super"
    r"|peca|outr[oa]s?$|pesso|artigo|amig|famil|proxim|mesm|risca|ofert|escolh|inten|gente|embrulh|hora|semana|manha"
    r"|hoje"
    r"|respe|maxim|primeir|segund|parte|cada|descr|vez|quem|marca|site|casa|tipo|todo"
)


def _is_of_this(summary: str, review: str, about: re.Pattern[str] = _ABOUT) -> bool:
    """Whether what a plain summary is said to be about is something of its review, and no other thing."""
    own = _stems(review) | _named(review) | _FRAME
    return all(
        stem(noun) in own
        or _NO_THINGS.match(noun)
        or stem(one_name(noun)) in own
        or trouble(noun)
        or FORMS.get(noun, "").startswith("v:")
        for noun in about.findall(summary)
    )


def _is_label(summary: str, complaint: str) -> bool:
    """Whether a summary names a feeling, a thing and the complaint again, and tells nothing."""
    again = _stems(complaint)
    rest = [word for word in words(summary) if len(word) > 3 and stem(word) not in again and not _LABELS.match(word)]
    return len(rest) <= LABEL and not any(FORMS.get(word, "").startswith("v:") for word in rest)


def _named(text: str) -> frozenset[str]:
    """Beginnings of what the things of a text are called most, where it calls one otherwise («make», «capinha»)."""
    names = ((word, one_name(word)) for word in words(text))
    return frozenset(stem(name) for word, name in names if name != word and len(name) > 3) - _FRAME


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in re.findall(r"[^\W\d_]{4,}", plain(text)))
