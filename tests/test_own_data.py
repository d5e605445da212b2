"""Files of other people's prompts: what becomes of each row, and what is refused in one sentence."""

import json
import math
import shlex
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_files import ODD, put_in_place
from own_rows import ODD_ROWS, insight, push, words, written
from test_cli import tucano

from data.own import command
from data.own.export import prompts_of, row_of, write_lines
from data.own.feedback import Learned
from data.own.prompts import read_own
from data.own.rows import LICENCE
from data.prepare import prepare
from data.reading.findings import SHOWN
from tucano.errors import UserError
from tucano.masking import mask
from tucano.masking.prompts import masked_prompt
from tucano.profiles import load_profile
from tucano.prompts import TASKS, Prompt
from tucano.settings import DataSettings

ROOT = Path(__file__).parent.parent


def test_a_row_has_all_fields_or_the_prompt_alone(tmp_path: Path) -> None:
    row = push(
        1, reference={"product": "bolsa", "terms": ["bolsa"]}, demonstration="Bolsa nova!", stars=4, licence="CC0-1.0",
        consent=True, id="p-1", template="frio", source="crm",
    )  # fmt: skip
    whole, bare = read_own(written(tmp_path / "own.jsonl", [row, {"prompt": "Crie uma notificação da loja."}])).prompts
    assert whole == Prompt(
        "p-1", "push", row["prompt"], "frio", "crm", "CC0-1.0", 4, row["reference"], "Bolsa nova!"
    )  # fmt: skip
    assert (bare.task, bare.source, bare.licence) == ("push", "own", LICENCE)
    assert (bare.reference, bare.demonstration) == ({}, None)
    assert bare.template.startswith("own-")


@pytest.mark.parametrize("what", ODD_ROWS)
def test_an_odd_row_is_named_and_the_next_one_is_read(what: str, tmp_path: Path) -> None:
    row, kind = ODD_ROWS[what]
    found = read_own(written(tmp_path / "own.jsonl", [push(100), row, push(101)]))
    assert len(found.prompts) == 2 and found.rows == 3
    assert found.bad.counts == {kind: 1}
    (sentence,) = found.bad.first[kind]
    assert sentence.startswith("own.jsonl line 2: ") and len(sentence) < 300 and sentence.isprintable()


def test_personal_data_is_masked_wherever_it_stands_and_in_complaints(tmp_path: Path) -> None:
    mail = "ana@exemplo.com.br"
    reference = {"product": f"bolsa de {mail}", "terms": [mail]}
    row = push(1, reference=reference, demonstration=f"Fale com {mail}", licence=f"de {mail}", template=mail)
    row["prompt"] += f" Meu zap é (11) 98765-4321, {mail}"
    found = read_own(written(tmp_path / "own.jsonl", [row, {**push(2), "task": mail}, {**push(3), "stars": mail}]))
    said = str(found)
    assert "ana@" not in said and "98765" not in said and "[EMAIL]" in said
    assert found.masked == {"email": 6, "phone": 1} and found.notes.counts["masked"] == 1


@pytest.mark.parametrize(
    ("name", "number", "mark"),
    [
        ("cpf", 52998224725.0, "[CPF]"),
        ("cpf", "99822472", "[CPF]"),
        ("cnpj", 11222333000181.0, "[CNPJ]"),
        ("telefone", 11987654321, "[PHONE]"),
        ("fones", [11987654321.0, 2.0], [2.0]),
        ("pedido", 20231234567, "[ORDER]"),
        ("preco", 1234567.0, 1234567.0),
        ("receita", 1234567890.0, 1234567890.0),
        ("cpf", 0.5, 0.5),
        ("cpf", True, True),
    ],
)
def test_the_name_of_a_number_in_a_reference_tells_what_it_is(
    name: str, number: Any, mark: Any, tmp_path: Path
) -> None:
    row = push(1, reference={"product": "bolsa", "cliente": {name: number}})
    (found,) = read_own(written(tmp_path / "own.jsonl", [row])).prompts
    assert found.reference == {"product": "bolsa", "cliente": {name: mark}}


