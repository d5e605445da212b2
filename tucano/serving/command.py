"""`tucano serve`: everything put together, until Ctrl-C or SIGTERM.

Requests that were being answered are answered before it ends.
"""

import asyncio
import logging
import resource
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import uvicorn

from tucano.errors import UserError
from tucano.requirements.machine import require_device
from tucano.security.access import Token, token
from tucano.security.addresses import is_external
from tucano.serving.app import Service, app_of
from tucano.serving.door import Door
from tucano.serving.metrics import Metrics
from tucano.serving.process import ModelDied
from tucano.serving.protocol import PromptProtocol
from tucano.serving.request_log import FOLDER, RequestLog
from tucano.serving.routes import opened, references, what_leaves
from tucano.serving.versions import Versions
from tucano.settings import PipelineSettings
from tucano.storage.locks import owned
from tucano.storage.root import writable
from tucano.tracking import Tracker
from tucano.tracking.store import named, require_registry
from tucano.tracking.traces import Traces

OPEN_FILES = 8192
DRAIN_SECONDS = 60
"""What is being answered may take so long once the server is to end."""
UVICORN: dict[str, Any] = {
    "http": PromptProtocol,
    "ws": "none",
    "log_level": "error",  # a line for each odd request would be as many as somebody sends
    "lifespan": "off",
    "timeout_graceful_shutdown": DRAIN_SECONDS,
    "server_header": False,
}


def serve(settings: PipelineSettings, host: str, port: int) -> int:
    """Serve what the registry of a storage holds; exit code 0 when it was ended in order."""
    leaving = what_leaves(settings)
    require_device(settings.model)
    if references(settings):
        require_registry(settings.storage, settings.tracking_uri)
    with _listening(host, port) as listener:
        root = writable(settings.storage)
        known = token(root)
        with owned(root / FOLDER):
            _allow_connections()
            _say_less()
            tracker = Tracker.connect(named(settings.tracking_uri), root)
            for sentence in _warnings(leaving, host):
                print(f"tucano: {sentence}", flush=True)
            asyncio.run(_serve(settings, tracker, root, known, listener))
    return 0


async def _serve(
    settings: PipelineSettings, tracker: Tracker, root: Path, known: Token, listener: socket.socket
) -> None:
    async with _service(settings, tracker, root / FOLDER) as service:
        door = Door(app_of(service), known.text, settings.serving.request_bytes, service.metrics.refuse)
        config = uvicorn.Config(door, **UVICORN)
        address = _address(listener)
        print(_how_to_ask(service, address, known.shell), flush=True)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)  # uvicorn's own come before, and it raises them again at its end
        await uvicorn.Server(config).serve(sockets=[listener])
        print("Stopping: answering what was asked …", flush=True)


@asynccontextmanager
async def _service(settings: PipelineSettings, tracker: Tracker, folder: Path) -> AsyncIterator[Service]:
    metrics = Metrics()
    versions = Versions(settings, tracker, folder, list(references(settings).values()), metrics)
    async with AsyncExitStack() as closing:
        closing.push_async_callback(versions.close)
        trace = None
        if settings.serving.trace_requests:
            traces = Traces(tracker, folder.parent, metrics.not_traced.inc)
            closing.push_async_callback(asyncio.to_thread, traces.close)
            trace = traces.offer
        log = closing.enter_context(RequestLog(folder, settings.serving, metrics, trace))
        try:
            await versions.open()
        except ModelDied as died:
            raise UserError(f"the model's process ended while it started: {died}") from None
        routes = await opened(settings, versions, metrics, closing)
        watching = asyncio.create_task(versions.watch())
        try:
            yield Service(settings, routes, versions, metrics, log)
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching


def _allow_connections() -> None:
    """As many open files as connections may be here at once; a shell's usual limit of 1,024 is fewer."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _listening(host: str, port: int) -> socket.socket:
    if not host.strip():
        raise UserError("--host is empty, which would open every address of this machine; name one, like 127.0.0.1")
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as error:
        raise UserError(
            f"{host}:{port} cannot be listened on ({error}); choose another with --port (0: any free one) or --host"
        ) from None


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _warnings(leaving: str | None, host: str) -> list[str]:
    found = [leaving] if leaving else []
    if is_external(f"http://{f'[{host}]' if ':' in host else host}"):
        found.append(
            f"warning: {host} is open to other machines, and the token is sent as it is: put TLS before it"
            " (docs/serving.md)"
        )
    return found


def _say_less() -> None:
    """One line per event of ours; libraries only warn."""
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.WARNING)
    logging.getLogger("tucano").setLevel(logging.INFO)
    logging.getLogger("httpx").setLevel(logging.WARNING)


def _how_to_ask(service: Service, address: str, token_in_shell: str) -> str:
    held = ", ".join(f"{reference} is {version.name}" for reference, version in service.versions.held.items())
    return f"""
Serving   {address}   ({held or "no model of the registry"})
  TOKEN="{token_in_shell}"
  curl -s {address}/answer -H "Authorization: Bearer $TOKEN" \\
    -H 'Content-Type: application/json' -d '{{"text": "Crie um push para a trena, frete grátis."}}'
  openai: OpenAI(base_url="{address}/v1", api_key=TOKEN), model "{service.name}" or "{service.name}:push"
Health    {address}/health      figures  {address}/metrics (with the token)
Ctrl-C stops."""
