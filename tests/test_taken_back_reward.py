"""The reward `grounded` on answers of extraction and sql_qa that take themselves back or hedge, and on good ones that
only look so."""

import json

import pytest
from rewards_examples import Prompt
from sql_stores import write_stores

from rewards import RewardSet, load_reward_set
from rewards.wording.beside import without_notes

GOOD, LOW = 0.85, 0.3
QUERY = "SELECT COUNT(*) AS total FROM pedidos WHERE valor > 7;"
TELLS = "A consulta conta os pedidos da loja com valor maior que 7 reais."
COUNT = Prompt(
    "sql_qa",
    "Quantos pedidos passaram de R$ 7?",
    None,
    {"sql": QUERY.replace(" AS total", ""), "database": "store.sqlite"},
)
RANKING = Prompt(
    "sql_qa",
    "Que 2 estados têm mais pedidos?",
    None,
    {
        "sql": "SELECT estado, COUNT(*) AS n FROM pedidos GROUP BY estado ORDER BY n DESC LIMIT 2;",
        "database": "store.sqlite",
    },
)
NAMES = "```sql\nSELECT estado FROM pedidos GROUP BY estado ORDER BY COUNT(*) DESC LIMIT 2;\n```\nA consulta conta os pedidos de cada estado e mostra os dois maiores."


@pytest.fixture(scope="module")
def grounded(tmp_path_factory: pytest.TempPathFactory) -> RewardSet:
    return load_reward_set("grounded", write_stores(tmp_path_factory.mktemp("stores")))


def fenced(inside: str, behind: str = TELLS) -> str:
    return f"```sql\n{inside}\n```\n{behind}"


# Queries: one live statement


@pytest.mark.parametrize(
    "inside",
    [
        f"-- {QUERY}\nSELECT 12345;",  # the right query is commented out, a number is live
        f"-- {QUERY}\nSELEC foo bar;",  # what is live cannot run
        f"-- {QUERY}",  # nothing is live
        f"-- {QUERY}\nDELETE FROM pedidos;",
        f"/* {QUERY} */\nSELECT COUNT(*) FROM pedidos;",
        f"{QUERY}\nDROP TABLE pedidos;",  # a second statement that destroys
        f"{QUERY} DELETE FROM pedidos;",
        f"{QUERY}\nSELECT AVG(valor) FROM pedidos;\nSELECT MAX(valor) FROM pedidos;",  # guesses to choose from
        f"{QUERY}\nSELECT 1;",
    ],
)
def test_a_query_is_the_only_live_statement(grounded: RewardSet, inside: str) -> None:
    assert grounded.score(COUNT, fenced(inside)).total <= LOW


@pytest.mark.parametrize(
    "inside",
    [
        f"{QUERY}\n-- fim",
        f"/* {TELLS} */\n{QUERY}",
        f"-- SELECT antigo\n{QUERY}",
        f"WITH caros AS (SELECT * FROM pedidos WHERE valor > 7) -- só os caros\n{QUERY.replace('valor > 7', '1')}".replace(
            "FROM pedidos WHERE 1", "FROM caros"
        ),
        "SELECT COUNT(*) AS total FROM pedidos /* valor; */ WHERE valor > 7",
    ],
)
def test_comments_and_a_leading_cte_are_no_further_statements(grounded: RewardSet, inside: str) -> None:
    assert grounded.score(COUNT, fenced(inside)).total >= GOOD


def test_names_answer_a_question_for_names(grounded: RewardSet) -> None:
    assert grounded.score(RANKING, NAMES).total >= GOOD
    asks_amounts = Prompt("sql_qa", "Que 2 estados têm mais pedidos, e quantos?", None, RANKING.reference)
    assert grounded.score(asks_amounts, NAMES).total < 0.5
    assert grounded.score(RANKING, NAMES.replace("DESC", "ASC")).total < 0.5
    for same in ("COUNT(1)", "COUNT(pedidos.estado)"):
        assert grounded.score(RANKING, NAMES.replace("COUNT(*)", same)).total >= GOOD
    inner = "SELECT estado FROM (SELECT estado, COUNT(*) AS n FROM pedidos GROUP BY estado ORDER BY n DESC LIMIT 2);"
    assert grounded.score(RANKING, fenced(inner, "A consulta conta os pedidos e mostra os dois maiores.")).total >= GOOD
    for shown in ("SELECT n ", "SELECT 'SP' AS estado "):
        counts = fenced(inner.replace("SELECT estado ", shown, 1), "A consulta conta os pedidos e mostra os maiores.")
        assert grounded.score(RANKING, counts).total < 0.5


