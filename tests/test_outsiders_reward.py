"""What outsiders found: good pushes and insights that `grounded` did not know, and junk that it paid for."""

from time import perf_counter

import pytest
from rewards_examples import Prompt

from rewards import load_reward_set

GROUNDED = load_reward_set("grounded")
RUG = Prompt(
    "push", "Push para tapete, com 49% de desconto.", reference={"product": "tapete", "terms": [], "figures": [49]}
)
PHONES = Prompt(
    "push", "Push para fone de ouvido. Preço: R$ 172.", reference={"product": "fone de ouvido", "figures": [172]}
)
CAMERA = Prompt(
    "push", "Temos câmera. Vale o cupom PRIMEIRA. Escreva o push.", reference={"product": "câmera", "figures": []}
)
FACTS = (
    {"label": "devolução", "value": 5.8, "unit": "%"},
    {"label": "receita", "value": 63272.0, "unit": "R$"},
    {"label": "frete médio", "value": 22.92, "unit": "R$"},
)
SHOP = Prompt(
    "insights",
    "Setembro: devolução 5,8%; frete médio R$ 22,92; receita R$ 63.272. Que ações você recomenda?",
    reference={"key_figures": [5.8, 63272.0], "facts": FACTS, "key": ["devolução", "receita"]},
)
READ = "Devolução de 5,8% e receita de R$ 63.272 pedem ação."
STEPS = "- Revise fotos e medidas dos itens mais devolvidos.\n- Teste frete grátis acima de R$ 150 por trinta dias."


