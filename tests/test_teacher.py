"""On-policy distillation: a teacher behind a real server here, a tiny model, says how likely it finds each token."""

import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from chat_api import Handler, Response, Server, serving
from test_algorithms import of_sums
from test_grpo_parity import logps_of, ours, rollout, row_of, settings, tiny, trainer
from test_grpo_parity import one_thread_and_the_signals_as_before as one_thread_and_the_signals_as_before
from transformers import AutoTokenizer

from tucano.errors import UserError, WorkerFailed
from tucano.requirements.second_zero import refusals
from tucano.settings.stages import of_grpo, of_preflight
from tucano.training.algorithms.distillation import Distillation
from tucano.training.policies.nano import build_model, build_tokenizer
from tucano.training.rollouts.teacher import Teacher

ALONE = {"advantages": "group"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny(tmp_path_factory.mktemp("taught") / "tiny")


@pytest.fixture
def server(folder: Path, tmp_path: Path) -> Iterator[Server]:
    """A teacher with the student's tokenizer and other weights."""
    tokenizer = AutoTokenizer.from_pretrained(folder / "model")
    with serving(tmp_path / "kept") as made:
        made.answer = teaching(build_model(tokenizer, settings().model, seed=9), tokenizer)
        yield made


def teaching(model: Any, tokenizer: Any) -> Callable[[dict[str, Any], int], Response]:
    """As vLLM's /v1/completions answers a question with prompt_logprobs=0: one token at each place, none at the first."""
    model.eval()

    def answer(body: dict[str, Any], _: int) -> Response:
        torch.set_num_threads(1)  # of this thread of the server
        shown = body["prompt"]
        ids = tokenizer(shown, add_special_tokens=False)["input_ids"] if isinstance(shown, str) else shown
        with torch.no_grad():
            logps = model(torch.tensor([ids])).logits[0].log_softmax(dim=-1)
        said = [{str(token): {"logprob": logps[place, token].item()}} for place, token in enumerate(ids[1:])]
        return reply([None, *said])

    return answer


def reply(said: list[Any] | None) -> Response:
    return 200, {}, json.dumps({"choices": [{"index": 0, "text": "x", "prompt_logprobs": said}]}).encode()


def taught(server: Server, weight: float = 1.0, **endpoint: Any) -> dict[str, Any]:
    """Settings of a teacher who teaches alone."""
    named = {"name": "mestre", "url": server.url, "model": "m", **endpoint}
    return {"teacher": {"endpoint": named, "weight": weight, "reward_weight": 0.0}}


def asking(server: Server, **endpoint: Any) -> Teacher:
    chosen = settings(**taught(server, **endpoint)).grpo.teacher
    assert chosen is not None
    return Teacher(chosen.endpoint)


def test_a_tokens_advantage_by_hand() -> None:
    """Rewards 0 and 1 have advantages -.5 and .5, halved; gaps of -1, -2 and of .5, .1 count twice. T is 2, not 3."""
    gaps = torch.tensor([[-1.0, -2.0, 0.0], [0.5, 0.1, 0.0]])
    earned = torch.tensor([-0.5, 0.5])
    batch = replace(of_sums([0.0, 1.0], 2), lengths=torch.tensor([2, 2]), advantages=earned, gaps=lambda: gaps)
    expected = [[-2.25, -4.25], [1.25, 0.45]]
    assert torch.allclose(Distillation(2.0, 0.5).advantages(batch), torch.tensor(expected))
    by_token = replace(batch, advantages=earned[:, None].repeat(1, 2))
    assert torch.allclose(Distillation(2.0, 0.5).advantages(by_token), torch.tensor(expected))


def test_each_tokens_advantage_is_what_two_models_say_of_it(folder: Path, tmp_path: Path, server: Server) -> None:
    made = trainer(folder, tmp_path, settings(**ALONE, **taught(server, weight=0.5), max_completion_tokens=60))
    made.teacher = asking(server)
    output = rollout(made)
    teacher = build_model(AutoTokenizer.from_pretrained(folder / "model"), settings().model, seed=9).eval()
    gaps = []
    for row in range(8):
        prompt, drawn = row_of(output, row)
        for model, sign in ((teacher, 1), (made.model, -1)):
            logps = logps_of(model, prompt, drawn)
            output["advantages"][row, : len(drawn)] -= 0.5 * sign * logps
            gaps.append(sign * logps)
    assert output["advantages"].abs().max() < 1e-5, "nothing is left, behind the ends neither"
    assert len({len(gap) for gap in gaps}) > 1, "or the padding was not seen"
    mean = torch.cat(gaps).sum() / output["completion_mask"].sum()
    assert made._metrics["train"]["teacher/reverse_kl"] == pytest.approx([-mean.item()], rel=1e-4)
    body, _, path = server.asked[0]
    assert path == "/v1/completions" and body["prompt_logprobs"] == 0 and len(server.asked) == 8


def test_a_student_comes_nearer_to_its_teacher(folder: Path, tmp_path: Path, server: Server) -> None:
    """By the teacher's term alone: the rewards are random, and weigh nothing."""
    longer = {"max_steps": 16, "eval_steps": 16, "save_steps": 16, "learning_rate": 0.03, "batch_size": 16}
    steps, _ = ours(folder, tmp_path, settings(**ALONE, **taught(server), **longer))
    apart = [step["train/teacher/reverse_kl"] for step in steps]
    assert sum(apart[-6:]) < 0.85 * sum(apart[:6]), apart


def asked_in_the_end(server: Server) -> int:
    """How often, once nothing is under way: the first refusal ends a run while its other questions still travel."""
    before = -1
    while before != (before := len(server.asked)):
        time.sleep(0.5)
    return before


def test_a_resumed_run_asks_again_and_ends_with_the_same_weights(folder: Path, tmp_path: Path, server: Server) -> None:
    chosen = {**ALONE, **taught(server), "eval_steps": 2, "save_steps": 2, "patience": 9}
    _, whole = ours(folder, tmp_path / "whole", settings(**chosen, max_steps=4))
    begun, teach = len(server.asked), server.answer
    assert begun == 1 + 4 * 8, "once for the tokenizer, then for each completion"
    server.answer = lambda body, number: teach(body, number) if number < begun + 28 else (503, {}, b"")
    with pytest.raises(WorkerFailed, match="the teacher mestre gave no answer in 1 attempts"):
        ours(folder, tmp_path / "cut", settings(**{**chosen, **taught(server, attempts=1)}, max_steps=4))
    server.answer, cut = teach, asked_in_the_end(server)
    _, resumed = ours(folder, tmp_path / "cut", settings(**chosen, max_steps=4))
    assert len(server.asked) - cut == 1 + 2 * 8, "it went on with the third step"
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def test_a_teacher_with_another_tokenizer_is_refused(folder: Path, server: Server) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder / "model")
    asking(server).require_tokenizer(tokenizer)
    other = build_tokenizer(["outras palavras desta vez"], settings().model)
    server.answer = teaching(build_model(other, settings().model, seed=9), other)
    with pytest.raises(UserError, match=r"mestre reads a text as other tokens .* with the student's tokenizer"):
        asking(server).require_tokenizer(tokenizer)
    server.answer = lambda body, number: reply(None)
    with pytest.raises(UserError, match="it has no log-probabilities for"):
        asking(server).require_tokenizer(tokenizer)


