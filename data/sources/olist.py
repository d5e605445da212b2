"""The Olist public dataset: real reviews for extraction, the real tables for SQL, their figures for insights, their
categories for push.

Only extraction demonstrations are synthetic reviews; the other tasks' questions, briefs and answers are made from the
real tables by the same families. Tables join where they join: a review without its order, an order without items, an
item without a category are used as far as they go.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd

from data.generator.insights import MONTH_NAMES, Segment
from data.generator.store import Tables
from data.sources import NONCOMMERCIAL
from data.sources.csv_files import TableReader
from data.sources.olist_tables import REVIEW_COLUMNS, OlistTables, read_olist
from data.sources.reviews import RealReview, ReviewSource, join_title
from tucano.errors import UserError
from tucano.settings.data import UNREADABLE, Style

STORE_ORDERS = 2000
"""Orders in the store: enough for every family of questions, few enough that a gold query takes less than 5 ms."""

SMALLEST_SEGMENT = 20
"""Orders that a month of one state or category needs, so that its percentages mean something."""


class OlistSource(ReviewSource):
    """Silver truth of reviews: sentiment and score from the stars, delivery issue from the dates, category from the
    items.
    """

    name = "olist"
    generated_source = "olist"
    generated_licence = NONCOMMERCIAL

    def __init__(
        self, path: Path, folder: Path, seed: int, style: Style = "plain", most_bad: float = UNREADABLE
    ) -> None:
        files = TableReader(most_bad)
        self._olist = read_olist(path, files)
        self._segments = segments(self._olist)
        self._products = _products(self._olist)
        if not self._segments or not self._products:
            raise UserError(
                f"data.path: the orders in {path} do not join with items and categories; insights and push need the"
                " published tables"
            )
        super().__init__(olist_reviews(self._olist), files, folder, seed, style)
        if not all((self.store.states, self.store.categories, self.store.months, self.store.payments)):
            raise UserError(
                f"data.path: too few orders in {path} join with customers, items and payments to ask questions about;"
                " sql_qa needs the published tables"
            )

    def tables(self, rng: Random) -> Tables:
        return store_tables(self._olist, rng)

    def segment(self, rng: Random) -> Segment:
        return rng.choice(self._segments)

    def product(self, rng: Random) -> tuple[str, float | None]:
        return rng.choice(self._products)


def olist_reviews(olist: OlistTables) -> Iterator[RealReview]:
    facts = olist.orders.set_index("order_id")
    awaited = facts["delivered"].isna() & ~facts["status"].isin(["cancelado", "indisponível"])
    late = (facts["days_late"] > 0) | (awaited & (facts["due"] < olist.last_day))
    on_time = facts["days_late"] <= 0
    named = (
        olist.items.dropna(subset=["category"])
        .drop_duplicates(["order_id", "category"])
        .drop_duplicates("order_id", keep=False)
    )
    category_of = dict(zip(named["order_id"], named["category"], strict=True))
    late_orders = set(late[late].index)
    punctual_orders = set(on_time[on_time].index)
    columns = (olist.reviews[name].tolist() for name in tuple(REVIEW_COLUMNS)[1:])
    for order, score, title, message in zip(*columns, strict=True):
        silver: dict[str, Any] = {}
        if order in late_orders:
            silver["delivery_issue"] = True
        elif order in punctual_orders and score >= 4:
            silver["delivery_issue"] = False
        yield RealReview(join_title(title, message), int(score), category_of.get(order), silver)


def store_tables(olist: OlistTables, rng: Random) -> Tables:
    """Up to `STORE_ORDERS` random orders with what belongs to them, under small consecutive numbers instead of Olist's
    ids.
    """
    chosen = olist.orders.iloc[sorted(rng.sample(range(len(olist.orders)), min(STORE_ORDERS, len(olist.orders))))]
    number = {order: position for position, order in enumerate(chosen["order_id"], start=1)}
    items = olist.items[olist.items["order_id"].isin(number)]
    products = items.drop_duplicates("product_id")
    product_number = {product: position for position, product in enumerate(products["product_id"], start=1)}
    payments = olist.payments[olist.payments["order_id"].isin(number)]
    scores = olist.scores[olist.scores["order_id"].isin(number)]
    return Tables(
        clientes=_rows(chosen["order_id"].map(number), chosen["state"]),
        produtos=_rows(products["product_id"].map(product_number), products["category"]),
        pedidos=_rows(
            chosen["order_id"].map(number),
            chosen["order_id"].map(number),
            chosen["month"],
            chosen["status"],
            chosen["days_late"],
        ),
        itens=_rows(
            items["order_id"].map(number), items["product_id"].map(product_number), items["price"], items["freight"]
        ),
        pagamentos=_rows(
            payments["order_id"].map(number), payments["type"], payments["instalments"], payments["value"]
        ),
        avaliacoes=_rows(scores["order_id"].map(number), scores["score"]),
    )


def _rows(*columns: pd.Series) -> list[tuple[Any, ...]]:
    """Rows of plain Python values, None for what is missing."""
    cells = [[None if pd.isna(value) else value for value in column.astype(object)] for column in columns]
    return [
        tuple(int(value) if isinstance(value, float) and value.is_integer() else value for value in row)
        for row in zip(*cells, strict=True)
    ]


def segments(olist: OlistTables) -> list[Segment]:
    """Every month of a state, of a category, and as a whole, that has enough orders; the labels sorted, so that draws
    are repeatable.
    """
    items = olist.items.merge(olist.orders, on="order_id")
    scores = olist.scores.groupby("order_id")["score"].mean().rename("score")
    found: list[Segment] = []
    for grouping, frame in (
        ("state", items),
        ("category", items.dropna(subset=["category"])),
        ("all", items.assign(all="todo o Brasil")),
    ):
        for key, rows in frame.groupby(["month", grouping]):
            month, name = map(str, key)
            if rows["order_id"].nunique() >= SMALLEST_SEGMENT:
                found.append(
                    Segment(f"{MONTH_NAMES[int(month[5:]) - 1]} de {month[:4]} ({name})", _figures(rows, scores))
                )
    return sorted((segment for segment in found if len(segment.figures) >= 3), key=lambda segment: segment.label)


def _figures(rows: pd.DataFrame, scores: pd.Series) -> dict[str, float]:
    """The indicators of a segment, rounded as they are written; those that are 0 or unknown are left out."""
    orders = rows.drop_duplicates("order_id").set_index("order_id")
    revenue = float(rows["price"].sum())
    delivered = orders["days_late"].dropna()
    exact = {
        "receita": (revenue, 0),
        "pedidos": (float(len(orders)), 0),
        "atraso": (100 * float((delivered > 0).mean()), 1),
        "nota média": (float(scores.reindex(orders.index).mean()), 1),
        "frete médio": (float(rows["freight"].mean()), 2),
        "cancelamento": (100 * float((orders["status"] == "cancelado").mean()), 1),
        "ticket médio": (revenue / len(orders), 0),
    }
    rounded = {label: round(value, places) for label, (value, places) in exact.items()}
    return {label: value for label, value in rounded.items() if value > 0}


def _products(olist: OlistTables) -> list[tuple[str, float | None]]:
    """Categories (Olist has no product names) with their median price in R$, None where it is not known."""
    medians = olist.items.dropna(subset=["category"]).groupby("category")["price"].median()
    return [(str(category), float(price) if price > 0 else None) for category, price in medians.items()]
