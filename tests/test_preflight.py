"""Each failure that once ruined a run is red before it begins; a healthy start is not."""

import copy
import mmap
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from nano_models import move
from peft import LoraConfig, get_peft_model
from transformers import GenerationConfig, PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM, TrainingArguments

from rewards import Score
from tucano.profiles import load_profile
from tucano.prompts import Prompt
from tucano.settings import ModelSettings, PipelineSettings
from tucano.settings.stages import of_preflight
from tucano.training import preflight_checks as check
from tucano.training.policies.likelihood import token_logps
from tucano.training.policies.nano import build_model, build_tokenizer
from tucano.training.preflight import (
    Recorder,
    Table,
    entries_of_a,
    follows,
    give_back,
    gradients,
    memory,
    own_megabytes,
    share_moved,
)
from tucano.training.rollouts.examiner import ScoredCompletion
from tucano.training.samplers import Draw

PROJECT = Path(__file__).parent.parent
SYSTEMS = {"push": "Escreva uma notificação."}
PROMPT = Prompt("p1", "push", "Fone de ouvido, frete grátis.", "t", "synthetic", "CC0-1.0")
TEXT = ["Escreva uma notificação. Fone de ouvido, frete grátis. system user assistant RESPOSTA"] * 3


def completions(
    rewards: list[float], texts: list[str] | None = None, tokens: int = 5, truncated: bool = False
) -> list[ScoredCompletion]:
    texts = texts or [f"resposta {index}" for index in range(len(rewards))]
    return [
        ScoredCompletion(PROMPT, [1] * tokens, text, truncated, Score(min(1.0, reward), {"push.all": reward}), None)
        for reward, text in zip(rewards, texts, strict=True)
    ]


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return build_tokenizer(TEXT, ModelSettings(nano_vocabulary=300))


@pytest.fixture(scope="module")
def model(tokenizer: PreTrainedTokenizerFast) -> Qwen3ForCausalLM:
    return build_model(tokenizer, ModelSettings(nano_hidden=32, nano_layers=2), seed=0).eval()


def levels(rows: dict[str, check.Seen]) -> dict[str, str]:
    return {name: seen.level for name, seen in rows.items()}


def sampling(**changes: Any) -> GenerationConfig:
    return GenerationConfig(
        **{"do_sample": True, "temperature": 1.0, "top_p": 1.0, "top_k": 0, "repetition_penalty": 1.0} | changes
    )


def test_a_temperature_in_the_models_own_config_is_named_and_one_in_effect_is_red() -> None:
    shipped = sampling(temperature=0.1, top_p=0.9)
    unused = check.generation(sampling(), shipped, of_preflight(PipelineSettings(), 42))
    assert unused.level == "ok" and "temperature=0.1, top_p=0.9 and is not used" in unused.evidence
    used = check.generation(shipped, shipped, of_preflight(PipelineSettings(), 42))
    assert used.level == "red" and "temperature is 0.1, not 1.0" in used.evidence


@pytest.mark.parametrize(
    ("rewards", "texts", "level", "words"),
    [
        ([0.1, 0.5, 0.3, 0.9, 0.2, 0.4, 0.7, 0.8], None, "ok", "100% of 2 groups"),
        ([1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0], None, "ok", "100% of 2 groups differ in reward, 2 different rewards"),
        ([1.0] * 4 + [0.0] * 4, None, "red", "0% of 2 groups differ in reward, 2 different rewards"),
        ([0.5] * 8, ["igual"] * 8, "red", "0% of 2 groups differ in reward, 1 different rewards, 25% different texts"),
        ([0.2, 1.0, 0.6, 1.8, 0.4, 0.8, 1.4, 1.6], None, "red", "up to 1.80"),
        ([0.1, 0.5, 0.3, 0.9] + [0.2] * 4 + [0.3] * 4, None, "warn", "33% of 3 groups"),
    ],
    ids=[
        "fine",
        "binary, live groups",
        "binary, dead groups",
        "identical completions",
        "doubled scale",
        "mostly dead groups",
    ],
)  # fmt: skip
def test_signal_within_groups_of_four(rewards: list[float], texts: list[str] | None, level: str, words: str) -> None:
    (line,) = check.signal(completions(rewards, texts), 4).values()
    assert line.level == level and words in line.evidence


