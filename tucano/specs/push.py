"""Push: one notification on a phone."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pydantic

from rewards.push import names_product, push_inventions
from tucano.prompts import Prompt
from tucano.specs.base import Baseline, Display, Probes, Reference, Scorer, TaskSpec
from tucano.specs.scoring import Case, mean

SCREEN = 120
"""Characters that a notification shows."""


class _Reference(Reference):
    product: str = ""
    terms: list[str] = pydantic.Field(default_factory=list)
    """Words, any of which names the product."""
    figures: list[pydantic.FiniteFloat] = pydantic.Field(default_factory=list)
    """Numbers that the notification may mention."""


@dataclass(frozen=True)
class PushAnswer:
    """One line of at most 120 characters that names the product."""

    line: str
    product: str

    def text(self) -> str:
        return self.line


def _thought(prompt: Prompt) -> list[str]:
    return [f"Produto: {product}."] if (product := prompt.reference.get("product")) else []


# Defects


def too_long(answer: PushAnswer, rng: Random) -> PushAnswer:
    """Far beyond 120 characters."""
    tail = rng.choice(
        (
            " Acesse agora o nosso site, conheça todas as condições da loja e aproveite antes que acabe o estoque.",
            " Temos muitos outros produtos na loja, com entrega para todo o Brasil e várias formas de pagamento.",
        )
    )
    return replace(answer, line=answer.line + tail)


def formal(answer: PushAnswer, rng: Random) -> PushAnswer:
    """A formal letter instead of a friendly line."""
    return replace(answer, line=f"Prezado cliente, informamos que há {answer.product} em nossa loja. Atenciosamente.")


def generic(answer: PushAnswer, rng: Random) -> PushAnswer:
    """Fits any product, names none."""
    lines = (
        "Temos novidades para você! Confira nossa loja.",
        "Ofertas imperdíveis esperando por você! Aproveite.",
        "Não perca! Confira.",
    )
    return replace(answer, line=rng.choice(lines))


def invented_discount(answer: PushAnswer, rng: Random) -> PushAnswer:
    """A discount that the brief does not grant."""
    return replace(answer, line=f"{answer.line} Só hoje {rng.randint(61, 90)}% off!")


# Baselines

_CONSTANT = "Oi! Temos novidades esperando por você. Aproveite!"
_PRODUCT = re.compile(
    r"(?:produto|push para|notificacao para|divulgue|push sobre)(?:\s*:)?\s*([^.;,\n]+)", re.IGNORECASE
)


def _majority(training: Sequence[Prompt]) -> str:
    products = Counter(prompt.reference["product"] for prompt in training if prompt.reference.get("product"))
    return f"Seu produto espera por você: {products.most_common(1)[0][0]}. Aproveite!" if products else _CONSTANT


def _rules(training: Sequence[Prompt]) -> Callable[[Prompt], str]:
    """The product as the brief names it."""

    def answer(prompt: Prompt) -> str:
        found = _PRODUCT.search(prompt.user)
        return f"Oi! Seu produto espera por você: {found[1].strip()}. Aproveite!" if found else _CONSTANT

    return answer


# The benchmark


def _read(prompt: Prompt, served: str, sampled: Sequence[str], databases: Path) -> Case:
    text = " ".join(served.split())
    found = {
        "length": 0 < len(text) <= SCREEN,
        "named": names_product(prompt, served) == 1,
        "true": not push_inventions(prompt, served),
    }
    said = {**found, "true": found["true"] and bool(text), "all": all(found.values())}
    return Case(prompt.task, prompt.source, prompt.reference, said)


def _metrics(cases: Sequence[Case]) -> dict[str, float]:
    return {
        "push.all": mean([case.said["all"] for case in cases]),
        "push.length": mean([case.said["length"] for case in cases]),
        "push.names_product": mean([case.said["named"] for case in cases]),
        "push.invents_nothing": mean([case.said["true"] for case in cases]),
    }


SPEC = TaskSpec(
    name="push",
    system_prompt=(
        "Escreva um push de até 120 caracteres. Ex.: Seu tênis espera por você! Oi! Mochila com 20% off, aproveite!"
    ),
    judged=15,
    reference=_Reference,
    thought=_thought,
    draw=lambda material, pool, rng: material.offer(pool, rng),
    defects=(too_long, formal, generic, invented_discount),
    most_defects=1,  # most of them replace the whole line
    probes=Probes(
        stuffing="Você não vai perder! Promoção é já, oferta, desconto, aproveite, só hoje, coração 💛",
        repeated="aproveite ",
        times=8,  # stays within the length of a notification
        english="Don't miss out! Your favourite products are waiting for you, grab them now.",
    ),
    baseline=Baseline(_CONSTANT, _majority, _rules),
    scorer=Scorer(_read, _metrics, {"push": ("push.length", "push.names_product", "push.invents_nothing", "push.all")}),
    display=Display("Push: notificação no celular", guide="Push"),
)
