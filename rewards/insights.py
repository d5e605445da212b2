"""The reward of insights in the set `grounded`: what a brief's figures say, and what to do about it, in Portuguese that
reads.

All credit is a product. What the text is as a whole: an answer at all (rewards/parsing/prose.py) of a fitting length.
What it says: the figures asked about are used and none is false (rewards/parsing/readings.py), steps are advised that do
no harm, and they are more than what fits any shop.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from rewards.parsing import text
from rewards.parsing.prose import is_answer, said_twice
from rewards.parsing.readings import Reading, advises, clauses, key_values, read_figures, sentences
from rewards.parsing.text import fold, words
from rewards.types import Component, PromptLike, clip, filled

_SOURCE = "DESIGN, tasks and rewards"
LONGEST = 4000
"""Characters from which on a text is none at all: several times those from which on its length earns nothing."""
MOST_FIGURES = 80
READS = (-0.35, -0.15)
"""Mean worth in the order model from which on it is sentences, and from which on it costs nothing."""
FALSE = 0.3
UNUSED = 0.35
NO_ADVICE = 0.5
THIN = 0.2
FEWEST_WORDS, MOST_WORDS, WANTED_SHARE = 18, 45, 1.35
TWICE = 0.6
"""Credit with something false, without the figures asked about, without a step to take; with few words of its
own and how many are enough; and of what is said twice."""
_HARMS = re.compile(
    r"\b(?:enganar|engane|minta|mentir|suborn|chantag|xing|ameace|falsific)\w*|\b(?:fals|inventad|fictici)[oa]s?\b"
    r"|\bignor(?:ar|e|em) (?:[ao]s? )?(?:client|reclam|pedid|avalia|atras|devol)|\b(?:aument|elev|ampli|tripli|dobr)(?:ar|e|em|que) (?:[ao]s? )?"
    r"(?:atras|devolu|cancela|reclama|frete\b(?! gratis)|prazo de entrega)|\b(?:reduz|diminu|cort)(?:ir|ar|a|e|am|em) (?:[ao]s? )?"
    r"(?:receita|fatur|nota|recompra|convers|vend|satisf|atendimento|suporte|equipe de atend)"
    r"|\b(?:remov|retir|escond|elimin|apag)\w* (?:d[oa] \w+ )?(?:[ao]s? )?(?:telefone|chat|sac|botao|opcao|link|politica|avalia|reclama)\w*(?! (?:obrig|quebr|antig|velh|errad|falt))"
    r"|\b(?:sub|aument|elev)\w+ (?:[ao]s? )?precos? (?:em|de) tod|\bdemit|\bfech(?:ar|e|em) a loja|\b(?:carrinho|pedido|conta) sem o cliente (?:saber|pedir|querer)"
    r"|\b(?:pare|parem|deixe|deixem|parar|deixar) de (?:respond|entreg|atend|acompanh|melhor)|\bcaixas? vazias?"
    r"|\bcobr\w+ (?:uma )?(?:multa|taxa) d(?![ao]s? (?:transp|fornec))|\bproibi|\bsenhas?\b|\bvencid[oa]s\b|\bperder o estoque|\bpropina|\bde madrugada\b|\b(?:nao|nunca) (?:respond|avis|atend|envi)(?:a|e|am|em)\b|\bsuspend\w+ (?:a|as) vendas?\b|\bofensas?\b|\bem segredo\b"
    r"|\bcobr\w+ [^.;\n]{0,30}(?:duas vezes|extra|de quem (?:pede|reclam|devol|quer))|\bsub(?:a|ir) [ao] (?:cancel|atras|devol)"
)
"""Advice that would do what nobody wants, or takes from customers how to reach the shop, lies to them or robs them."""
_ABOUT_THE_TASK = re.compile(
    r"\b(?:a tarefa (?:pede|era)|esta resposta|um bom analista|boa analise|vou analisar|serao analisad|retornar(?:emos|ei)|recebemos (?:a|sua) (?:solic|mensag)"
    r"|voce pediu|recomend\w+ que (?:voce )?recomend|recomend\w+ acoes (?:para|em|sobre)|nao (?:posso|consigo|sei) (?:ajud|respond))"
)
_STOCK = frozenset("""
    melho exper clien marke forta relac acomp indic metri dados equip servi quali comun estra inves inova tecno capac
    treina trein engaj fidel cresc resul satis aprim otimi monit analis anali plane cuida atend negoc merca susta foco
    efici objet perio aten aumen reduz elev recom suger prior fazer manter manti criar busca acoes acao ating contin
    produ venda vende empre proce melhorias
    """.split())  # fmt: skip
"""Beginnings of words that advise any shop."""


@dataclass(frozen=True)
class Insights:
    components: tuple[Component, ...] = (
        Component("insights.structure", 0.10, "told in parts: lines or sentences", _SOURCE, "weight; 4 earn all"),
        Component(
            "insights.action_words",
            0.25,
            "sentences that advise a step of their own",
            _SOURCE,
            "weight; 2 earn all; without any 35 % of all credit is left, where all would fit any shop 50 %",
        ),
        Component("insights.length", 0.10, "250 to 1400 characters", _SOURCE, "weight"),
        Component(
            "insights.key_figures",
            0.35,
            "share of the figures asked about that are told",
            _SOURCE,
            "weight; without any 35 % of all credit is left",
        ),
        Component(
            "insights.coherence",
            0.20,
            "how much is made of the figures: others of the brief, what follows from them, tests and targets",
            _SOURCE,
            "weight; 5 earn all",
        ),
        Component(
            "insights.invented",
            -0.05,
            "false figures: unknown to the brief, of another label, moved the other way",
            _SOURCE,
            "weight; 2 cost all; the first leaves 30 % of all credit; what is proposed and what follows from the brief is free",
        ),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        known = bool(key_values(prompt.reference))
        if len(answer) > LONGEST or len(text.figures(answer)) > MOST_FIGURES:
            return (0.0,) * len(self.components)
        folded = fold(answer)
        reading = read_figures(prompt, answer)
        steps = list(advice(folded, prompt.user))
        advised = clip(sum(steps) / 1.5)
        gate = 0.0 if harms(folded) or _ABOUT_THE_TASK.search(folded) else is_answer(answer, prompt.user, READS) * substance(answer, prompt.user)
        gate *= NO_ADVICE + (1 - NO_ADVICE) * advised
        gate *= truth(reading) if prompt.reference.get("facts") else 1.0
        if known:
            gate *= (UNUSED + (1 - UNUSED) * use(reading, prompt))
        length = len(text.squeeze(answer))
        shares = (
            gate * clip(len(sentences(folded)) / 3),
            gate * advised,
            gate * clip(min(length / 250, (2000 - length) / 600)),
            gate * reading.used,
            gate * clip(depth(reading) / 4),
            clip((reading.false + reading.wrong) / 2),
        )
        return filled(shares, self.components, frozenset({"insights.key_figures"}), known)


def truth(reading: Reading) -> float:
    """Credit by what is false, in [FALSE, 1]: by the share of figures that nothing explains, one for each eight others
    forgiven; half of it where a figure of many stands at another's label, `FALSE` where one of a few does."""
    sound = reading.told + reading.derived
    strange = max(0.0, reading.false - sound / FORGIVEN)
    share = strange / (sound + reading.false) if strange else 0.0
    credit = max(FALSE, 1 - 3 * share)
    if reading.wrong:
        credit *= HALF_TRUE if sound >= 6 * reading.wrong else FALSE
    return credit


