"""Further stores for the same questions: the schema and the shop's habits of `store.sqlite`, other contents.

A wrong query may give the right result on one store by luck: another state with the same number of orders, `>=` for
`>` where no row lies on the boundary. It seldom does on several (test-suite accuracy: Zhong, Yu, Klein 2020). So each
further store is a subsample of the first that is perturbed where questions look:

- states, months, categories, statuses and payment types get new shares, so that counts of different values differ;
- half of the amounts, delays, instalments and scores lie on a boundary that a question may ask for, or just beside it;
- some customers have several orders, some orders no review or two, some products were never sold;
- the same months of the years beside occur, and no state is the only one with its first letter: neither is told by a
  part of its name, nor a month by what comes before or after it;
- every fourth order repeats the one before, customer, month and amounts, and half of the prices and freights are round:
  what is counted or summed but once differs under most filters.

What always holds in the first store holds here too, so that no right query becomes wrong: every key has its row, a
missing delay stays missing, an order's only payment is the sum of its items, and what was paid at once stays so.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import sqrt
from random import Random
from typing import Any

from data.generator.store import Row, Tables

FURTHER = 4
ORDERS = 700
REPEATED = 4
"""Every so many orders one repeats the order before."""
BESIDE = 0.15
"""Share of the months, and of some states, that give way to one beside them."""
CENT = 0.01
_BESIDE_STATES = {"M": "MT"}
"""A state for a first letter; else a code of none («BX»), as of orders from abroad."""


def further_tables(tables: Tables, amounts: Iterable[int], rng: Random) -> Tables:
    """Another shop: `ORDERS` orders drawn from `tables`; `amounts` (R$) are the boundaries that questions ask for."""
    states = _Shares([state for _, state in tables.clientes], rng, _states_beside(tables))
    months = _Shares([order[2] for order in tables.pedidos], rng, _years_beside)
    categories = _Shares([category for _, category in tables.produtos], rng)
    boundaries = [amount + shift for amount in amounts for shift in (0, 0, CENT, -CENT)]
    items, payments, scores = (_by_order(rows) for rows in (tables.itens, tables.pagamentos, tables.avaliacoes))
    made = Tables(produtos=[(number, categories.redraw(category)) for number, category in tables.produtos])
    for order, (old, _, month, status, delay) in enumerate(_drawn(tables, payments, rng), start=1):
        if order % REPEATED:
            is_another = rng.random() < 0.2
            rated = scores[old][: 0 if rng.random() < 0.05 else None] * rng.choices((1, 2), (95, 5))[0]
            given = [_near(score, range(1, 6), rng) for _, score in rated]
            is_whole = delay is not None and bool(given) and not is_another
            if tables.clientes and (not made.clientes or rng.random() < 0.8):
                state = states.redraw(rng.choice(tables.clientes)[1], is_whole)
                made.clientes.append((len(made.clientes) + 1, state))
            client = rng.choice(made.clientes)[0] if is_another else len(made.clientes)
            placed = (client, months.redraw(month, is_whole), status, _near(delay, range(11), rng))
            sold, paid = _bill(items[old], payments[old], boundaries, rng)
        made.pedidos.append((order, *placed))
        made.itens += [(order, *item) for item in sold]
        made.pagamentos += [(order, *payment) for payment in paid]
        made.avaliacoes += [(order, score) for score in given]
    return made


class _Shares:
    """The values of a column with new shares: a value's own, flattened, times chance."""

    def __init__(
        self, column: list[str | None], rng: Random, beside: Callable[[str], Sequence[str]] = lambda _: ()
    ) -> None:
        """`beside`: values for `BESIDE` of the cells, given what would stand there."""
        counts = Counter(value for value in column if value is not None)
        self._values = sorted(counts)
        self._weights = [sqrt(counts[value]) * rng.lognormvariate(0, 0.5) for value in self._values]
        self._beside = beside
        self._settled: set[str] = set()
        self._rng = rng

    def redraw(self, value: str | None, is_whole: bool = True) -> str | None:
        """The value itself for one in four, else another; what is missing stays missing.

        A value beside first comes with a whole order, delivered and reviewed: the first store's groups all have one,
        and without it a right ranking of means or counts would differ from the gold one.
        """
        if value is None:
            return value
        drawn = value if self._rng.random() < 0.25 else self._rng.choices(self._values, self._weights)[0]
        others = self._beside(drawn)
        if not others or self._rng.random() >= BESIDE:
            return drawn
        other = self._rng.choice(others)
        if is_whole:
            self._settled.add(other)
        return other if other in self._settled else drawn


def _years_beside(month: str) -> list[str]:
    """«2018-04»: the same month of the year before and of the year after."""
    year, _, rest = month.partition("-")
    return [f"{int(year) + step}-{rest}" for step in (-1, 1)] if len(year) == 4 and year.isdecimal() else []


def _states_beside(tables: Tables) -> Callable[[str], list[str]]:
    """A code with the same first letter for each state that no other of the shop shares it with."""
    letters = Counter(state[0] for state in {state for _, state in tables.clientes if state})
    return lambda state: [_BESIDE_STATES.get(state[0], f"{state[0]}X")] if letters[state[0]] == 1 else []


def _by_order(rows: list[Row]) -> Mapping[int, list[Row]]:
    found: defaultdict[int, list[Row]] = defaultdict(list)
    for row in rows:
        found[row[0]].append(row)
    return found


def _drawn(tables: Tables, payments: Mapping[int, list[Row]], rng: Random) -> list[Row]:
    """Orders, with new shares of each status and each way to pay."""
    kinds = [(order[3], payments[order[0]][0][1] if payments[order[0]] else None) for order in tables.pedidos]
    counts = Counter(kinds)
    chance = {kind: rng.lognormvariate(0, 0.5) / sqrt(count) for kind, count in counts.items()}
    return rng.choices(tables.pedidos, [chance[kind] for kind in kinds], k=ORDERS)


def _near(value: Any, boundaries: range, rng: Random) -> Any:
    """The value for one in two, else one of the boundaries; what is missing stays missing."""
    return value if value is None or rng.random() < 0.5 else rng.choice(boundaries)


def _bill(
    items: list[Row], payments: list[Row], boundaries: list[float], rng: Random
) -> tuple[list[list[Any]], list[list[Any]]]:
    """An order's items (product, price, freight) and payments (type, instalments, value), with other amounts."""
    sold = [[product, _jittered(price, rng), _jittered(freight, rng)] for _, product, price, freight in items]
    paid = [[kind, _instalments(parts, rng), value] for _, kind, parts, value in payments]
    if len(paid) == 1 and sold and all(None not in item for item in sold):
        total = sum(price + freight for _, price, freight in sold)
        wanted = rng.choice(boundaries)
        if rng.random() < 0.5 and sold[0][1] + wanted - total > 1:
            sold[0][1] = round(sold[0][1] + wanted - total, 2)
            total = sum(price + freight for _, price, freight in sold)
        paid[0][2] = round(total, 2)
    return sold, paid


def _jittered(amount: float | None, rng: Random) -> float | None:
    """Another amount; one in two is round, and so stands in several rows."""
    if amount is None:
        return None
    other = amount * rng.lognormvariate(0, 0.2)
    return round(other, 2) if rng.random() < 0.5 else max(10.0, round(other, -1))


def _instalments(parts: int | None, rng: Random) -> int | None:
    return parts if parts == 1 else _near(parts, range(2, 10), rng)
