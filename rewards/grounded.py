"""Reward set `grounded`: form, plus truth where a prompt's reference holds some; dense, and hard to please without an
answer.

All credit is multiplied by gates: how much the text is an answer at all (Portuguese, in order, whole, not the same
again and again, not the prompt copied, not taken back), and how much of it is true. Where a reference is empty nothing
is known to be true, and the credit for form is scaled up to fill [0, 1].
"""

from dataclasses import dataclass
from pathlib import Path

from rewards import v42
from rewards.extraction import Extraction
from rewards.open.insights import Insights
from rewards.open.prose import LETTER
from rewards.open.push import has_options, is_about_pushes, push_inventions
from rewards.parsing import advice as advising
from rewards.parsing import offers, text
from rewards.parsing.calls import CALLS, URGES, flat, invites, is_hollow, is_order, pads
from rewards.parsing.fluency import PUSH, reads_well, stepped, unnamed
from rewards.parsing.offers import names_product, push_figures
from rewards.parsing.prose import is_scrappy, ordered, stands
from rewards.sql_qa import SqlQa
from rewards.types import Component, PromptLike, TaskReward, clip, filled
from rewards.wording.unwanted import repels

FALSE = 0.3
"""Credit of a push that says something false; `open` has its own."""
WITHOUT_PRODUCT = 0.35
NO_INVITATION = 0.3
"""Credit of a push that neither speaks to anybody nor calls to act."""
OFFER_ALONE = 0.8
"""Credit where it tells at least what is offered of what («Patinete com 15% de desconto.»)."""
NOT_ONE = 0.25
"""Credit of a text with more than one object, push or product, or that tells what a push is."""
TOO_LONG = 0.45
PADDED = 0.5
"""Credit of a push that is too long by far, and of one that goes on about the shop."""
ASIDE = 0.25
"""Credit of a push whose product stands where no thing is named («Você não se vê de celular»)."""
FORMAL = 0.75
UNTOLD = 0.75
"""Credit of a push in the tone of a letter, and of one without its brief's offer (of 143 none is a 4)."""
LONGEST_PUSH = 600
"""Characters from which on a text is none at all: several times those from which on its length earns nothing."""


def _is_answer(answer: str, tokens: list[str], prompt: PromptLike) -> float:
    """How much a text is an answer at all, in [0, 1]: Portuguese, in order and whole, with variety and words of its
    own; nothing of one that takes itself back or offers several.
    """
    if not stands(answer) or is_scrappy(answer):
        return 0.0
    own = text.portuguese(tokens) * text.variety(tokens) * text.originality(tokens, prompt.user)
    whole = text.sound(answer, prompt.user) * stepped(ordered(unnamed(answer, prompt)))
    return own * whole


@dataclass(frozen=True)
class Push:
    components: tuple[Component, ...] = (
        Component(
            "push.length",
            0.25,
            "up to 120 characters, falling to 0 at 200",
            f"all credit falls with its square to {TOO_LONG:.0%}",
        ),
        Component(
            "push.product",
            0.30,
            "names the product",
            f"without it the other credit shrinks to {WITHOUT_PRODUCT:.0%}, of two pushes to {NOT_ONE:.0%}, without an"
            f" invitation to {NO_INVITATION:.0%} ({OFFER_ALONE:.0%} with its offer); a text of advertising"
            " words loses all from 70 to 95 %",
        ),
        Component("push.portuguese", 0.20, "Portuguese and not generic; prose must read"),
        Component(
            "push.reason",
            0.25,
            "the offer of the brief, a reason or a call to act",
            f"either earns 60 %; {UNTOLD:.0%} of all credit without the brief's offer, x .875 for stock words alone",
        ),
        Component(
            "push.invented",
            -0.10,
            "numbers that the brief does not know, offers that it does not grant, another product",
            f"{WITHOUT_PRODUCT:.0%} of it without the product; and any leaves {FALSE:.0%} of all other credit",
        ),
        Component("push.formal", -0.20, "the tone of a formal e-mail", f"{FORMAL:.0%} of the credit is left"),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        known = bool(product := prompt.reference.get("product", ""))
        if (length := len(text.squeeze(answer))) > LONGEST_PUSH:
            return (0.0,) * len(self.components)
        folded = text.fold(answer)
        named = names_product(prompt, answer)
        urges = URGES.findall(folded)
        shown = text.figures(text.spelled(answer, counts=False))
        figure = any(text.occurs(number, shown) for number in push_figures(prompt))
        told = figure or (known and offers.passes_on(answer, prompt.user, product))
        inventions = push_inventions(prompt, answer)
        worth = 1.0 if named or not known else WITHOUT_PRODUCT
        fits = v42.push_length_share(length)
        offered = known and offers.offers_something(prompt.user, product)
        tells = offered and named and told and (figure or not push_figures(prompt))
        gate = _is_one_push(answer, prompt, len(urges), tells) * worth * (FALSE if inventions else 1.0)
        gate *= PADDED if fits < 1 and pads(folded) else 1.0
        gate *= ASIDE if named and known and not offers.leads_to_product(prompt, answer) else 1.0
        gate *= UNTOLD if offered and not told else 1.0
        own = flat(folded, text.fold(prompt.user)) if known else 1.0
        is_formal = bool(LETTER.search(folded))
        gate *= (TOO_LONG + (1 - TOO_LONG) * fits**2) * (FORMAL if is_formal else own)
        shares = (
            gate * fits,
            gate * named,
            gate * clip(1 - len(v42.GENERIC.findall(folded)) / 2),
            gate * clip(0.6 * bool(urges or CALLS.search(folded) or "?" in answer) + 0.6 * told),
            worth * (inventions > 0),  # else another product with a price would be as bad as no words at all
            float(is_formal),
        )
        return filled(shares, self.components, frozenset({"push.product"}), known)


def _is_one_push(answer: str, prompt: PromptLike, urges: int, tells: bool) -> float:
    """How much a text is one notification that invites to its product, and not only advertising words. `tells`: it
    names product and offer."""
    folded = text.fold(answer)
    tokens = text.words(folded)
    if repels(prompt, answer):
        return 0.0
    named = sum(names_product(prompt, line) for line in answer.splitlines() if line)
    several = named > 1 or has_options(answer) or is_about_pushes(prompt, answer) or is_order(folded, prompt)
    talk = clip((0.95 - urges / max(1, len(tokens))) / 0.25)
    one = NOT_ONE if several or is_hollow(folded) or advising.said_again(folded) < 1 else 1.0
    invited = 1.0 if invites(folded) else OFFER_ALONE if tells else NO_INVITATION
    gate = _is_answer(answer, tokens, prompt) * talk * one * invited
    return gate if gate and reads_well(answer, prompt, PUSH) else 0.0


TASKS: dict[str, TaskReward] = {"extraction": Extraction(), "sql_qa": SqlQa(), "insights": Insights(), "push": Push()}
