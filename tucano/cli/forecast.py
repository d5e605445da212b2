"""`tucano forecast PROFILE`: memory, time and dollars of a run before it starts."""

import math
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from data.general import elsewhere_of
from data.prepare import prepare
from tucano.errors import UserError
from tucano.requirements import cores
from tucano.requirements.machine import seeds_side_by_side
from tucano.requirements.machines import GIBIBYTE, MACHINES, names_gpu
from tucano.requirements.memory import needs, shown
from tucano.requirements.second_zero import has_own_interpreter, require_usable_model
from tucano.settings import PipelineSettings
from tucano.settings.stages import of_data
from tucano.training.launch import run_job
from tucano.training.orders import JobFolders, order

if TYPE_CHECKING:
    from tucano.training.foresight.forecast import Forecast

TIME_FACTOR = 2
"""Of a GPU's time: the predecessor's steps took 1.3 times as long as is foreseen for them (docs/speed.md)."""
SERVICES_SECONDS = 25
"""Prefect's own server, data, audit, verdict, report and promotion (measured on two cores: docs/speed.md)."""


@dataclass(frozen=True, slots=True)
class Row:
    stage: str
    seconds: float
    arithmetic: str


def show(settings: PipelineSettings, machine: str) -> int:
    """Print the forecast. UserError where the run would not fit, or nothing can be foreseen."""
    if settings.model.device == "cuda":
        return _on_a_gpu(settings, machine)
    return _on_this_machine(settings)


def _on_a_gpu(settings: PipelineSettings, machine: str) -> int:
    from tucano.training.worker import quieten_libraries

    quieten_libraries()
    from tucano.training.foresight.forecast import forecast, require_memory

    require_usable_model(settings)
    print("Running the code of each stage on tensors without contents (ten seconds to minutes):", flush=True)
    found = forecast(settings, MACHINES[machine], lambda line: print(f"  {line.stage}", flush=True))
    print()
    print_forecast(found, settings)
    require_memory(found, settings)
    return 0


def print_forecast(found: "Forecast", settings: PipelineSettings) -> None:
    """Stage by stage: memory, time, and their arithmetic."""
    gpu = found.machine
    print(
        f"On one {gpu.title} ({gpu.memory_bytes / GIBIBYTE:.1f} GiB, {gpu.bytes_per_second / 1e9:,.0f} GB/s,"
        f" {gpu.operations_per_second / 1e12:,.0f} TFLOPS), {_in_turn(settings)}:\n"
    )
    print(f"{'stage':<14} {'memory':>9} {'time':>9}   from")
    for line in found.lines:
        memory = f"{line.peak_bytes / GIBIBYTE:.1f} GiB" if line.peak_bytes else ""
        print(f"{line.stage:<14} {memory:>9} {_duration(line.seconds):>9}   {line.arithmetic}")
    most = f"{found.hungriest.peak_bytes / GIBIBYTE:.1f} GiB"
    print(f"{'all':<14} {most:>9} {_duration(found.seconds):>9}")
    if found.fit > 1:
        print(f"{found.fit} of the seeds fit on one such GPU at a time: --set worker.parallel={found.fit}")
    _dollars(settings, found.seconds, gpu.title.split()[1])
    print(
        "\nMemory is for the longest prompts and completions, time for usual ones. Nobody has run it on a GPU yet: take"
        f" memory as plus or minus 15 %, time as from half as long to {TIME_FACTOR:g} times as long."
    )


def _in_turn(settings: PipelineSettings) -> str:
    at_once = seeds_side_by_side(settings)
    seeds = len(settings.grpo.seeds)
    return f"{seeds} seeds {'one after the other' if at_once == 1 else f'{at_once} at a time, whose memory adds up'}"


def _on_this_machine(settings: PipelineSettings) -> int:
    for sentence in has_own_interpreter(settings):
        raise UserError(sentence)
    print(f"Measuring a few steps of each stage on this machine ({cores()} cores) ...", flush=True)
    rows = list(_rows(settings, _tried(settings)))
    print(f"\n{'stage':<14} {'time':>9}   from")
    for row in [*rows, Row("all", sum(row.seconds for row in rows), "")]:
        print(f"{row.stage:<14} {_duration(row.seconds):>9}   {row.arithmetic}".rstrip())
    _dollars(settings, sum(row.seconds for row in rows), settings.cost.machine)
    print(
        f"\nMemory: at least {shown(needs(settings)) or 'unknown'}. Take time as plus or minus 20 % on a quiet machine."
    )
    return 0


