"""Answers that one word, mark or column once made right or wrong: hedged queries, figures freed by a word, denied
complaints, concrete advice, pushes that name their product."""

import json
from pathlib import Path

import pytest
from rewards_examples import FIELDS, Prompt
from sql_stores import write_stores

from rewards import RewardSet, load_reward_set
from rewards.extraction import agreements
from rewards.parsing.advice import says_nothing, steps
from rewards.parsing.prose import stands, tells_of_others
from rewards.parsing.sql_near import is_near
from rewards.wording.complaints import is_of_kind, kinds_of, states_stars

GOOD, LOW = 0.9, 0.3


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_stores(tmp_path_factory.mktemp("hedged"))


@pytest.fixture(scope="module")
def grounded() -> RewardSet:
    return load_reward_set("grounded")


# Queries: which column is the answer?

OVER = "SELECT COUNT(*) FROM pedidos WHERE valor > 7"
SUM = "SELECT ROUND(SUM(valor),2) FROM pedidos WHERE valor > 7"
BY_STATE = "SELECT estado, COUNT(*) AS n FROM pedidos GROUP BY estado"
EVERYTHING = "SELECT COUNT(*), ROUND(SUM(valor),2), ROUND(AVG(valor),2), MAX(valor) FROM pedidos WHERE valor > 7"


@pytest.mark.parametrize(
    ("gold", "sql"),
    [
        (OVER, "SELECT SUM(valor >= 7), SUM(valor > 7), SUM(valor < 7), SUM(valor <= 7) FROM pedidos"),
        (OVER, "SELECT SUM(valor > 7), SUM(valor >= 7) FROM pedidos"),
        (OVER, "SELECT COUNT(*) FILTER (WHERE valor > 7), COUNT(*) FILTER (WHERE valor >= 7) FROM pedidos"),
        (
            OVER,
            "SELECT (SELECT COUNT(*) FROM pedidos WHERE valor > 7), (SELECT COUNT(*) FROM pedidos p WHERE p.valor >= 7)",
        ),
        (OVER, "SELECT COUNT(CASE WHEN valor > 7 THEN 1 END), COUNT(CASE WHEN valor < 7 THEN 1 END) FROM pedidos"),
        (OVER, EVERYTHING),
        (SUM, EVERYTHING),
        (SUM, "SELECT a, b, c, d FROM (SELECT COUNT(*) a, SUM(valor) b, AVG(valor) c, MAX(valor) d FROM pedidos WHERE valor > 7)"),
        (SUM, "SELECT AVG(valor), MAX(valor), SUM(valor) FROM pedidos WHERE valor > 7"),
        (BY_STATE, "SELECT estado, COUNT(*), SUM(valor), AVG(valor), MAX(valor) FROM pedidos GROUP BY estado"),
        (BY_STATE, "SELECT estado, SUM(valor > 0), SUM(valor > 7) FROM pedidos GROUP BY estado"),
    ],
)  # fmt: skip
def test_a_query_that_leaves_open_which_column_answers_is_not_near(gold: str, sql: str, stores: Path) -> None:
    assert not is_near({"sql": gold, "database": "store.sqlite"}, sql, stores)


@pytest.mark.parametrize(
    ("gold", "sql"),
    [
        (OVER, "SELECT COUNT(*), SUM(valor) FROM pedidos WHERE valor > 7"),
        (OVER, "SELECT SUM(valor), COUNT(*) FROM pedidos WHERE valor > 7"),
        (SUM, "SELECT SUM(valor), AVG(valor), MAX(valor) FROM pedidos WHERE valor > 7"),
        (
            "SELECT SUM(valor) FROM pedidos WHERE estado = 'SP'",
            "SELECT estado, COUNT(*), SUM(valor) FROM pedidos WHERE estado = 'SP' GROUP BY estado",
        ),
        (BY_STATE, "SELECT estado, SUM(valor), COUNT(*), AVG(valor) FROM pedidos GROUP BY estado"),
        (
            "SELECT ROUND(100.0 * SUM(valor > 7) / COUNT(*), 2) FROM pedidos",
            "SELECT COUNT(*), SUM(valor > 7), 100.0 * SUM(valor > 7) / COUNT(*) FROM pedidos",
        ),
    ],
)
def test_a_superfluous_column_or_two_are_near(gold: str, sql: str, stores: Path) -> None:
    assert is_near({"sql": gold, "database": "store.sqlite"}, sql, stores)


@pytest.mark.parametrize(
    ("told", "of_others"),
    [
        ("Conta os pedidos do Rio de Janeiro.", True),
        ("Conta os pedidos de São Paulo.", False),
        ("Conta os pedidos do Pará.", True),
        ("Uma consulta para somar os pedidos.", False),
        ("Conta os pedidos de Mato Grosso do Sul.", True),
    ],
)
def test_states_have_names_too(told: str, of_others: bool) -> None:
    assert tells_of_others(told, "Quantos pedidos em SP?") == of_others
    assert not tells_of_others("Soma Mato Grosso do Sul.", "WHERE estado = 'MS'")


