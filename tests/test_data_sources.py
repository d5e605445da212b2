"""Olist and B2W: small made-up files with the real ones' traits, what is refused, and the real files where they are."""

import csv
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from data.prepare import UNMASKED, DataReport, prepare
from data.sources.b2w import B2wSource, issues_of
from data.sources.csv_files import TableReader
from data.sources.olist import olist_reviews, segments, store_tables
from data.sources.olist_tables import read_olist
from data.sources.reviews import RealReview, join_title
from rewards import classify_task
from rewards.names import REPORTED as TASKS
from tucano.artifacts.identity import digests_at
from tucano.errors import UserError
from tucano.prompts import Prompt, read_prompts
from tucano.settings import DataSettings

NONCOMMERCIAL = "CC BY-NC-SA 4.0 (noncommercial)"
WORDS = (
    "produto", "entrega", "caixa", "prazo", "loja", "cor", "tamanho", "peça", "cheiro", "tecido", "motor", "manual",
    "preço", "vidro", "cabo",
)  # fmt: skip
Row = tuple[object, ...]

HEADERS = {
    "olist_orders_dataset": "order_id customer_id order_status order_purchase_timestamp "
    "order_delivered_customer_date order_estimated_delivery_date",
    "olist_customers_dataset": "customer_id customer_unique_id customer_state",
    "olist_order_items_dataset": "order_id order_item_id product_id price freight_value",
    "olist_products_dataset": "product_id product_category_name",
    "olist_order_payments_dataset": "order_id payment_sequential payment_type payment_installments payment_value",
    "olist_order_reviews_dataset": "review_id order_id review_score review_comment_title review_comment_message",
}


def write_csv(path: Path, header: str, rows: list[Row], separator: str = ",") -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(header.split())
        writer.writerows(rows)


def sentence(number: int) -> str:
    return " ".join(Random(number).sample(WORDS, 9))


def write_olist(folder: Path, orders: int = 240) -> Path:
    """Order i: of March or April, 2 days early or (every 4th) 3 late; every 10th without items; category 3 is NULL."""
    folder.mkdir(exist_ok=True)
    rows: dict[str, list[Row]] = {name: [] for name in HEADERS}
    for number in range(orders):
        order, month, delivered = f"o{number}", 3 + number % 2, 18 if number % 4 == 0 else 13
        dates = (f"2018-0{month}-01 10:00:00", f"2018-0{month}-{delivered} 12:30:00", f"2018-0{month}-15 00:00:00")
        status = "canceled" if number % 12 == 5 else "delivered"
        rows["olist_orders_dataset"].append((order, f"c{number}", status, *dates))
        rows["olist_customers_dataset"].append((f"c{number}", f"u{number}", ("SP", "RJ")[number % 3 == 0]))
        if number % 10:
            rows["olist_order_items_dataset"].append((order, 1, f"p{number % 8}", 10 + number % 7, 5.5))
        paid = ("credit_card", "boleto")[number % 3 == 1]
        rows["olist_order_payments_dataset"].append((order, 1, paid, 1 + number % 4, 20 + number))
        rows["olist_order_reviews_dataset"].append((f"r{number}", order, 1 + number % 5, "", sentence(number)))
    rows["olist_products_dataset"] = [
        (f"p{n}", ("cama_mesa_banho", "casa_conforto_2", "beleza_saude", "")[n % 4]) for n in range(8)
    ]
    for name, header in HEADERS.items():
        write_csv(folder / f"{name}.csv", header, rows[name])
    return folder


def write_b2w(path: Path, rows: int = 60) -> Path:
    header = "review_title review_text overall_rating recommend_to_a_friend site_category_lv1"
    reviews: list[Row] = [("Título", sentence(n), 1 + n % 5, ("No", "Yes")[n % 5 > 2], "Beleza") for n in range(rows)]
    write_csv(path, header, reviews, ";")
    return path


def prepared(folder: Path, **chosen: Any) -> tuple[DataReport, dict[str, list[Prompt]]]:
    """A small prompt set by these settings of `data`: its report, and {set: prompts}."""
    sizes = {"train_prompts": 150, "validation_prompts": 26, "test_prompts": 26, "demonstrations": 60}
    settings = DataSettings.model_validate({**sizes, **chosen})
    tasks = tuple(task for task, share in settings.mix.items() if share)
    report = prepare(settings, 7, tasks, folder, settings.paths)
    return report, {name: read_prompts(folder / f"{name}.jsonl") for name in report.prompts}


