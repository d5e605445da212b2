"""A vLLM server of our own: started for one base model, reached through a socket in a private folder, ended with us.

It runs in an interpreter of its own (`worker.vllm_python`), because vLLM and Prefect need versions of fastapi that
exclude each other. Nothing of it can be reached from another machine or by another user: the socket lies in a folder
with mode 0700, and a secret is asked for besides.
"""

import logging
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx

from tucano.errors import UserError
from tucano.security.printable import printable, short
from tucano.settings.model import VLLM_RANKS, LoadedModel
from tucano.storage.logs import BoundedLog
from tucano.training.checkpoints import interruption
from tucano.training.samplers import guardian

log = logging.getLogger(__name__)

BASE = "base"
"""The name that the server gives to the base model."""
START_SECONDS = 900
"""Loading 0.5B weights and compiling for a GPU take one to three minutes; a cold disk takes longer."""
CONNECT_RETRIES = 5
"""With half a second, one, two ... between them: a busy server's queue of connections may be full for a moment."""
ANSWER_SECONDS = 1800
"""Of the slowest reply: all completions of one prompt, in a full queue."""
PROMPT_TOKENS = 8192
"""Of prompts that are read at a time, each in one piece: after a part of a prompt vLLM takes a random number back from
the question's own generator, which those of a CPU cannot (vLLM 0.30).
"""


class ServerDied(Exception):
    """The server ended, or does not answer any more."""


@dataclass(frozen=True, slots=True)
class ServerPlan:
    """What a server is started with.

    base: folder or hub id. rank: of the adapters, 0 for none. memory_share: of the GPU, for weights and cache. threads:
    of the CPU. log: where it writes what it says. gpu: by CUDA's name for it, where it is not that of this process.
    """

    python: str
    base: str
    model: LoadedModel
    rank: int
    memory_share: float
    threads: int
    log: Path
    gpu: str | None = None

    def arguments(self, socket: Path) -> list[str]:
        """Every option that shapes what is drawn, explicit: by default vLLM takes temperature and top-k from the
        model's own generation config, and reports log-probabilities before the temperature.
        """
        model, longest = self.model, self.model.max_length_tokens
        pinned = [] if model.revision is None or Path(self.base).exists() else ["--revision", model.revision]
        adapters = ["--enable-lora", "--max-loras", "1", "--max-cpu-loras", "2", "--max-lora-rank", str(self._rank())]
        return [
            *(_absolute(self.python), "-m", "vllm.entrypoints.openai.api_server", "--uds", str(socket)),
            *("--model", _absolute(self.base), "--served-model-name", BASE, "--dtype", model.dtype),
            *pinned,
            *("--max-model-len", str(longest), "--generation-config", "vllm"),
            *("--logprobs-mode", "processed_logprobs", "--gpu-memory-utilization", str(self.memory_share)),
            *("--no-enable-chunked-prefill", "--max-num-batched-tokens", str(max(PROMPT_TOKENS, longest))),
            *("--disable-uvicorn-access-log", "--no-enable-log-requests"),
            *(adapters if self.rank else []),
        ]

    def environment(self, secret: str) -> dict[str, str]:
        """Of ours what the libraries need, and nothing that is secret."""
        passed = (
            *("PATH", "HOME", "LANG", "TMPDIR", "HF_HOME", "HF_HUB_OFFLINE"),
            *("CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"),
        )
        return {
            **{name: os.environ[name] for name in passed if name in os.environ},
            **({"CUDA_VISIBLE_DEVICES": self.gpu} if self.gpu is not None else {}),
            "VLLM_API_KEY": secret,
            "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1",
            "VLLM_NO_USAGE_STATS": "1",
            "DO_NOT_TRACK": "1",
            "VLLM_CPU_KVCACHE_SPACE": "1",
            "OMP_NUM_THREADS": str(self.threads),
        }

    def _rank(self) -> int:
        if self.rank > VLLM_RANKS[-1]:
            raise UserError(
                f"model.lora_rank={self.rank} is more than vLLM serves ({VLLM_RANKS[-1]}); lower it, or set"
                " grpo.sampler=local"
            )
        return next(rank for rank in VLLM_RANKS if rank >= self.rank)


def _absolute(name: str) -> str:
    """A path of this folder as one of every folder; a model of a hub or a program on the PATH stays as it is."""
    return str(Path(name).absolute()) if Path(name).exists() else name


class Server:
    """A running server. `client` speaks to it; `died` says whether it has ended by itself."""

    def __init__(self, plan: ServerPlan) -> None:
        """Start it and wait until it answers. UserError with its last words where it cannot."""
        self.plan = plan
        self.place = Path(tempfile.mkdtemp(prefix="tucano-vllm-"))  # mode 0700; a socket's path has at most 107 bytes
        self._secret = secrets.token_urlsafe(32)
        socket = self.place / "socket"
        self._process = subprocess.Popen(
            [sys.executable, "-I", guardian.__file__, str(self.place), *plan.arguments(socket)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=plan.environment(self._secret),
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self.client = httpx.Client(
            transport=httpx.HTTPTransport(uds=str(socket), retries=CONNECT_RETRIES),
            base_url="http://vllm",
            headers={"Authorization": f"Bearer {self._secret}"},
            timeout=ANSWER_SECONDS,
        )
        try:
            self._wait()
        except BaseException:
            self.close()
            raise

    def died(self) -> bool:
        return self._process.poll() is not None

    def close(self) -> None:
        """End it with all its processes."""
        self.client.close()
        assert self._process.stdin is not None
        self._process.stdin.close()  # the guardian ends the server now
        try:
            self._process.wait(2 * guardian.GRACE_SECONDS + 5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join(guardian.GRACE_SECONDS)
        shutil.rmtree(self.place, ignore_errors=True)

    def _wait(self) -> None:
        log.info("the vLLM server of %s is starting (what it says: %s)", self.plan.base, self.plan.log)
        began = time.monotonic()
        while time.monotonic() - began < START_SECONDS:
            interruption.check()
            if self.died():
                self._listener.join(guardian.GRACE_SECONDS)
                raise UserError(
                    f"the vLLM server ended while it started: {self._last_words()} (all of it: {self.plan.log});"
                    " look at worker.vllm_python and worker.vllm_memory_share, or set grpo.sampler=local"
                )
            if self._healthy():
                log.info("the vLLM server answers after %.0f s", time.monotonic() - began)
                return
            time.sleep(0.5)
        raise UserError(
            f"the vLLM server did not answer within {START_SECONDS // 60} minutes (what it said: {self.plan.log}); try"
            " again, or set grpo.sampler=local"
        )

    def _listen(self) -> None:
        """What it says goes to a log of bounded size, as printable text."""
        assert self._process.stdout is not None
        with closing(BoundedLog(self.plan.log)) as file:
            for line in self._process.stdout:
                file.write(printable(line))

    def _healthy(self) -> bool:
        try:
            return self.client.get("/health", timeout=5).status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    def _last_words(self) -> str:
        """The last line that names an error; a traceback ends with it, and messages of shutting down follow."""
        with self.plan.log.open(encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in deque(file, 200) if line.strip()]
        errors = [line for line in lines if "Error" in line]
        return short((errors or lines or ["it said nothing"])[-1][-300:], 300)
