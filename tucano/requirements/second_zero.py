"""What can be known of a run before its first stage: one list of checks, for the command, `tucano doctor` and the flow.

What a single section of the settings can refuse by itself, it does (tucano/settings/): batches that do not divide,
groups of one, patience that cannot fire. What needs the loaded model is in the preflight. Here is what is between:
settings against each other, against the model's shape, and against this machine and its surroundings.
"""

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from tucano.artifacts.lineage import unpinned
from tucano.bases.asking import Fault, at_hand, has, lacks_marks, require_speaking, shares_a_token, suited
from tucano.bases.folders import require_model
from tucano.chat_templates import changes_a_thought, closes_a_thought, opens_a_thought
from tucano.errors import UserError
from tucano.preferences import read_answer_pairs
from tucano.requirements.machine import require_device
from tucano.requirements.memory import require_memory
from tucano.requirements.shapes import shape_of
from tucano.security.printable import short
from tucano.settings import PipelineSettings
from tucano.truth.judge import own_judges

Check = Callable[[PipelineSettings], Iterator[str]]
FAILS_BY_DESIGN = "v4.2"
"""The predecessor's rewards, kept as they were; the committed ratings find what was wrong with them."""
LOOKS_OF_TREND = 3
INTERPRETER_SECONDS = 60
"""It starts within a second; from a cold disk or over a network it takes longer."""
LEAST_PROMPT_TOKENS = 64
"""Of a prompt at least: none is shorter with its system prompt (assumed)."""


def refusals(settings: PipelineSettings) -> list[str]:
    """One sentence each: what, where, how to mend it. Any of them ends the run before it begins."""
    return [sentence for check in REFUSING for sentence in check(settings)]


def warnings_of(settings: PipelineSettings) -> list[str]:
    return [sentence for check in WARNING for sentence in check(settings)]


def require_usable_model(settings: PipelineSettings) -> None:
    """UserError with the first thing that refuses a run wherever it would compute."""
    _require(REFUSING_MODELS, settings)


def require_startable(settings: PipelineSettings) -> None:
    """UserError with the first thing that would end this run later, or make it worthless."""
    if settings.execution.computes_here:
        require_device(settings.model)
    _require(REFUSING, settings)
    if settings.execution.computes_here:
        require_memory(settings)


def _require(checks: Sequence[Check], settings: PipelineSettings) -> None:
    for check in checks:  # later ones read what an earlier one has found to be whole
        for sentence in check(settings):
            raise UserError(sentence)


def _has_a_server(settings: PipelineSettings) -> Iterator[str]:
    if os.environ.get("PREFECT_API_URL"):
        return
    execution = settings.execution
    for name, deployment, what in (
        ("seeds", execution.seeds, "train the seeds"),
        ("stages", execution.stages, "do them"),
    ):
        if deployment is not None:
            yield (
                f"execution.{name}={deployment} needs a Prefect server that stays: start one with tucano up and name it"
                f" in PREFECT_API_URL (docs/operations.md), or {what} in this run with --set execution.{name}=null"
            )


def _base_is_pinned(settings: PipelineSettings) -> Iterator[str]:
    name = settings.model.name
    unknown = unpinned(name, settings.model.revision)
    if unknown is not None:
        if name.startswith(("/", ".", "~")) or name.count("/") > 1:
            yield f"there is no folder {name}; name one that holds a model, or a hub model as OWNER/NAME"
            return
        yield (
            f"{name} is no local folder, and {unknown}: what is trained on it can never be promoted, and it may change"
            " between two attempts; name the commit with --set model.revision=COMMIT"
            f" (git ls-remote https://huggingface.co/{name} says it)"
        )


def _is_whole_and_speaks(settings: PipelineSettings) -> Iterator[str]:
    model = settings.model
    try:
        require_model(model.place)
        require_speaking(model.name, model.place, model.revision, model.chat_template)
    except UserError as error:
        yield str(error)


def _thinks_where_it_shall_not(settings: PipelineSettings) -> Iterator[str]:
    """Red in the preflight, which comes after SFT."""
    if settings.data.thinking is not None:
        yield from _opens_thoughts(settings)


def _thinks_though_nobody_asked(settings: PipelineSettings) -> Iterator[str]:
    if settings.data.thinking is None:
        yield from _opens_thoughts(settings)


def _opens_thoughts(settings: PipelineSettings) -> Iterator[str]:
    thinking = settings.data.thinking
    if {*settings.tasks} <= {*(thinking or ())}:
        return
    if _template_has(settings, lambda render, _: opens_a_thought(render, thinking is not None)):
        yield (
            f"{_whose_template(settings)} opens a thought before every answer, also where data.thinking names no task"
            f" for one, and an answer may never come; {_another_template(settings)}"
        )


