"""Figures of insights that are proposed, worked out or told in other words, and false ones of the same shapes.

Each sentence stands in an answer that is good without it: what a reader takes for a plan or for arithmetic must not
cost, and what the brief contradicts or does not know must.
"""

import pytest
from rewards_examples import Prompt

from rewards import load_reward_set
from rewards.parsing.claims import insight_figures
from rewards.parsing.text import fold
from rewards.wording.unwanted import harms

FACTS = (
    ("pedidos", 720, ""),
    ("receita", 64800, "R$"),
    ("atraso", 13.0, "%"),
    ("recompra", 8.0, "%"),
    ("frete médio", 27.4, "R$"),
    ("nota média", 3.6, ""),
    ("cancelamento", 6.5, "%"),
)


def brief(*key: str) -> Prompt:
    values = {label: float(value) for label, value, _ in FACTS}
    return Prompt(
        "insights",
        "Números de abril (loja online): pedidos 720; receita R$ 64.800; atraso 13,0%; recompra 8,0%; frete médio"
        f" R$ 27,40; nota média 3,6; cancelamento 6,5%. O que fazer com {' e '.join(key)}?",
        None,
        {
            "figures": list(values.values()),
            "key_figures": [values[label] for label in key],
            "facts": [{"label": label, "value": float(value), "unit": unit} for label, value, unit in FACTS],
            "key": list(key),
        },
    )


ANSWER = """Abril vendeu bem, mas o atraso de 13,0% estraga a volta do cliente: só 8,0% de recompra.
{}
- Trocar a transportadora nas rotas em que a entrega mais demora e avisar o cliente da nova data.
- Mandar um cupom a quem recebeu no prazo, com sugestão do que combina com a primeira compra."""
UNHARMED, HARMED = 0.85, 0.35


def score(sentence: str) -> float:
    return load_reward_set("grounded").score(brief("atraso", "recompra"), ANSWER.format(sentence)).total


@pytest.mark.parametrize(
    "sentence",
    [
        "Receita: de R$ 64.800 pra R$ 70 mil até o inverno.",
        "Vale testar a segunda compra com frete a R$ 14,90 no boleto.",
        "Queremos ver 10% de recompra sem que a nota desça de 3,4.",
        "O lembrete já pode levá-la a 9,5%.",
        "Depois do Carnaval, atraso em 9% ou menos.",
        "Até R$ 99 paga envio; de R$ 100 a R$ 179, metade; de R$ 180 em diante, grátis.",
        "Progressivo: 4% em 2 itens, 7% em 3 itens.",
        "Subiu para 9% no fim do teste? Mantém a regra.",
        "Como saber que deu certo? Atraso em 8% e recompra em 10% por um trimestre.",
        "Dia 12 áudio do vendedor · dia 30 pesquisa · dia 45 vale de R$ 12.",
        "Vitrine com produtos de R$ 190 a R$ 240 na primeira tela.",
        "Guardar um pedaço da verba (25%, digamos) para quem já comprou.",
        "Ver quais estados passam de R$ 40 de frete.",
        "Pode ter cliente pagando R$ 12 e cliente pagando R$ 60 de envio.",
        "Perder 30 desses fregueses custa uns R$ 2,7 mil.",
        "Teste em 20% da base, com grupo de controle.",
        "Meta de maio: atraso em 9% ou menos, recompra em 10% ou mais.",
        "Quem gasta R$ 300 ou mais ganha brinde.",
        "Queremos 10% de recompra e 9% de atraso.",
        "Isso pode levar a recompra a 10%.",
        "20% da base recebe o cupom, 20% fica de controle.",
        "Gatilho em 9% de cancelamento: parar a campanha.",
        "Passou de 15%? Pausa a campanha.",
        "Recuperar 20 desses clientes já paga a campanha.",
        "Clube de R$ 12 por mês com frete reduzido.",
        'Mensagem: "seu frete caiu".',
    ],
)
def test_a_figure_that_is_proposed_costs_nothing(sentence: str) -> None:
    assert score(sentence) >= UNHARMED