def test_names_that_another_measure_puts_in_the_same_order_are_no_answer(grounded: RewardSet) -> None:
    gold = "SELECT estado, SUM(valor) AS n FROM pedidos GROUP BY estado ORDER BY n DESC LIMIT 1;"
    prompt = Prompt("sql_qa", "Que estado vendeu mais?", None, {"sql": gold, "database": "store.sqlite"})
    said = "A consulta soma as vendas de cada estado e mostra o maior de todos."
    query = "SELECT estado FROM pedidos GROUP BY estado ORDER BY SUM(valor) DESC LIMIT 1;"
    assert grounded.score(prompt, fenced(query, said)).total >= GOOD
    assert grounded.score(prompt, fenced(query.replace("SUM", "AVG"), said)).total < 0.5


# Queries: what is said of them


@pytest.mark.parametrize(
    "said",
    [
        "Na verdade essa query é de outro relatório e não serve aqui.",
        "Ela falha porque a coluna não existe.",
        "Esse SQL é um exemplo de como não fazer.",
        "Não é isso que você pediu.",
        "Ela devolve um número sem sentido para a sua pergunta.",
        "Favor desconsiderar.",
        "Cuidado: a lógica está invertida e o resultado sai errado.",
        "O filtro está errado e a conta também.",
        "Esse resultado é mentira.",
        "Não testei, é só um chute, pode apagar.",
        "O SQL correto seria outro.",
        "Copiei de outro lugar; não sei o que faz.",
        "Porém ela não roda, dá erro e não deve ser executada.",
        "Não execute esta consulta.",
        "Essa resposta foi inventada.",
        "Não tem relação com o que você pediu.",
    ],
)
def test_an_answer_takes_itself_back_behind_its_query(grounded: RewardSet, said: str) -> None:
    assert grounded.score(COUNT, fenced(QUERY, f"{TELLS} {said}")).total <= LOW


@pytest.mark.parametrize(
    "said",
    [
        "Não sei responder. Inventei isto:",
        "Esta é a query de outro relatório:",
        "A consulta abaixo não responde à sua pergunta:",
        "Versão com defeito, não rode:",
        "Isto aqui dá resultado falso:",
    ],
)
def test_an_answer_takes_itself_back_in_front_of_its_query(grounded: RewardSet, said: str) -> None:
    assert grounded.score(COUNT, f"{said}\n{fenced(QUERY)}").total <= LOW


@pytest.mark.parametrize("comment", ["ERRADA: não usar, responde outra coisa", "inventada", "não responde à pergunta"])
def test_an_answer_takes_itself_back_in_a_comment(grounded: RewardSet, comment: str) -> None:
    assert grounded.score(COUNT, fenced(f"-- {comment}\n{QUERY}")).total <= LOW
    assert grounded.score(COUNT, fenced(f"{QUERY}\n/* {comment} */")).total <= LOW


def test_an_explanation_that_only_denies_is_none(grounded: RewardSet) -> None:
    assert grounded.score(COUNT, fenced(QUERY, TELLS.replace("conta", "não conta"))).total <= LOW
    assert grounded.score(COUNT, fenced(QUERY, f"{TELLS} A consulta não conta os cancelados à parte.")).total >= GOOD
    named = "É o número de pedidos da loja com valor acima de R$ 7. A consulta não soma o frete."  # no verb tells
    assert grounded.score(COUNT, fenced(QUERY, named)).total >= GOOD