def _thinks_as_asked(settings: PipelineSettings) -> Iterator[str]:
    if not settings.data.thinking:
        return
    if _template_has(settings, lambda render, _: closes_a_thought(render)):
        yield (
            f"{_whose_template(settings)} closes the thought before an answer, also of the tasks that data.thinking"
            f" names; {_another_template(settings)}, or data.thinking=null"
        )
    elif settings.sft.enabled and _template_has(settings, lambda render, _: changes_a_thought(render)):
        yield (
            f"{_whose_template(settings)} does not write a thought once, behind what opens it, so SFT would teach other"
            f" thoughts than data.thinking asks for; {_another_template(settings)}, or sft.enabled=false"
        )


def _prefers_what_is_asked(settings: PipelineSettings) -> Iterator[str]:
    if settings.dpo.enabled and _template_has(settings, shares_a_token):
        yield (
            f"by {_whose_template(settings)} a prompt's last token goes on into the answer, so dpo.enabled=true would"
            f" learn from answers to another prompt than is asked; {_another_template(settings)}, or dpo.enabled=false"
        )


def _has_marks_of_a_thought(settings: PipelineSettings) -> Iterator[str]:
    model = settings.model
    if settings.data.thinking is None:
        return
    if lost := lacks_marks(model.name, model.place, model.revision):
        yield (
            f"data.thinking needs a token for each mark of a thought, and {model.name} has none, or one that decoding"
            f" leaves out, for {' and '.join(lost)}: this model cannot think; set data.thinking=null, or choose another"
        )


def _template_has(settings: PipelineSettings, fault: Fault) -> bool:
    model = settings.model
    return has(fault, model.name, model.place, model.revision, model.chat_template)


def _another_template(settings: PipelineSettings) -> str:
    model = settings.model
    return f"set model.chat_template={suited(at_hand(model.place, model.revision), 'chatml-think')}"


def _whose_template(settings: PipelineSettings) -> str:
    return "the model's own chat template" if settings.model.chat_template is None else "model.chat_template"


def _can_load_four_bits(settings: PipelineSettings) -> Iterator[str]:
    elsewhere = settings.worker.python is not None or not settings.execution.computes_here
    if settings.model.quantization != "nf4" or elsewhere:
        return
    if importlib.util.find_spec("bitsandbytes") is None:
        yield (
            "model.quantization=nf4 needs bitsandbytes, which is not installed here: pip install -c constraints.txt"
            " bitsandbytes"
        )