def run(source: str, path: Path, folder: Path, **changes: int) -> tuple[DataReport, dict[str, list[Prompt]]]:
    return prepared(folder, source=source, path=str(path), **changes)


def test_olist_gives_real_reviews_tables_figures_and_categories(tmp_path: Path) -> None:
    report, files = run("olist", write_olist(tmp_path / "csv"), tmp_path / "out")
    extraction = [prompt for prompt in files["train"] if prompt.task == "extraction"]
    assert len(extraction) == 60 and {prompt.source for prompt in extraction} == {"olist"}
    assert all(prompt.licence == NONCOMMERCIAL for prompt in files["train"] + files["test"])
    assert {prompt.source for prompt in files["demonstrations"] if prompt.task == "extraction"} == {"synthetic"}
    products = {prompt.reference["product"] for prompt in files["train"] if prompt.task == "push"}
    assert products <= {"cama mesa banho", "casa conforto", "beleza saude"}
    assert all("de 2018" in prompt.user for prompt in files["train"] if prompt.task == "insights")
    assert report.held_out["test"] == {"extraction": 4, "insights": 3, "push": 3, "sql_qa": 3}
    assert NONCOMMERCIAL in report.licences and report.warnings == [UNMASKED]


def test_olist_silver_truth_by_hand(tmp_path: Path) -> None:
    reviews = {review.text: review for review in olist_reviews(read_olist(write_olist(tmp_path), TableReader()))}
    assert reviews[sentence(4)] == RealReview(sentence(4), 5, "cama mesa banho", {"delivery_issue": True})  # late
    content = RealReview(sentence(9), 5, "casa conforto", {"delivery_issue": False})
    assert reviews[sentence(9)] == content, "early, and content"
    assert reviews[sentence(1)] == RealReview(sentence(1), 2, "casa conforto", {})  # early, but who knows why 2 stars
    assert reviews[sentence(10)].category is None  # no items
    assert reviews[sentence(3)].category is None  # category NULL


def test_the_olist_store_holds_the_joined_rows(tmp_path: Path) -> None:
    tables = store_tables(read_olist(write_olist(tmp_path), TableReader()), Random(0))
    assert (len(tables.clientes), len(tables.pedidos), len(tables.itens)) == (240, 240, 216)
    assert tables.clientes[0] == (1, "RJ")
    assert tables.pedidos[:2] == [(1, 1, "2018-03", "entregue", 3), (2, 2, "2018-04", "entregue", -2)]
    assert Counter(status for *_, status, _ in tables.pedidos) == {"entregue": 220, "cancelado": 20}
    assert {category for _, category in tables.produtos} == {"cama mesa banho", "casa conforto", "beleza saude", None}


def changed(path: Path, changes: Mapping[int, Callable[[str], str]]) -> Path:
    """The file, with lines of it changed, counted from 1 as an editor does."""
    lines = path.read_bytes().decode().split("\r\n")
    for number, change in changes.items():
        lines[number - 1] = change(lines[number - 1])
    path.write_bytes("\r\n".join(lines).encode())
    return path


KEYS = [
    ("olist_orders_dataset", "order_id", "o1,c1,", ",c1,"),
    ("olist_orders_dataset", "customer_id", "o1,c1,", "o1, ,"),
    ("olist_customers_dataset", "customer_id", "c1,u1", ",u1"),
    ("olist_order_items_dataset", "order_id", "o2,1,p2,", ",1,p2,"),
    ("olist_order_items_dataset", "product_id", "o2,1,p2,", "o2,1,,"),
    ("olist_order_items_dataset", "order_item_id", "o2,1,p2,", "o2,,p2,"),
    ("olist_order_payments_dataset", "payment_sequential", "o1,1,", "o1,,"),
    ("olist_products_dataset", "product_id", "p1,", ","),
    ("olist_order_payments_dataset", "order_id", "o1,1,", ",1,"),
    ("olist_order_reviews_dataset", "review_id", "r1,o1,", ",o1,"),
    ("olist_order_reviews_dataset", "order_id", "r1,o1,", "r1,,"),
]


