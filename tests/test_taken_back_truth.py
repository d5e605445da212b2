"""What the truth makes of values of a wrong kind, of answers that take themselves back, and of good ones that only
sound like it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rewards_examples import ANSWERS, FIELDS, PROMPTS, Prompt, write_store

from tucano.truth import truth
from tucano.truth.tasks.extraction import FRAMED
from tucano.truth.wording.complaints import denies, is_second, is_told_otherwise

EXTRACTION = PROMPTS["extraction"]
UNSTARRED = replace(EXTRACTION, stars=None)
"""Here a reader has to guess how many stars there were."""

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["low", "negative", "sim"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


@pytest.mark.parametrize("prompt", [EXTRACTION, UNSTARRED, PROMPTS["sentiment"], PROMPTS["churn"]])
@given(data=st.data())
def test_any_value_in_any_field_is_judged(prompt: Prompt, data: st.DataObject) -> None:
    fields = json.loads(ANSWERS[prompt.task])
    name = data.draw(st.sampled_from(sorted(fields)))
    answer = json.dumps(fields | {name: data.draw(JSON)}, ensure_ascii=data.draw(st.booleans()))
    assert 0 <= truth(prompt, answer) <= 1  # type: ignore[operator]


@pytest.mark.parametrize("value", [["low"], [], {}, {"a": 1}, 10**400, 1e999, float("nan"), True, None, "\ud83d"])
def test_a_risk_that_is_no_word_is_wrong(value: Any) -> None:
    fields = json.loads(ANSWERS["extraction"])
    right, wrong = (truth(UNSTARRED, json.dumps(fields | risk)) for risk in ({}, {"churn_risk": value}))
    assert wrong < right  # type: ignore[operator]


QUERY = "SELECT estado, SUM(valor) AS total FROM pedidos GROUP BY estado;"
EXPLAINED = "A consulta soma o valor dos pedidos de cada estado."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("truth"))


DISOWNED = [
    "Na verdade essa query é de outro relatório e não serve aqui.",
    "Esta query foi feita para outra pergunta.",
    "Peguei a consulta de outro projeto.",
    "Copiei de outro lugar; não sei o que faz.",
    "A consulta acima responde a outra coisa.",
    "Esta consulta não responde à pergunta.",
    "O resultado não corresponde ao que foi pedido.",
    "Esse número não tem nada a ver com a pergunta.",
    "Ela devolve um número sem sentido para a sua pergunta.",
    "Não é isso que você pediu.",
    "Essa não é a resposta certa.",
    "A resposta certa seria outra.",
    "Ela falha porque a coluna não existe.",
    "A consulta está com erro.",
    "O resultado está invertido.",
    "Esse SQL é um exemplo de como não fazer.",
    "Esse resultado é mentira.",
    "Inventei os dados.",
    "Foi só um palpite.",
    "Escrevi sem ler a pergunta.",
    "Favor desconsiderar.",
    "Ignore o resultado.",
    "Não use este número.",
    "Não use esta consulta para responder à pergunta.",
    "Não recomendo usar esta consulta.",
    "Sem dúvida, esta consulta está errada.",
    "Cuidado: o resultado sai errado.",
    "É falso que a consulta soma os pedidos.",
    "Não use minha consulta, por favor.",
    "Não use meu código.",
    "Não use tal consulta.",
    "Não use essa porcaria.",
    "Não use aquela consulta.",
    "Não use qualquer parte desta consulta.",
    "Não considere nenhuma parte desta resposta.",
    "Não considere correta a consulta acima.",
    "Não confie em mim.",
    "Não use jamais esta consulta.",
    "Nunca use esta consulta.",
    "Não use de jeito nenhum.",
    "Não confie em uma linha sequer.",
    "Não use este SQL para nenhum fim.",
    "Não use a consulta para valer.",
    "Não use esta consulta como solução.",
    "Não use esta consulta para saber o que se perguntou.",
    "Não use a consulta para calcular isso.",
    "Não use a consulta em nenhum caso.",
    "Evite usar, pois a consulta está errada.",
    "É fácil ver a consulta errada acima.",
    "Quando você rodar isto, o número que sair está errado.",
    "Se rodar, o valor que sair está errado.",
]
"""Said of the answer itself."""


@pytest.mark.parametrize("said", DISOWNED)
def test_a_query_that_its_explanation_disowns_is_worth_nothing(folder: Path, said: str) -> None:
    for prose in (said, f"{EXPLAINED} {said}"):
        assert truth(PROMPTS["sql_qa"], f"```sql\n{QUERY}\n```\n{prose}", folder) == 0


@pytest.mark.parametrize(
    "said",
    [
        "Não sei responder. Inventei isto:",
        "Esta é a query de outro relatório:",
        "A consulta abaixo não responde à sua pergunta:",
        "Uma query qualquer:",
        "Versão com defeito, não rode:",
    ],
)
def test_a_query_that_is_disowned_before_it_stands_is_worth_nothing(folder: Path, said: str) -> None:
    assert truth(PROMPTS["sql_qa"], f"{said}\n```sql\n{QUERY}\n```\n{EXPLAINED}", folder) == 0


@pytest.mark.parametrize(
    "remark",
    [
        "-- ERRADA: não usar, responde outra coisa\n",
        "-- não responde à pergunta\n",
        "-- inventada\n",
        "/* Esta consulta está errada. */",
    ],
)
def test_a_query_that_its_own_remark_disowns_is_worth_nothing(folder: Path, remark: str) -> None:
    assert truth(PROMPTS["sql_qa"], f"```sql\n{remark}{QUERY}\n```\n{EXPLAINED}", folder) == 0


def test_what_the_query_does_not_do_is_no_explanation(folder: Path) -> None:
    said = EXPLAINED.replace("consulta soma", "consulta não soma")
    assert truth(PROMPTS["sql_qa"], f"```sql\n{QUERY}\n```\n{said}", folder) == 0


@pytest.mark.parametrize(
    "said",
    ["Valor dos pedidos por estado. A consulta não soma o frete.", "Por estado, todo o valor. Não conta clientes."],
)
def test_what_the_query_does_not_do_may_stand_beside_an_explanation(folder: Path, said: str) -> None:
    assert truth(PROMPTS["sql_qa"], f"```sql\n{QUERY}\n```\n{said}", folder) > 0.5  # type: ignore[operator]


@pytest.mark.parametrize(
    "note",
    [
        "Não use este número como total do ano: ele só cobre o que a pergunta pediu.",
        "Não use este número para fechar a contabilidade, pois os cancelados entram na conta.",
        "Não use COUNT(DISTINCT) aqui, pois cada linha vale uma.",
        "Não confie na coluna status para saber se houve pagamento.",
        "Se o resultado parecer errado, confira se o mês está no formato AAAA-MM.",
        "Se o estado estiver com a sigla errada, não sai nada.",
        "É fácil buscar na tabela errada: preço está em itens e valor pago em pagamentos.",
        "Cuidado para não usar a tabela errada: o dado está nas tabelas acima.",
        "Sem o filtro, o resultado sairia errado.",
        "Com o JOIN errado, cada pedido entraria duas vezes.",
        "A consulta ignora essas linhas.",
        "Ignore os centavos: o valor sai arredondado.",
        "Desconsidere o frete: ele não entra.",
        "Não vale para outros anos.",
        "Não serve para medir o lucro, porque o frete não está aí.",
        "Ela não conta cancelados nem pedidos em trânsito.",
        "Não mostra os nomes.",
        "Não funciona com a data completa; use AAAA-MM.",
        "Cada pagamento é de um pedido, não de outro.",
        "Não deve ser usada para comparar anos.",
        "Sem o JOIN com pedidos isso não funciona, porque o mês não está em itens.",
        "O estado está em clientes; sem essa tabela, a consulta não roda.",
        "Se a categoria tiver letra maiúscula, a consulta não funciona.",
        "Filtrar o mês direto em itens? Isso não funciona, pois o mês está em pedidos.",
        "Se você tirar o prefixo das colunas, a consulta dá erro de coluna ambígua.",
        "Se usar COUNT, o resultado vem errado.",
        "Tirando o JOIN com pedidos, a consulta dá erro, pois o mês está lá.",
        "Sem o JOIN com pedidos, o total sai errado.",
        "O valor não corresponde ao pedido inteiro, só ao preço de cada item.",
        "O número não corresponde a pedidos, pois um pedido pode ter dois pagamentos.",
        "O resultado não atende a pedidos sem pagamento, que ficam de fora.",
        "Valores de outros pedidos não entram na soma.",
        "Entram pagamentos de qualquer tipo; um valor qualquer conta igual.",
        "COUNT(DISTINCT p.pedido_id) conta outra coisa: os pedidos.",
        "Trocar COUNT por SUM devolve outra coisa.",
        "O frete não deve ser considerado, por isso só o preço entra na conta.",
        "Os cancelados não são ignorados; pelo contrário, contam também.",
        "Um item sem preço não entra, porque ele não tem valor.",
        "Para ignorar os valores nulos não é preciso nada: o SUM já faz isso.",
        "Filtrar por status não é o que foi pedido, por isso não há esse filtro.",
        "Não considere isso um erro: há pedidos sem pagamento.",
        "Não use aspas duplas nos textos.",
        "Não use isto para decidir preços sozinho.",
    ],
)
def test_what_a_query_is_not_for_may_be_said(folder: Path, note: str) -> None:
    assert truth(PROMPTS["sql_qa"], f"```sql\n{QUERY}\n```\n{EXPLAINED} {note}", folder) == pytest.approx(1)


@pytest.mark.parametrize(
    "remark",
    [
        f"/* {EXPLAINED} */\n",
        "/* SP e RJ */ -- por estado\n",
        "-- versão 2 do relatório\n",
        "-- sem o filtro o total sai errado\n",
        "/* um\n dois */\n\n",
    ],
)
def test_a_remark_in_front_of_a_query_is_no_fault(folder: Path, remark: str) -> None:
    assert truth(PROMPTS["sql_qa"], f"```sql\n{remark}{QUERY}\n```\n{EXPLAINED}", folder) == pytest.approx(1)


RANKING = "SELECT estado, SUM(valor) AS total FROM pedidos GROUP BY estado ORDER BY total DESC LIMIT 1;"
NAME = "SELECT estado FROM pedidos GROUP BY estado ORDER BY SUM(valor) {} LIMIT 1;"


@pytest.mark.parametrize(
    ("question", "query", "least", "most"),
    [
        ("Quais 2 estados têm o maior valor?", NAME.format("DESC"), 1.0, 1.0),
        ("Em que estado o valor foi maior?", NAME.format("DESC"), 1.0, 1.0),
        ("Quais 2 estados têm o maior valor?", NAME.format("ASC"), 0.0, 0.3),
        ("Quais 2 estados têm o maior valor?", NAME.format("DESC").replace("SUM", "COUNT"), 0.0, 0.3),
        ("Quais 2 estados têm o maior valor, e quanto é?", NAME.format("DESC"), 0.0, 0.3),
        ("Liste os estados com o maior valor, com seus totais.", NAME.format("DESC"), 0.0, 0.3),
    ],
)
def test_names_alone_answer_who_asks_which_ones(
    folder: Path, question: str, query: str, least: float, most: float
) -> None:
    prompt = replace(PROMPTS["sql_qa"], user=question, reference=PROMPTS["sql_qa"].reference | {"sql": RANKING})
    answer = f"```sql\n{query}\n```\nA consulta mostra o estado em que o valor dos pedidos é maior."
    assert least <= truth(prompt, answer, folder) <= most  # type: ignore[operator]


ONE = ANSWERS["extraction"]


@pytest.mark.parametrize(
    "answer",
    [
        f"Esta é a avaliação de outro cliente, não desta:\n{ONE}",
        f"Não li a avaliação; preenchi ao acaso:\n{ONE}",
        f"Segue um exemplo inventado:\n{ONE}",
        f"Isto não vale nada:\n{ONE}",
        f"O objeto a seguir troca tudo pelo contrário:\n{ONE}",
        f"JSON de teste com dados falsos:\n{ONE}",
        f"{ONE}\nO sentimento correto é o contrário.",
        f"{ONE}\nCorrigindo: o sentimento é positivo.",
        f"{ONE}\nEste JSON é de outra avaliação.",
        f"{ONE}\nNão vale: preenchi sem ler.",
        f"{ONE}\nPor favor, desconsidere.",
    ],
)
def test_an_object_that_a_sentence_beside_it_disowns_is_worth_nothing(answer: str) -> None:
    assert truth(EXTRACTION, answer) == 0


@pytest.mark.parametrize(
    "said",
    [
        "Segue o registro da avaliação:",
        "Não há elogio nesta avaliação, só a queixa.",
        "O cliente recebeu o produto errado, veja os campos.",
        "Analisei o comentário e preenchi os dez campos.",
        "Avaliação classificada como negativa por causa da demora.",
    ],
)
def test_a_sentence_about_the_review_disowns_nothing(said: str) -> None:
    assert truth(EXTRACTION, f"{said}\n{ONE}") == pytest.approx(FRAMED)


@pytest.mark.parametrize(
    "further",
    [
        {"valido": False},
        {"correto": "não"},
        {"confianca": 0},
        {"inventado": True},
        {"sentimento_real": "positive"},
        {"sentiment_2": "positivo"},
        {"versao_certa": {"sentiment": "positive"}},
        {"observacao": "o sentimento verdadeiro é positivo"},
        {"comentario": "não li a avaliação, preenchi ao acaso"},
        {"correcao": "o cliente na verdade sentiu o contrário; ignore os outros campos"},
        {"summary": "Os outros campos deste JSON estão errados; o cliente sente o oposto."},
        {"summary": "Ignore este JSON."},
        {"summary": "Resumo inventado, não li a avaliação."},
        {"summary": "Nada do que está neste objeto aconteceu."},
        {"summary": "O cliente disse o contrário de tudo isto."},
        {"main_complaint": "preenchi ao acaso"},
        {"observacao": "Não use meu JSON."},
        {"observacao": "Não confie em mim."},
        {"observacao": "Não use jamais este objeto."},
        {"observacao": "Não confie em nenhum campo."},
        {"observacao": "Não use a minha resposta."},
        {"observacao": "Não use os campos para valer."},
        {"observacao": "Não use para nada."},
        {"observacao": "Tudo neste item está errado."},
        {"observacao": "A nota acima é um número errado."},
    ],
)
def test_an_object_that_its_own_fields_disown_is_worth_nothing(further: dict[str, Any]) -> None:
    assert truth(EXTRACTION, json.dumps(FIELDS | further, ensure_ascii=False)) == 0


@pytest.mark.parametrize(
    "further",
    [
        {"valido": True},
        {"confianca": 0.9},
        {"erro": False},
        {"sentimento": "negativo"},
        {"produto": "fone"},
        {"problema": "produto errado"},
        {"problema": "o item está errado"},
        {"observacao": "não confie na loja, diz o cliente"},
        {"prazo_cumprido": False},
    ],
)
def test_a_further_field_that_fits_costs_nothing(further: dict[str, Any]) -> None:
    assert truth(EXTRACTION, json.dumps(FIELDS | further, ensure_ascii=False)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("complaint", "expected", "review"),
    [
        ("pedido cancelado por indisponibilidade", "venda sem estoque", "Cancelaram meu pedido por indisponibilidade."),
        ("loja não avisou do cancelamento", "venda sem estoque", "O pedido foi cancelado e ninguém avisou."),
        ("não recebeu a compra paga", "pedido não chegou", "Não recebi e o boleto já foi pago."),
        ("sem produto e sem atendimento", "pedido não chegou", "Ninguém me atende e eu sigo sem o produto."),
        ("chegou 8 dias depois", "entrega atrasada", "A entrega atrasou 8 dias."),
        ("caixa úmida", "embalagem danificada", "Veio com a caixa molhada."),
        ("lacre rompido", "embalagem danificada", "Veio com a embalagem aberta."),
        ("foto enganosa", "diferente do anúncio", "Na foto do anúncio o produto era diferente."),
        ("falhas no acabamento", "qualidade ruim", "O acabamento é ruim."),
        ("enviaram outra raquete", "produto errado", "O modelo da raquete veio errado."),
        ("pedido veio pela metade", "entrega incompleta", "Paguei duas unidades e veio somente uma."),
    ],
)
def test_a_complaint_in_other_words_is_right(complaint: str, expected: str, review: str) -> None:
    assert is_told_otherwise(complaint, expected, review)


@pytest.mark.parametrize(
    ("complaint", "expected", "review", "second"),
    [
        ("atraso na entrega", "pedido não chegou", "Meu pedido ainda não chegou.", True),
        ("pedido não chegou", "entrega atrasada", "Demorou, veio 20 dias depois.", False),
        ("troca negada", "sem nota fiscal", "Chegou sem a nota fiscal. Negaram a troca.", True),
        ("defeito em 19 dias", "pedido não chegou", "Não chegou; o outro parou de funcionar em 19 dias.", True),
        ("produto com defeito", "pedido não chegou", "Meu pedido ainda não chegou.", False),
        ("enviaram outra mensagem", "produto errado", "O modelo veio errado.", False),
    ],
)
def test_the_other_trouble_of_a_review_is_nearly_right(
    complaint: str, expected: str, review: str, second: bool
) -> None:
    assert is_second(complaint, expected, review) == second


LATE = replace(
    UNSTARRED,
    user="Extraia da avaliação: Gostei do sapato. A entrega atrasou demais. Compraria de novo.",
    reference={
        "fields": FIELDS
        | {"sentiment": "positive", "sentiment_score": 4, "category": "moda", "repurchase_intent": True}
        | {"churn_risk": "low", "main_complaint": "entrega atrasada"}
    },
)
LATE_TOLD = LATE.reference["fields"] | {"summary": "O sapato agradou, mas a entrega atrasou."}


@pytest.mark.parametrize(
    "summary",
    [
        LATE_TOLD["summary"],
        "Quem compra sapatos viu tudo certo antes, mas desta vez a entrega atrasou.",
        "Está tudo certo com o sapato; a entrega atrasou.",
        "Esperava rapidez e teve o contrário disso: o sapato veio com atraso.",
        "É falso que a entrega do sapato tenha vindo em dia.",
        "Este objeto, o sapato, não foi entregue no prazo.",
        "O cliente gostou do sapato, mas este objeto não chegou em dia.",
    ],
)
def test_a_good_object_of_an_unstarred_review_is_true(summary: str) -> None:
    assert truth(LATE, json.dumps(LATE_TOLD | {"summary": summary})) == pytest.approx(1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"main_complaint": "não houve entrega atrasada", "summary": "Não houve entrega atrasada e está tudo ótimo."},
        {"main_complaint": "sem entrega atrasada", "summary": "Tudo certo, sem entrega atrasada."},
        {"main_complaint": "nenhum atraso", "summary": "O sapato agradou e não houve atraso."},
        {"sentiment": "negative", "sentiment_score": 5},
        {"sentiment_score": 1},
        {"sentiment": "negative", "sentiment_score": 1, "churn_risk": "high", "repurchase_intent": False},
    ],
)
def test_an_object_that_contradicts_its_review_or_itself_is_bad(wrong: dict[str, Any]) -> None:
    assert truth(LATE, json.dumps(LATE_TOLD | wrong)) <= 0.3  # type: ignore[operator]


def test_every_issue_and_the_review_given_back_is_bad() -> None:
    given_back = "A entrega atrasou demais. Compraria de novo."
    every = {"delivery_issue": True, "product_issue": True, "seller_issue": True}
    answer = LATE_TOLD | every | {"main_complaint": given_back, "summary": given_back}
    assert truth(LATE, json.dumps(answer)) <= 0.3  # type: ignore[operator]


def test_a_summary_of_no_words_leaves_little() -> None:
    content = {"main_complaint": None, "delivery_issue": False}
    prompt = replace(LATE, user="Extraia: Gostei do sapato.", reference={"fields": LATE.reference["fields"] | content})
    good = LATE_TOLD | content | {"summary": "O cliente gostou do sapato."}
    assert truth(prompt, json.dumps(good)) > 0.85  # type: ignore[operator]
    assert truth(prompt, json.dumps(good | {"summary": "xq zzt plim 77 glub", "category": "zzt"})) <= 0.3  # type: ignore[operator]


@pytest.mark.parametrize(
    ("complaint", "expected"),
    [
        ("não houve pedido não chegou", "pedido não chegou"),
        ("sem vendedor grosseiro", "atendimento ruim"),
        ("não teve embalagem rasgada", "embalagem danificada"),
        ("não houve entrega atrasada", "entrega atrasada"),
        ("não teve produto com defeito", "produto com defeito"),
    ],
)
def test_a_trouble_that_there_was_none_of_is_denied(complaint: str, expected: str) -> None:
    assert denies(complaint, expected)


@pytest.mark.parametrize(
    ("complaint", "expected"),
    [
        ("sem nota fiscal", "sem nota fiscal"),
        ("não houve entrega", "pedido não chegou"),
        ("sem resposta do vendedor", "vendedor não responde"),
        ("nada de reembolso", "troca negada"),
        ("não tem estoque", "venda sem estoque"),
        ("sem reembolso do produto quebrado", "troca negada"),
        ("Sem solução para o atraso na entrega", "entrega atrasada"),
        ("Não teve o material a tempo por atraso na entrega", "entrega atrasada"),
        ("Sem previsão do pedido que não chegou", "pedido não chegou"),
        ("Não há notícia do pedido que não chegou", "pedido não chegou"),
        ("Não há atendimento e o produto não chegou", "pedido não chegou"),
        ("Não houve troca do produto errado", "produto errado"),
    ],
)
def test_a_trouble_that_is_a_lack_is_not_denied(complaint: str, expected: str) -> None:
    assert not denies(complaint, expected)
