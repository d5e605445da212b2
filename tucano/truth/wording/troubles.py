"""Which trouble a text names, in whatever words, and what it praises; all in plain words.

Each kind is what only that trouble is called: nobody who waits for an answer, or for his money, waits for a parcel.
"""

import re

_COINS = r"(?:reembolso|estorno|ressarcimento|restituicao|devolucao do (?:valor|dinheiro)|dinheiro|valor pago)"
_GOODS = r"(?:produtos?|pedidos?|encomendas?|mercadorias?|compras?|entregas?|itens|item|remessas?|pacotes?)"
_STUCK = (
    r"(?:parad[oa]|travad[oa]|congelad[oa]|perdid[oa]|retid[oa]|pres[oa]|empacad[oa]|emperrad[oa]|estagnad[oa]"
    r"|sumi(?:u|d[oa]))"
)
_ORDERED = r"(?:pedi|pediu|pedid[oa]s?|pedimos|comprei|comprou|comprad[oa]s?|encomend\w+|solicit\w+|escolh\w+)"
_PICTURE = r"(?:anunci|descri|divulgad|\bfotos?\b|\bimage\w+|\bsite\b|prometid)"
_SHOP = r"(?:atendimento|vendedor[ae]?s?|atendentes?|loja|lojista|suporte|sac|empresa|equipe)"
_PART = r"(?:cor|modelo|item|tamanho|produto|voltagem|numeracao|marca|versao)"
_SENT = r"(?:veio|vieram|cheg\w+|receb\w+|mandaram|enviaram|entregaram)"
_WHOLE = (
    r"\b(?! (?:de (?!presente|natal)|d[oa] (?:nota|dinheiro|valor|reembols|estorn|troca|cart|bolet)|ser (?!entreg)"
    r"|funcion"
    r"|prest|serv|agrad|n[oa] (?:estoque|site)|em estoque|mudar|melhorar|baixar|ficar))"
)
"""What follows no goods, but what else is waited for («pedido de desculpas»)."""
_MEANWHILE = (
    r",?(?>(?: (?:esta|ficou|fica|foi|segue|seguiu|continua|permanece|se|encontra|consta|como|que|ha|faz|mais|de|um|uma"
    r"|\d+"
    r"|dois|duas|tres|quatro|cinco|seis|sete|oito|nove|dez|quinze|vinte|trinta|vari[oa]s|muit[oa]s"
    r"|dias?|semanas?|mes|meses|ainda|totalmente|sempre|agora|e|d[oa]|meu|minha|cliente|produto|pedido"
    r"|encomenda|n[oa]s?|correios?|transportadora|transporte|centro|caminho|alfandega|rastreio|presente|comprei"
    r"|comprou|pediu?|fez)\b){0,9})"
)
_SHIPPING = (
    r"(?! (?:(?:n[oa]|pel[oa]) (?:pagam|site|app|aplicat|sistema|cart|banco|carrinho|caixa|preco|valor)|de raiva))"
)
"""What may stand between goods and how they are stuck, and what is no place of theirs behind it."""
_NO_COINS = r"(?!(?: (?:o|meu|d[oae]))+ (?:dinh|valor|quantia))"
_HOW = (
    r"(?:tarde|cedo|rapid|inteir|nov[oa]s?\b|silenci|gross|ignor|desculp|promess|ofensa|respost|ajuda|nada\b|dinheiro"
    r"|reembols"
    r"|resol|soluc|atenc|educac|respeito|segunda|terca|quarta|quinta|sexta|sabado|domingo|hoje|ontem|amanha|desconto"
    r"|janeiro|fevereiro|marco|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro"
    r"|credito|cupom|vale\b|b[oa]m?\b|ruim|bem\b|mal\b|quebr|limp|suj|cheio|vazi|dias?\b|mes(?:es)?\b|prazo"
    r"|(?!dourad|pratead|rosad|estampad|listrad|teclad|calcad|cadead|bordad|pedid|comprad|solicitad|encomendad|escolhid"
    r"|anunciad|vestid|tecid|errad|trocad)\w+[aiu]d[oa]s?\b)"
)
"""How something comes, and what no parcel holds: no thing that comes in another's place."""
_NO_SHOPS = "".join(
    rf"(?<!\b{name} )"
    for name in (
        *("atendimento", "vendedor", "vendedora", "loja", "lojista", "suporte", "sac", "empresa", "equipe", "site"),
        *("garantia", "transporte"),
        *("chat", "conta", "sistema", "app", "aplicativo", "cupom", "entrega", "transportadora", "frete", "atendente"),
    )
)

