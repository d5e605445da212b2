"""Our mixin on unsloth's patched trainer gives the losses that it gives on TRL's own.

unsloth rewrites `trl.GRPOTrainer`, so each side is a process of its own. On a CPU it does so only when told; its loader
needs CUDA, so what that puts on a model is put there by hand. Skipped where unsloth is not installed.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_grpo_parity import tiny

pytestmark = [
    pytest.mark.unsloth,
    pytest.mark.skipif(
        importlib.util.find_spec("unsloth") is None, reason='unsloth is not installed (pip install -e ".[gpu]")'
    ),
]
TESTS = Path(__file__).parent
SIDE = """
import json, sys
from pathlib import Path

backend, folder, variant = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
if backend == "unsloth":
    import unsloth
    from unsloth.models.rl import _patch_trl_rl_trainers

    _patch_trl_rl_trainers("grpo_trainer")
import trl
from test_grpo_parity import OFF, ours, settings
from tucano.training import grpo

load = grpo.load_policy

def as_unsloth_loads(*given, **named):
    model, tokenizer = load(*given, **named)
    base = model.get_base_model()
    base.for_training = lambda **_: model.train()
    base.for_inference = lambda **_: model.eval()
    base._unsloth_user_float32 = True  # or a CPU would compute in float16
    return model, tokenizer

grpo.load_policy = as_unsloth_loads
assert ("Unsloth" in trl.GRPOTrainer.__name__) == (backend == "unsloth")
steps, _ = ours(folder, Path.cwd() / backend, settings(**{**OFF, **variant}))
Path(f"{backend}.json").write_text(json.dumps(steps))
"""


def steps_of(backend: str, folder: Path, place: Path, variant: dict[str, object]) -> list[dict[str, float]]:
    """The logged values of each step, from a process in `place`, where unsloth leaves its generated code."""
    path = os.pathsep.join([str(TESTS.parent), str(TESTS), os.environ.get("PYTHONPATH", "")])
    switches = {"UNSLOTH_ALLOW_CPU": "1", "UNSLOTH_COMPILE_DISABLE": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": path}
    command = [sys.executable, "-W", "ignore", "-c", SIDE, backend, str(folder), json.dumps(variant)]
    done = subprocess.run(
        command,
        cwd=place,
        env={**os.environ, **switches},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return json.loads((place / f"{backend}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "variant",
    [
        {},
        {
            "loss": "dapo",
            "iterations": 2,
            "epsilon_high": 0.28,
            "advantages": "gdpo",
            "overlong_tokens": 4,
            "task_weights": "iwu",
        },
    ],
    ids=["on-policy", "off-policy with algorithms"],
)
def test_losses_on_unsloths_trainer_are_those_on_trls(tmp_path: Path, variant: dict[str, object]) -> None:
    """Four steps: in the fifth a pad token happens to be sampled, which unsloth takes for padding, and TRL for a
    token.
    """
    folder = tiny(tmp_path / "tiny")
    four = {"max_steps": 4, "eval_steps": 4, "save_steps": 4}
    plain, patched = (steps_of(backend, folder, tmp_path, {**variant, **four}) for backend in ("trl", "unsloth"))
    assert len(plain) == len(patched) == 4
    for theirs, mine in zip(plain, patched, strict=True):
        assert mine["train/loss"] == pytest.approx(theirs["train/loss"], rel=1e-3, abs=1e-6)
        assert mine["train/grad_norm"] == pytest.approx(theirs["train/grad_norm"], rel=5e-3)
        assert mine["train/entropy"] == pytest.approx(theirs["train/entropy"], rel=0.05), "the alarm is not blind"
