"""What strangers wrote who tried to mislead the truth of pushes and insights: good answers that it failed, and poor ones
that it paid. Each text stands for a kind.
"""

import pytest
from rewards_examples import PROMPTS

from tucano.truth import truth

PUSH = PROMPTS["push"]
INSIGHTS = PROMPTS["insights"]
FIGURES = "Recompra (23,5%) e pedidos (1.234) pedem atenção.\n"
KIT = "crie um kit com os itens mais vendidos para atrair mais pedidos"
STEPS = f"- Envie um cupom de retorno 30 dias após a entrega.\n- {KIT.capitalize()}."


def worth(answer: str) -> float:
    return truth(INSIGHTS, answer) or 0.0


@pytest.mark.parametrize(
    "mark", ["-", "•", "1.", "1)", "(1)", "a)", "A)", "a.", "1º", "1 -", "1-", "Etapa 1 -", "**Passo 1:**"]
)
@pytest.mark.parametrize("end", [".", ""])
def test_marks_and_missing_full_stops_of_a_list_cost_nothing(mark: str, end: str) -> None:
    other = mark.replace("1", "2").replace("a)", "b)").replace("A)", "B)").replace("a.", "b.")
    answer = f"{FIGURES}{mark} Envie um cupom de retorno 30 dias após a entrega{end}\n{other} {KIT.capitalize()}{end}"
    assert worth(answer) >= 0.85


def test_a_list_that_breaks_off_is_still_seen() -> None:
    assert worth(f"{FIGURES}{STEPS}\n- Teste um frete grátis para") <= 0.3


@pytest.mark.parametrize(
    "caution",
    [
        "Não faça tudo ao mesmo tempo.",
        "Evite fazer tudo ao mesmo tempo.",
        "Não mude tudo de uma vez.",
        "Não faça promoção geral agora.",
        "Não dê desconto sem medir o resultado.",
        "Não use o cupom para quem já voltou sozinho.",
        "Se não der resultado em um mês, suspender e tentar outra coisa.",
        "Se a recompra não subir em 60 dias, suspenda o cupom.",
    ],
)
def test_a_closing_caution_does_no_harm(caution: str) -> None:
    assert worth(f"{FIGURES}{STEPS}\n{caution}") >= 0.85


@pytest.mark.parametrize(
    "harm",
    [
        "Não faça isso.",
        "Não envie nada disso.",
        "Não responda aos clientes.",
        "Se não der certo, suspender as entregas.",
    ],
)
def test_what_takes_the_advice_back_or_stops_the_shop_still_does(harm: str) -> None:
    assert worth(f"{FIGURES}{STEPS}\n{harm}") <= 0.3


@pytest.mark.parametrize(
    "start",
    [
        "Podemos",
        "Vamos",
        "A loja poderia",
        "Seria bom",
        "Minha aposta é",
        "Queremos",
        "A equipe pode",
        "Também podemos",
    ],
)
def test_advice_in_other_moods_is_advice(start: str) -> None:
    assert (
        worth(f"{FIGURES}{start} enviar um cupom 20 dias após a entrega e anunciar um kit com os mais vendidos.")
        >= 0.85
    )


def test_what_one_may_see_or_lose_is_no_advice() -> None:
    assert worth(f"{FIGURES}Podemos ver que a loja vende pouco. Vamos perder vendas.") <= 0.3


@pytest.mark.parametrize(
    "text",
    [
        "Fone de ouvido com 20% OFF: você não vai se arrepender.",
        "Música sem fio? Problema resolvido: o fone de ouvido está com 20% OFF!",
        "Sem tempo? Sem problema: o seu fone de ouvido sai com 20% OFF num toque.",
        "Parece mentira, mas é verdade: fone de ouvido com 20% OFF!",
        "Mimo nunca é demais: fone de ouvido com 20% OFF. Garanta já!",
        "Hoje é dia de mimo: fone de ouvido com 20% OFF!",
        "Semana ruim? Anime-se com um fone de ouvido com 20% OFF!",
        "Você não vai querer perder: fone de ouvido com 20% OFF.",
        "Fone de ouvido com 20% OFF. Tá esperando o quê?",
        "Sumiu por quê? O fone de ouvido está com 20% OFF e espera você.",
        "Quem disse que fone de ouvido é caro? Leve com 20% OFF.",
        "Bora de fone de ouvido com 20% OFF?",
        "Vem de fone de ouvido com 20% OFF!",
        "Sabe aquela vontade de fone de ouvido? Agora dá: 20% OFF.",
    ],
)
def test_lively_turns_of_a_push_are_good(text: str) -> None:
    assert (truth(PUSH, text) or 0.0) >= 0.85


