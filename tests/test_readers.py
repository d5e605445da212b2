"""Files that people reported of other programs, and any bytes: rows with their lines, or one sentence."""

import csv
import io
import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from own_rows import push, words
from test_data_sources import changed, run, sentence, write_b2w

from benchmarks.fuzz import TARGETS, corpus
from data.own import command
from data.own.prompts import read_own
from data.own.reading import raw_rows
from data.reading import delimited as reading
from data.reading.delimited import IN_DOUBT, MOST_LINES, SWALLOWED, delimited
from data.reading.files import Broken, opened
from data.reading.findings import SHOWN
from data.sources.csv_files import TableReader
from tucano.errors import UserError
from tucano.rating.draw import read_candidates
from tucano.rating.store import load
from tucano.settings import DataSettings

Rows = list[tuple[int, list[str] | str]]


def rows_of(content: str | bytes, separator: str | None = None) -> Rows:
    """Rows, or why there are none, by line."""
    raw = content.encode(errors="surrogateescape") if isinstance(content, str) else content
    _, rows = delimited(io.BytesIO(raw), Path("x.csv"), separator)
    return [(line, cells.why if isinstance(cells, Broken) else cells) for line, cells in rows]


def changed_b2w(folder: Path, changes: Mapping[int, Callable[[str], str]]) -> Path:
    return changed(write_b2w(folder / "b2w.csv"), changes)


def reviews(files: dict[str, list]) -> list[str]:
    return [prompt.user for prompts in files.values() for prompt in prompts if prompt.source == "b2w"]


# Surplus separators


@pytest.mark.parametrize("line", [2, 7])
def test_a_row_with_a_surplus_separator_is_lost_and_named_and_no_column_shifts(line: int, tmp_path: Path) -> None:
    """pandas takes the first column for an index where the first row has a cell more."""
    path = changed_b2w(tmp_path, {line: lambda row: row.replace("Título", "Bom;Título")})
    report, files = run("b2w", path, tmp_path / "out", train_prompts=200)
    assert report.bad_rows == [
        "unreadable in b2w.csv: 1",
        f"b2w.csv line {line}: the row has 6 cells, the first line 5; quote a cell that holds separators",
    ]
    assert report.warnings[0] == "1 rows are unreadable in b2w.csv and left out"
    asked = reviews(files)
    assert len(asked) == 59 and not any(sentence(line - 2) in text for text in asked)
    assert all("Título. " in text for text in asked)


def test_a_column_that_stands_twice_is_refused_where_it_is_read(tmp_path: Path) -> None:
    """The first was read, whichever was meant."""
    (tmp_path / "b2w.csv").write_text("a;b;c;b\n1;2;3;4\n", encoding="utf-8")
    table = TableReader()
    assert table.read(tmp_path / "b2w.csv", {"a": None, "c": None}, ";").to_numpy().tolist() == [["1", "3"]]
    for columns, optional in (({"b": None}, ()), ({"a": None}, ("b",))):
        with pytest.raises(UserError, match=r"b2w.csv has two columns 'b'; rename one"):
            table.read(tmp_path / "b2w.csv", columns, ";", optional)


def test_stars_that_are_none_are_counted(tmp_path: Path) -> None:
    """They were left out without a word."""
    path = changed_b2w(tmp_path, {2: lambda row: row.replace(";1;", ";7;"), 3: lambda row: row.replace(";2;", ";;")})
    table = TableReader()
    assert len(table.read(path, {"overall_rating": "stars"}, ";")) == 58
    assert table.bad_rows[1:] == [
        "b2w.csv line 2: column overall_rating holds '7', 1 to 5 is needed",
        "b2w.csv line 3: column overall_rating holds '', 1 to 5 is needed",
    ]


def test_reviews_that_are_left_out_are_counted_and_said(tmp_path: Path) -> None:
    """They vanished: of two of the same text one, and what has no letter."""
    path = write_b2w(tmp_path / "b2w.csv", 60)
    first = path.read_bytes().decode().split("\r\n")[1]
    path.write_bytes(
        path.read_bytes() + f"{first}\r\n;👍👍;5;Yes;Casa\r\n;10/10;5;Yes;Casa\r\n;;5;Yes;Casa\r\n".encode()
    )
    report, files = run("b2w", path, tmp_path / "out", train_prompts=200)
    assert report.warnings[:2] == [
        "1 reviews of b2w have the text of another one and are left out",
        "3 reviews of b2w have no letter and are left out",
    ]
    assert len(reviews(files)) == 60


