"""The report: complete, self-contained, in two languages, and safe to open whatever a model wrote."""

import html
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from browser import Page, open_page

from tucano.audit.reaudit import OwnSamples, PaidAnswer, Reaudit
from tucano.audit.report import Agreement, AuditCheck, AuditReport, Estimate, Sampled, Youden
from tucano.comparison.answers import Answer, Decoding
from tucano.comparison.compare import Comparison, Design, compare
from tucano.comparison.table import render_table
from tucano.prompts import TASKS, Prompt
from tucano.report import plots
from tucano.report.language import ENGLISH, LANGUAGES, PORTUGUESE
from tucano.report.report import Facts, SeedCurves, render_report
from tucano.settings import ComparisonSettings

SCRIPT = "<script>alert('oi')</script><img src=x onerror=alert(1)>"
DECODINGS: tuple[Decoding, ...] = ("served", "sampled")


def comparison(gain: float = 0.1) -> Comparison:
    prompts = [
        Prompt(f"{task}-{n}", task, f"Pergunta {n} {SCRIPT}", "t", "synthetic", "CC0")
        for task in TASKS
        for n in range(5)
    ]
    answers = [
        Answer(arm, prompt.id, prompt.task, decoding, 0, SCRIPT, base + place / 500, {}, base, 1.2, 20, False)
        for arm, base in [("base", 0.2), ("sft", 0.4), *((f"seed-{n}", 0.4 + gain + (n == 3) / 100) for n in (1, 2, 3))]
        for decoding in DECODINGS
        for place, prompt in enumerate(prompts)
    ]
    return compare(answers, prompts, ComparisonSettings(), Design("sft", [1, 2, 3]), frozenset({"alert"}))


def test_an_interval_that_cannot_be_assessed_is_neither_drawn_nor_printed_as_a_range() -> None:
    """From -1 to 1 it would be the widest line of the picture."""
    known = comparison()
    main, *others = known.contrasts
    overall = replace(main.overall, low=-1.0, high=1.0)
    unknown = replace(known, contrasts=(replace(main, overall=overall), *others))
    drawn, table = plots.forest(unknown.main, ENGLISH), render_table(unknown)
    assert "[?]" in drawn and "1.000" not in drawn
    assert re.search(r"overall .* \+0.10\d \[\?\] ", table) and "1.000]" not in table
    assert "[?]" not in plots.forest(known.main, ENGLISH)


def audit(passed: bool = True, **changes: Any) -> AuditReport:
    checks = (AuditCheck("push", "scale", "block", passed, 0.5, 0.8, "push: the scale <b>is not</b> used"),)
    agreement = (Agreement("push", "all", 24, 120, Estimate(0.8, 0.7, 0.9), Estimate(0.6, 0.5, 0.7)),)
    report = AuditReport(2, "grounded", 7, 2000, {"ana": "human"}, False, checks, agreement, (), (), (), ())
    return replace(report, **changes)


def reaudited(passed: bool = True) -> Reaudit:
    checks = (AuditCheck("push", "truth order", "block", passed, 0.5, 0.0, "push: against <the> truth"),)
    own = OwnSamples("seed-1", Sampled("push", 5, 4, 0.5, 0.75, 1.0), 0.25, Estimate(0.3, 0.2, 0.4))
    paid = PaidAnswer("seed-1", "push", "push-0", "Pergunta", SCRIPT, 0.9, 0.0)
    return Reaudit("grounded", "sft", (own,), {"seed-1": checks, "seed-2": ()}, (paid,))


def training(steps: int, looks: int, seeds: tuple[int, ...] = (1, 2, 3)) -> list[SeedCurves]:
    rising = [(step, 0.4 + step / 300) for step in range(1, steps + 1)]
    seen = [(20 * look, 0.4 + look / 20) for look in range(1, looks + 1)]
    metrics = {"train/reward/total": rising, "train/entropy": rising}
    metrics |= {"validation/reward": seen, "validation/truth": seen}
    return [SeedCurves(seed, metrics) for seed in seeds]


CURVES = training(60, 3)


