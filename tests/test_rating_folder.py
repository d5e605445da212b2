"""A rating folder may come from anybody: its store fills tables and does nothing else, its lines have types."""

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from odd_files import ODD, put_in_place
from pace import slowness
from test_cli import tucano

from rewards.parsing.sql import run_query
from rewards.parsing.sql_results import Outcome, answers_gold
from tucano.audit.gate import audit
from tucano.errors import UserError
from tucano.prompts import Prompt
from tucano.rating import store as rating_store
from tucano.rating.draw import Candidate, open_folder, read_candidates, write_candidates
from tucano.rating.ratings import rating_ledger, read_ratings
from tucano.rating.session import Session
from tucano.rating.store import STORE, load, tables
from tucano.rating.store import rating_store as opened_store
from tucano.settings import AuditSettings
from tucano.truth import truth

ROOT = Path(__file__).parent.parent
PLAIN = "CREATE TABLE pedidos(pedido_id INTEGER, mes TEXT);\nINSERT INTO pedidos VALUES(7,'2018-02');\n"
COUNT = {"sql": "SELECT COUNT(*) FROM pedidos", "database": STORE}
QUESTION = Prompt("q", "sql_qa", "Quantos pedidos?", "t", "s", "CC0", reference=COUNT)
PUSH = Prompt("p", "push", "Crie um push.", "t", "s", "CC0")


def rated(prompt: Prompt = PUSH, completion: object = "Oi!", **changed: Any) -> dict[str, Any]:
    record = {"prompt": asdict(prompt), "completion": completion, "origin": "sampled", "model": "m"}
    return {**record, "rating": 3, "rater": "ana", "rater_kind": "human", **changed}


def folder_of(folder: Path, *records: dict[str, Any], store: str | None = PLAIN) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "ratings.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    if store is not None:
        (folder / "store.sql").write_text(store, encoding="utf-8")
    return folder


def write_database(path: Path, sql: str = PLAIN) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(sql)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("dump", [f"BEGIN;{PLAIN}", "BEGIN TRANSACTION;\nCREATE TABLE t(a);\n"])
def test_a_dump_without_its_end_is_refused_and_not_waited_for(tmp_path: Path, dump: str) -> None:
    folder = folder_of(tmp_path / "folder", rated(), store=dump)
    with pytest.raises(UserError, match="ends within a transaction"), opened_store(folder):
        pass


