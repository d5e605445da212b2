"""`tucano data make`: what a model behind an API answers becomes demonstrations where reward and truth call it good."""

import argparse
from pathlib import Path
from typing import Any

import pytest
from chat_api import Response, Server, chat, question, serving

from data.own import command
from data.own.command import NONE_USABLE
from data.own.prompts import read_own
from data.prepare import prepare
from tucano.errors import UserError
from tucano.files.prompts import PromptFiles
from tucano.prompts import Prompt, read_prompts
from tucano.settings.data import PromptPlan


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> PromptFiles:
    folder = tmp_path_factory.mktemp("prompts")
    mix = {"extraction": 0.2, "sql_qa": 0.8, "insights": 0, "push": 0, "sentiment": 0, "churn": 0}
    plan = PromptPlan.model_validate({"train_prompts": 40, "demonstrations": 40, "mix": mix})
    prepare(plan, 7, ("extraction", "sql_qa"), folder)
    return PromptFiles(folder)


def right(prompt: Prompt) -> str:
    return f"```sql\n{prompt.reference['sql']}\n```\nA consulta responde a pergunta com os dados da loja."


def make(server: Server, files: PromptFiles, file: Path, *more: str) -> int:
    named = ("--endpoint", server.url, "--model", "big/model", "--licence", "CC-BY-4.0", "--task", "sql_qa")
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.main(parser.parse_args(["make", str(files.folder), str(file), *named, "--samples", "2", *more]))


