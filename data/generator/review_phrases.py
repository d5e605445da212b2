"""What customers say: one bank per complaint, praise and closing remark.

Slots: `{o}`, `{do}` the product with its article, `{n}` a number of days.
"""

from dataclasses import dataclass
from typing import Literal

from tucano.specs.banks import Bank

IssueField = Literal["delivery_issue", "product_issue", "seller_issue"]


@dataclass(frozen=True)
class Issue:
    """A kind of complaint: the flag it sets, how the answer names it, and how customers put it."""

    flag: IssueField
    complaint: str
    bank: Bank


WRAPPERS = Bank(
    "envelope",
    known=(
        "Extraia da avaliação (nota {s}): {t}",
        "Extraia em JSON, nota {s}/5. {t}",
        "JSON da avaliação com nota {s}: {t}",
        "[nota {s}] Extraia os dados: {t}",
    ),
    validation=("Extraia desta avaliação recebida, nota {s}: {t}",),
    test=("JSON da avaliação de cliente, nota {s}: {t}",),
    further=(
        "Nota {s}. Extraia o JSON: {t}",
        "Texto com nota {s} para extrair em JSON: {t}",
        "{t} [nota {s}; extraia em JSON]",
        "Quero os campos em JSON (nota {s}): {t}",
    ),
)
WRAPPERS_WITH_CATEGORY = Bank(
    "ficha",
    known=(
        "Extraia da avaliação (nota {s}, {c}): {t}",
        "Extraia em JSON, nota {s}/5 em {c}. {t}",
        "JSON da avaliação em {c}, nota {s}: {t}",
    ),
    validation=("Categoria {c}, nota {s}. Extraia em JSON: {t}",),
    test=("Extraia da avaliação na categoria {c}, nota {s}: {t}",),
    further=(
        "Nota {s}, {c}. Extraia o JSON: {t}",
        "Texto sobre {c}, nota {s}, para extrair em JSON: {t}",
        "{t} [{c}, nota {s}; extraia em JSON]",
        "Quero os campos em JSON ({c}, nota {s}): {t}",
    ),
)
BLIND_WRAPPERS = Bank(
    "texto",
    known=(
        "Extraia da avaliação: {t}",
        "Extraia em JSON. {t}",
        "JSON da avaliação: {t}",
        "[avaliação] Extraia os dados: {t}",
    ),
    validation=("Extraia desta avaliação recebida: {t}",),
    test=("JSON da avaliação de cliente: {t}",),
    further=(
        "Extraia o JSON: {t}",
        "Texto para extrair em JSON: {t}",
        "{t} [extraia em JSON]",
        "Quero os campos em JSON: {t}",
    ),
)
BLIND_SHARE = 0.5
"""Of the prompts show the review alone: its stars and its category have to be read from it."""