@pytest.mark.parametrize(
    "sentence",
    [
        "São 93 ou 94 entregas fora da data.",
        "Dos 720, uns 94 chegaram tarde.",
        "São 24 pedidos por dia, em média.",
        "Cada pedido vale R$ 90 (R$ 64.800 / 720).",
        "Mandar e trazer de volta dobra o frete (R$ 54,80).",
        "Um corte de 13% pra 8% poupa 36 pedidos atrasados.",
        "Atraso, 1 em cada 8; os outros 87% chegam no dia certo.",
        "A cada 12 ou 13 clientes, um volta.",
        "Perto de R$ 8,4 mil vieram de pedidos atrasados.",
        "Ida e volta, o frete pesa R$ 54,80.",
        "Uns 3 pedidos atrasados por dia.",
    ],
)
def test_a_figure_that_follows_from_the_brief_costs_nothing(sentence: str) -> None:
    assert score(sentence) >= UNHARMED


@pytest.mark.parametrize(
    "sentence",
    [
        "Receita: subiu para R$ 70 mil no inverno.",
        "O frete médio de R$ 14,90 no boleto é baixo.",
        "A recompra é de 10% e a nota é de 3,4.",
        "O atraso ficou em 9% depois do Carnaval.",
        "O frete passa de R$ 40 no Sul.",
        "Quem passa de 22% de atraso é a loja.",
        "São 40 ou 41 pedidos por dia.",
        "Dos 720, uns 240 chegaram tarde.",
        "O ticket de R$ 310 surpreende.",
        "A volta do pacote dobra o frete (R$ 71,20).",
        "Um em cada 3 pedidos atrasa.",
        "Em cada 100 clientes, 31 voltam.",
        "O atraso de 13,0 dias preocupa.",
        "A devolução de 13,0% preocupa.",
        "A margem de 27% é apertada.",
        "A taxa de abandono do carrinho está em 71%.",
        "O cancelamento em 21% ou mais mostra a crise.",
        "Um atraso de 31% para cima, em outubro.",
        "Nota em 3,1 ou menos, segundo o cliente.",
        "Queremos reduzir o cancelamento, hoje em 11%.",
        "Quero chamar atenção para os 31% de atraso.",
        "Espero ver o fim dos 31% de atraso.",
        "Sem que o cliente saiba, 31% dos pedidos atrasam.",
        "O motivo pode ser o frete, hoje em R$ 60.",
        "Pode haver 45% de abandono no carrinho.",
        "Quem espera pode ficar sem comprar: 21% cancelam.",
        "O grupo de teste mostra que o atraso atinge 60% da base.",
        "Na comparação, 60% da base recebeu tarde.",
        "O atraso, no grupo, pega 60% dos envios.",
        "O alerta: cancelamento de 11%.",
        "Gatilho da queda: atraso de 31%.",
        "O sinal amarelo acende em 37%: é o cancelamento de hoje.",
        "O frete médio é o dobro: R$ 54,80.",
        "O frete médio, ida e volta, foi de R$ 54,80.",
        "A receita dobrou, com R$ 129.600 de ida e volta.",
        "São 24 pedidos atrasados por dia.",
        "Chegam 24 pedidos por dia com atraso na entrega.",
        "São R$ 2.160 por dia perdidos com cancelamento.",
        '"Nosso frete caiu", mostram os dados.',
        'O painel diz: "a recompra melhorou, o frete caiu".',
        '"Sua nota subiu" resume o mês.',
        "Chegou a R$ 60 o frete? Sim, em setembro.",
        "Subiu o atraso aos 31%? Sim.",
        "Bateu 31% o atraso? Infelizmente.",
        "Estamos a perder R$ 30.000 por mês com o atraso.",
        "É triste perder 90 fregueses com atraso.",
        "Estamos perto de perder R$ 30.000 em vendas.",
        "Olhei onde o atraso passa de 30%: capitais.",
        "É fácil ver onde o atraso passa de 31%.",
        "Veja onde o atraso passou de 31%.",
        "O cancelamento é de talvez 11%.",
        "O atraso está em, digamos, 30%.",
        "Um atraso de, por exemplo, 31% pesa.",
        "Uma entrega de R$ 80 explica o atraso.",
        "Frete a R$ 60 assusta o cliente.",
        "Mimo de R$ 60 já foi dado a todos.",
        "A empresa ganha R$ 60 por venda.",
    ],
)
def test_a_figure_that_is_false_costs(sentence: str) -> None:
    assert score(sentence) <= HARMED


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (("atraso",), "Atraso\n- Com 13,0%, dá para resolver."),
        (("receita",), "Como subir a receita?\nHoje são R$ 64.800, ou R$ 90 por compra."),
        (("pedidos",), "Pedidos\n⚠ 720 em abril, com recompra de 8,0%."),
        (("recompra",), "De cada 100 clientes da loja, só 8 compram de novo."),
        (("recompra",), "A recompra diz que, de cada 12 ou 13 clientes, um volta."),
        (("cancelamento",), "Vieram 720 pedidos pelo site. Desses, uns 47 foram cancelados."),
        (("receita",), "Clientes deixaram R$ 64.800 (frete médio, R$ 27,40) na loja em abril."),
        (("atraso", "nota média"), 'Capa:\n"Loja online: nota fica em 3,6, atraso chega a 13,0% e preocupa."'),
        (("pedidos",), "Temos 720 vezes R$ 90, e isso paga as contas."),
    ],
)
def test_a_figure_counts_where_words_around_its_line_say_what_it_is(key: tuple[str, ...], text: str) -> None:
    assert insight_figures(brief(*key), text)[:2] == (1.0, 0)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (("atraso",), "Atraso\n- Com 6,5%, dá para resolver."),
        (("recompra",), "Como subir a recompra?\nHoje são R$ 64.800, ou R$ 90 por compra."),
        (("recompra",), "De cada 100 clientes da loja, só 13 compram de novo."),
        (("atraso",), 'Avise: "seu pedido atrasou e ganha 13% na próxima compra".'),
    ],
)
def test_a_figure_of_another_label_does_not_count_there(key: tuple[str, ...], text: str) -> None:
    assert insight_figures(brief(*key), text)[0] == 0.0


