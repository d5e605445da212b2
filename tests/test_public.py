"""Benchmarks that others wrote: databases from schemas, gold and baselines, SQuAD's scores by hand, refusals, contrasts."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_files import ODD

from benchmarks.bad_days import TINY
from benchmarks.operations import as_options
from data.public.prepare import prepare_public, require_public
from data.public.spider import SIZES
from data.public.stores import Schema, Table, fill, sought, write_store
from tucano.benchmark.public.questions import NAMES, PublicFiles, Question, Reply, read_questions
from tucano.benchmark.public.result import Reading, judge_public, render_public
from tucano.benchmark.public.scores import exact_match, f1, plain_words, score
from tucano.comparison.claims import StudyContext, lost
from tucano.comparison.verdict import judge
from tucano.errors import UserError
from tucano.settings.comparison import Judging
from tucano.truth.sql import right_answer

ROOT = Path(__file__).parents[1]
REAL = Path(os.environ.get("TUCANO_REAL_DATA", Path(__file__).parents[1] / "../shared/data")) / "benchmarks"
SCHEMA = {
    "db_id": "escola",
    "table_names_original": ["aluno", "turma"],
    "column_names_original": [[-1, "*"], [0, "id"], [0, "nome"], [0, "idade"], [0, "turma_id"], [1, "id"], [1, "sala"]],
    "column_types": ["text", "number", "text", "number", "number", "number", "text"],
    "primary_keys": [1, 5],
    "foreign_keys": [[4, 5]],
}
QUERIES = [
    ("Quantos alunos há?", "SELECT count(*) FROM aluno"),
    ("Quem se chama Ana?", "SELECT idade FROM aluno WHERE nome = 'Ana'"),
    ("Quem tem mais de 20 anos?", "SELECT nome FROM aluno WHERE idade > 20"),
    ("Nomes por idade?", "SELECT nome FROM aluno ORDER BY idade"),
    ("Quem está na sala B?", "SELECT T1.nome FROM aluno AS T1 JOIN turma AS T2 ON T1.turma_id = T2.id WHERE T2.sala = 'B'"),
    ("Turmas sem aluno?", "SELECT id FROM turma EXCEPT SELECT turma_id FROM aluno"),
]  # fmt: skip


def spider_folder(folder: Path, queries: list[tuple[str, str]] = QUERIES, **changed: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [{"db_id": "escola", "question_pt": asked, "query": query} for asked, query in queries]
    (folder / "dev.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (folder / "tables.json").write_text(json.dumps([{**SCHEMA, **changed}]), encoding="utf-8")
    return folder


def test_each_gold_query_is_right_on_its_generated_databases_and_a_wrong_one_is_not(tmp_path: Path) -> None:
    record = prepare_public(7, {"spider_pt": str(spider_folder(tmp_path / "spider"))}, tmp_path)
    questions = read_questions(PublicFiles(tmp_path).questions)
    assert record["questions"] == {"spider_pt": len(QUERIES)}
    assert len(list(tmp_path.glob("escola*.sqlite"))) == len(SIZES)
    assert [score(question, question.gold[0], tmp_path)["execution"] for question in questions] == [1.0] * len(QUERIES)
    wrong = (
        "SELECT count(*) FROM turma",
        "SELECT idade FROM aluno",
        "SELECT nome FROM aluno WHERE idade >= 20",
        "SELECT nome FROM aluno ORDER BY idade DESC",
        "SELECT nome FROM aluno",
        "SELECT id FROM turma",
    )
    assert [score(q, sql, tmp_path)["execution"] for q, sql in zip(questions, wrong, strict=True)] == [0.0] * len(wrong)


def test_the_same_seed_gives_the_same_databases_and_what_a_query_seeks_is_there(tmp_path: Path) -> None:
    schema = Schema("escola", (Table("aluno", (("id", "number"), ("nome", "text")), ("id",)),), ())
    wanted = sought(schema, ["SELECT id FROM aluno WHERE nome LIKE '%Rosa%' AND id >= 12"])
    assert wanted.values["aluno", "nome"] == {"Rosa", "Rosa Alfa"}
    assert wanted.values["aluno", "id"] == {11, 12, 13}  # a boundary, and its neighbours
    rows = fill(schema, wanted, Random(1))["aluno"]
    assert rows == fill(schema, wanted, Random(1))["aluno"] != fill(schema, wanted, Random(2))["aluno"]
    assert {11, 12, 13} <= {row[0] for row in rows} and any("Rosa" in str(row[1]) for row in rows)
    assert len({row[0] for row in rows}) == len(rows)  # a key
    write_store(tmp_path / "x.sqlite", schema, {"aluno": rows})
    with closing(sqlite3.connect(tmp_path / "x.sqlite")) as connection:
        assert connection.execute("SELECT count(*) FROM aluno").fetchone() == (len(rows),)


def test_rows_without_a_value_among_ties_may_come_first(tmp_path: Path) -> None:
    """SQLite sorts NULL before everything: a tie that holds one is as free as any other."""
    with closing(sqlite3.connect(tmp_path / "x.sqlite")) as connection:
        connection.execute("CREATE TABLE t (nome TEXT, idade INTEGER)")
        connection.executemany("INSERT INTO t VALUES (?, 44)", [("b",), (None,), ("a",)])
        connection.commit()
    gold = "SELECT nome FROM t ORDER BY idade"
    assert right_answer({"sql": gold, "database": "x.sqlite"}, gold, tmp_path)


# SQuAD's scores


def test_exact_match_and_f1_by_hand() -> None:
    assert plain_words("  Os três  docentes, da UFMS.") == ["três", "docentes", "da", "ufms"]
    assert exact_match("no plano de ensino", "No plano de ensino!") == 1.0
    assert exact_match("três docentes", "três") == 0.0
    assert f1("três docentes", "três") == pytest.approx(2 / 3)  # precision 1, recall 1/2
    assert f1("a b b c", "b b b d") == pytest.approx(4 / 7)  # «a» is an article: of 3 and 4 words 2 are common
    assert f1("os", "as") == 1.0 and f1("casa", "") == 0.0


@given(st.text(max_size=30), st.text(max_size=30))
@settings(max_examples=60)
def test_f1_is_symmetric_bounded_and_1_for_an_exact_match(one: str, two: str) -> None:
    assert 0.0 <= f1(one, two) == f1(two, one) <= 1.0
    assert not exact_match(one, two) or f1(one, two) == 1.0


# Refusals


def broken(name: str, text: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        spider_folder(folder)
        (folder / name).write_text(text, encoding="utf-8")
        return folder

    return make


ROW = {"db_id": "escola", "question_pt": "Quantos?"}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda folder: folder / "none", "is no folder"),
        (broken("dev.jsonl", "{"), "is no JSON"),
        (broken("dev.jsonl", '{"db_id": "loja", "question_pt": "?", "query": "SELECT 1"}'), "asks the database 'loja'"),
        (broken("dev.jsonl", '{"db_id": "escola", "query": "SELECT 1"}'), "no question_pt"),
        (broken("tables.json", '[{"db_id": "../x"}]'), "Spider's form"),
        (broken("tables.json", json.dumps([{**SCHEMA, "db_id": "../x"}])), "Spider's form"),
        (broken("tables.json", "[" * 100_000), "is no JSON"),
        (broken("tables.json", "9" * 5_000), "is no JSON"),
        (broken("tables.json", '[{"db_id": "\\ud800"}]'), "is no JSON"),
        (broken("tables.json", '[{"db_id": 1, "db_id": 2}]'), r"tables.json is no JSON \(a name is given twice"),
        (broken("dev.jsonl", '{"a": 1}\n\n{"a": 1, "a": 2}'), r"dev.jsonl line 3 is no JSON \(a name is given twice"),
        (broken("dev.jsonl", '{"a": NaN}'), "dev.jsonl line 1 is no JSON"),
        (broken("tables.json", '[{"a": 1e999}]'), "is no JSON"),
        (broken("tables.json", ""), "no file of 1 byte"),
        (broken("dev.jsonl", json.dumps({**ROW, "query": "SELECT 1" + "+1" * 1_000})), "no query of 1 to 2000"),
    ],
)
def test_a_wrong_folder_is_refused_in_one_sentence(tmp_path: Path, make: Callable[[Path], Path], said: str) -> None:
    places = {"spider_pt": str(make(tmp_path / "spider"))}
    with pytest.raises(UserError, match=said) as refused:
        require_public(places)
    assert "\n" not in str(refused.value) and str(refused.value).startswith("benchmark.spider_pt: ")


@pytest.mark.parametrize("query", ["DROP TABLE aluno", "SELECT nada FROM aluno", "SELECT random() FROM aluno"])
def test_a_gold_query_that_cannot_be_asked_is_refused_before_anything_is_trained(tmp_path: Path, query: str) -> None:
    folder = spider_folder(tmp_path / "spider", [*QUERIES, ("E esta?", query)])
    with pytest.raises(UserError, match="the query of spider_pt-00006 cannot be asked"):
        require_public({"spider_pt": str(folder)})


@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_file_is_not_opened(tmp_path: Path, kind: str) -> None:
    ODD[kind](tmp_path / "dev.json")
    with pytest.raises(UserError, match=r"has no dev\.json"):
        require_public({"faquad": str(tmp_path)})


def test_databases_that_cannot_be_made_are_refused_and_huge_numbers_can_be_sought(tmp_path: Path) -> None:
    twice = [*SCHEMA["table_names_original"]]
    twice[-1] = twice[0]
    folder = spider_folder(tmp_path / "twice", table_names_original=twice)
    with pytest.raises(UserError, match=r"cannot be made \(table"):
        prepare_public(7, {"spider_pt": str(folder)}, tmp_path)
    asked = "SELECT count(*) FROM aluno WHERE idade < 9e307 AND idade < 1e999"
    folder = spider_folder(tmp_path / "huge", [("Quantos?", asked)])
    prepare_public(7, {"spider_pt": str(folder)}, folder)


# Arms


def test_arms_are_held_against_their_start_question_by_question(tmp_path: Path) -> None:
    """Of 40 questions the start has 10 right, one seed the same and 10 more, the other just the same."""
    questions = [
        Question(f"q{number}", "enem", "Qual?", f"q{number}", ("certa",), options=("certa", "errada"))
        for number in range(40)
    ]
    right = {"base": 0, "sft": 10, "seed-1": 20, "seed-2": 10}
    replies = [
        Reply(arm, question.id, "certa" if number < count else "errada", cut=number == 0)
        for arm, count in right.items()
        for number, question in enumerate(questions)
    ]
    result = judge_public(questions, replies, tmp_path, {"enem": "CC0"}, Reading("sft", 0.05, 200, 7))
    assert {arm: found["accuracy"][0] for arm, found in result.metrics["enem"].items()} == {
        "gold": 1.0, "constant": 1.0, "majority": 0.0, "base": 0.0, "sft": 0.25, "seed-1": 0.5, "seed-2": 0.25,
    }  # fmt: skip
    assert result.cut == {"enem": 1}
    found = {(one.arm, one.reference): one.overall for one in result.contrasts}
    assert set(found) == {("seeds", "sft"), ("seeds", "base"), ("sft", "base")}
    assert found["seeds", "sft"].gain == pytest.approx(
        5 / 40
    )  # of the 10 questions one seed gained, each second counts
    assert found["seeds", "sft"].p == pytest.approx(2**-5)  # five of five that differ, all upwards
    assert lost(result.contrasts, 0.05) == ()
    assert "1 prompts were too long" in render_public(result)


def test_a_loss_on_a_public_benchmark_is_a_loss(tmp_path: Path) -> None:
    questions = [Question(f"q{n}", "faquad", "?", f"q{n}", ("sim",)) for n in range(8)]
    replies = [
        Reply(arm, q.id, said, cut=False) for arm, said in (("sft", "sim"), ("seed-1", "não")) for q in questions
    ]
    result = judge_public(questions, replies, tmp_path, {"faquad": ""}, Reading("sft", 0.05, 50, 7))
    (found,) = result.contrasts
    assert lost([found], 0.05) == (found,)  # p = 1/256
    verdict = judge(found, Judging(), around=StudyContext(public=result.contrasts))
    assert "lost public" in verdict.cautions and "lost public" not in judge(found, Judging()).cautions
    printed = " ".join(render_public(result).split())
    assert "-1.000 (its 95 % interval cannot be assessed); exact one-sided p for a gain = 1.000, for a drop" in printed
    said = "Public benchmark faquad (8 questions that others wrote): 0.000 against 1.000 for sft, -1.000 ("
    assert any(sentence.startswith(said) for sentence in verdict.sentences)
    assert any("faquad (8 questões que outros escreveram): 0,000" in sentence for sentence in verdict.sentences_pt)
    assert any(sentence.endswith("(Holm): faquad against sft.") for sentence in verdict.sentences)
    assert any(sentence.endswith("(Holm): faquad em relação a sft.") for sentence in verdict.sentences_pt)
    for worse, losses in (((0.02, 0.03, 0.3), 0), ((0.01, 0.03, 0.3), 1), ((0.01, 0.02, 0.3), 2)):
        several = [replace(found, overall=replace(found.overall, p_worse=p)) for p in worse]
        # Holm: the smallest p times 3, the next times 2, none below one before it
        assert lost(several, 0.05) == tuple(several[:losses]), worse


@pytest.mark.long
@pytest.mark.skipif(not REAL.is_dir(), reason="the published files are not part of the repository")
def test_gold_answers_every_published_question_and_baselines_hardly_any(tmp_path: Path) -> None:
    prepare_public(7, {name: str(REAL / name) for name in NAMES}, tmp_path)
    questions = read_questions(PublicFiles(tmp_path).questions)
    result = judge_public(questions, [], tmp_path, dict.fromkeys(NAMES, ""), Reading("sft", 0.05, 50, 7))
    assert result.counts == {"spider_pt": 1034, "enem": 350, "faquad": 63}
    for name, metric in (("spider_pt", "execution"), ("enem", "accuracy"), ("faquad", "exact_match")):
        assert result.metrics[name]["gold"][metric][0] == 1.0
    assert result.metrics["spider_pt"]["constant"]["execution"][0] <= 0.03
    assert result.metrics["spider_pt"]["majority"]["execution"][0] <= 0.03


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_run_with_a_public_benchmark_is_promoted_and_its_bundle_fits_together(tmp_path: Path) -> None:
    """Its answers were taken for those to the test prompts, and the lineage for broken."""
    chosen = TINY | {"storage": str(tmp_path / "runs"), "benchmark.spider_pt": str(spider_folder(tmp_path / "spider"))}
    bundle = str(tmp_path / "b.tar.gz")
    said = [
        subprocess.run([sys.executable, "-m", "tucano.cli", *words], cwd=ROOT, capture_output=True, text=True)
        for words in (
            ("run", "nano", *as_options(chosen)),
            ("bundle", "tucano@champion", bundle, "--consent", "Ana", "--set", f"storage={tmp_path / 'runs'}"),
            ("verify", bundle),
        )
    ]
    assert [done.returncode for done in said] == [0, 0, 0], said[-1].stdout + said[0].stdout[-2000:]
    assert "Public benchmark spider_pt" in said[0].stdout and "FAILED" not in said[2].stdout
