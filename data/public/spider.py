"""Spider in Portuguese: its questions and schemas; databases are generated, since only schemas are published with it.

`dev.jsonl` has a row per question (`db_id`, `question_pt`, `query`), `tables.json` a schema per database in Spider's
own form (Yu et al. 2018, arXiv 1809.08887).
"""

import re
import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from data.public.files import objects, refusal, text_at
from data.public.stores import Schema, Table, fill, sought, write_store
from tucano.benchmark.public.questions import Question
from tucano.security.printable import short
from tucano.truth.sql import right_answer

FILES = ("dev.jsonl", "tables.json")
SIZES = (1, 1, 1, 2, 4)
"""Each database is made so often: two of them larger, for what many rows have to have in common."""
_NAME = re.compile(r"[A-Za-z]\w{0,63}", re.ASCII)
_OWN = "sqlite_"
MOST_DATABASES = 200
MOST_COLUMNS = 600
LONGEST_QUERY = 2_000
"""Characters; the longest of the published ones has 422."""


def spider(folder: Path, seed: int, out: Path | None = None) -> list[Question]:
    """Its questions; their databases are written into `out`. UserError for a folder that is not Spider's, and for a
    gold query that cannot be asked of them.
    """
    rows = objects("spider_pt", folder / FILES[0])
    found = [_schema(row) for row in objects("spider_pt", folder / FILES[1])[:MOST_DATABASES]]
    schemas = {schema.name: schema for schema in found}
    queries: dict[str, list[str]] = defaultdict(list)
    questions: list[Question] = []
    for number, row in enumerate(rows):
        name = text_at("spider_pt", row, "db_id")
        if name not in schemas:
            raise refusal("spider_pt", f"{FILES[0]} asks the database {name[:40]!r}, which {FILES[1]} does not have")
        query = text_at("spider_pt", row, "query", LONGEST_QUERY)
        queries[name].append(query)
        user = f"{schemas[name].shown()}\n\nPergunta: {text_at('spider_pt', row, 'question_pt')}"
        questions.append(Question(f"spider_pt-{number:05d}", "spider_pt", user, name, (query,), f"{name}.sqlite"))
    if out is not None:
        _generate(schemas, queries, seed, out)
        _require_answerable(questions, out)
    return questions


def _generate(schemas: Mapping[str, Schema], queries: Mapping[str, Sequence[str]], seed: int, out: Path) -> None:
    for name, asked in queries.items():
        wanted = sought(schemas[name], asked)
        for place, size in enumerate(SIZES):
            rng = Random(f"{seed}/spider_pt/{name}/{place}")
            path = out / (f"{name}-{place}.sqlite" if place else f"{name}.sqlite")
            try:
                write_store(path, schemas[name], fill(schemas[name], wanted, rng, size, with_gaps=place > 0))
            except sqlite3.Error as error:
                sentence = (
                    f"the database {name} of {FILES[1]} cannot be made ({str(error)[:80]}); take the published file"
                )
                raise refusal("spider_pt", sentence) from None


def _require_answerable(questions: Sequence[Question], databases: Path) -> None:
    for question in questions:
        (gold,) = question.gold
        try:
            is_right = right_answer({"sql": gold, "database": question.database}, gold, databases)
        except ValueError:
            is_right = False
        if not is_right:
            raise refusal(
                "spider_pt", f"the query of {question.id} cannot be asked; take the published file: {short(gold)}"
            )


def _schema(row: dict[str, Any]) -> Schema:
    try:
        return _read(row)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise refusal(
            "spider_pt", f"{FILES[1]} has a schema that is not in Spider's form; take the published file"
        ) from (None)


def _read(row: dict[str, Any]) -> Schema:
    names, columns = row["table_names_original"], row["column_names_original"]
    if not _NAME.fullmatch(row["db_id"]) or len(columns) > MOST_COLUMNS:
        raise ValueError(row["db_id"])
    if not all(0 < len(str(name)) <= 64 for name in (*names, *(name for _, name in columns))):
        raise ValueError(names)
    if not all(isinstance(kind, str) for kind in row["column_types"]):
        raise TypeError(row["column_types"])
    keys = {place for key in row["primary_keys"] for place in (key if isinstance(key, list) else [key])}
    tables = [
        Table(
            table,
            tuple((name, kind) for (of, name), kind in zip(columns, row["column_types"], strict=True) if of == number),
            tuple(name for place, (of, name) in enumerate(columns) if of == number and place in keys),
        )
        for number, table in enumerate(names)
    ]

    def at(place: int) -> tuple[str, str]:
        of, name = columns[place]
        return names[of].lower(), name.lower()

    links = tuple((at(one), at(two)) for one, two in row["foreign_keys"])
    return Schema(row["db_id"], tuple(table for table in tables if not table.name.startswith(_OWN)), links)