def test_a_personal_number_leaves_a_list_of_figures_and_what_is_left_still_fits(tmp_path: Path) -> None:
    """A text among figures ended the training that read them."""
    row = push(1, reference={"product": "bolsa", "figures": [52998224725.0, 52998224725, 89.9, 1234567.0]})
    found = read_own(written(tmp_path / "own.jsonl", [row]))
    assert found.prompts[0].reference == {"product": "bolsa", "figures": [89.9, 1234567.0]}
    assert found.masked == {"cpf": 2}


def test_a_reference_that_no_longer_fits_once_masked_is_refused(tmp_path: Path) -> None:
    facts = [{"label": "titular", "value": 52998224725.0}]
    row = {**push(1), "task": "insights", "reference": {"facts": facts}}
    (said,) = read_own(written(tmp_path / "own.jsonl", [row])).bad.first["reference"]
    assert "does not fit the task insights (facts.0.value" in said and "52998224725" not in said


@pytest.mark.parametrize(
    ("task", "reference"),
    [("push", {"produto": "bolsa"}), ("extraction", {"sentiment": "negative"}), ("sql_qa", {"query": "SELECT 1"})],
)
def test_a_reference_of_which_nothing_is_known_is_named(task: str, reference: dict[str, Any], tmp_path: Path) -> None:
    """It was taken for truth, and form alone was rewarded without a word."""
    row = {**push(1), "task": task, "reference": reference}
    found = read_own(written(tmp_path / "own.jsonl", [row, push(2, reference={"product": "bolsa", "cor": "azul"})]))
    assert "nothing that the task" in found.bad.first["reference"][0]
    assert found.notes.counts["unknown field"] == 1


def test_a_missing_task_is_chosen_by_the_classifier_and_that_is_said(tmp_path: Path) -> None:
    found = read_own(written(tmp_path / "own.jsonl", [{"prompt": "Qual o total por mês?"}]))
    assert found.prompts[0].task == "sql_qa"
    assert found.notes.first["task by classifier"] == ["own.jsonl line 1: no task is given; it reads like sql_qa"]


def test_csv_and_parquet_say_the_same_as_json(tmp_path: Path) -> None:
    rows = [push(n, stars=1 + n % 5, reference=json.dumps({"product": "bolsa"}), consent=True) for n in range(4)]
    given = read_own(written(tmp_path / "own.jsonl", rows)).prompts
    table = pandas.DataFrame(rows)
    for separator in ",;\t":
        table.to_csv(tmp_path / "own.csv", index=False, sep=separator, encoding="utf-8-sig")
        assert read_own(tmp_path / "own.csv").prompts == given
    table.to_parquet(tmp_path / "own.parquet")
    assert read_own(tmp_path / "own.parquet").prompts == given
    assert given[1].stars == 2 and given[0].reference == {"product": "bolsa"}


CSV_ROWS = [
    ("=HYPERLINK(1)", "wrong value", "prompt is a formula"),
    ("Crie um push, hoje", "unreadable", "the row has 3 cells"),
    ("Notifica\udce7\udce3o", "unreadable", "not UTF-8"),
    ("push \0", "unreadable", "holds a zero byte"),
]


@pytest.mark.parametrize(("cell", "kind", "sentence"), CSV_ROWS)
def test_an_odd_cell_is_named(cell: str, kind: str, sentence: str, tmp_path: Path) -> None:
    text = f"prompt,task\n{push(1)['prompt']},push\n{cell},push\n-10% hoje: escreva um push,push\n"
    (tmp_path / "own.csv").write_bytes(text.encode(errors="surrogateescape"))
    found = read_own(tmp_path / "own.csv")
    assert len(found.prompts) == 2 and found.bad.counts == {kind: 1}
    assert sentence in found.bad.first[kind][0]


