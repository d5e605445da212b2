"""What one may sensibly advise about each indicator of a shop, and what would do harm.

The same ten indicators occur in generated briefs and in those made of Olist's tables. Of an indicator that is not
listed, advice counts that names it.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from tucano.truth.reading import plain, sentences, word_set, words
from tucano.truth.unwelcome.to_managers import says_nothing
from tucano.truth.verbs import FORMS


@dataclass(frozen=True)
class Indicator:
    """How an indicator is named in a text, whether more of it is good, and what actions on it are about."""

    names: str
    more_is_good: bool
    about: str


INDICATORS: dict[str, Indicator] = {
    "receita": Indicator(
        r"receitas?|faturamento|faturou|faturamos|faturando|fatura (?=r\$)",
        True,
        r"oferta|combo|kit|mais vendid|promoc|campanh|cupo[mn]|vitrine|complementar|sortimento|itens|anunci|descont"
        r"|lancamento|catalogo|preco",
    ),
    "pedidos": Indicator(
        r"pedidos?",
        True,
        r"campanh|reativ|cliente\w* antig|cupo[mn]|oferta|anunci|divulg|frete gratis|promoc|e-mail|carrinho"
        r"|lembrete|redes"
        r"|indicac",
    ),
    "atraso": Indicator(
        r"atras\w+|fora do prazo",
        False,
        r"transportadora|prazo|rotas?\b|rastre|aviso|avis[ae]|centro de|expedic|multa|atras|entregador|despach|postage",
    ),
    "nota média": Indicator(
        r"notas?",
        True,
        r"avaliac|atendiment|respond|resposta|equipe|prova social|pesquis|reclama|qualidade|suporte|opini|elogi",
    ),
    "recompra": Indicator(
        r"recompr\w+|compr(?:a|am|ou|aram) (?:outra vez|de novo|novamente|mais de uma vez)"
        r"|(?<!por )(?<!de )volt(?:a|am|em|ou|aram|ar)|retorn(?:a|am|em|o)",
        True,
        r"fidelidade|cupo[mn]|segunda compra|ja compr|pontos|retorno|volt\w+|pos-venda|pos-compra|e-mail|oferta"
        r"|lembrete"
        r"|assinatur|cliente\w* antig|recompra|beneficio|cashback|proxima compra|whatsapp",
    ),
    "devolução": Indicator(
        r"devoluc\w+|devolv\w+",
        False,
        r"fotos?|descric|medida|qualidade|devolv|devoluc|tamanho|troca|embalage|inspec|fornecedor|video",
    ),
    "frete médio": Indicator(
        r"fretes?|envios?",
        False,
        r"transportadora|frete|retirada|centro de|valor minimo|correios|ponto de coleta",
    ),
    "cancelamento": Indicator(
        r"cancel\w+",
        False,
        r"estoque|aprovac|confirm|prazo|cancel|pagamento|cobrar|troca do item|desist",
    ),
    "conversão": Indicator(
        r"convers\w+|convert\w+",
        True,
        r"checkout|pagina|foto|parcel|pagamento|etapa|prova social|avaliac|frete|carrinho|anunci|video|descric"
        r"|busca|site"
        r"|layout|compra rapida",
    ),
    "ticket médio": Indicator(
        r"(?:ticket|tiquete)s?",
        True,
        r"complementar|kit|combo|frete gratis|parcel|valor minimo|progressiv|leve mais|ticket|acessorio|conjunto"
        r"|premium",
    ),
}  # fmt: skip

_VERBS = sorted(
    word_set(
        """
    recomend sugir sugest prioriz oferec envi cri us test revis confirm mant reduz negoci mostr invist
    acompanh prefir melhor lanc reativ ampli avis troc lig perguntar simplific mont respond treina trein
    agiliz reforc vale leia ler investig elev aument diminu corrij corrig divulg separ combin faca fazer avali mec
    med ouv rever renegoci checar cheque antecip automatiz public inclu pec pedir notific personaliz segment
    monitor analis implant implement adot planej convid lembr estimul incentiv foque foc conced dar deem
    defin disponibiliz apresent entreg destac adicion program comece comecar contrat estabelec exib explic
    facilit foment garant otimiz promov realiz rej resolv sinaliz trat premi integr oriente orient compens
    bonific repens ajust informe informar
    """
    )
)
_ADVICE = re.compile(rf"\b(?:{'|'.join(_VERBS)})\w*")
_OPENING = re.compile(
    r"\b(?:recomend|sugir|sugest|prioriz|vale\b|(?<!que )(?<!se )dev(?:e|em|emos"
    r"|eria)\b(?! (?:ser )?(?:observ|acompanh|consider|analis|levad))|precis|conv[ee]m|e (?:preciso"
    r"|importante|bom|hora)"
    r"|a ideia|proximo passo|acao|acoes|plano|para (?:elevar|reduzir|aumentar|subir|melhorar|diminuir|baixar))"
)
_IMPERATIVE = re.compile(
    r"^\W*(?:\w+:\s*)?(?:(?:tambem|alem disso|primeiro|depois|por fim|ja|entao|assim),?\s+)?(\w+(?:a|e|r|ca|que"
    r"|gue))\b"
)
_INFINITIVE = re.compile(
    r"\W*(?:\(?\w{1,3}[.)]\s+)?(?!celular|lugar|par\b|mulher|por\b|ter\b|ser\b|haver)\w+(?:ar|er|ir)\s+\w"
)
"""A clause that begins as notes of what is to be done («medir o prazo»)."""
_FIRST = re.compile(r"^\W*(?:\(?\w{1,3}[.)]|so|eu|e|nao|uma|duas|tres|antes|ja)\s+")
_WOULD = re.compile(
    r"\b(?:eu|a gente|nos)\s+\w{2,}(?:aria|eria|iria)(?:mos)?\b|\b(?:comecaria|faria|testaria|trocaria|proponho"
    r"|propomos|sugiro)\b"
    r"|\b(?:que tal|minha sugestao|tem de ser|tem que ser|deve-se|recomenda-se|sugere-se)\b"
    r"|\b(?:podemos|poderiamos|podia(?:mos)?|vamos|(?:loja|equipe|time|empresa|gente) (?:pode(?:ria)?|deveria|vai)"
    r"|quero|queremos"
    r"|seria (?:bom|boa ideia|util|otimo|interessante|importante|melhor|ideal|prudente|valido)|(?:minha"
    r"|nossa) aposta (?:e|seria))"
    rf" (?:(?:ja|tambem|ainda|entao|comecar por) )?(?!analis|melhor)(?:{'|'.join(_VERBS)}|coloc|busc|divid)\w*r\b"
)
_PLAN = re.compile(
    r"\b(?:plano|ac(?:ao|oes)|faz(?:er)?|faria|passos?|recomend\w+|suge\w+|sugir\w+|testes?|testar\w*|agir"
    r"|decis\w+|medidas|propo\w+|ideias?|providencias?|frentes?|para (?:nao )?\w+[aei]r|pra (?:nao )?\w+[aei]r"
    r"|para (?:o|a|os|as)|reengaj\w+|prioridades?|agora)\b"
)
_PROPOSES = re.compile(
    r"\ba partir d[aeo]\b|\b(?:em|com) metade d|\bpor \d+ (?:dias|semanas)\b|\bacima de r\$"
    r"|\bem ate \d+ (?:h\b|horas|dias)"
    r"|\bna pagina d[eo] "
)
"""What an item of a list says of a step that has no verb («frete fixo por 30 dias»)."""
_HEADING = 12
"""Words of a line that heads a list."""
_ITEM = re.compile(r"\s*(?:[-*•→–|]|\(?\w{1,2}[.)]|\d\ufe0f?\u20e3|(?i:fase|semana|dia)\b)")
_CONTENT = re.compile(r"\b(?!para\b|pela\b|pelo\b|como\b|mais\b|cada\b|quem\b|tod[oa]|ess[ea]|est[ea])[a-z]{4,}")
MEANS = 0.75
"""How much a part that is about nothing of the brief counts in a step that is about an indicator of it."""
_ENOUGH = 4
"""Words of four letters and more by which advice says what is to be done."""
_SPARED = re.compile(
    r"\b(?:nao|sem|nunca|evit\w+|em vez de|antes de|parece\w*|pode\w*|podem|quem|que|motivo \w+)\s+(?:\w+\s+){0,2}$"
)
_LEADS = re.compile(
    r"(?:\A|[.;:!,→•]\s*|(?:\A|\s)\(?\w{1,2}\)\s*|\be\s+|\b(?:recomend\w+|suger?\w+|sugir\w+|prioriz\w+|vale|dev\w+"
    r"|precis\w+|bom|melhor"
    r"|hora de|importante"
    r"|ideia e|tambem|deve-se|vamos|so|depois|entao|primeiro|logo)\s+(?:\w+\s+){0,2})\W*$"
)
_ALWAYS = ("nada", "clientes")
_TOO_MUCH = (
    r"(?:\w+ ){0,6}(?:ao mesmo tempo|de uma (?:so )?vez|sem (?:medir|testar|saber|olhar|conferir|checar|ouvir"
    r"|criterio|limite)"
    r"|as cegas|no escuro|(?:promoc\w+|descontos?|campanhas?|cortes?) (?:gera(?:l|is)"
    r"|linear\w*|as cegas"
    r"|(?:em|para) tod\w+|na loja (?:toda|inteira))|tudo (?:junto|agora|hoje)|(?:cupo[mn]s?|descontos?|promoc\w+"
    r"|brindes?|ofertas?) (?:\w+ ){0,3}?(?:para|a|com|em) quem (?:\w+ ){0,4}(?:sozinh|sempre|compraria"
    r"|de qualquer)\w*|mais de (?:um|uma|dois|duas|\d))\b"
)
"""What one is wisely told not to do: all at once, blindly, for everybody («Não faça tudo ao mesmo tempo»)."""
_NEGATED = re.compile(
    r"(?:\A\W*|[.;:!,]\s*|\be\s+)(?:\w+:\s*)?(?:nao|nunca|jamais)\s+(?!vale|ignor|deix\w+ de)"
    r"(?!(?:envi|mand|oferec|ofereca|dar|de|conced|dispar|divulg)\w* (?:(?!respost|avis|pedid|entreg|rastre)\w+ ){0,2}"
    r"(?:gera(?:l|is)|a todos|para todos)\b)"
    rf"(?!{_TOO_MUCH})"
    rf"(?:{'|'.join(_VERBS)})"
    r"(?:o|e|a|ue|ar|er|ir|em|am|amos)?\b(?![^.;!?]*\b(?:ate|enquanto|antes d\w|sem antes)\b)"
    rf"|\b(?:evit(?:e|ar|em)|(?<!nao )(?:par[ae]r? de|deixem? de|deixar de)"
    rf"|chega de)\s+(?:{'|'.join(_VERBS)})\w*(?! {_TOO_MUCH})"
)
_UP = (
    r"(?:aument(?:ar|e|em)|incentiv(?:ar|e|em)|estimul(?:ar|e|em)|elev(?:ar|e|em)|sub(?:ir|a|am)|dobr(?:ar|e)"
    r"|dupliqu?\w+|ampli(?:ar|e)|inflar|infle"
    r"|encarec\w+|triplic\w+)"
)
_DOWN = (
    r"(?:reduz(?:ir|a|am)|cort(?:ar|e|em)|diminu(?:ir|a|am)|baix(?:ar|e|em)|derrub(?:ar|e)|limit(?:ar|e)"
    r"|elimin(?:ar|e)"
    r"|acab(?:ar|e) com|zer(?:ar|e)|pior(?:ar|e|em)|prejudi\w+|frear|freie|cancel(?:ar|e))"
)
_STEPS = (
    r"\s+(?:(?:mais|ainda|muito|bastante|todos?|todas?|o|a|os|as|seu|sua|numero|taxa|valor|indice|volume"
    r"|de|do|da|dos|das)\s+){0,4}"
)
_HARM = re.compile(
    r"\bignor(?:ar|e|em)\b|\bdemit\w+|\bfech(?:ar|e) (?:a|as) loja|\besco?nd(?:er|a|am)\b|\bpior(?:ar|e|em)\b"
    r"|\bpar[ae]r? de (?:vend|envi|respond|atend|entreg|oferec|investir em)\w*|\bpar[ae]r? de$"
    r"|\bdeix[ae]r? de (?!lado\b|fora\b|ser\b)|\bcobr(?:ar|e) (?:mais|o dobro|a mais|(?:uma )?taxa|r\$ ?\d+ de quem"
    r"|multa do cliente|(?:uma )?multa de (?:quem|clientes? que) (?:reclam|avali|compr)|frete)"
    r"|\bproib\w+|\bapag(?:ar|ue|uem)\b|\bremov(?:er|a|am) as (?:fotos|avaliac|descric)|\bretir(?:ar"
    r"|e) as (?:fotos|avaliac|descric)"
    r"|\bengan(?:ar|e|em)\b|\bmint\w*|\bmentir\b|\bdificult\w+|\bencarec(?:er|a)\b|\bcompli(?:car|que)\w*"
    r"|\babandon(?:ar|e)\b|\bdesist(?:ir|a|am) d[aeo]\w*|\bvend(?:er|a) menos"
    r"|\b(?:mostr|inform|exib|promet|divulg|public|invent|cri|us|compr|escrev|post|anunci|simul)\w*(?: \w+){0,5}"
    r" (?:fals[oa]s?|falsificad\w+|ficticios?|ficticias?|enganos\w+|mentiros\w+|inventad\w+|que nao existem)\b"
    r"|\b(?:remov|retir|tir|escond|elimin|deslig|desativ)(?:er|ir|ar|a|e|ue) (?:(?:do|no) site |da loja )?(?:o|a|os"
    r"|as) (?:telefone|e-mail|chat|atendimento|contato|canal"
    r"|canais|sac|whatsapp)\b(?=\s*(?:[.,;:!]|\Z)| e [oa]\b| d[aeo] (?:loja|site|pagina|atendiment|reclamac))"
    r"|\b(?:venda|vender|anuncie|anunciar) (?:itens|produtos|descontos) que nao (?:temos|ha|existem|estao)"
    r"|\benvi(?:e|ar) (?:\w+ ){0,2}(?:caixas? vazias?|produtos? usados? no lugar|multas?\b|cobranca de itens)"
    r"|\benvi(?:e|ar) (?:\w+ ){1,5}(?:golpista|multa\b)"
    r"|\b(?:copi|us)(?:e|ar) (?:a senha|o cartao|as senhas|os cartoes|os dados do cartao) d[eo]s? client"
    r"|\bofere(?:ca|cer) (?:propina|dinheiro aos clientes para)|\bretard(?:e|ar) a entrega|\bofere(?:ca"
    r"|cer) cupo[mn]s? vencid"
    r"|\bofere(?:ca|cer) (?:\w+ ){0,4}(?:bloqueio|multa) |\bdemor(?:e|ar) a (?:devolver|responder|entregar|enviar)"
    r"|\b(?:dobre|triplique|suba|aumente) (?:todos )?os precos (?:\w+ )?(?:sem avisar|em segredo|antes da promoc)"
    r"|\b(?:us|adot|escolh)(?:e|a|ar|er) (?:a |uma )?transportadora mais lenta\b"
    r"(?!.{0,60}\b(?:para|so|apenas|onde|quando|se|como)\b)"
    r"|\bcontrat(?:e|ar) (?:a|uma) transportadora mais (?:lent|car)|\btroqu?(?:e|ar|que) (?:\w+ ){1,4}por (?:pecas"
    r"|itens|produtos) com defeito"
    r"|\brespond(?:a|er) (?:\w+ ){0,3}com (?:ofensas|xingamentos|grosseria)|\bdeix(?:e|ar) tod[oa]s em branco"
    r"|\buse fotos de outr[oa]s? (?:produto|item)"
    r"|\bsuspend(?:er|a)\b"
    r"(?! (?:d?[ao]s? )?(?:(?:destaque|divulgacao|propaganda|oferta|venda)s? d[aeo]s? "
    r"(?:que\b|quem|(?:\w+ )?(?:item|itens|produto|peca|anunci|vendedor|lojist|parceir|transportador|modelo))"
    r"|vitrine|vendedor|item|itens|parceir|anunci|lojist|transportador|quem))"
    r"|\bbloque(?:ar|ie) (?:[ao]s? )?(?:client|comprador|consumidor|acesso|pedido|entrega|respost|reclamac|avaliac)"
    r"|\batras(?:ar|e|em) (?:mais |ainda |tambem )?(?:a|o|as|os)\b|\baument(?:ar|e) (?:o|os) (?:preco"
    r"|prazo)s?\b(?! (?:d[oe] anuncio|prometid|informad|mostrad|no site))"
    r"|\b(?:reduz(?:ir|a)|cort(?:ar|e)|diminu(?:ir|a)) (?:a|o|as|os) (?:qualidade|atendimento|estoque|ofertas"
    r"|equipe|fotos|campanhas)"
    r"|\bfaca nada|\bfazer nada|\bnada a fazer|\b(?:entreg|envi|atend|respost|fret)\w+ mais lent[ao]"
    r"|\bmais car[ao]s?\b(?= para)|\bcancel(?:ar"
    r"|e) (?:os|as|todos|todas|o|a)\b"
    r"|\bespant(?:ar|e)\b|\bafast(?:ar|e) (?:os|o) cliente|\brecus(?:ar|e)\b|\bneg(?:ar|ue) (?:a|as|o|os)\b"
    r"|\bperder clientes\b|\b(?:retir|tir|escond|remov|elimin)(?:ar|e|a|er|em) (?:o botao|a opcao|o link"
    r"|a possibilidade)"
    r"|\b(?:sub(?:ir|a|am)|aument(?:ar|e|em)|elev(?:ar|e|em)) (?:o |os )?precos? (?:em tod|de tod|da loja|do site)"
    r"|\b(?:reduz(?:ir|a)|diminu(?:ir|a)|cort(?:ar|e)|limit(?:ar|e)) as vendas\b"
)


_WITHOUT_A_WAY = re.compile(
    r"\b(?:remov|escond|elimin|retir|tir|cort|bloque)\w*ndo (?:a|as|o|os) "
    r"(?:(?:opc(?:ao|oes)|possibilidade|botao|link|direito) (?:de|para) (?:pagar|cancelar|devolver|trocar|reclamar)\b"
    r"|(?:telefone|chat|atendimento)\s*(?:[.,;!]|\Z))"
)
"""Means that take a way from the customer («simplificar, removendo a opção de pagar»)."""
_ABSURD = re.compile(r"\b(?:cupom|desconto) de [1-9]\d\d ?%")
"""More than all of the price."""


@lru_cache(maxsize=256)
def names(label: str) -> re.Pattern[str]:
    """How a plain text names an indicator; one without a name stands nowhere."""
    known = INDICATORS.get(label)
    first = re.escape(next(iter(plain(label).split()), ""))
    return re.compile(rf"\b(?:{known.names if known else first or '(?!)'})\b")


@lru_cache(maxsize=256)
def _about(label: str) -> re.Pattern[str]:
    known = INDICATORS.get(label)
    return re.compile(rf"\b(?:{known.about})" if known else names(label).pattern)


def recommends(sentence: str) -> bool:
    """Whether a plain sentence proposes something: it says so, or a clause of it begins with an imperative."""
    if _OPENING.search(sentence) or _WOULD.search(sentence):
        return True
    clauses = [clause for part in re.split(r"[,;:|→)]\s+", sentence) for clause in (part, _FIRST.sub("", part))]
    starts = (_IMPERATIVE.match(clause) for clause in clauses)
    return any(map(_INFINITIVE.match, clauses)) or any(
        first and (_ADVICE.match(first[1]) or FORMS.get(first[1]) == "v:order") for first in starts
    )


def harmful(answer: str, labels: Collection[str]) -> bool:
    """Whether an answer advises to do harm: to raise what should fall, to stop what helps, not to do what it names.

    What customers do («abandonar o carrinho») and what is to be avoided («para não derrubar o ticket») is no advice.
    """
    for sentence in map(plain, sentences(answer)):
        if (
            _ABSURD.search(sentence)
            or _WITHOUT_A_WAY.search(sentence)
            or any(_is_advised(sentence, found) for found in _HARM.finditer(sentence))
        ):
            return True
        if recommends(sentence) and _NEGATED.search(sentence):
            return True
        for label in {*INDICATORS, *labels}:
            known = INDICATORS.get(label)
            verb = _DOWN if known is None or known.more_is_good else _UP
            harm = known and re.compile(rf"\b{verb}\b{_STEPS}{names(label).pattern}")
            if harm and any(
                not _SPARED.search(sentence[: found.start()]) and not _ELSE.match(sentence, found.end())
                for found in harm.finditer(sentence)
            ):
                return True
    return False


_ELSE = re.compile(r" gratis|\w* as \d|\w* (?:cancelad|devolvid|perdid|gast|atrasad|parad)\w*")
"""Behind an indicator: another thing («cortar pedidos às 14 h»)."""


def _is_advised(sentence: str, harm: re.Match[str]) -> bool:
    """Whether a harmful verb begins a clause or follows what advises; behind other words it tells what happens."""
    before = sentence[: harm.start()]
    if _DENIED.search(before) or _IN_PART.match(sentence, harm.end()):
        return False
    if harm[0].startswith("suspend") and _IF_NOT.search(before) and not _SERVICE.search(sentence, harm.end()):
        return False
    if harm[0].startswith("suspend") and not sentence[harm.end() :].strip(" .!;)") and _FAULTY.search(before):
        return bool(re.search(r"\b(?:atendiment|entregas?\b|respost)", before))
    return not _SPARED.search(before) and bool(_LEADS.search(before) or harm[0].endswith(_ALWAYS))


_DENIED = re.compile(r"\b(?:nao|nunca|sem) (?:\w+[aei]r (?:\w+ ){1,3}e )?$")
"""«Não ignore as reclamações», «não baixar frete e ignorar a nota»."""
_FAULTY = re.compile(
    r"\b(?:item|itens|produto|peca|anuncio|vendedor|lojista|parceir|transportador|modelo|campanha|divulgac)"
    r"|\b(?:havendo|se (?:houver|repetir|continuar|nao melhorar)|caso \w+),?\s*\Z"
)
"""What a shop may suspend: named in front, the verb ends the sentence («corrigir o item ou suspender»)."""
_IF_NOT = re.compile(r"\b(?:se|caso|quando) (?:[^\s,;:.]+ ){0,6}?(?:nao|nada|nenhum\w*|nem) [^:;.]*\Z")
_SERVICE = re.compile(
    r"\b(?:atendiment|entregas?\b|respost|venda|loja|envios?\b|trocas?\b|devoluc"
    r"|estorno|reembolso|garantia|sac\b|pagamento d)"
)
"""A condition under which a trial ends («se não der resultado, suspender»), and what never should."""
_IN_PART = re.compile(r"\w*\s(?:so|apenas|somente)\b|\w*\s(?:itens|produtos|o que) (?:sem|fora)\b")
"""«Pare de atender só por e-mail», «de vender itens sem estoque»."""


def covered(answer: str, key: Collection[str], brief: Collection[str]) -> tuple[int, float]:
    """How many of the key indicators some advice of the answer is about, and the share of its advice that is about
    any indicator of the brief, or says what is to be done in words of its own.

    Advice is about an indicator that it names, that it usually serves, or that the sentence before it names; the other
    parts of such a sentence are its means.
    """
    found: set[str] = set()
    on, off = 0, 0.0
    above: set[str] = set()
    planned = False
    for row in answer.splitlines():
        item = bool(_ITEM.match(row))
        planned = planned if item or not row.strip() else bool(_PLAN.search(plain(row)) and len(words(row)) <= _HEADING)
        for sentence in map(plain, sentences(row)):
            named = {label for label in key if names(label).search(sentence)}
            if says_nothing(sentence):
                continue
            if recommends(sentence) or (item and (planned or _PROPOSES.search(sentence))):
                ours = others = 0
                for part in re.split(r"(?:(?<!\s)\s+)?(?:,|;|:|\be\b(?=\s+\w+(?:ar|er|ir)\b))\s*", sentence):
                    about = {label for label in key if _about(label).search(part)} | named
                    own = len(_CONTENT.findall(part)) >= _ENOUGH
                    if any(_about(label).search(part) for label in brief) or (own and (about or above)):
                        ours += 1
                        found |= about or above
                    elif any(_about(label).search(part) for label in INDICATORS):
                        others += 1
                on, off = on + ours, off + others * (MEANS if ours else 1)
            above = named or above
    return len(found), on / (on + off) if on + off else 0.0
