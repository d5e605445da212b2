"""Another user, and a page of another origin in the operator's browser, ask a real `tucano up` for a shell command."""

import http.client
import json
import os
import shutil
import stat
import subprocess
import uuid
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
from browser import Page, open_page
from pace import until
from prefect_page import login_links
from programs import answering
from small_stack import stack_home

from deployments import stack

pytestmark = [pytest.mark.services, pytest.mark.timeout(600)]
ROOT = Path(__file__).parent.parent
FOREIGN = {"Host": "evil.example", "Origin": "http://evil.example"}
Send = Callable[[str, Any], dict[str, Any]]
"""POST of a body to a path of Prefect's API: the answer's content."""


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    with stack_home() as folder:
        yield folder


@pytest.fixture(scope="module")
def up(home: Path) -> Iterator[stack.Stack]:
    project = home / "project"
    project.mkdir()
    shutil.copy(ROOT / "prefect.yaml", project)
    made = stack.opened(home / "runs", project)
    stack.up(made)
    yield made
    stack.down(made)


@pytest.fixture(scope="module")
def traces(home: Path) -> Path:
    """Where a shell command that is run leaves a file."""
    folder = home / "traces"
    folder.mkdir()
    return folder


def shell_command(send: Send, trace: Path) -> None:
    """Ask for a run that begins with one; goes on with made-up ids where it is told none."""
    unknown = {"id": str(uuid.uuid4())}
    flow = send("flows/", {"name": "train"}) or unknown
    pull = {"prefect.deployments.steps.run_shell_script": {"script": f"touch {trace}"}}
    wanted = {
        "name": trace.name,
        "flow_id": flow["id"],
        "entrypoint": "flows.audit.audit",
        "work_pool_name": "local",
        "pull_steps": [pull],
    }
    deployment = send("deployments/", wanted) or unknown
    send(f"deployments/{deployment['id']}/create_flow_run", {})


def sender(page: str, headers: dict[str, str], codes: list[int]) -> Send:
    """Like curl: sends these headers and nothing else of its own; notes the status codes."""

    def send(path: str, body: Any) -> dict[str, Any]:
        connection = http.client.HTTPConnection(str(urlsplit(page).netloc), timeout=600)
        connection.putrequest("POST", f"/api/{path}", skip_host="Host" in headers)
        content = json.dumps(body).encode()
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            connection.putheader(name, value)
        connection.endheaders(content)
        answer = connection.getresponse()
        codes.append(answer.status)
        return dict(json.load(answer)) if answer.status in (200, 201) else {}

    return send


@pytest.mark.parametrize(
    "headers", [{}, FOREIGN, FOREIGN | {"Content-Type": "application/json"}, {"Authorization": "Basic dHVjYW5vOg=="}]
)
def test_another_user_gets_401(up: stack.Stack, traces: Path, headers: dict[str, str]) -> None:
    codes: list[int] = []
    shell_command(sender(up.prefect, headers, codes), traces / f"user-{len(str(headers))}")
    assert codes == [401, 401, 401]


EVIL = """<!doctype html><title>…</title><script>
const told = [];
const send = async (server, path, body, more) => {
  try {
    const answer = await fetch(server + path, {method: 'POST', body, ...more});
    told.push(answer.status);
    return await answer.json();
  } catch (error) { told.push('nothing'); return {id: '00000000-0000-4000-8000-000000000000'}; }
};
(async () => {
  for (const more of [{}, {credentials: 'include'}, {credentials: 'include', mode: 'no-cors'}])
    for (const packed of [text => text, text => new Blob([text])]) {  // a Blob has no Content-Type: no preflight, and Prefect takes it for JSON
      const post = (path, content) => send('PREFECT/api/', path, packed(JSON.stringify(content)), more);
      const flow = await post('flows/', {name: 'train'});
      const pull = {'prefect.deployments.steps.run_shell_script': {script: 'touch TRACE'}};
      const made = await post('deployments/', {name: 'page' + told.length, flow_id: flow.id, entrypoint: 'flows.audit.audit',
        work_pool_name: 'local', pull_steps: [pull]});
      await post('deployments/' + made.id + '/create_flow_run', {});
      await send('MLFLOW/', 'ajax-api/2.0/mlflow/experiments/create', packed(JSON.stringify({name: 'evil' + told.length})), more);
    }
  document.title = [...new Set(told)].join();
})();
</script>"""


