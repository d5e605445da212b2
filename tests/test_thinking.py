"""Thoughts before answers: switched per task, counted, limited, and taken off before anybody judges."""

import copy
import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from test_grpo_parity import (
    SYSTEMS,
    one_thread_and_the_signals_as_before,  # noqa: F401  the fixture is used by its name
    ours,
    tiny,
)
from test_grpo_parity import settings as small
from transformers import PreTrainedTokenizerBase

from data.prepare import prepare
from data.thoughts import taken_off, thought_through
from rewards import load_reward_set
from tucano.benchmark.public.questions import Question as PublicQuestion
from tucano.files.models import ServedFiles
from tucano.files.prompts import PromptFiles
from tucano.profiles import validated
from tucano.prompts import Prompt, read_prompts
from tucano.settings import ModelSettings
from tucano.settings.data import PromptPlan
from tucano.thoughts import CLOSE, OPEN, THOUGHTS, answer_of, told, with_thought
from tucano.training import preflight_checks as check
from tucano.training.answering import public
from tucano.training.answering.child import Answerer
from tucano.training.answering.messages import Question
from tucano.training.policies.nano import build_model, build_tokenizer
from tucano.training.policies.reading import Reader, Said
from tucano.training.policies.served_model import ServedModel
from tucano.training.rollouts.scoring import Rewards
from tucano.training.samplers import Decoding, Draw
from tucano.training.samplers.local import LocalSampler

PRODUCT = Prompt(
    "p1", "push", "Anuncie o tênis.", "t", "test", "own", reference={"product": "tênis", "terms": ["tênis"]}
)
PLAIN = {"push": "Escreva."}
PUSH = "Seu tênis espera por você, aproveite hoje!"
SMALL_MODEL = ModelSettings(nano_hidden=16, nano_layers=1, nano_vocabulary=300)
SMALL = PromptPlan(
    train_prompts=20, validation_prompts=10, test_prompts=10, demonstrations=40, mix={"push": 0.5, "sentiment": 0.5}
)


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerBase:
    return build_tokenizer([PUSH, PRODUCT.user], SMALL_MODEL, thinking=True)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("resposta", "resposta"),
        ("", ""),
        ("<think>\nnota 2\n</think>\n\nresposta", "resposta"),
        ("  <think></think>resposta", "resposta"),
        ("<think>\n\n</think>\n\n<think>de novo</think> resposta", "resposta"),
        ("<think>nunca acaba", ""),
        ("<think>só isso</think>", ""),
        ("nota 2\n</think>\n\nresposta", "resposta"),  # the chat template has opened it
        ("</think>resposta", "resposta"),
        ("nota 2</think><think>de novo</think>resposta", "resposta"),
        ("só isso</think>", ""),
        ("<think>a</think>\n</think>\n{}", "{}"),  # closed twice
        ("a</think>b</think>{}", "{}"),
        ("<think>a<think>b</think>c</think>{}", "{}"),  # a thought in a thought
        ('{"a":"x</think>y"}', '{"a":"x</think>y"}'),  # said, not closed
        ('{"a":"\\"</think>"}', '{"a":"\\"</think>"}'),
        ('{"a":"x</think>y', '{"a":"x</think>y'),  # cut off at the ceiling
        ('<think>a</think>\n{"a":"</think>"}', '{"a":"</think>"}'),
        ('{"a":1}</think>', ""),
        ('{"a":"b"}</think>{"a":1}', '{"a":1}'),
        ("diz <think>no meio</think> algo", "diz <think>no meio</think> algo"),  # not before the answer: judged with it
    ],
)
def test_an_answer_is_what_stands_behind_its_thoughts(text: str, answer: str) -> None:
    assert answer_of(text) == answer
    assert re.sub(THOUGHTS, "", text, count=1) == answer  # what a packed model does


@given(st.text(max_size=60), st.text(max_size=60))
def test_what_was_thought_never_reaches_a_judge(thought: str, answer: str) -> None:
    assert answer_of(with_thought(thought.replace(CLOSE, ""), "R" + answer)) == "R" + answer
    assert answer_of(OPEN + thought.replace(CLOSE, "")) == ""


def test_tokens_of_a_thought_are_counted_with_its_marks_and_limited(tokenizer: PreTrainedTokenizerBase) -> None:
    thought = tokenizer.encode("<think>abc</think>")
    assert len(thought) == 2 + len(tokenizer.encode("abc"))
    whole = [*thought, *tokenizer.encode(PUSH), tokenizer.eos_token_id]
    count = len(thought)
    assert Reader(tokenizer).read(whole) == Said(PUSH, count, cut=False)
    assert Reader(tokenizer, count).read(whole) == Said(PUSH, count, cut=False)
    assert Reader(tokenizer, count - 1).read(whole) == Said("", count, cut=True)
    unclosed = tokenizer.encode("<think>abc")
    assert Reader(tokenizer).read(unclosed) == Said("", len(unclosed), cut=True)
    assert Reader(tokenizer, 1).read(tokenizer.encode(PUSH)) == Said(PUSH)