def test_many_lost_rows_are_refused_and_the_sentence_says_how_to_go_on(tmp_path: Path) -> None:
    def surplus(row: str) -> str:
        return row + ";x"

    path = changed_b2w(tmp_path, dict.fromkeys(range(2, SHOWN + 3), surplus))
    with pytest.raises(UserError, match=r"b2w.csv: 21 of 60 rows cannot be read \(b2w.csv line 2: .*--set") as raised:
        run("b2w", path, tmp_path / "out")
    (setting,) = re.findall(r"--set data\.unreadable=(\S+)", str(raised.value))
    assert DataSettings(unreadable=float(setting)).unreadable == pytest.approx(21 / 60, abs=0.002)
    assert len(TableReader(float(setting)).read(path, {"overall_rating": "stars"}, ";")) == 39
    assert len(TableReader().read(changed_b2w(tmp_path, {2: surplus}), {"overall_rating": "stars"}, ";")) == 59


# Stray quotation marks


def test_a_stray_mark_costs_its_row_and_not_those_up_to_the_next_mark(tmp_path: Path) -> None:
    """It swallowed eight reviews: the next mark, that of a quoted cell, seemed to close it."""
    changes: dict[int, Callable[[str], str]] = {
        3: lambda row: row.replace("Título;", 'Título;"'),
        12: lambda row: row.replace("Título", '"TV 43"""'),
    }
    report, files = run("b2w", changed_b2w(tmp_path, changes), tmp_path / "out", train_prompts=200)
    assert report.bad_rows[1:] == [
        "b2w.csv line 3: a quotation mark inside of a quoted cell, in line 12; double it, or close the one before it"
    ]
    asked = reviews(files)
    assert len(asked) == 59 and sum('TV 43". ' + sentence(10) in text for text in asked) == 1


def in_doubt(names: str, *rows: str) -> tuple[str, Rows]:
    """Rows of which all but the last stand in one quoted cell: they became one demonstration, without a word."""
    lines = range(2, len(rows) + 1)
    lost = [(line, f"{IN_DOUBT} (lines 2 to {len(rows)})") for line in lines]
    return "\n".join([names, *rows, ""]), [*lost, (len(rows) + 1, re.split("[,;]", rows[-1]))]


QUOTED: dict[str, tuple[str, Rows]] = {
    "the mark that closes it stands at a cell's end": in_doubt(
        "a;b;c;d", '1;"um;3;4', "5;dois;7;8", '9;tres";11;12', "13;14;15;16"
    ),
    "in the last of two columns": in_doubt("a,b", 'um,"Compre já', "dois,Mala linda", 'tres,Tênis 20"', "quatro,Bom"),
    "two rows, without one between them": in_doubt("a,b", 'um,"Compre já', 'tres,Tênis 20"', "quatro,Bom"),
    "in the first column": in_doubt("prompt,id", '"Bolsa,a', "Mala,b", 'TV 43",c', "Boné,d"),
    "three columns": in_doubt("a,b,c", 'um,CC0,"Compre já', "dois,CC0,Linda", 'tres,CC0,Tênis 20"', "quatro,CC0,Bom"),
    "spaces behind the separators of rows": in_doubt(
        "a, b, c, d", '1, CC0, a,"Bolsa', "2, CC0, a, Mala", '3, CC0, a, De 20"', "4, CC0, a, Boné"
    ),
    "spaces in a narrow file": in_doubt("a, b, c", '"1, CC0, Bolsa', "2, CC0, Mala", '3", CC0, De 20', "4, CC0, Boné"),
    "numbers between semicolons": in_doubt("id;prompt", '7;"20 bolsas', "8;30 malas", '9;TV 43"', "10;40 bonés"),
    "a price in the row": in_doubt("id,prompt", 'a,"Bolsa de 19,90', "b,Mala", 'c,Tênis de 20"', "d,Boné"),
    "a row between lines that are none": in_doubt("id,prompt", 'a,"Bolsa,mala', "b,Tênis", 'c,20"', "d,Boné"),
    "lines of a row that lacks cells are read as the rows they are": (
        'a,b\n"um,dois\ntres,quatro\ncinco,20"\nseis,sete\n',
        [(2, SWALLOWED), (3, ["tres", "quatro"]), (4, ["cinco", '20"']), (5, ["seis", "sete"])],
    ),
    "the mark that closes it stands in another column": (
        'a;b;c;d\n1;"um;3;4\n5;dois;7;8\n9;tres;onze";12\n13;14;15;16\n',
        [
            (2, SWALLOWED),
            (3, ["5", "dois", "7", "8"]),
            (4, ["9", "tres", 'onze"', "12"]),
            (5, ["13", "14", "15", "16"]),
        ],
    ),
    "nothing closes it": (
        'task,prompt\npush,"Um\npush,Dois\npush,Tres\n',
        [
            (2, "a quotation mark that nothing closes; close it, or double it where the text has one"),
            (3, ["push", "Dois"]),
            (4, ["push", "Tres"]),
        ],
    ),
    "a text of several lines is torn": (
        'prompt,task\n"Ele disse\n"sim" e foi, embora\ne voltou",push\nDois,push\n',
        [
            (2, "a quotation mark inside of a quoted cell, in line 3; double it, or close the one before it"),
            (3, "a quotation mark inside of a quoted cell; double it, or close the one before it"),
            (4, "the row stands behind a broken one, and may be its rest"),
            (5, ["Dois", "push"]),
        ],
    ),
    "a text of several lines with separators, and lines of its own": (
        'a,b,c,d\n1,"um, dois, tres,\nquatro, cinco",6,7\n',
        [(2, ["1", "um, dois, tres,\nquatro, cinco", "6", "7"])],
    ),
    "an inch mark": ('a;b\nTV 43" nova;2\n"TV 43""";3\n', [(2, ['TV 43" nova', "2"]), (3, ['TV 43"', "3"])]),
    "a surplus cell after several lines": (
        'a,b\n"um\ndois",3,4\n5,6\n',
        [
            (2, "the row has 3 cells, the first line 2; quote a cell that holds separators (lines 2 to 3)"),
            (4, ["5", "6"]),
        ],
    ),
}  # fmt: skip


