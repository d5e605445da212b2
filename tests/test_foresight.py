"""What a run takes is foreseen from its real code, on tensors that hold nothing: kernels, traffic, memory."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
import torch
from test_gpu_without_one import Largest
from torch import Tensor
from torch.distributed._tools.mem_tracker import MemTracker

from tucano.cli.forecast import print_forecast
from tucano.errors import UserError
from tucano.profiles import load_profile
from tucano.requirements.machines import GIBIBYTE, MACHINES, REACHED, START_SECONDS, Machine, of_device
from tucano.requirements.memory import needs
from tucano.requirements.shapes import TUCANO, shape_of
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


TEACHER = {
    "teacher": "{endpoint: {name: m, url: 'http://127.0.0.1:1/v1', model: m}}",
    "drop_zero_variance": "false", "refill_rounds": 0,
}  # fmt: skip


def least_bytes(used: int) -> int:
    """Weights and filled cache, read once."""
    return 2 * TUCANO.weights + TUCANO.num_hidden_layers * 2 * TUCANO.key_value * ROWS * used * 2


@pytest.fixture(scope="module")
def pieces() -> Pieces:
    return Pieces(profile("l4-v5").model, TUCANO)


Foreseen = Callable[..., _Run]


@pytest.fixture(scope="module")
def foreseen(pieces: Pieces) -> Foreseen:
    """A run of l4-v5 with these settings of GRPO, whose pieces all tests share."""

    def run(machine: Machine = L4, **grpo: object) -> _Run:
        made = _Run(profile("l4-v5", **grpo), TUCANO, machine)
        made.pieces = pieces
        return made

    return run


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

    def test_who_judges_tokens_has_each_completion_read_once_more(self, foreseen: Foreseen) -> None:
        edge = {"entropy_advantages": "true"}
        runs = [foreseen(**grpo) for grpo in ({}, TEACHER, edge, TEACHER | edge)]
        steps = [[*run._grpo_step(10)][-1] for run in runs]
        none, once, also_once, twice = (step.seconds for step in steps)
        assert once - none == pytest.approx(also_once - none) == pytest.approx((twice - none) / 2) and once > none
        read = [step.arithmetic.rpartition(" of ")[2].rpartition("moved")[2] for step in steps]
        without = ", without the teacher's own time)"
        assert read == [
            ")",
            f", each read once before{without}",
            ", each read once before)",
            f", each read twice before{without}",
        ]

    def test_a_step_of_l4_v5_takes_at_most_eleven_seconds(self, foreseen: Foreseen) -> None:
        """Rollout and training, without groups drawn anew; 24.5 before rows were packed."""
        lines = {line.stage: line for line in foreseen()._grpo_step(1)}
        drawing, learning = (line.seconds for line in lines.values())
        assert drawing / 2 + learning <= 11 and learning <= 3
        assert lines["GRPO steps"].peak_bytes <= 0.9 * L4.memory_bytes


class TestMemory:
    def test_the_widest_step_never_holds_its_logits(self, pieces: Pieces) -> None:
        with Largest() as largest:
            wide = Pieces(pieces.model, replace(TUCANO, vocab_size=WIDE)).update(32, 1024, 512)
        assert wide.peak_bytes <= MOST_MEMORY and largest.elements < 32 * 512 * WIDE

    @pytest.mark.long
    @pytest.mark.parametrize("vocabulary", [49_152, WIDE])
    @pytest.mark.parametrize("name", ["l4", "l4-v5"])
    def test_every_stage_of_the_shipped_profiles_fits(self, name: str, vocabulary: int) -> None:
        settings = profile(name)
        with patch("tucano.training.foresight.forecast.shape_of", lambda _: replace(TUCANO, vocab_size=vocabulary)):
            found = forecast(settings, L4)
        assert {line.stage: line.peak_bytes for line in found.lines if line.peak_bytes > MOST_MEMORY} == {}
        require_memory(found, settings)

    @pytest.mark.parametrize(("rows", "distinct"), [(64, 4), (22, 22)])
    def test_a_batch_that_is_cut_holds_hardly_more_than_before_and_no_more_than_foreseen(
        self, pieces: Pieces, rows: int, distinct: int
    ) -> None:
        """The longest prompts, a quarter of which end at the first look."""
        longest, ceiling, over = 1536, 512, rows // 4
        said = [[False] * rows, [True] * over + [False] * (rows - over), [[9] * 17] * rows]

        def work(_: Meter, policy: Policy) -> None:
            prompts = [(row % distinct,) * (longest - ceiling) for row in range(rows)]
            left = iter(said)
            with patch.object(Tensor, "tolist", lambda _: next(left)), suppress(StopIteration):
                Decoder(policy).sample(prompts, ceiling, [0], 1.0)

        cache = TUCANO.num_hidden_layers * 2 * TUCANO.key_value * rows * longest * 2
        held, foreseen = (
            pieces._piece(work, f"cut {rows}").peak_bytes,
            pieces.token(rows, longest - 1, longest).peak_bytes,
        )
        assert held <= foreseen <= 2 * 2 * TUCANO.weights + 1.2 * cache

    @pytest.mark.parametrize("name", ["l4", "l4-v5", "l4-1.5b", "l4-3.7b", "l4-base"])
    def test_a_merge_fits_and_doctor_counts_it_as_the_forecast_does(self, name: str) -> None:
        settings = profile(name)
        shape = shape_of(settings.model)
        assert shape is not None
        counted = {need.stage: need.bytes for need in needs(settings)}
        foreseen = _Run(settings, shape, L4)._merge().peak_bytes
        assert counted["merge"] == foreseen <= 0.9 * L4.memory_bytes

    def test_what_does_not_fit_is_refused_with_what_would(self, pieces: Pieces, foreseen: Foreseen) -> None:
        small = replace(L4, title="half an L4", memory_bytes=8 * GIBIBYTE)
        settings = profile("l4-v5")
        mend = foreseen(small)._smaller_micro_batch()
        assert mend == "--set grpo.micro_batch=16 would fit"
        for_tensors = round(0.9 * small.memory_bytes)
        assert pieces.update(16, 1024, 512).peak_bytes <= for_tensors < pieces.update(32, 1024, 512).peak_bytes
        step = Line("GRPO steps", round(7.5 * GIBIBYTE), 1.0, "", mend)
        said = r"GRPO steps .* 7.5 GiB and half an L4 has 7.2 GiB for tensors: --set grpo.micro_batch"
        with pytest.raises(UserError, match=said):
            require_memory(Forecast(small, (step,)), settings)

    def test_a_run_is_refused_before_its_first_stage(self) -> None:
        settings, asked = load_profile(ROOT, "nano", ["model.device=cuda"]), "tucano.training.foresight.forecast"
        refused = pytest.raises(UserError, match=r"will take about .* and this machine's GPU has 0.0 GiB")
        with patch(f"{asked}.device_bytes", lambda _: 50 * 2**20), refused:
            require_fitting(settings)
        with patch(f"{asked}.device_bytes", lambda _: None):
            require_fitting(settings)


class TestTime:
    def test_a_kernel_waits_for_the_slowest_of_start_memory_and_products(self) -> None:
        machine = Machine("one of round numbers", 10**9, 1e9, 1e12, 1e11)
        asked = [(1, 1), (10**9, 1), (1, 10**12), (10**9, 2 * 10**12)]
        expected = [START_SECONDS, 1 / REACHED, 1 / REACHED, 2 / REACHED]
        assert [machine.seconds(*one) for one in asked] == pytest.approx(expected)
        assert machine.computing_in("float32").seconds(1, 10**11) == pytest.approx(1 / REACHED)
        assert machine.computing_in("bfloat16") == machine

    def test_a_decode_step_takes_what_an_h200_said(self, pieces: Pieces) -> None:
        """64 rows, 640 slots, torch 2.11: 12.386 ms eager and 3.846 ms as one graph, without the draw."""
        token = pieces.token(64, 639, 640)
        assert token.seconds(MACHINES["h200"]) == pytest.approx(12.386e-3, rel=0.15)
        assert token.seconds(MACHINES["h200"], as_graph=True) == pytest.approx(3.846e-3, rel=0.15)

    @pytest.mark.parametrize(
        ("name", "gibibytes", "machine"),
        [
            ("NVIDIA L4", 22, "l4"), ("NVIDIA L40S", 45, "l40s"), ("NVIDIA GeForce RTX 4090", 24, "4090"),
            ("NVIDIA A100-SXM4-40GB", 40, "a100"), ("NVIDIA A100-SXM4-80GB", 80, "a100-80gb"),
            ("NVIDIA H100 80GB HBM3", 80, "h100"), ("NVIDIA H200", 140, "h200"), ("NVIDIA B200", 180, None),
        ],
    )  # fmt: skip
    def test_a_gpu_is_known_by_what_its_driver_calls_it(self, name: str, gibibytes: int, machine: str | None) -> None:
        assert of_device(name, gibibytes * GIBIBYTE) == (MACHINES[machine] if machine else None)

    def test_choosing_prompts_is_drawing_that_is_counted(self, foreseen: Foreseen) -> None:
        """Of 5,000 training prompts 1,000 are tried 8 times, for each of three seeds."""
        lines = foreseen(admission="{prompts: 1000}")._after_grpo()
        chosen = next(line for line in lines if line.stage == "admission")
        assert chosen.arithmetic.startswith("8000 prompts in ") and chosen.arithmetic.endswith(", 3 trainings")
        assert chosen.seconds > 0 and not any(line.stage == "admission" for line in foreseen()._after_grpo())


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

    def test_a_teachers_dollars_are_not_foreseen(self, capsys: pytest.CaptureFixture[str]) -> None:
        lines = (Line("merge", 1, 60.0, "so", ""),)
        for grpo in ({}, TEACHER):
            print_forecast(Forecast(L4, lines), profile("l4-v5", **grpo))
            said = "\nWhat the teacher takes for its answers is not in these dollars.\n"
            assert (said in capsys.readouterr().out) == (grpo == TEACHER)

    def test_a_model_whose_shape_nobody_knows_is_a_sentence(self) -> None:
        settings = load_profile(ROOT, "l4", ["model.name=some/model"])
        assert shape_of(settings.model) is None
        with pytest.raises(
            UserError,
            match=r"config of some/model is not at hand and the hub does not give it.*--set model.name=FOLDER",
        ):
            forecast(settings, L4)
