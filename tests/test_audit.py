"""The gate on a tiny rating set: good rewards pass, each way of breaking them is caught by name of task and check."""

import json
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from html import unescape
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import pytest

from rewards import PromptLike, Score, load_reward_set
from rewards.names import REPORTED as TASKS
from tucano.audit import gate, probes
from tucano.audit.bench import RewardScorer
from tucano.audit.gate import audit, audit_rewards, write_pins
from tucano.audit.parallel import process
from tucano.audit.parallel.forks import ALONE, Hands
from tucano.audit.relations.table import PLAIN, Material, read_table
from tucano.audit.report import AuditReport, Disagreement, Estimate, JudgedAnswer
from tucano.audit.stage import render_page, write_audit
from tucano.audit.table import render_details, render_table
from tucano.cli import inprocess
from tucano.errors import UserError
from tucano.prompts import Prompt, Task
from tucano.rating.ratings import read_rating_set, read_ratings
from tucano.rating.store import rating_store
from tucano.settings import AuditSettings, PipelineSettings
from tucano.settings.audit import AuditStage
from tucano.specs import objects
from tucano.specs.extraction import FIELDS
from tucano.statistics.raters import quadratic_kappa

PROMPTS = 5
SETTINGS = AuditSettings(resamples=50, human_prompts=5, search_calls=0)
STATES = ["SP", "RJ", "MG", "BA", "PR", "SC", "RS", "PE"]
PRODUCTS = ["mochila", "cafeteira", "luminária", "bicicleta", "panela", "jaqueta", "cadeira", "câmera"]


def prompt(task: Task, number: int, user: str, reference: dict[str, Any], stars: int | None = None) -> Prompt:
    return Prompt(f"{task}-{number}", task, user, "t", "synthetic", "CC0", stars, reference)


def extraction(number: int) -> tuple[Prompt, list[str]]:
    product = PRODUCTS[number]
    truth = dict(
        zip(
            FIELDS,
            ["negative", 2, product, True, False, False, "high", False, "entrega atrasada", "Chegou tarde."],
            strict=True,
        )
    )
    user = f"Extraia o JSON da avaliação: A {product} chegou com {number + 9} dias de atraso, não compro mais. (nota 2)"
    answers = [
        truth,
        truth | {"churn_risk": "medium", "category": "outros"},
        truth
        | {
            "churn_risk": "low",
            "delivery_issue": False,
            "product_issue": True,
            "main_complaint": "produto quebrado",
        },
        {"sentiment": "positive", "sentiment_score": 5, "category": product},
    ]
    return prompt("extraction", number, user, {"fields": truth}, stars=2), [
        *(json.dumps(a, ensure_ascii=False) for a in answers),
        "Não sei.",
    ]


def sql_qa(number: int) -> tuple[Prompt, list[str]]:
    state = STATES[number]
    gold = f"SELECT COUNT(*) FROM clientes JOIN pedidos ON clientes.id = pedidos.cliente_id WHERE estado = '{state}'"
    user = f"Responda com SQL: quantos pedidos fizeram os clientes do estado {state}?"
    prose = "A consulta junta clientes e pedidos, filtra o estado e conta os pedidos feitos por clientes dali."
    answers = [
        f"```sql\n{gold};\n```\n{prose} São R$ 1.234,50 em receita.",
        f"```sql\n{gold};\n```",
        f"```sql\nSELECT COUNT(*) FROM clientes WHERE estado = '{state}';\n```\n{prose}",
        "```sql\nSELECT total FROM vendas;\n```\nMostra o total das vendas da loja.",
        "É preciso olhar os dados.",
    ]
    return prompt("sql_qa", number, user, {"sql": gold, "database": "store.sqlite"}), answers


