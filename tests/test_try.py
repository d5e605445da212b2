"""`tucano try`: what the server takes and refuses, what is said of an answer, ratings that come back, the page by
keyboard alone."""

import contextlib
import http.client
import json
import math
import os
import re
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import pytest
from browser import Page, open_page
from here import running
from rewards_examples import ANSWERS, write_store
from rewards_examples import PROMPTS as EXAMPLES

from rewards import load_reward_set
from rewards.sets import SETS, SetName
from tucano.cli.sides import SideCandidate, shown_arms
from tucano.cli.trying import ratings as kept
from tucano.cli.trying.command import require_run
from tucano.cli.trying.judged import BY_REFERENCE, judged
from tucano.cli.trying.models import Answered, Models, NoAnswer
from tucano.cli.trying.page import LONGEST_REQUEST_BYTES, LONGEST_TEXT, Column, Handler, Trial, TryServer, sentences
from tucano.cli.trying.ratings import Rated, Ratings, typed
from tucano.errors import UserError
from tucano.files.models import StartFiles
from tucano.files.prompts import STORE
from tucano.judging.examples import examples
from tucano.prompts import Prompt, Task
from tucano.rating.ratings import read_rating_set, read_ratings
from tucano.rating.store import rating_store, tables
from tucano.serving.schema import FAULTS
from tucano.settings import ModelSettings, PipelineSettings
from tucano.training.answering.messages import Drawn
from tucano.training.jobs import Arm
from tucano.training.policies.nano import build_model, build_tokenizer
from tucano.truth import contexts, facts, truth
from tucano.truth.explain import reasons
from tucano.truth.judge import JUDGED, Judge, Lineage, Tree

SCRIPT = "</pre><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
FIELDS = {
    "sentiment": "negative", "sentiment_score": 2, "category": "moda", "delivery_issue": True, "product_issue": False,
    "seller_issue": False, "churn_risk": "high", "repurchase_intent": False, "main_complaint": "entrega atrasada",
    "summary": "Cliente reclama da mochila: entrega atrasada.",
}  # fmt: skip
GOOD = json.dumps(FIELDS, ensure_ascii=False)
REVIEW = Prompt(
    "r-1", "extraction", "JSON da avaliação: A mochila atrasou 9 dias.", "t", "s", "CC0", reference={"fields": FIELDS}
)
BRIEF = Prompt(
    "p-1", "push", "Crie um push para o fone.", "t", "s", "CC0", reference={"product": "fone", "terms": ["fone"]}
)
QUESTION = Prompt(
    "q-1", "sql_qa", "Quantos pedidos há?", "t", "s", "CC0",
    reference={"sql": "SELECT COUNT(*) FROM pedidos;", "database": STORE},
)  # fmt: skip
EXPLAINED = "A consulta conta todos os clientes que compraram mais de uma vez no ano."
SAYS = {"base": f"nada {SCRIPT}", "sft": GOOD, "seed-42": GOOD.replace("moda", "pet")}


