"""A bounded load on `tucano serve`, on loopback: 32 clients, 2,000 requests, one new champion and one killed model
process in between. Is an answer lost, doubled or another's? How long does one take, and what is batching worth?

    python -m benchmarks.serve_load                       about four minutes on two cores
    python -m benchmarks.serve_load --requests 300 --tokens 16

The models are nano models with random weights: their answers are nonsense, and every prompt has one of its own, which
is computed before with the same weights and no server. So an answer that belongs to another request, or to another
version, is found by its text.
"""

import argparse
import asyncio
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import httpx
import numpy as np
import psutil
import torch
from transformers import PreTrainedTokenizerBase

from tucano.files.models import ServedFiles
from tucano.prompts import TASKS
from tucano.security.access import token
from tucano.settings import ModelSettings
from tucano.specs.registry import spec_of
from tucano.tracking import Tracker
from tucano.tracking.models import pack
from tucano.training.policies import served_model
from tucano.training.policies.chat import encode_chats, stop_tokens
from tucano.training.policies.load import load_policy
from tucano.training.policies.nano import build_model, build_tokenizer
from tucano.training.samplers import Decoding
from tucano.training.samplers.local import LocalSampler

MODEL = ModelSettings(max_length_tokens=512)
WORDS = "caixa fone entrega atraso produto loja pedido cliente frete desconto bonito ruim bom ótimo quebrado troca"
SYSTEMS = {task: spec_of(task).system_prompt for task in TASKS}
BY_MODEL, BY_RULES = ("push", "insights", "sql_qa"), "sentiment"
"""Tasks that the champion answers, and one whose route is [rules]."""
START_SECONDS = 180
Row = tuple[str, str]
"""Task and text of a request."""


def rows_of(count: int) -> list[Row]:
    """Different requests, every eighth for the rules."""
    rng = Random(7)
    words = WORDS.split()
    texts = [f"{number}: {' '.join(rng.choice(words) for _ in range(10))}" for number in range(count)]
    return [
        (BY_RULES if number % 8 == 0 else BY_MODEL[number % len(BY_MODEL)], text) for number, text in enumerate(texts)
    ]


def packed(place: Path, seed: int, tokens: int) -> None:
    """A nano model with random weights, as a version holds it. tokens: of its longest answer."""
    files = ServedFiles(place / str(seed) / "data")
    tokenizer = build_tokenizer([*SYSTEMS.values(), *(text for _, text in rows_of(400))], MODEL)
    build_model(tokenizer, MODEL, seed).save_pretrained(files.model)
    tokenizer.save_pretrained(files.model)
    files.system_prompts.write_text(json.dumps(SYSTEMS, ensure_ascii=False), encoding="utf-8")
    decoding = {"temperature": 0.0, "max_new_tokens": tokens, "seed": seed}
    files.serving.write_text(json.dumps(decoding), encoding="utf-8")
    example = [{"task": "push", "prompt": "Crie um push."}]
    pack(files.folder, Path(str(served_model.__file__)), place / str(seed) / "packed", example)


def registered(tracker: Tracker, place: Path, seed: int, alias: str = "champion") -> str:
    """What was packed as a new version of `tucano`; returns its name, like tucano/2."""
    run = tracker.start_pipeline(f"seed {seed}", {}, {})
    version = tracker.register("tucano", run, place / str(seed) / "packed", {"seed": seed}, [alias])
    return f"tucano/{version.version}"


def expected(place: Path, seed: int, rows: Sequence[Row], tokens: int) -> dict[Row, str]:
    """What a version answers, greedily, without any server."""
    folder = ServedFiles(place / str(seed) / "data").model
    policy, tokenizer = load_policy(MODEL, str(folder), None, trainable=False, seed=0)
    chats = [[{"role": "system", "content": SYSTEMS[task]}, {"role": "user", "content": text}] for task, text in rows]
    decoding = Decoding(tokens, 0.0, tuple(stop_tokens(policy, tokenizer)))
    draws = LocalSampler().sample(policy, encode_chats(tokenizer, chats), decoding)
    return {row: _whole(tokenizer, draw.tokens, decoding.stop) for row, draw in zip(rows, draws, strict=True)}


def _whole(tokenizer: PreTrainedTokenizerBase, tokens: Sequence[int], stop: Sequence[int]) -> str:
    """Its text; of one that the ceiling cut, without the half of a character that may stand last."""
    text = str(tokenizer.decode(tokens, skip_special_tokens=True))
    while tokens[-1] not in stop and text.endswith("\N{REPLACEMENT CHARACTER}"):
        text = text[:-1]
    return text.strip()