TABLE = "Analise os números:\nmês,receita,pedidos,atraso\njaneiro,105000,1200,3\nRecomende ações."


@pytest.mark.parametrize(
    ("names", "row"),
    [
        (["prompt", "id", "template", "source"], [TABLE, "a1", "t1", "erp"]),
        (["prompt", "task", "stars", "id"], [TABLE.removeprefix("Analise os números:\n"), "insights", "", "a1"]),
        (["id", "template", "source", "prompt"], ["a1", "t1", "erp", TABLE]),
        (["prompt", "stars"], ["Avaliações por mês:\njaneiro,5\nfevereiro,3\nResuma.", "4"]),
        (["prompt", "demonstration"], ["Escreva um push", "Bolsa nova\nCompre já, hoje\npor R$ 19,90"]),
        (["id", "prompt"], ["a", "Bolsa nova\nPor R$ 19,90"]),
        (["id", "prompt"], ["a", "Números:\nmês,receita\njaneiro,105\nRecomende ações."]),
        (["prompt", "demonstration"], ["Dados do mês:\nreceita 105,2\natraso 3,1", "A receita, de 105,2,\ncaiu."]),
        (["prompt", "licence", "demonstration"], ["Escreva, já:\n- bolsa\n- mala, azul", "CC0", "Uma\nbolsa, azul"]),
        (["prompt"], ["Escreva um push\nda bolsa\nnova"]),
    ],
)
def test_several_lines_of_a_quoted_cell_are_its_text(names: list[str], row: list[str], tmp_path: Path) -> None:
    """Those of a small table became prompts: they have as many separators as the rows of the file."""
    with (tmp_path / "own.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([names, row])
    (found,) = raw_rows(tmp_path / "own.csv")
    assert found.content == {name: cell for name, cell in zip(names, row, strict=True) if cell}


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ('prompt,task\nUm,push\n"Dois,push\nTres,push\nTV 43",push\nCinco,push\n', ["Um", "Tres", 'TV 43"', "Cinco"]),
        ('task,prompt\npush,"Um\npush,Dois\npush,TV 43"\npush,Quatro\n', ["Dois", 'TV 43"', "Quatro"]),
        ('prompt,task,stars\n"Um,extraction,5\nDois,extraction,1\nTV 43",extraction,4.0\n', ["Dois", 'TV 43"']),
    ],
)
def test_a_stray_mark_in_a_narrow_file_swallows_no_rows(content: str, kept: list[str], tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(content, encoding="utf-8")
    rows = [row.content for row in raw_rows(tmp_path / "own.csv")]
    assert [row["prompt"] for row in rows if not isinstance(row, Broken)] == kept
    assert [row.why for row in rows if isinstance(row, Broken)] == [SWALLOWED]


@pytest.mark.parametrize("what", QUOTED)
def test_where_marks_do_not_fit_the_lines_are_named_as_an_editor_counts_them(what: str) -> None:
    content, expected = QUOTED[what]
    assert rows_of(content) == expected
    assert rows_of(content.replace("\n", "\r\n")) == [
        (line, said if isinstance(said, str) else [cell.replace("\n", "\r\n") for cell in said])
        for line, said in expected
    ]


def test_one_open_mark_costs_one_row_of_many_and_no_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All rows after it were lost, 150,000 characters on."""
    rows = [f"push,Escreva um push: {words(n)}" for n in range(3000)]
    rows[6] = rows[6].replace(",", ',"')
    (tmp_path / "own.csv").write_text("\n".join(["task,prompt", *rows]), encoding="utf-8")
    assert command.check(tmp_path / "own.csv") == command.SOME_BAD
    said = capsys.readouterr().out
    assert "3000 rows, 2999 usable" in said and "own.csv line 8: a quotation mark that nothing closes; close it" in said
    assert "or go on without them:" in said


def test_marks_in_every_line_are_read_again_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each could be the first of a row that has no end: without a bound a file of 7 MB would take years."""
    taken = Counter[str]()
    take = reading._Lines.take

    def counted(lines: reading._Lines) -> tuple[int, str | None] | None:
        taken["lines"] += 1
        return take(lines)

    monkeypatch.setattr(reading._Lines, "take", counted)
    header = ",".join(f"c{number}" for number in range(1500))
    assert len(rows_of(f"{header}\n" + 'a","b\n' * 1000)) == 1000
    assert taken["lines"] < 1000 * (MOST_LINES + 2)


# Carriage returns


def test_a_lone_carriage_return_stands_in_its_text(tmp_path: Path) -> None:
    path = changed_b2w(tmp_path, {2: lambda row: row.replace(sentence(0), f"Chegou\r{sentence(0)}")})
    _, files = run("b2w", path, tmp_path / "out", train_prompts=200)
    assert sum(f"Título. Chegou {sentence(0)}" in text for text in reviews(files)) == 1 and len(reviews(files)) == 60
    text = b"task,prompt\npush,Escreva um push\rda mesa\npush,Crie um push\n"
    (tmp_path / "own.csv").write_bytes(text)
    read = read_own(tmp_path / "own.csv").prompts
    assert [prompt.user for prompt in read] == ["Escreva um push\rda mesa", "Crie um push"]


def test_rows_of_an_old_macintosh_end_in_carriage_returns(tmp_path: Path) -> None:
    assert rows_of("a,b\r1,2\r3\r4,5") == [(2, ["1", "2"]), (3, "the row has 1 cells, the first line 2; quote a cell that holds separators"), (4, ["4", "5"])]  # fmt: skip
    lines = "\r".join(json.dumps(push(n)) for n in range(3))
    (tmp_path / "own.jsonl").write_text(lines, encoding="utf-8", newline="")
    assert len(read_own(tmp_path / "own.jsonl").prompts) == 3
    with pytest.raises(UserError, match="a carriage return stands in them"):
        rows_of("a,b\r1,2\n3,4\n")


# Encodings


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("name", ["own.csv", "own.jsonl"])
def test_the_advice_for_wide_characters_makes_a_file_that_is_read(name: str, encoding: str, tmp_path: Path) -> None:
    """The advice was that for Latin-1, which leaves a zero byte in front of each letter."""
    rows = {"own.csv": "task,prompt\npush,Promoção de relógio\n", "own.jsonl": '{"prompt": "Promoção de relógio"}\n'}
    (tmp_path / name).write_bytes(rows[name].encode(encoding))
    called = encoding.upper().replace("-LE", "LE").replace("-BE", "BE")
    with pytest.raises(UserError, match=rf"is {called}, not UTF-8; convert it: ") as raised:
        read_own(tmp_path / name)
    (advice,) = re.findall("`(.*)`", str(raised.value))
    subprocess.run(advice, shell=True, check=True, cwd=tmp_path)
    assert [prompt.user for prompt in read_own(tmp_path / f"utf8-{name}").prompts] == ["Promoção de relógio"]


def test_a_zero_byte_and_a_foreign_letter_cost_their_row(tmp_path: Path) -> None:
    assert rows_of("a,b\n1,x\0y\n2,\udce7\n3,4\n") == [
        (2, "the row holds a zero byte (character 4)"),
        (3, "the row is not UTF-8 (character 3)"),
        (4, ["3", "4"]),
    ]
    path = changed_b2w(tmp_path, {5: lambda row: row.replace("Título", "T\0tulo")})
    assert run("b2w", path, tmp_path / "out")[0].bad_rows[1:] == [
        "b2w.csv line 5: the row holds a zero byte (character 2)"
    ]


@pytest.mark.parametrize("behind", [b"", b'\n{"prompt": "Escreva um push"}\n'])
def test_zero_bytes_of_a_power_cut_cost_their_line_alone(behind: bytes, tmp_path: Path) -> None:
    """The file was called UTF-16, and refused."""
    rows = b"".join(json.dumps(push(n)).encode() + b"\n" for n in range(20))
    (tmp_path / "own.jsonl").write_bytes(rows + b"\0" * 1000 + behind)
    found = read_own(tmp_path / "own.jsonl")
    assert (found.rows, len(found.prompts)) == (21 + bool(behind), 20 + bool(behind))
    assert found.bad.first["unreadable"] == ["own.jsonl line 21: the row holds a zero byte (character 1)"]
    assert rows_of(b"a,b\n1,2\n" + b"\0" * 101) == [(2, ["1", "2"]), (3, "the row holds a zero byte (character 1)")]


@pytest.mark.parametrize("magic", [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"PK\x03\x04", b"\x1f\x8b"])
def test_a_spreadsheet_named_as_text_is_to_be_saved_as_csv(magic: bytes, tmp_path: Path) -> None:
    """The command that converts encodings was advised."""
    (tmp_path / "own.csv").write_bytes(magic + b"\0" * 500 + b"\xff\xfe" * 20)
    with pytest.raises(UserError, match=r"own\.csv is a spreadsheet or packed, no text; unpack it, or save it as CSV$"):
        read_own(tmp_path / "own.csv")
    assert rows_of("PK,b\n1,2\n") == [(2, ["1", "2"])]


def test_a_sentence_is_one_line_whatever_it_quotes(tmp_path: Path) -> None:
    """The rest of a dump stood in it, and the names of a stranger's fields."""
    odd = {"prompt": {"a\nb" * 99: 1}, "completion": "Oi"}
    (tmp_path / "c.jsonl").write_text(json.dumps(odd), encoding="utf-8")
    for read in (lambda: load("SELECT 'a\n" + "b" * 9999, tmp_path), lambda: read_candidates(tmp_path / "c.jsonl")):
        with pytest.raises(UserError) as raised:
            read()
        assert str(raised.value).isprintable() and len(str(raised.value)) < 600


# Any bytes

SIGNS = st.lists(st.sampled_from(b'";,\n\r\0 a\xe7{}:1')).map(bytes)


@pytest.mark.parametrize("target", TARGETS)
def test_any_bytes_are_rows_with_lines_or_one_sentence(target: str) -> None:
    """Alone, and inside of an input that a fuzzer has found. Of Parquet each is looked at by a process of its own."""
    known = corpus(target)

    @given(content=st.binary(max_size=200) | SIGNS, place=st.integers(0, 10_000), seed=st.integers(0, 10_000))
    @settings(max_examples=15 if target == "parquet" else 60)
    def read(content: bytes, place: int, seed: int) -> None:
        around = known[seed % len(known)]
        cut = place % (len(around) + 1)
        for raw in (content, around[:cut] + content + around[cut:]):
            TARGETS[target](raw)

    read()


@pytest.mark.parametrize("target", TARGETS)
def test_what_a_fuzzer_has_found_stays_mended(target: str) -> None:
    for content in corpus(target):
        TARGETS[target](content)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_file_by_a_files_name_is_refused(make: Callable[[Path], object], tmp_path: Path) -> None:
    make(tmp_path / "a.jsonl")
    with pytest.raises(UserError, match=r"a\.jsonl is .*no ordinary file"), opened(tmp_path / "a.jsonl"):
        pass


def test_stars_with_decimals_of_either_kind_are_stars(tmp_path: Path) -> None:
    """A Brazilian spreadsheet saves 5,0; a part of a star is none."""
    (tmp_path / "b2w.csv").write_text("stars;a\n5,0;1\n4.0;2\n 3 ;3\n4,5;4\n;5\n", encoding="utf-8")
    reader = TableReader(1.0)
    found = reader.read(tmp_path / "b2w.csv", {"stars": "stars", "a": None}, ";")
    assert found["stars"].tolist() == [5, 4, 3] and reader.bad.counts.total() == 2
