"""Olist's CSV files, read, checked and translated into the columns that the rest uses."""

import re
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from data.sources.csv_files import numbers, read_table, times, without_personal_data
from tucano.errors import UserError

STATUS = {
    "delivered": "entregue",
    "shipped": "enviado",
    "canceled": "cancelado",
    "unavailable": "indisponível",
    "invoiced": "faturado",
    "processing": "em preparo",
    "created": "criado",
    "approved": "aprovado",
}
PAYMENT = {"credit_card": "cartão", "debit_card": "débito", "boleto": "boleto", "voucher": "voucher"}
REVIEW_COLUMNS = ("review_id", "order_id", "review_score", "review_comment_title", "review_comment_message")


@dataclass(frozen=True)
class OlistTables:
    """Joined where they join; a missing value is None or NaN.

    orders: order_id, month 'AAAA-MM', status, days_late, due, delivered, state. items: order_id, product_id, price,
    freight, category. payments: order_id, type, instalments, value. scores: order_id, score of every review. reviews:
    `REVIEW_COLUMNS` of those that have a text.
    """

    orders: pd.DataFrame
    items: pd.DataFrame
    payments: pd.DataFrame
    scores: pd.DataFrame
    reviews: pd.DataFrame
    last_day: pd.Timestamp
    """The last purchase: what was due before it and has no delivery date is late."""


def read_olist(folder: Path) -> OlistTables:
    """Raises `UserError` for a missing folder, file, column, or a file that is not as published."""
    if not folder.is_dir():
        raise UserError(f"data.path: there is no folder {folder}; name the folder of the Olist CSV files")
    orders = _orders(folder)
    scores, reviews = _reviews(folder)
    return OlistTables(orders, _items(folder), _payments(folder), scores, reviews, orders["purchased"].max())


def _orders(folder: Path) -> pd.DataFrame:
    path = folder / "olist_orders_dataset.csv"
    dates = ("order_purchase_timestamp", "order_delivered_customer_date", "order_estimated_delivery_date")
    table = read_table(path, ("order_id", "customer_id", "order_status", *dates))
    purchased, delivered, due = (times(table, column, path) for column in dates)
    customers = read_table(folder / "olist_customers_dataset.csv", ("customer_id", "customer_state")).drop_duplicates(
        "customer_id"
    )
    table = table.assign(
        purchased=purchased,
        delivered=delivered,
        due=due,
        days_late=(delivered.dt.normalize() - due.dt.normalize()).dt.days,
    )
    table = table.assign(month=purchased.dt.strftime("%Y-%m"), status=table["order_status"].map(STATUS))
    customers = customers.assign(state=without_personal_data(customers["customer_state"]))
    table = table.merge(customers, on="customer_id", how="left")
    return table.drop_duplicates("order_id")[
        ["order_id", "purchased", "month", "status", "days_late", "due", "delivered", "state"]
    ]


def _items(folder: Path) -> pd.DataFrame:
    path = folder / "olist_order_items_dataset.csv"
    items = read_table(path, ("order_id", "product_id", "price", "freight_value"))
    items = items.assign(price=numbers(items, "price", path), freight=numbers(items, "freight_value", path))
    products = read_table(
        folder / "olist_products_dataset.csv", ("product_id", "product_category_name")
    ).drop_duplicates("product_id")
    products = products.assign(
        category=without_personal_data(products["product_category_name"].map(readable, na_action="ignore"))
    )
    return items.merge(products, on="product_id", how="left")[
        ["order_id", "product_id", "price", "freight", "category"]
    ]


def readable(category: str) -> str:
    """`casa_conforto_2` as `casa conforto`."""
    return re.sub(r"_\d+$", "", category).replace("_", " ")


def _payments(folder: Path) -> pd.DataFrame:
    path = folder / "olist_order_payments_dataset.csv"
    table = read_table(path, ("order_id", "payment_type", "payment_installments", "payment_value"))
    return table.assign(
        type=table["payment_type"].map(PAYMENT),
        instalments=numbers(table, "payment_installments", path),
        value=numbers(table, "payment_value", path),
    )[["order_id", "type", "instalments", "value"]]


def _reviews(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(scores of the published reviews, reviews with a text from there and from any `*_reviews_text.csv`)."""
    published = _review_file(folder / "olist_order_reviews_dataset.csv")
    extra = [_review_file(path) for path in sorted(folder.glob("*_reviews_text.csv"))]
    scores = published[["order_id", "review_score"]].rename(columns={"review_score": "score"})
    texts = pd.concat([published, *extra]).drop_duplicates(["review_id", "order_id"])
    return scores, texts.dropna(subset=["review_comment_title", "review_comment_message"], how="all")


def _review_file(path: Path) -> pd.DataFrame:
    """Reviews with a score from 1 to 5; cells without a value are None."""
    table = read_table(path, REVIEW_COLUMNS)
    table = table.assign(review_score=numbers(table, "review_score", path))
    table = table[table["review_score"].isin([1, 2, 3, 4, 5])]
    return table.astype(object).where(table.notna(), None)
