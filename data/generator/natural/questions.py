"""Business questions as people of a shop ask them: a measure, its filters, sometimes a ranking, in words of their own.
The gold query is put together from the same parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from data.generator.insights import MONTH_NAMES
from data.generator.natural.tables import table
from data.generator.natural.writing import roughened
from data.generator.questions import Question, filled, slots_of
from data.generator.store import Store
from tucano.specs.banks import JOINT, Pool, Reword

RANKED_SHARE = 0.25
MOST_FILTERS = 2


@dataclass(frozen=True)
class Measure:
    """What one can ask for: the expression over a table, how explanations name it, and what may be asked about it.

    `filters` change no row's weight: none leads over a second table with several rows for one of the first. `bounds`
    are filters of the measure's own rows, at most one at a time. `groups`: columns to rank by.
    """

    table: str
    expression: str
    told: str
    filters: tuple[str, ...] = ("uf", "mes")
    bounds: tuple[str, ...] = ()
    groups: tuple[str, ...] = ("estado", "mes")
    money: bool = False


def _of_items(expression: str, told: str, money: bool = True) -> Measure:
    return Measure("itens", expression, told, ("uf", "mes", "cat"), (), ("estado", "mes", "categoria"), money)


def _of_payments(expression: str, told: str, bounds: tuple[str, ...] = (), money: bool = True) -> Measure:
    return Measure("pagamentos", expression, told, ("uf", "mes", "pag"), bounds, ("estado", "mes", "tipo"), money)


MEASURES: dict[str, Measure] = {
    "pedidos": Measure("pedidos", "COUNT(*)", "o total de pedidos", bounds=("cancelado", "entregue", "atraso")),
    "atraso_medio": Measure("pedidos", "ROUND(AVG(dias_atraso),2)", "a média dos dias de atraso"),
    "receita": _of_items("ROUND(SUM(preco),2)", "a receita dos itens"),
    "itens": _of_items("COUNT(*)", "o total de itens vendidos", money=False),
    "preco_medio": _of_items("ROUND(AVG(preco),2)", "o preço médio dos itens"),
    "preco_maximo": _of_items("MAX(preco)", "o maior preço"),
    "preco_minimo": _of_items("MIN(preco)", "o menor preço"),
    "frete_medio": _of_items("ROUND(AVG(frete),2)", "o frete médio"),
    "frete_total": _of_items("ROUND(SUM(frete),2)", "o total do frete"),
    "pagamentos": _of_payments("COUNT(*)", "o total de pagamentos", ("valor", "parcelas"), money=False),
    "ticket": _of_payments("ROUND(AVG(valor),2)", "o valor médio dos pagamentos"),
    "pago_total": _of_payments("ROUND(SUM(valor),2)", "o valor total dos pagamentos"),
    "parcelas_media": Measure("pagamentos", "ROUND(AVG(parcelas),2)", "a média de parcelas", bounds=("valor",)),
    "nota_media": Measure("avaliacoes", "ROUND(AVG(nota),2)", "a nota média"),
    "avaliacoes": Measure("avaliacoes", "COUNT(*)", "o total de avaliações", bounds=("baixas",)),
}
FILTERS: dict[str, tuple[str, str, str]] = {
    "uf": ("estado", "estado='{uf}'", "de {uf}"),
    "mes": ("mes", "mes='{mes_sql}'", "em {mes}"),
    "cat": ("categoria", "categoria='{cat}'", "da categoria {cat}"),
    "pag": ("tipo", "tipo='{pag}'", "com {pag}"),
    "cancelado": ("status", "status='cancelado'", "cancelados"),
    "entregue": ("status", "status='entregue'", "entregues"),
    "atraso": ("dias_atraso", "dias_atraso>{d}", "com mais de {d} dias de atraso"),
    "valor": ("valor", "valor>{v}", "acima de R$ {v}"),
    "parcelas": ("parcelas", "parcelas>={par}", "em {par} parcelas ou mais"),
    "baixas": ("nota", "nota<={k}", "com nota até {k}"),
}
"""{filter: (its column, the condition, how explanations tell it)}"""
GROUPS = {
    "estado": ("os", "estados"),
    "mes": ("os", "meses"),
    "categoria": ("as", "categorias"),
    "tipo": ("os", "tipos de pagamento"),
}
JOINS = (
    ("produtos", "produto_id", ("categoria",)),
    ("pedidos", "pedido_id", ("mes", "status", "dias_atraso", "estado")),
    ("clientes", "cliente_id", ("estado",)),
)
"""(table, its key, the columns for which it is joined), in the order of the joins."""


def ask(pool: Pool, store: Store, rng: Random) -> Question:
    """One question whose gold query has an answer in this store (rows, not NULL, not 0)."""
    while True:
        name = rng.choice(list(MEASURES))
        measure = MEASURES[name]
        ranked = rng.random() < RANKED_SHARE
        group = rng.choice(measure.groups) if ranked else None
        fitting = [code for code in measure.filters if FILTERS[code][0] != group]
        codes = rng.sample(fitting, rng.randint(0 if ranked else 1, min(MOST_FILTERS, len(fitting))))
        if measure.bounds and rng.random() < 0.6:
            codes.append(rng.choice(measure.bounds))
        slots = slots_of(store, rng)
        year, month = slots["mes_sql"].split("-")
        slots["mesnome"] = f"{MONTH_NAMES[int(month) - 1]} de {year}"
        rising = rng.random() < 0.3
        sql = query(measure, codes, group, rising)
        template, text = _phrased(pool, name, codes, group, rising, rng)
        question = filled(sql, _explained(measure, codes, group, rising), template, text, slots, store)
        if question:
            return replace(question, reword=_rewordings(name, codes, group, rising, slots))


def _rewordings(name: str, codes: Sequence[str], group: str | None, rising: bool, slots: dict[str, str]) -> Reword:
    def reword(rng: Random) -> tuple[str, str]:
        template, text = _phrased("known", name, codes, group, rising, rng)
        return text.format(**slots), template

    return reword


def query(measure: Measure, codes: Sequence[str], group: str | None, rising: bool) -> str:
    """The gold query, with open slots."""
    columns = {FILTERS[code][0] for code in codes} | ({group} if group else set())
    joined = "".join(
        f" JOIN {other} USING({key})"
        for other, key, needed in JOINS
        if other != measure.table and not columns.isdisjoint(needed)
    )
    where = " AND ".join(FILTERS[code][1] for code in codes)
    source = f"FROM {measure.table}{joined}" + (f" WHERE {where}" if where else "")
    if group is None:
        return f"SELECT {measure.expression} {source};"
    order = "ASC" if rising else "DESC"
    return (
        f"SELECT {group}, {measure.expression} AS total {source} GROUP BY {group} ORDER BY total {order} LIMIT {{n}};"
    )


def _phrased(
    pool: Pool, name: str, codes: Sequence[str], group: str | None, rising: bool, rng: Random
) -> tuple[str, str]:
    """(template, question), with the question's slots open."""
    words = table("questions")
    frame_name, frame = words.draw("ranking" if group else "pergunta", pool, rng)
    drawn = [words.draw(bank, pool, rng) for bank in (name, *codes)]
    bounds_first = sorted(drawn[1:], key=lambda part: part[0].partition(".")[0] in ("uf", "mes", "cat", "pag"))
    parts = {"m": drawn[0][1], "f": " ".join(text for _, text in bounds_first)}
    if group:
        article, plural = GROUPS[group]
        bare = drawn[0][1].partition(" ")[2].removeprefix("maior ").removeprefix("menor ")
        parts |= {"m": bare, "os": article, "g": plural, "mais": "menor" if rising else "maior", "n": "{n}"}
    text = roughened(words.worded(frame.format(**parts), rng), rng)
    return JOINT.join([frame_name, *(part for part, _ in drawn)]), text


def _explained(measure: Measure, codes: Sequence[str], group: str | None, rising: bool) -> str:
    told = " ".join([measure.told, *(FILTERS[code][2] for code in reversed(codes))])
    unit = "R$ " if measure.money else ""
    if group is None:
        return f"A consulta lê os dados da loja e calcula {told}: {unit}{{a}}."
    _, plural = GROUPS[group]
    way = "do menor para o maior" if rising else "do maior para o menor"
    return f"A consulta ordena {plural} pel{told}, {way}: {{a}} vem primeiro, com {unit}{{b}}."
