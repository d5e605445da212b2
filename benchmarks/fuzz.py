"""Any bytes to every reader of files of others, and to both readers of JSON answers: rows, or one sentence.

    python -m benchmarks.fuzz csv -max_total_time=600

in an environment that has atheris too (PyPI). What follows the target are options of libFuzzer, and folders of further
inputs. tests/test_readers.py holds the same targets against bytes of
hypothesis, and against the inputs that a run has found (fuzz_corpus.json).
"""

import json
import lzma
import re
import sys
from collections.abc import Callable, Container, Iterable
from contextlib import nullcontext
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

atheris: Any = import_module("atheris") if find_spec("atheris") else None  # the tests run without

with atheris.instrument_imports(include=["data", "rewards", "tucano"]) if atheris else nullcontext():
    from data.own.prompts import read_own
    from data.public.files import objects
    from data.reading.delimited import STARS, delimited
    from data.reading.files import LONGEST_ROW, Broken
    from data.sources.csv_files import TableReader
    from rewards.parsing.objects import find_object, is_parsable, is_strict, wholeness
    from tucano.bundle.manifest import read_manifest
    from tucano.errors import UserError
    from tucano.monitoring.log import read_log, read_references
    from tucano.overview.backs import FILE as BACKS
    from tucano.overview.backs import read_backs
    from tucano.overview.runs import FOLDER
    from tucano.preferences import read_answer_pairs
    from tucano.profiles import TRAIN, load_profile, profiles
    from tucano.rating.draw import read_candidates
    from tucano.rating.files import lines, read
    from tucano.rating.ratings import read_ratings
    from tucano.rating.store import load
    from tucano.security.printable import printable
    from tucano.serving.request_log import FILE as LOG
    from tucano.truth.json_object import only_object, read_object
    from tucano.truth.judge import own_judges

CORPUS = Path(__file__).with_name("fuzz_corpus.json")
"""{target: inputs, a character for each byte}"""
SCRATCH = TemporaryDirectory(prefix="tucano-fuzz-")
LONGEST_SENTENCE = 1500
T = TypeVar("T")


def said(call: Callable[[], T]) -> T | None:
    """What a reader says; None where it refuses in one sentence."""
    try:
        return call()
    except UserError as refused:
        sentence = str(refused)
        assert _is_line(sentence) and 20 < len(sentence) < LONGEST_SENTENCE, sentence
        return None


def _is_line(text: str) -> bool:
    return printable(text) == text and "\n" not in text


def _file(name: str, content: bytes) -> Path:
    path = Path(SCRATCH.name) / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


def _lines(content: bytes) -> list[str]:
    """As an editor counts them; read here a second way."""
    end = "\r" if b"\n" not in content[:LONGEST_ROW] and b"\r" in content[:LONGEST_ROW] else "\n"
    text = content.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    return text.removesuffix(end).split(end)


def csv(content: bytes) -> None:
    """Each line that holds something belongs to a row, which is there or named."""
    separator = (None, ",", ";", "\t")[sum(content[:1]) % 4]
    content = content[1:]
    found = said(lambda: delimited(BytesIO(content), Path("x.csv"), separator))
    if found is None:
        return
    names, rows = found
    whole = _lines(content)
    next_line = 1 + bool(_NAMED.fullmatch(whole[0])) + 1 + sum(name.count("\n") for name in names)
    before: object = None
    for line, cells in rows:
        if cells is before:  # each line of a cell in doubt is lost, and named with all of them
            continue
        before = cells
        assert line >= next_line and not any(map(_holds, whole[next_line - 1 : line - 1])), (next_line, line, cells)
        next_line = line + 1
        if not isinstance(cells, Broken):
            assert len(cells) == len(names)
            next_line += sum(cell.count("\n") for cell in cells)
        elif lost := re.search(r"\(lines \d+ to (\d+)\)", cells.why):
            next_line = int(lost[1]) + 1
    assert not any(map(_holds, whole[next_line - 1 :])), next_line


_NAMED = re.compile(r"\"?sep=[,;\t]\"?\r?", re.IGNORECASE)


def _holds(line: str) -> bool:
    return bool(line.strip(' "\r,;\t'))


def table(content: bytes) -> None:
    """A row is in the table, or lost and counted."""
    path = _file("table.csv", content)
    reader = TableReader(1.0)
    found = said(lambda: reader.read(path, {"text": None, "stars": "stars", "price": "amount", "day": "time"}))
    if found is not None:
        _, rows = delimited(BytesIO(content), path, ",", {"stars": STARS})
        assert len(found) + reader.bad.counts.total() == len(list(rows))
        assert set(found["stars"]) <= {1, 2, 3, 4, 5}


