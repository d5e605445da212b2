"""A stand-in for a vLLM server, so that our side of it runs where vLLM is not installed (tests/test_vllm.py).

It answers what we ask, as vLLM 0.30 does: its own loop over transformers, one completion at a time, with the seed of
each answer one above the other's. What vLLM refuses, it refuses. `--mood` makes it misbehave.
"""

import argparse
import json
import os
import socketserver
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

MOODS = ("well", "stale", "refuses", "faulty", "dies", "slow", "silent")


def interpreter(folder: Path, mood: str = "well") -> str:
    """A command that stands in for the interpreter with vLLM."""
    assert mood in MOODS
    script = folder / f"python-{mood}"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} {__file__} --mood {mood} "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return str(script)


class Engine:
    """The model, with the weights of one adapter added to its own (W + alpha / r * B A)."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.base: Any = AutoModelForCausalLM.from_pretrained(options.model, dtype=torch.float32)
        self.weights = {name: tensor.clone() for name, tensor in self.base.state_dict().items()}
        self.adapters: dict[str, dict[str, torch.Tensor]] = {"base": {}}
        self.held = "base"
        self.names: set[str] = set()
        self.asked = 0
        self.lock = threading.Lock()

    def load(self, name: str, path: str) -> None:
        """The changes that an adapter makes, by the weight that they are added to."""
        stale = self.options.mood == "stale" and len(self.adapters) > 1
        self.adapters[name] = list(self.adapters.values())[-1] if stale else changes(Path(path))
        self.names.add(name)

    def hold(self, name: str) -> None:
        if name == self.held:
            return
        added = self.adapters[name]
        self.base.load_state_dict({key: weight + added.get(key, 0) for key, weight in self.weights.items()})
        self.held = name

    @torch.no_grad()
    def complete(self, asked: dict[str, Any], index: int) -> dict[str, Any]:
        self.hold(asked["model"])
        generator = torch.Generator().manual_seed(asked["seed"] + index)
        tokens: list[int] = []
        logps: list[float] = []
        while len(tokens) < asked["max_tokens"] and not set(tokens[-1:]) & set(asked["stop_token_ids"]):
            logits = self.base(torch.tensor([[*asked["prompt"], *tokens]])).logits[0, -1]
            spread = (logits / (asked["temperature"] or 1)).log_softmax(-1)
            greedy = asked["temperature"] == 0
            token = spread.argmax() if greedy else torch.multinomial(spread.exp(), 1, generator=generator)[0]
            tokens.append(int(token))
            logps.append(float(spread[token]))
        return {"index": index, "token_ids": tokens, "logprobs": {"token_logprobs": logps}}


def changes(folder: Path) -> dict[str, torch.Tensor]:
    config = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
    stored = load_file(folder / "adapter_model.safetensors")
    return {
        name.removeprefix("base_model.model.").replace("lora_A.weight", "weight"): config["lora_alpha"]
        / config["r"]
        * (stored[name.replace("lora_A", "lora_B")] @ matrix)
        for name, matrix in stored.items()
        if "lora_A" in name
    }


class Handler(BaseHTTPRequestHandler):
    """One engine for all requests, one at a time."""

    engine: Engine
    protocol_version = "HTTP/1.1"

    def address_string(self) -> str:
        return "socket"

    def do_GET(self) -> None:
        assert self.path == "/health"
        self._reply(200, {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers.get("Authorization") != f"Bearer {os.environ['VLLM_API_KEY']}":
            return self._reply(401, {"error": "Unauthorized"})
        with self.engine.lock:
            self._reply(*self._answer(body))

    def _answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        engine = self.engine
        if self.path == "/v1/load_lora_adapter":
            if body["lora_name"] in engine.names:
                return 400, {"error": "already loaded"}
            engine.load(body["lora_name"], body["lora_path"])
            return 200, {}
        if self.path == "/v1/unload_lora_adapter":
            engine.names.remove(body["lora_name"])
            return 200, {}
        engine.asked += 1
        if (fault := self._fault()) is not None:
            return fault
        if body["model"] not in {"base", *engine.names}:
            return 404, {"error": f"the model {body['model']} does not exist"}
        if body["temperature"] == 0 and body["n"] > 1:
            return 400, {"error": "n must be 1 when using greedy sampling"}
        return 200, {"choices": [engine.complete(body, index) for index in reversed(range(body["n"]))]}

    def _fault(self) -> tuple[int, dict[str, Any]] | None:
        """What the mood makes of the third question."""
        mood = self.engine.options.mood
        if mood == "refuses":
            return 400, {"error": "max_tokens is too large"}
        if mood == "faulty" and self.engine.asked == 3:
            return 500, {"error": "EngineDeadError"}
        if mood == "dies" and self.engine.asked == 3:
            os._exit(9)
        if mood == "slow":
            time.sleep(60)
        return None

    def _reply(self, status: int, body: dict[str, Any]) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


class Server(socketserver.ThreadingUnixStreamServer):
    """With room for all that connect at once."""

    request_queue_size = 128
    daemon_threads = True


def main() -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--mood", choices=MOODS)
    parser.add_argument("--uds")
    parser.add_argument("--model")
    options, rest = parser.parse_known_args()
    print("started with", rest, flush=True)
    if options.mood == "silent":
        sys.exit("RuntimeError: no device \x1b[31m at http://user:geheim@host/x")
    # As vLLM's engine, which does not notice our death and whose environment nobody can read
    subprocess.Popen(["sleep", "600"], start_new_session=True, env={})
    torch.set_num_threads(1)
    Handler.engine = Engine(options)
    with Server(options.uds, Handler) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
