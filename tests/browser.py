"""A page of headless Chromium, driven over the DevTools protocol."""

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
from websockets.sync.client import ClientConnection, connect

VISIBLE = """
const visible = element => element.getClientRects().length > 0;
const says = (element, text) => (element.innerText || '').trim() === text;
const find = (selector, text) => [...document.querySelectorAll(selector)].filter(e => visible(e) && (!text || says(e, text))).at(-1);
"""


class Page:
    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.calls = itertools.count(1)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self.calls)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while (answer := json.loads(self.socket.recv(timeout=60))).get("id") != number:
            pass
        assert "error" not in answer, answer
        return dict(answer["result"])

    def evaluate(self, expression: str) -> Any:
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def go(self, url: str) -> None:
        self.call("Page.navigate", url=url)

    def text(self) -> str:
        return str(self.evaluate("document.body ? document.body.innerText : ''"))

    def wait_for_text(self, *texts: str, seconds: float = 60) -> str:
        """The first of the texts that the page shows."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            shown = self.text()
            for text in texts:
                if text in shown:
                    return text
            time.sleep(0.2)
        raise AssertionError(f"none of {texts} is shown:\n{shown[:2000]}")

    def click(self, selector: str, text: str = "", seconds: float = 30) -> None:
        """Click the last visible element with this selector and text, as soon as it is there and not disabled."""
        found = f"(() => {{ {VISIBLE} const e = find({selector!r}, {text!r}); if (!e || e.disabled) return null;"
        found += " e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        deadline = time.monotonic() + seconds
        while (point := self.evaluate(found)) is None:
            assert time.monotonic() < deadline, f"there is no {selector} {text!r}:\n{self.text()[:2000]}"
            time.sleep(0.2)
        time.sleep(0.3)  # a dialog slides in
        x, y = self.evaluate(found) or point
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def fill(self, label: str, value: str) -> None:
        """Replace the text of the last visible field that follows this label."""
        focus = f"""(() => {{ {VISIBLE}
            const label = find('label, .p-label__label, .schema-form-property__label, span, div', {label!r});
            if (!label) return null;
            for (let box = label; box; box = box.parentElement) {{
                const field = box.querySelector('input:not([type=checkbox]), textarea');
                if (field) {{ field.scrollIntoView({{block: 'center'}}); field.focus(); field.select(); return field.value; }}
            }} }})()"""
        deadline = time.monotonic() + 30
        while self.evaluate(focus) is None:
            assert time.monotonic() < deadline, f"there is no field {label!r}:\n{self.text()[:2000]}"
            time.sleep(0.2)
        self.call("Input.insertText", text=value)

    def choose(self, option: str) -> None:
        """Choose an option of the last visible list that has it."""
        chosen = self.evaluate(f"""(() => {{ {VISIBLE}
            const list = [...document.querySelectorAll('select')].filter(e => visible(e) && [...e.options].some(o => o.value === {option!r})).at(-1);
            if (!list) return false;
            list.value = {option!r};
            list.dispatchEvent(new Event('change', {{bubbles: true}}));
            return true; }})()""")
        assert chosen, f"no list has the option {option!r}"

    def screenshot(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


@contextmanager
def chromium(home: Path) -> Iterator[Page]:
    """A browser with an empty profile; the test is skipped where none is installed."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("neither chromium nor google-chrome is on the PATH, so no page can be tried in a browser")
    options = ["--headless=new", "--disable-gpu", "--remote-debugging-port=0", f"--user-data-dir={home}", "--window-size=1400,1400"]
    options += ["--no-sandbox"] if os.geteuid() == 0 else []
    process = subprocess.Popen([program, *options, "about:blank"], stderr=subprocess.DEVNULL)
    try:
        port = _port(home / "DevToolsActivePort")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=20) as answer:
            (target,) = [one for one in json.load(answer) if one["type"] == "page"]
        with connect(target["webSocketDebuggerUrl"], max_size=None) as socket:
            yield Page(socket)
    finally:
        process.terminate()
        process.wait(timeout=20)


def _port(file: Path) -> int:
    """The first line of the file that Chromium writes once its DevTools listen."""
    deadline = time.monotonic() + 60
    while not file.exists() or "\n" not in file.read_text(encoding="utf-8"):
        assert time.monotonic() < deadline, "Chromium did not open its DevTools"
        time.sleep(0.05)
    return int(file.read_text(encoding="utf-8").split()[0])
