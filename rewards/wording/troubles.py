"""The kinds of trouble that a review complains of, in the many ways in which Brazilians say each of them, and the kinds
of praise.

A kind holds what is said of that trouble alone: «não recebi resposta» is no parcel that did not come, and «demora no
estorno» no late one.
"""

import re
from functools import lru_cache

_MONEY = r"(?:reembols|estorn|ressarc|restitu|dinheiro|devolucao d[oae] (?:valor|dinheiro|quantia)|valor pago)\w*"
_NO_PARCEL = (
    r"(?! ?(?:(?:o|a|um|uma|meu|minha|ainda|nem|de|nenhum\w*|qualquer|sequer|mais|se) )*"
    r"(?:respo(?!nd)|retorn(?!a[rm]|ou)|contat(?!a[rm]|ou)|satisf|explic(?!a[rm]|ou)|notic|mensag|posicion|atenc"
    r"|reembols|estorn|ressarc|restitu|dinheiro|valor\b"
    r"|nota\b|quebr|danific|amass|rasgad|errad|trocad|abert|com (?:atras|defeit|problem|avari)|atrasad)"
    r"(?!\w*(?: (?!e |nem |ou )\w+){0,2},? (?:e|nem|ou) (?:(?:nem|o|a|meu|minha|sequer) )*"
    r"(?:produt|pedid|encomend|mercador|item|pacote)\w*+(?:$|[,.;]| (?:e|nem)\b)))"
)
"""What else does not come: an answer, money, a bill, or a thing that is broken or late; and no parcel beside it."""
_PARCEL = r"(?:produt|pedid|encomend|mercador|compra|remessa|entrega|itens|item|objeto|pacote)\w*"
_ITSELF = (
    r"(?!\w| (?:de (?!present|natal|anivers)|d[oa]s? (?:nota|dinheir|valor|reembols|estorn|troca|cart|bolet|cupom)"
    r"|funcion|prest|serv|agrad|ser (?!entreg)|n[oa] (?:estoq|site)|em estoq|mud|melhor|baix|fic))"
)
"""What makes of a parcel no part of something else («pedido de reembolso», «produto funcionar»)."""
_OWN = r"(?:(?<!\bd[oae] )(?<!\bd[oae] meu )|(?<=status d[oae] )|(?<=entrega d[oae] )|(?<=envio d[oae] ))"
"""Where a parcel stands that something happens to: in «devolução da compra» it happens to money."""
_STILL = (
    r"(?>(?: (?:esta|estao|fica|ficou|foi|segue|seguiu|continua|permanece|encontra|encontram|parece|consta|como|que|se"
    r"|ha|faz|mais|de|um|uma|\d+|dois|duas|tres"
    r"|quatro|cinco|seis|sete|oito|nove|dez|quinze|vinte|trinta|vari[oa]s|muit[oa]s|dias?|semanas?|mes|meses|ainda"
    r"|totalmente|sempre|agora|tambem|e"
    r"|d[oae]|meu|minha|clientes?|pedid\w+|encomenda|produto|n[oa]s?|correios?|transportadora|transporte|centro"
    r"|caminho|alfandega|transito|rastrei\w+|distribuicao|presentes?|comprei|comprou|pediu?|fiz|fez)\b){0,9})"
)
"""What stands between a parcel and how it lies; more than that names what else does («chegou com tela travada»)."""
_LOST = (
    r"(?!\w* (?:(?:n[oa]s?|pel[oa]) (?:pag|site|app|aplic|sistem|cart|banc|carrin|estoq|caixa|preco|valor)|de raiv))"
)
"""What takes back that a parcel lies somewhere: an order that a shop's page does not take."""
_THE = r"(?:(?:o|a|os|as|um|uma|meu|minha|minhas|meus|seu|sua|essa?|esta?) ){0,2}"
_LIES = r"(?:parad|travad|congelad|perdid|empacad|retid|pres[oa]\b|emperrad|sumid|sumiu|some\b|engarraf)"
_ASKED = r"(?:pedi(?!d)|pedid|compr|encomend|solicit|escolh|adquir)"
_ITEM = r"(?:cor|cores|modelo|item|itens|tamanho|produto|voltagem|numeracao|referencia|marca|versao|mercadoria)"
_SHIPPED = r"(?:veio|vier|cheg|receb|mand|envi|entreg)"
_NOT_ITS = "".join(
    rf"(?<!\b{name} )"
    for name in (
        "atendimento", "vendedor", "vendedora", "loja", "lojista", "suporte", "sac", "empresa", "equipe", "site",
        "chat", "conta", "sistema", "garantia", "transporte", "cartao",
        "app", "aplicativo", "cupom", "entrega", "transportadora", "frete", "atendente",
    )
)  # fmt: skip
"""Whose failing is no defect of a thing."""
_SHORT_JOY = (
    r"(?! (?:[ao]s? )?(?:promo|pacienc|ofert|descont|alegr|felic|entreg|entusias|liquid|conversa|atend|espera))"
)
_THING = r"(?:produto|item|mercadoria|peca|aparelho|artigo|equipamento|conteudo)\w*"
_SHOWN_AS = r"(?:anunc|descri|divulg|foto|prometid|imagem|imagens|\bsite\b|propagand)"
_AS_SUCH = r"(?!\w* (?:de|com|no) (?:prazo|descont|frete|preco|entreg))"
_STATE = (
    r"(?:tard|cedo|rapid|inteir|nov[oa]s?\b|silenc|gross|ignor|desculp|promess|ofens|respo|ajuda|nada\b|dinheir|reemb"
    r"|resol|soluc|atenc|educac|respeit|segunda|terca|quarta|quinta|sexta|sabado|domingo|hoje|ontem|amanha|antes|depois"
    r"|janeiro|fevereiro|marco|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro"
    r"|descont|vale\b|credit|cupom|boa\b|bom\b|ruim|bem\b|mal\b|quebr|limp|suj|cheio|vazi|dias?\b|mes(?:es)?\b|prazo"
    r"|(?!dourad|pratead|rosad|estampad|listrad|teclad|calcad|cadead|bordad|pedid|comprad|solicitad|encomendad|escolhid"
    r"|anunciad|vestid|tecid|azulad|errad|trocad|certo)\w+[aiu]d[oa]s?\b)"
)
"""How and when something comes, and what is no thing that a shop sends: no colour or size in another's place."""
_SELLER = r"(?:vendedor\w*|lojistas?|loja|atendentes?|suporte|sac|equipe|empresa|atendiment\w*|pos[- ]venda)"

