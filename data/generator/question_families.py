"""Business questions: what is asked, in several phrasings, the gold SQL, and how its result is told.

Slots: `{uf}` state, `{cat}` category, `{mes}` month (MM/AAAA; `{mes_sql}` AAAA-MM), `{pag}` payment type, `{n}` a count
of rows, `{v}` an amount in R$, `{k}` a review score, `{par}` instalments, `{d}` days. In explanations `{a}` and `{b}`
are the first two columns of the first row.
"""

from dataclasses import dataclass

from tucano.specs.banks import Bank


@dataclass(frozen=True)
class Family:
    """One kind of question. Without known phrasings, the whole family is unseen in training."""

    sql: str
    explanation: str
    bank: Bank


def _family(
    code: str, sql: str, explanation: str, known: tuple[str, ...], validation: tuple[str, ...], test: tuple[str, ...]
) -> Family:
    return Family(sql, explanation, Bank(code, known, validation, test))


_ORDERS = "FROM pedidos JOIN clientes USING(cliente_id)"
_ITEMS = "FROM itens JOIN produtos USING(produto_id)"
_ITEM_ORDERS = "FROM itens JOIN pedidos USING(pedido_id)"
_ITEM_STATES = f"{_ITEM_ORDERS} JOIN clientes USING(cliente_id)"
_ITEM_MONTHS = f"{_ITEMS} JOIN pedidos USING(pedido_id)"
_SCORES = "FROM avaliacoes JOIN pedidos USING(pedido_id)"
_PAYMENTS = "FROM pagamentos JOIN pedidos USING(pedido_id)"

FRAMES = Bank(
    "moldura",
    ("SQL: {q}", "{q} Responda com SQL.", "Consulta: {q}", "{q} (SQL)"),
    ("{q} Qual é a consulta?",),
    ("{q} Mostre o SQL.", "Escreva a consulta: {q}"),
    (
        "Faça uma consulta em SQL. {q}",
        "{q} Quero a resposta em SQL.",
        "Pergunta para o banco de dados, em SQL: {q}",
        "{q} Monte o SELECT.",
    ),
)
"""How a question asks for a query."""

