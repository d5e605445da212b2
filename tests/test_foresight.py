"""What a run takes is foreseen from its real code, on tensors that hold nothing: kernels, traffic, memory."""

import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
import torch
from torch import Tensor
from torch.distributed._tools.mem_tracker import MemTracker

from tucano.cli import forecast as forecast_command
from tucano.cli.forecast import print_forecast
from tucano.errors import UserError
from tucano.profiles import load_profile
from tucano.requirements.machines import GIBIBYTE, MACHINES, REACHED, START_SECONDS, Machine, names_gpu, of_device
from tucano.requirements.shapes import TUCANO, Shape, shape_of
from tucano.settings import PipelineSettings
from tucano.training.checkpoints.weights import Policy
from tucano.training.foresight.forecast import Forecast, Line, _Run, forecast, require_fitting, require_memory
from tucano.training.foresight.meter import Meter
from tucano.training.foresight.pieces import Piece, Pieces
from tucano.training.policies.packed import kept_layers
from tucano.training.samplers import slots
from tucano.training.samplers.decode import Decoder

ROOT = Path(__file__).parent.parent
L4 = MACHINES["l4"]
MOST_KERNELS, MOST_TRAFFIC, MOST_MEMORY = 600, 1.2, 20 * GIBIBYTE
"""Per decoded token; of weights and cache; in any stage."""
WIDE = 152_000
ROWS, USED = 64, 361


def empty(*shape: int) -> Tensor:
    return torch.empty(*shape, dtype=torch.bfloat16, device="meta")


def profile(name: str, **grpo: object) -> PipelineSettings:
    return load_profile(ROOT, name, [f"grpo.{field}={value}" for field, value in grpo.items()])


def least_bytes(used: int) -> int:
    """Weights and filled cache, read once."""
    return 2 * TUCANO.weights + TUCANO.num_hidden_layers * 2 * TUCANO.key_value * ROWS * used * 2


@pytest.fixture(scope="module")
def pieces() -> Pieces:
    return Pieces(profile("l4-v5").model, TUCANO)


@pytest.fixture(scope="module")
def token(pieces: Pieces) -> Piece:
    return pieces.token(ROWS, USED, 640)


class TestMeter:
    def test_a_product_reads_its_inputs_and_writes_its_output_once(self) -> None:
        left, right = empty(4, 8), empty(8, 2)
        with Meter() as meter:
            left @ right
        (kernel,) = meter.kernels
        assert kernel.moved_bytes == 2 * (4 * 8 + 8 * 2 + 4 * 2)
        assert kernel.operations == 2 * 4 * 8 * 2

    def test_views_and_allocations_are_free_and_a_lookup_reads_what_it_writes(self) -> None:
        table, rows = empty(1000, 8), torch.empty(3, dtype=torch.long, device="meta")
        with Meter() as meter:
            empty(5, 5).view(25).unsqueeze(0).expand(4, 25)[:, 2:].transpose(0, 1)
            assert meter.kernels == []
            torch.nn.functional.embedding(rows, table)
        assert [kernel.moved_bytes for kernel in meter.kernels] == [2 * (2 * 3 * 8)]

    def test_memory_is_held_until_nobody_refers_to_it(self) -> None:
        with Meter() as meter:
            first = empty(100) + 1  # 200 bytes, and 200 that go at once
            assert meter.held_bytes == 200 and meter.peak_bytes == 400
            second = first.view(10, 10) * 2
            del first
            assert meter.held_bytes == 200 and meter.peak_bytes == 400
            del second
        assert meter.held_bytes == 0

    def test_the_peak_of_a_backward_pass_is_that_of_torchs_own_tracker(self) -> None:
        with torch.device("meta"):
            model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 64))
            given = torch.randn(32, 64)
        with Meter() as meter:
            meter.holds([given, *model.parameters()])
            model(given).sum().backward()
        for weight in model.parameters():
            weight.grad = None
        tracker = MemTracker()
        tracker.track_external(model, given)
        with tracker:
            model(given).sum().backward()
        theirs = tracker.get_tracker_snapshot("peak")[torch.device("meta")]["Total"]
        assert meter.peak_bytes == pytest.approx(theirs, rel=0.01)