class TestStore:
    """What a dump may not do, each refused in one sentence before anything of it can be seen anywhere."""

    def test_the_committed_store_and_what_sqlite_writes_are_read(self, tmp_path: Path) -> None:
        assert [name for name, _, _ in tables(ROOT / "data" / "ratings")][:2] == ["avaliacoes", "clientes"]
        dump = (
            "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT, t TEXT"
            " DEFAULT 'x', UNIQUE(t));\n"
            + "INSERT INTO a VALUES(1,'São Paulo'),(2,replace('duas\\nlinhas','\\n',char(10)));\nCREATE INDEX i ON"
            " a(t);\n" + 'DELETE FROM "sqlite_sequence";\nINSERT INTO "sqlite_sequence" VALUES(\'a\',2);\nCOMMIT;\n'
        )
        assert tables(folder_of(tmp_path / "f", store=dump))[0] == ("a", ["id", "t"], ["1", "São Paulo"])
        with opened_store(tmp_path / "f") as place, closing(sqlite3.connect(place / STORE)) as connection:
            assert connection.execute("SELECT t FROM a WHERE id = 2").fetchone() == ("duas\nlinhas",)

    @pytest.mark.parametrize(
        "attack",
        [
            "ATTACH DATABASE '{target}' AS x; CREATE TABLE x.t(a);",
            "VACUUM INTO '{target}';",
            "PRAGMA temp_store_directory = '{folder}';",
            "PRAGMA writable_schema = ON;",
            "CREATE VIRTUAL TABLE f USING fts5(a);",
            "CREATE TRIGGER r AFTER INSERT ON pedidos BEGIN SELECT 1; END;",
            "CREATE TEMP TABLE t(a);",
            "SELECT load_extension('{target}');",
            "INSERT INTO pedidos SELECT randomblob(1000000000), 1;",
            "DROP TABLE pedidos;",
            "ALTER TABLE pedidos RENAME TO x;",
            "nonsense",
            "SELECT '\0';",
        ],
    )
    def test_anything_but_filling_tables_is_refused(self, tmp_path: Path, attack: str) -> None:
        (tmp_path / "elsewhere").mkdir()
        target = tmp_path / "elsewhere" / "written.sqlite"
        folder = folder_of(tmp_path / "f", rated(), store=PLAIN + attack.format(target=target, folder=target.parent))
        for use in (lambda: tables(folder), lambda: audit("grounded", folder, AuditSettings(), ("push",), 1)):
            with pytest.raises(UserError, match=r"store\.sql is no store: ") as caught:
                use()
            assert "\n" not in str(caught.value)
        assert not list(target.parent.iterdir())

    @pytest.mark.parametrize(
        "attack",
        [
            "".join(f"CREATE TABLE t{number}(a);" for number in range(1000)),
            "INSERT INTO pedidos WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x, x FROM c;",
            "INSERT INTO pedidos SELECT a.pedido_id, a.mes FROM pedidos a, pedidos b, pedidos c, pedidos d, pedidos e;"
            * 4,
        ],
    )
    def test_work_without_end_is_ended(self, tmp_path: Path, attack: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(rating_store, "MOST_SECONDS", 1.0)
        rows = "".join(f"INSERT INTO pedidos VALUES({number},'x');" for number in range(60))
        began = time.monotonic()
        with pytest.raises(UserError, match="is no store"):
            load(PLAIN + rows + attack, tmp_path / "store.sql")
        assert time.monotonic() - began < 10 * slowness()

    def test_memory_is_bounded(self, tmp_path: Path) -> None:
        """20 doublings of 10 KB would be 10 GB."""
        doubling = "INSERT INTO big SELECT a FROM big;" * 20
        with pytest.raises(UserError, match="database or disk is full"):
            load(f"CREATE TABLE big(a); INSERT INTO big VALUES('{'x' * 10_000}'); {doubling}", tmp_path / "store.sql")

    def test_a_database_file_is_dumped_with_the_same_care(self, tmp_path: Path) -> None:
        write_database(tmp_path / STORE, PLAIN + "CREATE TRIGGER r AFTER INSERT ON pedidos BEGIN SELECT 1; END;")
        write_candidates(tmp_path / "answers.jsonl", [Candidate(QUESTION, "SELECT 1", "sampled", "m")])
        with pytest.raises(UserError, match="is no store"):
            open_folder(tmp_path / "mine", tmp_path / "answers.jsonl", 1, 1, 1)
        assert not (tmp_path / "mine" / "store.sql").exists()

    def test_rating_does_not_run_the_store_of_the_answers(self, tmp_path: Path) -> None:
        target = tmp_path / "elsewhere.sqlite"
        (tmp_path / "store.sql").write_text(f"ATTACH DATABASE '{target}' AS x; CREATE TABLE x.t(a);", encoding="utf-8")
        write_candidates(tmp_path / "answers.jsonl", [Candidate(QUESTION, "SELECT 1", "sampled", "m")])
        whose = ("--rater", "ana", "--from", str(tmp_path / "answers.jsonl"), "--terminal")
        refused = tucano("rate", str(tmp_path / "mine"), *whose)
        assert refused.returncode == 2 and "store.sql is no store: not authorized" in refused.stderr
        assert not target.exists()


class TestLines:
    @pytest.mark.parametrize(
        "line",
        [
            "[" * 100_000,
            '{"prompt": ' + "[" * 100_000,
            json.dumps(rated(rating=6)),
            json.dumps(rated(rating=True)),
            json.dumps(rated(rater=["ana"])),
            json.dumps(rated(rater="ana\u2028bia")),
            json.dumps(rated(rater=" \u00a0")),
            json.dumps(rated(replace(PUSH, stars=9))),
            json.dumps(rated(replace(PUSH, id=5))),  # type: ignore[arg-type]
            json.dumps(rated(replace(PUSH, task="sql"))),
            json.dumps(rated(replace(PUSH, reference=["x"]))),  # type: ignore[arg-type]
            json.dumps(rated(replace(PUSH, reference={"terms": 5}))),
            json.dumps(rated(replace(PUSH, reference={"figures": ["NaN"]}))),
            json.dumps(rated(replace(QUESTION, reference={"sql": "SELECT 1"}))),
            json.dumps(rated(completion="\ud800")),
            json.dumps(rated()).replace('"rating": 3', f'"rating": {"9" * 5000}'),
            json.dumps(rated()).replace('"rating": 3', '"rating": 3, "rating": 5'),
            json.dumps({**rated(), "prompt": {**asdict(PUSH), "refrence": {}}}),
            "x" * 2**20 + "x",
        ],
    )
    def test_an_odd_line_is_named_in_one_sentence(self, tmp_path: Path, line: str) -> None:
        folder = folder_of(tmp_path / "f", rated())
        with (folder / "ratings.jsonl").open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        (folder / "candidates.jsonl").write_text(line + "\n", encoding="utf-8")
        with pytest.raises(UserError, match=r"ratings\.jsonl line 2 ") as caught:
            read_ratings(folder)
        assert len(str(caught.value)) < 500 and "\n" not in str(caught.value) and "\x1b" not in str(caught.value)
        if '"rat' not in line or '"rater"' not in line or "completion" not in line:
            with pytest.raises(UserError, match=r"candidates\.jsonl line 1 "):
                read_candidates(folder / "candidates.jsonl")

    @pytest.mark.parametrize(
        ("second", "says"),
        [
            (rated(replace(PUSH, user="Outro pedido.")), "has another prompt under the id 'p'"),
            (rated(replace(PUSH, reference={"product": "bola"})), "has another prompt under the id 'p'"),
            (rated(rating=1), "is a 1 by 'ana' for an answer that they rated 3 before"),
            (rated(completion="Olá!", rater_kind="model"), "is by 'ana' as a model, a human before"),
            (rated(rater="Ana "), "is by 'Ana ', who looks like 'ana' before"),
            (rated(rater="a\u200bna"), "who looks like 'ana' before"),
            (rated(rater="\uff41\ufe0fn a"), "who looks like 'ana' before"),
        ],
    )
    def test_a_line_that_contradicts_another_is_named(self, tmp_path: Path, second: dict[str, Any], says: str) -> None:
        with pytest.raises(UserError, match=r"ratings\.jsonl line 2 ") as caught:
            read_ratings(folder_of(tmp_path / "f", rated(), second))
        assert says in str(caught.value)

    def test_a_file_too_large_is_refused_before_it_is_read(self, tmp_path: Path) -> None:
        folder = folder_of(tmp_path / "f", rated())
        with (folder / "ratings.jsonl").open("r+b") as file:
            file.truncate(2**40)  # a hole: it takes no space on disk
        with pytest.raises(UserError, match="has more than 64 MB"):
            read_ratings(folder)

    @pytest.mark.parametrize("database", ["../mlflow/mlflow.db", "/etc/passwd", "a/b", ".."])
    def test_a_reference_opens_no_database_elsewhere(self, tmp_path: Path, database: str) -> None:
        elsewhere = replace(QUESTION, reference={"sql": "SELECT COUNT(*) FROM pedidos", "database": database})
        with pytest.raises(UserError, match=r"reference|database"):
            read_ratings(folder_of(tmp_path / "f", rated(elsewhere)))
        (tmp_path / "mlflow").mkdir()
        write_database(tmp_path / "mlflow" / "mlflow.db")
        with pytest.raises(ValueError, match=r"own folder|a file of the folder"):
            truth(elsewhere, "SELECT COUNT(*) FROM pedidos", tmp_path / "f")
        with pytest.raises(ValueError, match="own folder"):
            answers_gold(elsewhere.reference, "SELECT COUNT(*) FROM pedidos", tmp_path / "f")

    def test_a_gold_query_that_does_not_run_is_known_before_the_audit(self, tmp_path: Path) -> None:
        broken = replace(QUESTION, reference={"sql": "SELECT nada FROM pedidos", "database": STORE})
        with pytest.raises(UserError, match="prompt q: the gold query does not run"):
            audit("grounded", folder_of(tmp_path / "f", rated(broken)), AuditSettings(), ("sql_qa",), 1)


class TestLinks:
    """A link in the folder could have its target read, cut off, written to or replaced."""

    @pytest.fixture
    def target(self, tmp_path: Path) -> Path:
        path = tmp_path / "target"
        path.write_text(json.dumps(rated()), encoding="utf-8")  # without a newline: it would be mended
        return path

    @pytest.mark.parametrize("name", ["ratings.jsonl", "candidates.jsonl", "store.sql"])
    def test_a_linked_file_is_refused_and_its_target_untouched(self, tmp_path: Path, target: Path, name: str) -> None:
        folder = folder_of(tmp_path / "f", rated())
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)
        before = target.read_bytes()
        candidate = Candidate(PUSH, "Oi!", "sampled", "m")
        uses = {
            "ratings.jsonl": lambda: Session(folder, [candidate], "ana", "human"),
            "candidates.jsonl": lambda: open_folder(folder, tmp_path / "nowhere", 1, 1, 1),
            "store.sql": lambda: tables(folder),
        }
        with pytest.raises(UserError, match="is a link"):
            uses[name]()
        assert target.read_bytes() == before

    def test_drafts_do_not_go_through_links(self, tmp_path: Path, target: Path) -> None:
        folder, before = tmp_path / "f", target.read_bytes()
        folder.mkdir()
        session = Session(folder, [Candidate(PUSH, "Oi!", "sampled", "m")], "ana", "human")
        item = session.view().item
        assert item is not None
        session.say(item.id, "4")
        (folder / "ratings.jsonl.draft").symlink_to(target)
        session.undo()
        (folder / "candidates.jsonl.draft").symlink_to(target)
        write_candidates(folder / "candidates.jsonl", [Candidate(PUSH, "Oi!", "sampled", "m")])
        assert target.read_bytes() == before
        assert session.view().rated == 0 and not (folder / "ratings.jsonl").is_symlink()

    @pytest.mark.timeout(600)
    @pytest.mark.parametrize("name", ["ratings.jsonl", "candidates.jsonl", "store.sql", "store-1.sql"])
    @pytest.mark.parametrize("kind", ODD)
    def test_what_is_no_file_is_not_opened(self, tmp_path: Path, kind: str, name: str) -> None:
        (tmp_path / "store.sql").write_text(PLAIN, encoding="utf-8")
        write_candidates(tmp_path / "candidates.jsonl", [Candidate(QUESTION, "SELECT 1", "sampled", "m")])
        (tmp_path / "ratings.jsonl").touch()
        put_in_place(kind, tmp_path / name)
        open_each: list[Callable[[], object]] = [
            lambda: tables(tmp_path),
            lambda: open_folder(tmp_path, tmp_path, 1, 1, 1),
            lambda: rating_ledger(tmp_path).check_rater("ana", "human", is_new=True),
            lambda: read_ratings(tmp_path),
        ]
        refused = 0
        for open_one in open_each:
            try:
                open_one()
            except UserError as error:
                refused += name in str(error)
        assert refused >= 1

    def test_the_store_beside_answers_is_not_a_link_to_another_database(self, tmp_path: Path) -> None:
        write_database(tmp_path / "cookies.sqlite")
        (tmp_path / "in").mkdir()
        (tmp_path / "in" / STORE).symlink_to(tmp_path / "cookies.sqlite")
        write_candidates(tmp_path / "in" / "answers.jsonl", [Candidate(QUESTION, "SELECT 1", "sampled", "m")])
        with pytest.raises(UserError, match="is a link"):
            open_folder(tmp_path / "mine", tmp_path / "in" / "answers.jsonl", 1, 1, 1)
        assert not (tmp_path / "mine" / "store.sql").exists()


class TestSeveralStores:
    def test_all_stores_of_a_question_are_kept_and_judged_on(self, tmp_path: Path) -> None:
        place, folder = tmp_path / "in", tmp_path / "mine"
        place.mkdir()
        for number, name in enumerate((STORE, "store-1.sqlite", "store-2.sqlite")):
            rows = ", ".join(f"({n})" for n in range(2 + number))
            write_database(place / name, f"CREATE TABLE pedidos(pedido_id); INSERT INTO pedidos VALUES {rows};")
        write_candidates(place / "answers.jsonl", [Candidate(QUESTION, "SELECT 2", "sampled", "m")])
        open_folder(folder, place / "answers.jsonl", 1, 1, 1)
        assert sorted(path.name for path in folder.glob("store*")) == ["store-1.sql", "store-2.sql", "store.sql"]
        with opened_store(folder) as stores:
            found = [run_query(path, "SELECT COUNT(*) FROM pedidos") for path in sorted(stores.iterdir())]
            assert [result and result.rows for result in found] == [((3,),), ((4,),), ((2,),)]
            assert answers_gold(QUESTION.reference, "SELECT 2 FROM pedidos LIMIT 1", stores) == Outcome(True, False)
