"""What a profile's run will take of a GPU: memory, time and their arithmetic, stage by stage, before it starts.

Memory is counted at the longest prompts and completions that the settings allow. Time is counted at usual ones: a
prompt of `PROMPT_TOKENS`, completions that are half as long as their ceiling in the mean while one of each batch
reaches it, and half of the groups drawn anew where groups without a signal are. No GPU has been compared with it yet.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from tucano.errors import UserError
from tucano.requirements.machine import gpus_here, seeds_on_a_gpu, training_gpus
from tucano.requirements.machines import GIBIBYTE, MACHINES, Machine
from tucano.requirements.memory import device_bytes, require_servers_share, servers_share, share_for_tensors
from tucano.requirements.shapes import Shape, shape_of
from tucano.settings import PipelineSettings
from tucano.training.foresight.pieces import Piece, Pieces
from tucano.training.policies.packed import kept_layers
from tucano.training.samplers.local import BATCH_ROWS, CACHE_BYTES, batches

PROMPT_TOKENS = 128
REFILLED = 0.5
"""Of the groups, in a round that draws groups without a signal anew (assumed)."""
MERGE_BYTES = 4
"""Per weight at the merge: what was written is loaded again in 32 bits. A model in 4 bits beside the full one in 16,
which is before, takes less, and the merge itself 2 GB.
"""
MERGED_PER_SECOND = 8e6
"""Weights (assumed, of a disk that reads 100 MB a second): they are read, written, and read twice again."""


@dataclass(frozen=True, slots=True)
class Line:
    """One stage on one machine: its peak, its time, where that comes from, and the setting that lowers the peak.

    children: that are at work at a time, whose peaks are added, each beside a vLLM server of its own if there are any.
    """

    stage: str
    peak_bytes: int
    seconds: float
    arithmetic: str
    mend: str
    children: int = 1


@dataclass(frozen=True, slots=True)
class Forecast:
    """fit: how many seeds one GPU holds at a time, 0 where it holds not even one."""

    machine: Machine
    lines: tuple[Line, ...]
    fit: int = 1

    @property
    def seconds(self) -> float:
        return sum(line.seconds for line in self.lines)

    @property
    def hungriest(self) -> Line:
        return max(self.lines, key=lambda line: line.peak_bytes)


def forecast(
    settings: PipelineSettings, machine: Machine, done: Callable[[Line], None] = lambda line: None
) -> Forecast:
    """`done` is told each stage as soon as it is foreseen. UserError where the model's shape is not known: a model of
    the hub whose config is not at hand.
    """
    shape = shape_of(settings.model)
    if shape is None:
        raise UserError(
            f"the config of {settings.model.name} is not at hand and the hub does not give it, so nothing can be"
            " foreseen; download the model, and name its folder with --set model.name=FOLDER"
        )
    computing = machine.computing_in(settings.model.dtype)
    lines = []
    run = _Run(settings, shape, computing)
    for line in run.lines():
        done(line)
        lines.append(line)
    return Forecast(computing, tuple(lines), run.fit)


def require_fitting(settings: PipelineSettings) -> None:
    """UserError where a stage would not fit into this machine's GPU, if that and the model's shape are known."""
    there = device_bytes("cuda")
    if there is not None and shape_of(settings.model) is not None:
        # of any speed: it does not matter for what fits
        machine = replace(MACHINES["l4"], title="this machine's GPU", memory_bytes=there, gpus=max(1, len(gpus_here())))
        require_memory(forecast(settings, machine), settings)


def require_memory(found: Forecast, settings: PipelineSettings) -> None:
    """UserError for the hungriest stage where the machine, or what a vLLM server leaves of it, has less."""
    require_servers_share(settings, found.machine.memory_bytes, found.machine.gpus)
    lacking = {
        line.peak_bytes - _bytes_for_training(settings, found.machine, line.children): line for line in found.lines
    }
    most = lacking[max(lacking)]
    if max(lacking) > 0:
        there = _bytes_for_training(settings, found.machine, most.children)
        several = f" of {most.children} seeds at a time" if most.children > 1 else ""
        server = "the vLLM server" if most.children == 1 else f"{most.children} vLLM servers"
        beside = f" beside {server}" if servers_share(settings, 1, found.machine.gpus) else ""
        raise UserError(
            f"{most.stage}{several} will take about {most.peak_bytes / GIBIBYTE:.1f} GiB and {found.machine.title} has"
            f" {there / GIBIBYTE:.1f} GiB for tensors{beside}:"
            f" {most.mend}"
        )


def _bytes_for_training(settings: PipelineSettings, machine: Machine, children: int) -> int:
    """Of the machine's memory, what CUDA leaves, and the vLLM servers of so many children where they have some."""
    return round(machine.memory_bytes * share_for_tensors(settings, children, machine.gpus))


