"""The single checks of the preflight: each looks at one thing that has ruined a run, and says what it saw."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from transformers import PreTrainedTokenizerBase, TrainingArguments, get_scheduler

from tucano.chat_templates import lost_marks
from tucano.prompts import TASKS, Prompt, messages
from tucano.settings.training.grpo import PreflightStage
from tucano.settings.training.preflight import SIGNALS
from tucano.thoughts import CLOSE, OPEN, bare, can_think, thinks, without_an_empty_one
from tucano.training.merge import LARGEST_MEAN, limit
from tucano.training.policies.chat import stop_tokens
from tucano.training.policies.load import Policy
from tucano.training.rollouts.examiner import ScoredCompletion
from tucano.training.samplers import Decoding
from tucano.training.samplers.local import LocalSampler

Level = Literal["ok", "warn", "red"]
CACHED_TOKENS = 16
CUT_OFF_WARN, CUT_OFF_RED = 0.1, 0.3
LIVE_WARN, LIVE_RED = 0.5, 0.1
"""Share of groups whose completions differ in reward. Below a tenth a task trains on almost nothing."""
FEWEST_PROMPTS, MOST_EPOCHS = 150, 1.5
LARGEST_GAP = 0.05
"""Nats per token between sampler and trainer. The same weights in float32 differ by 4e-6 on a CPU, in bfloat16 by some
thousandths; another policy by tenths.
"""
FARTHEST_QUANTISED = 0.2
"""Nats per token (assumed: four times what a merge may do). Beyond it another model is served than was judged."""
ANSWER = "RESPOSTA"
"""What stands for an answer where the chat template is looked at."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a check found; red stops the pipeline. `evidence` says what was seen and, if not ok, how to mend it."""

    level: Level
    evidence: str


def graded(level: Level, seen: str, mend: str) -> Seen:
    """`mend` is said where it is not ok."""
    return Seen(level, seen if level == "ok" else f"{seen}; {mend}")


def plan(settings: PreflightStage, prompts: Sequence[Prompt]) -> dict[str, Seen]:
    """Steps, epochs, evaluations, patience and saving: arithmetic that contradicts itself wastes the run."""
    grpo = settings.grpo
    per_step = grpo.batch_size // grpo.generations
    counts = {task: sum(prompt.task == task for prompt in prompts) for task in settings.tasks}
    seen = min(counts.values()) if settings.adapters == "per_task" else len(prompts)  # the fewest of a training
    epochs = grpo.max_steps * per_step / (max(1, seen) * grpo.iterations)
    few = [f"{task} {count}" for task, count in counts.items() if count < FEWEST_PROMPTS]
    looks = math.ceil(grpo.max_steps / grpo.eval_steps)
    fires = not grpo.max_steps or grpo.patience * grpo.eval_steps < grpo.max_steps
    return {
        "epochs": Seen(
            "warn" if epochs > MOST_EPOCHS else "ok",
            f"{grpo.max_steps} steps of {per_step} prompts x {grpo.generations} completions over {seen}"
            f" prompts: {epochs:.2f} epochs",
        ),
        "prompts per task": Seen("warn", f"fewer than {FEWEST_PROMPTS} training prompts: {', '.join(few)}")
        if few
        else Seen("ok", f"at least {FEWEST_PROMPTS} of every task"),
        "early stopping": graded(
            "ok" if fires else "warn",
            f"{looks} evaluations every {grpo.eval_steps} steps, patience {grpo.patience}, each new best saved at its"
            " evaluation",
            "it cannot fire before the end: lower grpo.patience or grpo.eval_steps",
        ),
    }


