"""The reward of a push: one short notification that names its product, passes on what its brief
offers and nothing else, in Portuguese that reads.

All credit is a product. What the text is as a whole: an answer at all (rewards/texts/prose.py), one push, short, in
words of its own, without slips (rewards/texts/slips.py). What it says: the product is named, its brief's offer is told,
and nothing is false (numbers, dates, further offers).
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rewards import v42
from rewards.parsing import text
from rewards.parsing.text import REMEMBERED, fold
from rewards.texts import numbers, offers
from rewards.texts.calls import invites, is_hollow, is_order
from rewards.texts.offers import is_call, is_stock, stem_of, stems
from rewards.texts.order import Limits, is_imperative, is_infinitive, stand_in
from rewards.texts.prose import LETTER, is_answer, said_twice
from rewards.texts.slips import CREDIT, neatness
from rewards.types import Component, PromptLike, clip, filled
from rewards.wording.unwanted import repels

LONGEST = 600
"""Characters from which on a text is no push at all: several times those from which on its length earns nothing."""
READS = Limits((-0.45, -0.15), {8: (-1.1, -0.75), 3: (-2.2, -1.7)})
COPIED = 0.4
"""Credit of a push in the words of its brief alone."""
FALSE = 0.2
"""Credit of a push that says something false, whatever it tells beside it."""
NOT_ONE = 0.35
"""Credit of several pushes, and of one that says a sentence twice; its square of a text about pushes."""
WITHOUT_PRODUCT = 0.3
"""Credit of a push without its product."""
UNTOLD = 0.3
"""Credit of a push without its offer."""
TOO_LONG = 0.5
FORMAL = 0.6
"""Credit of a push in the tone of a letter."""
UNCALLED = 0.93
"""Credit of a push that speaks to nobody."""
OWN_WORDS = 2
PLAIN = 0.88
"""Credit of a push whose words fit any product."""
BARE = 0.65
"""Credit of a push without any word of its own."""
LISTED = 0.2
"""Credit of a list of calls: so many words that fit any product, which are this share of all."""
MANY_CALLS = 6
CALLS = 0.75
LOUD = 0.75
"""Credit of a push that shouts."""
BESIDE_AMOUNTS = 0.33
"""What a kind of offer counts beside prices, shares and codes."""
ENOUGH = 0.75
"""Share of what a brief tells that a push has to pass on: a brief tells also what has been, and what is the shop's."""

_WHEN = re.compile(r"\bhoje\b|\bate\b|\bdia\b|\bamanha\b|\bhoras?\b|\d ?h\b|\bdom\b")
_META = re.compile(
    r"(?:^|[\n|;.]) ?(?:produto|oferta|tom|prazo|validade|limite|objetivo|texto|resposta \d):|\bpush\b|\beste texto\b"
    r"|\bnotifica\w+|\b(?:[ae]st?a|uma|a) mensagem\b|\bcaracteres\b|\bpublico\b|\bcampanha de\b"
)
"""What speaks of a push, and the labels of a brief."""
_REFUSES = re.compile(
    r"\bnao (?:e possivel|posso|consigo|sei)\b|\bposso (?:te )?ajudar\b|\bme (?:informe|envie|diga|passe)\b"
    r"|\bpreciso que\b|\bfavor (?:re)?enviar\b|\bsegue abaixo\b"
)
_OPTION = re.compile(
    r"(?m)^[^\w\n]{0,6}(?:(?:opcao|versao|ideia) )?(?:\d[.):-]?\ufe0f?\u20e3?|[a-c]\))[ \t]*[:\"“]?(?=[ \t]{0,9}\w)"
    r"|\bopcao \w\b"
    r"|(?:^|\s)\d\)\s"
)
_HEADING = re.compile(r"\A[^\n]{0,60}:\**\s*\n|\n\W{0,4}\d+ caracteres\W*\Z")