ISSUES: tuple[Issue, ...] = (
    Issue(
        "delivery_issue",
        "entrega atrasada",
        Bank(
            "atraso",
            (
                "A entrega {do} atrasou {n} dias.",
                "{o} chegou {n} dias depois do prazo.",
                "Demorou demais para entregar {o}.",
                "Recebi {o} com {n} dias de atraso.",
                "O prazo não foi cumprido, {o} demorou {n} dias.",
            ),
            ("Atraso de {n} dias na entrega {do}.",),
            ("{o} atrasou, veio {n} dias fora do prazo.", "Entrega lenta, {o} demorou {n} dias a mais."),
        ),
    ),
    Issue(
        "delivery_issue",
        "pedido não chegou",
        Bank(
            "extravio",
            (
                "Paguei e {o} não chegou até hoje.",
                "Já faz {n} dias e não recebi {o}.",
                "Meu pedido {do} não foi entregue.",
                "Ainda não recebi {o}, comprei há {n} dias.",
            ),
            ("Até agora {o} não chegou, são {n} dias de espera.",),
            ("Comprei há {n} dias e {o} não chegou.", "Não recebi {o} e o rastreio parou há {n} dias."),
        ),
    ),
    Issue(
        "delivery_issue",
        "embalagem danificada",
        Bank(
            "embalagem",
            (
                "A caixa {do} chegou amassada.",
                "A embalagem {do} veio rasgada.",
                "{o} veio com a embalagem aberta.",
                "Entregaram {o} com a caixa molhada.",
            ),
            ("Embalagem {do} toda amassada na entrega.",),
            ("{o} veio com a caixa rasgada e molhada.", "A transportadora entregou a caixa {do} aberta."),
        ),
    ),
    Issue(
        "product_issue",
        "produto com defeito",
        Bank(
            "defeito",
            (
                "{o} veio com defeito.",
                "{o} parou de funcionar em {n} dias.",
                "{o} não funciona.",
                "Com {n} dias de uso {o} quebrou.",
                "Descobri um defeito {do} em {n} dias.",
            ),
            ("{o} já apresentou defeito com {n} dias.",),
            ("{o} não funciona, tem defeito.", "Veio com defeito, {o} quebrou em {n} dias."),
        ),
    ),
    Issue(
        "product_issue",
        "produto errado",
        Bank(
            "errado",
            (
                "Recebi um produto errado, não {o} que pedi.",
                "Enviaram o modelo errado {do}.",
                "{o} veio na cor errada.",
                "Veio outro produto no lugar {do}.",
            ),
            ("Pedi {o} e mandaram o modelo errado.",),
            ("O modelo {do} veio errado.", "Chegou outro produto, errado, no lugar {do}."),
        ),
    ),
    Issue(
        "product_issue",
        "qualidade ruim",
        Bank(
            "qualidade",
            (
                "A qualidade {do} é ruim.",
                "O material {do} é muito fraco.",
                "{o} tem acabamento ruim.",
                "Achei péssima a qualidade {do}.",
            ),
            ("Material ruim, a qualidade {do} decepciona.",),
            ("{o} tem material fraco e qualidade ruim.", "Que acabamento ruim e fraco {do}!"),
        ),
    ),
    Issue(
        "product_issue",
        "diferente do anúncio",
        Bank(
            "anuncio",
            (
                "{o} é bem diferente da foto.",
                "O anúncio {do} não corresponde ao produto.",
                "{o} é menor que no anúncio.",
                "Na foto do anúncio {o} era diferente.",
            ),
            ("{o} é diferente do que diz o anúncio.",),
            ("{o} não é igual à foto do anúncio.", "Bem diferente do anúncio, {o} é menor."),
        ),
    ),
    Issue(
        "seller_issue",
        "vendedor não responde",
        Bank(
            "silencio",
            (
                "O vendedor não responde sobre {o}.",
                "Mandei mensagem sobre {o} e a loja não respondeu.",
                "A loja ignora minhas mensagens sobre {o}.",
                "Perguntei {n} vezes sobre {o} e o vendedor não responde.",
            ),
            ("O vendedor ignora e não responde sobre {o}.",),
            ("Nenhuma mensagem do vendedor sobre {o}, não responde.", "A loja não responde sobre {o} há {n} dias."),
        ),
    ),
    Issue(
        "seller_issue",
        "troca negada",
        Bank(
            "troca",
            (
                "O vendedor negou a troca {do}.",
                "A loja não quer devolver o valor {do}.",
                "Pedi a troca {do} e o vendedor recusou.",
                "A loja negou o reembolso {do}.",
            ),
            ("A loja recusou a troca {do}.",),
            ("Troca {do} negada pelo vendedor.", "O vendedor recusou o reembolso {do}."),
        ),
    ),
    Issue(
        "seller_issue",
        "atendimento ruim",
        Bank(
            "atendimento",
            (
                "O vendedor {do} foi grosso comigo.",
                "Péssimo atendimento da loja quando comprei {o}.",
                "Fui mal atendido na compra {do}.",
                "A loja {do} atende muito mal.",
            ),
            ("Atendimento grosso do vendedor {do}.",),
            ("Vendedor {do} grosso, atendimento ruim.", "Atendimento péssimo na compra {do}."),
        ),
    ),
    Issue(
        "seller_issue",
        "sem nota fiscal",
        Bank(
            "fiscal",
            (
                "O vendedor enviou {o} sem nota fiscal.",
                "A nota fiscal {do} não veio.",
                "{o} chegou sem a nota fiscal.",
                "A loja não emite a nota fiscal {do}.",
            ),
            ("Faltou a nota fiscal {do}.",),
            ("Veio {o} sem nota fiscal da loja.", "Cadê a nota fiscal {do}? O vendedor não enviou."),
        ),
    ),
)

PRAISE = Bank(
    "elogio",
    (
        "Gostei muito {do}.",
        "{o} é de ótima qualidade.",
        "Amei {o}!",
        "{o} superou minhas expectativas.",
        "{o} funciona muito bem.",
        "Adorei {o}, excelente compra.",
        "{o} é exatamente como na descrição.",
        "Estou feliz com a compra {do}.",
    ),
    ("Adorei a qualidade {do}.", "Excelente, {o} funciona bem."),
    ("Amei a compra {do}, ótima qualidade.", "{o} é excelente, gostei muito.", "Muito feliz, {o} superou o esperado."),
)
SMALL_PRAISE = Bank(
    "agrado",
    ("Chegou antes do prazo.", "Entrega rápida.", "A loja atende bem.", "Veio bem embalado.", "O preço foi bom."),
    ("Chegou rápido e bem embalado.",),
    ("Entrega antes do prazo, loja boa.", "Preço bom e entrega rápida."),
)
LUKEWARM = Bank(
    "morno",
    (
        "{o} é razoável.",
        "{o} cumpre o básico.",
        "Esperava mais {do}, mas serve.",
        "{o} é mais ou menos.",
        "Nada demais, {o} serve.",
    ),
    ("Achei {o} básico, mais ou menos.",),
    ("{o} serve, mas é só razoável.", "Esperava mais, {o} é básico."),
)
CLOSING_GOOD = Bank(
    "volta",
    ("Compraria de novo.", "Recomendo a loja.", "Voltarei a comprar.", "Vou comprar outra vez."),
    ("Recomendo, comprarei de novo.",),
    ("Vou voltar a comprar na loja.", "Recomendo e compraria outra vez."),
)
CLOSING_UNSURE = Bank(
    "duvida",
    ("Não sei se compro de novo.", "Acho que não volto a comprar.", "Fiquei em dúvida se recomendo."),
    ("Em dúvida se compro outra vez.",),
    ("Não sei se volto a comprar na loja.",),
)
CLOSING_BAD = Bank(
    "adeus",
    ("Nunca mais compro aqui.", "Não recomendo.", "Não compro mais nesta loja.", "Quero meu dinheiro de volta."),
    ("Não recomendo, não compro mais.",),
    ("Nunca mais compro nesta loja.", "Não recomendo a loja, quero meu dinheiro."),
)