def test_rewards_without_signal_do_not_stop_whom_a_teacher_alone_teaches() -> None:
    (dead,) = check.signal(completions([0.5] * 8), 4, rewards_count=False).values()
    assert dead.level == "warn" and "temperature" not in dead.evidence
    (doubled,) = check.signal(completions([1.8] * 8), 4, rewards_count=False).values()
    assert doubled.level == "red" and doubled.evidence.endswith("mend the weights")


def test_a_ceiling_that_cuts_most_answers_off_is_red(tokenizer: PreTrainedTokenizerFast) -> None:
    assert check.lengths(completions([0.1] * 10, tokens=12), 112, tokenizer).level == "ok"
    cut = check.lengths(completions([0.1] * 10, tokens=16, truncated=True), 16, tokenizer, [16])
    assert cut.level == "red" and cut.evidence.endswith(
        "ceiling 16, 100% of 10 cut off; raise grpo.max_completion_tokens"
    )


def test_answers_that_go_on_after_a_mark_say_which_token_ends_it(tokenizer: PreTrainedTokenizerFast) -> None:
    """The advice was to raise the ceiling, which costs time and ends nothing."""
    endless = completions([0.1] * 4, tokens=16, truncated=True)
    unmarked = check.lengths([replace(one, tokens=[9] * 16) for one in endless], 16, tokenizer, [5, 8])
    assert "none ends by itself, though demonstrations have at most 8 tokens; raise" in unmarked.evidence
    marked = [
        replace(one, tokens=[9, 9, 2 if row else 9, *[9] * 13]) for row, one in enumerate(endless)
    ]  # 2: <|im_end|>
    found = check.lengths(marked, 16, tokenizer, [5, 8])
    assert found.level == "red"
    assert found.evidence.endswith("at most 8 tokens: 3 of them go on after '<|im_end|>', set eos_token to that")


def schedule(name: str, max_steps: int) -> TrainingArguments:
    return TrainingArguments(
        output_dir="unused", learning_rate=1e-3, lr_scheduler_type=name, max_steps=max_steps, use_cpu=True
    )


def test_a_cosine_that_is_gone_after_a_fifth_of_the_run_is_red() -> None:
    found = check.learning_rate(schedule("cosine", 100), 100)
    assert found.level == "ok" and "75, 100 % of the run: 0.00085, 0.0005, 0.00015, 2.5e-07" in found.evidence
    gone = schedule("cosine", 20)
    assert gone.max_steps == 20 and check.learning_rate(gone, 100).level == "red"


@pytest.mark.parametrize(
    ("template", "name", "level"),
    [
        ("{{ messages[0]['content'] }}{{ messages[1]['content'] }}<think>\n", "think block", "warn"),
        ("{{ messages[1]['content'] }}", "chat template", "red"),
        ("{{ raise_exception('sem sistema') }}", "chat template", "red"),
        ("{{ messages|length }}{{ messages[0]['content'] }}{{ messages[1]['content'] }}", "chat template", "red"),
    ],
    ids=["opens a think block", "drops the system prompt", "cannot be rendered", "another opening in training"],
)
def test_templates_that_ruin_a_run(template: str, name: str, level: str) -> None:
    broken = build_tokenizer(TEXT, ModelSettings(nano_vocabulary=300))
    broken.chat_template = template
    assert levels(check.template(broken, PROMPT, SYSTEMS))[name] == level


def test_padding_with_the_end_token_is_red(tokenizer: PreTrainedTokenizerFast, model: Qwen3ForCausalLM) -> None:
    same = copy.deepcopy(tokenizer)
    same.pad_token = tokenizer.eos_token
    assert check.end_tokens(model, same, PROMPT, SYSTEMS).level == "red"


