"""The pieces of a run that a GPU would work on, each run once on the meta device: our code, TRL's head, transformers'
layers, with the shapes of a profile and no numbers in them.

The model is a Qwen3 of the profile's shape; another architecture of the same shape differs by little. 4-bit weights are
counted as 16-bit ones for kernels and traffic, and by their size for memory. Unsloth's own kernels are not seen: its
backend is counted as transformers with checkpointing.

All layers are alike, so each piece is run with two of them and with three, and the rest follows.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from peft import get_peft_model
from torch import Tensor
from transformers import DynamicCache, Qwen3Config, Qwen3ForCausalLM

from tucano.requirements.machines import HOST_SECONDS, Machine
from tucano.requirements.shapes import Shape
from tucano.settings.model import AdaptedModel
from tucano.training.checkpoints.weights import Policy
from tucano.training.foresight.meter import Meter
from tucano.training.policies import packed
from tucano.training.policies.load import lora_config
from tucano.training.samplers import slots
from tucano.training.samplers.decode import Decoder

POSITIONS = 2**16
SPENT = 0.8
"""Of the memory that is left, on activations that are kept: steps of other lengths leave gaps in it (assumed)."""


FEW, MORE = 2, 3
"""Layers that a piece is run with."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What a piece of a run takes, from meters that saw it with `FEW` and with `MORE` of its `layers`; 4-bit weights
    save `saved_bytes`.
    """

    few: Meter
    more: Meter
    layers: int
    saved_bytes: int

    @property
    def peak_bytes(self) -> int:
        return round(self._of_all(lambda meter: meter.peak_bytes)) - self.saved_bytes

    @property
    def kernels(self) -> int:
        return round(self._of_all(lambda meter: len(meter.kernels)))

    @property
    def moved_bytes(self) -> int:
        return round(self._of_all(lambda meter: meter.moved_bytes))

    def seconds(self, machine: Machine, as_graph: bool = False) -> float:
        """The slower of GPU and host decides, as the host starts kernels ahead; of a CUDA graph it starts none."""
        working = self._of_all(
            lambda meter: sum(machine.seconds(kernel.moved_bytes, kernel.operations) for kernel in meter.kernels)
        )
        return working if as_graph else max(working, HOST_SECONDS * self.kernels)

    def _of_all(self, value: Callable[[Meter], float]) -> float:
        return value(self.few) + (value(self.more) - value(self.few)) * (self.layers - FEW) / (MORE - FEW)


class Pieces:
    """Of one model on one GPU."""

    def __init__(self, model: AdaptedModel, shape: Shape) -> None:
        self._known: dict[tuple[str | int, ...], Piece] = {}
        self.model = model
        self.shape = shape
        self.saved_bytes = shape.matrices * 3 // 2 if model.quantization == "nf4" else 0
        self.dtype = getattr(torch, model.dtype)

    def policy(self, layers: int) -> Policy:
        """The base, of so many layers, with a new adapter, trained with checkpointing."""
        shape = self.shape
        config = Qwen3Config(
            vocab_size=shape.vocab_size or 0,
            hidden_size=shape.hidden_size,
            intermediate_size=shape.intermediate_size,
            num_hidden_layers=layers,
            num_attention_heads=shape.num_attention_heads,
            num_key_value_heads=shape.num_key_value_heads or shape.num_attention_heads,
            head_dim=shape.query // shape.num_attention_heads,
            max_position_embeddings=POSITIONS,
            tie_word_embeddings=shape.tie_word_embeddings,
        )
        with torch.device("meta"):
            policy = get_peft_model(Qwen3ForCausalLM(config).to(self.dtype), lora_config(self.model))
        for weight in policy.parameters():
            if weight.requires_grad:
                weight.data = weight.data.float()
        policy.gradient_checkpointing_enable({"use_reentrant": False, "preserve_rng_state": False})
        policy.enable_input_require_grads()
        return policy

    def update(self, rows: int, prompt: int, completion: int) -> Piece:
        """Forward and backward of `rows` sequences, with what AdamW keeps of the adapter: a step of GRPO's micro-batch,
        and of SFT, whose head is chunked in the same way.
        """

        def work(meter: Meter, policy: Policy) -> None:
            _hold_moments(meter, policy)
            self._read(policy.train(), rows, prompt, completion).sum().backward()

        return self._piece(work, "update", rows, prompt, completion)

    def packed(self, rows: int, prompt: int, completion: int, keeps: bool) -> Piece:
        """The same of a step of GRPO where rows are packed (tucano/training/policies/packed.py), all of these lengths;
        with the activations of all layers kept, or of none.
        """

        def work(meter: Meter, policy: Policy) -> None:
            _hold_moments(meter, policy)
            ids = torch.zeros(rows * (prompt + completion), dtype=torch.long, device="meta")
            starts = torch.zeros(rows + 1, dtype=torch.int32, device="meta")
            room = len(ids) * MORE if keeps else 0
            hidden = packed.last_hidden(policy, ids, ids, starts, prompt + completion, room)
            learned = ids[: rows * completion]
            packed.head(policy, hidden.index_select(0, learned), learned, 1.0)[0].sum().backward()

        return self._piece(work, "packed", rows, prompt, completion, keeps)

    def room(self, rows: int, prompt: int, completion: int, there_bytes: int) -> tuple[int, int]:
        """Of how many tokens' activations, times layers, there is memory beside a packed step of these lengths; and the
        bytes that the step then holds.
        """
        bare, whole = (self.packed(rows, prompt, completion, keeps).peak_bytes for keeps in (False, True))
        most = rows * (prompt + completion) * self.shape.num_hidden_layers
        left = max(0, round(SPENT * (there_bytes - bare)))
        return int(left / (whole - bare) * most), min(whole, bare + left)

    def reading(self, rows: int, prompt: int, completion: int) -> Piece:
        """Log-probabilities of a micro-batch, without gradients."""

        @torch.no_grad()
        def work(meter: Meter, policy: Policy) -> None:
            self._read(policy.train(), rows, prompt, completion)

        return self._piece(work, "reading", rows, prompt, completion)

    def token(self, rows: int, used: int, positions: int) -> Piece:
        """One token for each of `rows` completions by our own loop, after `used` tokens, in a cache for `positions`.
        Its peak is that of cutting the batch, too, when as many rows go on as ever do after a cut.
        """

        @torch.no_grad()
        def work(meter: Meter, policy: Policy) -> None:
            decoder = Decoder(policy)
            state, _ = slots.begun(decoder, [(0,) * used] * rows, positions - used, (0,), 1.0, None)
            meter.kernels.clear()  # the adapter is merged and the prompt read once for all tokens
            state.step(decoder, slots.up_to(used + 1, slots.SLOT_STEP))
            kernels = len(meter.kernels)
            state.select(torch.arange(int(slots.SHRINK_AT * rows), device="meta"), used)
            del meter.kernels[kernels:]  # a batch is cut once in many tokens

        return self._piece(work, "token", rows, used, positions)

    def token_by_transformers(self, rows: int, used: int) -> Piece:
        """The same by `generate`, where our loop cannot: adapters apart, a cache that is copied as it grows."""

        @torch.no_grad()
        def work(meter: Meter, policy: Policy) -> None:
            shape = (rows, self.shape.num_key_value_heads or self.shape.num_attention_heads, used)
            size = self.shape.query // self.shape.num_attention_heads
            block = torch.empty(*shape, size, dtype=self.dtype, device="meta")
            layers = policy.config.num_hidden_layers
            cache = DynamicCache([(block.clone(), block.clone()) for _ in range(layers)])
            meter.kernels.clear()
            ids = torch.zeros(rows, 1, dtype=torch.long, device="meta")
            mask = torch.ones(rows, 1, 1, used + 1, dtype=torch.bool, device="meta")
            logits = policy.eval()(input_ids=ids, position_ids=ids, attention_mask=mask, past_key_values=cache).logits
            slots.chosen(logits[:, -1], 1.0, torch.empty(1, rows, dtype=torch.float64, device="meta"))

        return self._piece(work, "token by transformers", rows, used)

    def _piece(self, work: Callable[[Meter, Policy], None], *named: str | int) -> Piece:
        """Run once for each name: the stages of a run ask for many pieces again."""
        if named not in self._known:
            few, more = (self._metered(work, layers) for layers in (FEW, MORE))
            self._known[named] = Piece(few, more, self.shape.num_hidden_layers, self.saved_bytes)
        return self._known[named]

    def _metered(self, work: Callable[[Meter, Policy], None], layers: int) -> Meter:
        policy = self.policy(layers)
        with Meter() as meter:
            meter.holds(list(policy.parameters()))
            work(meter, policy)
        return meter

    def _read(self, policy: Policy, rows: int, prompt: int, completion: int) -> Tensor:
        """[rows * completion] log-probabilities by TRL's fused head, as `_chunked_logps` takes them when every token of
        a completion counts; which do is a question of numbers, and here are none.
        """
        ids = torch.zeros(rows, prompt + completion, dtype=torch.long, device="meta")
        seen = torch.ones(rows, 1, prompt + completion, prompt + completion, dtype=torch.bool, device="meta")
        inner = policy.get_base_model()
        hidden = inner.base_model(input_ids=ids, attention_mask=seen, use_cache=False).last_hidden_state
        asked = hidden[:, :-1][:, -completion:].flatten(0, 1)
        return packed.head(policy, asked, ids[:, -completion:].flatten(), 1.0)[0]


def _hold_moments(meter: Meter, policy: Policy) -> None:
    """What AdamW keeps of the adapter."""
    trained = [weight for weight in policy.parameters() if weight.requires_grad]
    meter.holds([[torch.empty_like(weight) for weight in trained] for _ in ("first moment", "second moment")])