def render(
    compared: Comparison, audited: AuditReport | None, curves: list[SeedCurves] = CURVES, again: Reaudit | None = None
) -> str:
    facts = Facts(
        settings={"grpo": {"learning_rate": 5e-6, "seeds": [1, 2, 3]}, "storage": "runs"},
        baseline="laptop",
        differences=[("grpo.max_steps", 80, 60), ("data.path", "a<b", None)],
        lineage={"sft": "3fa9c1d2"},
        data={"prompts": {"train": 1480, "test": 65}, "licences": ["CC0"]},
        training=curves,
        stage_seconds={"prepare data": 12.4, "GRPO": 200.0},
        machine_hours=2.5,
        usd=2.0,
        audit=audited,
        reaudit=again or reaudited(),
    )
    return render_report(compared, facts)


class Reader(HTMLParser):
    """Collects the tags with their attributes, and checks that every element is closed where it was opened."""

    VOID = frozenset({"meta", "br", "img", "input", "link", "use", "path"})

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


@pytest.fixture(scope="module")
def page() -> str:
    return render(comparison(), audit())


def test_the_page_is_well_formed_and_needs_nothing_else(page: str) -> None:
    reader = read(page)
    assert reader.open == []
    assert sum(tag == "svg" for tag, _ in reader.found) == 5 * 2, (
        "four plots in two languages, one of them also for phones"
    )
    assert not {"script", "link", "iframe", "img"} & {tag for tag, _ in reader.found}
    links = [
        value for _, attributes in reader.found for name, value in attributes.items() if name.endswith(("src", "href"))
    ]
    assert {value for value in links if not str(value).startswith("#")} == {"../../../index.html"}, "the overview"
    assert "default-src 'none'" in page


def test_sources_are_named_in_the_language_of_the_page() -> None:
    facts = Facts({"data": {"sources": [{"source": "olist"}, {"source": "synthetic"}]}}, "laptop", [], {})
    assert [facts.source(language) for language in LANGUAGES] == ["olist + sintéticos", "olist + synthetic"]


def test_texts_of_models_and_prompts_cannot_run(page: str) -> None:
    assert "&lt;script&gt;alert" in page
    assert "<script" not in page and "<img" not in page
    assert not any(name.startswith("on") for _, attributes in read(page).found for name in attributes)


def in_portuguese(page: str) -> str:
    return page[page.index('<main lang="pt-BR">') : page.index('<main lang="en">')]


def in_english(page: str) -> str:
    return page[page.index('<main lang="en">') :]


def test_the_verdict_comes_first_in_both_languages_with_their_numbers(page: str) -> None:
    body = in_portuguese(page)
    assert body.index("Melhor: os adaptadores treinados superam sft") < body.index("Ganho por tarefa")
    assert "+0,103" in body and not re.search(r">[+−]?0\.\d+<", body)  # no number in a cell has a decimal point
    body = in_english(page)
    assert body.index("Better: the trained adapters beat sft") < body.index("Gain per task")
    assert "+0.103" in body and not re.search(r">[+-]?0,\d+<", body)


def test_a_p_of_many_looks_stands_on_the_first_page_beside_what_the_verdict_goes_by(page: str) -> None:
    assert "corrected p" not in page
    found = comparison()
    assert found.main.configuration is not None
    often = html.unescape(in_english(render(replace(found, looks=5000), audit())))
    first = often[: often.index('class="contents"')]
    for p in (found.main.overall.p, found.main.configuration.p):
        assert f"test set looked at 5000 times, corrected p {ENGLISH.p(min(1.0, 5000 * p))}" in first
    assert first.count("corrected p") == 2


def test_where_no_smallest_gain_is_known_a_dash_stands() -> None:
    """Of too few templates, or without a spread; the page ended in a traceback."""
    found = comparison()
    blind = replace(found.main, overall=replace(found.main.overall, detectable=None))
    known, unknown = (
        in_english(render(replace(found, contrasts=(main, *found.contrasts[1:])), audit()))
        for main in (found.main, blind)
    )
    assert unknown.count("<td>–</td></tr>") == known.count("<td>–</td></tr>") + 1