def test_a_template_whose_turn_ends_with_no_end_token_is_red_with_what_to_set(
    tokenizer: PreTrainedTokenizerFast, model: Qwen3ForCausalLM
) -> None:
    """ChatML in the template of a base that ends texts with another token: nothing was said, and no answer ended."""
    base, ends = copy.deepcopy(tokenizer), copy.deepcopy(model)
    base.eos_token, ends.generation_config.eos_token_id = "<|im_start|>", 1
    found = check.end_tokens(ends, base, PROMPT, SYSTEMS)
    assert found.level == "red" and "set eos_token" in found.evidence
    assert "ends a turn with '<|im_end|>\\n'" in found.evidence
    ends.generation_config.eos_token_id = [1, 2]
    assert check.end_tokens(ends, base, PROMPT, SYSTEMS).level == "ok", "the model's own config stops it"
    unended = copy.deepcopy(tokenizer)
    unended.chat_template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
    assert "puts nothing behind an answer" in check.end_tokens(model, unended, PROMPT, SYSTEMS).evidence


def test_the_cache_agrees_with_a_forward_pass_and_a_broken_one_does_not(
    tokenizer: PreTrainedTokenizerFast, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=8, initializer_range=0.3, eos_token_id=tokenizer.eos_token_id, pad_token_id=0,
    )  # fmt: skip
    model = Qwen3ForCausalLM(config).eval()
    assert check.cache(model, tokenizer, [[5, 6, 7], [9, 8]]).level == "ok"
    monkeypatch.setattr(check.LocalSampler, "sample", lambda *_: [Draw([11, 12, 13])])
    assert check.cache(model, tokenizer, [[5, 6, 7]]).level == "red"


def test_pages_of_files_that_come_back_are_no_growth(tmp_path: Path) -> None:
    file = tmp_path / "library"
    file.write_bytes(bytes(64 * 2**20))
    before = own_megabytes()
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as pages:
        assert pages[:: mmap.PAGESIZE].count(b"\0") == 64 * 2**20 // mmap.PAGESIZE  # each page was read
        assert own_megabytes() - before < 8
    held = bytearray(b"x") * (64 * 2**20)
    assert own_megabytes() - before > 56, "what is kept counts"
    del held


@pytest.mark.skipif(not give_back(), reason="this system's allocator gives nothing back")
def test_what_an_allocator_has_free_is_no_growth() -> None:
    """Sixty megabytes of freed blocks, of which one that is kept holds down all."""
    give_back()
    before = own_megabytes()
    blocks = [bytearray(b"x") * 100_000 for _ in range(600)]
    assert own_megabytes() - before > 56
    kept = blocks.pop()
    del blocks
    give_back()
    assert own_megabytes() - before < 8 and len(kept) == 100_000


def test_a_matrix_without_gradient_is_named_and_memory_that_grows_is_red() -> None:
    recorder = Recorder()
    recorder.reached = {"lora_A": True, "lora_B": False}
    assert gradients(recorder, 1.0).level == "red" and "none reached lora_B" in gradients(recorder, 1.0).evidence
    assert gradients(Recorder(), 1.0).level == "red"
    recorder.megabytes = [500.0 + max(0, step - 4) * 0.1 for step in range(20)]
    assert memory(recorder).level == "ok"
    recorder.megabytes = [767, 779, *[804] * 6, 807, 804, 804, 849, *[869] * 6, 890, 890]
    assert memory(recorder).level == "ok", "more was taken, three times"
    recorder.megabytes = [500.0 + 17 * step + 5 * (step % 2) for step in range(20)]
    assert memory(recorder).level == "red", "it is kept, whatever comes and goes beside it"
    recorder.megabytes = [500.0 + 40 * step for step in range(20)]
    assert memory(recorder).level == "red" and "growing by 40.0 MB per step" in memory(recorder).evidence
    recorder.exact = False
    assert memory(recorder).level == "warn" and "allocator has not settled" in memory(recorder).evidence