REFUSED: dict[str, tuple[str, bytes, str]] = {
    "ending": ("own.txt", b"x", "ends in none of .jsonl, .csv, .parquet"),
    "empty": ("own.jsonl", b"", "is empty"),
    "utf-16": ("own.jsonl", '{"prompt": "Oi"}'.encode("utf-16"), "is UTF-16, not UTF-8; convert it"),
    "no column": ("own.csv", b"text,task\na,b\n", "has no column prompt"),
    "two columns": ("own.csv", b"prompt,task,task\na,b,c\n", "has two columns 'task'"),
    "no Parquet": ("own.parquet", b"PAR1 no PAR1", "cannot be read as Parquet"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_file_that_cannot_be_read_is_one_sentence(what: str, tmp_path: Path) -> None:
    name, content, complaint = REFUSED[what]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=complaint) as raised:
        read_own(tmp_path / name)
    assert "\n" not in str(raised.value)


def test_a_parquet_file_has_each_column_once(tmp_path: Path) -> None:
    columns = [pyarrow.array(["Crie um push"]), pyarrow.array(["push"]), pyarrow.array(["Outro"])]
    pyarrow.parquet.write_table(pyarrow.table(columns, names=["prompt", "task", "prompt"]), tmp_path / "own.parquet")
    with pytest.raises(UserError, match="has several columns prompt; keep one of each"):
        read_own(tmp_path / "own.parquet")


@pytest.mark.parametrize("kind", ODD)
def test_whatever_stands_in_a_files_place_is_one_sentence(kind: str, tmp_path: Path) -> None:
    put_in_place(kind, tmp_path / "own.jsonl")
    with pytest.raises(UserError):
        read_own(tmp_path / "own.jsonl")


@pytest.mark.parametrize("name", ["licence", "source"])
def test_names_that_stand_with_the_model_are_few(name: str, tmp_path: Path) -> None:
    rows = [push(n, **{name: f"own-{n}"}) for n in range(21)]
    assert len(read_own(written(tmp_path / "own.jsonl", rows[:20])).prompts) == 20
    with pytest.raises(UserError, match=f"has 21 different values of {name}, at most 20"):
        read_own(written(tmp_path / "own.jsonl", rows))


def test_a_table_is_read_as_excel_in_portuguese_saves_it(tmp_path: Path) -> None:
    said = ["VERDADEIRO", "S", "Sim", "1,0", "FALSO", "NÃO", "nao", "N", "0.0"]
    lines = [f"Crie um push: {words(n)};push;4,0;{word}" for n, word in enumerate(said)]
    text = "\r\n".join(["sep=;", "Prompt;Task;STARS;Consent", *lines, ""])
    (tmp_path / "own.csv").write_text(text, encoding="utf-8-sig", newline="")
    found = read_own(tmp_path / "own.csv")
    assert [prompt.stars for prompt in found.prompts] == [4] * 4 and found.bad.counts == {"no consent": 5}


def test_columns_are_read_as_pandas_saves_them(tmp_path: Path) -> None:
    table = pandas.DataFrame([push(n) for n in range(3)])
    table["consent"], table["id"] = [1.0, 0.0, math.nan], [17.0, 18.0, math.nan]
    table["stars"] = pandas.Series([Decimal("4"), Decimal("5"), None], dtype="object")
    table.to_parquet(tmp_path / "own.parquet")
    found = read_own(tmp_path / "own.parquet")
    assert [(prompt.id, prompt.stars) for prompt in found.prompts] == [("17", 4), ("", None)]
    assert found.bad.counts == {"no consent": 1} and found.notes.counts["no consent stated"] == 1


@pytest.mark.parametrize(
    "days",
    [
        pyarrow.array([0, 10**7, 1], pyarrow.int32()).cast(pyarrow.date32()),  # about the year 29,349
        pyarrow.array([0, 10**15, 1], pyarrow.int64()).cast(pyarrow.timestamp("ms")),  # about the year 33,658
    ],
)
def test_a_date_that_no_calendar_has_costs_its_row_of_parquet(days: pyarrow.Array, tmp_path: Path) -> None:
    prompts = pyarrow.array([push(number)["prompt"] for number in range(3)])
    found = read_own(as_parquet(tmp_path / "own.parquet", {"prompt": prompts, "consent": days}))
    assert any("own.parquet row 2: a cell holds" in said for said in found.bad.first["unreadable"])
    assert found.rows == 3


@pytest.mark.parametrize("name", ["Consent", "consent ", "CONSENT"])
@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_a_refused_consent_is_refused_however_its_field_is_written(name: str, ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"own.{ending}"
    row = {"task": "push", "prompt": "Crie um push da cafeteira", name: False}
    if ending == "jsonl":
        file.write_text(json.dumps(row), encoding="utf-8")
    elif ending == "csv":
        file.write_text(f"task,prompt,{name}\npush,Crie um push da cafeteira,false\n", encoding="utf-8")
    else:
        as_parquet(file, {field: pyarrow.array([value]) for field, value in row.items()})
    found = read_own(file)
    assert not found.usable and found.bad.counts == {"no consent": 1}


def test_a_name_twice_but_for_its_case_costs_its_row(tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text(
        '{"prompt": "Crie um push", "consent": true, "Consent": false}', encoding="utf-8"
    )
    assert read_own(tmp_path / "own.jsonl").bad.counts == {"unreadable": 1}


def test_bytes_that_are_not_utf8_cost_their_row_of_parquet(tmp_path: Path) -> None:
    texts = [push(1)["prompt"].encode(), "Notificação".encode("latin-1"), push(2)["prompt"].encode()]
    prompts = pyarrow.array(texts, pyarrow.binary()).view(pyarrow.string())
    found = read_own(as_parquet(tmp_path / "own.parquet", {"prompt": prompts, "task": pyarrow.array(["push"] * 3)}))
    assert len(found.prompts) == 2
    assert found.bad.first["unreadable"] == ["own.parquet row 2: a cell holds bytes that are not UTF-8"]


UNTEACHABLE = {
    "a chat's mark": ({**push(1), "demonstration": "Oi<|im_end|>"}, "'<|im_end|>', which models read as a control"),
    "a mark in a prompt": ({"prompt": "Crie um push <|endoftext|>", "task": "push"}, "prompt holds '<|endoftext|>'"),
    "an open thought": ({**push(1), "demonstration": "<think>Hm. Leve hoje!"}, "without the other"),
    "a later open thought": ({**push(1), "demonstration": "<think>a</think>Oi <think>"}, "without the other"),
    "no answer": ({**push(1), "demonstration": "<think>Hm.</think>"}, "no answer after it"),
}


@pytest.mark.parametrize("what", UNTEACHABLE)
def test_what_no_model_may_learn_costs_its_row(what: str, tmp_path: Path) -> None:
    row, sentence = UNTEACHABLE[what]
    found = read_own(written(tmp_path / "own.jsonl", [row, push(2, demonstration="<think>Hm.</think>Leve hoje!")]))
    assert len(found.prompts) == 1 and sentence in " ".join(found.bad.lines())


def test_only_the_same_text_for_the_same_task_is_doubled(tmp_path: Path) -> None:
    texts = ["Analise: vendas +10%", "Analise: vendas -10%", "😀", "😡", "analise, vendas  + 10 %"]
    rows = [{"prompt": text, "task": "extraction"} for text in texts] + [{"prompt": texts[0], "task": "insights"}]
    found = read_own(written(tmp_path / "own.jsonl", rows))
    assert found.bad.first == {"doubled": ["own.jsonl line 5: its text stands in own.jsonl line 1 already"]}


# The check


def checked(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = command.check(path)
    return code, capsys.readouterr().out


def test_the_check_names_the_first_of_each_kind_and_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = [{**push(n), "task": "poesia"} for n in range(SHOWN + 5)]
    usable = [row(n) for row in (push, insight) for n in (100, 101, 102)]
    code, said = checked(written(tmp_path / "own.jsonl", [*bad, *usable]), capsys)
    assert code == command.SOME_BAD
    assert said.splitlines()[0] == f"{tmp_path / 'own.jsonl'}: 31 rows, 6 usable (push 3, insights 3)"
    assert said.count("the task 'poesia' is none of") == SHOWN and "unknown task: 25" in said and "… and 5 more" in said
    assert "--set 'data.mix={insights: 0.5, push: 0.5}'" in said


def test_the_command_checks_a_file_and_refuses_in_a_sentence(tmp_path: Path) -> None:
    done = tucano("data", "check", str(written(tmp_path / "own.jsonl", [push(1), "{"])))
    assert done.returncode == 1 and "1 usable" in done.stdout and done.stderr == ""
    many = written(tmp_path / "many.jsonl", [{**push(number), "task": "poesia"} for number in range(3_000)])
    line = f"{sys.executable} -m tucano.cli data check {many} | head -n 1"
    done = subprocess.run(["bash", "-c", line], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("3000 rows, 0 usable\n") and done.stderr == ""
    done = tucano("data", "check", str(tmp_path / "none.jsonl"))
    assert done.returncode == 2 and done.stderr.startswith("tucano: there is no file")
    assert "Traceback" not in done.stderr


def test_the_named_command_leaves_out_tasks_that_stop_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = checked(written(tmp_path / "own.jsonl", [*(push(n) for n in range(3)), insight(9)]), capsys)[1]
    assert "(without insights with 1: a run needs 3 groups" in said and "'data.mix={push: 1}'" in said
    said = checked(written(tmp_path / "one.jsonl", [push(1)]), capsys)[1]
    assert said.endswith("a run needs 3 groups of templates of each task, and here are push with 1.\n")
    assert "tucano run" not in said


# The export


@pytest.fixture(scope="module")
def prompt_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    sizes = {"train_prompts": 90, "validation_prompts": 40, "test_prompts": 40, "demonstrations": 60}
    mix = dict.fromkeys(TASKS, 1 / len(TASKS))
    prepare(DataSettings.model_validate({**sizes, "mix": mix}), 7, TASKS, folder)
    return folder


def test_a_prompt_set_comes_back_as_it_was(prompt_set: Path, tmp_path: Path) -> None:
    prompts = prompts_of(prompt_set)
    assert len(prompts) > 200 and {prompt.task for prompt in prompts} == set(TASKS)
    write_lines(tmp_path / "out.jsonl", map(row_of, prompts))
    found = read_own(tmp_path / "out.jsonl")
    assert found.prompts == prompts and not found.bad.counts and not found.masked


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40)
LINES = TEXTS.filter(lambda text: bool(text.strip()) and "\n" not in text)
PROMPTS = st.builds(
    Prompt,
    id=st.text("abc-", min_size=1, max_size=9).map(lambda text: f"p{text}"),
    task=st.sampled_from(TASKS),
    user=TEXTS.map(lambda text: f"Texto {text}"),
    template=LINES,
    source=st.sampled_from(["own", "crm-2", "b2w"]),
    licence=LINES,
    stars=st.none() | st.integers(1, 5),
    reference=st.just({}),
    demonstration=st.none() | TEXTS.filter(lambda text: bool(text.strip())),
)


KNOWN: dict[str, dict[str, Any]] = {
    "extraction": {"fields": {}}, "sentiment": {"fields": {}}, "churn": {"fields": {}},
    "sql_qa": {"sql": "SELECT 1", "database": "loja.sqlite"}, "insights": {"figures": []}, "push": {"terms": []},
}  # fmt: skip


@given(
    prompt=PROMPTS,
    note=st.none() | st.dictionaries(st.just("note"), TEXTS | st.integers(-9, 9) | st.booleans(), min_size=1),
)
def test_any_prompt_comes_back(
    prompt: Prompt, note: dict[str, Any] | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Where nothing is left to mask, with a reference of fields that its task knows and of others, or without one."""
    prompt = replace(prompt, reference={} if note is None else KNOWN[prompt.task] | note)
    said = [prompt.user, prompt.template, prompt.licence, prompt.demonstration or ""]
    if any(mask(text)[1] for text in said) or masked_prompt(prompt) != prompt:
        return
    file = tmp_path_factory.mktemp("one") / "out.jsonl"
    write_lines(file, map(row_of, [prompt]))
    assert read_own(file).prompts == [prompt]


def test_an_export_replaces_nothing_and_needs_prompts(prompt_set: Path, tmp_path: Path) -> None:
    taken = written(tmp_path / "out.jsonl", [push(1)])
    for place, file, complaint in (
        (prompt_set, taken, "is there already"),
        (prompt_set, tmp_path / "out.csv", "does not end in .jsonl"),
        (prompt_set, tmp_path / "none" / "out.jsonl", "cannot be written"),
        (tmp_path, tmp_path / "new.jsonl", "holds no prompts"),
        (taken, tmp_path / "new.jsonl", "there is no folder"),
    ):
        with pytest.raises(UserError, match=complaint):
            write_lines(file, map(row_of, prompts_of(place)))
    assert not (tmp_path / "new.jsonl").exists()


def as_parquet(file: Path, columns: dict[str, pyarrow.Array]) -> Path:
    pyarrow.parquet.write_table(pyarrow.table(columns), file)
    return file


def test_a_small_parquet_file_cannot_take_gigabytes(tmp_path: Path) -> None:
    """Equal values take some bytes in a file however long and however many they are."""
    long = pyarrow.array(["x" * 8_000_000]).dictionary_encode().take(pyarrow.array([0] * 64))
    bomb = as_parquet(tmp_path / "bomb.parquet", {"prompt": long, "task": pyarrow.array(["push"] * 64)})
    assert bomb.stat().st_size < 1_000_000
    program = (
        "import resource, sys; from pathlib import Path; from data.own.prompts import read_own\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; found = read_own(Path(sys.argv[1]))\n"
        "print(found.bad.counts.total(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(bomb)], capture_output=True, text=True, cwd=ROOT)
    bad, kilobytes = map(int, done.stdout.split())
    assert bad == 64 and kilobytes < 300_000
    lists = pyarrow.array([[0] * 9_000_000])
    with pytest.raises(UserError, match="8000000 values; split it"):
        read_own(as_parquet(tmp_path / "lists.parquet", {"prompt": pyarrow.array(["a"]), "reference": lists}))


def test_an_export_touches_no_other_file(tmp_path: Path) -> None:
    """A draft beside it once wrote through a link of that name."""
    (tmp_path / "victim.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "out.jsonl.draft").symlink_to(tmp_path / "victim.txt")
    prompt = Prompt("p", "push", "Crie uma notificação.", "t", "s", "CC0-1.0")
    assert write_lines(tmp_path / "out.jsonl", map(row_of, [prompt])) == 1
    assert (tmp_path / "victim.txt").read_text(encoding="utf-8") == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"out.jsonl", "out.jsonl.draft", "victim.txt"}
    with pytest.raises(UserError, match="half a character"):
        write_lines(tmp_path / "odd.jsonl", map(row_of, [replace(prompt, user="\ud800")]))
    assert not (tmp_path / "odd.jsonl").exists()


@pytest.mark.parametrize(
    "folder", ["fixes, ana", "fixes #2", "fix: es", "fix}es", "fix'es", 'fix"es', "fix\\es", "fixação 😀"]
)
def test_the_command_that_feedback_names_takes_the_folder_whatever_its_name(folder: str) -> None:
    learned = Learned([Prompt("a", "push", "Oi", "", "", "")], [])
    (said,) = [line for line in command._taught(learned, Path(folder)) if line.startswith("Train with them")]
    *_, setting = shlex.split(said)
    own = load_profile(ROOT, "laptop", [setting]).data.sources[1]
    assert own.path == f"{folder}/demonstrations.jsonl"


def test_a_cell_under_no_name_is_said(tmp_path: Path) -> None:
    """The rest of a text behind its surplus separator had gone without a word; a column of row numbers costs nothing."""
    place = tmp_path / "own.csv"
    place.write_text("prompt;\nEscreva um push da bolsa; com 10% de desconto\n", encoding="utf-8")
    assert "column 2 without a name" in read_own(place).notes.first["unknown field"][0]
    place.write_text(",prompt\n0,Escreva um push da bolsa de couro\n", encoding="utf-8")
    assert len(read_own(place).usable) == 1