_WAYS: dict[str, tuple[str, ...]] = {
    "packaging": (
        r"\b(?:embalag|pacote|caixa|embrulh|lacre)\w*\b.{0,200}\b(?:danific|amass|rasg|abert|violad|avari|molhad|umid[oa]"
        r"|encharc|rompid|esmag)|\blacre \w*(?: \w+)? ?(?:quebrad|partid)",
        r"\b(?:danific|amassad|rasgad|violad)\w* (?:a |o )?(?:embalag|pacote|caixa)",
        r"\b(?:embalag|embrulh|involuc)\w*\b.{0,25}\b(?:frag|precari|pessim|ruim|frac|destru|estrag|deterior"
        r"|machuc|furad"
        r"|suj|batid|estour|descuid|sem protec|inadequad|insuficient)",
        r"\b(?:mal|pessimamente) (?:embalad|embrulhad|acondicionad|protegid|empacotad)",
        r"\bsem (?:nenhuma |qualquer )?(?:protecao|plastico bolha|embalagem|lacre)",
    ),
    "missing": (
        rf"\b(?:nao|nunca|jamais) (?:(?:foi|me|ainda|se|fui|sequer) )*(?:cheg|receb|entreg|veio"
        rf"|aparec)\w*+{_NO_PARCEL}",
        r"\bentrega (?:pendente|nao|em aberto|inexistente|frustrada|fracassada|que (?:nao|nunca)|sem previsao)",
        r"\bsem (?:(?:ter|ainda|o|a|nem) )*(?:receb|cheg|entrega\b|ser entreg)\w*+" + _NO_PARCEL,
        r"\b(?:extravi|sumico)\w*|(?<!vendedor )(?<!loja )\bdesaparec\w*",
        r"\bnao recebimento" + _NO_PARCEL,
        rf"\b(?:falta|ausencia|nada|nem sinal) d[aeo] (?:(?:a|o|meu|minha) )?(?:{_PARCEL}{_ITSELF}|cheg"
        rf"|receb)",
        r"\bfalta (?:chegar|entregar|receber|a entrega)|\b(?:nada|ninguem) (?:foi entreg|cheg|receb|entreg|apareceu)",
        rf"\b{_OWN}(?:pedid|encomend|entrega|pacote|remessa|objeto|mercador)\w*+,?{_STILL} {_LIES}{_LOST}",
        rf"\b{_OWN}compras?{_STILL} (?:parad|congelad|retid|sumi(?:d|u)|some\b){_LOST}",
        rf"\b(?:rastre|transport)\w*\b.{{0,20}}\b(?:{_LIES}|parou|estacion|nao (?:atualiz|mud|and|mex|sai)"
        rf"|sem (?:atual|mov))",
        rf"\b(?:{_LIES[3:-1]})\w* (?:n[oa]s?|em) (?:transport|correio|rastre|centro|alfandega|caminho)",
        r"\bsem (?:nenhuma )?(?:atualizacao|movimentacao) (?:n[oa]|d[oae]) (?:rastre|pedid|entreg|encomend)",
        rf"\b(?:aguard\w+|esperando|a espera d[aeo]|espera (?:\w+ )?pel[ao]s?"
        rf"|espera por) (?:chegar )?{_THE}{_PARCEL}{_ITSELF}",
        rf"\ba espera d[aeo]s? que {_ASKED}|\bcade {_THE}{_PARCEL}{_ITSELF}|\bde maos vazias"
        rf"|\b{_PARCEL} (?:\w+ )?sem (?:paradeiro|noticias?$|destino)|\bparadeiro (?:desconhec|ignorad|incert)",
        r"\b(?:entrega|envio) (?:ainda )?nao (?:foi )?(?:acontec|ocorr|realiz|efetu|feit|conclu)",
        r"\bnao (?:houve|ocorreu|aconteceu|teve|fizeram|foi feita) (?:a )?entrega|\bnao saiu (?:para entrega"
        r"|do lugar|d[ao] )",
        r"\bnao vi\w* (?:nem )?(?:a )?(?:cor|sombra|sinal) d[oa]",
        r"\bsem (?:o |a |meu |minha )?(?:produt|pedid|encomend|mercador)\w*(?=$|[,.;]| (?:e|nem)\b)",
    ),
    "late": (
        r"\b(?:atras|demor)\w*+(?! (?:(?!e |nem )\w+ ){0,2}(?:respo|retorn|atend|contat|reembols|estorn|ressarc"
        r"|restitu"
        r"|devol|dinheiro|troca))",
        r"\bfora d[oa] (?:prazo|data|dia)|\b(?:depois|alem|apos) (?:d?[oa] )(?:prazo|data|dia|previst|combinad"
        r"|prometid)",
        r"\b(?:prazo|data|previsao)\b(?: (?:de|da|para) entrega)?.{0,12}\b(?:nao (?:foi |e )?(?:cumpr|respeit|obedec)"
        r"|estour|descumpr|venc|desrespeit|ultrapass|exced|extrapol|furad|perdid|passou)",
        r"\b(?:prazo (?:de entrega |combinado |que )?nao|(?:descumpr|desrespeit|estour|ultrapass|extrapol|exced"
        r"|fur)\w*"
        r" (?:com )?(?:[oa] )?(?:prazo|data|previs)|(?:perd\w+|pass\w+ d[oa]|nao (?:cumpr"
        r"|respeit)\w+) (?:[oa] )?(?:prazo|data))",
        r"\bprazo\b.{0,20}\b(?:long|grande|demorad)|\bentreg\w* (?:foi )?(?:muito |bem |tao |super )?(?:lent"
        r"|tardi|moros|devagar"
        r"|arrastad|vagaros)",
        r"(?<!\b[1-3] )\bdias em (?:vez|lugar) de \d",
        r"\b(?:lentidao|morosidade) (?:n[oa]|d[oa]) (?:entreg|envio|transport|frete|despach)",
        rf"\b{_SHIPPED}\w* (?:muito |bem |so |mais )?tard(?:e|iament)|\btardiament|\bmuito tempo (?:para"
        rf"|pra) (?:cheg|entreg)",
        r"\blevou (?:mais de |quase |uns )?\d+ (?:dias|semanas|meses) (?:para|pra|a) (?:cheg|ser|entreg)",
        r"\b(?:dias?|semanas?|mes|meses) (?:a mais|alem|apos|depois d[oa]) ?(?:o )?(?:prazo|previst|combinad"
        r"|prometid|data|$)",
        r"\b(?:longa|muita|tanta|semanas de) espera pel[oa] (?:entrega|produto|pedid|encomend)",
        rf"\b{_SHIPPED}\w* (?:so |apenas )?\w+ (?:dias?|semanas?|mes|meses) (?:depois|apos)(?= d[oa] (?:prazo|comb"
        rf"|prev|prom)|\W*$)",
        rf"\bnao (?:\w+ )?{_SHIPPED}\w* (?:no|na|dentro d[oa]|a) (?:prazo|data|dia|tempo)"
        rf"|\bnao cumpriment\w* d[oa] (?:prazo|data)",
    ),
    "unlike": (
        rf"\b(?:diferente|menor|maior|diverg|distint|abaixo)\w*\b.{{0,200}}\b{_SHOWN_AS}",
        r"\bnao (?:confere|corresponde|bate|condiz|e como)\b|\bpropaganda (?:engan|fals|mentir)",
        rf"\bnao (?:\w+ )?(?:igual|fiel|conforme|como|parec\w+|o que|o mesmo)\b.{{0,20}}\b{_SHOWN_AS}",
        r"\banuncio (?:engan|errad|incorret|mentir|fals)|\b(?:nada a ver|em desacordo|nao tem a ver) com (?:a |o )?"
        r"(?:foto|anunc|descri|site|imag)",
        r"\b(?:foto|anuncio|descricao|imagem|site)\w*\b.{0,12}\b(?:enganou|engana|enganos[oa]|iludiu|ilude|mente|mentiu"
        r"|mentiros[oa]|ilusori[oa]|mostra outr)",
    ),
    "silent": (
        r"\bdemor\w* (?:muito |demais )?(?:a|para|pra|em|n[oa]) (?:me |dar |d[ao]r? )?(?:respo|retorn"
        r"(?!\w*(?: (?:o|meu|d[oae]))+ (?:dinh|valor|quant|reemb)))",
        r"\b(?:nao|nunca|jamais) (?:(?:me|se|da|deu|dao|deram|ha|houve|receb\w+|obt\w+|tive|teve|consegu\w+"
        r"|nenhuma?|mais"
        r"|qualquer|a|uma) )*(?:respond|respost|retorn(?!\w*(?: (?:o|meu|d[oae]))+ (?:dinh|valor|quant))|contato"
        r"|falar\b|comunic|notici"
        r"|manifest|pronunci|posicion|satisfac|explicac)",
        r"\bninguem (?:(?:me|fez|entrou|em|deu|da|a) )*(?:contat|respond|respost|retorn|atend|procur|explic"
        r"|esclarec|fala\b)",
        r"\b(?:sem|falta de|ausencia de|nenhum\w*|nem|zero|nada de) (?:\w+ )?(?:respost"
        r"|retorno(?! d[oae] (?:meu )?(?:dinh|valor|quant))|contato|comunicac"
        r"|posicionam"
        r"|satisfac\w+ d[ao]|notici\w+ d[ao] (?:vend|loja))",
        r"\bignor(?!ant|anc)|\bsilenci|\bvacuo\b|\bfal\w+ sozinh|\bincomunic|\bdeix\w+ (?:de|sem) respo",
        r"(?<!celular )(?<!telefone )(?<!aparelho )(?<!smartphone )(?<!fone )(?<!relogio )"
        r"\bnao (?:me )?atend\w+ (?:(?:o|a|ao|as|aos|os) )?(?:telefon\w*+(?! nov)|ligac|chat"
        r"|mensag|whats|chamad|contat)",
        rf"\b{_SELLER} (?!(?:com|para|pra|d[aoe]s?) (?!loja|vend|client|empresa|site|compra)).{{0,15}}"
        r"\b(?:sumi[ur]|some\b|desaparec|calad|mud[oa]\b|ausente|omiss|inacessivel)(?!\w* n[oa] (?:caixa|kit|embal))",
        r"\b(?:perguntas?|mensage\w+|duvidas?|e-?mails?|contatos?|chamados?)\b.{0,20}\bsem (?:ser )?(?:respo|solu"
        r"|atend|lid)",
    ),
    "refused": (
        rf"\b(?:nao|nunca|nem) (?:me |ainda )?receb\w* (?:(?:o|a|meu|minha|de volta|nenhum\w*) ){{0,2}}{_MONEY}",
        r"\b(?:neg(?:a|ou|ad|at|aram)|recus|rejeit|indefer|vet(?:ou|ad)|imped|barr(?:ou|ad))\w*\b.{0,200}\b(?:troca"
        r"|trocar|reembols"
        r"|devoluc|devolver|dinheiro|estorn|ressarc|restituic)",
        r"\b(?:troca|reembols|devoluc|estorn|restituic|ressarc)\w*\b.{0,200}\b(?:negad|recusad|negou|rejeitad|indeferid"
        r"|vetad|barrad"
        r"|impedid|nao (?:aceit|conced|feit|realiz|efetu|consegu|permit|autoriz|aprov|atend))",
        r"\bnao (?:me )?(?:quis\w*|quer\w*|aceit\w+|deix\w+|permit\w+|autoriz\w+|fazem|fez) (?:a |o )?(?:troc"
        r"|devol|reembols)",
        r"\bnao (?:me )?troc(?:a|am|aram|ou|ar)\b",
        r"\b(?:cade|aguard\w+|sumi\w+ com|fic\w+ com|embols\w+|espera d[eo]|esper[oa]\w*) (?:(?:o|a|meu|pel[oa]"
        r"|por|d[oa]) )*"
        rf"{_MONEY}",
        rf"\b{_MONEY}\b.{{0,30}}\b(?:nao|nunca|jamais) (?:(?:me|foi|foram|e|ser|se|lhe|ha|ainda|mais) )*(?:vem"
        rf"|veio|vir|cai"
        r"|entr|sai|cheg|receb|realiz|efet|devol|reembols|estorn|conced|liber|process|pag|acont|ocorr|feit|conclu"
        r"|restitu|ressarc"
        r"|aparec|volt)",
        r"(?<!ficou )\b(?:sem|nada de|falta d[eo]|ausencia de|nem sinal d[oa]) (?:(?:o|a|ter|receber"
        r"|meu) )*(?:reembols|estorn"
        r"|ressarc|restitu|dinheiro|(?:valor|quantia) (?:pag|de volta|devolv))",
        r"(?<!ficou )\b(?:nao|nunca|sem|jamais|ninguem|nem) (?:(?:me|foi|ter|quer|quis|querem|vai|vao|fui|ser|ainda"
        r"|nada|houve|lhe) )*"
        r"(?:devolv(?!\w* (?:a |minhas? )?(?:ligac|mensag|contat))|reembols|estorn|ressarc|restitu)",
        r"\bnem (?:um |uns )?(?:centavo|tostao|real)\b|\b(?:nada|centavo)\b.{0,12}\b(?:ressarc|reembols|estorn"
        r"|de volta)",
        r"\b(?:demor|atras|lentid|enrol|dificuld|burocra|resist|pendenc)\w* (?:\w+ )?(?:n[oa]|d[oa]|para|em|com"
        r"|pra)? ?(?:a |o )?"
        r"(?:reembols|estorn|ressarc|restitu|devol|dinheiro|troca)",
        r"\b(?:reembols|estorn|ressarc|restituic|devolucao)\w* (?:\w+ ){0,3}(?:pendent|atrasad|demorad|travad"
        r"|parad|enrolad|em aberto"
        r"|lent|emperrad|bloquead)",
        r"\bdificult\w+ (?:a |n?a )?(?:troca|devoluc)",
    ),
    "service": (
        rf"\b{_SELLER}\b.{{0,200}}\b(?:ruim|gross|rude|pessim|horriv|precari|arrogant|deseduc|mal[- ]educ|desrespeit"
        rf"|estupid|debochad"
        r"|desprepar|antipat|indiferen|desatenc|deplor|lament|hostil|agressiv|desinteress|nao (?:resolv|ajud"
        r"|soluci|se import))",
        r"\bfalta de (?:respeito|educacao|consideracao|cortesia|preparo d[oa])|\b(?:desrespeito|descaso)(?:$"
        r"| (?:com|a)"
        r" (?:(?:o|a|os|as) )?(?:quem|client|compra|consum))",
        r"\bgross(?:eir|eri|o\b|a\b|os\b)|\b(?:mal|pessimamente) (?:atendid|tratad)|\bma (?:educacao|vontade)\b"
        r"|\bmau atend"
        r"|\bpouco caso\b|\btrat\w+ (?:\w+ )?(?:mal\b|com (?:desprezo|grosseria|descaso|ironia|deboche))",
    ),
    "invoice": (
        r"\b(?:nota|documento|cupom|comprovante) fiscal\b|\bnf(?:-?e)?\b|\bdanfe\b",
        r"\bsem (?:a |emitir |emissao d[ea] |enviar |mandar )?nota\b(?! \d)",
        r"\bnao (?:me )?(?:emit|envi|mand|forne|entreg)\w* (?:a )?nota\b(?! \d)|\bfalta d[ae] nota\b(?! \d)",
    ),
    "wrong": (
        rf"\b(?:errad|trocad)[oa]s?\b|\b(?:outr[oa]s?|diferente d[oa]s?) (?:produto|{_ITEM}|pedid|comprad"
        rf"|mercador)|\b{_SHIPPED}\w* outras? coisas?\b",
        rf"\b{_ITEM} (?:\w+ )?(?:divergente|incorret|equivocad|inadequad\w(?! d[ao] (?:caixa|embal))"
        rf"|que nao {_ASKED}|nao (?:pedid|solicit"
        rf"|encomend|escolh))",
        rf"\bcor(?:es)?\b.{{0,15}}\b(?:diferent|distint|diverg|nao (?:confere|bate))(?!\w*\b.{{0,25}}{_SHOWN_AS})",
        rf"\b(?:divergencia|erro|equivoco|engano|inversao|confusao) (?:d[aeo]|n[ao]|entre) (?:[ao] )?(?:{_ITEM}"
        rf"|(?:pedido|envio|separac\w*+)(?! (?:atras|(?:d[oae]s?|n[oa]s?|em) (?!produt|item|mercad|cor|tam|model|client"
        rf"|loja|vend|encom))))"
        rf"(?!\w*\b.{{0,30}}{_SHOWN_AS})",
        r"\btroca (?:n[ao]|d[ae]) cor(?:es)?\b(?! d[ae] (?:caixa|embal))|\b(?:foi|foram|mandaram|enviaram) trocad",
        rf"\b(?:diferente|distint[oa]|divers[oa]|maior|menor)s? (?:d[oae]s? |que )+.{{0,20}}\b{_ASKED}{_AS_SUCH}",
        rf"\bnao (?:e|era|foi|veio|vieram|{_SHIPPED}\w*) (?:o|a|os|as) (?:\w+ ){{0,3}}{_ASKED}{_AS_SUCH}",
        rf"\b{_SHIPPED}\w* outr[oa]s? (?!respo|retorn|mensag|e-?mail|contat|prazo|data|dia|vez|propost|cobranc|bolet"
        rf"|defeit|problem"
        r"|transport|loja|vended|client|pess|motiv|descul|hora|semana|mes|caixa|embal|foto|nota)[a-z]{3,}",
        rf"\b{_SHIPPED}\w*(?: (?!{_STATE})\w+){{1,4}} (?:em vez|ao inves|no lugar|em lugar) d[oae]s?\b"
        rf"(?! (?:\d+\b(?! ?v)|um|uma|dois|duas|tres|quatro|cinco|seis)\b)(?! (?:\w+ )?{_STATE})",
    ),
    "incomplete": (
        r"\b(?:falt\w+|(?:veio|vieram|chegou) sem) (?:o |a |os |as )?(?:carregador|cabo|manual|tampa|controle"
        r"|parafus|acessor"
        r"|fonte|suporte|alca|pecas?\b)",
        r"\bpedi\w* (?:\d+|dois|duas|tres)\b.{0,15}\b(?:veio|cheg\w+|receb\w+) (?:so |apenas )?(?:\d+|um|uma)\b",
        r"\b(?:veio|vier|cheg|envi|receb|mand)\w* (?:so |apenas |somente )?(?:\d+|um|uma|dois|duas)\b"
        r".{0,30}\b(?:em vez de|ao inves de|dos|das|de|e nao) (?:\d+|dois|duas|tres)\b",
        r"\b(?:produto|prod|pedido|kit|conjunto|entrega|veio|chegou|mercadoria)\w*\b.{0,12}\bincomplet",
        r"\bfalt(?:ou|aram|ando|am|a) (?:\w+ )?(?:pec|part|iten|item|acessor|unidad|parafus"
        r"|metade)\w*+(?! n[oa] (?:estoque|site))",
        r"\bentrega (?:parcial|pela metade)|\b(?:so|apenas|somente) (?:a metade|metade|(?:uma )?parte) d[oae]",
        r"\b(?:parte|peca|iten|item|acessori|unidade)s? (?:\w+ ){0,2}(?:faltand|faltant|ausent)|\bmenos (?:pec"
        r"|iten|unidad)\w* ",
        r"\bquantidade (?:menor|errad|incorret|inferior|insuficient)|\b(?:veio|vieram|chegou) (?:faltando"
        r"|pela metade)",
    ),
    "cancelled": (
        rf"\b{_PARCEL} (?:\w+ )?cancelad|\bvenda (?:\w+ )?(?:cancelad|sem estoque)|\bcancel(?:aram|ou|amento)\b"
        r"(?! (?:a |o |da |do )?(?:assin|cart|troca|cadast))|\bindisponibilidade d[oe]|\bvend\w+ (?:o que|sem"
        r"|produto que) nao t[ei]\w+"
        r"|\b(?:falta|sem) (?:de |o |produto (?:em|no) )?estoque|\bpor indisponibilidade",
    ),
    "poor": (
        r"\b(?:qualidade|material|acabament|costura|tecid|plastico|confecc)\w*\b.{0,200}\b(?:ruim|frac|baix|pessim|mal"
        r"|frag|inferior"
        r"|duvid|sofri|mediocr|infim|horriv|pobre|decepc|terriv|precari|lament|vagabund|ordinari|vergonh|aquem"
        r"|questionav|tosc"
        r"|insatisf|deix\w* (?:\w+ )?a desejar)",
        r"\b(?:padrao|nivel)\b.{0,20}\b(?:ruim|pessim|inferior|sofri|mediocr|deix\w* (?:\w+ )?a desejar)",
        r"\b(?:mau|pessim[oa]) (?:acabamento|material)|\b(?:falhas?|defeitos?|problemas?|imperfeic\w+"
        r"|erros?) (?:n[oa]|d[eo])s? "
        r"(?:acabament|costur)",
        r"\b(?:mal|ma) ?-?(?:acabad|feit|qualidade|costurad|fabricad)|\bfragil|\b(?:baix|pouc|pessim|duvidos"
        r"|nenhum)\w*"
        r" qualidade|\bacabamento ruim|\b(?:falta de|sem) qualidade|\bfragilidade",
        r"\ba desejar (?:n[oa]|em|quanto a[o]?) (?:\w+ ){0,3}(?:qualid|materi|acabam|tecid)|\bporcaria\b"
        r"|\bvagabund[oa]|\bvagaba\b",
    ),
    "broken": (
        r"\bdefeit|\b(?:veio|vier|cheg)\w* com (?:um |algum )?(?:problema|avaria|falha)|\bquebr(?!a-? ?cabec"
        r"|a-? ?galho)",
        r"(?<!rastreio )(?<!rastreamento )(?<!entrega )(?<!pedido )\bparou\b|\bparad[oa] de func|\bdeixou de func",
        rf"\bnao (?:func|lig|carreg|acend|esquent|gela|aquec)|{_NOT_ITS}\bnao (?:presta(?! \w*atend)"
        r"|conecta(?! com \w+ client)|reconhec(?!id|em |\w* (?:o |a |meu )*(?:client|pag|cart|erro|compra)))"
        r"|\bqueim(?!ad\w* com)|\bpif(?:ou|ad)"
        r"|\bestragou",
        r"\b(?:trincad|rachad|lascad|estilhac|empenad|rachou|trincou|enguic)|\b(?:mau|mal) funcion"
        rf"|{_NOT_ITS}\binoperante(?! n[oa] (?:site|banco|loja))"
        r"|\bsem func(?!ionari)|\bfalha (?:n?d?o (?:produto|aparelho|func)"
        r"|tecnica(?! n[oa] (?:site|app|banc|loja|sist)))",
        rf"\bdurou (?:so|apenas|somente|menos|pouco|nem)\b{_SHORT_JOY}"
        rf"|\bdurou \w+ (?:dia|semana|hora|uso)s?+{_SHORT_JOY}"
        rf"|\b(?:nao durou|dur\w+ pouco){_SHORT_JOY}",
        rf"\b{_THING} (?:(?!embal|caixa|pacot|embru)\w+ ){{0,3}}(?:danific|avari|estrag|arranh|riscad|amassad"
        rf"|inutil|com falha)",
    ),
}
KINDS = {kind: re.compile("|".join(ways)) for kind, ways in _WAYS.items()}
"""Of folded text."""

