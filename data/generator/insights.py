"""Insight briefs: labelled figures of one period and segment, a question about two of them, and advice that uses those
two.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from data.generator.phrases import BANKS
from data.generator.words import brazilian
from tucano.specs.banks import JOINT, Pool, Reword
from tucano.specs.insights import InsightsAnswer


@dataclass(frozen=True)
class Indicator:
    """A figure of a brief: how it is written, its range in generated briefs, what one does about it: steps that
    say what, how much and by when, since advice that fits any shop is a 3 (docs/rating-guide.md)."""

    label: str
    prefix: str
    suffix: str
    decimals: int
    low: float
    high: float
    actions: tuple[str, str]

    @property
    def unit(self) -> str:
        """«%», «R$» or none."""
        return (self.prefix or self.suffix).strip()

    def written(self, value: float) -> str:
        return f"{self.prefix}{brazilian(value, self.decimals)}{self.suffix}"


INDICATORS: tuple[Indicator, ...] = (
    Indicator("receita", "R$ ", "", 0, 8000, 95000, (
        "destacar por 30 dias os 20 itens mais vendidos para elevar a receita",
        "montar três combos acima de R$ 120 com os itens mais vendidos",
    )),
    Indicator("pedidos", "", "", 0, 90, 990, (
        "enviar cupom de 10% a quem não faz pedidos há 60 dias",
        "anunciar os 10 produtos mais vistos e medir os pedidos por 15 dias",
    )),
    Indicator("atraso", "", "%", 1, 2, 25, (
        "trocar a transportadora nas 3 rotas com mais atraso e medir por 30 dias",
        "avisar o cliente em até 24 horas quando o pedido for atrasar",
    )),
    Indicator("nota média", "", "", 1, 2.1, 4.8, (
        "responder em 48 horas às avaliações de 1 e 2 estrelas",
        "ligar para 20 clientes que deram nota baixa e corrigir o motivo mais citado",
    )),
    Indicator("recompra", "", "%", 1, 3, 30, (
        "enviar cupom de segunda compra 20 dias depois da entrega",
        "criar um clube de pontos com frete grátis a partir da 3ª compra",
    )),
    Indicator("devolução", "", "%", 1, 1, 15, (
        "refazer as fotos e medidas dos 10 itens mais devolvidos",
        "perguntar o motivo de cada devolução e corrigir os 5 itens com mais trocas",
    )),
    Indicator("frete médio", "R$ ", "", 2, 9, 48, (
        "testar por 30 dias frete grátis acima de R$ 150",
        "cotar o frete com 3 transportadoras e oferecer retirada na loja",
    )),
    Indicator("cancelamento", "", "%", 1, 1, 14, (
        "conferir o estoque 2 vezes por dia para evitar cancelamento",
        "aprovar os pedidos em até 2 horas e checar o estoque antes",
    )),
    Indicator("conversão", "", "%", 1, 0.8, 6, (
        "encurtar o checkout para 2 etapas e medir a conversão por 30 dias",
        "testar por 15 dias novas fotos na página dos 10 itens mais vistos",
    )),
    Indicator("ticket médio", "R$ ", "", 0, 60, 380, (
        "sugerir no carrinho itens complementares de até R$ 40",
        "montar kits com 10% de desconto a partir de 2 peças",
    )),
)  # fmt: skip
BY_LABEL: dict[str, Indicator] = {indicator.label: indicator for indicator in INDICATORS}

MONTH_NAMES = (
    "janeiro", "fevereiro", "março", "abril", "maio", "junho",
    "julho", "agosto", "setembro", "outubro", "novembro", "dezembro",
)  # fmt: skip
CHANNELS = (
    "loja online", "marketplace", "aplicativo", "região Sul", "região Sudeste", "região Nordeste", "clientes novos",
    "clientes antigos",
)  # fmt: skip


@dataclass(frozen=True)
class Segment:
    """A period and slice of the shop with its figures, by indicator label."""

    label: str
    figures: Mapping[str, float]


@dataclass(frozen=True)
class Brief:
    """`key` are the indicators that the question asks about."""

    user: str
    template: str
    figures: dict[str, float]
    key: tuple[str, ...]
    heading: str
    moved: Mapping[str, str] = field(default_factory=dict)
    """«up» or «down» for the figures that the brief says to have moved."""
    reword: Reword | None = None

    def answer(self, rng: Random) -> InsightsAnswer:
        first, second = (BY_LABEL[label] for label in self.key)
        diagnosis = (
            f"{first.label} de {first.written(self.figures[first.label])} e {second.label} de"
            f" {second.written(self.figures[second.label])}."
        )
        openings = rng.choice((("Recomendo", "Priorize"), ("Recomendo", "Vale"), ("Recomendamos", "Sugiro")))
        actions = tuple(
            f"{opening} {rng.choice(indicator.actions)}."
            for opening, indicator in zip(openings, (first, second), strict=True)
        )
        return InsightsAnswer(self.heading, diagnosis, actions)


def generated_segment(rng: Random) -> Segment:
    figures = {
        indicator.label: round(rng.uniform(indicator.low, indicator.high), indicator.decimals)
        for indicator in INDICATORS
    }
    return Segment(f"{rng.choice(MONTH_NAMES)} ({rng.choice(CHANNELS)})", figures)


def write_brief(pool: Pool, segment: Segment, rng: Random) -> Brief:
    """Three to five of the segment's figures, in random order, and a question about two of them."""
    labels = rng.sample(list(segment.figures), min(rng.randint(3, 5), len(segment.figures)))
    key = (labels[0], labels[1])
    shown = rng.sample(labels, len(labels))
    drawn = BANKS["resumo"].draw(pool, rng), BANKS["pedido"].draw(pool, rng)
    figures = {label: segment.figures[label] for label in shown}
    listed = "; ".join(f"{label} {BY_LABEL[label].written(value)}" for label, value in figures.items())
    heading = rng.choice(("Diagnóstico", "Análise", "Situação"))

    def laid_out(layout: tuple[str, str], question: tuple[str, str]) -> tuple[str, str]:
        asked = question[1].format(a=key[0], b=key[1])
        return layout[1].format(s=segment.label, f=listed, q=asked), JOINT.join((layout[0], question[0]))

    def reword(rng: Random) -> tuple[str, str]:
        return laid_out(BANKS["resumo"].reword(rng), BANKS["pedido"].reword(rng))

    return Brief(*laid_out(*drawn), figures, key, heading, reword=reword)