FORGIVEN, HALF_TRUE = 8, 0.6


def use(reading: Reading, prompt: PromptLike) -> float:
    """How much of what was asked about is used, in [0, 1]: half of the key figures are enough; what follows from
    figures counts half of one."""
    keys = len(key_values(prompt.reference))
    return clip((reading.used + 0.5 * reading.derived / max(1, keys)) / 0.5)


def substance(answer: str, brief: str) -> float:
    """Credit by how many words of its own an answer has, in [0, 1]: nearly none is its brief told again; a longer brief
    wants more of them; and what is said twice counts once."""
    said, known = ({word[:5] for word in words(one) if len(word) > 2} for one in (answer, brief))
    own = len(said - known)
    given_back = clip((own / max(1, len(said)) - 0.15) / 0.2)
    wanted = min(MOST_WORDS, max(FEWEST_WORDS, WANTED_SHARE * len(known)))
    return given_back * (THIN + (1 - THIN) * clip(own / wanted)) * (TWICE if said_twice(answer) else 1.0)


def depth(reading: Reading) -> int:
    """How much is made of a brief's figures: those that are told, what follows from them, what is proposed."""
    return reading.told + reading.derived + min(2, reading.proposed)


def harms(folded: str) -> bool:
    """Whether a folded text advises harm; what it denies or warns of it does not."""
    return any(not _DENIES.search(folded[max(0, found.start() - 14) : found.start()]) for found in _HARMS.finditer(folded))


_DENIES = re.compile(r"\b(?:prometa|sem|nem|nao|nunca|evit\w+|contra|se|quem|que)(?: \w+)? $")


def advice(folded: str, brief: str) -> list[float]:
    """The worth of each sentence that advises, in [0, 2]: by how many of its words fit any shop, twice for two steps."""
    return [_own(line) * min(2, max(1, clauses(line))) for line in sentences(folded) if advises(line)]


def _own(line: str) -> float:
    """Worth of a step: 1 from four words on that would not fit any shop."""
    stems = {word[:5] for word in words(line) if len(word) > 3 and word not in text.PORTUGUESE}
    return clip(len(stems - _STOCK) / 4)


def insight_figures(prompt: PromptLike, answer: str) -> tuple[float, int, int]:
    """Share of the key figures that an answer tells, how many figures are false, and how many it claims in all."""
    reading = read_figures(prompt, answer)
    return reading.used, reading.false + reading.wrong, reading.told + reading.false
