"""A page of headless Chromium for tests, driven over the DevTools protocol."""

import base64
import itertools
import json
import os
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect
from websockets.sync.connection import Connection


class Page:
    def __init__(self, socket: Connection, patience: float) -> None:
        self.socket, self.patience = socket, patience
        self.calls = itertools.count(1)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self.calls)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while (answer := json.loads(self.socket.recv(timeout=self.patience))).get("id") != number:
            pass
        assert "error" not in answer, answer
        return dict(answer["result"])

    def go(self, url: str) -> None:
        """Open an address afresh, also when only the part after its # differs."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)

    def evaluate(self, expression: str) -> Any:
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def text(self) -> str:
        return str(self.evaluate("document.body.innerText"))

    def click(self, expression: str) -> None:
        """Click on the element that a JavaScript expression yields, once it is there."""
        self.wait_for(f"!!({expression})", True)
        self.evaluate(f"({expression}).click()")

    def press(self, key: str) -> None:
        text = {"text": key} if len(key) == 1 else {"windowsVirtualKeyCode": {"Tab": 9}[key]}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def wait_for(self, expression: str, value: Any) -> None:
        deadline = time.monotonic() + self.patience
        while (found := self.evaluate(expression)) != value:
            assert time.monotonic() < deadline, f"{expression} is {found!r}, not {value!r}\n{self.text()[:3000]}"
            time.sleep(0.05)

    def wait_for_text(self, text: str) -> None:
        self.wait_for(f"document.body?.innerText.includes({json.dumps(text)})", True)

    def wait_for_count(self, count: str) -> None:
        self.wait_for("document.readyState + ' ' + document.querySelector('.count')?.textContent", f"complete {count}")

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


@contextmanager
def open_page(folder: Path, patience: float = 120, size: str = "1400,1000") -> Iterator[Page]:
    """A browser of its own, its profile below `folder`; the test is skipped where there is none."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("neither chromium nor google-chrome is on the PATH, so the page cannot be tried in a browser")
    home = folder / "chromium"
    options = [
        "--headless=new",
        "--disable-gpu",
        "--remote-debugging-port=0",
        f"--user-data-dir={home}",
        f"--window-size={size}",
    ]
    options += ["--no-sandbox"] if os.geteuid() == 0 else []
    # setpriv ends it with these tests, however they end: a browser that is left over takes most of a processor
    tied = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
    (home / "DevToolsActivePort").unlink(missing_ok=True)  # of a browser before this one
    process = subprocess.Popen([*tied, chromium, *options, "about:blank"], stderr=subprocess.DEVNULL)
    try:
        port = _devtools_port(home / "DevToolsActivePort")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=600) as answer:
            (target,) = [one for one in json.load(answer) if one["type"] == "page"]
        with connect(target["webSocketDebuggerUrl"], max_size=None) as socket:
            yield Page(socket, patience)
    finally:
        process.terminate()
        process.wait(timeout=600)


def _devtools_port(file: Path) -> int:
    """The first line of the file that Chromium writes once its DevTools listen."""
    deadline = time.monotonic() + 600
    while not file.exists() or "\n" not in file.read_text(encoding="utf-8"):
        assert time.monotonic() < deadline, "Chromium did not open its DevTools"
        time.sleep(0.05)
    return int(file.read_text(encoding="utf-8").split()[0])