def test_a_column_of_aims_holds_aims_and_a_column_of_figures_figures() -> None:
    rows = "| | Hoje | {} |\n|---|---|---|\n| Atraso | 13,0% | 2,2% |\n| Recompra | 8,0% | 29% |"
    assert score(rows.format("Meta")) >= UNHARMED
    assert score(rows.format("Março")) <= HARMED
    for reached in ("Meta atingida", "Objetivo alcançado", "Metas batidas"):
        assert score(rows.format(reached)) <= HARMED


TOLD = "O atraso de 13,0% é alto na entrega, e a recompra de 8,0% vem do prazo."


@pytest.mark.parametrize(
    "rows",
    [
        "Ação: o atraso de 13,0% é alto na entrega.\nAção: a recompra de 8,0% vem do estoque.",
        "→ O atraso é alto na entrega.\n→ A recompra vem do estoque.",
        "Sugestão: a entrega está lenta no prazo.\nSugestão: o cancelamento foi maior no pix.",
        "Como entender\n- O atraso de 13,0% é alto na entrega.\n- A recompra de 8,0% vem do estoque e do prazo.",
        "Como ler o mês\n- Atraso de 13,0% na entrega da transportadora.\n- Cancelamento por falta de estoque.",
        "- Melhorar a experiência do cliente:\n- Investir em qualidade:\n- Otimizar a logística:",
    ],
)
def test_rows_that_tell_how_things_are_and_headings_above_nothing_are_no_steps(rows: str) -> None:
    assert load_reward_set("grounded").score(brief("atraso", "recompra"), f"{TOLD}\n{rows}").total <= 0.4


@pytest.mark.parametrize("mark", ["①", "▪", "☐", "→", "1)"])
def test_steps_count_behind_any_mark_of_a_list(mark: str) -> None:
    steps = ("Coleta diária às 15 h com rastreio por mensagem.", "Troca por outro item sem cobrar novo envio.")
    listed = "\n".join(f"{mark} {step}" for step in steps)
    text = f"O atraso de 13,0% pesa mais do que parece, e só 8,0% de recompra mostra isso.\n\nO que fazer\n{listed}"
    assert load_reward_set("grounded").score(brief("atraso", "recompra"), text).total >= UNHARMED


def test_a_low_indicator_is_no_advice_to_lower_it() -> None:
    assert not harms(fold("A baixa recompra (8,0%) mostra que falta motivo para voltar."))
    assert not harms(fold("Baixa recompra: falta motivo para voltar."))
    assert harms(fold("Recomendo baixar a recompra."))
    assert harms(fold("Baixa a receita de propósito."))