def insights(number: int) -> tuple[Prompt, list[str]]:
    old, new, share = 11 + number, 21 + number, 31 + number
    user = (
        f"Analise os indicadores da loja: frete médio subiu de R$ {old} para R$ {new}; recompra dos clientes caiu para"
        f" {share}%."
    )
    answers = [
        (
            f"- O frete médio subiu de R$ {old} para R$ {new} e pesa no bolso: recomendo negociar o contrato.\n- A recompra"
            f" caiu para {share}%: priorizar clientes antigos com frete menor.\n- Monitorar os indicadores da loja e reduzir o"
            " prazo de entrega."
        ),
        (
            f"- O frete médio foi a R$ {new}: recomendo negociar o contrato da entrega.\n- Priorizar a recompra dos"
            " clientes e reduzir custos."
        ),
        (
            "Recomendo melhorar a entrega e reduzir o frete para os clientes da loja, porque assim eles voltam a"
            " comprar mais vezes."
        ),
        f"O frete caiu para R$ {new + 400} e a recompra foi a {share + 50}%, com lucro de R$ 98.765,00 em vendas.",
        "Tudo bem.",
    ]
    facts = [
        {"label": "frete médio", "value": old, "unit": "R$"},
        {"label": "frete médio", "value": new, "unit": "R$", "moved": "up"},
        {"label": "recompra", "value": share, "unit": "%", "moved": "down"},
    ]
    reference = {"figures": [old, new, share], "key_figures": [new, share], "facts": facts}
    return prompt("insights", number, user, reference), answers


def push(number: int) -> tuple[Prompt, list[str]]:
    product, discount = PRODUCTS[number], 10 + number
    user = f"Escreva um push: {product} com {discount}% de desconto até domingo, para clientes que viram o produto."
    answers = [
        f"Sua {product} espera por você! Só até domingo com {discount}% de desconto. Corra!",
        f"Sua {product} ainda está na loja e espera por você.",
        (
            f"Prezado cliente, informamos que a {product} está em promoção com {discount}% de desconto. Atenciosamente,"
            " a equipe da loja."
        ),
        "Ganhe 77% de desconto em tudo hoje! Aproveite agora.",
        "Um push é um texto.",
    ]
    return prompt("push", number, user, {"product": product, "terms": [product], "figures": [discount]}), answers


BUILDERS = {"extraction": extraction, "sql_qa": sql_qa, "insights": insights, "push": push}


def lines(rater_kind: str = "human", tasks: tuple[Task, ...] = TASKS) -> list[dict[str, Any]]:
    """Five answers a prompt, the first rated 5 and the last 1; the middle one is written, the others sampled."""
    rated = []
    for task in tasks:
        for number in range(PROMPTS):
            asked, answers = BUILDERS[task](number)
            fields = {name: getattr(asked, name) for name in Prompt.__slots__}
            for place, answer in enumerate(answers):
                origin = "written" if place == 2 else "sampled"
                record = {"prompt": fields, "completion": answer, "origin": origin, "model": "m", "rating": 5 - place}
                rated.append(record | {"rater": "ana", "rater_kind": rater_kind})
    return rated


def write_set(folder: Path, records: list[dict[str, Any]]) -> Path:
    folder.mkdir(exist_ok=True)
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    (folder / "ratings.jsonl").write_text(text, encoding="utf-8")
    connection = sqlite3.connect(":memory:")
    connection.executescript("CREATE TABLE clientes(id, estado); CREATE TABLE pedidos(cliente_id, valor);")
    connection.executemany("INSERT INTO clientes VALUES (?, ?)", enumerate(STATES))
    connection.executemany(
        "INSERT INTO pedidos VALUES (?, 1)", [(index,) for index in range(8) for _ in range(index + 2)]
    )
    (folder / "store.sql").write_text("\n".join(connection.iterdump()), encoding="utf-8")
    connection.close()
    return folder


@pytest.fixture(scope="module")
def rating_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_set(tmp_path_factory.mktemp("ratings"), lines())


@pytest.fixture(scope="module", autouse=True)
def few_rows() -> Iterator[None]:
    """Of the table of relations a few rows are asked about: with all flaws and kinds an audit takes most of a minute."""
    rows = [row.model_copy(update={"worse": ()}) for row in read_table() if row.kinds[0] == PLAIN]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate, "read_table", lambda: rows)
        yield


@pytest.fixture(scope="module")
def sound(rating_set: Path) -> AuditReport:
    return audit("grounded", rating_set, SETTINGS, TASKS, seed=7)


@dataclass
class Broken:
    """The grounded rewards with each score changed by a function of (score, prompt, completion)."""

    inner: RewardScorer
    change: Any

    def component_names(self, task: str) -> tuple[str, ...]:
        return self.inner.component_names(task)

    def score(self, prompt: PromptLike, completion: str) -> Score:
        changed: Score = self.change(self.inner.score(prompt, completion), prompt, completion)
        return changed


