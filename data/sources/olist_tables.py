"""Olist's CSV files, read, checked and translated into the columns that the rest uses."""

import re
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from data.sources.csv_files import Kind, TableReader, without_personal_data
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
REVIEW_COLUMNS: dict[str, Kind | None] = {
    "review_id": "id", "order_id": "id", "review_score": "stars", "review_comment_title": None,
    "review_comment_message": None,
}  # fmt: skip


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


def read_olist(folder: Path, files: TableReader) -> OlistTables:
    """Raises `UserError` for a missing folder, file, column, or a file that is not as published."""
    if not folder.is_dir():
        raise UserError(f"data.path: there is no folder {folder}; name the folder of the Olist CSV files")
    orders = _orders(folder, files)
    scores, reviews = _reviews(folder, files)
    last_day = orders["purchased"].max()
    return OlistTables(orders, _items(folder, files), _payments(folder, files), scores, reviews, last_day)


def _orders(folder: Path, files: TableReader) -> pd.DataFrame:
    dates = ("order_purchase_timestamp", "order_delivered_customer_date", "order_estimated_delivery_date")
    columns: dict[str, Kind | None] = {
        "order_id": "id", "customer_id": "id", "order_status": "name", dates[0]: "known time", dates[1]: "time",
        dates[2]: "time",
    }  # fmt: skip
    table = files.read(folder / "olist_orders_dataset.csv", columns)
    table = files.unique(table, ["order_id"])
    purchased, delivered, due = (table[column] for column in dates)
    customers = files.read(folder / "olist_customers_dataset.csv", {"customer_id": "id", "customer_state": "name"})
    customers = files.unique(customers, ["customer_id"])
    table = table.assign(
        purchased=purchased,
        delivered=delivered,
        due=due,
        days_late=(delivered.dt.normalize() - due.dt.normalize()).dt.days,
    )
    table = table.assign(month=purchased.dt.strftime("%Y-%m"), status=table["order_status"].map(STATUS))
    customers = customers.assign(state=without_personal_data(customers["customer_state"]))
    table = table.merge(customers, on="customer_id", how="left")
    return table[["order_id", "purchased", "month", "status", "days_late", "due", "delivered", "state"]]


def _items(folder: Path, files: TableReader) -> pd.DataFrame:
    items = files.read(
        folder / "olist_order_items_dataset.csv",
        {"order_id": "id", "order_item_id": "id", "product_id": "id", "price": "amount", "freight_value": "amount"},
    )
    items = files.unique(items, ["order_id", "order_item_id"]).rename(columns={"freight_value": "freight"})
    products = files.read(folder / "olist_products_dataset.csv", {"product_id": "id", "product_category_name": "name"})
    products = files.unique(products, ["product_id"])
    category = products["product_category_name"].map(readable, na_action="ignore")
    products = products.assign(category=without_personal_data(category.where(category != "")))
    return items.merge(products, on="product_id", how="left")[
        ["order_id", "product_id", "price", "freight", "category"]
    ]


def readable(category: str) -> str:
    """`casa_conforto_2` as `casa conforto`; empty for one of blanks alone."""
    return re.sub(r"_\d+$", "", category).replace("_", " ").strip()


def _payments(folder: Path, files: TableReader) -> pd.DataFrame:
    table = files.read(
        folder / "olist_order_payments_dataset.csv",
        {
            "order_id": "id", "payment_sequential": "id", "payment_type": "name", "payment_installments": "amount",
            "payment_value": "amount",
        },
    )  # fmt: skip
    table = files.unique(table, ["order_id", "payment_sequential"])
    table = table.rename(columns={"payment_installments": "instalments", "payment_value": "value"})
    return table.assign(type=table["payment_type"].map(PAYMENT))[["order_id", "type", "instalments", "value"]]


def _reviews(folder: Path, files: TableReader) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(scores of the published reviews, reviews with a text from there and from any `*_reviews_text.csv`)."""
    ids = ["review_id", "order_id"]
    published = files.unique(_review_file(folder / "olist_order_reviews_dataset.csv", files), ids)
    extra = [_review_file(path, files) for path in sorted(folder.glob("*_reviews_text.csv"))]
    scores = published[["order_id", "review_score"]].rename(columns={"review_score": "score"})
    texts = files.unique(pd.concat([published, *extra]), ids)
    return scores, texts.dropna(subset=["review_comment_title", "review_comment_message"], how="all")


def _review_file(path: Path, files: TableReader) -> pd.DataFrame:
    """Reviews; cells without a value are None."""
    table = files.read(path, REVIEW_COLUMNS)
    return table.astype(object).where(table.notna(), None)
