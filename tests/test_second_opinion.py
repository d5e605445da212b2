"""What falsepass, a tool of other people, finds in reward and truth: nothing, and what it once found stays mended."""

from dataclasses import replace

import pytest
from rewards_examples import ANSWERS, DATABASE, PROMPTS, write_store

from benchmarks import second_opinion
from benchmarks.truth_search import Judge, judge
from tucano.prompts import TASKS, Task

LOW = 0.30
COUNT = {"sql": "SELECT COUNT(*) FROM pedidos WHERE estado='SP'", "database": DATABASE}
MISSED: dict[str, dict[str, int]] = {
    "grounded": {"sql_qa": 8},
    "truth": {"extraction": 6, "sql_qa": 6, "insights": 14, "push": 8},
}
"""Probes of some 90 that each may miss: the truth knows no meaning (docs/truth.md)."""
PROSE: tuple[Task, ...] = ("sql_qa", "insights", "push")


@pytest.fixture(scope="module")
def judges(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Judge]:
    databases = write_store(tmp_path_factory.mktemp("stores"))
    return {name: judge(name, databases) for name in ("truth", "grounded")}


@pytest.mark.parametrize("of", ["truth", "grounded"])
@pytest.mark.parametrize("task", TASKS)
def test_nothing_is_found(of: str, task: Task) -> None:
    rows = second_opinion.opinion(of, task, examples=2, search=25, seed=1)
    assert len(rows) > 60
    assert sum(not row["passed"] for row in rows) <= MISSED[of].get(task, 0), second_opinion.table(rows)


def test_a_reward_that_pays_for_the_product_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def pays(prompt: object, text: str) -> float:
        return float("com" in text)

    monkeypatch.setattr(second_opinion, "judge", lambda of, databases: pays)
    rows = second_opinion.opinion("truth", "push", examples=2, search=25, seed=1)
    failed = {row["probe"] for row in rows if not row["passed"]}
    assert {"P5", "P9", "P15", "S3"} <= failed  # several answers, one taken back, one denied, and what a search finds


@pytest.mark.parametrize("of", ["grounded"])
@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("push", "Que tal Recomen em nossa loja. Aproveite! = " + ANSWERS["push"]),
        ("push", "Is it " + ANSWERS["push"]),
        ("insights", "**Situação:**e a recompra de 2,0produto\n- Sugiro anterior. = " + ANSWERS["insights"]),
        ("insights", "One might guess " + ANSWERS["insights"].replace("Recomendo", "it is the Recomendo")),
        ("insights", PROMPTS["insights"].user + " - Sugiro ampliar aschurn a primeira soma para elevar."),
        ("sql_qa", ANSWERS["sql_qa"] + "\nor\n```sql\nSELECT COUNT(*) FROM pedidos\n```"),
    ],
)
def test_an_answer_beside_another_earns_little(judges: dict[str, Judge], of: str, task: Task, text: str) -> None:
    assert judges[of](PROMPTS[task], text) <= LOW  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "```sql\nSELECT 30\n```\nA consulta conta os pedidos de SP e retorna o total de pedidos.",
        "A consulta conta os pedidos: SELECT 30;",
    ],
)
def test_a_guess_that_reads_no_table_is_no_query(judges: dict[str, Judge], text: str) -> None:
    """Found by the search: in the stores of a question the count was 1 each time, and so `SELECT 1` was right."""
    asked = replace(PROMPTS["sql_qa"], reference=COUNT)
    right = text.replace("SELECT 30", "SELECT COUNT(*) FROM pedidos WHERE estado='SP'")
    assert judges["truth"](asked, right) > LOW >= judges["truth"](asked, text)  # type: ignore[arg-type]


@pytest.mark.parametrize("of", ["grounded"])
@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("insights", ANSWERS["insights"] + "\n" + "🎉" * 20),
        ("insights", ANSWERS["insights"] + "\n- reduzir investir implementar otimizar"),
        ("insights", "Não sei responder a esta pergunta.\n" + ANSWERS["insights"]),
        ("insights", "Recomende ações em tópicos curtos.\n" + ANSWERS["insights"]),
        ("push", ANSWERS["push"] + "\u200b" * 30),
        ("push", "Desculpe, não posso. " + ANSWERS["push"]),
        ("push", "Produto: fone. Desconto: só " + ANSWERS["push"]),
    ],
)
def test_what_no_answer_is_made_of(judges: dict[str, Judge], of: str, task: Task, text: str) -> None:
    """Found by the search, in texts of reward and truth up to 1."""
    assert judges[of](PROMPTS[task], text) <= LOW  # type: ignore[arg-type]


@pytest.mark.parametrize("of", ["grounded"])
@pytest.mark.parametrize(
    ("task", "text"),
    [
        *(
            ("sql_qa", f"{ANSWERS['sql_qa']} {more}")
            for more in (
                "A consulta agrupa por `estado` = 'SP' e pelos outros.",
                "Equivale a `valor = 1` OR `valor = 2` em cada estado.",
                "É o mesmo que NOT (valor < 0), sem nenhum operador NOT.",
                "A coluna `not_null` não existe nesta consulta.",
            )
        ),
        *(
            ("insights", f"{ANSWERS['insights']}\n{more}")
            for more in (
                "- Vale testar oferecer voucher a quem já comprou.",
                "- Deixe o cliente poder escolher retirar na loja.",
                "- Recebemos pouquíssimos clientes de volta.",
                "- Simplifique o check-out com pagamento por Pix e mostre o prazo real.",
                "- Ofereça um kit all in one a quem já comprou.",
                "- Envie um pedido de desculpas («Desculpe, não cumprimos o prazo») com cupom de R$ 20.",
                "- Descreva o prazo em tópicos curtos na página do produto.",
                "---\n- Responda às avaliações dos clientes nesta semana.\n---\n- Meça o resultado.",
            )
        ),
        ("push", "Hora do desconto: seu fone de ouvido com 20% OFF. Som sem fio e sem limites! 🎧"),
        ("push", "Quer comprar fone de ouvido melhor? Leve com 20% de desconto hoje. Aproveite! 🎧"),
        ("push", "O seu fone de ouvido está com 20% de desconto. Vá ao check-out e aproveite! 🎧"),
    ],
)
def test_what_the_mends_must_leave_alone(judges: dict[str, Judge], of: str, task: Task, text: str) -> None:
    """Good texts that the first version of the mends took for denials, two answers, junk or English."""
    assert judges[of](PROMPTS[task], text) >= 0.8  # type: ignore[arg-type]


@pytest.mark.parametrize("of", ["grounded"])
@pytest.mark.parametrize("task", PROSE)
@pytest.mark.parametrize(
    "denial",
    ["(this is false)", "Esto es incorrecto.", "Isto não está certo.", "(nope)", "A resposta correta é outra."],
)
def test_a_denial_in_other_words_is_none_either(judges: dict[str, Judge], of: str, task: Task, denial: str) -> None:
    assert judges[of](PROMPTS[task], f"{ANSWERS[task]} {denial}") <= LOW  # type: ignore[arg-type]
