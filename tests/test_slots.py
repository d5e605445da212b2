"""The decode loop of a GPU, of fixed shapes. All but the capture itself runs on a CPU."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, ClassVar
from unittest.mock import patch
from weakref import WeakSet

import pytest
import torch
import torch.nn.functional as F
from test_decode import STOP, VOCABULARY, greedy_by_transformers, random_prompts, tiny_model, with_random_adapter
from torch import Tensor, nn

from tucano.training.samplers import slots
from tucano.training.samplers.decode import Decoder

ATTENTION = F.scaled_dot_product_attention


def heads_inside(query: Tensor, keys: Tensor, values: Tensor, **how: Any) -> Tensor:
    """As flash, memory-efficient and cuDNN's attention may lay their result: [rows, length, heads, size] in memory."""
    return ATTENTION(query, keys, values, **how).transpose(1, 2).contiguous().transpose(1, 2)


def length_inside(query: Tensor, keys: Tensor, values: Tensor, **how: Any) -> Tensor:
    """No kernel's layout today, and none that a caller may care for."""
    return ATTENTION(query, keys, values, **how).permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0)


@contextmanager
def answering(said: list[Any]) -> Iterator[Iterator[Any]]:
    """On the meta device nobody knows what was drawn: whenever the host asks, it is told the next of these."""
    left = iter(said)
    with patch.object(Tensor, "tolist", lambda _: next(left)):
        yield left


@pytest.mark.parametrize("attention", [ATTENTION, heads_inside, length_inside])
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_attention_may_lay_its_result_as_it_likes(attention: Callable[..., Tensor], device: str) -> None:
    model, prompts = tiny_model(), random_prompts(3)
    expected = Decoder(model).sample(prompts, 5, [STOP], 0.0)
    with patch.object(F, "scaled_dot_product_attention", attention):
        if device == "cpu":
            assert Decoder(model).sample(prompts, 5, [STOP], 0.0) == expected
            assert slots.sample(Decoder(model), prompts, 5, [STOP], 0.0) == expected
        else:
            with answering([[False] * 3, [[9] * 5] * 3]):
                assert Decoder(model.to("meta")).sample(prompts, 5, [STOP], 0.0) == [[9] * 5] * 3


def test_a_gpu_is_asked_for_attention_that_its_fused_kernels_know() -> None:
    """With a mask and fewer heads of keys than of queries only the kernel that holds all scores is left."""
    asked: list[tuple[bool, int, int]] = []

    def noted(query: Tensor, keys: Tensor, values: Tensor, enable_gqa: bool = False, **how: Any) -> Tensor:
        asked.append((enable_gqa, query.shape[1], keys.shape[1]))
        return ATTENTION(query, keys, values, **how)

    decoder, prompts = Decoder(tiny_model().to("meta")), random_prompts(3)
    with patch.object(F, "scaled_dot_product_attention", noted), answering([[False] * 3, [[9] * 2] * 3]):
        decoder.sample(prompts, 2, [STOP], 0.0)
    assert {*asked} == {(False, 4, 4), (False, 2, 2)}


def test_greedy_tokens_equal_those_of_transformers() -> None:
    """Over several looks, several lengths of what is seen, and a batch that is cut; with an adapter on some matrices."""
    model, prompts = with_random_adapter(tiny_model()), random_prompts(25)
    with patch.object(slots, "SLOT_STEP", 8):
        ours = slots.sample(Decoder(model), [*prompts, prompts[0]], 40, [STOP], temperature=0)
    assert ours[:25] == [greedy_by_transformers(model, prompt, 40) for prompt in prompts]
    assert ours[25] == ours[0]
    assert min(map(len, ours)) < 17 and max(map(len, ours)) == 40


