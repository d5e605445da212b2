"""The public face of the rewards: names, bounds, pickling, controls, the classifier, the generated table."""

import math
import pickle
import random
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pace import slowness
from rewards_examples import ANSWERS, PROMPTS, Prompt, write_store

from rewards import RewardSet, classify_task, describe, load_reward_set
from rewards.parsing.text import readable
from rewards.sets import SETS, SetName

NAMES = get_args(SetName)
TASKS = tuple(PROMPTS)
CASES = [(name, task) for name in NAMES for task in SETS[name]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("sets"))


def check(reward: RewardSet, prompt: Prompt, completion: str) -> None:
    score = reward.score(prompt, completion)
    assert tuple(score.components) == reward.component_names(prompt.task)
    assert all(math.isfinite(part) for part in score.components.values())
    assert score.total == min(1.0, max(0.0, sum(score.components.values())))
    assert reward.score(prompt, completion) == score


@pytest.mark.parametrize("share", [math.nan, math.inf])
def test_a_component_that_is_no_number_is_named_with_its_place(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    """The limit to [0, 1] made 0 of it."""
    monkeypatch.setattr(type(SETS["v4.2"]["push"]), "shares", lambda self, *_: (share,) + (1.0,) * 3)
    broken, ours = load_reward_set("v4.2"), PROMPTS["push"]
    first = broken.component_names("push")[0]
    with pytest.raises(ValueError, match=rf"^{first} of the reward set v4.2 is (nan|inf) for the prompt .+ answer 'Oi"):
        broken.score(ours, "Oi, aproveite!")


FRAGMENTS = [
    "{",
    "}",
    '"',
    "'",
    ":",
    ",",
    "[",
    "\\",
    "\n",
    "```sql\n",
    "SELECT ",
    "FROM pedidos ",
    "(",
    ")",
    ";",
    "4,5",
    "1e999",
    "NaN",
    "R$ 9,9%",
]
FRAGMENTS += [
    "\x00",
    "\ud800",
    "e\u0301",
    "😀",
    "WITH x AS (",
    "UNION ",
    "CASE WHEN ",
    '"sentiment": ',
    "true",
    "fone ",
    "de ",
    "recomendo ",
    "- ",
]
completions = st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join) | st.text(max_size=60)


@pytest.mark.parametrize(("name", "task"), CASES)
@given(completion=completions)
def test_any_text_gets_a_bounded_finite_repeatable_score(
    folder: Path, name: SetName, task: str, completion: str
) -> None:
    check(load_reward_set(name, folder), PROMPTS[task], completion)


@pytest.mark.parametrize(("name", "task"), CASES)
def test_mutated_good_answers_score_too(folder: Path, name: SetName, task: str) -> None:
    rng = random.Random(f"{name}/{task}")
    for _ in range(40):
        text = list(ANSWERS[task])
        for _ in range(rng.randint(1, 8)):
            place = rng.randrange(len(text))
            text[place : place + rng.randint(0, 6)] = rng.choice(FRAGMENTS)
        check(load_reward_set(name, folder), PROMPTS[task], "".join(text))


@pytest.mark.parametrize(("name", "task"), CASES)
def test_huge_text_scores_zero(folder: Path, name: SetName, task: str) -> None:
    reward = load_reward_set(name, folder)
    assert reward.score(PROMPTS[task], ANSWERS[task] * 2000).total == 0


SLOW = {
    "blank lines": "\n" * 16_000 + "a",
    "marks on marks": "a" + "\u0323\u0301" * 8000,
    "marks of all sorts": "".join(map(chr, range(0x300, 0x370))) * 140,
    "characters that become 18": "\ufdfa" * 16_000,
    "bullets": "- a\n\n" * 3000,
    "full stops": ".\n" * 8000,
    "spaces behind a bullet": "-" + " " * 16_000 + "x",
    "a fence without an end": "```json\n" + "\n" * 16_000,
    "figures": "recompra 23,5%, e " * 200,
    "movements": "recompra caiu para " * 200,
    "scraps of what is taken back": "nao us esta muito tudo " * 700,
    "scraps of harm": "aumentar o " * 1400,
    "pushes": "um push " * 2000,
    "a query of columns": "SELECT " + ", ".join(["id"] * 240) + " FROM pedidos",
}