def own(content: bytes) -> None:
    """A row is a prompt, or named with its line and counted."""
    ending = (".jsonl", ".csv")[sum(content[:1]) % 2]
    content = content[1:]
    found = said(lambda: read_own(_file(f"own{ending}", content)))
    if found is not None:
        assert found.rows == len(found.usable) + found.bad.counts.total()
        assert ending == ".csv" or found.rows == sum(bool(line.strip()) for line in _lines(content))
        named = [row for rows in found.bad.first.values() for row in rows]
        assert all(row.startswith(f"own{ending} line ") and _is_line(row) for row in named), named


def parquet(content: bytes) -> None:
    found = said(lambda: read_own(_file("own.parquet", content)))
    assert found is None or found.rows == len(found.usable) + found.bad.counts.total()


def ratings(content: bytes) -> None:
    """All lines, or the first that is none, by its number."""
    kind = sum(content[:1]) % 3
    path = _file("ratings.jsonl", content[1:])
    read = (read_candidates, lambda path: lines(path) and read_ratings(path.parent), read_answer_pairs)[kind]
    found: Any = said(lambda: read(path))
    if found is not None and kind != 1:  # several ratings of an answer become one
        assert len(found) == len(lines(path))


def dump(content: bytes) -> None:
    path = _file("store.sql", content)
    if store := said(lambda: load(read(path), path)):
        store.close()


def logs(content: bytes) -> None:
    """A line is read, or named; the last of a log may be being written."""
    folder = _file(LOG, content).parent
    for name in ("references.jsonl", f"{FOLDER}/{BACKS}", "20.jsonl", "20.json"):
        _file(name, content)
    log = read_log(folder)
    references, unreadable = read_references(folder)
    held = content.split(b"\n")
    _are_read(held[:-1], {row.id for row in log.rows}, log.unreadable)
    _are_read(held, references, unreadable)
    read_backs(folder)
    for ending in ("json", "jsonl"):
        said(partial(objects, "enem", folder / f"20.{ending}"))
    said(lambda: read_manifest(content))


def _are_read(held: list[bytes], ids: Container[str], unreadable: Iterable[tuple[str, int]]) -> None:
    named = {number for _, number in unreadable}
    for number, line in enumerate(held, 1):
        assert number in named or not line.strip() or json.loads(line)["id"] in ids, line


def judge(content: bytes) -> None:
    """Somebody's judge, packed as such files are: judges, or what is wrong in it."""
    path = _file("judge.json.xz", lzma.compress(content, preset=0))
    try:
        assert own_judges(path)
    except ValueError as refused:
        assert str(refused)


def profile(content: bytes) -> None:
    """A project's file, or an override of a setting: settings, or one sentence."""
    is_file, content = sum(content[:1]) % 2, content[1:]
    root = _file("prefect.yaml", content if is_file else _PROJECT).parent
    overrides = [] if is_file else [content.decode("utf-8", "replace")]
    for name in said(lambda: profiles(root)) or ():
        said(partial(load_profile, root, name, overrides))


_PROJECT = f"deployments: [{{name: laptop, entrypoint: {TRAIN!r}, parameters: {{settings: {{}}}}}}]".encode()


def reward_json(content: bytes) -> None:
    text = content.decode("utf-8", "surrogateescape")
    found = find_object(text)
    assert found is None or isinstance(found, dict)
    json.dumps(found, allow_nan=False)
    assert 0 <= wholeness(text) <= 1
    _are_read_alike(text)


def truth_json(content: bytes) -> None:
    text = content.decode("utf-8", "replace")
    json.dumps(read_object(text), allow_nan=False)
    _are_read_alike(text)


def _are_read_alike(text: str) -> None:
    """What is strict for the one, a program can read, and the other reads the same; the reward's guard is its own."""
    found = only_object(text)
    assert is_strict(text) == (found is not None) or not is_parsable(text)
    if is_strict(text):
        assert find_object(text) == read_object(text) == found
        json.dumps(found, allow_nan=False)


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target
    for target in (csv, table, own, parquet, ratings, dump, logs, judge, profile, reward_json, truth_json)
}


def corpus(target: str) -> list[bytes]:
    return [text.encode("latin-1") for text in json.loads(CORPUS.read_text(encoding="utf-8")).get(target, [])]


def main(target: str, options: list[str]) -> None:
    """Ends the process."""
    seeds = Path(SCRATCH.name) / "seeds"
    seeds.mkdir()
    for number, content in enumerate(corpus(target)):
        (seeds / str(number)).write_bytes(content)
    atheris.Setup([sys.argv[0], *options, str(seeds)], TARGETS[target])
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
