"""Pages for Brazilian and for English readers: neither half holds a sentence of the other language.

Words that one of the languages uses all the time and the other never are looked for in what a reader sees. Names of
settings, checks and files stand in `code`; prompts and answers are Portuguese in both halves and are marked so.
"""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from storages import finished
from test_overview import BEST, HACKED, SMALL, record
from test_report import CURVES, audit, comparison, reaudited

from tucano.audit.report import AuditCheck
from tucano.comparison.promotion import Promotion, refused
from tucano.comparison.verdict import without
from tucano.overview.page import write_page
from tucano.overview.runs import write_run
from tucano.rating.aids import guides
from tucano.report.report import Facts, render_report
from tucano.storage.locks import FILLED, claimed

ENGLISH = {
    "the", "of", "and", "is", "are", "was", "were", "with", "which", "that", "this", "from", "it", "its", "not", "by", "than",
    "more", "for", "has", "have", "at", "on",
}  # fmt: skip
PORTUGUESE = {
    "não", "os", "das", "dos", "da", "do", "de", "em", "um", "uma", "que", "para", "com", "como", "mais", "pelo", "pela", "são",
    "está", "ou", "às", "nas", "nos",
}  # fmt: skip
VOID = ("br", "meta", "input", "wbr", "img")
HIDDEN = ("style", "script", "code", "pre", "title")


class Halves(HTMLParser):
    """What is read in each `main`, without `code`, `pre` and what is marked as another language."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, list[str]] = {}
        self.open: list[tuple[str, str | None, bool]] = []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Nothing stands in it."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in VOID:
            return
        half, hidden = self.open[-1][1:] if self.open else (None, False)
        lang = dict(attrs).get("lang")
        if tag == "main":
            half = lang
        elif lang is not None and half is not None and lang != half:
            assert half != "pt-BR", f"<{tag} lang={lang}> in the Portuguese half"
            hidden = True
        self.open.append((tag, half, hidden or tag in HIDDEN))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1][1] and not self.open[-1][2] and data.strip():
            self.texts.setdefault(str(self.open[-1][1]), []).append(data.strip())


def strangers(texts: list[str], words: set[str]) -> list[str]:
    """The texts with two or more words that their language does not have."""
    return [text for text in texts if len(words & set(re.findall(r"[a-zà-ú]+", text.lower()))) > 1]


def halves(page: str) -> dict[str, list[str]]:
    reader = Halves()
    reader.feed(page)
    assert min(map(len, reader.texts.values())) > 20, "both halves say something"
    return reader.texts


def report() -> str:
    why = refused("worse", tasks="push")
    warned = AuditCheck(
        "push", "sample size", "warn", False, 12, 24, "push: 12 rated prompts; with fewer than 24 it is"
    )
    facts = Facts(
        settings={"grpo": {"learning_rate": 5e-6}},
        baseline="laptop",
        differences=[("grpo.max_steps", 80, 60)],
        lineage={"sft": "3fa9c1d2", "code version": "1"},
        data={"prompts": {"train": 1480}, "warnings": ["34 of 1480 rows are not used, which is more than the half"]},
        training=CURVES,
        stage_seconds={"prepare data": 12.4},
        machine_hours=2.5,
        audit=audit(checks=(*audit(False).checks, warned), provisional=True),
        reaudit=reaudited(False),
        made_on="2026-11-22",
        promotion=Promotion("seed-42", why.status, why.reason, "tucano", None, why.reason_pt),
    )
    compared = comparison()
    missing = {7: "the run that trained this seed was killed, and it is not at work any more"}
    return render_report(replace(compared, verdict=without(compared.verdict, missing)), facts)


def overview(root: Path) -> str:
    finished(root, replace(HACKED, per_task=5, promotion={**(SMALL.promotion or {}), "reason_pt": "era a primeira"}))
    finished(root, replace(BEST, per_task=5))
    said = {"grpo": "grpo seed 42   step 12/40   reward 0.612   1 min 20 s left", "sft": "sft   step 3/9"}
    write_run(root, record(at_work=said))
    write_run(root, record("failed", run="b", failure="UserError: the device of the model is not there"))
    with claimed(root / FILLED, "a1b2"):
        return write_page(root).read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["report", "overview"])
def test_no_sentence_of_the_other_language_stands_in_a_half(kind: str, tmp_path: Path) -> None:
    texts = halves(report() if kind == "report" else overview(tmp_path))
    assert strangers(texts["pt-BR"], ENGLISH) == []
    assert strangers(texts["en"], PORTUGUESE) == []


def test_the_guide_on_the_rating_page_is_in_the_language_of_its_buttons() -> None:
    for task, guide in guides().items():
        quoted = re.sub(r"`[^`]*`", "", guide)
        assert strangers(quoted.splitlines(), ENGLISH) == [], task