OUTPUT = {
    "prompt_ids": torch.tensor([[0, 5]]), "prompt_mask": torch.tensor([[0, 1]]),
    "completion_ids": torch.tensor([[7, 8, 0]]), "completion_mask": torch.tensor([[1, 1, 0]]),
}  # fmt: skip
"""A prompt of one token, 5, and an answer of two, 7 and 8."""


def says(*logprobs: object) -> list[Any]:
    return [None, *({str(token): {"logprob": value}} for token, value in zip((7, 8), logprobs, strict=False))]


def test_gaps_by_hand_and_a_passing_fault_is_asked_again(server: Server) -> None:
    server.answer = lambda body, number: (503, {"Retry-After": "0"}, b"") if number == 1 else reply(says(-1.0, 0))
    gaps = asking(server).gaps(OUTPUT, torch.tensor([[-3.0, -0.5, 9.0]]))
    assert gaps.tolist() == [[2.0, 0.5, 0.0]]
    assert server.asked[1][0]["prompt"] == [5, 7, 8]
    assert asking(server, dollars_in=2.0, dollars_out=1.0).dollars(OUTPUT) == pytest.approx((3 * 2 + 1) / 1e6)


def broken_off(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "999")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')


def late(handler: Handler) -> None:
    broken_off(handler)
    time.sleep(0.5)