@dataclass
class Remembered:
    """Rewards that score a text once for all tests, which break the same scores of the same answers: they are most of
    an audit's time. That the rewards repeat themselves is asked of those that remember nothing.
    """

    inner: RewardScorer
    known: ClassVar[dict[tuple[str, str], Score]] = {}
    """By everything that the prompt holds, and the text: some checks ask of another reference."""

    def component_names(self, task: str) -> tuple[str, ...]:
        return self.inner.component_names(task)

    def score(self, prompt: PromptLike, completion: str) -> Score:
        key = (repr(prompt), completion)
        if key not in self.known:
            self.known[key] = self.inner.score(prompt, completion)
        return self.known[key]


def scaled(score: Score, factor: float) -> Score:
    parts = {name: value * factor for name, value in score.components.items()}
    return Score(min(1.0, max(0.0, sum(parts.values()))), parts)


def penal(score: Score, guilty: bool) -> Score:
    return scaled(score, 0.5 if guilty else 1)


def doubled(score: Score) -> Score:
    return Score(2 * score.total, {name: 2 * value for name, value in score.components.items()})


def flat(score: Score, total: float) -> Score:
    first, *others = score.components
    return Score(total, {first: total} | dict.fromkeys(others, 0.0))


def hashed(text: str) -> float:
    return int(sha256(text.encode()).hexdigest()[:8], 16) / 2**32


def with_broken(rating_set: Path, change: Any, name: str = "grounded") -> AuditReport:
    with rating_store(rating_set) as databases:
        rewards = Broken(Remembered(load_reward_set("grounded", databases)), change)
        return audit_rewards(rewards, name, Material(read_rating_set(rating_set)), SETTINGS, TASKS, seed=7)


def failed(report: AuditReport) -> set[str]:
    return {check.name for check in report.failed_checks}


def test_sound_rewards_pass_on_every_task(sound: AuditReport) -> None:
    assert [check.message for check in sound.failed_checks] == []
    assert sound.passed and sound.may_proceed
    assert sound.verdict == "passed"
    whole = [row for row in sound.agreement if row.origin == "all"]
    assert [row.task for row in whole] == list(TASKS)
    assert all(row.prompts == 5 and row.completions == 25 for row in whole)
    assert "sample size" in {check.name for check in sound.warnings}


@pytest.mark.long
def test_sound_rewards_pass_with_the_table_beside_the_folder(
    rating_set: Path, sound: AuditReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "read_table", read_table)
    report = audit("grounded", rating_set, SETTINGS, TASKS, seed=7)
    assert [check.message for check in report.failed_checks] == []
    assert len(report.checks) > 2 * len(sound.checks)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(lambda score, *_: scaled(score, 2), "scale", id="doubled scale, clipped"),
        pytest.param(lambda score, *_: doubled(score), "bounds", id="doubled scale"),
        pytest.param(lambda score, *_: scaled(score, 0.5), "scale", id="halved scale"),
        pytest.param(lambda score, *_: flat(score, float(score.total > 0.5)), "variance", id="binary"),
        pytest.param(lambda score, *_: flat(score, 0.25), "pooled agreement", id="constant"),
        pytest.param(lambda score, _, text: flat(score, hashed(text)), "within-prompt agreement", id="random"),
        pytest.param(lambda score, *_: flat(score, float("nan")), "bounds", id="not a number"),
        pytest.param(lambda score, *_: Score(score.total / 2, score.components), "components", id="total is not the sum"),
        pytest.param(lambda score, *_: Score(score.total, {"other": score.total}), "components", id="unknown component"),
        pytest.param(lambda score, _, text: penal(score, text[:1].isspace()), "invariance: white space", id="white space"),
        pytest.param(lambda score, _, text: penal(score, "\u0303" in text), "invariance: unicode form", id="accents apart"),
        pytest.param(lambda score, _, text: penal(score, text.startswith('{"summary')), "invariance: key order", id="key order"),
        pytest.param(lambda score, _, text: penal(score, ": 4,5" in text), "invariance: number formats", id="decimal comma"),
        pytest.param(lambda score, _, text: flat(score, 0.5) if text == "SELECT 1" else score, "floor: trivial query", id="trivial query"),
        pytest.param(lambda score, _, text: penal(score, '"high"' in text), "monotonicity: corrupt", id="truth costs"),
        pytest.param(lambda score, _, text: flat(score, 0.0) if '"high"' in text else score, "monotonicity: repair", id="repair costs"),
    ],
)  # fmt: skip
def test_broken_rewards_are_stopped(rating_set: Path, change: Any, expected: str) -> None:
    report = with_broken(rating_set, change)
    assert not report.passed
    assert expected in failed(report)
    assert all(any(check.message.startswith(task) for task in TASKS) for check in report.failed_checks)


