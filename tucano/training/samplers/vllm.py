"""Draws from a vLLM server that holds the same base model, with the policy's adapter swapped in before it is asked.

Which weights the server holds is known by their digest, not by a count of steps: nothing that changes a policy can be
forgotten. Each state gets an adapter name of its own, because the server's cache of prompts goes by that name. Whether
what was drawn is the policy's, the trainer says, which reads every completion again: the mean difference of the two
log-probabilities is logged at every step and watched by an alarm (tucano/training/health.py, `sampler_apart`).
"""

import hashlib
import logging
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import httpx
import torch
from peft import PeftModel

from tucano.errors import WorkerFailed
from tucano.training.checkpoints import interruption, weights
from tucano.training.checkpoints.states import raw
from tucano.training.checkpoints.weights import Policy
from tucano.training.jobs import pulse
from tucano.training.samplers import Decoding, Draw, dequantised
from tucano.training.samplers.server import BASE, Server, ServerDied, ServerPlan

log = logging.getLogger(__name__)

AT_ONCE = 32
"""Prompts that are asked about at a time; the server batches them."""
RESTARTS = 3
"""Of the server, for one batch of prompts."""
SEEDS = 2**31


class VllmSampler:
    """Keeps a server for one base model; it starts with the first question and is ended by `close`."""

    def __init__(self, plan: ServerPlan) -> None:
        self.plan = plan
        self._server: Server | None = None
        self._loaded: str | None = None
        """The adapter that the server holds."""

    def sample(
        self,
        policy: Policy,
        prompts: Sequence[Sequence[int]],
        decoding: Decoding,
        generator: torch.Generator | None = None,
    ) -> list[Draw]:
        """See `Sampler`. Equal prompts that stand side by side are one question with several answers: with one
        question each they would need seeds that differ.

        A server that has died is started again, and the same questions are asked with the same seeds.
        """
        groups = [(list(ids), len(list(same))) for ids, same in groupby(prompts, key=tuple)]
        seeds = torch.randint(SEEDS, (len(groups),), generator=generator).tolist()
        for _ in range(1 + RESTARTS):
            try:
                name = self._hold(policy)
                return [draw for draws in self._ask(name, groups, seeds, decoding) for draw in draws]
            except (ServerDied, httpx.TransportError) as error:
                interruption.check()
                log.warning("the vLLM server does not answer any more (%s); it is started again", error)
                self.close()
        raise WorkerFailed(f"the vLLM server died {1 + RESTARTS} times over one batch (what it said: {self.plan.log})")

    def close(self) -> None:
        """End the server; the next question starts another one."""
        if self._server is not None:
            self._server.close()
        self._server, self._loaded = None, None
        shutil.rmtree(self._dequantised, ignore_errors=True)

    @property
    def _dequantised(self) -> Path:
        return self.plan.log.with_name("dequantised")

    def _as_trained(self, policy: Policy) -> ServerPlan:
        """The plan, with the base that the policy computes with: of a 4-bit one a folder of our own."""
        if self.plan.model.quantization == "none":
            return self.plan
        shutil.rmtree(self._dequantised, ignore_errors=True)  # a killed process may have left a part
        dequantised.write(policy, self.plan.base, self.plan.model, self._dequantised)
        return replace(self.plan, base=str(self._dequantised))

    def _hold(self, policy: Policy) -> str:
        """The name under which the server holds these weights, from now on if it did not."""
        if self._server is None:
            self._server = Server(self._as_trained(policy))
        if not isinstance(policy, PeftModel):
            return BASE
        name = f"policy-{_digest(policy)}"
        if name != self._loaded:
            folder = self._server.place / name
            weights.save(policy, folder)
            _post(self._server, "/v1/load_lora_adapter", {"lora_name": name, "lora_path": str(folder)})
            if self._loaded is not None:
                _post(self._server, "/v1/unload_lora_adapter", {"lora_name": self._loaded})
                shutil.rmtree(self._server.place / self._loaded)
            self._loaded = name
        return name

    def _ask(
        self, name: str, groups: Sequence[tuple[list[int], int]], seeds: Sequence[int], decoding: Decoding
    ) -> Iterator[list[Draw]]:
        assert self._server is not None
        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            waiting = [
                pool.submit(_complete, self._server, _question(name, prompt, count, seed, decoding))
                for (prompt, count), seed in zip(groups, seeds, strict=True)
            ]
            for (_, count), future in zip(groups, waiting, strict=True):
                yield _draws(_awaited(future), count, decoding)
                pulse()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _digest(policy: PeftModel) -> str:
    hashed = hashlib.blake2b(digest_size=12)
    for name, tensor in sorted(weights.adapter(policy, weights.TRAINED).items()):
        hashed.update(name.encode())
        hashed.update(raw(tensor).numpy().data)
    return hashed.hexdigest()


def _question(name: str, prompt: list[int], count: int, seed: int, decoding: Decoding) -> dict[str, Any]:
    """Of a greedy decoding all answers are the same; vLLM takes no more than one."""
    form = {} if decoding.form is None else {"structured_outputs": {"json": decoding.form}}
    return form | {
        "model": name,
        "prompt": prompt,
        "n": count if decoding.temperature > 0 else 1,
        "seed": seed,
        "max_tokens": decoding.max_new_tokens,
        "temperature": decoding.temperature,
        "top_p": 1.0,
        "top_k": 0,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "stop_token_ids": list(decoding.stop),
        "logprobs": 0,
        "return_token_ids": True,
        "skip_special_tokens": False,
    }


def _awaited(future: "Future[list[dict[str, Any]]]") -> list[dict[str, Any]]:
    """Its result, unless SIGTERM comes first."""
    while not wait([future], timeout=0.2).done:
        interruption.check()
    return future.result()


def _complete(server: Server, question: dict[str, Any]) -> list[dict[str, Any]]:
    choices: list[dict[str, Any]] = _post(server, "/v1/completions", question).json()["choices"]
    return sorted(choices, key=lambda choice: int(choice["index"]))


def _post(server: Server, path: str, body: dict[str, Any]) -> httpx.Response:
    """ServerDied for a fault of the server; WorkerFailed where it refuses what we ask, as it always will."""
    reply = server.client.post(path, json=body)
    if reply.is_server_error:
        raise ServerDied(f"{path}: HTTP {reply.status_code} {reply.text[:200]}")
    if not reply.is_success:
        raise WorkerFailed(f"the vLLM server refuses {path}: HTTP {reply.status_code} {reply.text[:300]}")
    return reply


def _draws(choices: list[dict[str, Any]], count: int, decoding: Decoding) -> list[Draw]:
    found = [Draw(list(choice["token_ids"]), _logps(choice)) for choice in choices]
    if len(found) == 1:
        found *= count
    assert len(found) == count, "vLLM gives as many answers as it is asked for"
    assert all(0 < len(draw.tokens) <= decoding.max_new_tokens for draw in found), "and each within its ceiling"
    return found


def _logps(choice: dict[str, Any]) -> list[float]:
    """One per token; vLLM writes None for what is not a number."""
    logps = [float("nan") if value is None else float(value) for value in choice["logprobs"]["token_logprobs"]]
    assert len(logps) == len(choice["token_ids"]), "each token comes with its log-probability"
    return logps