@pytest.mark.parametrize(("name", "column", "whole", "empty"), KEYS)
def test_a_row_with_an_empty_id_is_named_by_line(
    name: str, column: str, whole: str, empty: str, tmp_path: Path
) -> None:
    """All but one vanished uncounted, and empty ids were joined with each other."""
    changed(write_olist(tmp_path) / f"{name}.csv", {3: lambda row: row.replace(whole, empty, 1)})
    files = TableReader()
    read_olist(tmp_path, files)
    held = " " if empty.endswith(" ,") else ""
    assert files.bad_rows == [
        f"unreadable in {name}.csv: 1",
        f"{name}.csv line 3: column {column} holds {held!r}, an id is needed",
    ]


CELLS = [
    ("olist_order_items_dataset", "10.0", lambda row: row.replace(",11,", ",-5,"), "column price holds '-5', a number from 0"),
    ("olist_order_items_dataset", "2^63", lambda row: row.replace(",11,", f",{2**63},"), "a number from 0 to 1e\\+12 is needed"),
    ("olist_order_payments_dataset", "2^63", lambda row: row.replace(",21", f",{2**63}"), "a number from 0 to"),
    ("olist_order_payments_dataset", "instalments", lambda row: row.replace(",2,", ",1e19,"), "a number from 0 to"),
    ("olist_orders_dataset", "far off", lambda row: row.replace("2018-04-01 10", "9999-04-01 10"), "holds '9999.*, a time like"),
    ("olist_orders_dataset", "no purchase", lambda row: row.replace("2018-04-01 10:00:00", ""), "holds '', a time like"),
    ("olist_customers_dataset", "long", lambda row: row.replace(",SP", "," + "x" * 101), "a name of at most 100 characters"),
    ("olist_products_dataset", "long", lambda row: row.replace("casa", "x" * 101), "a name of at most 100 characters"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kind", "change", "why"), CELLS, ids=[f"{name} {kind}" for name, kind, *_ in CELLS])
def test_a_cell_that_nothing_can_be_made_of_costs_its_row(
    name: str, kind: str, change: Callable[[str], str], why: str, tmp_path: Path
) -> None:
    """Each ended in a traceback of SQLite, pandas or random, refused the whole run, or became «Preço: R$ -5»."""
    line = 2 if name == "olist_order_items_dataset" else 3
    changed(write_olist(tmp_path / "csv") / f"{name}.csv", {line: change})
    report, _ = run("olist", tmp_path / "csv", tmp_path / "out")
    assert [line for line in report.bad_rows if re.search(rf"{name}.csv line \d: .*{why}", line)]


def test_names_with_marks_of_sql_are_asked_about(tmp_path: Path) -> None:
    """`D'Oeste` ended in a syntax error of the gold query: a cell was SQL."""
    folder = write_olist(tmp_path / "csv")
    for name, old, new in (("customers", ",SP", ",D'Oeste"), ("products", "cama_mesa_banho", "copos d'agua")):
        path = folder / f"olist_{name}_dataset.csv"
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    _, files = run("olist", folder, tmp_path / "out")
    queries = [prompt.reference["sql"] for prompt in files["train"] if prompt.task == "sql_qa"]
    assert any("'D''Oeste'" in query for query in queries) and any("'copos d''agua'" in query for query in queries)


def test_a_category_of_blanks_is_none_and_a_price_of_nothing_is_not_told(tmp_path: Path) -> None:
    folder = write_olist(tmp_path / "csv")
    blank = dict.fromkeys(
        range(2, 6), lambda row: row.split(",")[0] + ", _2"
    )  # p0 and p4, p1 and p5 ... are of one category
    changed(folder / "olist_products_dataset.csv", blank)
    items = folder / "olist_order_items_dataset.csv"
    items.write_text(re.sub(r",1\d,", ",0,", items.read_text(encoding="utf-8")), encoding="utf-8")
    _, files = run("olist", folder, tmp_path / "out")
    briefs = [prompt for prompt in files["train"] if prompt.task == "push"]
    assert {prompt.reference["product"] for prompt in briefs} <= {"cama mesa banho", "casa conforto", "beleza saude"}
    assert not any(re.search(r"R\$ ?0(?!,\d*[1-9])\b", prompt.user) for prompt in briefs)


def test_empty_ids_match_nothing(tmp_path: Path) -> None:
    """Order 1 had the state of a customer without an id."""
    write_olist(tmp_path)
    changed(tmp_path / "olist_orders_dataset.csv", {3: lambda row: row.replace("o1,c1,", "o1,,")})
    changed(tmp_path / "olist_customers_dataset.csv", {3: lambda row: row.replace("c1,u1,SP", ",u1,AM")})
    orders = read_olist(tmp_path, TableReader()).orders
    assert set(orders["state"]) == {"SP", "RJ"} and "o1" not in set(orders["order_id"]) and len(orders) == 239


@pytest.mark.parametrize(
    ("name", "ids", "row"),
    [
        ("olist_orders_dataset", ["order_id"], ("o0", "c0", "canceled", *["2018-03-01 10:00:00"] * 3)),
        ("olist_customers_dataset", ["customer_id"], ("c0", "u0", "AM")),
        ("olist_products_dataset", ["product_id"], ("p0", "beleza_saude")),
        ("olist_order_items_dataset", ["order_id", "order_item_id"], ("o1", 1, "p2", 99, 5.5)),
        ("olist_order_payments_dataset", ["order_id", "payment_sequential"], ("o0", 1, "boleto", 1, 99)),
        ("olist_order_reviews_dataset", ["review_id", "order_id"], ("r0", "o0", 5, "", "Outra coisa")),
    ],
)
def test_a_second_row_of_an_id_that_says_something_else_is_counted(
    name: str, ids: list[str], row: Row, tmp_path: Path
) -> None:
    """It vanished without a word. One that says the same costs nothing."""
    write_olist(tmp_path)
    first = (tmp_path / f"{name}.csv").read_bytes().decode().split("\r\n")[1]
    changed(tmp_path / f"{name}.csv", {3: lambda _: ",".join(map(str, row)), 4: lambda _: first})
    files = TableReader()
    read_olist(tmp_path, files)
    assert files.warnings == ["1 rows are other than an earlier row of the same id and left out"]
    assert files.bad_rows[1:] == [f"{name}.csv line 3: an earlier row of the same {', '.join(ids)} says something else"]


def test_a_review_that_another_file_tells_otherwise_is_counted(tmp_path: Path) -> None:
    folder, header = write_olist(tmp_path), HEADERS["olist_order_reviews_dataset"]
    write_csv(
        folder / "more_reviews_text.csv", header, [("r0", "o0", 1, "", sentence(0)), ("r1", "o1", 2, "", "Outra")]
    )
    files = TableReader()
    assert len(read_olist(folder, files).reviews) == 240
    assert files.bad_rows[1:] == [
        "more_reviews_text.csv line 3: an earlier row of the same review_id, order_id says something else"
    ]


def test_segment_figures_by_hand(tmp_path: Path) -> None:
    """April has the odd orders: none late, all with items; the cancelled ones (5, 17, 29...) are a sixth of them."""
    found = {segment.label: segment.figures for segment in segments(read_olist(write_olist(tmp_path), TableReader()))}
    april = found["abril de 2018 (todo o Brasil)"]
    prices = [10 + number % 7 for number in range(1, 240, 2)]
    assert april["pedidos"] == 120 and april["receita"] == sum(prices) and april["frete médio"] == 5.5
    assert april["cancelamento"] == 16.7 and "atraso" not in april and april["ticket médio"] == round(sum(prices) / 120)


def test_personal_data_and_line_breaks_are_gone_before_anything_is_stored(tmp_path: Path) -> None:
    folder = write_olist(tmp_path / "csv")
    rows: list[Row] = [
        (f"x{n}", f"y{n}", 1, "", f"{sentence(1000 + n)}\nligue (11) 98765-43{n:02d} CPF 529.982.247-25")
        for n in range(80)
    ]
    write_csv(folder / "more_reviews_text.csv", HEADERS["olist_order_reviews_dataset"], rows)
    report, files = run("olist", folder, tmp_path / "out")
    stored = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "out").glob("*.json*"))
    assert "529.982" not in stored and "98765" not in stored
    assert report.masked["cpf"] == report.masked["phone"] > 0
    assert all("\n" not in prompt.user for prompt in files["train"])


