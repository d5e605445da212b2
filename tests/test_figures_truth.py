"""Figures that an answer proposes or works out, and advice in the forms of notes, cost nothing; what is false beside
them costs all the same. Of the truth alone: the reward has code and tests of its own.
"""

from dataclasses import replace

import pytest
from rewards_examples import PROMPTS, Prompt

from tucano.truth import truth

FACTS = [
    {"label": "atraso", "value": 14.0, "unit": "%"},
    {"label": "frete médio", "value": 36.4, "unit": "R$"},
    {"label": "pedidos", "value": 560.0, "unit": ""},
    {"label": "recompra", "value": 9.0, "unit": "%"},
    {"label": "ticket médio", "value": 182.0, "unit": "R$"},
]
BRIEF = (
    "Números de maio: atraso 14,0%; frete médio R$ 36,40; pedidos 560; recompra 9,0%; ticket médio R$ 182. "
    "Recomende ações sobre atraso e frete médio."
)
GOOD = """O atraso de 14,0% incomoda quem espera, e o frete médio de R$ 36,40 pesa numa compra pequena.
- Troque a transportadora das rotas que mais atrasam e avise o cliente antes do vencimento do prazo.
- Negocie a tabela de frete com duas transportadoras e ofereça retirada na loja por 30 dias.
"""


def _earns(text: str, key: tuple[str, ...] = ("atraso", "frete médio")) -> float:
    prompt: Prompt = replace(PROMPTS["insights"], user=BRIEF, reference={"facts": FACTS, "key": list(key)})
    return truth(prompt, text, None) or 0.0


def test_the_answer_itself_is_good() -> None:
    assert _earns(GOOD) > 0.95


@pytest.mark.parametrize(
    "line",
    [
        "- Cliente novo leva um vale-frete de R$ 15 na segunda compra.",
        "- Frete grátis desde R$ 240, com teste de duas semanas no site.",
        "- Entrega econômica no carrinho, frete a R$ 12,90 no boleto.",
        "- De R$ 200 a R$ 299, frete pela metade; de R$ 300 em diante, a loja paga.",
        "- Criar um clube de R$ 14,90 por mês para quem compra sempre.",
        "- Frete grátis (ou R$ 7,90) para quem retira no ponto de coleta.",
        "- Até o Natal, atraso em 10% ou menos nas rotas do interior.",
        "- Quero ver 9,5% de atraso no fim do trimestre.",
        "Como saberemos que deu certo? Atraso em 8% e frete em R$ 29 por dois meses seguidos.",
        "- Sinal vermelho em 18% de atraso: parar a divulgação nas rotas ruins.",
        "- Cliente que indica um amigo: os dois ganham R$ 20 na próxima compra.",
        "- Em 560 pedidos, são 78 ou 79 entregas fora do prazo por mês.",
        "- São 18 ou 19 pedidos por dia, e a expedição precisa dar conta deles.",
        "- Mandar e trazer um pacote custa R$ 72,80, o dobro do frete de uma entrega.",
        "- Com R$ 5 a mais por pedido = R$ 2.800 por mês para pagar a coleta de sábado.",
        "- Metade do frete fica com a loja: R$ 18,20 em vez de R$ 36,40 na primeira compra.",
        "- Pôr 70% da energia no atraso e o resto no frete.",
        "- Passou de 16% no atraso? Então a rota muda de transportadora.",
        '- Avisar por mensagem: "Seu frete baixou", só para quem comprou em maio.',
        "- Não baixar o prazo e ignorar o atraso: promessa curta sem entrega vira reclamação.",
    ],
)
def test_what_is_proposed_or_worked_out_costs_nothing(line: str) -> None:
    assert _earns(GOOD + line) > 0.9, line


@pytest.mark.parametrize(
    "line",
    [
        "- O frete médio já chegou a R$ 61,20 e assusta quem compra pouco.",
        "- A recompra foi de 22% em maio, o que anima.",
        "- O atraso é de 31% ou mais nas entregas da loja.",
        "- O atraso caiu para 14,0% e mostra que a rota melhorou.",
        "- São 112 ou 113 pedidos por dia, muito para a expedição.",
        "- Em 560 pedidos, são 137 ou 138 entregas com atraso por mês.",
        "- A maioria dos atrasos (83%) vem de uma transportadora só.",
        "- Foram 14,0% de atraso, contra 41% em abril, segundo o histórico.",
        "- São uns 300 atrasos por mês em 560 pedidos.",
        "- Um em cada três pedidos atrasa: 187 clientes por mês.",
        "- A recompra, com 27%, está muito boa para uma loja nova.",
        "Diretoria pergunta pelo frete.\nO frete médio é de R$ 58 hoje e sobe todo mês.",
    ],
)
def test_what_is_false_beside_them_costs(line: str) -> None:
    assert _earns(GOOD + line) < 0.3, line