def test_a_draw_depends_on_its_number_and_its_row_alone() -> None:
    """The whole batch, cut on its way, draws what each row by itself gets from the same numbers."""
    decoder, prompts, seed = Decoder(tiny_model()), random_prompts(12), 5
    together = slots.sample(decoder, prompts, 40, [STOP], 1.0, torch.Generator().manual_seed(seed))
    uniforms = torch.rand(40, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    assert len({len(tokens) for tokens in together}) > 3
    for row, (prompt, tokens) in enumerate(zip(prompts, together, strict=True)):
        with torch.no_grad():
            logits = tiny_model()(input_ids=torch.tensor([[*prompt, *tokens]])).logits[0, len(prompt) - 1 : -1]
        cumulated = logits.double().softmax(dim=-1).cumsum(dim=-1)
        expected = (cumulated > uniforms[: len(tokens), row, None]).int().argmax(dim=-1)
        assert tokens == expected.tolist()


def test_draws_follow_the_softmax_at_the_temperature() -> None:
    logits, temperature, draws = torch.randn(1, VOCABULARY).expand(20_000, -1), 0.7, 20_000
    drawn = slots.chosen(logits, temperature, torch.rand(1, draws, dtype=torch.float64))
    seen, expected = torch.bincount(drawn, minlength=VOCABULARY) / draws, F.softmax(logits[0] / temperature, dim=-1)
    assert torch.allclose(seen, expected, atol=4 * (0.25 / draws) ** 0.5)


@pytest.mark.parametrize("uniform", [0.0, 1 - 2**-53])
def test_the_ends_of_the_interval_draw_a_token_of_some_probability(uniform: float) -> None:
    logits = torch.full((2, 5), float("-inf"))
    logits[:, 1:3] = 0.0
    logits[1, :] = float("nan")  # no token is right, and none is out of reach
    first, broken = slots.chosen(logits, 1.0, torch.full((1, 2), uniform, dtype=torch.float64)).tolist()
    assert first == (1 if uniform == 0 else 2) and 0 <= broken < 5


class Step(nn.Module):
    """One step with its state as buffers, which is how an exporter knows what may be written."""

    def __init__(self, decoder: Decoder, state: slots.Slots) -> None:
        super().__init__()
        self.decoder, self.state = decoder, state
        for name in (field.name for field in fields(state)):
            if isinstance(value := getattr(state, name), Tensor):
                self.register_buffer(name, value)
        for kind in ("keys", "values"):
            for layer, kept in enumerate(getattr(state.cache, kind)):
                self.register_buffer(f"{kind}_{layer}", kept)

    def forward(self) -> None:
        for name, buffer in self.named_buffers():
            kind, _, layer = name.partition("_")
            if layer:
                getattr(self.state.cache, kind)[int(layer)] = buffer
            else:
                setattr(self.state, name, buffer)
        self.state.step(self.decoder, 64)


def test_a_step_is_one_graph_of_fixed_shapes_without_allocations_or_reads_of_the_host() -> None:
    decoder = Decoder(with_random_adapter(tiny_model()))
    state, _ = slots.begun(decoder, random_prompts(8), 20, [STOP], 1.0, None)
    program = torch.export.export(Step(decoder, state), (), strict=False)
    assert program.range_constraints == {}  # no size is a symbol
    called = [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
    assert sum("scaled_dot_product_attention" in name for name in called) == 3
    for forbidden in (
        "_local_scalar_dense",
        "item",
        "nonzero",
        "masked_select",
        "empty",
        "zeros",
        "full",
        "arange",
        "cat.",
    ):
        assert not [name for name in called if forbidden in name.partition("aten.")[2]], forbidden
    assert not [name for name in called if "copy" in name and "device" in name]


def test_a_step_writes_in_place_and_only_where_it_may() -> None:
    """A captured graph reads and writes the addresses of its capture: state that a step replaced would be lost."""
    decoder = Decoder(tiny_model())
    state, _ = slots.begun(decoder, random_prompts(8), 20, [STOP], 1.0, None)
    before = {field.name: getattr(state, field.name) for field in fields(state)}
    addresses = {name: value.data_ptr() for name, value in before.items() if isinstance(value, Tensor)}
    state.step(decoder, 64)
    assert all(getattr(state, name) is value for name, value in before.items() if name != "temperature")
    assert {name: getattr(state, name).data_ptr() for name in addresses} == addresses


@pytest.mark.parametrize(("most", "looks"), [(2, 1), (16, 1), (17, 1), (18, 2), (50, 4)])
def test_the_host_looks_once_in_sixteen_tokens(most: int, looks: int) -> None:
    """On the meta device, where any other read raises. After the last token nobody looks but for the tokens."""
    decoder, prompts = Decoder(tiny_model().to("meta")), random_prompts(4)
    with answering([*[[False] * 4] * looks, [[9] * most] * 4]) as said:
        assert decoder.sample(prompts, most, [STOP], 1.0) == [[9] * most] * 4
    assert list(said) == []


class Graph:
    """A stand-in for torch.cuda.CUDAGraph that replays nothing."""

    alive: ClassVar[WeakSet["Graph"]] = WeakSet()
    captures: ClassVar[list[object]] = []

    def replay(self) -> None:
        pass

    @staticmethod
    @contextmanager
    def capture(graph: "Graph", pool: object = None, **_: object) -> Iterator[None]:
        """As torch 2.11 to 2.13 together allow it: the memory of graphs that are gone takes no other, and a graph that
        goes clears the workspace that a later one computes in.
        """
        assert pool is None or pool not in Graph.captures, "use_count > 0 INTERNAL ASSERT FAILED"
        assert not Graph.alive, "the graph before would take this one's workspace along"
        Graph.alive.add(graph)
        Graph.captures.append(pool)
        yield


def test_each_graph_has_memory_of_its_own_and_the_one_before_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tensor, "is_cuda", True)
    for name, stand_in in (("CUDAGraph", Graph), ("graph", Graph.capture), ("graph_pool_handle", object)):
        monkeypatch.setattr(torch.cuda, name, stand_in)
    decoder, prompts = Decoder(tiny_model().to("meta")), random_prompts(4)
    with answering([*[[False] * 4] * 7, [[9] * 100] * 4]):
        decoder.sample(prompts, 100, [STOP], 1.0)
    assert len(Graph.captures) == 2 and not Graph.alive