@dataclass(frozen=True)
class Push:
    components: tuple[Component, ...] = (
        Component(
            "push.length",
            0.25,
            "up to 120 characters, falling to 0 at 200",
            f"as a square; all credit falls with it to {TOO_LONG:.0%}",
        ),
        Component(
            "push.product",
            0.30,
            "names the product",
            "by its first word or a name of its own, half by other words of it; without it all credit is"
            f" {WITHOUT_PRODUCT:.0%}, of several pushes {NOT_ONE:.0%}, of text about one {NOT_ONE**2:.0%}",
        ),
        Component(
            "push.portuguese",
            0.20,
            "Portuguese that reads, in words of its own",
            f"one slip leaves {CREDIT[1]:.0%}, two {CREDIT[2]:.0%}, more {CREDIT[3]:.0%};"
            f" words that fit any product leave {PLAIN:.0%}, none beside the product {BARE:.0%}, nobody spoken to"
            f" {UNCALLED:.0%}, shouting {LOUD:.0%}",
        ),
        Component(
            "push.reason",
            0.25,
            "what the brief offers is told: prices, shares, codes, kinds of offers, until when",
            f"{ENOUGH:.0%} of it earn all; without any {UNTOLD:.0%} of all credit is left",
        ),
        Component(
            "push.invented",
            -0.03,
            "numbers, dates and offers that the brief does not grant, or its numbers exchanged",
            f"x product; and any leaves {FALSE:.0%} of all credit, told offer or not",
        ),
        Component("push.formal", -0.03, "the tone of a formal e-mail", f"{FORMAL:.0%} of the credit is left"),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        if len(answer) > LONGEST:
            return (0.0,) * len(self.components)
        known = bool(prompt.reference.get("product", "").strip())
        named = names_product(prompt, answer) if known else 0.0
        told = tells_offer(prompt, answer)
        false = push_inventions(prompt, answer) > 0
        fits = v42.push_length_share(len(text.squeeze(answer)))
        formal = bool(LETTER.search(fold(answer)))
        gate = whole(prompt, answer) * (TOO_LONG + (1 - TOO_LONG) * fits) * (FORMAL if formal else 1.0)
        gate *= lively(prompt, answer) * neatness(prompt, answer)
        if known:
            gate *= WITHOUT_PRODUCT + (1 - WITHOUT_PRODUCT) * named
        gate *= FALSE if false else UNTOLD + (1 - UNTOLD) * told
        shares = (gate * fits, gate * named, gate, gate * told, false * named if known else float(false), float(formal))
        return filled(shares, self.components, frozenset({"push.product"}), known)


def whole(prompt: PromptLike, answer: str) -> float:
    """How much a text is one push at all, in [0, 1]: an answer in Portuguese that repels nobody, one, not shouted."""
    folded = fold(answer)
    if repels(prompt, answer) or _REFUSES.search(folded):
        return 0.0
    name = re.escape(prompt.reference.get("product", "").strip())
    thing = stand_in(prompt.reference.get("product", ""))
    said, brief = (re.sub(name, thing, one, flags=re.IGNORECASE) if name else one for one in (answer, prompt.user))
    return is_answer(said, brief, READS, COPIED) * is_one(prompt, answer) * (LOUD if answer.isupper() else 1.0)


def is_one(prompt: PromptLike, answer: str) -> float:
    """Credit of a text by whether it is one push: several to choose from, or one about pushes, are none."""
    lines = [line for line in answer.splitlines() if line.strip()]
    several = has_options(answer) or sum(names_product(prompt, line) == 1 for line in lines) > 1
    several |= tells_its_offer_twice(prompt, answer)
    twice = said_twice(answer) + 2 * is_hollow(fold(answer))
    return NOT_ONE ** (several + 2 * is_about_pushes(prompt, answer) + twice)


def tells_its_offer_twice(prompt: PromptLike, answer: str) -> bool:
    """Whether a text tells each amount and code of its brief that it tells twice, and more often than the brief: two
    pushes, whatever stands between them. Of the pushes that are rated 5 none does.
    """
    told, known = (
        [(one.value, one.unit) for one in numbers.told(text).numbers if one.unit in numbers.SIGNS]
        for text in (answer, prompt.user)
    )
    times = [(told.count(amount), known.count(amount)) for amount in {*known}]
    times += [(answer.count(code), prompt.user.count(code)) for code in offers.codes(prompt.user)]
    found = [said > max(1, given) for said, given in times if said]
    return bool(found) and all(found)


def has_options(answer: str) -> bool:
    """Whether a text gives several answers to choose from («Opção 1: …»)."""
    return len(_OPTION.findall(fold(answer))) > 1


def is_about_pushes(prompt: PromptLike, answer: str) -> bool:
    """Whether a text tells what a push is or should say, or is a form of its brief's labels that is filled in."""
    product = fold(prompt.reference.get("product", ""))
    bare = _HEADING.sub("", fold(answer))
    told = any(word not in product for word in _META.findall(bare)) or gives_back_labels(prompt.user, bare)
    return told or is_order(bare, prompt)


_LABEL = re.compile(r"(?:^|[\n|;.,!?] ?|\b[ey] )(?!cupo|codigo|voucher)([a-z]{3,15}):")


def gives_back_labels(brief: str, folded: str) -> bool:
    """Whether a folded push has a label of its brief («Desconto: 24%.»): a form that is filled in, and none."""
    return bool({*_LABEL.findall(fold(brief))} & {*_LABEL.findall(folded)})


def lively(prompt: PromptLike, answer: str) -> float:
    """Credit of a push by its words: less where they are those of any push, where there are none beside the product's,
    and where they are a list of calls."""
    said = [stem for stem in stems(answer) if stem.isalpha()]
    own = {*said} - set(stems(prompt.reference.get("product", "")))
    own -= {stem_of(fold(code)) for code in offers.codes(prompt.user)}
    told = {*stems(prompt.user)}
    calls = sum(map(is_call, said))
    if calls >= MANY_CALLS and calls >= CALLS * len(said):
        return LISTED
    credit = BARE if not own else PLAIN if sum(not is_stock(stem) for stem in own - told) < OWN_WORDS else 1.0
    return credit if invites(fold(answer)) else credit * UNCALLED


@lru_cache(maxsize=REMEMBERED)
def _name(product: str, terms: tuple[str, ...]) -> tuple[list[str], set[str]]:
    """The stems of a product's name, and those of them that name it alone: the first one, and names with capitals."""
    proper = {stem for word in product.split()[1:] if word[:1].isupper() for stem in stems(word)}
    others = [term for term in terms if term.split()[:1] != product.split()[:1]]
    heads = {found[0] for name in (product, *others) if (found := stems(name))}
    ends = {found[0] for term in terms if (found := stems(term)) and f"de {fold(term)}" in fold(product)}
    return stems(product), (heads - ends) | proper


def names_product(prompt: PromptLike, answer: str) -> float:
    """How clearly an answer names the product of its brief, in [0, 1]: its first word or a name of its own, half for
    others of its words or for what it is made of. A first word that goes on otherwise («fone de parede») is another
    product."""
    name, sure = _name(prompt.reference.get("product", ""), tuple(prompt.reference.get("terms", ())))
    said = set(stems(answer))
    if not name or not said & ({*name} | sure):
        told = {stem for stem in said & set(stems(prompt.user)) if not is_stock(stem) and not stem.isdigit()}
        return 0.5 * (bool(name) and len(told) >= _PARTS)
    if len(name) > 1 and said & set(name) == {name[0]}:
        behind = re.findall(rf"\b{re.escape(name[0])}\w* de ([a-z]{{4,20}})", fold(answer))
        if any(stem_of(other) not in name for other in behind):
            return 0.0
    return 0.0 if _is_of_another(prompt, answer, name) else 1.0 if said & sure else 0.5


_PARTS = 4
"""Words of a brief by which a push tells what its product is made of («mouse + mousepad + headset»)."""


def _is_of_another(prompt: PromptLike, answer: str, name: list[str]) -> bool:
    """Whether a name of the product stands behind another thing («mouse Kaiju» for «teclado Kaiju»)."""
    terms = [stem for term in prompt.reference.get("terms", ()) for stem in stems(term)]
    known = {*stems(prompt.user), *terms}
    if name[0] in stems(answer):
        return False
    before = r"(?:\A|[.!?:] |\b(?:[ao]s?|seu|sua|uma?|d[ao]) )"
    things = (
        thing for stem in name[1:] for thing in re.findall(rf"{before}([a-z]{{4,20}}) {re.escape(stem)}", fold(answer))
    )
    return any(
        not (thing in text.PORTUGUESE or stem_of(thing) in known or is_stock(thing))
        and not (is_imperative(thing) or is_infinitive(thing))
        for thing in things
    )


def push_inventions(prompt: PromptLike, answer: str) -> int:
    """How many false things a push says: numbers, dates, days and codes that its brief does not know, numbers of it in
    each other's place, kinds of offers that it does not grant or forbids, another thing beside its product."""
    product = prompt.reference.get("product", "")
    brief = prompt.user
    said, known = numbers.told(_HEADING.sub("", answer)), numbers.told(brief)
    found = len(numbers.unknown(said, known)) + numbers.exchanged(said, known) + numbers.rises(said)
    found += numbers.lacks_a_sign(said, known)
    found += numbers.other_dates(said, known) + numbers.other_weekday(answer, brief)
    found += len(offers.other_codes(answer, brief))
    found += len(offers.kinds_beside(answer, brief, product) - offers.granted(brief, product, answer))
    amounts = [number for number in known.numbers if number.unit in numbers.SIGNS]
    found += offers_another(prompt, answer) + (len(amounts) == 1 and _is_of_others(fold(answer), fold(product)))
    return found + bool(offers.forbidden(brief) & set(stems(offers.undenied(answer))))


def _is_of_others(folded: str, product: str) -> bool:
    """Whether a folded push tells its brief's figure of something else than the price: of the stock that fell, of gas
    that is saved, of an amount that is off."""
    said = folded.replace(product, "produto") if product else folded
    fallen = any(not _OF_IT.search(found[1]) and found[1].strip() for found in _FALLEN.finditer(said))
    return fallen or bool(_SAVED.search(said))


_FALLEN = re.compile(r"([^.!?:;,\n]{0,60})\b(?:cai|caiu) (?:so |ate )?\d{1,2} ?%")
_OF_IT = re.compile(r"\b(?:preco|valor|ele|ela|tudo)\b")
_SAVED = re.compile(
    r"\beconomi\w+ (?:ate )?\d{1,2} ?% n[ao]s? (?!compra|preco|(?:seus? |suas? )?produto|pedido|loja|app|site|valor)\w+"
    r"|\b(?:caiu|baixou|perde) (?:so |ate )?r\$ ?\d"
    r"|\br\$ ?[\d.,]*\d (?:(?:a )?(?:menos|mais (?:em conta|barat|leve))|de volta|em (?!ate\b|dia|\d))"
    r"|\b(?:caiu|cai|baixou) \d{1,2} ?% [oa] |\b\d{1,2} ?% (?:mais (?!barat|em conta)[a-z])"
    r"|\btroque (?:[oa] )?(?:seu |sua )?(?:velh[oa] )?produto por r\$"
)
"""A price as what is saved, a share of what is no price, a thing in exchange for money."""


_IS = re.compile(r"\b[éÉ]\b")
_BESIDE = (
    r"(?<!para )(?<!pra )(?<!com )(?<!por )\b(?!(?:[dn][ao]s?|ao|em|com|para|pra|por|de|sem|seus?|suas?)\b)([a-z]+)"
    r" ([a-z]{4,20}) e (?:(?:uma?|[ao]|seu|sua) )?%s"
)


def offers_another(prompt: PromptLike, answer: str) -> bool:
    """Whether something else is offered beside the product («leve panela e fone»); what one word leads to is none
    («para a praia e fone»)."""
    product = prompt.reference.get("product", "")
    head = next(iter(stems(product)), "")
    beside = re.findall(_BESIDE % re.escape(head), fold(_IS.sub("eh", answer))) if head else []
    known = stems(f"{fold(prompt.user).replace(fold(product), ' ')} voce estilo conforto qualidade")
    return any(stem_of(thing) not in known for _, thing in beside)


def tells_offer(prompt: PromptLike, answer: str) -> float:
    """Share of what a brief offers that a push tells, in [0, 1]: prices, shares, codes and kinds of offers one each, a
    time that is set a half; 1 where nothing is offered."""
    product, brief = prompt.reference.get("product", ""), prompt.user
    told, known = numbers.told(answer), numbers.told(fold(brief).replace(fold(product) or "\0", " "))
    amounts = {(one.value, one.unit): one for one in known.numbers if one.unit in numbers.SIGNS}
    codes, given, kinds = offers.codes(brief), offers.kinds(brief, product), offers.kinds(answer, product)
    wanted = given - {
        "desconto",
        "gratis",
        "tudo",
        "pressa",
        "metade",
        "oferta",
        "servico",
        *(("cupom",) if codes else ()),
    }
    missing = [
        amount
        for amount in amounts.values()
        if not numbers.tells(told, amount) and not ("metade" in kinds and offers.is_half(amount))
    ]
    parts = [amount not in missing for amount in amounts.values()] + [code in answer for code in codes]
    told_kinds = [kind in kinds for kind in (wanted or (() if parts else given & {"gratis", "metade"}))]
    weight = BESIDE_AMOUNTS if parts else 1.0
    there = sum(parts) + weight * sum(told_kinds)
    of = len(parts) + weight * len(told_kinds)
    if len(amounts) == 2 and [one.value for one in missing] == [max(value for value, _ in amounts)]:
        of -= 0.5  # the old price may be left out
    if known.dates or numbers.weekdays(brief):
        there += 0.5 * bool(told.dates or numbers.weekdays(answer) or _WHEN.search(fold(answer)))
        of = max(1.0, of + 0.5)
    return clip(there / of / ENOUGH) if of else 1.0
