"""Prompts in the natural style: what is true of them stays true, and the plain style stays what it was."""

import hashlib
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from benchmarks.naturalness import TASKS, compositions, halves, parts, shared_grams, worth
from data.generator.natural.questions import FILTERS, MEASURES, query
from data.generator.natural.reviews import COMPLAINTS, write_review
from data.generator.natural.tables import table
from data.generator.store import Row, Store, generated_tables, write_store
from data.prepare import prepare
from tucano.prompts import Prompt, read_prompts
from tucano.settings import DataSettings
from tucano.specs.banks import JOINT

REAL = Path(os.environ.get("TUCANO_REAL_DATA", Path(__file__).parents[1] / "../shared/data"))
PLAIN = "9e0a7c1d9979f642dc4381557598123cb480e54f8602b49e6e6685569d23eee9"
"""Of all files but the report of a plain set, as they were before there was another style, but for what insights'
demonstrations advise, for the stores beside the first, which have other years since, and for judged prompts, which are
of the eighth that is kept for them."""
SIZES = {"validation_prompts": 26, "test_prompts": 26}


def test_the_plain_style_has_the_bytes_that_it_always_had(tmp_path: Path) -> None:
    prepare(DataSettings(train_prompts=100, demonstrations=80, **SIZES), 5, TASKS, tmp_path)
    content = b"".join(path.read_bytes() for path in sorted(tmp_path.iterdir()) if path.name != "report.json")
    assert hashlib.sha256(content).hexdigest() == PLAIN


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A natural set whose demonstrations are all good; `prepare` holds the sets apart and runs every gold query."""
    folder = tmp_path_factory.mktemp("natural")
    settings = DataSettings(style="natural", train_prompts=600, demonstrations=200, defect_share=0, **SIZES)
    assert prepare(settings, 7, TASKS, folder).warnings == []
    return folder


def prompts_of(folder: Path, task: str, name: str = "train") -> list[Prompt]:
    return [prompt for prompt in read_prompts(folder / f"{name}.jsonl") if prompt.task == task]


@pytest.mark.parametrize("task", TASKS)
def test_good_answers_are_worth_something_to_truth_and_reward(folder: Path, task: str) -> None:
    found = worth(prompts_of(folder, task, "demonstrations"), folder)
    least = 0.78 if task == "insights" else 0.85  # long briefs want more words of one's own than these answers have
    assert found["truth"] >= 0.55 and found["grounded"] >= least


def test_each_task_and_split_has_a_hundred_compositions(folder: Path) -> None:
    found = compositions("natural", folder)
    assert min(count for of_task in found.values() for count in of_task.values()) >= 100, found


@pytest.mark.parametrize("task", ["extraction", "sql_qa"])
def test_few_prompts_share_a_part(folder: Path, task: str) -> None:
    """3 % on 5,000 prompts; of 240, chance alone makes some parts look twice as frequent."""
    assert max(parts(prompts_of(folder, task))["largest part"].values()) < 0.06


def test_a_reviews_flags_and_complaint_are_those_of_its_clauses() -> None:
    rng = Random(3)
    for _ in range(500):
        review = write_review("known", rng)
        banks = [bank for part in review.phrases.split(JOINT) for bank in part.split(".")[0].split("_")]
        told = [COMPLAINTS[bank] for bank in banks if bank in COMPLAINTS]
        assert {name for name, value in review.fields.items() if name.endswith("issue") and value} == {
            complaint.flag for complaint in told
        }
        assert review.fields["main_complaint"] in {None, *(complaint.complaint for complaint in told)}
        assert (review.fields["main_complaint"] is None) == (not told)


def test_every_measure_and_filter_counts_each_row_once(tmp_path: Path) -> None:
    """Executed, against loops over the rows: no join makes two rows of one."""
    tables = generated_tables(Random(5))
    write_store(tmp_path / "store.sqlite", tables)
    state: dict[int, str] = {row[0]: row[1] for row in tables.clientes}
    order = {row[0]: row for row in tables.pedidos}
    category: dict[int, str] = {row[0]: row[1] for row in tables.produtos}
    slots = {"uf": "SP", "mes_sql": "2018-03", "cat": "moda", "pag": "cartão", "d": 3, "v": 150, "par": 3, "k": 2}
    rows = {name: getattr(tables, name) for name in ("pedidos", "itens", "pagamentos", "avaliacoes")}
    holds: dict[str, Callable[[Row], bool]] = {
        "uf": lambda row: state[order[row[0]][1]] == "SP",  # an order's number stands first in each of the four
        "mes": lambda row: order[row[0]][2] == "2018-03",
        "cancelado": lambda row: row[3] == "cancelado",
        "entregue": lambda row: row[3] == "entregue",
        "atraso": lambda row: (row[4] or 0) > 3,
        "parcelas": lambda row: row[2] >= 3,
        "baixas": lambda row: row[1] <= 2,
        "valor": lambda row: row[3] > 150,
        "pag": lambda row: row[1] == "cartão",
        "cat": lambda row: category[row[1]] == "moda",
    }
    with closing(Store(tmp_path / "store.sqlite")) as store:
        for measure in MEASURES.values():
            for code in (*measure.filters, *measure.bounds):
                counted = query(measure, [code], None, False).replace(measure.expression, "COUNT(*)", 1)
                expected = sum(map(holds[code], rows[measure.table]))
                assert store.rows(counted.format(**slots))[0][0] == expected, counted
    assert set(FILTERS) == set(holds)


@pytest.mark.skipif(not (REAL / "olist").is_dir(), reason=f"no real reviews in {REAL}")
def test_no_row_of_eight_words_of_a_real_review_stands_in_the_tables() -> None:
    """Each line with its choices and words made, several times; its slots filled with words that no review has."""
    words, rng = table("reviews"), Random(6)
    lines = [
        words.draw(bank, pool, rng)[1].replace("{", " qq").replace("}", " ")
        for bank, pool in words.banks
        for _ in range(20 * len(words.banks[bank, pool].texts))
    ]
    first, second = halves(REAL)
    assert shared_grams(lines, [*first, *second]) == set()