@pytest.mark.parametrize(("precision", "level"), [(torch.float32, "ok"), (torch.bfloat16, "red")])
def test_an_adapter_rounded_away_is_red(precision: torch.dtype, level: str, tokenizer: PreTrainedTokenizerFast) -> None:
    """In bfloat16 every matrix gets its gradient, and most of A stays as it was to the bit."""
    model = build_model(tokenizer, ModelSettings(nano_hidden=32, nano_layers=2), seed=0)
    adapted = get_peft_model(model, LoraConfig(r=4, target_modules=["q_proj"], init_lora_weights=False))
    recorder, trained = Recorder(), [weight for weight in adapted.parameters() if weight.requires_grad]
    for weight in trained:
        weight.data = weight.data.to(precision)
    before = entries_of_a(adapted)
    optimizer = torch.optim.AdamW(trained, lr=5e-6, weight_decay=0.0)
    for _ in range(5):
        for weight in trained:
            weight.grad = torch.ones_like(weight)
        optimizer.step()
    recorder.reached = {"lora_A": True, "lora_B": True}
    line = gradients(recorder, share_moved(before, entries_of_a(adapted)))
    assert line.level == level and "of the adapter's entries moved" in line.evidence


def test_the_plan_warns_of_many_epochs_few_prompts_and_patience_that_cannot_fire() -> None:
    settings = load_profile(PROJECT, "laptop", ["grpo.max_steps=60", "grpo.eval_steps=15", "grpo.patience=3"])
    prompts = [Prompt(f"{task}{n}", task, "x", "t", "s", "l") for task in settings.tasks for n in range(200)]
    assert set(levels(check.plan(of_preflight(settings, 42), prompts)).values()) == {"ok"}
    few = levels(check.plan(of_preflight(settings, 42), prompts[::10]))
    assert few == {"epochs": "warn", "prompts per task": "warn", "early stopping": "ok"}
    with pytest.warns(UserWarning, match="early stopping cannot fire"):
        late = load_profile(PROJECT, "laptop", ["grpo.patience=4"])
    assert levels(check.plan(of_preflight(late, 42), prompts))["early stopping"] == "warn"


def test_a_check_that_raises_is_red_with_its_fault_and_the_others_are_made(capsys: pytest.CaptureFixture[str]) -> None:
    def view(size: int) -> check.Seen:
        raise RuntimeError(f"view size {size} is not compatible:\nuse reshape")

    table = Table()
    table.ask("key-value cache", view, 4)
    assert table.tried("completions", lambda: 7) == 7
    table.ask("marks", check.Seen, "ok", "a token each")
    first, second = table.checks
    assert (first.name, first.level, first.raised, second.level) == ("key-value cache", "red", True, "ok")
    assert first.evidence == "RuntimeError: view size 4 is not compatible:\nuse reshape"
    raised, fine = capsys.readouterr().out.splitlines()
    assert raised.startswith("RAISED key-value cache     RuntimeError: view size 4 is not compatible: use reshape")
    assert fine.split() == ["OK", "marks", "a", "token", "each"]


@pytest.mark.parametrize(("drawn_by", "right"), [("policy", True), ("base", False), ("another", False)])
def test_a_sampler_without_the_adapter_is_red(drawn_by: str, right: bool, tokenizer: PreTrainedTokenizerFast) -> None:
    """An adapter that moves its answers by some hundredths of a nat hid behind .05: exchanged matrices, or none."""
    policies = {}
    for name, seed in (("policy", 1), ("another", 2)):
        model = build_model(tokenizer, ModelSettings(nano_hidden=32, nano_layers=2), seed=0)
        adapted = get_peft_model(model, LoraConfig(r=4, target_modules=["up_proj", "down_proj"]))
        move(adapted, 0.04, seed)
        policies[name] = adapted.eval()
    policies["base"] = build_model(tokenizer, ModelSettings(nano_hidden=32, nano_layers=2), seed=0).eval()

    class Server:
        def sample(self, policy: Any, prompts: list[list[int]], *_: Any) -> list[Draw]:
            tokens = [[9, 20, 31, 42, 53]] * len(prompts)
            logps = token_logps(policies[drawn_by], prompts, tokens)
            return [Draw(ids, found.tolist()) for ids, found in zip(tokens, logps, strict=True)]

    examiner: Any = SimpleNamespace(tokenizer=tokenizer, system_prompts=SYSTEMS, max_new_tokens=8, sampler=Server())
    found = follows(policies["policy"], examiner, [PROMPT], 1)
    history = [{"loss": 0.1, "sampling/sampling_logp_difference/mean": 0.03}]
    assert found is right and check.sampler(history, found).level == ("ok" if right else "red")