NOTHING = "nothing,0"
"""What the page can tell of its requests: that they failed, or not even that (0)."""


@pytest.fixture
def evil(up: stack.Stack, traces: Path) -> Iterator[str]:
    """A page of another origin, for a browser even of the same site."""
    text = EVIL.replace("PREFECT", up.prefect).replace("MLFLOW", up.mlflow).replace("TRACE", str(traces / "page"))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Requests are no news."""

    with answering(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as server:
        yield f"http://127.0.0.1:{server.server_port}/"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with open_page(tmp_path_factory.mktemp("chromium"), patience=300) as page:
        yield page


def test_a_page_of_another_origin_gets_nothing(browser: Page, evil: str) -> None:
    browser.go(evil)
    browser.wait_for("document.title", NOTHING)


def test_nor_does_it_in_a_browser_that_is_logged_in(up: stack.Stack, browser: Page, evil: str) -> None:
    links = login_links(up)
    assert len(links) == 2
    for link in links:
        browser.go(link)
        browser.wait_for("location.hash + location.pathname.replace('/v2/dashboard', '/')", "/")
    assert browser.evaluate("location.origin") == up.mlflow
    browser.wait_for_text("Welcome to MLflow")
    browser.go(evil)
    browser.wait_for("document.title", NOTHING)
    shown = (
        f"fetch('{up.prefect}').then(a => a.text()).then(t => document.body.append(t), e =>"
        " document.body.append('blocked'))"
    )
    browser.evaluate(shown)
    browser.wait_for_text("blocked")


def test_the_operator_does_it_and_the_strangers_commands_never_ran(up: stack.Stack, traces: Path) -> None:
    """The worker takes runs in their order: the operator's was asked for last."""
    shell_command(up.api.ask, traces / "operator")
    until((traces / "operator").exists, lambda: up.log("worker-1").read_text(encoding="utf-8")[-2000:])
    assert [path.name for path in traces.iterdir()] == ["operator"]
    assert {one["name"] for one in up.api.ask("deployments/filter", {})}.isdisjoint(
        f"page{number}" for number in range(30)
    )


def test_status_says_that_passwords_differ(up: stack.Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when the file was removed while they run."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    said: list[str] = []
    assert not stack.status(up, said.append)
    for name in (stack.PREFECT, stack.MLFLOW):
        assert any(line.startswith(name) and "takes another password than the one in" in line for line in said)


def test_the_password_stands_in_one_file_and_in_no_other(up: stack.Stack) -> None:
    """A run was started by now, and everything has written its logs."""
    from tucano.security.access import credentials, credentials_file

    password = credentials(up.home).partition(":")[2].encode()
    assert not [path for path in up.home.rglob("*") if path.is_file() and password in path.read_bytes()]
    commands = [" ".join(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"])]
    assert not any(password.decode() in command for command in commands)
    assert stat.S_IMODE(credentials_file(up.home).stat().st_mode) == 0o600
    if os.geteuid() == 0:
        running = stack.read_services(up.file).values()
        for file in (
            credentials_file(up.home),
            *(Path(f"/proc/{service.pid}/environ") for service in running if service.name != stack.POSTGRES),
        ):
            read = subprocess.run(
                ["cat", str(file)], user="nobody", group="nogroup", extra_groups=[], capture_output=True, check=False
            )
            assert read.returncode != 0 and password not in read.stdout
        environments = [
            Path(f"/proc/{service.pid}/environ").read_bytes() for service in running if service.name == stack.POSTGRES
        ]
        assert not any(password in environment for environment in environments), "the database runs as another user"