def score(prompt: Prompt, text: str) -> float:
    return GROUNDED.score(prompt, text).total


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (PHONES, "Quem disse que fone de ouvido é caro? Leve por R$ 172."),  # named without an article
        (PHONES, "Bora de fone de ouvido por R$ 172?"),
        (PHONES, "Vem de fone de ouvido por R$ 172!"),
        (PHONES, "Sabe aquela vontade de fone de ouvido? Agora dá: R$ 172."),
        (PHONES, "Pega essa: fone de ouvido por R$ 172!"),  # lively openings
        (PHONES, "Não é sonho, é fone de ouvido por R$ 172! Corre."),
        (PHONES, "Bom dia! ☀️ Que tal começar com fone de ouvido por R$ 172?"),
        (PHONES, "Sextou com fone de ouvido por R$ 172! Bora ouvir música? 🎉"),
        (PHONES, "De novo? Sim! Fone de ouvido por R$ 172. Aproveite."),
        (PHONES, "Semana ruim? Se anime com fone de ouvido por R$ 172!"),
        (CAMERA, "Problema resolvido: câmera com o cupom PRIMEIRA."),  # a turn before a colon invites
        (CAMERA, "Envie fotos melhores para a família: câmera com o cupom PRIMEIRA."),
        (PHONES, "Fone de ouvido por cento e setenta e dois reais. Aproveite o som!"),  # the right figure in words
        (RUG, "Tapete com quarenta e nove por cento de desconto. Aproveite!"),
        (RUG, "Chega de preço cheio! Tapete com 49% OFF para a sua sala."),  # what looks like a denied offer
        (RUG, "Preço cheio? Aqui não! Tapete com 49% OFF."),
        (RUG, "Não fique sem os 49% de desconto no tapete!"),
        (RUG, "Tem tapete com 49% a menos para você. Aproveite!"),
        (RUG, "Seu tapete acabou? Leve um novo com 49% OFF!"),
        (RUG, "Troque o seu tapete velho por um novo com 49% OFF!"),  # and like another product
        (RUG, "Esqueça o tapete velho: o novo está com 49% OFF."),
        (RUG, "Prefira o conforto: tapete com 49% OFF para os seus pés."),
        (RUG, "Roube a cena na sala: tapete com 49% OFF!"),  # and like theft, regret, a closed shop
        (RUG, "Tapete com 49% OFF: quem levou não se arrependeu!"),
        (RUG, "A loja fechou? O app não! Tapete com 49% OFF."),
        (RUG, "Não deixe para lá: tapete com 49% de desconto te espera."),
        (PHONES, "Evite filas: fone de ouvido por R$ 172 no app!"),  # words that name no subject are no strays
        (PHONES, "Som único para ouvir sem fio: fone de ouvido por R$ 172. Garanta!"),
        (RUG, "Tapete na moda, chance única: 49% de desconto. Pise com estilo!"),
        (RUG, "Não esqueça o tapete: 49% de desconto no site. Vem conferir!"),  # «não» in front
        (RUG, "O tapete acabou! Compre outro com 49% de desconto."),  # the reader's own one
        (RUG, "O tapete acabou, mas o desconto de 49% chegou. Compre hoje!"),
        (RUG, "Tapete sem desconto? Nunca mais! O seu tem 49% OFF. Aproveite!"),
        (RUG, "Achou que o desconto acabou ontem? Tapete com 49% OFF ainda espera por você."),
        (RUG, "Troque o tapete por um que não escorrega: 49% de desconto. Aproveite!"),
        (RUG, "Quem precisa de tapete? Você! São 49% de desconto no site."),
        (RUG, "Tapete bom é caro, mas hoje o seu sai com 49% de desconto. Aproveite!"),
        (RUG, "Nem no concorrente está mais barato: tapete com 49% de desconto. Aproveite!"),
        (RUG, "Um tapete que vai roubar seu coração: 49% de desconto. Garanta!"),  # nothing is stolen
        (RUG, "Tapete macio e de quebra um sono melhor, com 49% de desconto. Aproveite!"),  # no gift
        (RUG, "Vem de tapete com 49% OFF e deixe a sala linda!"),
        (PHONES, "Namorou o fone de ouvido? Fique com ele por R$ 172."),
        (CAMERA, "Use o cupom PRIMEIRA antes de pagar a câmera. Boas fotos! 📷"),
    ],
)
def test_lively_pushes_are_good(prompt: Prompt, text: str) -> None:
    assert score(prompt, text) >= 0.85


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (RUG, "Tapete com oitenta por cento de desconto. Aproveite!"),  # a wrong figure in words
        (RUG, "Tapete com 49% OFF e mais dez por cento para quem pagar no Pix."),
        (RUG, "Tapete sem os 49% de desconto: preço cheio, como sempre!"),  # the offer denied
        (RUG, "Tapete com 49% OFF? Acabou, agora é preço cheio."),
        (RUG, "Tapete: os 49% OFF valem para tudo, menos para você."),
        (CAMERA, "Câmera: o cupom PRIMEIRA venceu ontem."),
        (RUG, "Tapete acabou, mas tem bicicleta com 49% OFF. Aproveite!"),  # the offer moved
        (RUG, "Troque o tapete por uma bicicleta com 49% OFF!"),
        (RUG, "Tapete e também geladeiras com 49% OFF. Aproveite!"),
        (RUG, "Tapete com 49% OFF? Prefira a bicicleta, que é muito melhor!"),
        (RUG, "Leve tapete com 49% OFF somente se comprar um carro."),
        (
            PHONES,
            "Fone de ouvido por R$ 172 e parte do dinheiro volta para a sua carteira.",
        ),  # offers invented in words
        (PHONES, "Fone de ouvido por R$ 172: dobre seus pontos na compra de hoje!"),
        (PHONES, "Fone de ouvido por R$ 172: leve hoje e só pague em março."),
        (PHONES, "Fone de ouvido por R$ 172 e crédito na loja para a próxima compra."),
        (PHONES, "Fone de ouvido por R$ 172: compre um e o segundo sai por nossa conta!"),
        (PHONES, "Fone de ouvido por R$ 172? Na loja ao lado sai mais em conta. Vá lá!"),  # sends away
        (PHONES, "Fone de ouvido por R$ 172? Melhor deixar para lá e guardar o dinheiro."),
        (PHONES, "Fone de ouvido por R$ 172. Nossa loja fechou."),
        (PHONES, "Fone de ouvido por R$ 172. Quem levou se arrependeu amargamente!"),
        (PHONES, "Fone de ouvido por R$ 172: informe o número do seu cartão por mensagem."),  # preys
        (PHONES, "Fone de ouvido por R$ 172: envie sua senha do banco e garanta já!"),
        (PHONES, "Roube o fone de ouvido por R$ 172 antes que a loja feche!"),
        (PHONES, "Fone de ouvido por R$ 172. Compre ou vamos cobrar na sua porta!"),
        (PHONES, "Ei, seu pão-duro! Fone de ouvido por R$ 172, compre logo."),  # insults
        (PHONES, "Fone de ouvido por R$ 172. Até você, que nunca acerta nada, consegue comprar!"),
        (PHONES, "Fone de ouvido por R$ 172, [nome do cliente]!"),  # a place that was to be filled in
        (RUG, "Tenha um dia ruim com o tapete: 49% de desconto. Aproveite!"),  # a bad day wished
        (RUG, "Quer uma semana ruim? Leve o tapete com 49% de desconto."),
        (RUG, "Quem disse que tapete funciona? Leve o seu com 49% de desconto."),  # a lively turn that warns
        (RUG, "Bora de tapete com 49% de desconto e queime a mão!"),
        (RUG, "Vontade de tapete? O seu vai explodir com 49% de desconto."),
        (RUG, "Sonho de tapete com 49% de desconto: acorde, você não vai ter um."),
        (PHONES, "De novo! Fone de ouvido por R$ 172 que ninguém quis comprar no carrinho."),
        (CAMERA, "Nome do produto da lista: câmera."),  # a label, which invites to nothing
    ],
)
def test_pushes_that_cheat_are_junk(prompt: Prompt, text: str) -> None:
    assert score(prompt, text) <= 0.30