@dataclass(frozen=True)
class Prepared:
    """Two versions, the first of them champion of a storage, requests, and what each version answers to them."""

    storage: Path
    place: Path
    rows: list[Row]
    right: dict[str, dict[Row, str]]
    """{tucano/1, tucano/2: {request: answer}}"""


def prepared(place: Path, requests: int, tokens: int) -> Prepared:
    rows = rows_of(requests)
    (place / "runs").mkdir()
    right = {}
    for seed in (1, 2):
        packed(place, seed, tokens)
        right[f"tucano/{seed}"] = expected(place, seed, rows, tokens)
    registered(Tracker.connect(None, place / "runs"), place, 1)
    return Prepared(place / "runs", place, rows, right)


@dataclass(frozen=True)
class Served:
    """A running `tucano serve`."""

    url: str
    token: str
    pid: int
    log: Path

    def models(self) -> list[psutil.Process]:
        """The processes that hold models, the oldest first."""
        found = [child for child in psutil.Process(self.pid).children() if _holds_a_model(child)]
        return sorted(found, key=lambda child: child.create_time())

    def client(self, at_once: int) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            base_url=self.url,
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=120,
            limits=httpx.Limits(max_connections=at_once),
        )


def _holds_a_model(child: psutil.Process) -> bool:
    """False for one that has just ended: the retired champion's does while it is looked for."""
    try:
        return "tucano.training.answering.child" in child.cmdline()
    except psutil.NoSuchProcess:
        return False


@contextmanager
def serving(storage: Path, *settings: str) -> Iterator[Served]:
    """`tucano serve` over a storage, on any free port, until the block ends: then it has to end in order."""
    sets = [f"storage={storage}", "serving.poll_seconds=0.5", f"serving.routes={{{BY_RULES}: [rules]}}"]
    sets += ["serving.timeout_s=120", *settings]  # for a busy machine, where a process needs half a minute to start
    command = [sys.executable, "-m", "tucano.cli", "serve", "--port", "0"]
    for one in sets:
        command += ["--set", one]
    log = storage / f"serve-{time.time_ns()}.txt"
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    try:
        yield Served(_address(process, log), token(storage).text, process.pid, log)
        process.terminate()
        code = process.wait(90)
        assert code == 0, f"exit code {code}: {log.read_text(encoding='utf-8')}"
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _address(process: "subprocess.Popen[bytes]", log: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        said = log.read_text(encoding="utf-8")
        if found := re.search(r"^Serving +(http://\S+)", said, re.MULTILINE):
            return found[1]
        assert process.poll() is None, said
        time.sleep(0.1)
    raise AssertionError(f"it did not start: {log.read_text(encoding='utf-8')}")


@dataclass(frozen=True, slots=True)
class Got:
    """One answer: to which request, from whom, when it was asked for and when it came (seconds)."""

    row: Row
    identity: str
    text: str
    by: str
    asked: float
    came: float
    tokens: int


@dataclass
class Load:
    """Clients that ask one request after the other until all are asked."""

    served: Served
    got: list[Got] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    async def run(self, rows: Sequence[Row], clients: int) -> None:
        waiting = list(reversed(list(enumerate(rows))))
        async with self.served.client(clients) as client:
            await asyncio.gather(*(self._ask(client, waiting) for _ in range(clients)))

    async def _ask(self, client: httpx.AsyncClient, waiting: list[tuple[int, Row]]) -> None:
        """Even requests through OpenAI's form, odd ones through `/answer`."""
        while waiting:
            number, (task, text) = waiting.pop()
            asked = time.monotonic()
            if number % 2:
                reply = await client.post("/answer", json={"task": task, "text": text})
            else:
                chat = {"model": f"tucano:{task}", "messages": [{"role": "user", "content": text}]}
                reply = await client.post("/v1/chat/completions", json=chat)
            came = time.monotonic()
            if reply.status_code != httpx.codes.OK:
                self.faults.append(f"{reply.status_code} {reply.text[:200]}")
                continue
            said = reply.json()
            if number % 2:
                got = said["text"], said["by"], said["tokens_out"]
            else:
                message = said["choices"][0]["message"]["content"]
                got = message, said["system_fingerprint"], said["usage"]["completion_tokens"]
            self.got.append(Got((task, text), said["id"].removeprefix("chatcmpl-"), *got[:2], asked, came, got[2]))


def misdeeds(rows: Sequence[Row], got: Sequence[Got], right: dict[str, dict[Row, str]]) -> list[str]:
    """Every answer that is lost, doubled, another's, or of a version that had been replaced before it was asked for."""
    found = []
    for row, count in (Counter(rows) - Counter(one.row for one in got)).items():
        found.append(f"{count} lost: {row}")
    for row, count in (Counter(one.row for one in got) - Counter(rows)).items():
        found.append(f"{count} doubled: {row}")
    for identity, count in Counter(one.identity for one in got).items():
        if count > 1:
            found.append(f"{identity} came {count} times")
    for one in got:
        if (one.by == "rules") != (one.row[0] == BY_RULES):
            found.append(f"{one.row} was answered by {one.by}")
        elif one.by != "rules" and one.text != right[one.by][one.row]:
            found.append(f"{one.row} has not its own answer of {one.by}: {one.text[:60]!r}")
    newest = max(right)
    switched = min((one.came for one in got if one.by == newest), default=float("inf"))
    found += [
        f"{one.by} answered after {newest}"
        for one in got
        if one.by in right and one.by != newest and one.asked > switched
    ]
    return found


@dataclass
class Events:
    """What came of a load with a new champion and a killed process in it. starts: of model processes."""

    got: list[Got]
    misdeeds: list[str]
    killed: bool
    starts: int


def events(known: Prepared, clients: int) -> Events:
    """A load, with a new champion once a tenth is answered, and the oldest model process killed at half."""
    tracker = Tracker.connect(None, known.storage)
    rows = known.rows
    with serving(known.storage) as served:
        load = Load(served)

        async def until(share: float, running: "asyncio.Task[None]") -> None:
            while len(load.got) < share * len(rows) and not running.done():
                await asyncio.sleep(0.02)

        async def go() -> bool:
            running = asyncio.create_task(load.run(rows, clients))
            await until(0.1, running)
            name = await asyncio.to_thread(registered, tracker, known.place, 2)
            print(f"{name} is champion after {len(load.got)} answers", flush=True)
            await until(0.5, running)
            victim = served.models()[0]
            victim.kill()
            print(f"model process {victim.pid} killed after {len(load.got)} answers", flush=True)
            killed = not running.done()
            await running
            return killed

        killed = asyncio.run(go())
        said = httpx.get(f"{served.url}/metrics", headers={"Authorization": f"Bearer {served.token}"}).text
        print(served.log.read_text(encoding="utf-8").partition("Ctrl-C stops.")[2].strip(), flush=True)
    starts = re.findall(r"^tucano_model_starts_total.* ([\d.]+)$", said, re.MULTILINE)
    found = [*load.faults, *misdeeds(rows, load.got, known.right)]
    return Events(load.got, found, killed, int(sum(map(float, starts))))


def figures(name: str, got: Sequence[Got]) -> float:
    """Print them; returns answers per second."""
    seconds = max(one.came for one in got) - min(one.asked for one in got)
    p50, p95 = np.quantile([one.came - one.asked for one in got], [0.5, 0.95])
    rate, tokens = len(got) / seconds, sum(one.tokens for one in got) / seconds
    print(
        f"{name:<34} p50 {p50:6.3f} s   p95 {p95:6.3f} s   {rate:6.1f} answers/s   {tokens:7.0f} tokens/s", flush=True
    )
    return rate


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=48, help="of an answer (default: 48)")
    options = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="serve-load-"))
    try:
        torch.set_num_threads(2)
        return measured(prepared(place, options.requests, options.tokens), options.clients)
    finally:
        shutil.rmtree(place)