class TestTokens:
    def test_few_kernels(self, token: Piece) -> None:
        assert token.kernels <= MOST_KERNELS

    def test_hardly_more_traffic_than_weights_and_cache(self, token: Piece) -> None:
        assert token.moved_bytes <= MOST_TRAFFIC * least_bytes(USED)

    def test_nor_over_512_tokens_after_a_prompt_of_128(self, pieces: Pieces) -> None:
        """Half a step of the slots is read in vain in the mean; traffic grows evenly, so two such places stand for all."""
        few, many = 159, 607
        moved = pieces.token(ROWS, few, 640).moved_bytes + pieces.token(ROWS, many, 640).moved_bytes
        assert moved <= MOST_TRAFFIC * (least_bytes(few) + least_bytes(many))

    def test_generate_would_pass_neither(self, pieces: Pieces) -> None:
        theirs = pieces.token_by_transformers(ROWS, USED)
        assert theirs.kernels > MOST_KERNELS and theirs.moved_bytes > MOST_TRAFFIC * least_bytes(USED)

    def test_two_and_three_layers_say_what_all_would(self, pieces: Pieces, token: Piece) -> None:
        @torch.no_grad()
        def whole() -> Meter:
            policy = pieces.policy(TUCANO.num_hidden_layers)
            with Meter() as meter:
                decoder = Decoder(policy)
                state, _ = slots.begun(decoder, [(0,) * USED] * ROWS, 640 - USED, (0,), 1.0, None)
                meter.kernels.clear()
                state.step(decoder, 384)
            return meter

        meter = whole()
        assert len(meter.kernels) == token.kernels
        assert meter.moved_bytes == pytest.approx(token.moved_bytes, rel=1e-3)