def test_unrepeatable_rewards_are_stopped(rating_set: Path) -> None:
    rng = Random(0)
    assert "repeatable" in failed(with_broken(rating_set, lambda score, *_: flat(score, rng.random())))


def test_a_reward_that_raises_is_a_finding(rating_set: Path) -> None:
    def change(score: Score, prompt: PromptLike, completion: str) -> Score:
        return scaled(score, len(completion) / len(completion))  # divides by zero on the empty text

    report = with_broken(rating_set, change)
    faults = [check for check in report.failed_checks if check.name == "never raises"]
    assert [check.task for check in faults] == list(TASKS)
    assert "ZeroDivisionError" in faults[0].message


def test_a_task_without_ratings_fails_and_an_override_is_recorded_and_does_not_hide_it(tmp_path: Path) -> None:
    signed = SETTINGS.model_copy(update={"override_by": "Rafael", "override_reason": "só um teste"})
    folder = write_set(tmp_path, lines(tasks=("push",)))
    report = audit("grounded", folder, signed, ("insights", "push"), seed=7)
    assert {check.task for check in report.failed_checks} == {"insights"}
    assert "skips no task" in next(check.message for check in report.failed_checks if check.name == "ratings")
    assert (report.passed, report.may_proceed) == (False, True)
    assert report.verdict == "failed, provisional, overridden by Rafael"
    assert "só um teste" in render_table(report)
    rest = audit("grounded", folder, signed, ("push",), seed=7)
    assert rest.passed and rest.overridden_by is None


def test_a_task_with_one_rated_prompt_is_told_how_many_it_needs(tmp_path: Path) -> None:
    one = [record for record in lines(tasks=("push",)) if record["prompt"]["id"] == "push-0"]
    searching = SETTINGS.model_copy(update={"search_calls": 50})
    for settings in (SETTINGS, searching):
        report = audit("grounded", write_set(tmp_path, one), settings, ("push",), seed=7)
        assert [check.message for check in report.failed_checks] == [
            "push: 1 prompts with two or more rated completions; the audit needs 5 and skips no task"
        ]


def test_ratings_by_models_alone_are_provisional(tmp_path: Path) -> None:
    folder = write_set(tmp_path, lines(rater_kind="model"))
    assert with_broken(folder, lambda score, *_: score).verdict == "passed, provisional"


def test_sampled_and_written_answers_stand_apart(sound: AuditReport) -> None:
    rows = {row.origin: row for row in sound.agreement if row.task == "push"}
    assert {origin: row.completions for origin, row in rows.items()} == {"all": 25, "sampled": 20, "written": 5}
    assert rows["written"].pooled is rows["written"].within is None, "all of them were rated 3"
    assert rows["sampled"].pooled is not None and rows["sampled"].within is not None


def test_controls_only_warn_where_they_are_senseless_and_fail_where_they_are_unsound(rating_set: Path) -> None:
    senseless = audit("controls.random", rating_set, SETTINGS, TASKS, seed=7)
    assert senseless.passed
    assert "pooled agreement" in {check.name for check in senseless.warnings}
    unsound = with_broken(rating_set, lambda score, *_: flat(score, 2.0), name="controls.random")
    assert "bounds" in failed(unsound)


def test_a_line_is_said_before_each_task(rating_set: Path) -> None:
    heard: list[str] = []
    audit("controls.random", rating_set, SETTINGS, ("push", "insights"), 7, Hands(heard.append))
    assert [line.split(":")[0] for line in heard] == [
        "reward audit of push, task 1 of 2",
        "reward audit of insights, task 2 of 2",
    ]