_SAID: dict[str, tuple[str, ...]] = {
    "box": (
        r"(?:embalagem|pacote|caixa)\b.{0,40}(?:danific|amassad|rasgad|abert|violad|avariad|molhad|esmagad|rompid"
        r"|umid|encharcad)|\blacre (?:\w+ )?(?:rompid|violad|abert|quebrad)",
        r"(?:danificad|amassad|rasgad|violad)[oa] .{0,12}(?:embalagem|pacote|caixa)",
        r"\b(?:embalagem|embrulho)\b.{0,20}\b(?:fragil|precari|pessim|ruim|frac|destruid|estragad|furad|suj"
        r"|inadequad)",
        r"\bmal[- ](?:embalad|embrulhad|acondicionad|protegid)|\bsem (?:protecao|plastico[- ]bolha"
        r"|embalagem adequada)",
    ),
    "absent": (
        r"(?<!reembolso )(?<!estorno )\b(?:nao|nunca|jamais)\b.{0,12}"
        r"(?:chegou|chegaram|recebid|recebi|recebeu|entregue|entregaram)"
        r"(?! (?:(?:o|a|um|uma|nenhum\w*|qualquer|nem|ainda|meu|minha|sequer) )*(?:com\b|atras|quebr|danific|amass"
        r"|errad|rasgad|trocad|abert|resposta|retorno|contato|satisf|explicac|notici|dinheiro|reembols|estorn|valor"
        rf"|nota\b)(?!\w*(?: (?!e |nem )\w+)?,? (?:e|nem) (?:(?:nem|o|a|meu|minha) )?{_GOODS}(?:\Z|[,.;])))",
        r"\bextravi|\bnao entrega\b|\bnada de (?:chegar|receber)|\bnao recebimento(?! d[eo] (?:respo|reemb|esto"
        r"|valor|dinh))",
        r"entrega (?:pendente|nao feita|em aberto|travada|parada|que nao (?:aconteceu|veio|ocorreu|chegou)"
        r"|sem previsao)",
        r"\bsem (?:o |meu )?(?:produto|pedido|mercadoria|encomenda)(?=\s*(?:[.,;!]|\Z)| (?:e|nem|ate|ha)\b)",
        r"\bsem (?:receber|chegar|ter recebido|ser entregue|a entrega)(?! (?:respo|retorn|reemb|estorn|dinh"
        r"|o dinh|o valor))",
        r"\b(?:falta|ausencia) d[ea] entrega|\bfalta (?:chegar|entregar|receber)|\bnada (?:foi entregue|chegou"
        r"|recebido)",
        rf"\b(?:nada|nem sinal|sumico) d[oa] (?:meu |minha )?{_GOODS}{_WHOLE}|\bcade (?:o|a|meu|minha) (?:meu "
        rf"|minha )?{_GOODS}{_WHOLE}",
        rf"\b(?:(?<!\bd[oae] )|(?<=entrega d[oae] )|(?<=envio d[oae] )|(?<=status d[oae] ))"
        rf"(?:pedido|encomenda|entrega|pacote|remessa|mercadoria){_MEANWHILE} {_STUCK}\b{_SHIPPING}",
        rf"(?<!\bd[oae] )\bcompra{_MEANWHILE} (?:parad[oa]|congelad[oa]|retid[oa]|sumi(?:u|d[oa])){_SHIPPING}",
        rf"\b(?:rastrei\w+|rastreamento|transport\w+)\b.{{0,20}}(?:{_STUCK}|parou|estacion|nao (?:atualiz|muda"
        rf"|anda|sai)"
        r"|sem (?:atualiz|moviment|andament))|\bsem (?:atualizacao|movimentacao) n?d?[oa] (?:rastrei|pedido"
        r"|encomenda)",
        rf"\b(?:aguard(?:a|o|ando|ava)|esperando|(?:a )?espera (?:\w+ )?pel[oa]|a espera d[oa]|espera por) (?:o "
        rf"|a |meu |minha "
        rf"|chegar )?{_GOODS}{_WHOLE}",
        rf"\ba espera d[oa] que (?:se )?{_ORDERED}|\b(?:de|com as) maos vazias|\bnao (?:houve|teve|ocorreu"
        rf"|fizeram) (?:a )?entrega",
        rf"\b{_STUCK} n[oa]s? (?:transport|correio|centro|caminho|alfandega)|\b(?:desapareceu"
        rf"|sumiu) n[oa] (?:correio|transport)",
        r"\b(?:produto|encomenda|mercadoria|pedido)\b.{0,12}\b(?:desaparec|nao (?:apareceu|veio))",
    ),
    "late": (
        r"\b(?:atras|demor)\w*+(?! (?:(?!e\b|nem\b)\w+ ){0,2}(?:respo|retorn|atend|contato|reembols|estorn|ressarc"
        r"|restitu|devol|dinheiro|troca))",
        r"\bfora d[oa] (?:prazo|data)|\b(?:depois|alem|apos) d?[oa] (?:prazo|data|combinad|previst|prometid)"
        r"|\bentrega (?:lenta|tardia"
        r"|morosa|arrastada|vagarosa)",
        r"\b(?:data|prazo|previsao)\b.{0,25}\b(?:descumprid|desrespeitad|estourad|estourou|vencid|venceu"
        r"|ultrapassad|excedid|furad"
        r"|perdid|nao (?:foi )?(?:cumpri|respeit|obedec))",
        r"\b(?:descumpr|desrespeit|estour|ultrapass|perd|exced|nao cumpr"
        r"|nao respeit)\w* (?:com )?(?:[oa] )?(?:prazo|data|previsao)",
        rf"\b{_SENT} (?:muito |bem |so )?(?:tarde\b|tardiamente|semanas depois|dias depois)|\bmuito tempo (?:para"
        rf"|pra) (?:cheg|entreg)",
        r"\b(?:lentidao|morosidade) (?:n|d)[oa] (?:entrega|envio|transporte|frete)",
        r"\blevou (?:mais de |quase )?\d+ (?:dias|semanas|meses) (?:para|pra|a) (?:chegar|ser)|\b(?:dias?"
        r"|semanas?) (?:alem|depois|apos)"
        r" (?:d?[oa] )?(?:prazo|data|combinado|previsto|prometido)",
        rf"\b{_SENT} (?:so )?\d+ (?:dias|semanas) (?:depois|apos)\b|\bnao {_SENT} a tempo|\bso depois (?:entreg|cheg)",
        rf"\bnao {_SENT} (?:no|na|dentro d[oa]) (?:prazo|data|dia)|\bnao cumprimento d[oa] (?:prazo|data)",
    ),
    "unlike": (
        rf"(?:diferente|menor|maior|diverg\w{{1,20}}|abaixo|distint\w{{1,20}})\b.{{0,30}}{_PICTURE}",
        r"\bnao (?:corresponde|confere|condiz|bate)\b|propaganda (?:engan|fals|mentir)|anuncio (?:engan|mentir|fals)",
        rf"\bnao (?:e|era|veio|foi|esta) (?:bem )?(?:igual|como|fiel|conforme|o que)\b.{{0,15}}{_PICTURE}",
        r"\bnada a ver com (?:o|a) (?:foto|anuncio|descricao|site|imagem)|\bem desacordo com (?:o|a) (?:anunc"
        r"|descri|foto|site)",
        r"\b(?:foto|imagem|anuncio|descricao)\b.{0,30}\b(?:era|e|estava|veio) diferente",
        r"\b(?:foto|imagem|anuncio|descricao)\b.{0,10}\b(?:engan[ao]|enganou|ilude|iludiu|mente|mentiu)",
    ),
    "mute": (
        r"\bdemor\w* (?:muito |tanto )?(?:a|para|pra|em|n[oa]) (?:me |dar (?:um )?)?"
        rf"(?:respo|retorno\b{_NO_COINS}|retornar\b{_NO_COINS})",
        r"\b(?:nao|nunca|jamais|sem|falta de|ausencia de|zero|nada de|nenhum|nenhuma)\b.{0,14}\b(?:respo"
        rf"|retorn[a-z]*+{_NO_COINS}|contato|comunica|posicionament)|\bnem (?:uma )?(?:retorno|resposta|contato)\b"
        r"|\bvacuo\b"
        r"|\bincomunicavel",
        r"\bnao (?:me )?(?:consegu\w+ (?:falar|ser atendid)|deu (?:notic|satisf|explic|sinal)"
        r"|dao (?:notic|satisf|explic|sinal)"
        r"|deram (?:notic|satisf"
        r"|explic|sinal)|se (?:manifest|pronunci|posicion))",
        r"\bignora(?!n)|\bignorad|\bsilencio\b|\bfal\w+ sozinh|\bninguem (?:me |fez |entrou em |deu )*(?:respo"
        r"|retorn|atend|contat"
        r"|explic|da retorno|deu)",
        rf"\b{_SHOP} (?!(?:d[aoe]|para|com) (?!loja|vend|empresa|client|site)).{{0,12}}"
        r"\b(?:sumi[ur]|some\b|desaparec|calad|mud[oa]\b|ausente|omiss)(?!\w* na (?:caixa|embalagem))",
        r"(?<!celular )(?<!telefone )(?<!aparelho )(?<!smartphone )(?<!fone )(?<!relogio )"
        r"\bnao atend\w+ (?:o |ao |a |as )?(?:telefon\w*+(?! nov)|ligac|chat|mensag|whats|chamad)"
        r"|\bmensagens nao (?:lidas"
        r"|vistas)",
    ),
    "withheld": (
        rf"\b(?:nao|nunca) (?:me |ainda )?receb\w+ (?:(?:o|a|meu|minha|nenhum) ){{0,2}}{_COINS}",
        r"(?:neg|recus|rejeit|vet)(?:a|ou|ad[oa]|aram|ativa)\b.{0,40}(?:troca|reembolso|devoluc|dinheiro|estorno"
        r"|restituic|ressarc)",
        r"(?:troca|reembolso|devolucao|estorno|restituicao|ressarcimento)\b.{0,40}(?:negad|recusad|rejeitad"
        r"|barrad|vetad|impedid"
        r"|nao (?:aceit|autoriz|aprov|permit|consegu))",
        r"\bnao (?:permite|deixa)\w*\b.{0,20}\btroca|\bnao (?:quer|quis|querem|aceit\w+) (?:me )?(?:devolv"
        r"|reembols|estorn)",
        r"\bnao (?:quis|quer|querem|aceit\w+|fazem|fez) (?:a )?tro[cq]|\bnao (?:me )?troc(?:a|am|ou|aram)\b"
        r"|\bimped\w+ a troca",
        r"(?<!ficou )(?<!ficou o )\b(?:sem|nada de|falta d[eo]|ausencia d[eo]) (?:o |ter o |receber o "
        r"|meu )?(?:reembolso|estorno"
        r"|ressarcimento|restituicao|dinheiro(?: de volta)?|valor (?:de volta|pago))",
        rf"\b{_COINS}\b.{{0,30}}\b(?:nao|nunca|jamais) (?:(?:me|foi|e|se|ha|ainda|lhe|sendo) )*(?:ve[mi]|veio|cai"
        rf"|entr|sa[iu]|cheg"
        r"|volt|receb|feit|pag|realiz|efetu|efetiv|devolv|conced|liber|process|conclu|aconte|ocorr|aparec)",
        r"\b(?:nao|nunca|ninguem|nem|sem|jamais) (?:(?:me|foi|quer|quis|ter|vai|vao|nada|houve|ha|lhe|ser|ainda) )*"
        r"(?:devolv(?!\w* (?:a |minhas? )?(?:ligac|mensag|contat))|devolucao|reembols|estorn|ressarc|restitu)",
        r"\b(?:demora|atraso|lentidao|enrola\w*|dificuldade|burocracia|pendencia|resistencia)\b (?:\w+ )?(?:n[oa]"
        r"|d[oa]|de|para|com|em"
        r"|pra)(?: [ao])? (?:reembols|estorn|ressarc|restitu|devol|dinheiro|troca)",
        r"\b(?:aguard(?:a|o|ando)|esper(?:a|ando)|cade) (?:pel)?(?:o|a|meu|d[oa]) (?:meu )?(?:reembolso|estorno"
        r"|ressarcimento|restituicao"
        r"|dinheiro|devolucao)|\bnem (?:um )?(?:centavo|tostao|real)\b|\bnada (?:foi )?(?:ressarcid|devolvid"
        r"|reembolsad|estornad)",
        r"\b(?:reembolso|estorno|ressarcimento|restituicao|devolucao)\b (?:\w+ ){0,2}(?:pendente|atrasad|demorad"
        r"|travad|parad|enrolad"
        r"|em aberto|lent)|\bfic(?:ou|aram) com (?:o|meu) (?:meu )?(?:dinheiro|valor)"
        r"|\bdificult\w+ (?:n?a )?(?:troca|devoluc)",
    ),
    "rude": (
        rf"{_SHOP}\b.{{0,20}}(?:ruim|gross|rude|pessim|horrivel|\bmal\b|mal[- ]educad|arrogan|desrespeit|estupid"
        rf"|debochad|precari"
        r"|desprepar|indiferen|antipatic|desatenc|lamentavel|nao (?:resolv|ajud|solucion))",
        r"\bgrosseri|\bgross[oa]|\b(?:mal|pessimamente) (?:atendid|tratad)|falta de (?:educacao|respeito|cortesia"
        r"|consideracao)"
        r"|\bma (?:educacao|vontade)\b|\bmau atendimento|\bpouco caso\b",
        r"\b(?:desrespeito|descaso)(?:\Z| (?:com|a) (?:[oa]s? )?(?:quem|client|compra|consum))"
        r"|\btratad[oa]s? (?:mal|com (?:desprezo|grosseria|deboche|ironia))",
    ),
    "to fetch": (r"\bentreg\w* em casa|\b(?:busc|retir|ir a)\w*\b.{0,40}\b(?:correio|agencia)",),
    "bill": (
        r"\b(?:nota|documento|cupom|comprovante) fiscal|\bnf(?:-?e)?\b|\bdanfe\b",
        r"\bsem (?:a |emitir |enviar |emissao de )?nota\b(?! \d)|\bnao (?:emit\w+|envi\w+"
        r"|mand\w+) (?:a )?nota\b(?! \d)",
    ),
    "sold out": (
        r"\b(?:sem|falta de|nao (?:tinha|tem|havia) (?:mais )?) ?estoque|\bestoque (?:tinha )?(?:acab|esgot|zer)",
        r"\b(?:pedido|compra|venda|encomenda)s? (?:foi |foram |ja )?cancelad|\bcancelaram\b|\bcancelamento\b(?! negad)"
        r"|\b(?:loja|vendedora?|site|empresa) cancelou|\bindisponi(?:bilidade|vel)\b",
    ),
    "other": (
        rf"\b(?:maior|menor)(?:es)? (?:do )?que [oa] {_ORDERED}",
        r"\b(?:errad|trocad)[oa]s?\b|\boutr[oa]s? (?:produto|item|modelo|cor|cores|mercadoria|tamanho|marca)"
        rf"|\b{_SENT} outr[oa]s? (?!vez|dia|mes|ano|data|prazo|semana|mensag|email|codigo|link|boleto|pedid|encomend"
        r"|lote|entreg|pessoa|loja|cupom|nota|foto|respost|transport|em\b|de\b|para\b|igual|nov)\w+",
        rf"{_PART} (?:divergente|incorret|equivocad|diferente d[oae] que|que nao {_ORDERED}|nao (?:pedid"
        rf"|solicitad|encomendad))",
        rf"\b(?:diferente|distint[oa])s? d[oa]s? (?:\w+ ){{0,2}}(?:que )?{_ORDERED}",
        rf"\b(?:divergencia|erro|equivoco|engano|inversao) (?:d[eoa]|n[oa]) (?:{_PART}|(?:pedido|envio|separacao)"
        rf"(?! atras| (?:d[eoa]|n[oa]) (?!{_PART}|mercad|encom|client|loja|vend)))\b"
        rf"(?!.{{0,30}}{_PICTURE})|\btroca (?:d[ea]|n[ao]) cor(?:es)?\b(?! da (?:caixa|embal))",
        rf"\bcor\b.{{0,12}}\b(?:diferente|distinta|divergente)(?!.{{0,25}}{_PICTURE})",
        rf"\bnao (?:e|era|foi|veio|mandaram|enviaram|receb\w+|entregaram) (?:o|a) (?:\w+ ){{0,3}}{_ORDERED}"
        r"(?! (?:de|com) (?:prazo|descont|frete))",
        rf"\b{_SENT}(?: (?!{_HOW})\w+){{1,4}} (?:em vez|ao inves|no lugar) d[oae]s?\b"
        rf"(?! (?:\d+\b(?! ?v)|uma?\b|dois|duas|tres|quatro|cinco))(?! (?:\w+ )?{_HOW})",
    ),
    "poor": (
        r"(?:qualidade|material|acabamento|costura|tecido|plastico)\b.{0,25}(?:ruim|frac|baix|pessim|mal|fragil"
        r"|inferior|duvidos"
        r"|sofrivel|mediocre|horrivel|terrivel|pobre|precari|lamentavel|vagabund|ordinari|tosc"
        r"|deix\w* (?:muito )?a desejar)",
        r"\b(?:mau|pessimo|(?:falhas?|problemas?) (?:no|de)) acabamento\b",
        r"\b(?:padrao|nivel)\b.{0,18}(?:\bruim|pessim|inferior|sofrivel|mediocre|deix\w* (?:muito )?a desejar)",
        r"\b(?:baixa|ma|pessima|pouca|duvidosa|nenhuma|falta de|sem) qualidade|\bmal[- ]?(?:acabad|feit|costurad"
        r"|fabricad)|\bfragil"
        r"|\bporcaria\b|\bvagabund[oa]\b|\ba desejar (?:n[oa]|em|quanto) (?:\w+ )?(?:qualidade|material"
        r"|acabamento|tecido)",
    ),
    "short": (
        r"\b(?:falt(?:a|ou|aram|ando)|(?:veio|vieram|chegou) sem) (?:o |a |os |as )?(?:carregador|cabo|manual"
        r"|tampa|controle"
        r"|parafus|acessorio|fonte|suporte|alca|peca)",
        r"\bpedi\w* (?:\d+|dois|duas|tres)\b.{0,15}\b(?:veio|vieram|chegou|recebi|recebeu) (?:so |apenas )?(?:\d+"
        r"|um|uma)\b",
        r"\b(?:veio|vieram|chegou|chegaram|enviaram|mandaram|recebi|recebeu)\b (?:so |apenas |somente )?"
        r"(?:\d+|um|uma|dois|duas)\b.{0,30}\b(?:em vez de|ao inves de|d[eoa]s?|e nao) (?:\d+|dois|duas|tres)\b",
        r"\b(?:veio|vieram|chegou|chegaram|recebi|recebeu|havia) (?:so|apenas|somente) (?:\d+|uma?)(?=\s*(?:[.,;]|\Z))"
        r"|\b(?:veio|chegou|pedido|entrega|kit) (?:so )?pela metade",
        r"\b(?:produto|prod|pedido|kit|conjunto|entrega|veio|chegou|mercadoria)\b.{0,12}\bincomplet",
        r"\bfalt(?:ou|aram|ando|am|a) (?:\w+ )?(?:pec|part|iten|item|acessori|unidad|parafus"
        r"|metade)\w*(?! n[oa] (?:estoque|site))",
        r"\b(?:parte|peca|iten|item|acessorio|unidade)s? (?:\w+ )?(?:faltando|faltante|ausente)|\bentrega parcial"
        r"|\bmenos (?:pecas"
        r"|itens|unidades)|\b(?:so|apenas|somente) (?:a )?(?:metade|parte) d[oae]|\bquantidade (?:menor|inferior"
        r"|insuficiente)",
    ),
    "faulty": (
        r"\bdefeit|\b(?:veio|chegou|produto) com (?:um |uma )?(?:problema|avaria|falha)|\bquebr(?!a[- ]cabec"
        r"|a[- ]galho)|\bparou de\b"
        r"|\b(?:deixou|parado) de func|\bnao (?:funciona|liga|carrega|acende|esquenta|gela)"
        rf"|{_NO_SHOPS}\bnao (?:presta(?! \w*atend)|conecta(?! com \w+ client))",
        r"\bqueimou|\bqueimad\w*+(?! com)|\bpif(?:ou|ad)|\btrinc(?:ad|ou)|\brach(?:ad|ou)|\blascad|\bestilhac"
        rf"|{_NO_SHOPS}\binoperante(?! n[oa] (?:site|banco|loja))"
        r"|\benguic|\bestragou"
        r"|\b(?:mau|mal) funcionamento|\b(?:nao durou|durou (?:so|apenas|pouco|menos|nem)\b"
        r"|durou \w+ (?:dia|semana|hora|uso)s?+)"
        r"(?! (?:[ao]s? )?(?:promo|pacien|ofert|descon|alegr|entreg|atend|liquid))",
        r"\b(?:produto|item|mercadoria|peca|aparelho) (?:(?!embal|caixa|pacot)\w+ ){0,2}(?:danificad|avariad"
        r"|estragad|arranhad|riscad)",
    ),
}
TROUBLE: tuple[re.Pattern[str], ...] = tuple(re.compile("|".join(ways)) for ways in _SAID.values())
MISSING = list(_SAID).index("bill")
"""The kind that is a trouble only where it is denied."""

