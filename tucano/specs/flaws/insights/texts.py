"""Texts of insights: right and false ways to tell figures, good, vague and harmful steps, whole and broken prose."""


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


TELLINGS = (
    "{label} foi de {figure}",
    "{label} é de {figure}",
    "{label} ficou em {figure}",
    "{label} está em {figure}",
    "{label} chegou a {figure}",
    "{label} de apenas {figure}",
    "{label} em {figure}",
    "{label} ({figure})",
    "{label}: {figure}",
    "{label} – {figure}",
    "{label} de **{figure}**",
    "{label}, hoje em {figure}",
    "{label}, de {figure}, preocupa",
    "{label} da loja foi de {figure}",
    "{label} do mês ficou em {figure}",
    "{label} já está em {figure}",
    "{label} atual: {figure}",
    "{figure} de {label}",
    "só {figure} de {label}",
    "{the} foi de {figure}",
    "“{label}” de {figure}",
    "o dado de {label} foi de {figure}",
)
TOGETHER = (
    "{one}, de {a}, e {two}, de {b}, pedem atenção da loja.",
    "com {a} de {one} e {b} de {two}, a loja precisa agir.",
    "{the_one} foi de {a} e {the_two} ficou em {b}, o que pede atenção da loja.",
    "enquanto {the_one} está em {a}, {the_two} está em {b} e pede atenção da loja.",
    "{b} de {two} pedem atenção da loja, assim como {a} de {one}.",
    "{one} de {a} contra {two} de {b}: a loja precisa agir.",
    "{the_one} é de {a}, mas {the_two} é de {b}, e a loja precisa agir.",
    "{one}: {a}; {two}: {b}, e a loja precisa agir nos dois pontos.",
    "{two} de {b} e {one} de {a} pedem atenção da loja.",
)
SHARES = {
    "atraso": ("Os outros {} chegam no prazo.", "De cada 100 pedidos, {} chegam com atraso."),
    "cancelamento": ("Os outros {} seguem até a entrega.", "De cada 100 pedidos, {} acabam em cancelamento."),
    "recompra": ("Os outros {} compram uma vez e somem.", "De cada 100 clientes, {} fazem a recompra."),
    "devolução": ("Os outros {} ficam com o cliente.", "De cada 100 pedidos, {} acabam em devolução."),
    "conversão": ("Os outros {} saem sem comprar.", "De cada 100 visitas, {} chegam ao fim."),
}
ONE_IN_EACH = {
    "atraso": "Ou seja, 1 em cada {} pedidos chega tarde.",
    "cancelamento": "Ou seja, 1 em cada {} pedidos se perde.",
    "devolução": "Ou seja, 1 em cada {} pedidos volta.",
}
OWN_WORDS = {
    "atraso": "{} dos pedidos atrasam na entrega",
    "cancelamento": "{} dos pedidos são cancelados pelo cliente",
    "recompra": "{} dos clientes voltam a comprar na loja",
    "devolução": "{} dos pedidos são devolvidos pelo cliente",
    "conversão": "{} das visitas viram compra na loja",
}
PARTS = {
    "atraso": "Isso são {} pedidos com atraso.",
    "cancelamento": "Isso são {} pedidos perdidos.",
    "devolução": "Isso são {} pedidos de volta.",
}
PROPOSALS = (
    "Ofereça frete grátis a partir de R$ 450.",
    "Mantenha o desconto abaixo de 15%.",
    "Dê cashback de 12% na próxima compra.",
    "Monte kits de até R$ 480.",
    "Monte combos entre R$ 310 e R$ 340.",
    "Ofereça um brinde de R$ 25 na segunda compra.",
    "Dê um bônus de R$ 35 a quem voltar.",
    "Crie um vale de R$ 40 para a próxima compra.",
    "Ofereça um crédito de R$ 30 a quem esperou demais.",
    "Defina um teto de R$ 520 por anúncio.",
    "Espere pelo menos 45 respostas antes de decidir.",
    "Responda em no máximo 24 horas.",
    "Ligue para os 50 clientes mais antigos.",
    "Parcele em 12 vezes sem juros.",
    "Parcele em até 12x sem juros.",
    "Dia 15: revise as rotas.",
    "Semana 12: compare os resultados.",
    "Nos próximos 45 dias, teste duas embalagens.",
    "Dentro de 60 dias, compare os números.",
    "Até o fim de dezembro, chegue a 48% de clientes ativos.",
    "Se o teste render 25% a mais, amplie a oferta.",
    "Resultado esperado: 48,5% de respostas.",
    "Envie um cupom de 12% válido por 15 dias.",
    "Dê 12% de desconto na primeira compra.",
    "Reserve uns R$ 700 para o teste.",
    "Recomendo um cupom de 10% a 15% para quem volta.",
    "Seria ótimo passar de 45% em seis meses.",
    "A hipótese é que 40% aceitem a oferta.",
    "Vale buscar 38% de respostas no primeiro mês.",
    "Crie um kit 20% mais barato que os itens soltos.",
    "Teste um preço 12% menor que o atual.",
    "Defina como limite 36 horas para cada resposta.",
)
WISHES = (
    "a meta é levar {the} a {then}.",
    "o objetivo para {the} é chegar a {then} em três meses.",
    "{label}: meta de {then} até dezembro.",
    "se {the} ficar em {then}, o teste valeu.",
    "passar {the} de {now} para {then} é a meta.",
    "levar {the} de {now} para {then} em seis meses.",
    "com o teste, {the} poderia chegar a {then}.",
    "queremos {the} perto de {then} até o fim do ano.",
    "o alvo é {label} de {then}.",
    "em três meses: {label} de {then}.",
    "imagine {the} em {then}: o caixa teria folga.",
    "o plano é fazer {the} subir aos poucos.",
)
ASSERTED = (
    "{label}: {then} hoje, longe da meta.",
    "{the} foi de {then}, acima da meta.",
    "{the} é de {then}, o que seria ruim em qualquer loja.",
    "{the} já chegou a {then}.",
    "a meta é crescer, mas {the} ficou em {then}.",
    "hoje {the} está em {then}, e isso pede um teste.",
    "teste um cupom, porque {the} foi de {then}.",
)
CLAIMS = (
    "A margem é de 37,4%, abaixo da meta.",
    "A margem já passou dos 37,4% que a loja esperava.",
    "A loja tem 2.350 visitas por dia.",
    "Hoje 37,4% dos clientes pagam com Pix.",
    "O lucro do mês foi de R$ 48.317.",
    "A taxa de abandono é de 68,4%.",
    "O custo por pedido é de R$ 57,30.",
    "A concorrência cobra R$ 48,90 pelo mesmo item.",
    "Temos 1.870 clientes cadastrados.",
    "Perdemos 57 clientes no mês passado.",
    "A verba de anúncios é de 4.350 reais.",
    "O estoque parado soma R$ 1,3 milhão.",
    "O abandono ficou em 68,4 por cento.",
    "A satisfação está em 57,5%.",
    "O tíquete do concorrente é de R$ 57,30.",
    "Entraram 57 clientes novos, e a margem foi de 37,4%.",
)
MOVEMENTS = (
    ("subiu", "subiram"),
    ("cresceu", "cresceram"),
    ("aumentou", "aumentaram"),
    ("disparou", "dispararam"),
    ("avançou", "avançaram"),
    ("caiu", "caíram"),
    ("diminuiu", "diminuíram"),
    ("despencou", "despencaram"),
    ("recuou", "recuaram"),
    ("baixou", "baixaram"),
)
LABELS = {
    "%": ("atraso", "cancelamento", "conversão", "devolução", "recompra"),
    "R$": ("frete médio", "receita", "ticket médio"),
}
INFINITIVES = (
    "oferecer um cupom na segunda compra e medir o resultado em 30 dias.",
    "responder às avaliações ruins e revisar as fotos dos produtos.",
)
_ONE = f"Recomendo {INFINITIVES[0]}"
_TWO = f"Priorize {INFINITIVES[1]}"
_OFFER, _ANSWER = (capital(line) for line in INFINITIVES)
FORMS = {
    "numbers": f"1. {_ONE}\n2. {_TWO}",
    "dashes": f"– {_ONE}\n– {_TWO}",
    "heading": f"## Ações\n- {_ONE}\n- {_TWO}",
    "bold heading": f"**Próximos passos:**\n- {_OFFER}\n- {_ANSWER}",
    "infinitives": f"- {_OFFER}\n- {_ANSWER}",
    "imperatives": "- Ofereça um cupom na segunda compra e meça o resultado em 30 dias.\n"
    "- Responda às avaliações ruins e revise as fotos dos produtos.",
    "bold verbs": "- **Ofereça** um cupom na segunda compra e meça o resultado em 30 dias.\n"
    "- **Responda** às avaliações ruins e revise as fotos dos produtos.",
    "titles": "- **Cupom:** ofereça 10% na segunda compra e meça o resultado em 30 dias.\n"
    "- **Avaliações:** responda às ruins e revise as fotos dos produtos.",
    "nouns": "## Plano de ação\n- Cupom de 10% na segunda compra, com medição em 30 dias.\n"
    "- Respostas às avaliações ruins e novas fotos dos produtos.",
    "many in a line": "- Ofereça um cupom na segunda compra, meça o resultado em 30 dias, responda às avaliações"
    " ruins e revise as fotos dos produtos.\n- Priorize a embalagem dos itens frágeis.",
    "table": f"| Ação | Prazo |\n|---|---|\n| {_OFFER} | 30 dias |\n| {_ANSWER} | 15 dias |",
    "many infinitives in a line": "## Ações\n- Oferecer um cupom na segunda compra, medir o resultado em 30 dias,"
    " responder às avaliações ruins e revisar as fotos dos produtos.",
    "table of three columns": f"| Ação | Prazo | Quem |\n|---|---|---|\n| {_OFFER} | 30 dias | Marketing |\n"
    f"| {_ANSWER} | 15 dias | Atendimento |",
    "points": f"• {_ONE}\n• {_TWO}",
    "semicolons": "- Ofereça um cupom na segunda compra; meça o resultado em 30 dias.\n"
    "- Responda às avaliações ruins; revise as fotos dos produtos.",
}
_PLANNED = (
    "- Cupom de 10% na segunda compra, com medição em 30 dias.\n"
    "- Respostas às avaliações ruins e novas fotos dos produtos."
)
FORMS |= {
    f"under «{heading}»": f"{heading}\n{_PLANNED}"
    for heading in (
        "## Ações sugeridas", "## Recomendações", "Próximos passos:", "O que fazer agora:", "Sugestões:",
        "# Prioridades", "Ideias para testar:", "## Plano da semana", "Minhas recomendações:", "Medidas:",
    )
}  # fmt: skip
LEADS = (
    "Recomendo", "Recomendamos", "Sugiro", "Sugerimos", "Vale", "Convém", "É preciso", "Devemos", "A loja deve",
    "Proponho", "Precisamos", "Vale a pena", "É hora de", "Recomenda-se", "Minha sugestão é", "A ideia é", "Que tal",
    "Eu começaria por", "É importante",
)  # fmt: skip
STEPS = (
    "Renegocie o prazo com a transportadora mais lenta.",
    "Crie um programa de fidelidade com pontos por compra.",
    "Melhore as descrições e as medidas na página do produto.",
    "Reforce a embalagem dos itens frágeis.",
    "Confirme o estoque antes de aprovar o pagamento.",
    "Monte kits com acessórios que combinam.",
    "Ofereça parcelamento sem juros nos itens mais caros.",
    "Avise por e-mail quando o pedido sair.",
    "Peça uma avaliação dez dias após a entrega.",
    "Teste a retirada na loja nos bairros próximos.",
    "Troque o fornecedor dos itens com mais reclamações.",
    "Reative quem não compra há 60 dias com um cupom.",
    "Envie um lembrete por WhatsApp a quem deixou o carrinho.",
    "Ofereça crédito na loja em lugar do reembolso.",
    "Amplie o horário do SAC nos dias de pico.",
    "Publique um vídeo curto de cada produto.",
    "Mostre o prazo de entrega por CEP.",
    "Inclua uma tabela de tamanhos em cada anúncio.",
    "Crie um clube de vantagens com frete reduzido.",
    "Treine a equipe para resolver no primeiro contato.",
    "Compare as rotas por região e corrija a pior.",
    "Ofereça brindes simples a quem volta.",
    "Use as avaliações positivas como prova social.",
    "Reduza os campos do formulário de cadastro.",
    "Crie uma assinatura para os itens de uso diário.",
    "Abra um ponto de envio mais perto dos clientes do Norte.",
    "Mostre selos de segurança na página de pagamento.",
    "Mande um agradecimento com dicas de uso após a entrega.",
)
NO_HARM = (
    "Reduza o atraso com coletas extras na semana.",
    "Diminua as devoluções com fotos reais.",
    "Aumente a nota média com respostas rápidas.",
    "Aumente os pedidos com um cupom de retorno.",
    "Recomendo reduzir os atrasos e os cancelamentos.",
    "Não recomendo anunciar antes de resolver o prazo.",
    "Evite prometer prazos curtos.",
    "Suspenda os anúncios que não geram venda.",
    "Corte os custos do frete com uma nova tabela.",
    "Eleve a receita com kits prontos.",
    "Suba o ticket com itens complementares.",
    "Aumente o frete grátis para as regiões próximas.",
    "Acompanhe o prazo de cada rota na semana.",
    "Melhore a qualidade das fotos e das medidas.",
    "Invista em marketing para quem já comprou e não voltou.",
    "Melhore a experiência no checkout com menos campos.",
)
HARMS = (
    "Recomendo aumentar o atraso nas entregas.",
    "Sugiro elevar o frete médio em todas as regiões.",
    "Amplie os cancelamentos dos pedidos.",
    "Incentive as devoluções sem motivo.",
    "Recomendo reduzir a receita.",
    "Diminua a nota média.",
    "Baixe a conversão da página.",
    "Corte os pedidos do mês.",
    "Reduza a recompra dos clientes.",
    "Sugiro diminuir o ticket médio.",
    "Retire o botão de compra do site.",
    "Esconda o link da política de troca.",
    "Suba os preços de todos os produtos.",
    "Aumente os preços em todas as categorias.",
    "Demita a equipe de atendimento.",
    "Feche a loja por alguns meses.",
    "Queime o estoque de uma vez.",
    "Ignore as reclamações dos clientes.",
    "Recomendo deixar de responder aos clientes.",
    "Parem de entregar no interior.",
    "Recuse os reembolsos.",
    "Negue todas as trocas.",
    "Proíba as devoluções.",
    "Recomendo dobrar o atraso.",
    "Não recomendo melhorar a entrega. Não sugiro oferecer troca.",
    "Sugiro estimular os atrasos.",
    "Recomendo desestimular a recompra.",
    "Recomendo suspender os reembolsos.",
    "Deixe de oferecer troca.",
)
VAGUE = (
    "Recomendo melhorar a experiência do cliente.",
    "Priorize investir em marketing.",
    "Sugiro otimizar os processos da loja.",
    "Recomendo melhorar a logística.",
    "Invista na qualidade dos produtos.",
    "Melhore a comunicação com o público.",
    "Acompanhe os indicadores de perto.",
    "Busque a satisfação dos clientes.",
    "Fortaleça o relacionamento com os clientes.",
    "Crie novas estratégias de vendas.",
    "Ofereça melhores condições.",
    "Recomendo aumentar o engajamento.",
    "Invista em campanhas de marketing digital.",
    "Continue melhorando os resultados.",
    "Foque na fidelização dos clientes.",
    "Aprimore os serviços da loja.",
    "Monitore os indicadores todo mês.",
    "Reforce o marketing da empresa.",
)
SERVING = {
    "receita": ("Monte kits com os itens mais vendidos.", "Crie uma campanha para os itens mais vendidos."),
    "pedidos": ("Reative quem não compra há 60 dias com um cupom.", "Crie uma campanha para os itens mais vendidos."),
    "atraso": ("Renegocie o prazo com a transportadora mais lenta.", "Avise por e-mail quando o pedido sair."),
    "nota média": ("Responda às avaliações ruins no mesmo dia.", "Treine o atendimento para resolver as reclamações."),
    "recompra": ("Envie um cupom depois da entrega.", "Crie um programa de fidelidade com pontos por compra."),
    "devolução": ("Revise as fotos e as medidas de cada produto.", "Inclua uma tabela de tamanhos em cada anúncio."),
    "frete médio": ("Renegocie a tabela com a transportadora.", "Teste a retirada na loja nos bairros próximos."),
    "cancelamento": ("Confirme o estoque antes de aprovar o pagamento.", "Pergunte o motivo a quem desistiu."),
    "conversão": ("Teste um checkout mais curto e com Pix.", "Mostre as parcelas na página do produto."),
    "ticket médio": ("Monte kits com acessórios que combinam.", "Ofereça itens complementares no carrinho."),
}
ASTRAY = (
    "Renegocie o aluguel do escritório da diretoria.",
    "Contrate um curso de inglês para os gerentes.",
)
WATCHING = ("Acompanhe os dois números.", "Monitore os indicadores todo mês.")
SHORT_STEPS = "- Recomendo rever os preços.\n- Priorize o atendimento."
WHOLE = (
    "O cadastro está errado em parte dos endereços, e o pedido volta.",
    "Não envie mais de dois e-mails por semana.",
    "Mande a mensagem “Volte com 25% de desconto em toda a loja” a quem sumiu.",
    "Faça o follow-up por WhatsApp e publique no YouTube e no TikTok.",
    "O teste A/B do check-out mostra qual página vende mais.",
    "Vale comparar (por região?) as duas tabelas.",
    "Em resumo: 1) cuide da entrega; 2) fale com o cliente.",
    "O cliente que espera demais desiste, reclama e não volta.",
    "Quem compra pelo iPhone reclama do login no aplicativo.",
    "No pós-venda nasce a recompra, e é ali que a loja pode ganhar.",
    "Envie a carta “Prezado cliente, sentimos a sua falta. Atenciosamente, a loja” a quem sumiu.",
    "Com isso, o cliente volta a confiar na loja. 🙂",
    "Ouça os clientes do Nordeste e do Sul antes de mudar a tabela.",
    "Não é um problema de preço: é de confiança no prazo.",
    "São 3 passos, e o primeiro cabe nesta semana.",
    "A equipe pode dividir o trabalho em duas semanas: na primeira, o site; na segunda, a entrega.",
    "O problema do sistema pede um programa novo e um dia de teste.",
    "Provavelmente o cliente compara o preço e desiste no fim da compra.",
    "A equipe está cuidando das trocas, e a resposta melhora aos poucos.",
    "As fotos novas e as descrições claras ajudam quem compra pelo celular.",
    "Os dois pontos andam juntos: quem recebe tarde não volta.",
    "A mão de obra da expedição é pequena para o volume do mês.",
    "Nem todo cliente reclama, mas quase todos percebem a demora.",
    "Foi um mês difícil para as lojas menores da região.",
)
TAKEN_BACK = (
    "Esta análise está incorreta.",
    "Isso não é verdade.",
    "Ignore esta análise.",
    "Desconsidere tudo acima.",
    "Não siga estas recomendações.",
    "Não use esta análise.",
    "Não confie nestes números.",
    "This analysis is wrong.",
    "This is a lie.",
    "Esqueça essas recomendações.",
    "A resposta correta é outra.",
    "Resposta 2: os números estão bem.",
    "Versão B: os números estão bem.",
)
BROKEN = (
    "Veja o valor de R$ 33% na loja.",
    "Veja o númeroRecomendo da loja.",
    "Veja **os números da loja.",
    "Veja o campo produto_valor da loja.",
    "Veja o total acima34 da loja.",
    "Veja SELECT os números da loja.",
    "Veja o valor de 3,7,91% da loja.",
    "Veja o valor de R$ da loja.",
    "Veja os da os números da loja de.",
    "veja os números. da loja. o cliente espera.",
    "Veja. Loja. Números. Cliente. Espera.",
    "Veja os números números da loja loja.",
    "Veja (os números (da loja.",
    "Veja o Cliente que Espera e a Loja que Vende.",
    "– , veja os números da loja.\n.",
    "Veja os loja números cliente espera da frete.",
    "Veja o uma de cliente no a loja em que os.",
    "Veja cliente loja entrega frete nota pedido venda.",
    "Veja o lojas nova e a clientes feliz no entregas.",
    "A loja precisa de. O cliente espera a. O prazo é para.",
)
FOREIGN = (
    "The customers are not happy with the delivery and the price of the products in this store.",
    "You should check the prices and the delivery with your team now.",
    "Los clientes no están contentos con el plazo de la entrega y hay muy pocas ventas en el mes.",
    "El plazo de la entrega es muy largo y los clientes no quieren esperar en su casa.",
)
STUFFED = "recomendar melhorar cliente produto venda entrega pedido loja frete avaliação receita nota"
CLUMSY = {
    "a word twice": "A loja precisa precisa agir agora.",
    "a sentence that begins small": "O cliente espera. a loja precisa agir.",
    "an open bracket": "A loja precisa agir (ainda nesta semana.",
    "a capital letter inside": "A loja precisa agir com o Cliente.",
    "a wrong ending": "A lojas precisa agir.",
}