PRAISE = {
    kind: re.compile(pattern)
    for kind, pattern in {
        "punctual": r"\b(?:n[oa]|dentro d[oa]|antes d[oa]|cumpr\w+ (?:com )?[oa]|respeit\w+ [oa]) (?:prazo|data"
        r"|dia|previst|combinad)"
        r"|\b(?:prazo|data|dia)\b (?:\w+ ){0,3}(?:cumpri|respeit|certinh|combinad)|\bpontual"
        r"|\bantes do (?:previst|esperad|tempo)"
        r"|\b(?:rapid|agil|ligeir|veloz)|\badiantad|\bantecip|\bdentro do (?:previst|esperad)|\bem dia\b",
        "sound": r"\b(?:cheg\w+|veio|vier\w+|tudo|produto|mercadoria|item) (?:\w+ ){0,2}(?:ok|bem|cert\w+"
        r"|direit\w+|inteir\w+"
        r"|perfeit\w+|intact\w+|em ordem|em perfeit\w+|sem problema\w*)\b|\bem (?:ordem|bom estado"
        r"|perfeito estado)\b",
        "service": r"\b(?:atenci|prestativ|educad|gentil|cordia|simpatic|cuidados|solicit[oa]\b|trata o client)"
        r"|\b(?:atendiment|vendedor|suporte|loja|atendent)\w* (?:\w+ ){0,2}(?:exempl|otim|excel|bo[am]|perfeit"
        r"|impec|nota|maravil)"
        r"|\bbem (?:tratad|atendid)|\btratad\w* como\b",
        "as told": r"\b(?:como|conforme|dentro d[oa]|de acordo com) (?:o |a )?(?:esperad|anunciad|descri|combinad"
        r"|previst|promet|foto)"
        r"|\bfiel a[o]?\b|\bigual (?:a|ao) (?:foto|anunc|descri|site)|\bcorrespond\w+|\b(?:atend"
        r"|superou)\w* .{0,12}expectativ",
        "fine": r"\b(?:otim|boa|excelent|perfeit|maravilh|primeira|muita|alt[ao]) (?:\w+ )?qualidad"
        r"|\bqualidad\w* (?:\w+ ){0,2}"
        r"(?:otim|bo[am]|excel|perfeit|impec|alt)",
    }.items()
}
"""What a folded text is content with: «no dia combinado» and «cumpriu a data» are one."""

_SAME = (
    "maquiagem make maquiagens cosmetico",
    "celular telefone smartphone aparelho",
    "notebook note laptop computador",
    "televisao televisor tv",
    "geladeira refrigerador",
    "xampu shampoo",
    "perfume colonia fragrancia",
    "tenis calcado sapato",
    "dinheiro valor quantia",
    "solucao resultado",
    "sofa estofado",
    "bicicleta bike",
    "livro obra",
    "racao alimento",
)
_LITTLE = re.compile(r"z?inh([oa])s?$")


_NAMES = [frozenset(group.split()) for group in _SAME]


@lru_cache(maxsize=4096)
def called(word: str) -> frozenset[str]:
    """Beginnings of what a word's thing is called as well: «capa» for «capinha», «make» for «maquiagem»."""
    plain = _LITTLE.sub(r"\1", word)
    own = {word, plain, word.rstrip("s")}
    same = (group for group in _NAMES if not own.isdisjoint(group))
    return frozenset(name[:5] for name in {word, plain}.union(*same))