def opening(tokenizer: PreTrainedTokenizerBase) -> PreTrainedTokenizerBase:
    """With a template that opens a thought before every answer, as those of R1 and Qwen3-Thinking do."""
    copied = copy.deepcopy(tokenizer)
    copied.chat_template = str(tokenizer.chat_template) + "{{ '<think>\\n' if add_generation_prompt }}"
    return copied


def test_a_thought_that_the_template_has_opened_is_read_as_one(tokenizer: PreTrainedTokenizerBase) -> None:
    """Only its end was drawn: it stayed in the answer, and one without an end was an answer."""
    reader = Reader(opening(tokenizer), 20)
    thought, answer = tokenizer.encode("abc</think>"), tokenizer.encode(PUSH)
    assert reader.read([*thought, *answer]) == Said(PUSH, len(thought), cut=False)
    assert replace(reader, most=len(thought) - 1).read([*thought, *answer]) == Said("", len(thought), cut=True)
    unclosed = tokenizer.encode("abc")
    assert reader.read(unclosed) == Said("", len(unclosed), cut=True)
    (score,) = Rewards(load_reward_set("grounded"), [PRODUCT], reader, PLAIN).score(
        [[{"content": f"tênis</think>{PUSH}"}]], ["p1"], [thought]
    )
    assert score == load_reward_set("grounded").score(PRODUCT, PUSH)