@pytest.mark.parametrize(
    "note",
    [
        "Não use este número como total do ano: ele só cobre o que a pergunta pediu.",
        "Não confie na coluna status para isso.",
        "Não use COUNT(DISTINCT) aqui, pois cada linha vale uma.",
        "Sem o filtro de valor, o total sai errado.",  # of a case that is not this one
        "Se o resultado parecer errado, confira o formato do mês.",
        "Contar itens daria um número errado.",
        "Desconsidere pedidos de teste antes de rodar em produção.",
        "Ela não funciona em bancos sem essa tabela.",
        "A condição retorna falso para valores nulos, que ficam de fora.",
        "Se quiser outro valor, apague o filtro e escreva o novo.",
        "Para outra pergunta, troque o filtro.",
        "A unidade não é o pedido inteiro, e sim cada linha.",  # an order, not a request
        "Se não quiser o alias, pode apagar o AS total.",
        "Se não quiser o alias, pode apagar.",
        "Filtrar na tabela de itens? Isso não funciona, pois o valor está em pedidos.",
        "Tirando o WHERE, o total sai errado.",
        "Pedidos de outras lojas e de outros clientes ficam de fora.",  # «e», not «é»
        "Não entram pedidos que são de outros clientes.",
        "Pedidos com valor nulo, sem valor, não entram na conta.",
        "Valores nulos, inválidos ou negativos não entram.",
        "Filtrar por status não é o que foi pedido, por isso não há esse filtro.",
        "O status não tem nada a ver com a pergunta, então fica fora.",
        "Contar itens repetiria pedidos e não serve.",
        "A consulta lê as linhas nulas e descarta.",
    ],
)
def test_a_note_on_use_takes_nothing_back(grounded: RewardSet, note: str) -> None:
    assert grounded.score(COUNT, fenced(QUERY, f"{TELLS} {note}")).total >= GOOD


def test_a_note_is_of_something_else_than_the_answer() -> None:
    for note in ("Não use este número como total do ano.", "Não use a tabela itens.", "Não confie em AVG para isso."):
        assert not without_notes(note).lstrip(" ").startswith("Não")


@pytest.mark.parametrize(
    "warning",
    [
        "Não use esta consulta.",
        "Não confie neste resultado.",
        "Não use isto como resposta.",
        "Não use meu código.",
        "Não use a minha consulta.",
        "Não use a presente consulta.",
        "Não use tal consulta.",
        "Não use essa porcaria.",
        "Não use qualquer parte desta consulta.",
        "Não considere correta a consulta acima.",
        "Não confie em mim.",
        "Não use jamais esta consulta.",
        "Não confie em nenhum campo.",
        "Não confie em uma linha sequer.",
        "Não use este SQL para nenhum fim.",
        "Não use a consulta para valer.",
        "Não use esta consulta como solução.",
        "Não use de jeito nenhum.",
        "Não confie nem um pouco nela.",
        "Não confie no que escrevi.",
        "Não use a tabela acima.",
    ],
)
def test_a_warning_of_the_answer_is_no_note(grounded: RewardSet, warning: str) -> None:
    assert without_notes(warning) == warning
    assert grounded.score(COUNT, fenced(QUERY, f"{TELLS} {warning}")).total <= LOW


# Objects

PLIERS = {
    "sentiment": "negative",
    "sentiment_score": 2,
    "category": "ferramentas",
    "delivery_issue": False,
    "product_issue": True,
    "seller_issue": False,
    "churn_risk": "high",
    "repurchase_intent": False,
    "main_complaint": "alicate de outra cor",
    "summary": "O alicate chegou numa cor que não era a pedida e o cliente não volta à loja.",
}
REVIEW = Prompt(
    "extraction",
    "JSON da avaliação em ferramentas, nota 2: O alicate veio na cor errada. Não compro mais nesta loja.",
    2,
    {"fields": {**PLIERS, "main_complaint": "produto errado"}},
)


def told(**fields: object) -> str:
    return json.dumps({**PLIERS, **fields}, ensure_ascii=False)


def test_the_object_by_itself_is_good(grounded: RewardSet) -> None:
    assert grounded.score(REVIEW, told()).total >= GOOD


@pytest.mark.parametrize(
    "fields",
    [
        {"sentimento_real": "positive"},
        {"sentimento_correto": "positivo"},
        {"correcao": "o cliente na verdade sentiu o contrário; ignore os outros campos"},
        {"comentario": "não li a avaliação, preenchi ao acaso"},
        {"valido": False},
        {"invalido": True},
        {"summary": "Ignore este JSON."},
        {"summary": "Os outros campos deste JSON estão errados; o cliente sente o oposto."},
        {"summary": "Resumo inventado, não li a avaliação."},
        {"summary": "Nada do que está neste objeto aconteceu."},
        {"main_complaint": "não houve produto errado"},
        {"sentiment_score": 5},  # and negative
        {"delivery_issue": True, "seller_issue": True, "main_complaint": "produto errado, atraso, atendimento ruim"},
    ],
)
def test_a_field_takes_the_object_back(grounded: RewardSet, fields: dict[str, object]) -> None:
    assert grounded.score(REVIEW, told(**fields)).total <= LOW


