"""Briefs for a push as a marketing team writes them: a note about the product and its offer, sometimes for whom and in
which tone.
"""

from random import Random

from data.generator.natural.tables import table
from data.generator.natural.writing import roughened
from data.generator.pushes import PushBrief, draw_offer
from tucano.specs.banks import JOINT, Pool
from tucano.specs.push import PushAnswer

AUDIENCE_SHARE, TONE_SHARE = 0.4, 0.35
BANKS = {"discount": "desconto", "price": "preco", "coupon": "cupom", "shipping": "frete", "none": "nada"}


class NaturalPush(PushBrief):
    """A brief whose answer is one of some more lines."""

    def answer(self, rng: Random) -> PushAnswer:
        bank = "linha" if self.offer.words else "linha_sem_oferta"
        _, line = table("pushes").draw(bank, "known", rng)
        return PushAnswer(line.format(p=self.product, w=self.offer.words), self.product)


def write_push(pool: Pool, product: str, price: float | None, rng: Random) -> PushBrief:
    """A brief for the product, with its offer in one of several wordings."""
    offer = draw_offer(price, rng)
    layout, *said = [table("pushes").draw(bank, pool, rng) for bank in ("push", BANKS[offer.kind])]
    for bank, share in (("publico", AUDIENCE_SHARE), ("tom", TONE_SHARE)):
        if rng.random() < share:
            said.append(table("pushes").draw(bank, pool, rng))

    def laid_out(layout: tuple[str, str], rng: Random) -> tuple[str, str]:
        user = layout[1].replace("{o}", said[0][1])
        for _, text in said[1:]:
            user = f"{user} {text}" + ("" if user.endswith("!") else ".")
        user = roughened(user, rng).format(p=product, v=offer.detail, c=offer.detail)
        return user, JOINT.join(name for name, _ in (layout, *said))

    return NaturalPush(
        *laid_out(layout, rng), product, offer, lambda rng: laid_out(table("pushes").draw("push", "known", rng), rng)
    )