@pytest.mark.parametrize(("fault", "words"), [(broken_off, "it broke off"), (late, "it was not complete after 0.3 s")])
def test_a_reply_that_breaks_off_is_asked_for_again(server: Server, fault: Response, words: str) -> None:
    """It is nobody's mistake: the same run goes on once the server answers."""
    server.answer = lambda body, number: fault if number == 1 else reply(says(-1.0, 0))
    patient, impatient = (asking(server, timeout_s=0.3, attempts=attempts) for attempts in (2, 1))
    assert patient.gaps(OUTPUT, torch.zeros(1, 3)).tolist() == [[-1.0, 0.0, 0.0]]
    server.asked.clear()
    with pytest.raises(WorkerFailed, match=rf"the teacher mestre gave no answer in 1 attempts \({words}"):
        impatient.gaps(OUTPUT, torch.zeros(1, 3))


def test_the_bytes_of_a_reply_are_bounded_by_its_tokens(server: Server) -> None:
    """As vLLM writes a token: its log-probability, rank and text; 30,000 of them are 2.4 MB."""
    tokens, one = 30_000, {"logprob": -1.23456789012345678, "rank": 12345, "decoded_token": " administra\u00e7\u00e3o"}
    row = {name: torch.full((1, size), 7) for name, size in (("prompt_ids", 1), ("completion_ids", tokens - 1))}
    row |= {name.replace("ids", "mask"): torch.ones_like(ids) for name, ids in row.items()}
    server.answer = lambda body, number: reply([None, *[{"7": one}] * (tokens - 1)])
    assert asking(server).gaps(row, torch.zeros(1, tokens - 1)).mean().item() == pytest.approx(-1.2345679)
    server.answer = lambda body, number: (200, {}, b" " * (2**21 + 1))
    with pytest.raises(UserError, match="more than 2097152 bytes"):
        asking(server).gaps(OUTPUT, torch.zeros(1, 3))


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (says(-1.0), "2 log-probabilities for 3 tokens"),
        (says(-1.0, math.nan), "of token 8, number 3, is nan"),
        (says(-1.0, -math.inf), "is -inf"),
        (says(0.1, -1.0), "of token 7, number 2, is 0.1"),
        (says("-1", -1.0), "is -1"),
        (says(-(10**400), -1.0), "is -1000"),
        ([None, {"9": {"logprob": -1.0}}, {"8": {"logprob": -1.0}}], "of token 7, number 2, is None"),
        ([None, 7, 8], "is None"),
        (says("\x1b[2J\n", -1.0), r"is \u241b\[2J;"),
        (says("\ud800x", -1.0), "is \ufffdx"),
    ],
)
def test_a_reply_that_is_no_judgement_of_these_tokens_ends_the_step(
    server: Server, said: list[Any], words: str
) -> None:
    server.answer = lambda body, number: reply(said)
    with pytest.raises(UserError, match=rf"^grpo.teacher: mestre gave a reply that cannot be used: .*{words}"):
        asking(server).gaps(OUTPUT, torch.zeros(1, 3))
    assert len(server.asked) == 1


def test_how_a_teacher_is_asked_is_in_no_key(server: Server) -> None:
    one, two, other = (
        settings(**taught(server, **how)) for how in ({}, {"timeout_s": 9, "attempts": 7}, {"weight": 2})
    )
    for stage in (of_grpo, of_preflight):
        found = [stage(chosen, 1).model_dump(mode="json") for chosen in (one, two, other)]
        assert found[0] == found[1] != found[2]


def test_a_missing_key_is_said_before_the_first_stage(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEACHER_KEY", raising=False)
    said = refusals(settings(**taught(server, key_env="TEACHER_KEY")))
    assert "grpo.teacher needs the environment variable TEACHER_KEY, which is not set; export it first" in said