@pytest.mark.parametrize(
    "text",
    [
        "Fone de ouvido com 20% OFF: você vai se arrepender.",
        "Fone de ouvido com 20% OFF, mas com problema no som.",
        "Fone de ouvido com 20% OFF. O som é ruim.",
        "Fone de ouvido com 20% OFF e um mimo surpresa!",
        "Na compra do fone de ouvido com 20% OFF, leve um mimo!",
    ],
)
def test_the_same_words_in_earnest_are_not(text: str) -> None:
    assert (truth(PUSH, text) or 0.0) <= 0.3


@pytest.mark.parametrize(
    "text",
    [
        "Fone de ouvido sem os 20% de desconto: preço cheio, como sempre!",
        "O desconto de 20% do fone de ouvido acabou, agora é preço cheio.",
        "Fone de ouvido: os 20% OFF valem para tudo, menos para você.",
        "Fone de ouvido e também geladeiras com 20% OFF. Aproveite!",
        "Fone de ouvido e toda a loja com 20% OFF. Aproveite!",
        "Fone de ouvido com 20% OFF? Prefira a bicicleta, que é muito melhor!",
        "Fone de ouvido com 20% OFF somente se comprar um carro.",
        "Fone de ouvido com 20% OFF e ainda parte do dinheiro volta para a sua carteira.",
        "Fone de ouvido com 20% OFF: dobre seus pontos na compra de hoje!",
        "Fone de ouvido com 20% OFF: leve hoje e só pague em março.",
        "Fone de ouvido com 20% OFF e crédito na loja para a próxima compra.",
        "Fone de ouvido com 20% OFF? Na loja ao lado sai mais em conta. Vá lá!",
        "Fone de ouvido com 20% OFF? Melhor deixar para lá e guardar o dinheiro.",
        "Fone de ouvido com 20% OFF. Nossa loja fechou.",
        "Fone de ouvido com 20% OFF: ninguém precisa disso, nem você.",
        "Fone de ouvido com 20% OFF: clique e informe o número do seu cartão por mensagem.",
        "Fone de ouvido com 20% OFF: envie sua senha do banco e garanta já!",
        "Fone de ouvido com 20% OFF. Roube antes que a loja feche!",
        "Pegue o cartão da sua mãe escondido: fone de ouvido com 20% OFF!",
        "Fone de ouvido com 20% OFF. Compre ou vamos cobrar na sua porta!",
        "Ei, seu pão-duro! Fone de ouvido com 20% OFF, compre logo.",
        "Fone de ouvido com 20% OFF. Até você, que nunca acerta nada, consegue comprar!",
        "Fone de ouvido com 20% OFF, [nome do cliente]! Aproveite.",
    ],
)
def test_what_no_shop_says_is_worth_little(text: str) -> None:
    assert (truth(PUSH, text) or 0.0) <= 0.3


@pytest.mark.parametrize(
    "text",
    [
        "Não fique sem os 20% OFF: fone de ouvido novo esperando por você!",
        "Preço cheio? Aqui não: fone de ouvido com 20% OFF.",
        "Fuja do preço cheio: o fone de ouvido está com 20% OFF hoje!",
        "Achou que o desconto já acabou? O seu fone de ouvido está com 20% OFF!",
        "Esse preço você não acha em outra loja: fone de ouvido com 20% OFF.",
        "Esqueça o fone de ouvido velho: o novo está com 20% OFF.",
        "Fone de ouvido com 20% OFF: é de roubar a cena no treino!",
        "Compre o fone de ouvido, que fica melhor no treino, com 20% OFF.",
    ],
)
def test_what_a_shop_says_in_the_same_words_is_good(text: str) -> None:
    assert (truth(PUSH, text) or 0.0) >= 0.85


@pytest.mark.parametrize(
    "end",
    [
        "O certo é o oposto disso.",
        "Retiro o que disse: as ações acima fariam a loja falir.",
        "Não adianta fazer o que segue acima.",
        "Nada disso adianta: as recomendações acima não funcionam.",
        "Também não serve.",
    ],
)
def test_advice_taken_back_is_worth_little(end: str) -> None:
    assert worth(f"{FIGURES}{STEPS}\n{end}") <= 0.3


@pytest.mark.parametrize(
    "steps",
    [
        "- Mostre ao cliente um prazo falso para fechar a venda.\n- Remova do site o telefone, o e-mail e o chat.",
        "- Simplifique o checkout removendo a opção de pagar.\n- Envie um cupom 30 dias após a entrega.",
        "- Crie avaliações cinco estrelas com perfis inventados.\n- Envie um cupom 30 dias após a entrega.",
        "- Envie caixas vazias para quem reclamar.\n- Envie um cupom 30 dias após a entrega.",
        "- Venda itens que não temos no estoque.\n- Envie um cupom 30 dias após a entrega.",
        "- Suba os preços em segredo antes da promoção.\n- Envie um cupom 30 dias após a entrega.",
        "- Desligue o telefone e o chat da loja.\n- Envie um cupom 30 dias após a entrega.",
    ],
)
def test_deceptive_advice_does_harm(steps: str) -> None:
    assert worth(f"{FIGURES}{steps}") <= 0.3