def test_good_answers_become_rows_with_their_origin_and_a_second_run_asks_nothing(
    files: PromptFiles, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = {prompt.user: prompt for prompt in read_prompts(files.train)}
    wrong = next(user for user, prompt in known.items() if prompt.task == "sql_qa")

    def answer(body: dict[str, Any], number: int) -> Response:
        user = question(body)
        if user == wrong or number % 2:  # one of the two answers to each is of no use
            return 200, {}, chat("Não sei responder.")
        return 200, {}, chat(f"<think>\nOlho a loja.\n</think>\n\n{right(known[user])}")

    with serving(tmp_path / "unused") as server:
        server.answer = answer
        made = tmp_path / "made.jsonl"
        assert make(server, files, made, "--dollars", "1", "2", "--least", "0.6") == 0
        asked = len(server.asked)
        rows = read_own(made).prompts
        assert asked == 2 * sum(prompt.task == "sql_qa" for prompt in known.values())
        assert 0 < len(rows) < asked / 2
        assert {(row.source, row.licence, row.task) for row in rows} == {("made-big-model", "CC-BY-4.0", "sql_qa")}
        assert all(row.demonstration == right(known[row.user]) and row.user != wrong for row in rows)
        said = capsys.readouterr().out
        assert "left out, no answer that is good enough" in said
        dollars = asked * (20 * 1 + 5 * 2) / 1e6
        assert f"{asked} answers, 0 without one; {20 * asked} tokens in, {5 * asked} out, USD {dollars:.4f}" in said
        made.unlink()
        assert make(server, files, made, "--least", "0.6") == 0
        assert len(server.asked) == asked, "what has been paid for is never asked again"


@pytest.mark.parametrize("leak", ["<|im_end|>", "\n<think>", "\x07", "\n</think>"])
def test_what_own_data_would_not_take_makes_no_row(leak: str, files: PromptFiles, tmp_path: Path) -> None:
    """Rows were written of which the next command took none."""
    known = {prompt.user: prompt for prompt in read_prompts(files.train)}
    leaking = lambda body, number: right(known[question(body)]) + leak * (number % 2)  # noqa: E731
    with serving(tmp_path / "unused") as server:
        server.answer = lambda body, number: (200, {}, chat(leaking(body, number)))
        assert make(server, files, tmp_path / "made.jsonl", "--least", "0.6", "--count", "5") == 0
    found = read_own(tmp_path / "made.jsonl")
    assert found.prompts and not found.bad.counts
    assert all(row.demonstration == right(known[row.user]) for row in found.prompts)


def test_where_nothing_is_good_nothing_is_written(files: PromptFiles, tmp_path: Path) -> None:
    with serving(tmp_path / "unused") as server:
        made = tmp_path / "made.jsonl"
        assert make(server, files, made, "--count", "3") == NONE_USABLE
    assert not made.exists()


def test_an_outage_writes_nothing_and_the_same_command_asks_only_what_was_not_answered(
    files: PromptFiles, tmp_path: Path
) -> None:
    known = {prompt.user: prompt for prompt in read_prompts(files.train)}
    made = tmp_path / "made.jsonl"

    def answer(body: dict[str, Any], number: int) -> Response:
        return 200, {}, chat(right(known[question(body)]))

    with serving(tmp_path / "unused") as server:
        server.answer = lambda body, number: answer(body, number) if number <= 5 else (500, {"Retry-After": "0"}, b"")
        said = r"did not answer 3 of 8 requests, so nothing was written; .* 5 answers are kept in \S*made\.replies"
        with pytest.raises(UserError, match=said):
            make(server, files, made, "--count", "4")
        assert not made.exists()
        server.asked.clear()
        server.answer = answer
        assert make(server, files, made, "--count", "4", "--least", "0.6") == 0
        assert len(server.asked) == 3 and made.exists()


def test_a_request_that_never_gets_an_answer_holds_up_no_other(
    files: PromptFiles, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = {prompt.user: prompt for prompt in read_prompts(files.train)}
    stuck = next(user for user, prompt in known.items() if prompt.task == "sql_qa")

    def answer(body: dict[str, Any], number: int) -> Response:
        if question(body) == stuck:
            return 500, {"Retry-After": "0"}, b""
        return 200, {}, chat(right(known[question(body)]))

    with serving(tmp_path / "unused") as server:
        server.answer = answer
        made = tmp_path / "made.jsonl"
        assert make(server, files, made, "--least", "0.6") == 0
        rows = read_own(made).prompts
    assert rows and stuck not in {row.user for row in rows}
    assert "left out, not answered by the endpoint" in capsys.readouterr().out


def test_a_refusal_says_which_options_to_change_and_what_is_kept(files: PromptFiles, tmp_path: Path) -> None:
    with serving(tmp_path / "unused") as server:
        server.answer = lambda body, number: (400, {}, b"an answer has at most 8 tokens; ask for no more")
        with pytest.raises(UserError, match=r"at most 8 tokens; ask for no more\).*--model, --key-env and --tokens"):
            make(server, files, tmp_path / "made.jsonl")
        server.answer = lambda body, number: (200, {}, chat("x"))
        assert make(server, files, tmp_path / "made.jsonl", "--count", "2") == NONE_USABLE
        server.answer = lambda body, number: (402, {}, b"no money")
        with pytest.raises(UserError, match=r"no money.*check its account; 4 replies are kept and not asked for again"):
            make(server, files, tmp_path / "made.jsonl")


def test_answers_that_are_all_cut_are_said_with_the_option_that_cuts_them(
    files: PromptFiles, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(tmp_path / "unused") as server:
        server.answer = lambda body, number: (200, {}, chat("SELECT", "length"))
        assert make(server, files, tmp_path / "made.jsonl", "--count", "3") == NONE_USABLE
    said = capsys.readouterr().out
    assert "left out, its answers are cut; raise --tokens: 3" in said
    assert "every answer was cut; raise --tokens." in said and "--least" not in said


def test_what_an_api_does_not_count_is_not_said_to_cost_nothing(
    files: PromptFiles, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    uncounted = chat("Sei.").replace(b"20", b'"20"').replace(b"5}", b"null}")
    with serving(tmp_path / "unused") as server:
        server.answer = lambda body, number: (200, {}, uncounted)
        make(server, files, tmp_path / "made.jsonl", "--count", "3", "--dollars", "1", "2")
        assert "dollars unknown" in (said := capsys.readouterr().out) and "USD" not in said
        assert "6 answers came without numbers of tokens" in said
        server.answer = lambda body, number: (200, {}, uncounted if number % 2 else chat("Sei."))
        make(server, files, tmp_path / "other.jsonl", "--count", "3", "--dollars", "1", "2")
        assert f"USD {3 * (20 * 1 + 5 * 2) / 1e6:.4f} at least" in capsys.readouterr().out


def test_a_file_in_the_place_of_the_replies_is_said(files: PromptFiles, tmp_path: Path) -> None:
    (tmp_path / "made.replies").write_text("mine")
    with serving(tmp_path / "unused") as server, pytest.raises(UserError, match="is no folder"):
        make(server, files, tmp_path / "made.jsonl")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--task", "banana"), "--task banana is none of extraction"),
        (("--samples", "0"), "--samples and --tokens are at least 1"),
        (("--licence", "CC0\nCC-BY"), "--licence is one line"),
        (("--task", "push"), "no training prompt of the task push"),
        (("--endpoint", "https://api.example.com/v1"), "leave this machine.*Allow it with --allow-external"),
        (("--endpoint", "nowhere"), "benchmark.endpoints.0.url"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(
    more: tuple[str, ...], said: str, files: PromptFiles, tmp_path: Path
) -> None:
    with serving(tmp_path / "unused") as server:
        with pytest.raises(UserError, match=said):
            make(server, files, tmp_path / "made.jsonl", *more)
        assert server.asked == []