def test_columns_beside_the_review_are_masked_as_well(tmp_path: Path) -> None:
    folder = write_olist(tmp_path / "csv")
    for name, label in (("olist_products_dataset", "cama_mesa_banho"), ("olist_customers_dataset", "SP")):
        file = folder / f"{name}.csv"
        file.write_text(file.read_text(encoding="utf-8").replace(label, f"{label} zap 98765-4321"), encoding="utf-8")
    run("olist", folder, tmp_path / "out")
    made = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir())
    assert b"98765-4321" not in made and b"cama mesa banho zap [PHONE]" in made and b"SP zap [PHONE]" in made
    b2w = write_b2w(tmp_path / "b2w.csv")
    b2w.write_text(b2w.read_text(encoding="utf-8").replace("Beleza", "Beleza ana@exemplo.com"), encoding="utf-8")
    _, files = run("b2w", b2w, tmp_path / "other")
    told = [prompt.reference["fields"].get("category") for prompt in files["test"] if prompt.source == "b2w"]
    assert set(told) == {"Beleza [EMAIL]", None}  # half of the prompts do not state it


def test_a_cell_of_thousands_of_tags_takes_no_time() -> None:
    assert issues_of("entrega, reclamacao, " + "xentregq, " * 20_000) == issues_of("entrega, reclamacao")