# Figures: what one word makes of them

BRIEF = Prompt(
    "insights",
    "Monte um plano de reengajamento a partir de frete médio e ticket médio. Dados de junho (marketplace): frete médio"
    " R$ 42,08; pedidos 734; ticket médio R$ 192; devolução caiu para 6,9%; conversão 1,6%.",
    None,
    {
        "figures": [42.08, 734.0, 192.0, 6.9, 1.6],
        "key_figures": [42.08, 192.0],
        "facts": [
            {"label": "frete médio", "value": 42.08, "unit": "R$"},
            {"label": "pedidos", "value": 734.0, "unit": ""},
            {"label": "ticket médio", "value": 192.0, "unit": "R$"},
            {"label": "devolução", "value": 6.9, "unit": "%", "moved": "down"},
            {"label": "conversão", "value": 1.6, "unit": "%"},
        ],
        "key": ["frete médio", "ticket médio"],
    },
)
ADVICE = (
    "\n- Recomendo testar frete fixo acima de R$ 150 nas rotas mais caras."
    "\n- Sugiro enviar um cupom para quem comprou uma vez só."
)
KEY = "**Situação:** frete médio de R$ 42,08 pesa no ticket médio de R$ 192. "


@pytest.mark.parametrize(
    "said",
    [
        "A devolução é de 55%.",
        "A devolução é de 55%, o que seria ruim.",
        "Devolução de 55%, o que seria ruim.",
        "O sucesso importa. A devolução é de 55%.",
        "O sucesso importa: a devolução é de 55%.",
        "O cenário é ruim e a devolução é de 55%.",
        "Metas: a loja vai mal. A devolução é de 55% e a conversão é de 40%.",
        "A devolução é de 55% por 30 dias.",
        "Em três meses a devolução é de 55%.",
        "A devolução chega a 55% hoje.",
        "A devolução da loja é de 55%, o que seria ruim.",
        "A devolução hoje está em 55%, o que seria ruim.",
        'A "devolução de 55%" assusta.',
        "De cada 100 pedidos, 69 voltam.",
        "De cada 100 pedidos, 13 voltam.",
        "Uma devolução de 98,4% preocupa.",
        "O frete médio de R$ 234,08 preocupa.",
    ],
)
def test_no_word_frees_a_false_figure(grounded: RewardSet, said: str) -> None:
    assert grounded.score(BRIEF, KEY + said + ADVICE).total <= LOW


@pytest.mark.parametrize(
    "said",
    [
        "A devolução é de 6,9%.",
        "A devolução da loja está em 6,9%.",
        "A receita que se perde com o frete da loja é de R$ 30,9 mil.",
        "Se o prazo melhorar, a devolução chega a 5%.",
        "A meta é levar a conversão para 2%.",
        "Meta: devolução de 5% em três meses.",
        "Metas: frete R$ 35; devolução 5%.",
        "Uma conversão de 2,0% seria uma boa meta.",
        "A devolução caiu 2 pontos, para 6,9%.",
        "Com menos trocas, a devolução ficaria em 5,9%.",
        "De cada 100 pedidos, 7 voltam.",
        "De cada mil pedidos, 69 voltam.",
        "De cada 100 visitas, 98 saem sem comprar.",
        "De 734 pedidos, uns 51 pedidos voltam.",
        "São R$ 30,9 mil de frete nos 734 pedidos.",
        'Envie a mensagem "Volte e ganhe 15% na próxima compra".',
    ],
)
def test_true_figures_and_proposals_stay_free(grounded: RewardSet, said: str) -> None:
    assert grounded.score(BRIEF, KEY + said + ADVICE).total >= GOOD


def test_a_name_in_quotes_is_a_name(grounded: RewardSet) -> None:
    said = 'O indicador "frete médio" está em R$ 42,08 e o "ticket médio" chega a R$ 192.'
    totals = [grounded.score(BRIEF, text + ADVICE).total for text in (said, said.replace('"', ""))]
    assert totals[0] == totals[1] >= GOOD


# Advice


@pytest.mark.parametrize(
    ("line", "vague"),
    [
        ("- ofereca frete fixo aos clientes do norte.", False),
        ("- crie brinde surpresa para clientes fieis.", False),
        ("- avalie os parceiros de entrega e troque o pior.", False),
        ("- crie guia de tamanhos no site.", False),
        ("- melhorar a experiencia do cliente.", True),
        ("- invista em marketing para atrair mais clientes.", True),
        ("- use as redes sociais para engajar o publico.", True),
        ("- conversao: investir em marketing digital e deixar o site mais atrativo.", True),
        ("- continuar melhorando a receita e manter a nota.", True),
    ],
)
def test_advice_is_vague_where_nothing_else_is_left(line: str, vague: bool) -> None:
    assert says_nothing(line) == vague