FAMILIES: tuple[Family, ...] = (
    _family(
        "pedidos_estado_mes",
        f"SELECT COUNT(*) {_ORDERS} WHERE estado='{{uf}}' AND mes='{{mes_sql}}';",
        "A consulta conta os pedidos de clientes de {uf} em {mes}: total de {a}.",
        (
            "Quantos pedidos vieram de {uf} em {mes}?",
            "Qual o total de pedidos de clientes de {uf} em {mes}?",
            "Em {mes}, quantos pedidos recebemos de {uf}?",
            "Conte os pedidos do estado {uf} no mês {mes}.",
        ),
        ("No mês {mes}, qual foi o número de pedidos de {uf}?",),
        ("Número de pedidos feitos por clientes de {uf} em {mes}?",),
    ),
    _family(
        "pedidos_estado",
        f"SELECT COUNT(*) {_ORDERS} WHERE estado='{{uf}}';",
        "A consulta conta os pedidos de clientes de {uf}: total de {a}.",
        (
            "Quantos pedidos temos do estado {uf}?",
            "Qual o total de pedidos de clientes de {uf}?",
            "Conte todos os pedidos de {uf}.",
        ),
        ("Qual é o número total de pedidos vindos de {uf}?",),
        ("Ao todo, quantos pedidos os clientes de {uf} fizeram?",),
    ),
    _family(
        "receita_categoria_mes",
        f"SELECT ROUND(SUM(preco),2) {_ITEM_MONTHS} WHERE categoria='{{cat}}' AND mes='{{mes_sql}}';",
        "A consulta soma o preço dos itens: a receita de {cat} em {mes} foi R$ {a}.",
        (
            "Qual a receita da categoria {cat} em {mes}?",
            "Quanto vendemos em {cat} no mês {mes}?",
            "Em {mes}, qual foi a receita de {cat}?",
            "Some a receita da categoria {cat} no mês {mes}.",
        ),
        ("Receita total em {mes} da categoria {cat}?",),
        ("Quanto a categoria {cat} faturou de receita em {mes}?",),
    ),
    _family(
        "receita_categoria",
        f"SELECT ROUND(SUM(preco),2) {_ITEMS} WHERE categoria='{{cat}}';",
        "A consulta soma o preço dos itens: a receita de {cat} é R$ {a}.",
        (
            "Qual a receita total da categoria {cat}?",
            "Quanto já vendemos na categoria {cat}?",
            "Some toda a receita de {cat}.",
        ),
        ("Qual foi até hoje a receita com vendas de {cat}?",),
        ("Quanto a categoria {cat} rendeu de receita ao todo?",),
    ),
    _family(
        "receita_estado_mes",
        f"SELECT ROUND(SUM(preco),2) {_ITEM_STATES} WHERE estado='{{uf}}' AND mes='{{mes_sql}}';",
        "A consulta soma o preço dos itens: a receita de {uf} em {mes} foi R$ {a}.",
        (
            "Qual a receita do estado {uf} em {mes}?",
            "Quanto vendemos para {uf} no mês {mes}?",
            "Em {mes}, qual foi a receita de clientes de {uf}?",
        ),
        ("Receita total em {mes} do estado {uf}?",),
        ("Quanto o estado {uf} rendeu de receita em {mes}?",),
    ),
    _family(
        "nota_estado_mes",
        f"SELECT ROUND(AVG(nota),2) {_SCORES} JOIN clientes USING(cliente_id) WHERE estado='{{uf}}' AND"
        " mes='{mes_sql}';",
        "A consulta calcula a nota média dos clientes de {uf} em {mes}: {a}.",
        (
            "Qual a nota média dos clientes de {uf} em {mes}?",
            "Em {mes}, que nota média {uf} deu aos pedidos?",
            "Calcule a média das avaliações de {uf} no mês {mes}.",
        ),
        ("Média das notas do estado {uf} em {mes}?",),
        ("Como ficou a nota média de {uf} no mês {mes}?",),
    ),
    _family(
        "nota_categoria",
        f"SELECT ROUND(AVG(nota),2) {_ITEMS} JOIN avaliacoes USING(pedido_id) WHERE categoria='{{cat}}';",
        "A consulta calcula a nota média dos pedidos de {cat}: {a}.",
        (
            "Qual a nota média da categoria {cat}?",
            "Que nota média os clientes dão para {cat}?",
            "Calcule a média das avaliações de {cat}.",
        ),
        ("Média das notas de produtos da categoria {cat}?",),
        ("Como os clientes avaliam, na nota média, a categoria {cat}?",),
    ),
    _family(
        "atrasos_mes",
        "SELECT COUNT(*) FROM pedidos WHERE dias_atraso>{d} AND mes='{mes_sql}';",
        "A consulta conta os pedidos de {mes} com atraso acima de {d} dias: total de {a}.",
        (
            "Quantos pedidos de {mes} atrasaram mais de {d} dias?",
            "Em {mes}, quantos pedidos tiveram atraso acima de {d} dias?",
            "Conte os pedidos do mês {mes} com mais de {d} dias de atraso.",
        ),
        ("No mês {mes}, quantas entregas de pedidos passaram {d} dias de atraso?",),
        ("Número de pedidos com atraso maior que {d} dias em {mes}?",),
    ),
    _family(
        "atrasos_estado",
        f"SELECT COUNT(*) {_ORDERS} WHERE dias_atraso>{{d}} AND estado='{{uf}}';",
        "A consulta conta os pedidos de {uf} com atraso acima de {d} dias: total de {a}.",
        (
            "Quantos pedidos de {uf} atrasaram mais de {d} dias?",
            "Em {uf}, quantos pedidos tiveram atraso acima de {d} dias?",
            "Conte os pedidos do estado {uf} com mais de {d} dias de atraso.",
        ),
        ("No estado {uf}, quantas entregas de pedidos passaram {d} dias de atraso?",),
        ("Número de pedidos com atraso maior que {d} dias para {uf}?",),
    ),
    _family(
        "pagamentos_mes",
        f"SELECT COUNT(*) {_PAYMENTS} WHERE tipo='{{pag}}' AND mes='{{mes_sql}}';",
        "A consulta conta os pagamentos com {pag} em {mes}: total de {a}.",
        (
            "Quantos pedidos foram pagos com {pag} em {mes}?",
            "Em {mes}, quantos pagamentos usaram {pag}?",
            "Conte os pagamentos com {pag} no mês {mes}.",
        ),
        ("No mês {mes}, qual o número de pagamentos por {pag}?",),
        ("Quantas vezes os clientes pagaram com {pag} em {mes}?",),
    ),
    _family(
        "ticket_pagamento_mes",
        f"SELECT ROUND(AVG(valor),2) {_PAYMENTS} WHERE tipo='{{pag}}' AND mes='{{mes_sql}}';",
        "A consulta calcula o valor médio pago com {pag} em {mes}: R$ {a}.",
        (
            "Qual o ticket médio dos pagamentos com {pag} em {mes}?",
            "Em {mes}, qual o valor médio pago com {pag}?",
            "Calcule o ticket médio de {pag} no mês {mes}.",
        ),
        ("Valor médio dos pagamentos por {pag} no mês {mes}?",),
        ("Quanto vale em média um pagamento com {pag} em {mes}?",),
    ),
    _family(
        "acima_valor_mes",
        f"SELECT COUNT(*) {_PAYMENTS} WHERE valor>{{v}} AND mes='{{mes_sql}}';",
        "A consulta conta os pagamentos acima de R$ {v} em {mes}: total de {a}.",
        (
            "Quantos pagamentos de {mes} passaram de R$ {v}?",
            "Em {mes}, quantos pagamentos foram acima de R$ {v}?",
            "Conte os pagamentos do mês {mes} com valor maior que R$ {v}.",
        ),
        ("No mês {mes}, quantas vendas tiveram pagamento acima de R$ {v}?",),
        ("Número de pagamentos maiores que R$ {v} em {mes}?",),
    ),
    _family(
        "acima_valor_pagamento",
        "SELECT COUNT(*) FROM pagamentos WHERE valor>{v} AND tipo='{pag}';",
        "A consulta conta os pagamentos com {pag} acima de R$ {v}: total de {a}.",
        (
            "Quantos pagamentos com {pag} passaram de R$ {v}?",
            "Quantos pedidos acima de R$ {v} foram pagos com {pag}?",
            "Conte os pagamentos por {pag} com valor maior que R$ {v}.",
        ),
        ("Qual o número de pagamentos por {pag} acima de R$ {v}?",),
        ("Pagando com {pag}, quantas vendas passaram de R$ {v}?",),
    ),
    _family(
        "parcelas",
        f"SELECT COUNT(*) {_PAYMENTS} WHERE parcelas>={{par}} AND mes='{{mes_sql}}';",
        "A consulta conta os pagamentos de {mes} em {par} parcelas ou mais: total de {a}.",
        (
            "Quantos pagamentos de {mes} têm {par} parcelas ou mais?",
            "Em {mes}, quantos pedidos foram parcelados em pelo menos {par} vezes?",
            "Conte os pagamentos do mês {mes} a partir de {par} parcelas.",
        ),
        ("No mês {mes}, quantas vendas tiveram {par} parcelas ou mais?",),
        ("Número de pagamentos com no mínimo {par} parcelas em {mes}?",),
    ),
    _family(
        "notas_baixas",
        f"SELECT COUNT(*) {_SCORES} WHERE nota<={{k}} AND mes='{{mes_sql}}';",
        "A consulta conta as avaliações com nota até {k} em {mes}: total de {a}.",
        (
            "Quantas avaliações de {mes} têm nota {k} ou menor?",
            "Em {mes}, quantos clientes deram nota até {k}?",
            "Conte as avaliações do mês {mes} com nota até {k}.",
        ),
        ("No mês {mes}, qual o número de avaliações com nota até {k}?",),
        ("Quantas vezes a nota ficou em {k} ou menos em {mes}?",),
    ),
    _family(
        "frete_estado",
        f"SELECT ROUND(AVG(frete),2) {_ITEM_STATES} WHERE estado='{{uf}}' AND mes='{{mes_sql}}';",
        "A consulta calcula o frete médio para {uf} em {mes}: R$ {a}.",
        (
            "Qual o frete médio para {uf} em {mes}?",
            "Em {mes}, quanto custou em média o frete para {uf}?",
            "Calcule o valor médio do frete de {uf} no mês {mes}.",
        ),
        ("Média do frete cobrado de {uf} no mês {mes}?",),
        ("Quanto o cliente de {uf} paga em média de frete em {mes}?",),
    ),
    _family(
        "frete_categoria",
        f"SELECT ROUND(AVG(frete),2) {_ITEMS} WHERE categoria='{{cat}}';",
        "A consulta calcula o frete médio da categoria {cat}: R$ {a}.",
        (
            "Qual o frete médio da categoria {cat}?",
            "Quanto custa em média o frete de {cat}?",
            "Calcule o valor médio do frete em {cat}.",
        ),
        ("Média do frete cobrado na categoria {cat}?",),
        ("Quanto se paga em média de frete por produtos de {cat}?",),
    ),
    _family(
        "cancelados_mes",
        "SELECT COUNT(*) FROM pedidos WHERE status='cancelado' AND mes='{mes_sql}';",
        "A consulta conta os pedidos cancelados em {mes}: total de {a}.",
        (
            "Quantos pedidos foram cancelados em {mes}?",
            "Em {mes}, qual o total de pedidos cancelados?",
            "Conte os cancelados do mês {mes}.",
        ),
        ("No mês {mes}, quantas vendas terminaram canceladas?",),
        ("Qual o número de pedidos que tiveram cancelamento em {mes}?",),
    ),
    _family(
        "cancelados_estado",
        f"SELECT COUNT(*) {_ORDERS} WHERE status='cancelado' AND estado='{{uf}}';",
        "A consulta conta os pedidos cancelados de {uf}: total de {a}.",
        (
            "Quantos pedidos de {uf} foram cancelados?",
            "Em {uf}, qual o total de pedidos cancelados?",
            "Conte os cancelados do estado {uf}.",
        ),
        ("No estado {uf}, quantas vendas terminaram canceladas?",),
        ("Qual o número de pedidos que tiveram cancelamento em {uf}?",),
    ),
    _family(
        "top_categorias_mes",
        f"SELECT categoria, ROUND(SUM(preco),2) AS receita {_ITEM_MONTHS} WHERE mes='{{mes_sql}}' "
        "GROUP BY categoria ORDER BY receita DESC LIMIT {n};",
        "A consulta ordena as categorias por receita em {mes}: a primeira é {a}, com R$ {b}.",
        (
            "Quais as {n} categorias com maior receita em {mes}?",
            "Em {mes}, liste as {n} categorias que mais venderam em receita.",
            "Mostre o top {n} de categorias por receita no mês {mes}.",
        ),
        ("Ranking das {n} categorias de maior receita em {mes}?",),
        ("Que {n} categorias lideraram a receita no mês {mes}?",),
    ),
    _family(
        "top_categorias_estado",
        f"SELECT categoria, COUNT(*) AS vendas {_ITEM_MONTHS} JOIN clientes USING(cliente_id) WHERE estado='{{uf}}' "
        "GROUP BY categoria ORDER BY vendas DESC LIMIT {n};",
        "A consulta ordena as categorias por itens vendidos em {uf}: a primeira é {a}, com {b} vendas.",
        (
            "Quais as {n} categorias mais vendidas em {uf}?",
            "Em {uf}, liste as {n} categorias com mais vendas.",
            "Mostre o top {n} de categorias por vendas no estado {uf}.",
        ),
        ("Ranking das {n} categorias com mais vendas em {uf}?",),
        ("Que {n} categorias lideraram as vendas no estado {uf}?",),
    ),
    _family(
        "top_estados_mes",
        f"SELECT estado, COUNT(*) AS pedidos {_ORDERS} WHERE mes='{{mes_sql}}' GROUP BY estado ORDER BY pedidos DESC"
        " LIMIT {n};",
        "A consulta ordena os estados por pedidos em {mes}: o primeiro é {a}, com {b} pedidos.",
        (
            "Quais os {n} estados com mais pedidos em {mes}?",
            "Em {mes}, liste os {n} estados que mais compraram.",
            "Mostre o top {n} de estados por pedidos no mês {mes}.",
        ),
        ("Ranking dos {n} estados com mais pedidos em {mes}?",),
        ("Que {n} estados lideraram os pedidos no mês {mes}?",),
    ),
    _family(
        "receita_por_mes",
        f"SELECT mes, ROUND(SUM(preco),2) AS receita {_ITEM_MONTHS} WHERE categoria='{{cat}}' "
        "GROUP BY mes ORDER BY receita DESC LIMIT {n};",
        "A consulta ordena os meses pela receita de {cat}: o melhor é {a}, com R$ {b}.",
        (
            "Quais os {n} melhores meses de receita da categoria {cat}?",
            "Liste os {n} meses com maior receita em {cat}.",
            "Mostre o top {n} de meses por receita de {cat}.",
        ),
        ("Ranking dos {n} meses de maior receita para {cat}?",),
        ("Em que {n} meses a categoria {cat} teve mais receita?",),
    ),
    _family(
        "preco_maximo",
        f"SELECT MAX(preco) {_ITEM_MONTHS} WHERE categoria='{{cat}}' AND mes='{{mes_sql}}';",
        "A consulta busca o maior preço de {cat} em {mes}: R$ {a}.",
        (
            "Qual o maior preço vendido em {cat} em {mes}?",
            "Em {mes}, qual foi o item mais caro de {cat}?",
            "Mostre o preço máximo da categoria {cat} no mês {mes}.",
        ),
        ("Preço mais alto de venda em {cat} no mês {mes}?",),
        ("Quanto custou o produto mais caro da categoria {cat} em {mes}?",),
    ),
    _family(
        "itens_categoria_mes",
        f"SELECT COUNT(*) {_ITEM_MONTHS} WHERE categoria='{{cat}}' AND mes='{{mes_sql}}';",
        "A consulta conta os itens de {cat} vendidos em {mes}: total de {a}.",
        (
            "Quantos itens de {cat} foram vendidos em {mes}?",
            "Em {mes}, quantos produtos da categoria {cat} vendemos?",
            "Conte os itens da categoria {cat} no mês {mes}.",
        ),
        ("No mês {mes}, qual o número de itens vendidos de {cat}?",),
        ("Quantas unidades de {cat} saíram em vendas de {mes}?",),
    ),
    _family(
        "preco_minimo",
        f"SELECT MIN(preco) {_ITEMS} WHERE categoria='{{cat}}';",
        "A consulta busca o menor preço da categoria {cat}: R$ {a}.",
        (),
        (),
        ("Qual o menor preço vendido na categoria {cat}?",),
    ),
    _family(
        "frete_total_mes",
        f"SELECT ROUND(SUM(frete),2) {_ITEM_ORDERS} WHERE mes='{{mes_sql}}';",
        "A consulta soma o frete dos pedidos de {mes}: R$ {a}.",
        (),
        (),
        ("Qual o valor total de frete dos pedidos de {mes}?",),
    ),
    _family(
        "entregues_estado",
        f"SELECT COUNT(*) {_ORDERS} WHERE status='entregue' AND estado='{{uf}}';",
        "A consulta conta os pedidos entregues em {uf}: total de {a}.",
        (),
        ("Quantos pedidos já foram entregues em {uf}?",),
        (),
    ),
    _family(
        "parcelas_media",
        "SELECT ROUND(AVG(parcelas),2) FROM pagamentos WHERE valor>{v};",
        "A consulta calcula a média de parcelas dos pagamentos acima de R$ {v}: {a}.",
        (),
        ("Qual a média de parcelas nos pagamentos acima de R$ {v}?",),
        (),
    ),
)
