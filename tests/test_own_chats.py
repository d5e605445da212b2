"""Rows in the chat forms of others, and data sets of the hub."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pandas
import pytest
from own_rows import written
from programs import answering

from data.own.chats import Turned, from_chat
from data.own.hub import dataset_rows, hub_rows
from data.own.prompts import read_own
from tucano.errors import UserError
from tucano.prompts import GENERAL
from tucano.specs.registry import spec_of

ROOT = Path(__file__).parent.parent
QUESTION, ANSWER = "Qual é a capital do Piauí?", "Teresina."
COMMIT = "a1" * 20


def turn(role: Any, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


OPENAI = {"messages": [turn("user", QUESTION), turn("assistant", ANSWER)]}
SHAREGPT = {"conversations": [{"from": "human", "value": QUESTION}, {"from": "gpt", "value": ANSWER}]}
ALPACA = {"instruction": QUESTION, "input": "", "output": ANSWER}
PARTS = {"messages": [turn("user", [{"type": "text", "text": QUESTION}]), turn("assistant", ANSWER)]}
FORMS: dict[str, dict[str, Any]] = {"OpenAI": OPENAI, "OpenAI in parts": PARTS, "ShareGPT": SHAREGPT, "Alpaca": ALPACA}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_a_general_demonstration_or_of_the_task_that_it_names(form: str, tmp_path: Path) -> None:
    row = {**FORMS[form], "licence": "CC0-1.0", "consent": True}
    named = {**json.loads(json.dumps(row).replace("capital", "maior cidade")), "task": "insights"}
    found = read_own(written(tmp_path / "own.jsonl", [row, named]))
    assert [(one.user, one.demonstration, one.licence) for one in found.general] == [(QUESTION, ANSWER, "CC0-1.0")]
    assert [(one.task, one.demonstration) for one in found.prompts] == [("insights", ANSWER)]
    assert not found.bad.counts and "unknown field" not in found.notes.counts


def test_a_system_message_names_the_task_whose_prompt_it_is_and_any_other_is_not_used(tmp_path: Path) -> None:
    ours = spec_of("push").system_prompt + " /no_think"
    rows = [
        {"messages": [turn("system", ours), turn("user", "A bolsa de couro"), turn("assistant", "Bolsa nova!")]},
        {"messages": [turn("developer", "Seja breve."), *OPENAI["messages"]]},
    ]
    found = read_own(written(tmp_path / "own.jsonl", rows))
    assert [(one.task, one.user) for one in found.usable] == [("push", "A bolsa de couro"), (GENERAL, QUESTION)]
    assert found.notes.first["system message"][0].startswith("own.jsonl line 2: its system message is not used")


@pytest.mark.parametrize("form", FORMS)
def test_a_system_message_may_stand_beside_the_turns(form: str, tmp_path: Path) -> None:
    """As LLaMA-Factory writes it; it had gone without a word."""
    ours, other = spec_of("push").system_prompt, "Você é um pirata."
    found = read_own(written(tmp_path / "own.jsonl", [{**FORMS[form], "system": said} for said in (ours, other)]))
    assert [one.task for one in found.usable] == ["push", GENERAL]
    assert found.notes.first["system message"][0].startswith("own.jsonl line 2: its system message is not used")


@pytest.mark.parametrize("empty", ["[]", " [ ] ", ""])
def test_an_empty_history_is_none(empty: str, tmp_path: Path) -> None:
    pandas.DataFrame([{**ALPACA, "history": empty}]).to_csv(tmp_path / "own.csv", index=False)
    assert len(read_own(tmp_path / "own.csv").general) == 1


@pytest.mark.parametrize(
    ("row", "unread"),
    [
        ({**SHAREGPT, "output": "outra"}, "output"),
        ({**OPENAI, **SHAREGPT}, "conversations"),
        ({**OPENAI, **ALPACA}, "instruction"),
    ],
)
def test_what_stands_beside_the_form_that_is_read_is_named(row: dict[str, Any], unread: str, tmp_path: Path) -> None:
    (named,) = read_own(written(tmp_path / "own.jsonl", [row])).notes.first["unknown field"]
    assert re.search(rf"\W{unread}\W+is not read", named)


@pytest.mark.parametrize("weight", [0, 0.0, "0"])
def test_an_answer_of_weight_0_is_no_demonstration(weight: Any, tmp_path: Path) -> None:
    """OpenAI's way to say that it is not to be learned; it was."""
    unlearned = [turn("user", QUESTION), {**turn("assistant", ANSWER), "weight": weight}]
    learned = [turn("user", f"{QUESTION} E a do Acre?"), {**turn("assistant", ANSWER), "weight": 1}]
    rows = [{"messages": unlearned, "task": "insights"}, {"messages": learned}, {"messages": unlearned}]
    found = read_own(written(tmp_path / "own.jsonl", rows))
    assert [(one.task, one.demonstration) for one in found.usable] == [("insights", None), (GENERAL, ANSWER)]
    assert found.notes.counts["answer of weight 0"] == 1 and "unknown field" not in found.notes.counts
    assert found.bad.counts == {"chat": 1} and "its answer has the weight 0" in found.bad.first["chat"][0]