class TestTraining:
    """A micro-batch of l4-v5: 32 rows, on an L4."""

    LENGTHS = (128, 512)

    @pytest.mark.parametrize("keeps", [False, True])
    def test_a_packed_pass_moves_less_than_half_of_what_trls_does(self, pieces: Pieces, keeps: bool) -> None:
        """Of equal rows, so that nothing is gained by leaving padding out: 484 and 380 GB, 1,772 of TRL's."""
        ours = pieces.packed(32, *self.LENGTHS, keeps)
        theirs = pieces.update(32, *self.LENGTHS)
        assert ours.moved_bytes <= 0.7e12 < 1.7e12 <= theirs.moved_bytes
        assert ours.kernels <= 0.55 * theirs.kernels
        assert ours.seconds(L4) <= 0.3 * theirs.seconds(L4)

    def test_more_memory_keeps_more_layers_and_what_is_held_is_within_it(self, pieces: Pieces) -> None:
        lengths = (2, 64, 32)
        bare, whole = (pieces.packed(*lengths, keeps).peak_bytes for keeps in (False, True))
        assert pieces.room(*lengths, bare - 1) == (0, bare)
        there = bare + (whole - bare) // 2
        room, held = pieces.room(*lengths, there)
        tokens = 2 * (64 + 32)
        layers = TUCANO.num_hidden_layers
        assert bare < held < there and room == pytest.approx(0.8 * 0.5 * layers * tokens, abs=1)
        assert kept_layers(room, tokens, layers) == 11 and kept_layers(room, tokens // 4, layers) == layers
        assert pieces.room(*lengths, 10 * whole)[1] == whole

    def test_a_step_of_l4_v5_takes_at_most_eleven_seconds(self) -> None:
        """Rollout and training, without groups drawn anew; 24.5 before rows were packed."""
        lines = {line.stage: line for line in _Run(profile("l4-v5"), TUCANO, L4)._grpo_step()}
        drawing, learning = (line.seconds / 4500 for line in lines.values())
        assert drawing / 2 + learning <= 11 and learning <= 3
        assert lines["GRPO steps"].peak_bytes <= 0.9 * L4.memory_bytes


class TestMemory:
    def test_the_widest_step_never_holds_its_logits(self, pieces: Pieces) -> None:
        wide = Pieces(pieces.model, replaced_vocabulary(TUCANO, WIDE)).update(32, 1024, 512)
        assert wide.peak_bytes <= MOST_MEMORY and wide.most_elements < 32 * 512 * WIDE

    def test_without_checkpointing_the_step_would_not_fit(self, pieces: Pieces) -> None:
        with patch("transformers.PreTrainedModel.gradient_checkpointing_enable", lambda *_: None):
            assert pieces.update(32, 105, 512).peak_bytes > 2 * MOST_MEMORY

    @pytest.mark.long
    @pytest.mark.parametrize("vocabulary", [49_152, WIDE])
    @pytest.mark.parametrize("name", ["l4", "l4-v5"])
    def test_every_stage_of_the_shipped_profiles_fits(self, name: str, vocabulary: int) -> None:
        settings = profile(name)
        with patch("tucano.training.foresight.forecast.shape_of", lambda _: replaced_vocabulary(TUCANO, vocabulary)):
            found = forecast(settings, L4)
        assert {line.stage: line.peak_bytes for line in found.lines if line.peak_bytes > MOST_MEMORY} == {}
        require_memory(found, settings)

    @pytest.mark.parametrize(("rows", "distinct"), [(64, 4), (22, 22)])
    def test_a_batch_that_is_cut_holds_hardly_more_than_before_and_no_more_than_foreseen(
        self, pieces: Pieces, rows: int, distinct: int
    ) -> None:
        """A rollout of l4-v5, and as many answers as its cache is bounded to; the longest prompts, a quarter of which
        end at the first look.
        """
        longest, ceiling, over = 1536, 512, rows // 4
        said = [[False] * rows, [True] * over + [False] * (rows - over), [[9] * 17] * rows]

        def work(_: Meter, policy: Policy) -> None:
            prompts = [(row % distinct,) * (longest - ceiling) for row in range(rows)]
            left = iter(said)
            with patch.object(Tensor, "tolist", lambda _: next(left)), suppress(StopIteration):
                Decoder(policy).sample(prompts, ceiling, [0], 1.0)

        cache = TUCANO.num_hidden_layers * 2 * TUCANO.key_value * rows * longest * 2
        held, foreseen = pieces._piece(work).peak_bytes, pieces.token(rows, longest - 1, longest).peak_bytes
        assert held <= foreseen <= 2 * 2 * TUCANO.weights + 1.2 * cache

    def test_what_does_not_fit_is_refused_with_what_would(self, pieces: Pieces) -> None:
        small = replace(L4, title="half an L4", memory_bytes=8 * GIBIBYTE)
        settings = profile("l4-v5")
        mend = _Run(settings, TUCANO, small)._smaller_micro_batch()
        assert mend == "--set grpo.micro_batch=16 would fit"
        for_tensors = round(0.9 * small.memory_bytes)
        assert pieces.update(16, 1024, 512).peak_bytes <= for_tensors < pieces.update(32, 1024, 512).peak_bytes
        step = Line("GRPO steps", round(7.5 * GIBIBYTE), 1.0, "", mend)
        with pytest.raises(
            UserError, match=r"GRPO steps .* 7.5 GiB and half an L4 has 7.2 GiB for tensors: --set grpo.micro_batch"
        ):
            require_memory(Forecast(small, (step,)), settings)

    def test_the_setting_that_is_named_lowers_the_peak(self) -> None:
        """A rollout's cache is for model.max_length_tokens, whatever grpo.max_completion_tokens says."""
        settings = load_profile(ROOT, "laptop", ["model.device=cuda", "model.max_length_tokens=8192"])
        shape = shape_of(settings.model)
        assert shape is not None
        run = _Run(settings, shape, L4)
        run.there_bytes = run._token(64, 2047, 2048).peak_bytes
        assert run._shorter(64) == "--set model.max_length_tokens=2048 would fit, or lower grpo.batch_size"
        run.there_bytes = run.pieces.update(4, 4096, 4096).peak_bytes
        assert run._smaller_sft_batch() == "--set sft.batch_size=4 would fit"
        run.there_bytes = 0
        assert "take a smaller model" in run._smaller_sft_batch() and "lower grpo.batch_size" in run._shorter(64)

    def test_the_preflight_takes_as_much_as_twenty_steps_of_the_run(self) -> None:
        settings = load_profile(ROOT, "laptop", ["model.device=cuda"])  # 60 steps for each of three seeds
        lines = {line.stage: line for line in forecast(settings, L4).lines}
        assert list(lines)[:4] == ["SFT", "preflight", "GRPO rollouts", "GRPO steps"]
        drawing, learning = lines["GRPO rollouts"], lines["GRPO steps"]
        assert lines["preflight"].seconds == pytest.approx((drawing.seconds + learning.seconds) / 9)
        assert lines["preflight"].peak_bytes == max(drawing.peak_bytes, learning.peak_bytes)

    def test_beside_a_server_the_rest_of_the_memory_counts(self) -> None:
        """A step that fits into the machine and not beside the server is refused with what fits there."""
        nano = ["grpo.sampler=vllm", "worker.vllm_python=python", "model.device=cuda", "worker.vllm_memory_share=0.5"]
        settings = load_profile(ROOT, "laptop", nano)
        shape = shape_of(settings.model)
        assert shape is not None
        whole = Pieces(settings.model, shape).update(64, 400, 112).peak_bytes
        machine = replace(L4, memory_bytes=round(1.5 * whole / 0.9))
        (step,) = [line for line in _Run(settings, shape, machine)._grpo_step() if line.stage == "GRPO steps"]
        assert step.peak_bytes == whole and step.mend == "--set grpo.micro_batch=32 would fit"

    @pytest.mark.parametrize(
        ("sampler", "gibibytes", "seeds", "said"),
        [
            ("local", 6, 3, r"18.0 GiB and .* has 16.2 GiB for tensors: --set worker.parallel=2 would fit"),
            ("vllm", 6, 3, r"18.0 GiB and .* 0.0 GiB for tensors beside 3 vLLM servers: --set worker.parallel=1 would"),
            ("local", 17, 2, r"34.0 GiB and .*: --set worker.parallel=1, and lower it"),
        ],
    )
    def test_seeds_side_by_side_share_the_memory(self, sampler: str, gibibytes: int, seeds: int, said: str) -> None:
        """A child each, and with vLLM a server each."""
        own = [f"grpo.sampler={sampler}", "worker.vllm_python=python", f"worker.parallel={seeds}"]
        settings = load_profile(ROOT, "l4-v5", own)
        machine = replace(L4, memory_bytes=18 * GIBIBYTE)
        line = Line("GRPO steps", gibibytes * GIBIBYTE, 1.0, "", "lower it")
        with pytest.raises(UserError, match=f"GRPO steps of {seeds} seeds at a time will take about {said}"):
            require_memory(Forecast(machine, (_Run(settings, TUCANO, machine)._side_by_side(line),)), settings)

    def test_a_run_is_refused_before_its_first_stage(self) -> None:
        settings, asked = load_profile(ROOT, "laptop", ["model.device=cuda"]), "tucano.training.foresight.forecast"
        refused = pytest.raises(UserError, match=r"will take about .* and this machine's GPU has 0.0 GiB")
        with patch(f"{asked}.device_bytes", lambda _: 50 * 2**20), refused:
            require_fitting(settings)
        with patch(f"{asked}.device_bytes", lambda _: None):
            require_fitting(settings)


def replaced_vocabulary(shape: Shape, size: int) -> Shape:
    return replace(shape, vocab_size=size)


class TestTime:
    MACHINE = Machine("one of round numbers", 10**9, 1e9, 1e12, 1e11)

    def test_products_in_32_bits_take_longer(self) -> None:
        assert self.MACHINE.computing_in("float32").seconds(1, 10**11) == pytest.approx(1 / REACHED)
        assert self.MACHINE.computing_in("bfloat16") == self.MACHINE

    @pytest.mark.parametrize(
        ("moved_bytes", "operations", "seconds"),
        [(1, 1, START_SECONDS), (10**9, 1, 1 / REACHED), (1, 10**12, 1 / REACHED), (10**9, 2 * 10**12, 2 / REACHED)],
    )
    def test_a_kernel_waits_for_the_slowest_of_start_memory_and_products(
        self, moved_bytes: int, operations: int, seconds: float
    ) -> None:
        assert self.MACHINE.seconds(moved_bytes, operations) == pytest.approx(seconds)

    def test_a_decode_step_takes_what_an_h200_said(self, pieces: Pieces) -> None:
        """64 rows, 640 slots, torch 2.11: 12.386 ms eager and 3.846 ms replayed as one graph (a forward pass, without
        the draw), within 15 %. Started from Python it waits for the host, as a graph for the GPU.
        """
        token = pieces.token(64, 639, 640)
        assert token.seconds(MACHINES["h200"]) == pytest.approx(12.386e-3, rel=0.15)
        assert token.seconds(MACHINES["h200"], as_graph=True) == pytest.approx(3.846e-3, rel=0.15)

    @pytest.mark.parametrize(
        ("name", "gibibytes", "machine"),
        [
            ("NVIDIA L4", 22, "l4"),
            ("NVIDIA L40S", 45, "l40s"),
            ("NVIDIA GeForce RTX 4090", 24, "4090"),
            ("NVIDIA A100-SXM4-40GB", 40, "a100"),
            ("NVIDIA A100-SXM4-80GB", 80, "a100-80"),
            ("NVIDIA H100 80GB HBM3", 80, "h100"),
            ("NVIDIA H200", 140, "h200"),
            ("NVIDIA B200", 180, None),
        ],
    )
    def test_a_gpu_is_known_by_what_its_driver_calls_it(self, name: str, gibibytes: int, machine: str | None) -> None:
        assert of_device(name, gibibytes * GIBIBYTE) == (MACHINES[machine] if machine else None)


class TestCommand:
    def test_it_shows_each_stage_with_memory_time_and_where_they_come_from(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        lines = (Line("GRPO steps", 9 * GIBIBYTE, 7200.0, "4,500 steps x 1.6 s", ""), Line("merge", 1, 60.0, "so", ""))
        print_forecast(Forecast(L4, lines), profile("l4-v5"))
        said = capsys.readouterr().out
        assert ", 3 seeds one after the other:\n" in said
        print_forecast(Forecast(MACHINES["h100"], lines), load_profile(ROOT, "l4-v5", ["worker.parallel=2"]))
        other = capsys.readouterr().out
        assert "No row of cost.prices names H100, so no dollars." in other
        assert ", 3 seeds 2 at a time, whose memory adds up:\n" in other
        assert "\nGRPO steps       9.0 GiB     2.0 h   4,500 steps x 1.6 s\n" in said
        assert "\nall              9.0 GiB     2.0 h\n1.65 USD at 0.82 USD/h" in said

    def test_googles_machine_names_say_which_gpu_they_hold(self, capsys: pytest.CaptureFixture[str]) -> None:
        """As docs/vertex.md writes a row of the price table."""
        row = "{machine: g2-standard-8 spot us-central1, usd_per_hour: 0.3, source: console, date: 2026-11-21}"
        found = Forecast(L4, (Line("merge", 1, 36_000.0, "so", ""),))
        print_forecast(found, load_profile(ROOT, "l4-v5", [f"cost.prices=[{row}]"]))
        assert "3.00 USD at 0.30 USD/h (row g2-standard-8 spot us-central1: console" in capsys.readouterr().out
        assert names_gpu("a3-highgpu-8g", "H100") and not names_gpu("g2-standard-8 spot", "H100")

    @pytest.mark.long
    def test_the_command_as_a_person_gives_it(self) -> None:
        command = [sys.executable, "-m", "tucano.cli", "forecast", "l4-v5", "--set", "grpo.batch_size=512",
                   "--set", "grpo.micro_batch=256"]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=900, check=False)
        assert done.returncode == 2 and "GRPO rollouts" in done.stdout
        assert done.stderr.splitlines()[-1].startswith("tucano: GRPO rollouts will take about")

    def test_each_adapter_of_a_task_is_looked_at_with_its_tasks_prompts(self) -> None:
        per_task = ["grpo.adapters=per_task", "grpo.task_weights=equal", "model.device=cuda"]
        settings = load_profile(ROOT, "laptop", per_task)
        shape = shape_of(settings.model)
        assert shape is not None
        (line,) = _Run(settings, shape, L4)._after_grpo()
        seeds = len(settings.grpo.seeds)
        assert line.arithmetic.endswith(f"5 looks x {seeds} seeds x 4 tasks")

    def test_draws_of_a_server_are_bounded_and_not_left_out(self) -> None:
        nano = ["grpo.sampler=vllm", "worker.vllm_python=python", "model.device=cuda"]
        found = forecast(load_profile(ROOT, "laptop", nano), L4)
        (rollouts,) = [line for line in found.lines if line.stage == "GRPO rollouts"]
        assert rollouts.seconds > 0 and "at most" in rollouts.arithmetic

    def test_what_no_stage_could_do_is_no_forecast(self) -> None:
        with pytest.raises(UserError, match="nothing to tune on; raise the latter"):
            forecast_command.show(load_profile(ROOT, "l4-v5", ["data.demonstrations=0"]), "l4")

    def test_a_model_whose_shape_nobody_knows_is_a_sentence(self) -> None:
        settings = load_profile(ROOT, "l4", ["model.name=some/model"])
        assert shape_of(settings.model) is None
        with pytest.raises(UserError, match=r"config of some/model is not at hand.*--set model.name=FOLDER"):
            forecast(settings, L4)
