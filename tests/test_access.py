"""The password of a home, links that log in once, and the door in front of a server."""

import json
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from browser import open_page
from fastapi import FastAPI
from fastapi.testclient import TestClient
from programs import python
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from deployments.prefect_api import require_login
from deployments.servers import mlflow_environment
from tucano.errors import UserError
from tucano.security import access, guard
from tucano.security.access import basic, credentials, credentials_file, is_link_token, login_link
from tucano.security.guard import Guard
from tucano.tracking.store import open_client

ROOT = Path(__file__).parent.parent
EVIL = "http://127.0.0.1:9999"
"""Another user's page on the same machine: for a browser the same site, and another origin."""
KNOWN = access.fresh()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs"


def test_a_home_has_one_password_that_only_its_owner_reads(home: Path, tmp_path: Path) -> None:
    known = credentials(home)
    assert len(known) == len("tucano:") + 43
    assert credentials(home) == known
    assert credentials(home / "logs" / "..") == known
    file = credentials_file(home)
    assert file.is_relative_to(tmp_path / "state") and file.read_text(encoding="utf-8") == f"{known}\n"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)] == [0o600, 0o700]
    assert list(home.iterdir()) == []
    assert credentials(tmp_path / "other") != known


def test_processes_that_make_it_at_once_agree(home: Path) -> None:
    ask = (
        "import sys; from pathlib import Path; from tucano.security.access import credentials; input();"
        " print(credentials(Path(sys.argv[1])))"
    )
    command = [sys.executable, "-c", ask, str(home)]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    asking = [subprocess.Popen(command, cwd=ROOT, **pipes) for _ in range(6)]
    for process in asking:
        assert process.stdin is not None
        process.stdin.write("now\n")
        process.stdin.flush()
    assert {process.communicate(timeout=900)[0].strip() for process in asking} == {credentials(home)}
    assert list(credentials_file(home).parent.iterdir()) == [credentials_file(home)], "no drafts are left"


def test_it_never_lies_in_what_it_protects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "runs" / "state"))
    with pytest.raises(
        UserError, match=r"runs holds .*/runs/state/tucano, where passwords lie; use a folder of its own"
    ):
        credentials(tmp_path / "runs")


HARMS: dict[str, Callable[[Path], object]] = {
    "others than you may have read": lambda file: file.chmod(0o640),
    "is empty or damaged; remove it": lambda file: file.write_text("", encoding="utf-8"),
    r"cannot be kept in .* set XDG_STATE_HOME": lambda file: file.symlink_to(file.rename(f"{file}.elsewhere")),
}


@pytest.mark.parametrize("said", HARMS)
def test_a_password_that_cannot_be_trusted_is_a_sentence(said: str, home: Path) -> None:
    credentials(home)
    HARMS[said](credentials_file(home))
    with pytest.raises(UserError, match=rf"^[^\n]*{said}[^\n]*$"):
        credentials(home)


def token_for(page: str) -> str:
    link = login_link(page, KNOWN)
    assert link.startswith(f"{page}/enter#") and KNOWN.partition(":")[2] not in link
    return link.partition("#")[2]


def test_a_link_is_good_for_its_own_server_until_it_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    token = token_for("http://127.0.0.1:4200")
    assert is_link_token(token, 4200, KNOWN)
    assert not is_link_token(token, 5000, KNOWN), "the other server's"
    assert not is_link_token(token, 4200, access.fresh()), "another home's"
    assert not is_link_token(f"9{token}", 4200, KNOWN), "a later end"
    assert not any(is_link_token(text, 4200, KNOWN) for text in ("", ".", "a.b.c", "é.é.é"))
    assert not is_link_token(token, 4200, KNOWN, since=time.time() + 1), "of a server that was started after it"
    later = time.time() + 3601
    monkeypatch.setattr(time, "time", lambda: later)
    assert not is_link_token(token, 4200, KNOWN)


def test_credentials_go_only_to_the_server_that_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:5000")
    for name, value in access.tracking_environment(KNOWN).items():
        monkeypatch.setenv(name, value)
    access.withhold_from("http://127.0.0.1:5000/")
    assert os.environ["MLFLOW_TRACKING_PASSWORD"] == KNOWN.partition(":")[2]
    access.withhold_from("https://mlflow.example.org")
    assert "MLFLOW_TRACKING_PASSWORD" not in os.environ and "MLFLOW_TRACKING_USERNAME" not in os.environ