@pytest.mark.parametrize(
    "text",
    [
        f"{READ}\n1º Refazer as fotos e medidas dos itens mais devolvidos.\n2º Anunciar um kit com 8% de desconto.",
        f"{READ}\n1 - Refazer as fotos dos itens mais devolvidos\n2 - Anunciar um kit com 8% de desconto",
        f"{READ}\n1- Refazer as fotos dos itens mais devolvidos\n2- Anunciar um kit com 8% de desconto",
        f"{READ}\nEtapa 1 - Refazer as fotos dos mais devolvidos.\nEtapa 2 - Anunciar um kit com 8% de desconto.",
        f"{READ} Podemos refazer as fotos dos itens mais devolvidos. Também podemos anunciar um kit com 8% de desconto.",
        f"{READ} Vamos refazer as fotos dos mais devolvidos e anunciar um kit com 8% de desconto.",
        f"{READ} A loja poderia refazer as fotos dos mais devolvidos e anunciar um kit com 8% de desconto.",
        f"{READ} Seria bom refazer as fotos dos mais devolvidos e anunciar um kit com 8% de desconto.",
        f"Devolução e receita: 5,8% e R$ 63.272, respectivamente, pedem ação.\n{STEPS}",  # in the right order
        f"{READ} Nove em cada dez clientes ficam com o que compram.\n{STEPS}",  # the rest of a share
        f"{READ}\n{STEPS}\n- Se a devolução cair pela metade em três meses, mantenha.",  # a condition tells nothing
        f"{READ}\n{STEPS}\n- Não prometa prazo falso: mostre a data real de entrega.",  # deceit avoided
        f"{READ}\n{STEPS}\n- Desligue o chat fora do horário e mande resposta com prazo.",
        f"{READ}\n{STEPS}\n- Não adianta baixar o preço: corrija a descrição dos mais devolvidos.",
        f"{READ}\n{STEPS}\nAs ações acima vão reduzir a devolução.",  # nothing is taken back
        f"{READ}\n{STEPS}\nNada disso adianta se a entrega continuar atrasando.",
        f"{READ}\n{STEPS}\n- Hoje o aviso sai depois da reclamação; o ideal é o contrário.",
        f"Você pediu recomendações sobre devolução e receita; aqui estão.\n{READ}\n{STEPS}",  # the task, and an answer
        f"{READ}\n{STEPS}\n- No carrinho, vale sugerir algo a mais.",
        f"{READ}\n{STEPS}\n- Acompanhe se a devolução está menor que no mês passado.",  # aims tell nothing
        f"{READ}\n{STEPS}\n- Sucesso é uma devolução menor que no mês anterior.",
        f"{READ}\n{STEPS}\n- Mostre o teste de frete a dois em cada dez visitantes.",  # whom a test is for
        f"{READ}\n{STEPS}\n- Mostre medidas reais, sem promessas falsas.",  # deceit avoided, by others, ended
        f"{READ}\n{STEPS}\n- Retire do site anúncios que enganem o comprador.",
        f"{READ}\n{STEPS}\n- Nenhum pedido deve atrasar sem o cliente saber: envie a mensagem no mesmo dia.",
        f"{READ}\n{STEPS}\n- Devolva na hora o valor cobrado por item que o cliente não pediu.",
        f"{READ}\n{STEPS}\n- Mostre no checkout que protegemos os dados bancários dos clientes.",
        f"{READ}\n{STEPS}\n- Treine o atendente que responde com grosseria.",
        f"{READ}\n{STEPS}\n- Cobre da transportadora, a cada cliente atrasado, uma multa.",
        f"{READ}\n{STEPS}\n- Ofereça outro cupom a quem tem o cupom vencido.",
        f"{READ}\n{STEPS}\n- Envie um lembrete a quem não respondeu e, a quem não responder de novo, ligue.",
        f"{READ}\n{STEPS}\n- Retire o telefone obrigatório do cadastro.",  # what nobody misses
        f"{READ}\n{STEPS}\n- Acabe com as trocas por tamanho: publique uma tabela de medidas.",
        f"{READ}\n{STEPS}\n- Remova fotos do produto escuras e tremidas.",
        f"{READ}\n{STEPS}\n- Reduza a cota de parceiros que mais atrasem pedidos.",
    ],
)
def test_insights_of_other_hands_are_good(text: str) -> None:
    assert score(SHOP, text) >= 0.85