@pytest.mark.parametrize(("name", "task"), [case for case in CASES if case[0] in ("v4.2", "grounded")])
@pytest.mark.parametrize("text", SLOW.values(), ids=SLOW)
def test_no_text_is_slow(folder: Path, name: SetName, task: str, text: str) -> None:
    reward = load_reward_set(name, folder)
    seconds = []
    for _ in range(3):
        started = time.thread_time()
        reward.score(PROMPTS[task], text)
        seconds.append(time.thread_time() - started)
    assert min(seconds) < 0.1 * slowness()


def test_thirty_blanks_stand_for_any_number_of_them() -> None:
    assert readable("a" + " \n" * 15 + "b") == "a" + " \n" * 15 + "b"
    assert readable("a" + " " * 16_000 + "b" + "\n" * 31) == "a" + " " * 30 + "b" + "\n" * 30


def test_piled_marks_are_no_text_and_a_few_are() -> None:
    assert readable("a" + "\u0301" * 31) == ""
    assert readable("e\u0301" + "\u0323" * 29) != ""
    assert readable("ж" + "\u0323" * 30) != "" and readable("ж" + "\u0323" * 31) == ""
    assert readable("e\u0301" * 100) == "é" * 100
    assert readable("😀" * 100) == "😀" * 100
    assert (len(readable("é" * 16_384)), readable("é" * 16_385)) == (16_384, "")


@pytest.mark.parametrize(("name", "task"), CASES)
def test_gains_add_up_to_one_and_names_are_unique(name: SetName, task: str) -> None:
    assert sum(c.weight for c in SETS[name][task].components if c.weight > 0) == pytest.approx(1)
    names = [c.name for reward in SETS[name].values() for c in reward.components]
    assert len(set(names)) == len(names)
    assert all(c.name.startswith(f"{task}.") for c in SETS[name][task].components)


@pytest.mark.parametrize("name", NAMES)
def test_a_set_can_be_pickled_and_scores_batches(folder: Path, name: SetName) -> None:
    reward = load_reward_set(name, folder)
    prompts, texts = [PROMPTS[task] for task in SETS[name]], [ANSWERS[task] for task in SETS[name]]
    scores = reward.score_batch(prompts, texts)
    assert pickle.loads(pickle.dumps(reward)).score_batch(prompts, texts) == scores
    with pytest.raises(ValueError):
        reward.score_batch(prompts, texts[:1])


@pytest.mark.parametrize(("name", "task"), CASES)
@pytest.mark.parametrize("blank", ["", " ", "\n\t \u2003"])
def test_a_blank_answer_earns_nothing_and_nothing_is_below_zero_by_name(name: SetName, task: str, blank: str) -> None:
    reward = load_reward_set(name)
    prompt = replace(PROMPTS[task], reference={})
    assert list(reward.score(prompt, blank).components.values()) == [0.0] * len(reward.component_names(task))
    assert "-0.0" not in repr(reward.score(prompt, "Não sei dizer."))
    assert all(weight > 0 for weight in reward.component_weights(task).values())
    assert tuple(reward.component_weights(task)) == reward.component_names(task)


def test_the_label_of_a_prompt_goes_before_its_text() -> None:
    labelled = replace(PROMPTS["push"], user="Extraia um JSON.")
    assert load_reward_set("v4.2").score(labelled, "Seu fone chegou!").components.keys() == set(
        load_reward_set("v4.2").component_names("push")
    )


def test_penalties_alone_add_up_to_nothing(folder: Path) -> None:
    score = load_reward_set("grounded", folder).score(PROMPTS["extraction"], "Não sei.")
    assert (score.components["extraction.contradiction"], score.total) == (-0.2, 0.0)