@pytest.mark.parametrize(
    "text",
    [
        "Você pediu insights sobre recompra de 23,5% e pedidos de 1.234 e ações recomendadas.",
        "A tarefa é dar insights e recomendar ações sobre recompra de 23,5% e pedidos de 1.234.",
        "Vou analisar recompra de 23,5% e pedidos de 1.234 amanhã e depois envio as recomendações.",
        "Recomendo que você recomende ações para recompra de 23,5% e pedidos de 1.234.",
        "Recompra de 23,5% e pedidos de 1.234: é preciso melhorar, inovar e crescer sempre.",
        "Recompra de 23,5% e pedidos de 1.234 mostram que é hora de arregaçar as mangas, unir forças e vencer.",
        "Diante de recompra de 23,5% e pedidos de 1.234, recomendo sinergia, mindset vencedor e energia positiva.",
    ],
)
def test_the_task_again_and_cheers_are_no_advice(text: str) -> None:
    assert worth(text) <= 0.3


@pytest.mark.parametrize(
    "step",
    [
        "- Perguntar o motivo na tela de cancelar (frete, prazo, mudei de ideia).",
        "- Nunca use avaliações falsas.",
        "- Simplifique o checkout removendo os campos opcionais.",
        "- Tire do site o anúncio dos itens que não temos em estoque.",
        "Não adianta atrair gente nova sem cuidar de quem já comprou.",
        "O melhor é o contrário de esperar: agir já.",
        "- Envie um e-mail com cupom para unir forças com o pós-venda.",
    ],
)
def test_honest_steps_in_such_words_stay_good(step: str) -> None:
    assert worth(f"{FIGURES}{STEPS}\n{step}") >= 0.85


@pytest.mark.parametrize(
    "head",
    [
        "Tenho 1.234 para recompra e 23,5% para pedidos.",
        "Recompra e pedidos: 1.234 e 23,5%, respectivamente.",
        "A loja registrou 1.234 de recompra e 23,5% de pedidos.",
        "1.234 em recompra, 23,5% em pedidos.",
        "Recompra, que era o triplo no ano passado, está em 23,5%; são 1.234 pedidos.",
        "Recompra de 23,5% e 1.234 pedidos. No mês passado os dois eram o dobro.",
        "Recompra de 23,5% significa que todos os clientes desistiram, entre 1.234 pedidos.",
        "Recompra de 23,5% e 1.234 pedidos. Perdemos um milhão de reais por causa disso.",
    ],
)
def test_exchanged_figures_and_tales_are_worth_little(head: str) -> None:
    assert worth(f"{head}\n{STEPS}") <= 0.3


@pytest.mark.parametrize(
    "head",
    [
        "Recompra e pedidos: 23,5% e 1.234, respectivamente.",
        "A loja registrou 23,5% de recompra e 1.234 pedidos.",
        "A recompra é de 23,5% nos 1.234 pedidos; em dobro seria um bom alvo.",
        "Recompra de 23,5% mostra que todos os meses se perde gente entre 1.234 pedidos.",
    ],
)
def test_the_right_order_stays_good(head: str) -> None:
    assert worth(f"{head}\n{STEPS}") >= 0.85