def test_b2w_shrinks_with_a_warning_and_generates_the_other_tasks(tmp_path: Path) -> None:
    report, files = run("b2w", write_b2w(tmp_path / "b2w.csv"), tmp_path / "out", train_prompts=200)
    assert report.prompts["train"]["extraction"] == 60 - 8 - 8
    few = "train: 44 prompts of extraction instead of 80, the source has no more that are different"
    assert report.warnings == [few, UNMASKED]
    sources = {(prompt.source, prompt.licence) for prompt in files["test"]}
    assert sources == {("b2w", NONCOMMERCIAL), ("synthetic", "CC0-1.0")}
    review = next(prompt for prompt in files["test"] if prompt.task == "extraction")
    assert review.reference["fields"]["category"] == "Beleza"
    assert review.reference["fields"]["repurchase_intent"] == (review.stars is not None and review.stars >= 4)


@pytest.mark.parametrize(
    ("title", "message", "expected"),
    [
        (None, "Chegou\r\nbem ", "Chegou bem"), ("Ótimo", None, "Ótimo"), ("Ótimo", "otimo produto", "otimo produto"),
        ("Recomendo", "Chegou logo", "Recomendo. Chegou logo"), ("Amei!", "Chegou logo", "Amei! Chegou logo"),
        ("Bom", "Bombox chegou", "Bom. Bombox chegou"), ("5", "50 reais", "5. 50 reais"), ("!!!", "Chegou", "Chegou"),
        (None, "Muito bom Muito bom", "Muito bom"), (None, None, ""),
    ],
)  # fmt: skip
def test_titles_and_messages_become_one_line(title: str | None, message: str | None, expected: str) -> None:
    assert join_title(title, message) == expected


def broken(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], Path]:
    def build(folder: Path) -> Path:
        file = write_olist(folder, 60) / f"{name}.csv"
        file.write_bytes(change(file.read_bytes()))
        return folder

    return build


def without(name: str) -> Callable[[Path], Path]:
    def build(folder: Path) -> Path:
        (write_olist(folder, 60) / f"{name}.csv").unlink()
        return folder

    return build


REFUSED = [
    (lambda folder: folder / "nowhere", "there is no folder .*nowhere; name the folder of the Olist CSV files"),
    (without("olist_products_dataset"), "there is no file .*olist_products_dataset.csv; put it there, or name another"),
    (broken("olist_order_items_dataset", lambda raw: b""), "olist_order_items_dataset.csv is empty; name one with rows"),
    (broken("olist_order_items_dataset", lambda raw: raw.split(b"\n")[0] + b"\n"), "has a header and no rows"),
    (broken("olist_order_payments_dataset", lambda raw: b"\n"), "olist_order_payments_dataset.csv is empty"),
    (broken("olist_order_payments_dataset", lambda raw: raw.replace(b"\no", b"\nx")), "too few orders .* join with"),
    (broken("olist_customers_dataset", lambda raw: raw.replace(b"\nc", b"\nx")), "too few orders .* join with"),
    (broken("olist_orders_dataset", lambda raw: raw.replace(b"order_status", b"state")), "no column order_status; it needs"),
    (broken("olist_orders_dataset", lambda raw: raw.replace(b",", b";")), "its fields must be separated by ','"),
    (
        broken("olist_order_reviews_dataset", lambda raw: raw.replace("ç".encode(), b"\xe7")),
        "olist_order_reviews_dataset.csv: 49 of 60 rows cannot be read .*line 2: the row is not UTF-8 .*iconv",
    ),
    (
        broken("olist_order_items_dataset", lambda raw: raw.replace(b",5.5", b",zap 11 98765-4321 de Ana Maria de Souza")),
        r"54 of 54 rows .*line 2: column freight_value holds 'zap \[PHONE\] de Ana M…', a number from 0",
    ),
    (
        broken("olist_orders_dataset", lambda raw: raw.replace(b"2018-03-01 10", b"01/03/2018 10")),
        r"30 of 60 rows .*line 2: column order_purchase_timestamp holds '01/03/2018 10:00:00', a time like 2018-03-31",
    ),
    (lambda folder: write_olist(folder, 12), "the orders in .* do not join|only . prompts of"),
]  # fmt: skip