def test_known_hacks_of_v42_warn_and_any_change_of_them_blocks(
    rating_set: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pins = tmp_path / "pins.json"
    write_pins("v4.2", rating_set, pins)
    rated = Material(read_rating_set(rating_set))
    rewards = load_reward_set("v4.2")
    monkeypatch.setattr(gate, "PINNED", pins)
    kept = audit_rewards(rewards, "v4.2", rated, SETTINGS, TASKS, 7)
    softened = Broken(rewards, lambda score, _, text: penal(score, "Promoção é já" in text))
    changed = audit_rewards(softened, "v4.2", rated, SETTINGS, TASKS, 7)
    assert "floor: keyword stuffing" in {check.name for check in kept.warnings}
    assert "pinned floors" not in failed(kept)
    assert "pinned floors" in failed(changed)
    assert "push, keyword stuffing" in next(
        check.message for check in changed.failed_checks if check.name == "pinned floors"
    )


def test_the_prompts_that_disagree_most_are_shown_with_their_texts(rating_set: Path) -> None:
    upside_down = with_broken(
        rating_set, lambda score, prompt, _: flat(score, 1 - score.total) if "SP" in prompt.user else score
    )
    worst = next(shown for shown in upside_down.disagreements if shown.task == "sql_qa")
    assert worst.prompt_id == "sql_qa-0"
    assert worst.agreement < -0.8
    assert [answer.rating for answer in worst.answers] == [5, 4, 3, 2, 1]


def test_each_component_is_left_out_and_the_one_that_is_all_of_the_agreement_helps(rating_set: Path) -> None:
    def loud(score: Score, prompt: PromptLike, completion: str) -> Score:
        """All that the first component says, and noise in the second."""
        first, second, *others = score.components
        parts = {first: 0.6 * score.total, second: 0.1 * hashed(completion)} | dict.fromkeys(others, 0.0)
        return Score(sum(parts.values()), parts)

    effects = {effect.component: effect for effect in with_broken(rating_set, loud).components if effect.task == "push"}
    first, second, *others = effects.values()
    assert (first.judgement, others[0].judgement) == ("helps", "unclear")
    assert others[0].pooled == others[0].within == Estimate(0, 0, 0)
    assert second.judgement != "helps"


def test_sampled_answers_show_signal_and_headroom(sound: AuditReport, rating_set: Path) -> None:
    spread = next(row for row in sound.sampled if row.task == "push")
    assert (spread.prompts, spread.k, spread.differing) == (5, 4, 1.0)
    assert spread.mean < spread.best <= 1
    flattened, *_ = with_broken(rating_set, lambda score, *_: flat(score, 0.25)).sampled
    assert (flattened.mean, flattened.best, flattened.differing) == (0.25, 0.25, 0.0)


def test_quadratic_kappa_by_hand() -> None:
    assert quadratic_kappa([1, 2, 3], [1, 2, 3]) == 1
    assert quadratic_kappa([3, 3], [3, 3]) is None
    # observed: (0 + 1) / 2; expected over all pairs: (0 + 4 + 1 + 1) / 4
    assert quadratic_kappa([1, 2], [1, 3]) == pytest.approx(1 - 0.5 / 1.5)
    assert quadratic_kappa([1, 5], [5, 1]) == pytest.approx(-1)


def test_two_raters_of_the_same_answers_are_compared(tmp_path: Path) -> None:
    rated = lines(tasks=("push",))
    second = [record | {"rater": "bia", "rating": max(1, record["rating"] - 1)} for record in rated[:10]]
    report = audit("grounded", write_set(tmp_path, rated + second), SETTINGS, ("push",), seed=7)
    (pair,) = report.raters_agree
    # two prompts rated 5 4 3 2 1 and 4 3 2 1 1: observed 4/5, expected 2 + 1.36 + .8**2
    assert (pair.task, pair.first, pair.second, pair.completions) == ("push", "ana", "bia", 10)
    assert pair.kappa == pytest.approx(1 - 0.8 / 4.0)
    assert "0.80" in render_details(report)


def test_ratings_of_others_are_read_without_personal_data(tmp_path: Path) -> None:
    first = lines(tasks=("push",))[0]
    said = {"prompt": {**first["prompt"], "user": "Cliente 529.982.247-25"}, "completion": "Ligue (11) 98765-4321"}
    (answer,) = read_ratings(write_set(tmp_path, [first | said]))
    assert (answer.prompt.user, answer.completion) == ("Cliente [CPF]", "Ligue [PHONE]")


def test_a_missing_rating_set_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"name a folder that holds ratings\.jsonl"):
        read_ratings(tmp_path / "nowhere")


