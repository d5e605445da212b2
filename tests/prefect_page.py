"""Prefect's page as a person uses it: what is visible is clicked, filled in and read."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from browser import Page, open_page

from deployments import stack

VISIBLE = """
const visible = element => element.getClientRects().length > 0;
const says = (element, text) => (element.innerText || '').trim() === text;
const find = (selector, text) => [...document.querySelectorAll(selector)].filter(e => visible(e) && (!text || says(e, text))).at(-1);
"""


class PrefectPage:
    def __init__(self, page: Page) -> None:
        self.page = page

    def wait_for_text(self, *texts: str, seconds: float = 300) -> str:
        """The first of the texts that the page shows."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            shown = self.page.text()
            for text in texts:
                if text in shown:
                    return text
            time.sleep(0.2)
        raise AssertionError(f"none of {texts} is shown:\n{shown[:2000]}")

    def click(self, selector: str, text: str = "", seconds: float = 300) -> None:
        """Click the last visible element with this selector and text, as soon as it is there and not disabled."""
        found = f"(() => {{ {VISIBLE} const e = find({selector!r}, {text!r}); if (!e || e.disabled) return null;"
        found += (
            " e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y"
            " + r.height / 2]; })()"
        )
        deadline = time.monotonic() + seconds
        while (point := self.page.evaluate(found)) is None:
            assert time.monotonic() < deadline, f"there is no {selector} {text!r}:\n{self.page.text()[:2000]}"
            time.sleep(0.2)
        time.sleep(0.3)  # a dialog slides in
        x, y = self.page.evaluate(found) or point
        for kind in ("mousePressed", "mouseReleased"):
            self.page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def open(self, selector: str, text: str, *shown: str) -> None:
        """Click until one of these texts is shown: what is clicked before the page listens is lost."""
        for attempt in range(6):
            self.click(selector, text)
            try:
                self.wait_for_text(*shown, seconds=60)
                return
            except AssertionError:
                if attempt == 5:
                    raise

    def fill(self, label: str, value: str) -> None:
        """Replace the text of the last visible field that follows this label."""
        focus = f"""(() => {{ {VISIBLE}
            const label = find('label, .p-label__label, .schema-form-property__label, span, div', {label!r});
            if (!label) return null;
            for (let box = label; box; box = box.parentElement) {{
                const field = box.querySelector('input:not([type=checkbox]), textarea');
                if (field) {{ field.scrollIntoView({{block: 'center'}}); field.focus(); field.select(); return field.value; }}
            }} }})()"""
        deadline = time.monotonic() + 600
        while self.page.evaluate("document.activeElement?.isConnected && document.activeElement.value") != value:
            assert time.monotonic() < deadline, f"no field {label!r} takes {value!r}:\n{self.page.text()[:2000]}"
            if self.page.evaluate(focus) is not None:
                self.page.call("Input.insertText", text=value)
            time.sleep(0.5)  # a page that is still loading draws its form once more

    def choose(self, option: str) -> None:
        """Choose an option of the last visible list that has it."""
        chosen = self.page.evaluate(f"""(() => {{ {VISIBLE}
            const list = [...document.querySelectorAll('select')].filter(e => visible(e) && [...e.options].some(o => o.value === {option!r})).at(-1);
            if (!list) return false;
            list.value = {option!r};
            list.dispatchEvent(new Event('change', {{bubbles: true}}));
            return true; }})()""")
        assert chosen, f"no list has the option {option!r}"

    def rest(self) -> None:
        """Leave the page: its moving graph takes as much of a processor as a training does."""
        self.page.call("Page.navigate", url="about:blank")

    def go(self, url: str) -> None:
        self.page.call("Page.navigate", url=url)

    def text(self) -> str:
        return self.page.text()

    def screenshot(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(file)


def login_links(up: stack.Stack) -> list[str]:
    """What `tucano status` prints for a person to click on: Prefect's link, MLflow's."""
    said: list[str] = []
    assert stack.status(up, said.append), said
    return [word for word in said[-1].split() if "/enter#" in word]


@contextmanager
def prefect_page(folder: Path) -> Iterator[PrefectPage]:
    """A browser of its own; the test is skipped where there is none."""
    with open_page(folder, patience=300, size="1400,1400") as page:
        yield PrefectPage(page)