class Fake:
    """Answers at once, and knows what it was asked; "falha" is not answered."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Task, str]] = []

    def answer(self, name: str, task: Task, text: str) -> Answered:
        self.asked.append((name, task, text))
        if text == "falha":
            raise NoAnswer("no answer within 600 s")
        refused = "the text holds <|im_end|>" if "<|" in text else None
        drawn = Drawn("" if refused else SAYS[name], 5, 7, truncated=name == "base", refused=refused)
        return Answered(drawn, 0.1, 38.6 if name == "base" else 0.0)


def served(folder: Path) -> AbstractContextManager[TryServer]:
    place = folder / "prompts"
    place.mkdir(exist_ok=True)
    with closing(sqlite3.connect(place / STORE)) as store:
        store.executescript("CREATE TABLE IF NOT EXISTS pedidos(pedido_id); INSERT INTO pedidos VALUES(7), (8);")
    ratings = Ratings(folder / "tried", [place / STORE])
    trial = Trial(
        "laptop #abc123",
        [Column("base", "Base", "antes"), Column("sft", "SFT", "depois"), Column("seed-42", "Campeã", "semente 42")],
        ("extraction", "sql_qa", "push"),
        {one.id: one for one in (REVIEW, BRIEF, QUESTION)},
        cast("Models", Fake()),
        load_reward_set("grounded", place),
        ratings,
        tables(ratings.folder),
    )
    return running(TryServer(trial, 0))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[TryServer]:
    with served(tmp_path) as server:
        yield server


def asked(server: TryServer) -> list[tuple[str, Task, str]]:
    return cast("Fake", server.trial.models).asked


def sent(server: TryServer, place: str, body: object = None, **headers: str) -> tuple[int, str, Any]:
    """Status, text and headers; `body` is sent as JSON, bytes as they are, and a GET is without one."""
    known = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    path = place if place.startswith("/") else f"/{server.token}/{place}"
    with closing(http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=600)) as connection:
        connection.request("GET" if body is None else "POST", path, content, known)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers


def question(**more: str) -> dict[str, str]:
    return {"model": "sft", "task": "extraction", "text": "Veio quebrado.", **more}


def shown(server: TryServer, **more: str) -> tuple[str, str]:
    """The piece of the page for an answer, and the id to rate it by."""
    status, text, _ = sent(server, "answer", question(**more))
    assert status == 200, text
    found = re.search(r'data-answer="([^"]+)"', text)
    assert found is not None
    return text, found[1]


def rated(answer: str, rating: int = 4, **more: object) -> dict[str, object]:
    return {"answer": answer, "rating": rating, "rater": "ana", **more}


def rows(text: str) -> dict[str, str]:
    """{component: what is said of it}"""
    return dict(re.findall(r"<code>(\w+)</code></small></th><td>([^<]+)<", text))


def comma(value: float) -> str:
    return f"{value:.3f}".replace(".", ",")


class TestAnswers:
    def test_a_held_out_prompt_has_reward_truth_and_reference(self, server: TryServer) -> None:
        text, _ = shown(server, model="seed-42", text=REVIEW.user, prompt="r-1")
        said = SAYS["seed-42"]
        reward = server.trial.rewards.score(REVIEW, said)
        value = truth(REVIEW, said)
        assert value is not None and 0.05 < value < 1 and 0 < reward.total < 1
        assert f"Recompensa {comma(reward.total)}" in text and f"Verdade {comma(value)}" in text
        assert "concordância com os campos da referência" in text and "Referência" in text
        assert "Sem referência" not in text and "verificações" not in text
        assert "Forma: um objeto JSON com os campos e valores da tarefa; não foi cortada." in text
        assert asked(server) == [("seed-42", "extraction", REVIEW.user)]

    def test_of_a_typed_text_only_what_needs_no_reference_is_said_and_no_number_that_looks_like_quality(
        self, server: TryServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(SAYS, "sft", "```sql\nSELECT COUNT(*) FROM pedidos WHERE mes='2018-00';\n```\n" + EXPLAINED)
        text, _ = shown(server, task="sql_qa", text="Quantos clientes compraram mais de uma vez em 2018?")
        assert "Sem referência, só verificações de forma: 2 de 2" in text
        assert "não dizem se a resposta está certa" in text and rows(text) == {"query": "sim", "explanation": "sim"}
        for lie in ("Recompensa", "Verdade", "Referência<", "0,", "1,"):
            assert lie not in text.replace("0,1 s", ""), lie

    def test_a_query_that_nobody_can_read_is_not_in_order(
        self, server: TryServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(SAYS, "sft", "SELECT COUNT(*) FROM 4 pedidos FROM pedidos FROM")
        text, _ = shown(server, task="sql_qa", text="Quantos há?")
        assert "Forma: não está vazia nem foi cortada." in text and "em ordem" not in text
        assert "só verificações de forma: 0 de 2" in text and rows(text) == {"query": "não", "explanation": "não"}

    def test_what_must_not_occur_counts_where_it_does_not(
        self, server: TryServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(SAYS, "sft", "Prezado cliente, atenciosamente informamos: fone com 70% OFF! " * 3)
        text, _ = shown(server, task="push", text="Crie um push para o fone.")
        said = rows(text)
        assert "product" not in said and (said["length"], said["invented"], said["formal"]) == (
            "em parte",
            "ocorre",
            "ocorre",
        )
        assert "só verificações de forma: 0 de 5" in text

    def test_a_query_is_run_on_the_runs_store(self, server: TryServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(SAYS, "sft", "```sql\nSELECT COUNT(*) FROM pedidos;\n```\nConta todos os pedidos da loja.")
        text, _ = shown(server, task="sql_qa", text=QUESTION.user, prompt="q-1")
        assert "o resultado é o da consulta de referência" in text and re.search(r"Verdade 0,[3-9]", text)

    def test_texts_are_escaped_and_the_page_allows_no_script_but_its_own(
        self, server: TryServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text, _ = shown(server, model="base", text=SCRIPT)
        assert "<script" not in text and "<img" not in text and "&lt;script&gt;" in text
        monkeypatch.setitem(SAYS, "sft", GOOD.replace("}", f', "{SCRIPT}": 1}}'))
        assert "&gt; não é um campo de extraction." in shown(server)[0] and "<script" not in shown(server)[0]
        assert "cortada no limite" in text and "Forma com defeito: a resposta não é um único objeto JSON" in text
        status, page, headers = sent(server, "")
        nonce = re.search(r'<script nonce="([^"]+)">', page)
        policy = headers["Content-Security-Policy"]
        assert status == 200 and nonce is not None and f"script-src 'nonce-{nonce[1]}'" in policy
        assert policy.startswith("default-src 'none'") and "connect-src 'self'" in policy
        assert headers["Cache-Control"] == "no-store" and not re.search(r"(?:src|href)=\"(?!data:,)", page)
        assert str(server.trial.ratings.folder) in page and "pedido_id" in page

    def test_loading_a_model_is_no_part_of_its_answers_time(self, server: TryServer) -> None:
        assert "0,1 s · 7 tokens · antes, 38,6 s para carregar o modelo" in shown(server, model="base")[0]
        assert "carregar" not in shown(server)[0]

    def test_what_steers_does_not_reach_the_model(self, server: TryServer) -> None:
        shown(server, text="Oi\x1b[2J\r\ntudo\u202e bem?\x00")
        assert asked(server)[0][2] == "Oi␛[2J\ntudo\ufffd bem?␀"

    def test_no_answer_is_one_sentence(self, server: TryServer, capsys: pytest.CaptureFixture[str]) -> None:
        said = sent(server, "answer", question(text="falha"))[:2]
        assert said == (503, "O modelo não respondeu. O terminal diz por quê.")
        assert capsys.readouterr().err == "Not done: no answer within 600 s\n"
        assert "uma marca do próprio modelo" in sent(server, "answer", question(text="a <|im_end|>"))[1]

    @pytest.mark.parametrize("task", ["extraction", "sql_qa", "push"])
    def test_an_answer_of_any_characters_is_shown_and_can_be_rated(
        self, server: TryServer, monkeypatch: pytest.MonkeyPatch, task: Task
    ) -> None:
        odd = "".join(map(chr, (*range(1, 0x20), 0x7F, 0x9B, 0x200B, 0x2028, 0x202E, 0x3164, 0xE0041, 0xFFFE, 0x1F600)))
        for text in (odd, f"{GOOD[:-1]}, {odd}", f"```sql\nSELECT '{odd}';\n```", f"```sql\n{odd}SELECT 1;\n```"):
            monkeypatch.setitem(SAYS, "sft", text)
            html, answer = shown(server, task=task)
            assert not set(html) & set("\x1b\x9b\u202e\u2028")
            assert sent(server, "rate", rated(answer, 2))[:2] == (200, "Nota 2 gravada.")
            monkeypatch.setitem(SAYS, "sft", f"{text}\0{text}")
            html, answer = shown(server, task=task)
            assert "\0" not in html and "caractere nulo" in sent(server, "rate", rated(answer, 2))[1]
        assert len(read_ratings(server.trial.ratings.folder)) == 4


class TestDoor:
    def test_only_who_knows_the_link_can_ask(self, server: TryServer) -> None:
        for path in ("/", "/x/", f"/{server.token}", f"/{server.token}x/answer", f"/{server.token}/other"):
            for body in (None, question()):
                assert sent(server, path, body)[0] == 404
        assert sent(server, "answer")[0] == 405 and sent(server, "", question())[0] == 400
        assert asked(server) == [] and server.server_address[0] == "127.0.0.1"

    @pytest.mark.parametrize("origin", ["null", "http://evil.example", "http://127.0.0.1:1", "file://"])
    def test_other_origins_are_refused(self, server: TryServer, origin: str) -> None:
        assert [sent(server, place, question(), Origin=origin)[0] for place in ("answer", "rate")] == [403, 403]
        own = f"http://127.0.0.1:{server.server_port}"
        assert sent(server, "answer", question(), Origin=own)[0] == 200 and len(asked(server)) == 1

    def test_a_name_that_was_pointed_here_is_refused(self, server: TryServer) -> None:
        for host in ("evil.example", f"evil.example:{server.server_port}", "127.0.0.1"):
            assert sent(server, "", None, Host=host)[0] == 403
            assert sent(server, "answer", question(), Host=host, Origin=f"http://{host}")[0] == 403
        assert sent(server, "", None, Host=f"localhost:{server.server_port}")[0] == 200 and asked(server) == []

    def test_requests_are_bounded(self, server: TryServer) -> None:
        status, text, _ = sent(server, "answer", b" " * (LONGEST_REQUEST_BYTES + 1))
        assert (status, text) == (413, "O pedido tem mais de 64 KB; encurte o texto.")
        assert sent(server, "answer", question(text="a" * (LONGEST_TEXT + 1)))[0] == 400
        assert sent(server, "answer", question(text="ç" * LONGEST_TEXT))[0] == 200

    def test_a_body_that_drips_ends_with_its_time_and_without_the_token_it_is_not_read(
        self, server: TryServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Handler, "timeout", 1)
        for token, said in ((server.token, b""), ("x" * 22, b"HTTP/1.0 404")):
            head = f"POST /{token}/answer HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\nContent-Length: 60000\r\n\r\n"
            with closing(socket.create_connection(("127.0.0.1", server.server_port), timeout=60)) as connection:
                connection.sendall(head.encode())
                with contextlib.suppress(ConnectionError):
                    for _ in range(5):
                        connection.sendall(b" ")
                        time.sleep(0.4)
                    assert connection.recv(12) == said
        assert asked(server) == []

    @pytest.mark.parametrize(
        "body",
        [
            b"", b"{", b"[]", b"null", b"[" * 50_000, b'{"model": "sft", "task": "push", "text": "\\ud800"}',
            question(text=" \n"), question(task="insights"), question(task="../x"), question(model="gpt"),
            question(more="x"), {**question(), "text": 7}, {"text": "a"},
        ],
    )  # fmt: skip
    def test_nonsense_is_one_sentence(self, server: TryServer, body: object) -> None:
        status, text, _ = sent(server, "answer", body)
        assert status == 400 and text.count("\n") == 0 and "Traceback" not in text and asked(server) == []

    def test_a_form_of_another_page_cannot_ask(self, server: TryServer) -> None:
        assert sent(server, "answer", question(), Content_Type="text/plain")[0] == 400 and asked(server) == []


class TestRatings:
    def test_a_rating_is_read_back_by_audit_and_judge(self, server: TryServer) -> None:
        folder = server.trial.ratings.folder
        for task, name in (("extraction", "r-1"), ("sql_qa", "q-1")):
            _, answer = shown(server, task=task, prompt=name)
            assert sent(server, "rate", rated(answer))[:2] == (200, "Nota 4 gravada.")
        found = read_rating_set(folder)
        assert [(one.prompt.id, one.rating, one.raters) for one in found.answers] == [
            ("r-1", 4, {"ana": "human"}), ("q-1", 4, {"ana": "human"}),
        ]  # fmt: skip
        with rating_store(folder) as stores:
            assert [one.rating for one in examples(found.answers, stores, "own")] == [0.75, 0.75]

    def test_a_typed_text_is_kept_masked_and_teaches_no_judge(self, server: TryServer) -> None:
        _, answer = shown(server, text="Fale com ana@gmail.com")
        assert sent(server, "rate", rated(answer, 2))[0] == 200
        (found,) = read_ratings(server.trial.ratings.folder)
        assert (found.prompt.user, found.rating, found.prompt.reference) == ("Fale com [EMAIL]", 2, {})
        assert examples([found], Path(), "own") == []
        assert typed("push", "a").id != typed("push", "b").id != typed("extraction", "b").id
        assert typed("push", "CPF 529.982.247-25").id == typed("push", "CPF 111.444.777-35").id, "it could be searched"

    def test_a_second_thought_takes_the_place_of_the_first(self, server: TryServer) -> None:
        _, answer = shown(server, prompt="r-1")
        fixed = GOOD.replace("moda", "bolsas")
        for rating, more in ((1, {}), (5, {"correction": fixed, "consent": True})):
            assert sent(server, "rate", rated(answer, rating, **more))[0] == 200
        (line,) = (server.trial.ratings.folder / "ratings.jsonl").read_text(encoding="utf-8").splitlines()
        kept = json.loads(line)
        assert (kept["rating"], kept["correction"], kept["consent"], kept["model"]) == (5, fixed, True, "sft")

    def test_an_untouched_box_is_no_correction_though_its_answer_is_masked(
        self, server: TryServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        broken = '{"summary": "ligue para (11) 98765-4321"'
        monkeypatch.setitem(SAYS, "sft", broken)
        _, answer = shown(server, prompt="r-1")
        assert sent(server, "rate", rated(answer, 1, correction=broken))[0] == 200
        (line,) = (server.trial.ratings.folder / "ratings.jsonl").read_text(encoding="utf-8").splitlines()
        assert json.loads(line)["correction"] is None and "98765" not in line

    def test_a_second_thought_that_cannot_be_written_leaves_the_first(
        self, server: TryServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        _, answer = shown(server, prompt="r-1")
        assert sent(server, "rate", rated(answer, 2))[0] == 200

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        assert sent(server, "rate", rated(answer, 3))[0] == 200
        monkeypatch.setattr("tucano.rating.ledger.write", full)
        status, text, _ = sent(server, "rate", rated(answer, 5))
        assert (status, text) == (
            400,
            "Não deu. O terminal diz por quê.",
        ) and "No space left" in capsys.readouterr().err
        assert [one.rating for one in read_ratings(server.trial.ratings.folder)] == [3]

    def test_a_damaged_file_is_not_blamed_on_the_name(
        self, server: TryServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        _, answer = shown(server, prompt="r-1")
        server.trial.ratings.folder.joinpath("ratings.jsonl").write_text("?\n", encoding="utf-8")
        assert sent(server, "rate", rated(answer))[1] == "Não deu. O terminal diz por quê."
        assert "line 1 is not a rating" in capsys.readouterr().err

    def test_what_cannot_be_kept_is_said(self, server: TryServer) -> None:
        _, answer = shown(server, prompt="r-1")
        for body in (
            rated("unknown"), rated(answer, 6), rated(answer, correction="não é JSON"), rated(answer, rater=" "),
            rated(answer, rater="a\nb"), rated(answer, rater="\u3164\ufe0f"), rated(answer, more=1),
            {**rated(answer), "rating": "4"},
        ):  # fmt: skip
            status, text, _ = sent(server, "rate", body)
            assert status == 400 and text.count("\n") == 0, text
            assert re.match("Não|O pedido não vale", text) and not re.search(r"\b(?:the|is|give|should)\b", text), text
        assert not (server.trial.ratings.folder / "ratings.jsonl").exists()


def test_what_a_fact_moves_is_the_value_with_it_less_the_value_without() -> None:
    tree = Tree((0, -1, -1), (0.5, 0.2, 0.9), (1, 0, 0), (2, 0, 0), (1, 0, 0))
    judge = Judge(("right", "length"), (tree,), 0.0, 4.0, -2.0, Lineage(0, (), ()))
    told = {"right": 1.0, "length": 40.0}
    assert judge.moved(told) == {"right": judge.value(told) - judge.value({**told, "right": 0.0}), "length": 0.0}
    assert judge.moved({"right": math.nan, "length": math.nan}) == {"right": 0.0, "length": 0.0}


def test_every_component_and_every_fact_has_a_portuguese_sentence_and_no_sentence_is_left_over() -> None:
    modules = (facts, contexts, *(import_module(f"tucano.truth.tasks.{task}") for task in JUDGED))
    told = {sentence for module in modules for sentence in module.MEANING.values()}
    told |= {part.meaning for tasks in SETS.values() for reward in tasks.values() for part in reward.components}
    assert {*sentences()} == told | set(FAULTS) and all(sentences().values())


@pytest.mark.parametrize("name", SETS)
def test_components_by_reference_are_those_that_a_good_answer_earns_only_with_one(
    name: SetName, tmp_path: Path
) -> None:
    rewards = load_reward_set(name, write_store(tmp_path))
    for task in SETS[name]:
        parts = {one.name for one in SETS[name][task].components if one.weight > 0}
        good = Prompt("e", task, EXAMPLES[task].user, "t", "s", "CC0", reference=EXAMPLES[task].reference)
        unknown = replace(good, reference={})
        known, alone = (rewards.score(prompt, ANSWERS[task]).components for prompt in (good, unknown))
        assert {part for part in parts if known[part] and not alone[part]} == parts & BY_REFERENCE, task
        assert all(0 <= share <= 1 + 1e-9 for _, share in judged(unknown, ANSWERS[task], rewards).checks), task


def test_where_truth_is_known_and_the_reward_is_not_form_earns_no_points() -> None:
    known = EXAMPLES["insights"].reference
    brief = Prompt("i", "insights", EXAMPLES["insights"].user, "t", "s", "CC0", reference={**known, "key_figures": []})
    found = judged(brief, ANSWERS["insights"], load_reward_set("grounded"))
    assert found.truth is not None and not found.parts and len(found.checks) == 5
    assert len(judged(replace(brief, reference=known), ANSWERS["insights"], load_reward_set("grounded")).parts) == 6


def test_a_page_of_reasons_holds_no_english(server: TryServer) -> None:
    page = shown(server, model="seed-42", prompt="r-1")[0] + shown(server, model="base", prompt="r-1")[0]
    assert 'lang="en"' not in page and "feeling off" not in page
    assert "radicais que resumo e referência têm em comum (F1)</th>" in page


def test_reasons_say_the_strongest_facts_first_and_what_the_truth_is_made_of() -> None:
    found = reasons(REVIEW, SAYS["seed-42"], None, 3)
    assert found is not None and found.exact is not None and found.judged is not None
    assert found.truth == pytest.approx(found.exact * found.judged) and len(found.moved) == 3
    assert [abs(one.by) for one in found.moved] == sorted((abs(one.by) for one in found.moved), reverse=True)
    assert reasons(replace(REVIEW, reference={}), GOOD, None, 3) is None
    empty = reasons(REVIEW, "", None, 3)
    assert empty is not None and (empty.truth, empty.judged, empty.moved) == (0.0, None, ())


def test_of_many_answers_the_oldest_can_no_longer_be_rated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_SHOWN", 2)
    ratings = Ratings(tmp_path, [])
    first, second, third = (ratings.show(REVIEW, f"{GOOD} {turn}", "base") for turn in range(3))
    for known in (second, third):
        ratings.keep(Rated(answer=known, rating=4, rater="ana"))
    with pytest.raises(KeyError):
        ratings.keep(Rated(answer=first, rating=4, rater="ana"))


def test_base_start_and_best_seed_of_a_run_answer(tmp_path: Path) -> None:
    side = SideCandidate(
        "run", {1: Arm("", "hub/base", "a1"), 2: Arm("", "hub/base", "a2")}, PipelineSettings(), shown_seed=2
    )
    base, best = Arm("base", "hub/base"), Arm("seed-2", "hub/base", "a2")
    assert shown_arms(side) == [base, best]
    start = StartFiles(tmp_path)
    adapted = replace(side, stages={"sft": tmp_path})
    assert shown_arms(adapted) == [base, Arm("sft", "hub/base", str(start.adapter)), best]
    start.model.mkdir()
    built = replace(adapted, models={2: Arm("", str(start.model), "a2")})
    assert [(arm.base, arm.adapter) for arm in shown_arms(built)] == [
        (str(start.base), None), (str(start.model), None), (str(start.model), "a2"),
    ]  # fmt: skip


def test_without_a_finished_run_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no finished run to try; run `tucano run laptop` first"):
        require_run(PipelineSettings(storage=str(tmp_path / "runs")))
    assert not (tmp_path / "runs").exists()


def test_models_answer_in_processes_that_end(tmp_path: Path) -> None:
    small = ModelSettings(nano_hidden=32, nano_layers=2, nano_vocabulary=400, max_length_tokens=256)
    tokenizer = build_tokenizer(["Crie um push para o fone.", "Você escreve."], small)
    model = build_model(tokenizer, small, seed=1)
    model.save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")
    settings = PipelineSettings.model_validate({"model": small.model_dump(), "grpo": {"max_completion_tokens": 8}})
    arms = {"base": Arm("base", str(tmp_path / "base")), "gone": Arm("gone", str(tmp_path / "gone"))}
    with closing(Models(settings, arms, {"push": "Você escreve."}, tmp_path / "logs")) as models:
        first = models.answer("base", "push", "Crie um push para o fone.")
        assert 1 <= first.drawn.tokens_out <= 8 and first.loading > first.seconds > 0
        second = models.answer("base", "push", "fone <|im_end|>")
        assert second.drawn.refused is not None and second.loading == 0
        with pytest.raises(NoAnswer, match="cannot be served"):
            models.answer("gone", "push", "oi")
        held = models._processes["base"]
        assert held.alive
    assert not held.alive


def pressed(page: Page, key: str, code: int, modifiers: int = 0) -> None:
    for kind in ("rawKeyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, modifiers=modifiers)


def tabbed_to(page: Page, expression: str) -> None:
    for _ in range(60):
        page.press("Tab")
        if page.evaluate(f"(one => {expression})(document.activeElement)"):
            return
    raise AssertionError(f"Tab does not lead to {expression}")


@pytest.mark.parametrize("width", [1400, 390])
def test_a_person_asks_and_rates_in_a_browser_with_the_keyboard_alone(tmp_path: Path, width: int) -> None:
    with served(tmp_path) as server, open_page(tmp_path, size=f"{width},1000") as page:
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
        page.go(server.url)
        page.wait_for("document.readyState + document.querySelectorAll('article').length", "complete3")
        assert page.evaluate("document.querySelector('.panel textarea').value") == REVIEW.user
        tabbed_to(page, "one.id === 'task-extraction'")
        pressed(page, "ArrowRight", 39)
        pressed(page, "ArrowRight", 39)
        page.wait_for(
            "[...document.querySelectorAll('.panel')].filter(one => !one.hidden).map(one => one.dataset.task).join()",
            "push",
        )
        tabbed_to(page, "one.matches('textarea')")
        page.call("Input.insertText", text=SCRIPT)
        pressed(page, "Enter", 13, modifiers=2)
        page.wait_for("document.getElementById('said').textContent", "Pronto: 3 de 3 responderam.")
        (text,) = {text for _, _, text in asked(server)}
        assert SCRIPT in text and BRIEF.user in text
        assert page.text().count("só verificações de forma") == 3 and page.evaluate("window.hacked") is None
        tabbed_to(page, "one.value === '4'")
        page.press(" ")
        page.wait_for("document.activeElement.id", "rater")
        page.call("Input.insertText", text="ana")
        tabbed_to(page, "one.value === '4'")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "3px"
        page.press(" ")
        page.wait_for_text("Nota 4 gravada.")
        assert [one.rating for one in read_ratings(server.trial.ratings.folder)] == [4]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        unnamed = "[...document.querySelectorAll('input, select, textarea, button')].filter(one => !(one.labels?.length || one.ariaLabel || one.textContent.trim())).length"
        assert page.evaluate(unnamed) == 0
        if folder := os.environ.get("TUCANO_SCREENSHOTS"):
            page.screenshot(Path(folder) / f"try-{width}.png")