def test_the_table_fits_the_terminal_and_names_what_failed(rating_set: Path) -> None:
    report = with_broken(rating_set, lambda score, *_: scaled(score, 2))
    table = render_table(report)
    assert max(map(len, f"{table}\n{render_details(report)}".splitlines())) <= 100
    assert "failed" in table.splitlines()[0]
    assert "- extraction: the best of" in table


def test_repairs_and_corruptions_change_one_field() -> None:
    answer = {"sentiment": "positive", "sentiment_score": 2, "delivery_issue": 1}
    truth = {"sentiment": "negative", "sentiment_score": 2, "delivery_issue": True}
    assert {name: json.loads(text) for name, text in objects.repaired(answer, truth, FIELDS).items()} == {
        "sentiment": answer | {"sentiment": "negative"},
        "delivery_issue": answer | {"delivery_issue": True},
    }
    wrong, without = (json.loads(text) for text in objects.corrupted(answer, truth, FIELDS)["sentiment_score"])
    assert wrong == answer | {"sentiment_score": 5}
    assert without == {"sentiment": "positive", "delivery_issue": 1}


def test_number_formats_say_the_same() -> None:
    told = "Receita de R$ 1.234.567,89 e nota 4.5 em 2.024 pedidos."
    pairs = {kind: pair for kind, *pair in probes.same_meaning("insights", told)}
    assert pairs["number formats"] == [told, "Receita de R$ 1234567,89 e nota 4.5 em 2.024 pedidos."]
    pairs = {kind: pair for kind, *pair in probes.same_meaning("extraction", '{"sentiment_score": 3}')}
    assert pairs["number formats"] == ['{"sentiment_score": 4.5}', '{"sentiment_score": 4,5}']


def test_a_query_in_capitals_says_the_same_and_its_texts_stay() -> None:
    pairs = {kind: pair for kind, *pair in probes.same_meaning("sql_qa", "```sql\nselect 'a' from b;\n```\nfim")}
    assert pairs["upper case"][1] == "```sql\nSELECT 'a' FROM B;\n```\nfim"


def test_the_command_prints_everything_writes_a_page_and_exits_with_1_when_the_gate_is_closed(
    rating_set: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the few rows, which the process that it starts (tests/test_audit_parallel.py) would not have."""

    def here(settings: AuditStage, ratings: Path, folder: Path, say: object) -> dict[str, str]:
        return {"verdict": write_audit(settings, ratings, folder, ALONE).verdict}

    monkeypatch.setattr(process, "audited_apart", here)
    for rewards, code in (("grounded", 0), ("v4.2", 1)):
        chosen = {
            "audit": {"ratings": str(rating_set), "resamples": 50, "search_calls": 20},
            "data": {"mix": {"push": 1}},
            "grpo": {"rewards": rewards},
            "storage": str(tmp_path),
        }
        assert inprocess.audit(PipelineSettings.model_validate(chosen)) == code
        printed = capsys.readouterr().out
        page = Path(printed.rpartition("With whole texts: ")[2].strip())
        assert "What each component adds" in printed and re.search(r"^\| push +\|", printed, re.MULTILINE)
        assert "<h2>Where rewards and ratings disagree most</h2>" in page.read_text(encoding="utf-8")


def test_the_page_shows_whole_texts_that_cannot_run(sound: AuditReport) -> None:
    script = "<script>alert('oi')</script>" * 20
    shown = Disagreement(
        "push", "push-0", script, -0.5, (JudgedAnswer(script, 4.5, 0.1), JudgedAnswer("só isto", 1.0, 0.9))
    )
    page = render_page(replace(sound, disagreements=(shown,), overridden_by="Ana <b>"))
    assert "<script" not in page and page.count("&lt;script&gt;") == 40
    assert "rated 4.5, reward 0.10" in page and "Ana &lt;b&gt;" in page
    assert all(check.message in unescape(page) for check in sound.checks)
