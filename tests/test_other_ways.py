"""The same trouble or praise in the many ways in which Brazilians say it counts for both judges; another one does not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rewards_examples import FIELDS, Prompt

from rewards import load_reward_set
from rewards.wording.complaints import kinds_of, names_another
from tucano.truth import truth
from tucano.truth.wording.complaints import trouble

Judge = Callable[[Prompt, str], float]

FLAGS = ("delivery_issue", "product_issue", "seller_issue")
REVIEWS: dict[str, tuple[str, str, str]] = {
    "pedido não chegou": ("O abajur ainda não chegou, comprei faz um mês.", "delivery_issue", "O abajur não chegou."),
    "entrega atrasada": ("O abajur chegou com atraso de nove dias.", "delivery_issue", "O abajur chegou atrasado."),
    "vendedor não responde": ("O vendedor não responde sobre o abajur.", "seller_issue", "Nada ouviu sobre o abajur."),
    "troca negada": ("O vendedor negou o reembolso do abajur.", "seller_issue", "Quer o dinheiro do abajur."),
    "produto errado": ("Veio o modelo errado, eu pedi o abajur azul.", "product_issue", "O abajur azul não veio."),
    "qualidade ruim": ("A qualidade do abajur é ruim.", "product_issue", "Diz que o abajur é de material fraco."),
    "sem nota fiscal": ("O abajur veio sem nota fiscal.", "seller_issue", "Quer o documento do abajur."),
    "produto incompleto": ("O abajur veio incompleto, falta uma peça.", "product_issue", "Falta uma peça do abajur."),
    "embalagem danificada": ("A embalagem do abajur veio rasgada.", "delivery_issue", "O abajur veio mal protegido."),
    "produto com defeito": ("O abajur veio com defeito.", "product_issue", "O abajur não presta mais."),
}  # fmt: skip
PLEASED: dict[str, Any] = FIELDS | {
    "sentiment": "positive", "sentiment_score": 5, "churn_risk": "low", "repurchase_intent": True,
    "delivery_issue": False, "product_issue": False, "seller_issue": False, "main_complaint": None,
    "category": "outros",
}  # fmt: skip


@pytest.fixture(params=["grounded", "truth"])
def judge(request: pytest.FixtureRequest, tmp_path: Path) -> Judge:
    if request.param == "truth":
        return lambda prompt, text: truth(prompt, text, tmp_path) or 0.0
    rewards = load_reward_set("grounded", tmp_path)
    return lambda prompt, text: rewards.score(prompt, text).total


def complained(expected: str, complaint: str) -> tuple[Prompt, str]:
    review, flag, summary = REVIEWS[expected]
    fields = FIELDS | {name: name == flag for name in FLAGS} | {
        "sentiment": "negative", "sentiment_score": 1, "churn_risk": "high", "repurchase_intent": False,
        "category": "casa", "main_complaint": expected, "summary": summary,
    }  # fmt: skip
    asked = Prompt("extraction", f"JSON da avaliação (nota 1, casa): {review}", 1, {"fields": fields})
    return asked, json.dumps(fields | {"main_complaint": complaint}, ensure_ascii=False)


def summed_up(review: str, summary: str, **said: Any) -> tuple[Prompt, str]:
    fields = PLEASED | {"summary": ""}
    asked = Prompt("extraction", f"JSON da avaliação, nota 5: {review}", 5, {"fields": fields})
    return asked, json.dumps(fields | {"summary": summary} | said, ensure_ascii=False)


@pytest.mark.parametrize(
    ("expected", "complaint"),
    [
        ("pedido não chegou", "cliente de mãos vazias"),
        ("pedido não chegou", "encomenda retida nos Correios"),
        ("pedido não chegou", "cadê a minha encomenda"),
        ("pedido não chegou", "segue aguardando a mercadoria"),
        ("entrega atrasada", "estouraram o prazo"),
        ("entrega atrasada", "chegou muito tarde"),
        ("entrega atrasada", "lentidão no envio"),
        ("vendedor não responde", "lojista incomunicável"),
        ("vendedor não responde", "não atendem o telefone"),
        ("vendedor não responde", "não deram satisfação"),
        ("troca negada", "restituição pendente"),
        ("troca negada", "ficaram com o dinheiro"),
        ("troca negada", "atraso no estorno"),
        ("produto errado", "não é o que comprou"),
        ("produto errado", "recebeu cinza no lugar do azul"),
        ("qualidade ruim", "acabamento sofrível"),
        ("qualidade ruim", "material vagabundo"),
        ("sem nota fiscal", "não mandaram a NF-e"),
        ("produto incompleto", "peça faltando"),
        ("embalagem danificada", "produto mal embalado"),
        ("produto com defeito", "peça chegou rachada"),
        ("pedido não chegou", "não recebi retorno nem produto"),
        ("pedido não chegou", "não recebi resposta nem a encomenda"),
        ("pedido não chegou", "não chegou nem respondem"),
        ("pedido não chegou", "encomenda está há dez dias parada"),
        ("pedido não chegou", "rastreio do pedido travado"),
        ("entrega atrasada", "demora e nenhum retorno"),
        ("entrega atrasada", "atraso, nem contato fizeram"),
        ("produto errado", "mandaram outra coisa"),
        ("produto errado", "veio dourado em vez de prateado"),
        ("produto com defeito", "durou pouco"),
        ("vendedor não responde", "suporte da loja sumiu"),
    ],
)
def test_a_trouble_has_many_names(judge: Judge, expected: str, complaint: str) -> None:
    assert judge(*complained(expected, complaint)) >= 0.85


@pytest.mark.parametrize(
    ("expected", "complaint"),
    [
        ("entrega atrasada", "não respondem às mensagens"),
        ("entrega atrasada", "demora no reembolso"),
        ("entrega atrasada", "demora para responder"),
        ("pedido não chegou", "não recebeu resposta"),
        ("pedido não chegou", "aguardando o estorno"),
        ("vendedor não responde", "encomenda retida nos Correios"),
        ("troca negada", "material vagabundo"),
        ("produto errado", "lojista incomunicável"),
        ("qualidade ruim", "estouraram o prazo"),
        ("sem nota fiscal", "peça faltando"),
        ("produto com defeito", "cor trocada"),
        ("embalagem danificada", "caixa de som com som ruim"),
        ("pedido não chegou", "mercadoria veio com zíper preso"),
        ("pedido não chegou", "devolução da compra perdida"),
        ("pedido não chegou", "valor da encomenda perdido"),
        ("pedido não chegou", "compra travada no pagamento"),
        ("pedido não chegou", "esperando o produto funcionar"),
        ("pedido não chegou", "aguardando a entrega da nota"),
        ("produto errado", "chegou tarde em vez de cedo"),
        ("produto errado", "veio amassado em vez de lacrado"),
        ("produto errado", "recebi grosseria em vez de ajuda"),
        ("produto errado", "recebi silêncio no lugar de resposta"),
        ("produto errado", "erro no envio do reembolso"),
        ("produto errado", "engano no pedido do cartão"),
        ("produto errado", "outra coisa"),
        ("produto com defeito", "atendimento não presta"),
        ("produto com defeito", "lojista não presta"),
        ("produto com defeito", "durou pouco a promoção"),
        ("produto com defeito", "não durou a oferta"),
        ("produto com defeito", "loja inoperante"),
        ("produto com defeito", "site inoperante"),
        ("produto com defeito", "cartão não reconhecido"),
        ("produto com defeito", "não reconhecem o pagamento"),
        ("produto com defeito", "sem funcionário na loja"),
        ("vendedor não responde", "celular não atende ligação"),
        ("vendedor não responde", "smartphone não atende chamada"),
        ("vendedor não responde", "suporte da tv veio mudo"),
        ("vendedor não responde", "suporte para celular ausente"),
        ("vendedor não responde", "demora a dar retorno do dinheiro"),
        ("vendedor não responde", "sem retorno do valor"),
    ],
)
def test_another_trouble_is_none_of_its_names(judge: Judge, expected: str, complaint: str) -> None:
    assert judge(*complained(expected, complaint)) <= 0.6


def _is_of_the_parcel(complaint: str) -> tuple[bool, bool]:
    """Whether each judge takes a complaint for one of a parcel that did not come."""
    return (
        bool(kinds_of(complaint) & kinds_of("pedido não chegou")),
        bool(trouble(complaint) & trouble("pedido não chegou")),
    )


@pytest.mark.parametrize(
    "complaint",
    [
        "encomenda chegou com tela travada",
        "pedido com tecla emperrada",
        "pedido de reembolso travado",
        "pedido de troca parado",
        "aguardando pedido de reembolso",
        "aguardando pedido de desculpas",
        "parte do pedido perdida",
        "metade da encomenda perdida",
    ],
)
def test_what_happens_to_a_part_or_to_money_happens_to_no_parcel(complaint: str) -> None:
    assert _is_of_the_parcel(complaint) == (False, False)


@pytest.mark.parametrize(
    "complaint",
    ["encomenda parada nos Correios", "entrega do pedido travada", "aguardando o pedido", "encomenda segue retida"],
)
def test_a_parcel_that_lies_somewhere_has_not_come(complaint: str) -> None:
    assert _is_of_the_parcel(complaint) == (True, True)


def test_to_be_asked_for_an_opinion_is_a_complaint_where_it_is_too_soon(tmp_path: Path) -> None:
    score = load_reward_set("grounded", tmp_path).score
    asked, soon = complained("pedido não chegou", "não chegou, e o pedido de avaliação veio cedo demais")
    _, other = complained("pedido não chegou", "pedido de avaliação não chegou")
    assert score(asked, soon).total >= 0.85
    assert score(asked, other).total <= 0.6


def lukewarm(complaint: str) -> tuple[Prompt, str]:
    fields = PLEASED | {
        "sentiment": "neutral", "sentiment_score": 3, "churn_risk": "medium", "repurchase_intent": False,
        "category": "casa", "summary": "O abajur é só razoável.",
    }  # fmt: skip
    asked = Prompt("extraction", "JSON da avaliação (nota 3, casa): O abajur é só razoável.", 3, {"fields": fields})
    return asked, json.dumps(fields | {"main_complaint": complaint}, ensure_ascii=False)


@pytest.mark.parametrize(
    "complaint",
    ["não surpreendeu", "o abajur deixa a desejar", "produto sem graça", "qualidade aquém do esperado", "não animou"],
)
def test_a_lukewarm_word_is_an_opinion(judge: Judge, complaint: str) -> None:
    assert judge(*lukewarm(complaint)) >= 0.7


@pytest.mark.parametrize(
    "complaint",
    [
        "deixa a desejar na entrega",
        "atendimento deixa a desejar",
        "não agradou o vendedor",
        "embalagem sem graça",
        "preço alto, não convenceu",
        "sem graça, chegou molhado",
        "sem brilho e riscado",
        "não animou: bateria vazia",
        "sem animal de estimação",
        "frete aquém do combinado",
    ],
)
def test_a_lukewarm_word_frees_no_other_complaint(judge: Judge, complaint: str) -> None:
    assert judge(*lukewarm(complaint)) <= 0.5


@pytest.mark.parametrize(
    ("review", "summary"),
    [
        ("Gostei muito do pendrive, veloz.", "Gostou do pendrive e não encontrou nenhum problema nem defeito."),
        ("Gostei muito do pendrive, veloz.", "Gostou do pendrive, sem qualquer motivo para reclamação."),
        ("Capa de celular bonita e firme.", "Achou a capinha linda e recomenda a quem quiser proteger o aparelho."),
        ("Adorei a maquiagem, dura o dia inteiro.", "Diz que a make rende bem e ficou contente com a cor."),
        ("O vendedor foi prestativo comigo.", "Cliente elogia o atendimento excelente que lhe deram."),
        ("Entregaram antes do prazo, tudo perfeito.", "Ficou feliz: a entrega foi rápida e tudo chegou certo."),
        ("O produto veio como anunciado.", "Recebeu a mercadoria conforme a descrição e ficou contente."),
        ("Gostei muito do pendrive, veloz.", "Elogia a confiança que tem no pendrive."),
    ],
)  # fmt: skip
def test_a_summary_may_say_it_in_other_words(judge: Judge, review: str, summary: str) -> None:
    assert judge(*summed_up(review, summary)) >= 0.85


@pytest.mark.parametrize(
    ("review", "summary"),
    [
        ("Gostei muito do pendrive, veloz.", "Achou o pendrive péssimo e cheio de defeitos."),
        ("Gostei muito do pendrive, veloz.", "Não gostou do pendrive e reclama de um defeito."),
        ("Gostei da capa de banco, bem firme.", "Cliente satisfeito com a capinha."),
        ("Gostei muito do pendrive, veloz.", "Cliente satisfeito com a make."),
        ("Gostei muito do pendrive, veloz.", "Diz que nada mais horrível houve que o pendrive."),
        ("Gostei muito do pendrive, veloz.", "Nunca teve mais prejuízo que com o pendrive."),
    ],
)
def test_a_summary_that_turns_or_speaks_of_another_thing_costs(judge: Judge, review: str, summary: str) -> None:
    assert judge(*summed_up(review, summary)) <= 0.76


@pytest.mark.parametrize(
    ("review", "summary"),
    [
        ("Tudo pontual e como combinado.", "Diz que o violão chegou antes do prazo."),
        ("Tudo pontual e como combinado.", "Cliente entregou a tese antes do prazo."),
        ("Tudo pontual e como combinado.", "Cliente não cumpriu o prazo do trabalho."),
    ],
)
def test_a_praise_of_another_thing_is_not_the_review_s(judge: Judge, review: str, summary: str) -> None:
    assert judge(*summed_up(review, summary)) <= 0.8
    assert judge(*summed_up(review, "Diz que tudo chegou antes do prazo.")) >= 0.85


@pytest.mark.parametrize("category", ["não consta", "sem especificação", "não foi informada", "indefinida", None])
def test_a_category_that_nobody_tells_may_be_left_open(judge: Judge, category: str | None) -> None:
    review, summary = "Tudo chegou no prazo, vou comprar outros.", "Chegou tudo no prazo, e quer comprar outros."
    assert judge(*summed_up(review, summary, category=category)) >= 0.85
    assert judge(*summed_up(review, summary, category="brinquedos")) < 0.85


def test_a_thing_is_no_trouble() -> None:
    for text in ("o quebra-cabeça é lindo", "a caixa de som é boa"):
        assert not kinds_of(text)
        assert not trouble(text)
    asked, _ = summed_up("A capa de banco é firme.", "")
    assert names_another("Cliente satisfeito com a capinha.", asked)