def test_an_unknown_set_is_refused() -> None:
    unknown: Any = "v9"
    with pytest.raises(ValueError, match="choose one of"):
        load_reward_set(unknown)


def test_the_random_control_is_uniform_and_knows_nothing() -> None:
    reward = load_reward_set("controls.random")
    totals = sorted(reward.score(PROMPTS["push"], f"texto {n}").total for n in range(2000))
    # Kolmogorov-Smirnov: beyond 1.95 / sqrt(n) in one of a thousand samples of a uniform distribution
    assert max(abs(total - n / 2000) for n, total in enumerate(totals)) < 1.95 / 2000**0.5 + 1 / 2000
    other = replace(PROMPTS["push"], user="Outro pedido")
    assert reward.score(other, "texto 1") != reward.score(PROMPTS["push"], "texto 1")


def test_the_format_control_does_not_see_content() -> None:
    reward = load_reward_set("controls.format")
    wrong = '{"sentiment":"positive","sentiment_score":5,"category":"x","delivery_issue":false,"product_issue":true,"seller_issue":true'
    wrong += ',"churn_risk":"low","repurchase_intent":true,"main_complaint":null,"summary":"y"}'
    assert reward.score(PROMPTS["extraction"], wrong).total == pytest.approx(1)
    assert reward.score(PROMPTS["push"], "zzz").total == 1


@pytest.mark.parametrize("task", TASKS)
def test_the_length_control_counts_characters_up_to_six_hundred(task: str) -> None:
    reward = load_reward_set("controls.length")
    for text, share in {"x": 1 / 600, "a \n b  cd": 0.01, "x" * 300: 0.5, "x" * 600: 1, "x" * 601: 1}.items():
        assert reward.score(PROMPTS[task], text).components == {f"{task}.length": pytest.approx(share)}


def test_a_prompt_without_a_task_is_classified(folder: Path) -> None:
    reward = load_reward_set("grounded", folder)
    for prompt in PROMPTS.values():
        assert reward.score(replace(prompt, task=""), ANSWERS[prompt.task]) == reward.score(
            prompt, ANSWERS[prompt.task]
        )


@pytest.mark.parametrize(
    ("user", "task"),
    [
        ("Avaliação (nota 2, moda): Adorei o push do aplicativo, mas analisem o tecido.", "extraction"),
        ("Nota 5/5. Chegou antes do prazo.", "extraction"),
        ("[nota 3] Avaliação: mais ou menos", "extraction"),
        ("Categoria bebês, nota 1. Avaliação: veio rasgado", "extraction"),
        ("Extraia um JSON da mensagem.", "extraction"),
        ("Quantas avaliações de 05/2018 têm nota 3 ou menor?", "sql_qa"),
        ("Como ficou a nota média de SP no mês 05/2018?", "sql_qa"),
        ("Escreva uma consulta SQL com o total de vendas.", "sql_qa"),
        ("Monte um plano de reengajamento com push a partir de recompra e atraso.", "insights"),
        ("Analise receita e frete médio.", "insights"),
        ("Crie um push para: relógio digital.", "push"),
        ("Escreva uma notificação sobre o sofá.", "push"),
    ],
)
def test_classifier(user: str, task: str) -> None:
    assert classify_task(user) == task


def test_the_document_holds_the_generated_table() -> None:
    document = Path(__file__).parents[1] / "docs" / "rewards.md"
    assert f"\n\n{describe()}" in document.read_text(encoding="utf-8")


def test_the_package_needs_nothing_heavy() -> None:
    code = (
        "import sys, rewards; print([m for m in ('numpy', 'pandas', 'torch', 'tucano', 'data', 'mlflow', 'prefect') if"
        " m in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1]
    )
    assert run.stdout.strip() == "[]"


def test_the_pages_example_of_a_score_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    root = Path(__file__).parents[1]
    page = (root / "docs" / "rewards.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(root)
    exec(compile(shown, "docs/rewards.md", "exec"), {})
    assert "'push.invented': -0.03" in capsys.readouterr().out
