"""Push briefs: a product, sometimes with an offer, and a friendly line of at most 120 characters."""

from dataclasses import dataclass
from random import Random

from data.generator.phrases import BANKS
from tucano.specs.banks import JOINT, Pool, Reword
from tucano.specs.push import PushAnswer

COUPONS = ("VOLTEI", "QUERO", "OFERTA", "CLUBE", "PRIMEIRA", "SURPRESA")


@dataclass(frozen=True)
class Offer:
    """What the brief promises; `words` stands in the answer, `detail` is its figure or code."""

    kind: str
    brief: str
    words: str
    detail: str = ""

    @property
    def figures(self) -> tuple[float, ...]:
        """The numbers that the answer may mention."""
        return (float(self.detail),) if self.detail.isdigit() else ()


@dataclass(frozen=True)
class PushBrief:
    user: str
    template: str
    product: str
    offer: Offer
    reword: Reword | None = None

    def answer(self, rng: Random) -> PushAnswer:
        return PushAnswer(
            rng.choice(LINES if self.offer.words else PLAIN_LINES).format(p=self.product, w=self.offer.words),
            self.product,
        )


LINES = (
    "Oi! Tem {p} {w} para você. Aproveite! 🎉",
    "Que tal {p} {w}? Corra e garanta já!",
    "Sua oferta chegou: {p} {w}. Aproveite hoje!",
    "Você merece: {p} {w}. Vem conferir! 😍",
)
PLAIN_LINES = (
    "Oi! Tem {p} esperando por você. Aproveite! 🎉",
    "Que tal {p} hoje? Corra e garanta já!",
    "Sua novidade chegou: {p}. Aproveite hoje!",
    "Você merece: {p}. Vem conferir! 😍",
)


def draw_offer(price: float | None, rng: Random) -> Offer:
    """Nothing, a discount, a price (the given one, or a drawn one), a coupon or free shipping."""
    kind = rng.choice(("none", "discount", "discount", "price", "price", "coupon", "shipping"))
    if kind == "discount":
        percent = rng.randint(5, 60)
        return Offer(kind, f"Desconto: {percent}%.", f"com {percent}% de desconto", str(percent))
    if kind == "price":
        amount = round(price) if price is not None else rng.randint(19, 399)
        return Offer(kind, f"Preço: R$ {amount}.", f"por R$ {amount}", str(amount))
    if kind == "coupon":
        coupon = rng.choice(COUPONS)
        return Offer(kind, f"Cupom: {coupon}.", f"com o cupom {coupon}", coupon)
    if kind == "shipping":
        return Offer(kind, "Frete grátis.", "com frete grátis")
    return Offer(kind, "Sem oferta.", "")


def write_push(pool: Pool, product: str, price: float | None, rng: Random) -> PushBrief:
    """A brief for the product; half of them name the audience."""
    drawn = BANKS["push"].draw(pool, rng)
    offer = draw_offer(price, rng)
    audience = [BANKS["publico"].draw(pool, rng)] if rng.random() < 0.5 else []

    def laid_out(name: str, layout: str) -> tuple[str, str]:
        parts = [(name, layout.format(p=product, o=offer.brief)), *audience]
        return " ".join(text for _, text in parts), JOINT.join(name for name, _ in parts)

    return PushBrief(*laid_out(*drawn), product, offer, lambda rng: laid_out(*BANKS["push"].reword(rng)))