class _Run:
    def __init__(self, settings: PipelineSettings, shape: Shape, machine: Machine) -> None:
        self.settings = settings
        self.shape = shape
        self.machine = machine
        self.there_bytes = _bytes_for_training(settings, machine, 1)
        self.fit = 1
        self.pieces = Pieces(settings.model, shape)
        self.ceiling = settings.grpo.max_completion_tokens
        self.longest = settings.model.max_length_tokens
        plain = shape.model_type == "qwen3" and settings.model.quantization == "none"
        self.own_loop = plain and settings.grpo.own_decoding
        same = settings.model.backend == "transformers" and not settings.model.lora_dropout
        self.packs = self.own_loop and same and settings.model.dtype == "bfloat16"

    def lines(self) -> Iterator[Line]:
        if self.settings.sft.enabled:
            yield self._sft()
        yield self._preflight()
        training = list(self._grpo_step(self.settings.grpo.max_steps * self.settings.trainings))
        after = list(self._after_grpo())
        bare = self._step_bytes(self.settings.grpo.micro_batch)  # whatever memory is left for it keeps activations
        drawing = (line.peak_bytes for line in [*training, *after] if line.stage != "GRPO steps")
        self.fit = self._fitting(max(bare, *drawing), len(self.settings.grpo.seeds))
        yield from map(self._side_by_side, [*training, *after])
        answers = self._comparison()
        yield self._side_by_side(answers) if self.settings.execution.is_here_alone else answers
        yield self._merge()

    def _merge(self) -> Line:
        weights = self.shape.weights
        how = (
            f"{weights / 1e9:.2f} billion weights from file to file, at {MERGED_PER_SECOND / 1e6:.0f} million a second"
        )
        return Line("merge", MERGE_BYTES * weights, weights / MERGED_PER_SECOND, how, "the model's size decides")

    def _preflight(self) -> Line:
        """It rehearses some steps with the run's own batches, on a GPU."""
        steps = self.settings.preflight.steps
        training = list(self._grpo_step(steps))
        seconds = sum(line.seconds for line in training)
        most = max(training, key=lambda line: line.peak_bytes)
        return replace(most, stage="preflight", seconds=seconds, arithmetic=f"{steps} steps x {_each(seconds / steps)}")

    def _after_grpo(self) -> Iterator[Line]:
        """Like the lines of GRPO: of one seed's child its memory, of all of them their time."""
        settings = self.settings
        grpo = settings.grpo
        if grpo.admission is not None:
            tried = min(settings.data.train_prompts, grpo.admission.prompts or settings.data.train_prompts)
            asked = tried * grpo.admission.samples
            yield self._answers("admission", asked, settings.trainings, f"{settings.trainings} trainings", models=1)
        if settings.dpo.enabled:
            yield from self._dpo()
        looks = math.ceil(grpo.max_steps / grpo.eval_steps) + 1
        seeds = len(grpo.seeds)
        parts = settings.trainings // seeds  # each of a task and its prompts, where adapters are per task
        asked = math.ceil(settings.data.validation_prompts * grpo.validation_samples / parts)
        how = f"{looks} looks x {seeds} seeds" + (f" x {parts} tasks" if parts > 1 else "")
        yield self._answers("validation", asked, looks * settings.trainings, how, 1)

    def _side_by_side(self, line: Line) -> Line:
        """The same for the seeds that train at a time."""
        children = seeds_on_a_gpu(self.settings, self.machine.gpus)
        if children == 1:
            return line
        fewer = self._fitting(line.peak_bytes, children - 1)
        parallel = fewer * training_gpus(self.settings, self.machine.gpus)
        mend = (
            f"--set worker.parallel={parallel} would fit" if parallel else f"--set worker.parallel=1, and {line.mend}"
        )
        return replace(line, peak_bytes=children * line.peak_bytes, mend=mend, children=children)

    def _fitting(self, peak_bytes: int, most: int) -> int:
        """How many seeds of this peak one GPU holds at a time, of at most so many."""
        held = (
            seeds
            for seeds in range(most, 0, -1)
            if seeds * peak_bytes <= _bytes_for_training(self.settings, self.machine, seeds)
        )
        return next(held, 0)

    def _sft(self) -> Line:
        sft = self.settings.sft
        steps = math.ceil(self.settings.data.supervised / sft.batch_size * sft.max_epochs)
        peak = self.pieces.update(sft.batch_size, self.longest // 2, self.longest - self.longest // 2).peak_bytes
        usual = self.pieces.update(sft.batch_size, PROMPT_TOKENS, self.ceiling // 2)
        each = usual.seconds(self.machine)
        return Line(
            "SFT",
            peak,
            steps * each,
            f"{steps} steps x {_each(each)}"
            f" ({sft.batch_size} x {PROMPT_TOKENS + self.ceiling // 2} tokens: {_of(usual)})",
            "lower sft.batch_size, or model.max_length_tokens",
        )

    def _grpo_step(self, steps: int) -> Iterator[Line]:
        """Of one seed's child its memory, of so many steps their time."""
        grpo = self.settings.grpo
        each, how, peak = self._rollout
        if grpo.sampler == "vllm":
            whole = steps / grpo.rollout_steps * each
            how = "at most: as long as our own loop would take, and the server is faster; its memory is its own share"
            yield Line("GRPO rollouts", 0, whole, how, "")
        else:
            again = grpo.refill_rounds * REFILLED
            often = f" x {1 + again:g} (groups drawn anew)" if again else ""
            yield Line(
                "GRPO rollouts",
                peak,
                steps / grpo.rollout_steps * each * (1 + again),
                f"{steps // grpo.rollout_steps} rollouts x {_each(each)}{often} ({how})",
                "lower grpo.batch_size, or model.max_length_tokens with grpo.max_completion_tokens",
            )
        each, how, peak = self._update
        mend = "" if peak <= self.there_bytes else self._smaller_micro_batch()
        yield Line("GRPO steps", peak, steps * each, f"{steps} steps x {_each(each)} ({how})", mend)

    @cached_property
    def _rollout(self) -> tuple[float, str, int]:
        """Seconds of a rollout, their arithmetic, and its bytes where our own process draws."""
        rows = self.settings.grpo.batch_size * self.settings.grpo.rollout_steps
        each, how = self._drawing(rows)
        return each, how, self._token(rows, self.longest - 1, self.longest).peak_bytes

    @cached_property
    def _update(self) -> tuple[float, str, int]:
        """Seconds of a step once it is drawn, their arithmetic, and the bytes of the longest micro-batch."""
        grpo = self.settings.grpo
        parts = grpo.batch_size // grpo.micro_batch
        read = (grpo.sampler == "vllm" or self.settings.model.backend == "unsloth") + grpo.entropy_advantages
        read += grpo.teacher is not None
        each, how, peak = (self._packed if self.packs else self._padded)(grpo.micro_batch)
        if read:
            each += read * self.pieces.reading(grpo.micro_batch, PROMPT_TOKENS, self.ceiling).seconds(self.machine)
            how += f", each read {'once' if read == 1 else 'twice' if read == 2 else f'{read} times'} before"
        how += ", without the teacher's own time" if grpo.teacher else ""
        return parts * each, f"{parts} x {how}", peak

    def _padded(self, rows: int) -> tuple[float, str, int]:
        """Seconds of a usual micro-batch, their arithmetic, and the bytes of the longest one."""
        usual = self.pieces.update(rows, PROMPT_TOKENS, self.ceiling)
        how = f"{rows} x {PROMPT_TOKENS + self.ceiling} tokens: {_of(usual)}"
        return usual.seconds(self.machine), how, self._step_bytes(rows)

    def _packed(self, rows: int) -> tuple[float, str, int]:
        """The same where no padding is read, and as many layers are kept as one child has memory for."""
        children = seeds_on_a_gpu(self.settings, self.machine.gpus)
        there = _bytes_for_training(self.settings, self.machine, children) // children
        room, peak = self.pieces.room(rows, self.longest - self.ceiling, self.ceiling, there)
        layers = self.shape.num_hidden_layers
        tokens = rows * (PROMPT_TOKENS + self.ceiling // 2)
        kept = kept_layers(room, tokens, layers)
        again, whole = (self.pieces.packed(rows, PROMPT_TOKENS, self.ceiling // 2, keeps) for keeps in (False, True))
        seconds = again.seconds(self.machine) * (layers - kept) + whole.seconds(self.machine) * kept
        how = f"{tokens:,} tokens, {kept} of {layers} layers kept: {_of(whole if 2 * kept >= layers else again)}"
        return seconds / layers, how, peak

    def _dpo(self) -> Iterator[Line]:
        """At most a pair of each prompt. The reference reads what the policy reads, and TRL holds the logits of both
        answers (assumed: three times in 32 bits).
        """
        dpo = self.settings.dpo
        settings = self.settings
        seeds = len(settings.grpo.seeds)
        parts = dpo.batch_size // dpo.micro_batch
        trainings = seeds * dpo.rounds
        if dpo.ranked:
            asked = settings.data.train_prompts * settings.grpo.generations
            how = f"{seeds} seeds" + (f" x {dpo.rounds} rounds" if dpo.rounds > 1 else "")
            yield self._answers("DPO answers", asked, trainings, how, models=1)
        rows = 2 * dpo.micro_batch
        half = self.ceiling // 2
        steps = math.ceil(settings.data.train_prompts / dpo.batch_size * dpo.max_epochs) * trainings
        usual = self.pieces.update(rows, PROMPT_TOKENS, half)
        each = parts * (
            usual.seconds(self.machine) + self.pieces.reading(rows, PROMPT_TOKENS, half).seconds(self.machine)
        )
        logits = 3 * 4 * rows * self.longest * (self.shape.vocab_size or 0)
        peak = self.pieces.update(rows, self.longest - self.ceiling, self.ceiling).peak_bytes + logits
        how = f"{steps} steps x {_each(each)} ({parts} x {rows} x {PROMPT_TOKENS + half} tokens: {_of(usual)})"
        yield Line("DPO steps", peak, steps * each, how, "lower dpo.micro_batch")

    def _step_bytes(self, rows: int) -> int:
        """Without activations that are kept where there is memory for them."""
        if self.packs:
            return self.pieces.packed(rows, self.longest - self.ceiling, self.ceiling, False).peak_bytes
        return self.pieces.update(rows, self.longest - self.ceiling, self.ceiling).peak_bytes

    def _smaller_micro_batch(self) -> str:
        """The largest micro-batch that there is memory for."""
        grpo = self.settings.grpo
        smaller = (rows for rows in range(grpo.micro_batch - 1, 0, -1) if grpo.batch_size % rows == 0)
        fits = next((rows for rows in smaller if self._step_bytes(rows) <= self.there_bytes), None)
        if fits is None:
            return "take a smaller model or lower model.max_length_tokens"
        return f"--set grpo.micro_batch={fits} would fit"

    def _comparison(self) -> Line:
        seeds = len(self.settings.grpo.seeds)
        samples = 1 + self.settings.comparison.samples
        starts = 1 + self.settings.sft.enabled
        times = samples * seeds * (starts + 1)
        how = f"{samples} answers x {seeds} seeds, and as many of each of {starts} starts"
        return self._answers("answers", self.settings.data.test_prompts, times, how, models=2)

    def _answers(self, stage: str, asked: int, times: int, how: str, models: int) -> Line:
        """An arm gives `asked` answers at a time, so many `times`."""
        rows = max((end - start for start, end in batches(asked, self._rows_that_fit())), default=1)
        each = self._drawing(rows)[0] * math.ceil(asked / rows)
        peak = self._token(rows, self.longest - 1, self.longest).peak_bytes + (models - 1) * 2 * self.shape.weights
        mend = "the model's size decides; its cache is bounded"
        return Line(stage, peak, times * each, f"{asked} prompts in {_each(each)}, {how}", mend)

    def _rows_that_fit(self) -> int:
        width = 2 if self.settings.model.dtype == "bfloat16" else 4
        per_token = self.shape.num_hidden_layers * 2 * self.shape.key_value * width
        return max(1, min(BATCH_ROWS, CACHE_BYTES // (self.longest * per_token)))

    def _drawing(self, rows: int) -> tuple[float, str]:
        """Seconds until the last of `rows` completions ends, and their arithmetic. Rows leave the batch as they end, so
        that half of them are there in the mean.
        """
        usual = self._token(max(1, rows // 2), PROMPT_TOKENS + self.ceiling // 2, PROMPT_TOKENS + self.ceiling)
        each = usual.seconds(self.machine, as_graph=self.own_loop)
        return self.ceiling * each, f"{self.ceiling} tokens x {each * 1e3:.0f} ms: {_of(usual)}"

    def _token(self, rows: int, used: int, positions: int) -> Piece:
        if self.own_loop:
            return self.pieces.token(rows, used, positions)
        return self.pieces.token_by_transformers(rows, used)


def _of(piece: Piece) -> str:
    gigabytes = piece.moved_bytes / 1e9
    moved = f"{gigabytes:,.0f}" if gigabytes >= 100 else f"{gigabytes:.3g}"
    return f"{piece.kernels:,} kernels, {moved} GB moved"


def _each(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1e3:.0f} ms"