async def echo(opened: WebSocket) -> None:
    await opened.accept()
    await opened.send_text("hello")
    await opened.close()


async def repeat(opened: WebSocket) -> None:
    """As Prefect's sockets begin: accept, then read a first message."""
    await opened.accept()
    with suppress(WebSocketDisconnect):
        await opened.send_text(await opened.receive_text())
        await opened.send_text(await opened.receive_text())
        await opened.close()


@pytest.fixture(scope="module")
def page() -> Iterator[str]:
    """The address of a guarded server whose every page reads «the page»."""
    anything = Route("/{path:path}", lambda request: PlainTextResponse("the page"), methods=["GET", "POST"])
    app = Starlette(routes=[anything, WebSocketRoute("/events", echo), WebSocketRoute("/repeat", repeat)])
    guarded = Guard(
        app, KNOWN, lambda path: path == "/health", "known => sessionStorage.setItem('known', known)", challenge=True
    )
    server = uvicorn.Server(uvicorn.Config(guarded, log_level="warning"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()


@pytest.fixture
def door(page: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=page) as client:
        yield client


OWN = {"Authorization": basic(KNOWN)}


@pytest.mark.parametrize(
    "headers",
    [
        {}, {"Authorization": basic("tucano:")}, {"Authorization": basic(f"{KNOWN}x")},
        {"Authorization": basic(f"ana:{KNOWN[7:]}")}, {"Authorization": f"Bearer {KNOWN}"},
        {"Authorization": "Básico é"}, {"Origin": EVIL}, {"Host": "evil.example", "Origin": "http://evil.example"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/api", "/health/../secret", "//health", "/health/", "/HEALTH"])
def test_who_does_not_know_the_password_gets_401(door: httpx.Client, headers: dict[str, str], path: str) -> None:
    sent = {name.encode(): value.encode() for name, value in headers.items()}
    for method in ("GET", "POST", "OPTIONS"):
        answer = door.request(method, path, headers=sent)
        assert answer.status_code == 401 and ("WWW-Authenticate" in answer.headers) == (headers.get("Origin") != EVIL)
        assert "the page" not in answer.text and "Access-Control-Allow-Origin" not in answer.headers


def test_who_knows_it_comes_through_and_health_is_open(door: httpx.Client, page: str) -> None:
    assert door.get("/", headers=OWN).text == door.post("/", headers=OWN | {"Origin": page}).text == "the page"
    assert door.get("/health").status_code == 200


@pytest.mark.parametrize("origin", [EVIL, "http://evil.example", "null", "http://127.0.0.1", "http://localhost"])
def test_a_page_of_another_origin_gets_403_in_a_browser_that_is_logged_in(
    door: httpx.Client, page: str, origin: str
) -> None:
    for path in ("/", "/health"):
        assert door.post(path, headers=OWN | {"Origin": origin}).status_code == 403
    with pytest.raises(InvalidStatus, match="403"):
        connect(f"{page.replace('http', 'ws')}/events", additional_headers={"Origin": origin})


@pytest.mark.parametrize(
    "first",
    ["xxxxx", "[]", '{"type": "auth", "token": {"a": 1}}', '{"type": "auth", "token": "tucano:"}', "[" * 9999, b"\xff"],
)
def test_a_websocket_reads_nothing_before_the_password(page: str, first: str | bytes) -> None:
    with connect(f"{page.replace('http', 'ws')}/repeat") as opened:
        opened.send(first)
        with pytest.raises(ConnectionClosed) as closed:
            opened.recv()
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 1008


def test_a_websocket_that_gives_the_password_is_read(page: str) -> None:
    login = json.dumps({"type": "auth", "token": KNOWN})
    with connect(f"{page.replace('http', 'ws')}/repeat", additional_headers={"Origin": page}) as opened:
        opened.send(login)
        assert opened.recv() == login
        opened.send("filter")
        assert opened.recv() == "filter"


def test_a_websocket_that_says_nothing_is_closed(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "FIRST_MESSAGE_SECONDS", 0.1)
    with connect(f"{page.replace('http', 'ws')}/repeat") as opened, pytest.raises(ConnectionClosed):
        opened.recv(timeout=600)


def test_no_other_page_may_show_ours_in_a_frame(door: httpx.Client) -> None:
    for answer in (door.get("/", headers=OWN), door.get("/"), door.get("/enter")):
        policies = answer.headers.get_list("Content-Security-Policy")
        assert "frame-ancestors 'self'" in policies and policies[-1].startswith("default-src 'self' ")
        assert "http" not in policies[-1], "a source that is not ours"


def test_a_page_of_ours_asks_nobody_but_its_own_server(page: str, tmp_path: Path) -> None:
    """Prefect's page would ask amplitude.com, whatever its settings say."""
    asked = []
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(1)
    elsewhere = f"http://127.0.0.1:{listener.getsockname()[1]}/telemetry"
    with listener, open_page(tmp_path) as tab:
        tab.go(f"{page}/health")
        tab.wait_for("document.body?.innerText", "the page")
        for ask in ("fetch('{}')", "navigator.sendBeacon('{}')", "new Image().src = '{}'"):
            tab.evaluate(ask.format(elsewhere))
        tab.evaluate("fetch('/health').then(answer => answer.text()).then(text => { window.own = text })")
        tab.wait_for("window.own", "the page")
        with suppress(TimeoutError):
            asked.append(listener.accept())
    assert asked == []


def test_a_link_logs_in_once(door: httpx.Client, page: str) -> None:
    token = token_for(page)
    opened = door.get("/enter")
    assert opened.status_code == 200 and KNOWN not in opened.text and "sessionStorage" in opened.text
    assert door.post("/enter", content=token, headers={"Origin": EVIL}).status_code == 403
    answer = door.post("/enter", content=token, headers={"Origin": page})
    assert (answer.text, answer.headers["Cache-Control"]) == (KNOWN, "no-store")
    for used, said in ((token, "used before"), ("é" * 50, ""), ("9" * 100_000, "")):
        again = door.post("/enter", content=used.encode(), headers={"Origin": page})
        assert again.status_code == 403 and said in again.text and KNOWN not in again.text


@pytest.mark.parametrize(
    ("module", "arguments", "variable"),
    [
        ("deployments.prefect_app", ["127.0.0.1:0", "all"], "PREFECT_SERVER_API_AUTH_STRING"),
        ("tucano.tracking.server", ["127.0.0.1:0"], "MLFLOW_TRACKING_PASSWORD"),
    ],
)
def test_no_server_starts_without_a_password(
    module: str, arguments: list[str], variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(variable, raising=False)
    done = python("-m", module, *arguments)
    assert done.returncode == 1 and done.stderr.splitlines()[-1].endswith(f"without a password; set {variable}")


def test_an_mlflow_server_that_wants_a_login_is_a_sentence(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(
        UserError, match=rf"^tracking_uri={page} wants a login; set MLFLOW_TRACKING_USERNAME and .* in the environment"
    ):
        open_client(page)


def test_a_prefect_server_that_wants_a_password_is_a_sentence(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", f"{page}/api")
    monkeypatch.delenv("PREFECT_API_AUTH_STRING", raising=False)
    with pytest.raises(UserError, match=rf"^PREFECT_API_URL={page}/api wants a password; set PREFECT_API_AUTH_STRING"):
        require_login()
    monkeypatch.setenv("PREFECT_API_AUTH_STRING", KNOWN)
    require_login()


def test_mlflow_answers_to_the_name_that_a_proxy_passes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its own middleware, as our environment has it; it said 403, and jobs reach it by such a name."""
    from mlflow.server.fastapi_security import init_fastapi_security

    for name, value in mlflow_environment(tmp_path, "sqlite://", "tucano:abc").items():
        monkeypatch.setenv(name, value)
    app = FastAPI()
    app.get("/api/2.0/mlflow/runs")(lambda: "found")
    init_fastapi_security(app)
    answer = TestClient(app).get("/api/2.0/mlflow/runs", headers={"Host": "mlflow.shop.example"})
    assert (answer.status_code, answer.text) == (200, '"found"')
