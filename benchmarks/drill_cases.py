"""What the drill trains: configurations that set every field of SftSettings and GrpoSettings to something else than its
default.

Trainings are small, and made so that every step has a gradient: rewards that are drawn by chance differ between any two
completions, and the end token is likely enough that completions end at different lengths.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

STANDIN = "stand-in"
"""In the place of the interpreter with vLLM (benchmarks/vllm_standin.py), which the drill makes."""
PAIRS = "pairs"
"""In the place of the file of pairs, which the drill writes."""
SETTINGS: dict[str, Any] = {
    "data": {"train_prompts": 60, "validation_prompts": 26, "test_prompts": 26, "demonstrations": 60},
    "model": {"nano_hidden": 32, "nano_layers": 1, "nano_vocabulary": 600, "max_length_tokens": 512},
    "sft": {"max_epochs": 2, "batch_size": 8, "learning_rate": 0.003, "eval_steps": 4, "save_steps": 4, "patience": 9},
    "dpo": {
        "max_epochs": 2,
        "batch_size": 8,
        "micro_batch": 4,
        "learning_rate": 0.001,
        "eval_steps": 4,
        "save_steps": 3,
    },
    "grpo": {
        "rewards": "controls.random",
        "seeds": [1],
        "max_steps": 12,
        "batch_size": 8,
        "generations": 4,
        "micro_batch": 8,
        "max_completion_tokens": 24,
        "learning_rate": 0.001,
        "eval_steps": 6,
        "save_steps": 3,
        "patience": 9,
        "validation_samples": 1,
    },
}

Start = Literal["model", "given", "adapter"]


@dataclass(frozen=True)
class Configuration:
    """One row of the table: what differs from `SETTINGS`.

    `start`: the nano model, trained whole; a model that is given, and gets a new adapter; or that model with an adapter
    from SFT. `prompts`: training prompts. `minutes`: checkpoints at least this often. `threads`: what one attempt after
    the other asks for. `remote`: every attempt on an empty machine. `server`: another process draws, the
    stand-in for vLLM. `thinking`: the tasks that are answered after a thought. `task`: whose adapter is trained alone.
    """

    name: str
    kind: Literal["sft", "grpo", "dpo"] = "grpo"
    sft: Mapping[str, Any] = field(default_factory=dict)
    grpo: Mapping[str, Any] = field(default_factory=dict)
    dpo: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    start: Start = "model"
    prompts: int = 60
    minutes: float = 10
    threads: tuple[int, ...] = (1,)
    remote: bool = False
    server: bool = False
    thinking: tuple[str, ...] | None = None
    task: str | None = None

    def settings(self) -> dict[str, Any]:
        """For `validated`; the name of a given model is still missing."""
        sections: dict[str, Mapping[str, Any]] = {
            "sft": self.sft,
            "grpo": self.grpo,
            "dpo": {**self.dpo, "enabled": self.kind == "dpo"},
            "model": self.model,
            "worker": {"checkpoint_minutes": self.minutes, "vllm_python": STANDIN if self.server else None},
        }
        if self.thinking is not None:
            sections["data"] = {"thinking": self.thinking}
        if self.start == "given" and self.kind == "grpo":
            sections["sft"] = {**self.sft, "enabled": False}
        return {**SETTINGS, **{name: {**SETTINGS.get(name, {}), **chosen} for name, chosen in sections.items()}}


CONFIGURATIONS = (
    Configuration("SFT", kind="sft", sft={"schedule": "linear", "warmup_share": 0.2, "min_improvement": 0.01}),
    Configuration(
        "SFT of an adapter, dropout",
        kind="sft",
        start="given",
        sft={"schedule": "constant_with_warmup"},
        model={"lora_dropout": 0.1},
    ),
    Configuration(
        "SFT until it stops by itself",
        kind="sft",
        sft={"eval_steps": 1, "save_steps": 2, "patience": 3, "min_improvement": 0.9},
    ),
    Configuration("SFT, every attempt on an empty machine", kind="sft", remote=True),
    Configuration("gradient accumulation 2", grpo={"micro_batch": 4}),
    Configuration(
        "iterations 2 by sequence, clip-higher",
        grpo={
            "iterations": 2,
            "importance_sampling": "sequence",
            "loss": "grpo",
            "epsilon": 0.01,
            "epsilon_high": 0.02,
        },
    ),
    Configuration("rollouts for 4 steps", grpo={"rollout_steps": 4}),
    Configuration("several epochs (6 steps each)", prompts=13),
    Configuration("dropout .1", model={"lora_dropout": 0.1}, grpo={"rewards": "grounded", "entropy_coef": 0.05}),
    Configuration("checkpoints by time alone", grpo={"save_steps": 12}, minutes=0.003),
    Configuration("evaluation every step", grpo={"eval_steps": 1, "rewards": "controls.length"}),
    Configuration(
        "until it stops by itself", grpo={"eval_steps": 1, "save_steps": 2, "patience": 5, "selection": "truth"}
    ),
    Configuration(
        "epochs, accumulation 2, iterations 2, dropout",
        grpo={"micro_batch": 4, "iterations": 2},
        model={"lora_dropout": 0.1},
        prompts=9,
    ),
    Configuration("KL penalty", grpo={"beta": 0.04, "micro_batch": 4, "iterations": 2, "advantages": "batch"}),
    Configuration(
        "admitted prompts",
        grpo={
            "rewards": "controls.random",
            "admission": {"low": 0.05, "high": 0.95, "samples": 2},
            "validation_decoding": "served",
        },
    ),
    Configuration(
        "KL penalty from an SFT adapter", grpo={"beta": 0.04, "validation_decoding": "sampled"}, start="adapter"
    ),
    Configuration(
        "a new adapter on a given model, without SFT",
        grpo={"advantages": "median", "schedule": "linear"},
        start="given",
    ),
    Configuration(
        "adaptive entropy, dapo",
        grpo={
            "entropy_coef": 0.03,
            "entropy_target": 5.76,  # about the entropy itself, so that the coefficient goes both ways
            "entropy_delta": 0.01,
            "entropy_coef_max": 0.09,
            "loss": "dapo",
            "micro_batch": 2,
        },
    ),
    Configuration(
        "entropy bonus, accumulation 4",
        grpo={"rewards": "controls.format", "entropy_coef": 0.05, "micro_batch": 2, "temperature": 0.8},
    ),
    Configuration(
        "task weights, refill, entropy target, length stages",
        grpo={
            "rewards": "controls.format",  # groups without a difference are common, so that the reserve is drawn from
            "task_weights": "iwu",
            "task_weights_rate": 0.1,
            "task_weights_balance": 0.5,
            "task_weights_floor": 0.3,
            "entropy_advantages": True,
            "drop_zero_variance": True,
            "refill_rounds": 2,
            "entropy_target": 7.0,  # above the entropy, so that the bonus is paid
            "overlong_tokens": 4,
            "overlong_weight": 0.3,
            "length_stages": [[0, 12], [6, 24]],
            "micro_batch": 4,
            "iterations": 2,
        },
        prompts=13,
    ),
    Configuration(
        "an advantage per field",
        grpo={
            "rewards": "grounded",  # nano earns none yet: the entropy bonus is what moves it
            "advantages": "group",
            "block_advantages": True,
            "entropy_coef": 0.05,
            "micro_batch": 4,
        },
    ),
    Configuration(
        "think efficiency",
        grpo={"think_weight": 0.5, "max_think_tokens": 12, "micro_batch": 4},
        thinking=("push", "extraction"),
        prompts=13,
    ),
    Configuration(
        "conditions, spread floor",
        grpo={
            "rewards": "v4.2",
            "conditions": [{"component": "insights.length", "needs": "insights.structure", "at_least": 0.2}],
            "std_floor": 0.01,
            "temperature": 1.6,
        },
    ),
    Configuration(
        "truncated completions masked, cosine, as TRL computes it",
        grpo={
            "mask_truncated": True,
            "schedule": "cosine",
            "warmup_share": 0.3,
            "max_grad_norm": 0.1,
            "advantages": "group",
            "own_decoding": False,
        },
    ),
    Configuration(
        "DPO after GRPO, accumulation 2",
        kind="dpo",
        start="adapter",
        dpo={"beta": 0.3, "schedule": "constant_with_warmup", "warmup_share": 0.3, "patience": 9, "max_grad_norm": 0.5},
    ),
    Configuration(
        "DPO in bfloat16, every attempt on an empty machine",
        kind="dpo",
        start="adapter",
        model={"dtype": "bfloat16"},
        remote=True,
    ),
    Configuration(
        "DPO of people's pairs alone, until it stops by itself",
        kind="dpo",
        start="adapter",
        dpo={"ranked": False, "pairs": PAIRS, "schedule": "cosine", "eval_steps": 1, "patience": 3},
    ),
    Configuration("the adapter of one task", grpo={"adapters": "per_task"}, task="push"),
    Configuration("bfloat16", model={"dtype": "bfloat16"}, grpo={"max_steps": 6, "temperature": 1.2}),
    Configuration("attempts that ask for other numbers of threads", threads=(2, 1, 3)),
    Configuration(
        "uploads after every step, every attempt on an empty machine",
        grpo={"rewards": "grounded", "entropy_coef": 0.05, "save_steps": 1, "eval_steps": 3},
        remote=True,
    ),
    Configuration(
        "draws from a server (a stand-in for vLLM), refill",
        grpo={
            "sampler": "vllm",
            "rewards": "controls.format",
            "drop_zero_variance": True,
            "refill_rounds": 1,
            "entropy_coef": 0.05,
        },
        server=True,
    ),
)