@pytest.mark.parametrize(
    ("told", "key"),
    [
        ("De cada 100 clientes, só 9 compram de novo, e o atraso de 14,0% explica uma parte.", ("atraso", "recompra")),
        ("O atraso, com 14,0%, merece cuidado; a recompra de 9,0% sofre junto.", ("atraso", "recompra")),
        (
            "ATRASO 14,0%\nQuem espera demais compra no vizinho, e a recompra de 9,0% mostra isso.",
            ("atraso", "recompra"),
        ),
        ("Pedidos\n⚠ 560 no mês, e o atraso de 14,0% já aparece em muitos deles.", ("atraso", "pedidos")),
        ("Dos 560 pedidos, uns 78 chegaram com atraso, e a recompra de 9,0% sofre com isso.", ("atraso", "recompra")),
        ("A recompra é baixa: de cada 11 clientes, um volta. O atraso de 14,0% pesa nisso.", ("atraso", "recompra")),
    ],
)
def test_a_figure_counts_where_people_say_it(told: str, key: tuple[str, ...]) -> None:
    steps = """
- Troque a transportadora das rotas que mais atrasam e avise o cliente antes do vencimento do prazo.
- Mande um cupom para a segunda compra a quem recebeu o pedido no prazo, por 30 dias.
"""
    assert _earns(told + steps, key) > 0.8


@pytest.mark.parametrize("mark", ["①", "▪", "☐", "1º.", "·", "⚠"])
def test_marks_of_lists_are_alike(mark: str) -> None:
    assert _earns(GOOD.replace("\n- ", f"\n{mark} ")) > 0.9


def test_a_column_of_aims_is_no_claim() -> None:
    table = "\n| | Ação | Meta |\n|---|---|---|\n| Atraso | separar os pedidos antes do meio-dia | 9% |\n"
    assert _earns(GOOD + table) > 0.9
    assert _earns(GOOD + table.replace("Meta", "Hoje").replace("9%", "o atraso é de 33%")) < 0.3


def test_a_price_without_a_step_is_a_claim() -> None:
    assert _earns(GOOD + "- Com o frete de R$ 71,50, ninguém compra um livro.") < 0.3


@pytest.mark.parametrize(
    "line",
    [
        "O frete médio custa R$ 61 ou mais.",
        "São 31% ou mais de atraso.",
        "O atraso em 25% ou mais mostra a demora.",
        "Quero baixar a taxa de atraso, que hoje é de 31%, sem que o cliente saiba.",
        "O atraso pode chegar a 48% porque já está em 33%.",
        "Pode haver 45% de abandono no carrinho.",
        "A concorrência pode ter frete de R$ 12.",
        "O atraso consome 60% do tempo da equipe.",
        "O atraso toma 70% do tempo da operação.",
        "Comparando os meses, o atraso atinge 60% da base.",
        "Hoje 40% da verba vai para o atraso.",
        "O sinal amarelo acende em 22%: é o atraso de hoje.",
        "Sinal amarelo em 22% de atraso já neste mês.",
        "Luz vermelha em 31% de atraso, é o que temos.",
        "O frete médio é o dobro: R$ 72,80.",
        "O dobro do frete, R$ 72,80, é o que o cliente paga.",
        "A metade dos pedidos, 280, foi devolvida.",
        "O envio sai em dobro, R$ 72,80, para todos.",
        "São 18 ou 19 pedidos com atraso por dia.",
        "Atrasam 140 pedidos por semana.",
        '"Seu frete baixou" resume o mês.',
        '"Nosso frete caiu", mostram os dados.',
        "Passou de 12% o atraso? Sim, em maio.",
        "Bateu 31% o atraso? Pois é.",
        "O atraso passou de 25%?",
        "O cliente recebe R$ 60 de frete na conta.",
        "A tarifa de R$ 60 do frete assusta.",
        "O envio saiu desde R$ 12.",
        "A alta progressiva do atraso, hoje em 31%, preocupa.",
        "- Suspenda as vendas da loja.",
        "- Suspenda a venda da marca.",
        "- O atendimento ao cliente é melhor suspender.",
        "- Não responda a todos os clientes.",
        "- Não avise a todos os clientes.",
        "Como segunda resposta: o atraso vem da rota.",
        "Como segunda opção, veja esta análise: o atraso vem da rota.",
    ],
)
def test_a_turn_of_proposals_that_tells_of_now_costs(line: str) -> None:
    """Bounds, signals, shares of effort, gifts and questions free a figure beside a step or a condition alone."""
    assert _earns(GOOD + line) < 0.31, line


@pytest.mark.parametrize(
    "line",
    [
        "- Atraso em 20% ou mais na rota: trocar a transportadora.",
        "- Antes do Natal, atraso em 10% ou menos.",
        "- Esforço: 60% do tempo no atraso.",
        "- Teste com 20% da base antes de mudar tudo.",
        "- Devolução custa ida e volta do frete, R$ 72,80, então vale corrigir as fotos.",
        "- A loja paga metade do frete (R$ 18,20) na primeira compra.",
        "- Clube de R$ 12,90 por mês com frete reduzido, só para quem já comprou.",
        "- Rota cara para todos: olhar se há fornecedor repetido. Havendo, suspender.",
        "- Não mande cupom para todos.",
        "- Use a retirada como segunda opção para quem mora perto.",
    ],
)
def test_the_same_turns_beside_a_step_cost_nothing(line: str) -> None:
    assert _earns(GOOD + line) > 0.9, line


def test_a_column_of_aims_that_were_reached_tells_of_now() -> None:
    table = "\n| Indicador | Meta atingida |\n|---|---|\n| Atraso | 31% |\n"
    assert _earns(GOOD + table) < 0.3