def test_a_public_answer_is_read_by_the_switch_that_it_was_asked_with(
    tokenizer: PreTrainedTokenizerBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    forked = copy.deepcopy(tokenizer)
    forked.chat_template = str(tokenizer.chat_template) + "{{ '<think>\n' if add_generation_prompt and not quiet }}"
    drawn = SimpleNamespace(sample=lambda *_: [Draw(tokenizer.encode("Acre"), None)], close=lambda: None)
    monkeypatch.setattr(public, "sampler_for", lambda *_: drawn)
    monkeypatch.setattr(public, "rank_of", lambda _: 0)
    asked = PublicQuestion("q", "faquad", "Qual estado?", "g", ("Acre",))
    model: Any = (build_model(forked, SMALL_MODEL, seed=1), forked)
    for most, said in ((20, "Acre"), (None, "")):  # told to answer at once; not told, it is in a thought
        settings: Any = SimpleNamespace(
            model=SimpleNamespace(max_length_tokens=256),
            grpo=SimpleNamespace(max_completion_tokens=16, max_think_tokens=most),
        )
        arm: Any = SimpleNamespace(name="sft", base="")
        (reply,) = public._written(cast(Any, None), settings, arm, model, [asked])
        assert reply.text == said


def test_an_answer_that_is_served_holds_no_thought_that_the_template_has_opened(
    tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    """Neither in `tucano serve`, which holds no thought to a form, nor in a packed model."""
    opened, (thought, answer) = opening(tokenizer), (tokenizer.encode("abc</think>"), tokenizer.encode(PUSH))
    ended = [*thought, *answer, tokenizer.eos_token_id]
    model = build_model(opened, SMALL_MODEL, seed=1)
    asked: list[Decoding] = []

    class Draws(LocalSampler):
        def sample(self, policy: Any, prompts: Any, decoding: Decoding, generator: Any = None) -> list[Draw]:
            asked.append(decoding)
            return [Draw(ended)]

    answerer = Answerer(model, opened, Reader(opened), Draws(), torch.Generator(), 512)
    (found,) = answerer.answer([Question("Escreva.", "Oi", 64, 0.0, form="{}")])
    assert found.text == PUSH and asked[0].form is None
    served = ServedFiles(tmp_path)
    model.save_pretrained(served.model)
    opened.save_pretrained(served.model)
    served.system_prompts.write_text(json.dumps({"push": "Escreva."}), encoding="utf-8")
    decoding = {"temperature": 0.1, "max_new_tokens": 8, "seed": 1, "thoughts": THOUGHTS, "max_think_tokens": None}
    served.serving.write_text(json.dumps(decoding), encoding="utf-8")
    packed = ServedModel(tmp_path)
    for drawn, said in ((ended, PUSH), (tokenizer.encode("abc"), "")):
        draws = lambda input_ids, **_: torch.tensor([[*input_ids[0].tolist(), *drawn]])  # noqa: B023, E731
        packed.model.generate = draws
        assert packed.answer("push", "Oi") == said


def test_the_template_closes_the_thought_of_a_task_that_shall_not_think(tokenizer: PreTrainedTokenizerBase) -> None:
    """And what is trained on begins as what is asked."""
    for thinks, opening, answer in ((True, "", with_thought("a", PUSH)), (False, "<think>\n\n</think>\n\n", PUSH)):
        chat = [{"role": "system", "content": told("Escreva.", thinks)}, {"role": "user", "content": "Oi"}]
        asked = str(tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False))
        said = [*chat, {"role": "assistant", "content": answer}]
        assert asked.endswith("<|im_start|>assistant\n" + opening)
        assert tokenizer.apply_chat_template(said, tokenize=False) == f"{asked}{answer}<|im_end|>\n"


def test_rewards_see_answers_without_thoughts(tokenizer: PreTrainedTokenizerBase) -> None:
    grounded = load_reward_set("grounded")
    rewards = Rewards(grounded, [PRODUCT], Reader(tokenizer, 20), PLAIN)
    texts = [PUSH, with_thought("tênis", PUSH), f"{OPEN}{PUSH}"]
    drawn = [tokenizer.encode(text) for text in texts]
    scores = rewards.score([[{"content": text}] for text in texts], ["p1"] * 3, drawn)
    plain = grounded.score(PRODUCT, PUSH)
    assert plain.total > 0.5 and [score.total for score in scores] == [plain.total, plain.total, 0.0]
    assert [said.cut for said in rewards.said] == [False, False, True]
    assert [said.think_tokens > 0 for said in rewards.said] == [False, True, True]


# Data


def test_demonstrations_of_the_named_tasks_think_and_prompts_say_who_shall(tmp_path: Path) -> None:
    files = PromptFiles(tmp_path)
    prepare(SMALL.model_copy(update={"thinking": ("sentiment",)}), 1, ("push", "sentiment"), tmp_path)
    systems = files.systems()
    assert systems["sentiment"].endswith(" /think") and systems["push"].endswith(" /no_think")
    for example in read_prompts(files.demonstrations):
        shown = example.demonstration or ""
        assert shown.startswith(OPEN) == (example.task == "sentiment")
        if example.task == "sentiment":
            assert f"Nota {example.reference['fields']['sentiment_score']}." in shown.partition(CLOSE)[0]
    thoughts = [d.demonstration or "" for d in read_prompts(files.demonstrations) if d.task == "sentiment"]
    assert {text.count("Confiro") for text in thoughts} == {0, 1, 2}
    assert all(not prompt.demonstration for prompt in read_prompts(files.train))


@pytest.mark.parametrize("thinking", [None, (), ("sentiment",)])
def test_a_demonstration_of_a_task_that_answers_at_once_is_shown_without_its_thought(
    thinking: tuple[str, ...] | None,
) -> None:
    """It was taught behind the thought that the template had just closed."""
    shown = [
        replace(PRODUCT, task=task, demonstration=with_thought("penso", PUSH))
        for task in ("push", "general", "sentiment")
    ]
    kept = [thought_through(example, thinking, 1).demonstration for example in shown]
    assert kept == [PUSH, PUSH, with_thought("penso", PUSH) if thinking else PUSH]
    (said,) = taken_off(shown, thinking)
    assert said.startswith(f"data.thinking: {2 if thinking else 3} demonstrations think")
    assert not taken_off([replace(PRODUCT, demonstration=PUSH), PRODUCT], thinking)


# Preflight


def test_the_preflight_refuses_a_tokenizer_without_marks(tokenizer: PreTrainedTokenizerBase) -> None:
    assert check.marks(tokenizer).level == "ok"
    plain = build_tokenizer([PUSH], ModelSettings(nano_vocabulary=300))
    found = check.marks(plain)
    assert found.level == "red" and "set data.thinking=null" in found.evidence


@pytest.mark.parametrize("thinks", [True, False])
def test_an_empty_thought_of_a_task_without_any_opens_none(thinks: bool, tokenizer: PreTrainedTokenizerBase) -> None:
    """A run in which some tasks think was refused by its own preflight."""
    found = check.template(tokenizer, PRODUCT, {"push": told("Escreva.", thinks)})
    assert found["think block"].level == "ok"


# Training


def test_a_training_whose_tasks_all_think_counts_its_thoughts(tmp_path: Path) -> None:
    """A rollout without a task that answers at once ended GRPO: whole numbers have no mean."""
    folder = tiny(tmp_path / "tiny")
    systems = {task: told(system, True) for task, system in SYSTEMS.items()}
    (folder / "system_prompts.json").write_text(json.dumps(systems), encoding="utf-8")
    plain = small(max_steps=2, eval_steps=2, save_steps=2).model_dump(mode="json")
    plain["data"]["thinking"] = ["push", "insights"]
    plain["grpo"] |= {"think_weight": 0.5, "max_think_tokens": 8}
    rows, _ = ours(folder, tmp_path / "run", validated(plain))
    assert [row["train/think_tokens"] for row in rows] == [0, 0], "this model does not know the marks"