def learning_rate(arguments: TrainingArguments, steps: int) -> Seen:
    """The schedule that the trainer itself would use, read off at 25, 50, 75 and 100 % of the run."""
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([parameter], lr=arguments.learning_rate)
    scheduler = get_scheduler(
        arguments.lr_scheduler_type,
        optimizer,
        num_warmup_steps=arguments.get_warmup_steps(steps),
        num_training_steps=arguments.max_steps,
    )
    factor = scheduler.lr_lambdas[0]
    rates = [arguments.learning_rate * factor(min(steps - 1, round(steps * share))) for share in (0.25, 0.5, 0.75, 1.0)]
    middle = range(max(1, steps // 5), steps * 4 // 5)  # warm-up begins at 0
    gone = min(map(factor, middle), default=1.0) < 0.01
    seen = f"at 25, 50, 75, 100 % of the run: {', '.join(f'{rate:.2g}' for rate in rates)}"
    mend = "it is gone before four fifths of the run: look at grpo.schedule and grpo.max_steps"
    return graded("red" if gone else "ok", seen, mend)


def generation(config: Any, shipped: Any, settings: PreflightStage) -> Seen:
    """What rollouts really sample with, against the settings and against the model's own generation_config."""
    wanted = {
        "temperature": settings.grpo.temperature,
        "top_p": 1.0,
        "top_k": 0,
        "repetition_penalty": 1.0,
        "do_sample": True,
    }
    found = {name: getattr(config, name, None) for name in wanted}
    neutral = {"top_p": (None, 1.0), "top_k": (None, 0), "repetition_penalty": (None, 1.0)}
    wrong = [
        name for name, value in wanted.items() if found[name] != value and found[name] not in neutral.get(name, ())
    ]
    model_own = {name: getattr(shipped, name, None) for name in wanted}
    differing = [
        f"{name}={value}"
        for name, value in model_own.items()
        if value not in (None, wanted[name], *neutral.get(name, ()))
    ]
    note = f"; the model's own generation_config says {', '.join(differing)} and is not used" if differing else ""
    if wrong:
        shown = ", ".join(f"{name} is {found[name]}, not {wanted[name]}" for name in wrong)
        return Seen("red", f"rollouts would sample with other parameters than the settings': {shown}{note}")
    return Seen("ok", f"temperature {settings.grpo.temperature}, no top-p, top-k or repetition penalty{note}")


def tokenizers(examiners: PreTrainedTokenizerBase | None, trainers: PreTrainedTokenizerBase) -> Seen:
    """Evaluations have a tokenizer of their own; one that gets lost shows at the first evaluation only."""
    if examiners is None or examiners.get_vocab() != trainers.get_vocab():
        found = "none" if examiners is None else f"one of {len(examiners)} tokens"
        return Seen(
            "red", f"evaluations have {found}, the trainer has one of {len(trainers)} tokens: hand both the same"
        )
    return Seen("ok", f"{len(trainers)} tokens, the same for training and evaluation")


def template(tokenizer: PreTrainedTokenizerBase, prompt: Prompt, systems: Mapping[str, str]) -> dict[str, Seen]:
    """The generation prompt must begin the finished conversation, and open no thought of a task that has none."""
    chat = messages(prompt, dict(systems))
    try:
        opened = str(tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False))
        on_another_day = {"add_generation_prompt": True, "tokenize": False, "strftime_now": lambda _: "1999-12-31"}
        then = str(tokenizer.apply_chat_template(chat, **on_another_day))
        closed = _answered(tokenizer, chat)
    except Exception as fault:  # templates are programs of others (jinja2) and fail in many ways; each is a finding
        return {"chat template": Seen("red", f"it cannot be rendered: {type(fault).__name__}: {fault}")}
    prefix = closed.startswith(opened)
    before = (opened, closed.partition(ANSWER)[0])  # an empty thought there says: answer at once
    opens = any(OPEN in without_an_empty_one(text) for text in before) and not thinks(systems[prompt.task])
    kept = all(bare(part["content"]).strip() in opened for part in chat)  # a template may heed the switch itself
    dated = opened != then
    mend = "the template opens a thought, from which no answer may come; model.chat_template=chatml-think closes it"
    return {
        "chat template": Seen(
            "red" if not (prefix and kept) else "warn" if dated else "ok",
            f"ends with {opened[-40:]!r}"
            + ("" if prefix else "; training would see another opening than generation")
            + ("" if kept else "; it drops the system prompt or the question: set model.chat_template=chatml")
            + ("; it writes the date, so tomorrow's prompts are others: write a fixed one into it" if dated else ""),
        ),
        "think block": Seen("red" if can_think(systems) else "warn", mend) if opens else Seen("ok", "none is opened"),
    }


def _answered(tokenizer: PreTrainedTokenizerBase, chat: list[dict[str, str]]) -> str:
    return str(tokenizer.apply_chat_template([*chat, {"role": "assistant", "content": ANSWER}], tokenize=False))


def end_tokens(policy: Policy, tokenizer: PreTrainedTokenizerBase, prompt: Prompt, systems: Mapping[str, str]) -> Seen:
    """Padding apart from the end token, both inside the model's vocabulary; and what the chat template puts behind an
    answer has an end token, or a model that is shown it never stops.
    """
    size = policy.get_input_embeddings().weight.shape[0]
    ends, pad = stop_tokens(policy, tokenizer), tokenizer.pad_token_id
    shown = f"pad {pad}, end {ends}, vocabulary {size}"
    bad = [token for token in (*ends, pad) if token is None or token >= size]
    if not ends or pad in ends or bad:
        return Seen("red", f"{shown}; they must differ and lie below {size}: mend the tokenizer")
    behind = _answered(tokenizer, messages(prompt, dict(systems))).rpartition(ANSWER)[2]
    if not set(ends) & set(tokenizer.encode(behind, add_special_tokens=False)):
        put = f"ends a turn with {behind!r}, and no end token is in it" if behind else "puts nothing behind an answer"
        return Seen(
            "red",
            f"{shown}; the chat template {put}, so the model never stops: set eos_token of tokenizer_config.json to the"
            " token that ends a turn, and let the template write it",
        )
    return Seen("ok", shown)


def context(prompts: Sequence[int], positions: int | None, longest: int, ceiling: int) -> Seen:
    """The longest of the prompts (tokens of each) and an answer at the ceiling, against settings and model."""
    short = positions is not None and positions < longest
    name = f"the model's {positions} positions" if short else f"model.max_length_tokens={longest}"
    fits = max(prompts) + ceiling <= min(longest, positions or longest)
    mend = "lower grpo.max_completion_tokens, or raise model.max_length_tokens up to the model's own"
    shown = f"the longest prompt and its answer take {max(prompts)} + {ceiling} tokens, {name}"
    return graded("ok" if fits else "red", shown, mend)


def quantisation(distance: float) -> Seen:
    """How far the base in 4 bits is from the full one (nats per token), which an adapter is merged into at the end."""
    level: Level = "ok" if distance <= LARGEST_MEAN else "warn" if distance <= FARTHEST_QUANTISED else "red"
    shown = f"with the adapter off the 4-bit base is {distance:.3f} nats per token from the full one"
    shown += f"; a merge may differ by {limit(distance):.3f}"
    return graded(level, shown, "model.quantization=none has no such distance, for more memory")


def lengths(
    completions: Sequence[ScoredCompletion],
    ceiling: int,
    tokenizer: PreTrainedTokenizerBase,
    demonstrated: Sequence[int] = (),
) -> Seen:
    """How many completions the ceiling cuts off. demonstrated: tokens of demonstrations."""
    sizes = sorted(len(completion.tokens) for completion in completions)
    cut = sum(completion.truncated for completion in completions) / len(completions)
    level: Level = "red" if cut > CUT_OFF_RED else "warn" if cut > CUT_OFF_WARN else "ok"
    mend = "raise grpo.max_completion_tokens"
    if cut == 1 and max(demonstrated, default=0) < ceiling:
        mend = _endless(completions, tokenizer, demonstrated)
    shown = f"median {sizes[len(sizes) // 2]}, 95 % below {sizes[math.ceil(0.95 * len(sizes)) - 1]}, ceiling {ceiling}"
    return graded(level, f"{shown}, {cut:.0%} of {len(completions)} cut off", mend)


def _endless(
    completions: Sequence[ScoredCompletion], tokenizer: PreTrainedTokenizerBase, demonstrated: Sequence[int]
) -> str:
    """Where nothing ends by itself: the model is not stopped at what it ends with, which its answers then hold."""
    marks = {number: token.content for number, token in tokenizer.added_tokens_decoder.items() if token.special}
    held = Counter(marks[token] for answer in completions for token in {*answer.tokens} & {*marks}).most_common(1)
    though = f", though demonstrations have at most {max(demonstrated)} tokens" if demonstrated else ""
    mark = "".join(f": {count} of them go on after {name!r}, set eos_token to that" for name, count in held)
    return f"none ends by itself{though}{mark or '; raise grpo.max_completion_tokens, or mend eos_token'}"


def thoughts(completions: Sequence[ScoredCompletion], most: int | None) -> Seen:
    """How many thoughts cost their answer: not closed at the ceiling, or longer than allowed."""
    sizes = sorted(completion.think_tokens for completion in completions)
    cut = sum(completion.thought_cut for completion in completions) / len(completions)
    level: Level = "red" if cut > CUT_OFF_RED else "warn" if cut > CUT_OFF_WARN else "ok"
    mend = "raise grpo.max_think_tokens and grpo.max_completion_tokens, or show shorter thoughts in demonstrations"
    shown = f"median {sizes[len(sizes) // 2]} tokens, at most {most or 'what a completion may have'}"
    return graded(level, f"{shown}, {cut:.0%} of {len(completions)} cost their answer", mend)


def marks(tokenizer: PreTrainedTokenizerBase) -> Seen:
    """The marks of a thought must be a token each, which decoding keeps: else none is counted or taken off."""
    lost = lost_marks(tokenizer)
    if lost:
        return Seen(
            "red",
            f"{' and '.join(lost)} is no token of its own, or a special one that decoding leaves out: this model cannot"
            " think; set data.thinking=null",
        )
    return Seen("ok", f"{OPEN} and {CLOSE} are a token each")


def finite(history: Sequence[Mapping[str, float]]) -> Seen:
    """Loss and gradient norm of every step of the rehearsal."""
    steps = [row for row in history if "loss" in row]
    bad = [int(row["step"]) for row in steps if not (math.isfinite(row["loss"]) and math.isfinite(row["grad_norm"]))]
    if bad:
        return Seen("red", f"loss or gradient is NaN or infinite from step {bad[0]} on: lower grpo.learning_rate")
    return Seen("ok", f"loss and gradient of {len(steps)} steps")


def sampler(history: Sequence[Mapping[str, float]], follows: bool) -> Seen:
    """Do the draws of another process come from the policy that is trained, at every step of the rehearsal? follows:
    whether they are nearer to it than to its base, which a small adapter leaves within any limit.
    """
    gaps = [row["sampling/sampling_logp_difference/mean"] for row in history if "loss" in row]
    seen = f"sampler and trainer differ by at most {max(gaps):.2g} nats per token, in the mean of a step"
    if max(gaps) > LARGEST_GAP:
        return Seen("red", f"{seen}, above {LARGEST_GAP}: it draws from other weights; compare model.dtype and base")
    if not follows:
        return Seen("red", f"{seen}, as much as the base: it lacks the trained adapter")
    return Seen("ok", seen)


def signal(completions: Sequence[ScoredCompletion], generations: int, rewards_count: bool = True) -> dict[str, Seen]:
    """Per task: do completions of one prompt differ, in text and in reward, and how finely does the reward tell them
    apart? rewards_count: whether anything is learned from rewards, and not from a teacher alone.
    """
    groups = [completions[index : index + generations] for index in range(0, len(completions), generations)]
    found = {}
    for task in TASKS:
        mine = [group for group in groups if group[0].prompt.task == task]
        if not mine:
            continue
        live = sum(len({round(completion.score.total, 6) for completion in group}) > 1 for group in mine) / len(mine)
        texts = sum(len({completion.text for completion in group}) for group in mine) / sum(map(len, mine))
        levels = len({round(completion.score.total, 6) for group in mine for completion in group})
        highest = max(sum(completion.score.components.values()) for group in mine for completion in group)
        seen = (
            f"{live:.0%} of {len(mine)} groups differ in reward, {levels} different rewards, {texts:.0%} different"
            f" texts, up to {highest:.2f}"
        )
        level: Level = "ok" if live >= LIVE_WARN else "warn"
        mend = "raise grpo.generations or grpo.temperature"
        if not rewards_count:
            mend = "the teacher alone teaches, and rewards only choose the checkpoint"
        elif live < LIVE_RED:
            level, mend = "red", "there is almost nothing to learn from: use a finer reward, or another temperature"
        if highest > 1 + 1e-6:
            level, mend = "red", "components add up to more than 1: mend the weights"
        found[SIGNALS[task]] = graded(level, seen, mend)
    return found


@torch.no_grad()
def cache(policy: Policy, tokenizer: PreTrainedTokenizerBase, prompt_ids: Sequence[Sequence[int]]) -> Seen:
    """Greedy tokens decoded with a key-value cache must be the most likely ones of a forward pass without it."""
    greedy = Decoding(CACHED_TOKENS, 0.0, tuple(stop_tokens(policy, tokenizer)))
    draws = [LocalSampler().sample(policy, [ids], greedy, torch.Generator())[0] for ids in prompt_ids]
    worst = 0.0
    for ids, drawn in zip(prompt_ids, (draw.tokens for draw in draws), strict=True):
        sequence = torch.tensor([[*ids, *drawn]], device=policy.device)
        logits = policy(input_ids=sequence, use_cache=False).logits[0, len(ids) - 1 : -1].float()
        chosen = logits.gather(1, torch.tensor(drawn, device=logits.device).unsqueeze(1)).squeeze(1)
        worst = max(worst, (logits.max(dim=1).values - chosen).max().item())
    limit = 1e-3 if next(policy.parameters()).dtype == torch.float32 else 0.25
    seen = f"greedy tokens lose at most {worst:.2g} nats to those without a cache"
    mend = "the cache changes what the model says (padding, positions or attention mask)"
    return graded("ok" if worst <= limit else "red", seen, mend)