PARTS = {
    "Contra o modelo base": "Against the base model", "Verdade de referência": "Ground truth", "Treino": "Training",
    "As palavras deste relatório": "The words of this report", "Saúde do treino": "Health of the training", "Espaço no ponto de partida": "Room at the start",
    "Antes e depois": "Before and after", "Auditoria das recompensas": "Audit of the rewards",
    "Auditoria após o treino": "Audit after training", "3 min 20 s": "3 min 20 s", "3fa9c1d2": "3fa9c1d2", "1.480": "1,480",
    "5e−06": "5e-06", "US$ 2,00": "US$ 2.00", "O que difere de laptop": "What differs from laptop", "a&lt;b": "a&lt;b",
}  # fmt: skip


@pytest.mark.parametrize(("steps", "title"), [(15, "treino"), (100, "treino (média móvel de 8 passos)")])
def test_a_training_curve_says_over_how_many_steps_it_is_a_mean(steps: int, title: str) -> None:
    drawn = plots.curves([SeedCurves(1, {plots.REWARD: [(step, 0.5) for step in range(steps)]})], PORTUGUESE)
    assert f">{title}</text>" in drawn


def test_every_part_is_there(page: str) -> None:
    assert [part for part in PARTS if part not in in_portuguese(page)] == []
    assert [part for part in PARTS.values() if part not in in_english(page)] == []


def test_what_youdens_j_says_of_each_task_stands_in_the_audit() -> None:
    found = {"push": (-0.4, -0.3), "insights": (-0.1, 0.1), "sql_qa": (0.3, 0.5)}
    rows = [Youden(task, "all", None, 9, 30, 0.5, 0.5, Estimate(sum(j) / 2, *j)) for task, j in found.items()]
    page = render(comparison(), audit(youden=(*rows, replace(rows[0], at="fixed", threshold=0.5))))
    said = re.findall(r"<li><b>(\w+)</b>: J [^<]*\), ([^<]*)\.</li>", html.unescape(page))
    assert said == [
        ("push", "desaprenderia"), ("insights", "não se pode dizer"), ("sql_qa", "a recompensa ensina"),
        ("push", "it would unlearn"), ("insights", "cannot be told"), ("sql_qa", "the reward teaches"),
    ]  # fmt: skip


def test_an_override_stands_beside_the_verdict() -> None:
    page = render(comparison(), audit(False, overridden_by="Rafael", override_reason="prazo <curto>", provisional=True))
    verdict = page[page.index('class="verdict') : page.index("Ganho por tarefa")]
    assert "liberada por Rafael: prazo &lt;curto&gt;" in verdict
    assert "reprovada, provisória" in page
    assert "push: the scale &lt;b&gt;is not&lt;/b&gt; used" in page


PAPERS = ((703, 1032, "A4"), (725, 965, "Letter"))
"""Width and height of the printed area in CSS pixels (96 an inch) inside margins of 12 mm."""
DETAILS = "document.querySelectorAll('details')"
WIDER = """[...document.querySelectorAll('main[lang=en] table, main[lang=en] svg, main[lang=en] pre')]
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1 || e.scrollWidth > e.clientWidth + 1 && e.tagName == 'PRE')
    .map(e => e.outerHTML.slice(0, 200))"""


def first_page(tab: Page, width: int, height: int, language: str) -> float:
    """Where what is meant for the first printed page ends, in pixels."""
    tab.call("Emulation.setEmulatedMedia", media="print")
    tab.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
    end = tab.evaluate(f"document.querySelector('main[lang={language}] .first').getBoundingClientRect().bottom")
    assert isinstance(end, int | float)
    return float(end)


REVIEW = "O produto não chegou no prazo e a loja não respondeu a nenhuma das três mensagens que enviei na semana. "
COMPONENTS = [
    f"{kind}.{name}" for kind in ("fields", "form", "language") for name in ("completo", "preciso", "tamanho")
]


