"""Business questions over a store, with the gold query and an explanation that quotes its result."""

from dataclasses import dataclass, replace
from random import Random

from data.generator.phrases import BANKS, FAMILIES
from data.generator.store import Store
from data.generator.words import brazilian
from tucano.specs.banks import JOINT, Bank, Pool, Reword
from tucano.specs.sql_qa import SqlAnswer

AMOUNTS = (50, 80, 100, 120, 150, 200, 250, 300, 400, 500)


@dataclass(frozen=True)
class Question:
    user: str
    template: str
    sql: str
    explanation: str
    reword: Reword | None = None

    def answer(self) -> SqlAnswer:
        return SqlAnswer(self.sql, self.explanation)


def ask(pool: Pool, store: Store, rng: Random) -> Question:
    """One question whose gold query has an answer in this store (rows, not NULL, not 0)."""
    while True:
        family = rng.choice([family for family in FAMILIES if family.bank.pool(pool)])
        text, template = _framed(family.bank.draw(pool, rng), BANKS["moldura"].draw(pool, rng))
        slots = slots_of(store, rng)
        question = filled(family.sql, family.explanation, template, text, slots, store)
        if question:
            return replace(question, reword=_rewordings(family.bank, slots)) if family.bank.known else question


def _framed(phrasing: tuple[str, str], frame: tuple[str, str]) -> tuple[str, str]:
    """(text with open slots, template)"""
    return frame[1].format(q=phrasing[1]), JOINT.join((phrasing[0], frame[0]))


def _rewordings(bank: Bank, slots: dict[str, str]) -> Reword:
    def reword(rng: Random) -> tuple[str, str]:
        text, template = _framed(bank.reword(rng), BANKS["moldura"].reword(rng))
        return text.format(**slots), template

    return reword


def slots_of(store: Store, rng: Random) -> dict[str, str]:
    """A value of the store, or a boundary, for each slot of a query and its question."""
    month = rng.choice(store.months)
    return {
        "uf": rng.choice(store.states),
        "cat": rng.choice(store.categories),
        "mes_sql": month,
        "mes": f"{month[5:]}/{month[:4]}",
        "pag": rng.choice(store.payments),
        "n": str(rng.choice((2, 3, 4, 5))),
        "v": str(rng.choice(AMOUNTS)),
        "k": str(rng.choice((1, 2, 3))),
        "par": str(rng.randint(2, 8)),
        "d": str(rng.randint(0, 9)),
    }


def filled(
    sql: str, explanation: str, template: str, text: str, slots: dict[str, str], store: Store
) -> Question | None:
    """The question with its slots filled; None where its query has no answer in this store, or more than one."""
    sql = sql.format(**{name: value.replace("'", "''") for name, value in slots.items()})
    rows = store.rows(sql)
    if not rows or rows[0][0] in (None, 0) or not _is_definite(sql, store):
        return None
    told = dict(zip("ab", map(_told, rows[0]), strict=False))
    return Question(text.format(**slots), template, sql, explanation.format(**slots, **told))


def _is_definite(sql: str, store: Store) -> bool:
    """False for a ranking with fewer rows than asked for, or with a tie among them or at the cut: its answer would be a
    matter of luck.
    """
    unlimited, _, limit = sql.partition(" LIMIT ")
    if not limit:
        return True
    wanted = int(limit.rstrip(";"))
    values = [row[1] for row in store.rows(unlimited)[: wanted + 1]]
    return len(values) >= wanted and len(set(values)) == len(values)


def _told(value: float | str) -> str:
    return brazilian(value) if isinstance(value, int | float) else str(value)