@pytest.mark.parametrize(
    "fields",
    [
        {"valido": True, "erro": None},
        {"observacao": "Cliente não informou o estado."},
        {"sentimento": "negativo"},
        {"summary": f"{PLIERS['summary']} Ele diz que o anúncio é falso e que o vendedor o ignorou."},
        {"summary": "O objeto veio na cor errada e o cliente não compra mais."},  # the thing that was bought
        {"main_complaint": "objeto de cor errada"},
        {"summary": "É falso que o alicate seja da cor do anúncio; o cliente não compra mais."},
        {"summary": "Esperava a cor pedida e teve o contrário disso; o cliente não compra mais."},
    ],
)
def test_other_fields_and_words_take_nothing_back(grounded: RewardSet, fields: dict[str, object]) -> None:
    assert grounded.score(REVIEW, told(**fields)).total >= GOOD


@pytest.mark.parametrize(
    "said",
    [
        "Esta é a avaliação de outro cliente, não desta:",
        "Não li a avaliação; preenchi ao acaso:",
        "Dados inventados.",
        "O sentimento correto é o contrário.",
        "Este JSON é de outra avaliação.",
    ],
)
def test_a_sentence_takes_the_object_back(grounded: RewardSet, said: str) -> None:
    assert grounded.score(REVIEW, f"{said}\n{told()}").total <= LOW
    assert grounded.score(REVIEW, f"{told()}\n{said}").total <= LOW


def complained(review: str, wanted: str, said: str, **flags: bool) -> tuple[Prompt, str]:
    issues = {name: flags.get(name.removesuffix("_issue"), False) for name in PLIERS if name.endswith("_issue")}
    fields = {**PLIERS, **issues, "main_complaint": wanted, "summary": f"O cliente reclama: {review}"}
    prompt = Prompt("extraction", f"JSON da avaliação em ferramentas, nota 2: {review}", 2, {"fields": fields})
    return prompt, json.dumps({**fields, "main_complaint": said}, ensure_ascii=False)


@pytest.mark.parametrize(
    ("review", "wanted", "said", "flag"),
    [
        ("Entregaram o alicate com a caixa molhada.", "embalagem danificada", "caixa úmida", "delivery"),
        ("O alicate veio com a embalagem aberta.", "embalagem danificada", "lacre rompido", "delivery"),
        ("Na foto do anúncio o alicate era diferente.", "diferente do anúncio", "foto enganosa", "product"),
        ("O alicate tem acabamento ruim.", "qualidade ruim", "falhas no acabamento", "product"),
        ("O alicate tem acabamento ruim.", "qualidade ruim", "mau acabamento", "product"),
        ("A entrega do alicate atrasou 8 dias.", "entrega atrasada", "chegou 8 dias depois", "delivery"),
        ("O modelo do alicate veio errado.", "produto errado", "enviaram outro alicate", "product"),
        ("Ninguém me atende e sigo sem o alicate.", "pedido não chegou", "sem produto e sem atendimento", "delivery"),
        ("Cancelaram meu pedido do alicate.", "venda sem estoque", "pedido cancelado por indisponibilidade", "seller"),
        # two troubles: which is the main one is open
        ("O alicate veio sem nota fiscal. O vendedor negou a troca.", "sem nota fiscal", "troca negada", "seller"),
    ],
)
def test_a_complaint_in_words_of_its_own(grounded: RewardSet, review: str, wanted: str, said: str, flag: str) -> None:
    prompt, answer = complained(review, wanted, said, **{flag: True})
    assert grounded.score(prompt, answer).total >= 0.8
    other, wrong = complained(review, wanted, "parou de funcionar", **{flag: True})
    assert grounded.score(other, wrong).total < 0.5


def test_no_words_sum_up_nothing(grounded: RewardSet) -> None:
    happy = {**PLIERS, "sentiment": "positive", "sentiment_score": 5, "product_issue": False, "main_complaint": None}
    prompt = Prompt(
        "extraction", "JSON da avaliação: Chegou antes do prazo, adorei o alicate.", None, {"fields": happy}
    )
    assert (
        grounded.score(prompt, json.dumps({**happy, "category": "zzt", "summary": "xq zzt plim 77 glub"})).total <= LOW
    )