def crowded() -> Comparison:
    """All that a first page may have to hold."""
    prompts = [
        Prompt(f"{task}-0042{n}-b2w", task, REVIEW * 5, "t", "synthetic", "CC0", reference={"campos": REVIEW * 5})
        for task in TASKS
        for n in range(5)
    ]

    def answer(arm: str, prompt: Prompt, decoding: Decoding, score: float) -> Answer:
        each = dict.fromkeys(COMPONENTS, score)
        return Answer(arm, prompt.id, prompt.task, decoding, 0, REVIEW * 5, score, each, 0.4, 1.2, 20, False)

    answers = [
        answer(arm, prompt, decoding, score)
        for arm, gain in (("base", -0.2), ("sft", 0.0), ("seed-42", 0.12), ("seed-123", 0.1), ("seed-456", 0.0))
        for decoding in DECODINGS
        for place, prompt in enumerate(prompts)
        for score in [0.4 + gain + (gain > 0) * (decoding == "sampled" or -1) * (-1) ** place * place / 150]
    ]
    design = Design("sft", [42, 123, 456], unmoved=[456])
    return compare(answers, prompts, ComparisonSettings(), design, frozenset({"alert"}))


def test_the_first_page_is_one_page_however_much_it_has_to_say(tmp_path: Path) -> None:
    compared = crowded()
    assert compared.verdict.improved and len(compared.verdict.reservations) >= 2 and len(compared.examples) == 3
    facts = Facts(
        settings={"model": {"name": "TucanoBR/Tucano2-qwen-0.5B-Instruct"}, "data": {"sources": [{"source": "olist"}, {"source": "b2w"}]}},
        baseline="l4",
        differences=[],
        lineage={},
        machine_hours=22.5,
        usd=18.1,
        audit=audit(False, overridden_by="Rafael Souza", override_reason=REVIEW),
        run="l4-v5 learning_rate=0.00001 max_steps=3000 loss=dr_grpo",
        made_on="2026-11-23",
    )  # fmt: skip
    (tmp_path / "report.html").write_text(render_report(compared, facts), encoding="utf-8")
    with open_page(tmp_path) as tab:
        tab.go((tmp_path / "report.html").as_uri())
        for language in ("pt-BR", "en"):
            tab.click(f"document.querySelector('label[for=in-{language}]')")
            ends = {kind: first_page(tab, width, height, language) - height for width, height, kind in PAPERS}
            assert max(ends.values()) < 0, (language, ends)
            tab.call("Emulation.setEmulatedMedia", media="screen")


def test_it_opens_in_a_browser_with_the_network_off_in_both_languages(page: str, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    with open_page(tmp_path) as tab:
        tab.call("Network.enable")
        tab.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        tab.evaluate("window.alert = () => { window.hacked = 1 }")
        tab.go((tmp_path / "report.html").as_uri())
        tab.wait_for("document.querySelectorAll('main[lang=\"pt-BR\"] svg').length", 5)
        assert "Ganho por tarefa" in tab.text() and "Gain per task" not in tab.text()
        tab.click("document.querySelector('label[for=in-en]')")
        assert "Gain per task" in tab.text() and "Ganho por tarefa" not in tab.text()
        assert tab.evaluate("performance.getEntriesByType('resource').length") == 0
        assert tab.evaluate("window.hacked") is None and tab.evaluate("document.images.length") == 0
        assert "<script>alert('oi')</script>" in tab.text(), "shown as the text that it is"
        for width, height, kind in PAPERS:
            assert first_page(tab, width, height, "en") < height
            shown = "[...document.querySelectorAll('main[lang=en] details')].some(d => d.offsetHeight)"
            assert tab.evaluate(shown) is False
            tab.evaluate(f"{DETAILS}.forEach(d => d.open = true)")
            assert tab.evaluate(WIDER) == [], kind
            tab.evaluate(f"{DETAILS}.forEach(d => d.open = false)")
        tab.call("Emulation.setEmulatedMedia", media="screen")
        tab.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
        assert tab.evaluate("document.documentElement.scrollWidth") == 390
        assert tab.evaluate("document.documentElement.scrollHeight") < 5 * 844, "the rest is folded"
        texts = "[...document.querySelectorAll('main[lang=en] .forest.narrow text')].map(t => t.getBoundingClientRect().height)"
        assert min(tab.evaluate(texts)) > 11, "pixels"
        tab.click("[...document.querySelectorAll('main[lang=en] .contents a')].at(-1)")
        tab.wait_for("document.querySelector('#en-settings').closest('details').open", True)