@pytest.mark.parametrize(
    ("form", "unread"), [("OpenAI", "reasoning_content"), ("OpenAI", "name"), ("ShareGPT", "train")]
)
def test_what_stands_in_a_turn_and_is_not_read_is_named(form: str, unread: str, tmp_path: Path) -> None:
    ((mark, turns),) = FORMS[form].items()
    rows = [{mark: [turns[0], {**turns[1], unread: said, "tool_calls": []}]} for said in ("Hm.", None)]
    notes = read_own(written(tmp_path / "own.jsonl", rows)).notes
    assert notes.counts["unknown field"] == 1
    assert f"'{unread}' of a turn is not read" in notes.first["unknown field"][0]


def test_what_alpaca_has_as_input_stands_behind_the_instruction() -> None:
    turned = from_chat({"instruction": "Traduza.", "input": "cat", "output": "gato"})
    assert turned.row["prompt"] == "Traduza.\n\ncat"


def test_a_row_with_a_prompt_is_one_of_ours() -> None:
    row = {"prompt": "Crie um push.", **OPENAI}
    assert from_chat(row) == Turned(row)


def test_csv_and_parquet_hold_chats_too(tmp_path: Path) -> None:
    given = read_own(written(tmp_path / "own.jsonl", [OPENAI])).general
    pandas.DataFrame([OPENAI]).to_parquet(tmp_path / "own.parquet")
    pandas.DataFrame([{"messages": json.dumps(OPENAI["messages"])}]).to_csv(tmp_path / "own.csv", index=False)
    pandas.DataFrame([ALPACA]).to_csv(tmp_path / "alpaca.csv", index=False)
    for name in ("own.parquet", "own.csv", "alpaca.csv"):
        assert read_own(tmp_path / name).general == given, name


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "several turns": ({"messages": OPENAI["messages"] * 2}, "several turns; write each question that stands alone"),
    "a history": ({**ALPACA, "history": [["a", "b"]]}, "it has a history"),
    "a history of turns": ({**OPENAI, "history": [["a", "b"]]}, "it has a history"),
    "two system messages": (
        {"messages": [turn("system", "Seja breve."), *OPENAI["messages"]], "system": "Seja longo."},
        "messages has a system message, and the field system another; keep one",
    ),
    "a tool": ({"messages": [*OPENAI["messages"], turn("tool", "7")]}, "tools are not learned"),
    "an answer that calls a tool": (
        {"messages": [turn("user", QUESTION), turn("assistant", "Vou ver.") | {"tool_calls": [{"id": "1"}]}]},
        "tools are not learned",
    ),
    "a role that is no text": ({"messages": [turn(["user"], "a")]}, "tools are not learned"),
    "an answer first": ({"messages": [turn("assistant", "a"), turn("user", "b")]}, "not a question and its answer"),
    "nothing": ({"messages": []}, "not a question and its answer"),
    "no list": ({"messages": {"role": "user"}}, "no list of objects with role and content"),
    "ShareGPT's names elsewhere": ({"messages": SHAREGPT["conversations"]}, "no list of objects with role and content"),
    "text that is no JSON": ({"messages": "oi"}, "messages: the JSON cannot be read"),
    "a number": ({"instruction": "Some", "input": 7, "output": "8"}, "instruction and input are not both texts"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_a_chat_that_cannot_be_learned_is_one_sentence(what: str, tmp_path: Path) -> None:
    row, complaint = REFUSED[what]
    found = read_own(written(tmp_path / "own.jsonl", [row, OPENAI]))
    assert len(found.general) == 1 and found.bad.counts == {"chat": 1}
    assert complaint in found.bad.first["chat"][0] and "\n" not in found.bad.first["chat"][0]


def test_a_content_of_parts_is_no_text(tmp_path: Path) -> None:
    rows = [{"messages": [turn("user", [{"type": "image_url"}]), turn("assistant", "Um gato.")]}]
    assert read_own(written(tmp_path / "own.jsonl", rows)).bad.counts == {"wrong value": 1}


# The hub


@contextmanager
def hub(files: Mapping[str, bytes]) -> Iterator[str]:
    """A server that answers for the data set ana/chats as the hub does; its address."""

    class Hub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            name = path.removeprefix(f"/datasets/ana/chats/resolve/{COMMIT}/")
            if name in files:
                self._say(files[name])
            elif path.startswith(f"/api/datasets/ana/chats/revision/{COMMIT}"):
                about = {"id": "ana/chats", "sha": COMMIT, "siblings": [{"rfilename": name} for name in files]}
                self._say(json.dumps(about).encode())
            elif path.startswith(f"/api/datasets/ana/chats/tree/{COMMIT}"):
                entries = [{"type": "file", "path": name, "size": len(files[name]), "oid": "0" * 40} for name in files]
                self._say(json.dumps(entries).encode())
            else:
                self._say(b"", 404)

        do_HEAD = do_GET

        def _say(self, body: bytes, status: int = 200) -> None:
            self.send_response(status)
            for name, value in {"X-Repo-Commit": COMMIT, "ETag": '"1"', "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, format: str, *values: Any) -> None:
            pass

    with answering(ThreadingHTTPServer(("127.0.0.1", 0), Hub)) as server:
        yield f"http://127.0.0.1:{server.server_port}"


def fetch(file: Path, pinned: str, *more: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    clean |= {"HF_HOME": str(file.parent / "hf"), "PYTHONPATH": str(ROOT), "NO_PROXY": "127.0.0.1"} | environment
    command = [sys.executable, "-m", "tucano.cli", "data", "fetch", pinned, str(file), *more]
    return subprocess.run(command, capture_output=True, text=True, env=clean, cwd=file.parent, check=False)


def test_a_data_set_of_the_hub_becomes_a_file_that_says_where_its_rows_are_from(tmp_path: Path) -> None:
    content = json.dumps({**OPENAI, "task": "qa", "source": "a page"}).encode() + b"\n"
    with hub({"README.md": b"# Chats\n", "train.jsonl": content}) as address:
        done = fetch(tmp_path / "chats.jsonl", f"ana/chats@{COMMIT}", "--licence", "CC0-1.0", HF_ENDPOINT=address)
        assert done.returncode == 0 and "1 prompts written" in done.stdout, done.stderr
        (row,) = read_own(tmp_path / "chats.jsonl").general
        assert (row.id, row.source, row.licence) == (f"ana/chats@{COMMIT[:7]}/train/0", "ana--chats", "CC0-1.0")
        assert (row.user, row.demonstration) == (QUESTION, ANSWER)
        other = fetch(tmp_path / "other.jsonl", f"ana/chats@{COMMIT}", "--split", "dev", HF_ENDPOINT=address)
    assert other.returncode == 2 and "cannot be fetched" in other.stderr and not (tmp_path / "other.jsonl").exists()


def test_without_a_network_a_data_set_is_one_sentence(tmp_path: Path) -> None:
    done = fetch(tmp_path / "chats.jsonl", f"ana/chats@{COMMIT}", HF_HUB_OFFLINE="1")
    assert done.returncode == 2 and "look at name, commit, split and network" in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize("pinned", ["ana/chats", "ana/chats@main", f"chats@{COMMIT}", f"ana/chats@{COMMIT[:7]}"])
def test_what_may_change_is_not_fetched(pinned: str) -> None:
    with pytest.raises(UserError, match="40 digits of a commit"):
        next(hub_rows(pinned, {}, "train"))


def test_a_task_that_is_none_is_refused_before_anything_is_fetched(tmp_path: Path) -> None:
    done = fetch(tmp_path / "chats.jsonl", f"ana/chats@{COMMIT}", "--task", "puch", HF_HUB_OFFLINE="1")
    assert done.returncode == 2 and "--task puch is none of extraction" in done.stderr


def test_a_folder_does_not_pose_as_a_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ana" / "chats").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="lies here too"):
        next(hub_rows(f"ana/chats@{COMMIT}", {}, "train"))


def test_columns_that_are_none_of_a_prompt_are_named(tmp_path: Path) -> None:
    written(tmp_path / "train.jsonl", [{"text": "oi", "label": 1}])
    with pytest.raises(UserError, match="has the columns text, label"):
        list(dataset_rows(str(tmp_path), None, "train", None))


def test_a_data_set_without_rows_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match="cannot be fetched"):
        list(dataset_rows(str(tmp_path), None, "train", None))


def test_our_own_rows_keep_their_fields(tmp_path: Path) -> None:
    row = {"prompt": "Crie um push.", "task": "push", "reference": {"terms": ["bolsa"]}, "more": 1}
    written(tmp_path / "train.jsonl", [row])
    assert list(dataset_rows(str(tmp_path), None, "train", None)) == [
        {k: row[k] for k in ("prompt", "task", "reference")}
    ]