def measured(known: Prepared, clients: int) -> int:
    """Everything, printed; 1 where an answer was lost, doubled or wrong, or batching is worth too little."""
    found = events(known, clients)
    by = Counter(one.by for one in found.got)
    figures(f"{len(known.rows)} requests, {clients} clients, events", found.got)
    print(f"answered by {dict(by)}; lost, doubled or wrong: {len(found.misdeeds)}; model starts: {found.starts}")
    print("\n".join(found.misdeeds[:20]), flush=True)
    together, alone = compared(known.storage, known.rows, clients)
    print(f"batching is worth {together / alone:.1f} times one at a time")
    return int(bool(found.misdeeds) or len(by) < 3 or together < 3 * alone)


def compared(storage: Path, rows: Sequence[Row], clients: int) -> tuple[float, float]:
    """Answers per second of the model's tasks: in batches, and one at a time; and in batches for fewer clients."""
    asked = [row for row in rows if row[0] != BY_RULES]

    def rate(name: str, served: Served, count: int, at_once: int) -> float:
        load = Load(served)
        asyncio.run(load.run(asked[:count], at_once))
        assert not load.faults, load.faults[:3]
        return figures(name, load.got)

    with serving(storage) as served:
        rate("batches, 1 client", served, 30, 1)
        rate("batches, 8 clients", served, 200, 8)
        together = rate(f"batches, {clients} clients", served, 600, clients)
    with serving(storage, "serving.batch=1") as served:
        alone = rate(f"one at a time, {clients} clients", served, 120, clients)
    return together, alone


if __name__ == "__main__":
    sys.exit(main())