_CONTENT = tuple(
    re.compile(said)
    for said in (
        r"\b(?:no|dentro do|antes do) (?:prazo|dia|previsto|combinado|tempo)\b|\bna data\b|\b(?:prazo"
        r"|data)\b.{0,20}\b(?:cumprid"
        r"|respeitad|certinh)|\b(?:cumpri|respeit)\w+ (?:com )?[oa] (?:prazo|data)|\bpontual|\brapid|\bveloz"
        r"|\bvelocidade\b|\bdepressa\b|\bagil"
        r"|\bantecipad|\bem dia\b",
        r"\b(?:chegou|chegaram|veio|vieram|produto|tudo|mercadoria) (?:\w+ ){0,2}(?:ok|bem|cert[oa]|certinh[oa]"
        r"|direitinho|inteir[oa]"
        r"|perfeit[oa]|intact[oa]|em ordem|sem problemas?)\b|\bem (?:ordem|perfeito estado|bom estado)\b",
        r"\batencios|\bprestativ|\beducad|\bgenti[ls]|\bcordia|\bsimpatic|\bbem (?:atendid|tratad)"
        r"|\btrata(?:d[oa])? (?:como|o cliente)"
        r"|\b(?:atendimento|vendedor|suporte|loja)\b (?:\w+ ){0,2}(?:exemplar|otim|excelente|bom|boa|perfeit"
        r"|impecavel|maravilhos)",
        r"\b(?:como|conforme|dentro do|de acordo com) (?:[oa]s? )?(?:especificac|esperado|previsto|anunciado"
        r"|combinado|descrito|prometido"
        r"|descricao|anuncio)"
        r"|\bigual (?:ao|a) (?:anunci|foto|descri|site)|\bcorrespond(?:e|eu)\b|\b(?:atendeu"
        r"|superou)\b.{0,12}expectativas?",
    )
)
"""Praise that has several words: punctual, sound, kind, as it was told."""


def praises_alike(text: str, review: str) -> bool:
    """Whether two plain texts are content with the same («no dia combinado», «cumpriu com a data»)."""
    return any(kind.search(text) and kind.search(review) for kind in _CONTENT)
