"""Forms of insights in rarer turns of speech: letters, tellings, moves, aims, leads, headings and steps."""

LETTERS = (
    ("Prezados senhores, segue a análise do mês.", "Atenciosamente, a equipe da loja."),
    ("Estimados clientes, segue a análise do mês.", "Cordialmente, a equipe da loja."),
    ("Caros senhores, segue a análise do mês.", "Respeitosamente, a equipe da loja."),
    ("Prezada equipe, segue a análise do mês.", "Ficamos à inteira disposição da equipe."),
)
PRAISES = (
    "A nota média {} demonstra que os clientes estão satisfeitos.",
    "A nota média {} diz que o cliente está feliz.",
    "A nota média {} indica que os clientes estão felizes.",
    "A nota média {} revela que os clientes saem contentes.",
    "A nota média {} prova que o cliente sai contente.",
    "A nota média {} significa que os clientes ficam satisfeitos.",
    "A nota média {} comprova que os clientes seguem satisfeitos.",
    "A nota média de {} é boa.",
    "A nota média de {} é muito boa.",
    "A nota média em {} é ótima.",
    "A nota média de {} foi excelente.",
    "A nota média de {} está bem alta.",
    "Use a nota média {} na página como prova social.",
    "Os clientes estão satisfeitos: nota média {}.",
)
TELLINGS = (
    "{label} a {figure}",
    "{label} por {figure}",
    "{label}: só {figure}",
    "{label} foi só de {figure}",
    "{the} estava em {figure}",
    "{the} fica em {figure}",
    "{the} da loja fica em {figure}",
    "{the} da loja estava em {figure}",
    "{the} da loja é só {figure}",
    "{the} da loja é apenas {figure}",
    "{the} da loja é de {figure}",
    "{the} chega a {figure}",
)
UNDER = ("Ficou em {}", "Está em {}", "Em {}", "De {}", "{}")
SAID_TO_BE = (
    "{the} é alto: {then}.",
    "{the} é baixa: {then}.",
    "{the} da loja é de {then}.",
    "{the} da loja é só {then}.",
    "{the} da loja é apenas {then}.",
    "{the} fica em {then}, e isso pesa.",
    "{the} chega a {then}, e isso pesa.",
    "a meta é boa, pois {the} é de {then}.",
    "a loja mira longe; {the} é de {then}.",
)
MOVES = {
    "up": (
        ("subiu", "subiram"), ("cresceu", "cresceram"), ("aumentou", "aumentaram"), ("dobrou", "dobraram"),
        ("disparou", "dispararam"), ("avançou", "avançaram"),
    ),
    "down": (
        ("caiu", "caíram"), ("diminuiu", "diminuíram"), ("reduziu", "reduziram"), ("despencou", "despencaram"),
        ("recuou", "recuaram"), ("baixou", "baixaram"),
    ),
}  # fmt: skip
WANTED = (
    "amplie a oferta só se {the} for de {then}.",
    "a oferta segue, mas se {the} for de {then}, acaba.",
    "a oferta cresce, e caso {the} seja de {then}, vira regra.",
    "supondo {label} de {then}, a oferta se paga.",
    "caso {the} fique em {then}, a oferta valeu.",
    "nos próximos dois meses, {label} de {then}.",
    "dentro de seis semanas, {label} de {then}.",
    "daqui a quatro meses, {label} de {then}.",
    "{label}: {then} em um mês.",
    "{label}: {then} em duas semanas.",
    "{label}: {then} em três meses.",
    "{label}: {then} em quatro semanas.",
    "{label}: {then} em seis meses.",
    "{label}: {then} em 60 dias.",
    "{label}: {then} até janeiro.",
    "{label}: {then} até fevereiro.",
    "{label}: {then} até março.",
    "{label}: {then} até abril.",
    "{label}: {then} até maio.",
    "{label}: {then} até junho.",
    "{label}: {then} até julho.",
    "{label}: {then} até agosto.",
    "{label}: {then} até setembro.",
    "{label}: {then} até outubro.",
    "{label}: {then} até novembro.",
    "{label}: {then} até o final do ano.",
    "levar {label} de {now} para {then}.",
    "trazer {label} de {now} para {then}.",
    "monitorar: respostas da semana. {label}: {then}.",
    "{label}: {then} seria um bom resultado.",
    "o cenário pede {label} de {then}.",
    "a projeção pede {label} de {then}.",
    "vale atingir {label} de {then}.",
    "persiga {label} de {then}.",
)
WANTED_OF = {
    "frete médio": ("oferecer frete de R$ 12 a quem volta.", "definir frete de R$ 12 a quem volta."),
    "atraso": ("reduzir atraso de {now} para 1%.", "baixar atraso de {now} para 1%."),
    "cancelamento": ("reduzir cancelamento de {now} para 1%.", "baixar cancelamento de {now} para 1%."),
}
COMPARED = tuple(
    form.format(word)
    for word in ("contra", "ante", "versus", "vs", "frente a")
    for form in ("{{one}} e {{two}}: {{a}} {} {{b}}.", "hoje são {{a}} {} {{b}}: {{one}} e {{two}}, nessa ordem.")
)
BESIDE = tuple(
    f"hoje: {{a}} de {{one}} {word} {{b}}." for word in ("e", "e só", "e apenas", "e já", "com", "com apenas", "a")
)
FOLLOWS = {
    "atraso": (
        "{now} de atraso: {rest} das entregas seguem bem.", "{now} de atraso: {rest} chegou no prazo.",
        "Entre 100 pedidos, {of_hundred} sofrem atraso.", "Por cem pedidos, são {of_hundred} casos de atraso.",
        "Ou seja, um em cada {each} pedidos chega tarde.", "Ou seja, 1 a cada {each} pedidos chega tarde.",
        "São {of_hundred} casos de atraso por 100 pedidos.", "Os outros, quase {about}, chegam bem.",
        "Os outros, praticamente {about}, chegam bem.", "Os outros, pouco menos de {about}, chegam bem.",
    ),
    "recompra": (
        "{now} de recompra: {rest} dos clientes somem.", "{now} de recompra: {rest} das pessoas somem.",
        "{now} de recompra: {rest} comprou uma vez.", "De cada cem clientes, {of_hundred} fazem a recompra.",
        "Os outros, pouco mais de {about}, somem.", "Os outros, em média {about}, somem.",
    ),
    "cancelamento": (
        "{now} de cancelamento: {rest} das compras seguem bem.", "{now} de cancelamento: {rest} dos carrinhos seguem.",
        "Ou seja, uma de cada {each} compras acaba em cancelamento.",
    ),
    "devolução": (
        "{now} de devolução: {rest} das compras ficam.", "Entre cem vendas, {of_hundred} acabam em devolução.",
        "{now} de devolução: {rest} das visitas seguem.", "{now} de devolução: {rest} dos acessos seguem.",
        "{now} de devolução: {rest} das sessões seguem.", "{now} de devolução: o resto, {rest}, seguiu bem.",
    ),
}  # fmt: skip
LEADS = (
    "Eu colocaria", "Eu trocaria o site por", "Eu pegaria", "Eu começaria com", "A gente faria", "É hora de",
    "É melhor",
    "É preciso", "Convém", "Vale a pena", "Que tal", "A ideia é", "O foco tem de ser", "Proponho", "Precisamos de",
    "Minha sugestão é", "É importante", "Devemos ter", "A loja deve ter", "Usem", "Valeria",
)  # fmt: skip
NOUNS = (
    "um cupom na segunda compra, com resultado em 30 dias.",
    "uma resposta às avaliações ruins e fotos novas dos produtos.",
)
HEADINGS = (
    "## Testes", "## Decisões", "## Fase 1", "## Agora", "## Ação", "## Passos", "## Plano", "## Testar já",
    "## Sugestão",
    "## O que eu faria", "## Para as próximas semanas", "## Reengajamento", "## Propostas", "## Agir já",
)  # fmt: skip
PLANNED = (
    "- Cupom de 10% na segunda compra, com resultado em 30 dias.\n"
    "- Respostas às avaliações ruins e novas fotos dos produtos."
)
VAGUE = (
    "Recomendo elevar a qualidade.",
    "Desenvolva novas estratégias.",
    "Promova melhorias.",
    "Intensifique a divulgação.",
    "Valorize os parceiros.",
    "Estimule o engajamento.",
    "Otimize os nossos processos.",
    "Melhore os seus benefícios.",
    "Melhore ainda mais o desempenho.",
    "Ofereça bons serviços.",
    "Continue melhorando a cada mês.",
    "Recomendo manter a nota alta.",
    "Engaje os clientes de alguma maneira.",
    "Faça algo diferente.",
    "Tome as providências cabíveis.",
    "Busque formas de crescer.",
    "Busque formas de melhorar.",
    "Crie campanhas criativas.",
    "Faça ações especiais.",
    "Pense em uma ação de relacionamento.",
    "Melhore o relacionamento com os clientes da loja.",
)
WATCHING = (
    "acompanhe {the}.",
    "monitore {the} todo mês.",
    "observe {the} de perto.",
    "recomendo monitorar {the}.",
    "recomendo cuidar mais: {the}.",
)
SERVING = {
    "receita": (
        "Revise a tabela do faturamento.", "Crie uma campanha curta.", "Ofereça um desconto curto.",
        "Revise a tabela de preços.", "Troque o texto do anúncio.",
    ),
    "pedidos": (
        "Teste uma oferta curta.", "Envie uma mensagem aos compradores antigos.", "Envie um lembrete curto.",
        "Teste o frete grátis.", "Revise a mídia paga.",
    ),
    "atraso": (
        "Corrija a rota mais longa.", "Mostre o rastreio da caixa.", "Reforce a expedição.", "Antecipe o despacho.",
        "Ajuste o estoque da semana.", "Avise os compradores sobre cada etapa da saída.",
    ),
    "nota média": (
        "Responda a cada avaliação ruim.", "Envie uma resposta rápida.", "Revise a qualidade do tecido.",
        "Revise a ficha de cada reclamação.", "Crie uma pesquisa curta.",
    ),
    "recompra": (
        "Reforce o pós-venda.", "Teste um convite por WhatsApp.", "Envie uma mensagem de retorno.",
        "Pergunte o motivo a quem não volta.",
    ),
    "devolução": (
        "Registre o motivo de quem devolve.", "Corrija a descrição.", "Confira as medidas.", "Ajuste a troca.",
        "Corrija o tamanho.", "Reforce a embalagem.", "Troque o fornecedor.", "Grave um vídeo.",
    ),
    "frete médio": ("Teste a retirada.", "Revise a tabela dos correios.", "Revise a tabela de envio."),
    "cancelamento": (
        "Confira o estoque.", "Ajuste o pagamento.", "Mostre o prazo.", "Pergunte o motivo a quem desiste.",
        "Ofereça o Pix como forma mais simples na tela final.", "Troque o boleto por outra forma mais simples na tela.",
    ),
    "conversão": (
        "Mostre as parcelas.", "Ajuste o pagamento.", "Revise o carrinho.", "Troque o anúncio.",
        "Melhore os filtros simples da busca interna.",
        "Grave um vídeo.", "Ajuste o menu principal do site antigo.",
    ),
    "ticket médio": (
        "Teste o frete grátis.", "Revise a ficha de cada acessório.", "Mostre as parcelas.",
        "Teste um desconto progressivo.",
        "Monte um conjunto de peças leves e simples hoje.", "Revise a ficha da linha premium.",
        "Revise a tabela do leve três e pague dois.",
    ),
}  # fmt: skip