@pytest.mark.parametrize(("build", "complaint"), REFUSED)
def test_bad_olist_input_is_one_clear_sentence(tmp_path: Path, build: Callable[[Path], Path], complaint: str) -> None:
    with pytest.raises(UserError, match=complaint) as raised:
        run("olist", build(tmp_path / "csv"), tmp_path / "out")
    assert "\n" not in str(raised.value)


def test_bad_b2w_input_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds 0 CSV files, one is needed"):
        run("b2w", tmp_path, tmp_path / "out")
    with pytest.raises(UserError, match=r"there is no file .*none\.csv"):
        run("b2w", tmp_path / "none.csv", tmp_path / "out")
    with pytest.raises(
        UserError, match=r"data\.test_prompts: only 5 |data\.train_prompts: only 0 prompts of extraction"
    ):
        run("b2w", write_b2w(tmp_path / "tiny.csv", rows=10), tmp_path / "out")
    commas = tmp_path / "commas.csv"
    commas.write_text(write_b2w(tmp_path / "good.csv").read_text(encoding="utf-8").replace(";", ","), encoding="utf-8")
    with pytest.raises(UserError, match="has a single column: its fields must be separated by ';'"):
        run("b2w", commas, tmp_path / "out")


REAL = Path(os.environ.get("TUCANO_REAL_DATA", Path(__file__).parents[1] / "../shared/data"))


@pytest.mark.skipif(
    not REAL.is_dir(), reason="real reviews are not in the repository; TUCANO_REAL_DATA names their folder"
)
@pytest.mark.parametrize("source", ["olist", "b2w"])
def test_the_real_files(source: str, tmp_path: Path) -> None:
    settings = DataSettings.model_validate({"source": source, "path": str(REAL / source)})
    report = prepare(settings, 7, TASKS, tmp_path, settings.paths)
    assert report.prompts["test"] == {"extraction": 20, "insights": 15, "push": 15, "sql_qa": 15}
    assert report.prompts["train"]["extraction"] == {"olist": 592, "b2w": 60}[source]
    assert len(report.warnings) == {"olist": 3, "b2w": 2}[source]
    prompts = read_prompts(tmp_path / "train.jsonl") + read_prompts(tmp_path / "test.jsonl")
    assert [prompt.user for prompt in prompts if classify_task(prompt.user) != prompt.task] == []
    assert not [prompt.user for prompt in prompts if re.search(r"@\w+\.\w|\d{3}\.\d{3}\.\d{3}-\d\d", prompt.user)]
    assert max(len(prompt.user) for prompt in prompts) <= 370


def test_a_changed_file_that_a_source_reads_makes_new_data_and_no_other_file_does(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for name in ("reviews.csv", "reviews.jsonl"):
        (tmp_path / name).write_text("a", encoding="utf-8")
    before = digests_at(tmp_path, B2wSource.files)
    (tmp_path / "reviews.jsonl").write_text("b", encoding="utf-8")
    assert digests_at(tmp_path, B2wSource.files) == before and before.keys() == {"reviews.csv"}
    assert digests_at(tmp_path, "*.jsonl").keys() == {"reviews.jsonl"}
    assert digests_at(tmp_path, "*.jsonl *.csv *.parquet").keys() == {"reviews.csv", "reviews.jsonl"}
    (tmp_path / "reviews.csv").write_text("b", encoding="utf-8")
    assert digests_at(tmp_path, B2wSource.files) != before
    assert digests_at(tmp_path / "none", "*.csv") == {}