@cache
def has_module(python: str, module: str) -> bool:
    """Whether this program is a Python that finds the module, and not only because it is asked from a folder that holds
    one; asked once. It says so in words: /bin/true succeeds at everything.
    """
    if shutil.which(python) is None:
        return False
    question = (  # instead of the option -P, which Python has from 3.11 on: vLLM's may be older
        "import sys; sys.path = [place for place in sys.path if place]; import importlib.util;"
        f" print(importlib.util.find_spec({module!r}) is not None)"
    )
    try:
        asked = subprocess.run(
            [python, "-c", question],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=INTERPRETER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return asked.stdout.split()[-1:] == ["True"]


def has_own_interpreter(settings: PipelineSettings) -> Iterator[str]:
    """Where all models are elsewhere, the path is that of their machine."""
    python = settings.worker.python
    if python is not None and settings.execution.computes_here and not has_module(python, "tucano"):
        yield (
            f"worker.python={python} is no interpreter that finds tucano: install this project there (docs/gpu.md), or"
            " leave it empty for the one that runs this command"
        )


def _has_a_vllm_interpreter(settings: PipelineSettings) -> Iterator[str]:
    """Where all models are elsewhere, the path is that of their machine."""
    python = settings.worker.vllm_python
    if settings.grpo.sampler != "vllm" or python is None or not settings.execution.computes_here:
        return
    if not has_module(python, "vllm"):
        yield f"worker.vllm_python={python} is no interpreter that finds vLLM; docs/gpu.md says how to make one"


def _lengths_fit(settings: PipelineSettings) -> Iterator[str]:
    longest = settings.model.max_length_tokens
    answer = settings.grpo.max_completion_tokens
    if longest - answer < LEAST_PROMPT_TOKENS:
        yield (
            f"grpo.max_completion_tokens={answer} leaves {max(0, longest - answer)} tokens for a prompt in"
            f" model.max_length_tokens={longest}; raise the latter to {answer + LEAST_PROMPT_TOKENS} at least"
        )
    shape = shape_of(settings.model)
    context = shape.max_position_embeddings if shape else None
    if context is not None and longest > context:
        yield f"model.max_length_tokens={longest} is beyond the {context} positions of {settings.model.name}; lower it"


def _has_demonstrations(settings: PipelineSettings) -> Iterator[str]:
    if settings.sft.enabled and settings.data.demonstrations == 0:
        yield (
            "sft.enabled=true and data.demonstrations=0: there is nothing to tune on; raise the latter, or start GRPO"
            " from the base with --set sft.enabled=false"
        )


def _mixes_into_something(settings: PipelineSettings) -> Iterator[str]:
    if settings.data.general.share and not (settings.sft.enabled and settings.data.demonstrations):
        yield (
            f"data.general.share={settings.data.general.share:g} is a share of the demonstrations of SFT, and this run"
            " has none: set it to 0, or sft.enabled=true and data.demonstrations"
        )


def _data_is_there(settings: PipelineSettings) -> Iterator[str]:
    for path in (*settings.data.paths, settings.data.general.path):
        if path and "://" not in path and not os.path.lexists(path):
            yield f"data: there is nothing at {short(path)}; put it there, or name another place"


def _judge_is_one(settings: PipelineSettings) -> Iterator[str]:
    path = settings.data.judge
    if path is None:
        return
    try:
        own_judges(Path(path))
    except (OSError, ValueError) as error:
        yield f"data.judge={short(path)} holds no judges: {short(str(error))}; make one: tucano judge fit --to FILE"


def _has_pairs(settings: PipelineSettings) -> Iterator[str]:
    dpo = settings.dpo
    if not dpo.enabled or dpo.pairs is None:
        return
    try:
        read_answer_pairs(Path(dpo.pairs))
    except UserError as error:
        yield f"dpo.pairs={dpo.pairs} gives nothing to learn from: {error}"


def _has_the_teachers_key(settings: PipelineSettings) -> Iterator[str]:
    """Where the seeds are trained elsewhere, it is in that machine's environment."""
    name = settings.grpo.teacher and settings.grpo.teacher.endpoint.key_env
    if name and settings.execution.computes_here and not os.environ.get(name, "").strip():
        yield f"grpo.teacher needs the environment variable {name}, which is not set; export it first"


def _rewards_pass_the_audit(settings: PipelineSettings) -> Iterator[str]:
    """Others may fail as well: the gate itself takes seconds and stands before SFT. This one is known without it."""
    own = settings.audit.ratings is not None
    if settings.grpo.rewards == FAILS_BY_DESIGN and not own and settings.audit.override_by is None:
        yield (
            f"grpo.rewards={FAILS_BY_DESIGN} fails the audit by design, and the run will end there, before SFT; to go"
            ' on, sign for it: --set audit.override_by=NAME --set audit.override_reason="WHY"'
        )


def _alarms_can_fire(settings: PipelineSettings) -> Iterator[str]:
    """Some alarms compare several looks or steps; a run too short for them is watched by the others alone."""
    steps = settings.grpo.max_steps
    window = settings.health.window
    looks = 1 + -(-steps // settings.grpo.eval_steps)
    if looks < LOOKS_OF_TREND and steps > window:  # one as short as that is only tried
        yield (
            f"the alarms policy_still and collapse need {LOOKS_OF_TREND} looks at the validation set and this run has"
            f" {looks}; lower grpo.eval_steps={settings.grpo.eval_steps}"
        )
    if 0 < steps < window:
        yield (
            f"the alarms no_signal, entropy_gone and at_ceiling need health.window={window} steps and this run has"
            f" grpo.max_steps={steps}; lower the former"
        )


REFUSING_MODELS: tuple[Check, ...] = (
    _base_is_pinned,
    _is_whole_and_speaks,
    _thinks_where_it_shall_not,
    _has_marks_of_a_thought,
    _thinks_as_asked,
    _prefers_what_is_asked,
    _lengths_fit,
    _has_demonstrations,
    _mixes_into_something,
)
REFUSING: tuple[Check, ...] = (
    _has_a_server,
    *REFUSING_MODELS,
    _can_load_four_bits,
    has_own_interpreter,
    _has_a_vllm_interpreter,
    _data_is_there,
    _judge_is_one,
    _has_pairs,
    _has_the_teachers_key,
)
WARNING: tuple[Check, ...] = (_rewards_pass_the_audit, _alarms_can_fire, _thinks_though_nobody_asked)