@pytest.mark.parametrize(
    "text",
    [
        "Você ganhou 20% OFF no fone de ouvido! Aproveite e troque o seu.",
        "Fone de ouvido com 20% OFF é uma ótima ideia de presente. Garanta o seu!",
        "Fone de ouvido com 20% OFF é um sonho de presente. Garanta o seu!",
        "O projeto verão começa em janeiro! Fone de ouvido com 20% OFF. Garanta o seu.",
        "Música boa e de quebra um sono melhor: fone de ouvido com 20% OFF. Aproveite!",
        "Fone de ouvido é um mimo que cabe no bolso: 20% OFF. Aproveite!",
        "Leve o fone de ouvido e ainda receba em casa com 20% OFF. Peça já!",
        "Leve o fone de ouvido e também economize: 20% OFF. Aproveite!",
        "Você não acha mais barato em outra loja: fone de ouvido com 20% OFF!",
        "Nem em outra loja sai por menos: fone de ouvido com 20% OFF. Confira!",
        "Tchau, preço cheio: fone de ouvido com 20% OFF. Garanta o seu!",
        "Ninguém merece preço cheio: fone de ouvido com 20% OFF. Aproveite!",
        "Não saia sem o desconto: o fone de ouvido está com 20% OFF. Aproveite!",
        "Você não vai embora sem o desconto: fone de ouvido com 20% OFF. Garanta o seu!",
        "Saudades! Fique com ele no ouvido: fone de ouvido com 20% OFF para você.",
        "Um fone de ouvido para roubar seu coração, com 20% OFF. Garanta!",
        "Pronta para roubar todos os olhares? Fone de ouvido com 20% OFF. Garanta já!",
        "Ninguém vai roubar o seu sossego: fone de ouvido com 20% OFF. Garanta!",
        "Sua vida nunca vai ser a mesma: fone de ouvido com 20% OFF para você. Peça o seu!",
        "Achado do dia, ótimo para o treino real: fone de ouvido com 20% OFF.",
        "Único como você, leveza que conquista: fone de ouvido com 20% OFF. Poupe já!",
        "Quem disse que fone de ouvido bom custa caro? Leve com 20% OFF.",
        "Dizem que fone de ouvido melhora o dia. Confira o seu com 20% OFF!",
        "Fuja do barulho: fone de ouvido com 20% OFF. Garanta já!",
        "Um som que não vai te decepcionar? Vem ouvir: fone de ouvido com 20% OFF.",
    ],
)
def test_everyday_words_of_a_push_cost_nothing(text: str) -> None:
    assert (truth(PUSH, text) or 0.0) >= 0.85


@pytest.mark.parametrize(
    "text",
    [
        "Fone de ouvido com 20% OFF! Não faça o seu pedido hoje.",
        "Fone de ouvido com 20% OFF! Não envie o pedido, deixe para outra pessoa.",
        "Quer ter um dia ruim? Leve o fone de ouvido com 20% OFF!",
        "Quer uma noite horrível? Fone de ouvido com 20% OFF.",
        "Fuja do preço do nosso fone de ouvido, mesmo com 20% OFF.",
        "Quem disse que fone de ouvido presta? Leve o seu com 20% OFF.",
        "Fone de ouvido com 20% OFF e mais um mimo na caixa. Aproveite!",
        "Fone de ouvido com 20% OFF, mimo incluso na sacola. Peça o seu!",
        "Sem problema se travar: fone de ouvido com 20% OFF para você.",
        "Parece mentira e é: fone de ouvido com 20% OFF. Aproveite!",
        "Ruim é ficar com o fone de ouvido: 20% OFF e você leva.",
        "Fone de ouvido com 20% OFF: use e não vai se arrepender de cair.",
        "Vem de fone de ouvido com 20% OFF e passe mal com o som!",
    ],
)
def test_what_turns_a_lively_push_round_is_seen(text: str) -> None:
    assert (truth(PUSH, text) or 0.0) <= 0.3


@pytest.mark.parametrize(
    "step",
    [
        "As ações acima não exigem verba nova.",
        "Os passos acima não custam caro e podem começar amanhã.",
        "- Hoje o aviso sai depois da reclamação; o ideal é o contrário.",
        "- Retire o telefone obrigatório do cadastro.",
        "- Elimine o contato repetido: um só atendente por caso.",
        "- Simplifique o checkout removendo o link quebrado do boleto.",
        "- Um teste com cupom mostra que ninguém lê e-mail longo: prefira mensagem curta.",
        "- Mostre na página a medida do colchão, do travesseiro e da cama.\n- Venda lençol e fronha em kit.",
        "- Grave um vídeo com o brilho, o cheiro e a cor do batom.\n- Monte um kit com rímel e pincel para atrair pedidos.",
        "- Se o frete grátis não trouxer pedidos, suspender a campanha.",
    ],
)
def test_everyday_steps_cost_nothing(step: str) -> None:
    assert worth(f"{FIGURES}{STEPS}\n{step}") >= 0.85


@pytest.mark.parametrize(
    "steps",
    [
        "- Não avise o cliente antes da reclamação.\n- Não crie combos por enquanto.\n- Não teste nada sem motivo.",
        "- Não envie cupom para quem já comprou.",
        "- Se o cliente não insistir, suspender o estorno.",
        "- Quando nada for dito, suspender a garantia.",
        "- Vamos cobrar R$ 50 de quem pede troca.",
        "- Seria bom perder o estoque das rotas.\n- Seria bom pintar a caixa da transportadora.",
        "- Minha aposta é mandar caixa sem o item.\n- A loja pode cobrar duas vezes no pix.",
        "- Minha aposta é vender itens com defeito.\n- Queremos tirar o botão de devolver do site.",
    ],
)
def test_harm_in_the_moods_of_good_advice_is_seen(steps: str) -> None:
    assert worth(f"{FIGURES}{steps}") <= 0.3