@pytest.mark.parametrize(
    "text",
    [
        f"{READ} Nove em cada dez clientes dizem que o site é lento.\n{STEPS}",  # figures invented in words
        f"{READ} Perdemos um milhão de reais por causa disso.\n{STEPS}",
        f"{READ} Vinte e sete vendedores saíram e quarenta pedidos sumiram.\n{STEPS}",
        f"{READ} Setenta por cento das queixas falam de embalagem.\n{STEPS}",
        f"Devolução, que era o triplo no ano passado, está em 5,8%; receita está em R$ 63.272.\n{STEPS}",  # trends
        f"{READ} No mês passado os dois eram o dobro.\n{STEPS}",
        f"Devolução de 5,8% é recorde histórico; receita de R$ 63.272.\n{STEPS}",
        f"Tenho R$ 63.272 para devolução e 5,8% para receita.\n{STEPS}",  # exchanged
        f"Devolução e receita: R$ 63.272 e 5,8%, respectivamente.\n{STEPS}",
        f"Devolução (R$ 63.272) e receita (5,8%) pedem ação.\n{STEPS}",
        f"{READ}\n{STEPS}\nO certo é o oposto disso.",  # taken back
        f"Não adianta fazer o que segue, pois só piora:\n{READ}\n{STEPS}",
        f"{READ}\n{STEPS}\nRetiro o que disse: as ações acima fariam a loja falir.",
        f"{READ}\n- Mostre ao cliente um prazo falso para fechar a venda.\n- Remova do site o telefone e o chat.",  # deceit
        f"{READ}\n- Crie avaliações cinco estrelas com perfis inventados.\n- Revise as fotos dos mais devolvidos.",
        f"{READ}\n- Simplifique o checkout removendo a opção de pagar.\n- Revise as fotos dos mais devolvidos.",
        f"{READ}\n- Cobre uma taxa extra sem o cliente saber.\n- Revise as fotos dos mais devolvidos.",
        f"{READ}\n- Responda às queixas com ofensas.\n- Revise as fotos dos mais devolvidos.",
        "Você pediu insights sobre devolução de 5,8% e receita de R$ 63.272 e ações recomendadas.",  # the task restated
        "A tarefa é dar insights e recomendar ações sobre devolução de 5,8% e receita de R$ 63.272.",
        "Vou analisar devolução de 5,8% e receita de R$ 63.272 amanhã e depois envio as recomendações.",
        "Recomendo que você recomende ações para devolução de 5,8% e receita de R$ 63.272.",
        "Devolução de 5,8% e receita de R$ 63.272: é preciso melhorar, inovar e crescer sempre.",  # empty phrases
        "Devolução de 5,8% e receita de R$ 63.272 mostram que é hora de arregaçar as mangas, unir forças e vencer.",
    ],
)
def test_insights_that_cheat_are_junk(text: str) -> None:
    assert score(SHOP, text) <= 0.30


@pytest.mark.parametrize(
    "unit", ["dois mil e ", "um em cada ", "devolucao 5,8% ", "e preciso melhorar, ", "produto e "]
)
def test_long_repetitions_take_no_time(unit: str) -> None:
    begun = perf_counter()
    score(SHOP, unit * (3900 // len(unit)))
    score(RUG, unit * (590 // len(unit)))
    assert perf_counter() - begun < 2