def _tried(settings: PipelineSettings) -> dict[str, float]:
    """Seconds of each piece, from a child that works in a folder of its own."""
    chosen = of_data(settings)
    with tempfile.TemporaryDirectory(prefix="tucano-forecast-") as place:
        folder = Path(place)
        for name in ("prompts", "work", "output"):
            (folder / name).mkdir()
        prepare(chosen.data, chosen.seed, chosen.tasks, folder / "prompts", settings.data.paths, elsewhere_of(settings))
        folders = JobFolders(folder / "prompts", folder / "work", folder / "output")
        job = order("trial", settings, settings.seed, cores(), folders)
        return run_job(job, settings.worker.python, lambda progress: None)


def _rows(settings: PipelineSettings, tried: dict[str, float]) -> Iterator[Row]:
    grpo = settings.grpo
    sft = settings.sft
    seeds = len(grpo.seeds)
    if sft.enabled:
        steps = math.ceil(settings.data.supervised / sft.batch_size) * sft.max_epochs
        looks = math.ceil(steps / sft.eval_steps)
        each = tried["sft_step"]
        look = tried["sft_look"]
        seconds = steps * each + looks * look
        yield Row("SFT", seconds, f"{steps:,.0f} steps x {each:.2f} s, {looks} looks x {look:.1f} s")
    at_once = seeds_side_by_side(settings)
    rounds = math.ceil(seeds / at_once)
    looks = math.ceil(grpo.max_steps / grpo.eval_steps) + 1
    look = settings.data.validation_prompts * grpo.validation_samples * tried["answer"]
    steps = grpo.max_steps * settings.trainings // seeds
    each = steps * tried["grpo_step"] + looks * look
    how = f"{steps} steps x {tried['grpo_step']:.2f} s, {looks} looks x {look:.1f} s"
    yield Row("GRPO", rounds * each, f"{how}; {seeds} seeds, {at_once} at a time")
    if settings.dpo.enabled:
        yield _dpo(settings, tried, rounds)
    yield _answers(settings, tried["answer"], at_once, (rounds * at_once - seeds) * each)
    children = 3 + sft.enabled + rounds + math.ceil((1 + seeds) / at_once)  # preflight, answers, merge; SFT, GRPO, ...
    rest = SERVICES_SECONDS + children * tried["start"]
    yield Row("the rest", rest, f"{children} starts of a child x {tried['start']:.1f} s, and {SERVICES_SECONDS} s")


def _answers(settings: PipelineSettings, each: float, at_once: int, idle: float) -> Row:
    """Starts and seeds answer where trainings leave slots `idle` for so many seconds in all, and then as many at once;
    random weights answer once.
    """
    seeds = len(settings.grpo.seeds)
    asked = settings.data.test_prompts * (1 + settings.comparison.samples)
    starts = asked * ((1 if settings.model.name == "nano" else seeds) + (seeds if settings.sft.enabled else 0))
    answers = starts + asked * seeds
    seconds = answers * each
    beside = f", {min(idle, seconds):.0f} s of them beside the seeds" if idle else ""
    how = f"{answers:,} answers x {each * 1e3:.0f} ms, {at_once} at a time{beside}"
    return Row("answers", max(asked * each, (seconds - idle) / at_once), how)  # the last seed's come after all training


def _dpo(settings: PipelineSettings, tried: dict[str, float], rounds: int) -> Row:
    """At most a pair of each prompt. The two answers of a pair are taken to cost what two completions cost in GRPO."""
    dpo = settings.dpo
    grpo = settings.grpo
    prompts = settings.data.train_prompts
    drawn = prompts * grpo.generations * dpo.ranked
    steps = math.ceil(prompts / dpo.batch_size * dpo.max_epochs)
    each = tried["grpo_step"] / grpo.batch_size * 2 * dpo.batch_size
    looks = math.ceil(steps / dpo.eval_steps) + 1
    look = settings.data.validation_prompts * grpo.validation_samples * tried["answer"]
    how = f"{drawn:,} answers, {steps} steps x {each:.2f} s, {looks} looks x {look:.1f} s"
    again = f", in each of {dpo.rounds} rounds" if dpo.rounds > 1 else ""
    seconds = dpo.rounds * (drawn * tried["answer"] + steps * each + looks * look)
    return Row("DPO", rounds * seconds, how + again)


def _dollars(settings: PipelineSettings, seconds: float, machine: str) -> None:
    """By the rows of the price table that name the machine."""
    priced = [price for price in settings.cost.prices if names_gpu(price.machine, machine)]
    if not priced:
        print(f"No row of cost.prices names {machine}, so no dollars.")
    for price in priced:
        dollars = price.usd_per_hour * seconds / 3600
        row = f"{price.machine}: {price.source}, {price.date}"
        print(f"{dollars:,.2f} USD at {price.usd_per_hour:.2f} USD/h (row {row})")
    if settings.grpo.teacher is not None:
        print("What the teacher takes for its answers is not in these dollars.")


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