def test_listed_steps_are_counted() -> None:
    assert steps("registrar o motivo, refazer as fotos e oferecer troca") == 3
    assert steps("acao: registrar o motivo e oferecer troca") == 2
    assert steps("trocar a rota") == steps("concentrar a verba e manter a rota") == 1


# Complaints


@pytest.mark.parametrize(
    ("said", "expected", "same"),
    [
        ("não atrasou", "entrega atrasada", False),
        ("nenhum atraso", "entrega atrasada", False),
        ("não teve nenhum atraso", "entrega atrasada", False),
        ("produto sem defeito, entrega no prazo, nada atrasou", "entrega atrasada", False),
        ("não tive nenhum problema com atraso", "entrega atrasada", False),
        ("não chegou e está atrasado", "entrega atrasada", True),
        ("não resolveram o atraso", "entrega atrasada", True),
        ("não atrasou o primeiro, o segundo atrasou", "entrega atrasada", True),
        ("nenhum defeito", "produto com defeito", False),
        ("o produto não quebrou", "produto com defeito", False),
        ("o produto não funciona", "produto com defeito", True),
        ("o material não é ruim", "material ruim", False),
        ("não chegou", "pedido não chegou", True),
        ("não veio com nota fiscal", "sem nota fiscal", True),
    ],
)
def test_a_denied_complaint_is_none(said: str, expected: str, same: bool) -> None:
    assert is_of_kind(said, expected) == same
    prompt = Prompt("extraction", "Extraia em JSON. Veio com atraso e defeito.")
    agreed = agreements({"main_complaint": said}, {"main_complaint": expected}, prompt)["main_complaint"]
    assert agreed >= 0.95 if same else agreed == 0


def test_an_article_costs_nothing() -> None:
    prompt = Prompt("extraction", "Extraia em JSON. Não chegou.")
    expected = {"main_complaint": "pedido não chegou"}
    assert agreements({"main_complaint": "o pedido não chegou"}, expected, prompt) == {"main_complaint": 1.0}
    assert kinds_of("sem atraso, mas quebrou") == {"broken"}


@pytest.mark.parametrize(
    ("review", "stars", "stated"),
    [
        ("Extraia em JSON, nota 2/5. Veio quebrado.", 2, True),
        ("Avaliação (nota: 2): veio quebrado.", 2, True),
        ("Dou 2 estrelas. Veio quebrado.", 2, True),
        ("Nota 10 para a loja!", 1, False),
        ("Nota 10 para a loja!", 5, False),
        ("Comprei em 2/5 e veio quebrado.", 1, False),
        ("Nota 2. Veio quebrado.", None, False),
        ("Nota 4,5 no site deles.", 4, False),
    ],
)
def test_stars_are_stated_where_the_number_is_theirs(review: str, stars: int | None, stated: bool) -> None:
    assert states_stars(Prompt("extraction", review, stars)) == stated


@pytest.mark.parametrize(("review", "stated"), [("nota 1", True), ("nota 10", False)])
def test_a_neutral_label_of_an_angry_review_costs_three_points(grounded: RewardSet, review: str, stated: bool) -> None:
    prompt = Prompt("extraction", f"Extraia em JSON, {review}. O fone atrasou vinte dias.", 1, {"fields": FIELDS})
    kept = grounded.score(prompt, json.dumps(FIELDS | {"sentiment": "neutral"})).total
    assert kept < (0.4 if stated else 0.5)


# Pushes


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("Chegou a hora de ouvir melhor: fone de ouvido, 30% de desconto. Aproveite!", GOOD, 1.0),
        ("fone de ouvido. 30% de desconto.", 0.0, 0.0),
        ("Campanha de push: fone de ouvido. 30% de desconto.", 0.0, 0.0),
        ("Aproveite! fone de ouvido. 30% de desconto. Público: clientes.", 0.0, LOW),
    ],
)
def test_a_product_of_three_words_is_no_copy(grounded: RewardSet, text: str, least: float, most: float) -> None:
    reference = {"product": "fone de ouvido", "terms": ["fone"], "figures": [30.0]}
    brief = "Campanha de push: fone de ouvido. 30% de desconto. Público: clientes."
    assert least <= grounded.score(Prompt("push", brief, None, reference), text).total <= most


def test_a_code_may_stand_behind_its_label(grounded: RewardSet) -> None:
    reference = {"product": "ração", "terms": ["ração"], "figures": []}
    prompt = Prompt("push", "Push de ração para quem sumiu. Cupom: VOLTEI.", None, reference)
    said = "Seu pet está com saudade da ração favorita! Use o cupom: VOLTEI e aproveite hoje."
    totals = [grounded.score(prompt, text).total for text in (said, said.replace(":", ""))]
    assert totals[0] == totals[1] >= GOOD


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("É uma barreira para quem ainda não confia na loja.", True),
        ("Não confie nesta análise.", False),
        ("Não usem isto.", False),
    ],
)
def test_what_customers_do_not_do_takes_no_answer_back(text: str, kept: bool) -> None:
    assert stands(text) == kept
