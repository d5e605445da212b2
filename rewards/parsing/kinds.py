"""Kinds of Portuguese words: what stands for a word in the model of rewards/parsing/fluency.py."""

import re
from collections.abc import Sequence
from functools import lru_cache

from rewards.parsing.text import fold, word_set

_FUNCTION = word_set("""
    a à ao aos às as o os um uma uns umas e ou mas porém de da do das dos em na no nas nos num numa para pra pro por
    pelo pela pelos pelas com sem até sobre entre desde após antes depois que quem onde quando como porque pois se
    não já ainda hoje agora amanhã só mais menos muito bem tão também você vocês te me lhe nos eu é são está
    estão foi foram era ser tem têm há vai vão pode podem deve devem quer sua seu suas seus nossa nosso nossas
    nossos minha meu este esta esse essa esses essas isso aquele aquela cada todo toda todos todas aqui lá perto
    acima abaixo enquanto assim além
    """)
_GENDERED = re.compile(r"-([oa]?s?)>")
_MERGED = ("<the-{}>", "<one-{}>", "<of-the-{}>", "<in-the-{}>", "<to-the-{}>", "<by-the-{}>", "<my-{}>", "<this-{}>")
_BY_GENDER = {
    "o": ("o", "um", "do", "no num", "ao", "pelo", "seu nosso meu teu", "este esse aquele deste neste nesse todo"),
    "a": ("a", "uma", "da", "na numa", "à", "pela", "sua nossa minha tua", "esta essa aquela desta nesta nessa toda"),
    "os": (
        "os",
        "uns",
        "dos",
        "nos",
        "aos",
        "pelos",
        "seus nossos meus teus",
        "estes esses aqueles destes desses todos",
    ),
    "as": (
        "as",
        "umas",
        "das",
        "nas",
        "às",
        "pelas",
        "suas nossas minhas tuas",
        "estas essas aquelas destas dessas todas",
    ),
}
_SAME = {
    **{
        word: kind.format(gender)
        for gender, words in _BY_GENDER.items()
        for kind, of_kind in zip(_MERGED, words, strict=True)
        for word in of_kind.split()
    },
    **dict.fromkeys(word_set("muitos poucos vários alguns outros quantos demais"), "<many-os>"),
    **dict.fromkeys(word_set("muitas poucas várias algumas outras quantas"), "<many-as>"),
    **dict.fromkeys(word_set("outro nenhum algum único primeiro segundo terceiro último"), "<other-o>"),
    **dict.fromkeys(word_set("outra nenhuma alguma única primeira segunda terceira última"), "<other-a>"),
    **dict.fromkeys(word_set("últimos primeiros"), "<other-os>"),
    **dict.fromkeys(word_set("últimas primeiras"), "<other-as>"),
    **dict.fromkeys(word_set("para pra pro"), "para"),
    **dict.fromkeys(word_set("é está tá foi era fica ficou continua segue vale anda parece"), "<is>"),
    **dict.fromkeys(word_set("são estão foram ficam ficaram eram seguem"), "<are>"),
    **dict.fromkeys(word_set("pode deve vai quer podem devem vão"), "<can>"),
    **dict.fromkeys(word_set("tem há temos têm teve tinha tiveram tinham"), "<has>"),
    **dict.fromkeys(word_set("oi olá ei oba opa psiu psst sextou olha adeus parabéns pessoal"), "<hello>"),
    **dict.fromkeys(word_set("deu deram dá fez fizeram faz veio vieram quis põe"), "<verb>"),
    **dict.fromkeys(word_set("vem venha volte volta corra corre vamos bora"), "<come>"),
    **dict.fromkeys(word_set("e ou"), "e"),
    **dict.fromkeys(word_set("dois duas três quatro cinco seis sete oito nove dez metade"), "<number>"),
}
_NOUNS = word_set("""
    celular lar lugar mulher colher talher par bar colar abajur calor valor motor ar monitor computador carregador
    secador aspirador liquidificador ventilador vendedor fornecedor comprador cobertor haltere prazer prazo marca
    compra compras oferta ofertas venda vendas troca trocas entrega entregas espera conta contas pedido pedidos
    custo custos nota notas procura cadastro mercado resultado segmento atendimento
    """)
_ADJECTIVES = word_set("""
    novo nova novos novas gratis medio media medios bom boa bons boas melhor melhores alto alta altos baixa
    baixo baixos baixas ruim ruins macio macia quente quentinha lindo linda linda bonita especial favorito
    favorita maior menor maiores menores proximo proxima exclusivo exclusiva rapido rapida grande pequeno
    pequenos antigo antigos claro clara antigas complementares fixo fixa real reais alheio positivo negativo
    positivas negativas principal principais tal forte fracos fortes frios fraco facil dificil simples barato
    barata caro cara perfeito perfeita digital
    """)
_VERBS = word_set("""
    abr acab ach acompanh ador afast agiliz ajust am ampli apliqu apost aproveit aqueç atualiz aument automat
    avis bat bor busc cai cans cham chame cheg coloc coloqu combin comec começ compr concentr confer confir
    confirm consom convert corr corrij cresc cri cuid curt cust deix depend descubr desist destaqu digit
    diminu divid divulg durm econ econom elev elimin encontr entr entreg envi escolh esper esquec evit
    experiment explic fal faz faç fic finaliz foc ganh garant gast ger gost guard implement inclu indic invest
    investig invist junt lanc lanç lev lig mand mant mantem mantenh med melhor merec merg meç monitor mont
    mostr negoci oferec ofereç otimiz pag pec peg pens perd pergunt perm pes peç pint pod precis prefer prepar
    prioriz public publiqu quer reativ reclam recomend reduz reforc reforç relax renegoci renov represent
    resolv respond revis sai salv segment separ signific simplific simplifiq sint some sorri sub suger sugir
    test transform trat traz trein troc troqu us vam vej vem vend venh vim vir viu volt
    """)
"""Stems of verbs that shops use."""
_FORMS = (
    (
        "<verb>",
        re.compile(rf"(?:{'|'.join(sorted(_VERBS))})(?:e|a|o|em|am|amos|emos|imos|ou|eu|iu|aram|eram|iram|es|)$"),
    ),
    ("<verb>", re.compile(r"(?!(?:chap|trof|mus|europ)eu).{2,}(?:ou|[^ae]eu|iu)$")),
    ("<ing>", re.compile(r".{2,}(?:ando|endo|indo)$")),
    ("<-mente>", re.compile(r".{3,}mente$")),
    ("<to>", re.compile(r".{1,}(?:ar|er|ir|por)$")),
    ("<-ed>", re.compile(r".{2,}(?:[ai]d[oa]|[ai]d[oa]s)$")),
)


_THINGS = word_set("""
    frete atendimento conversao recompra receita cancelamento atraso devolucao pedido pedidos ticket nota
    transportadora transportadoras estoque cupom desconto oferta item itens cliente clientes loja avaliacao
    avaliacoes prazo checkout campanha campanhas produto produtos entregas numeros painel equipe fidelidade
    pagamento pagamentos aprovacao confirmacao carrinho ofertas vendas combos
    """)
"""Nouns of the trade that stand behind no other noun without a word between them."""
_EITHER = word_set("""
    problema dia mapa sistema tema programa clima cinema pijama guia clima cliente foto moto video drama panorama
    plana grama mao celular time chef estrela media
    """)
"""Nouns whose ending does not tell their gender."""
_INVARIABLE = word_set("mes tenis gratis simples onibus lapis jeans patins oculos pais atras gas campus menos")
_GENDER = (
    ("", re.compile(r".[^-]*-.*|.+[^cs]ao")),
    ("as", re.compile(r".+(?:as|dades|gens)$")),
    ("os", re.compile(r".+os$")),
    ("s", re.compile(r".+s$")),
    ("a", re.compile(r".+(?:a|cao|sao|dade|gem)$")),
    ("o", re.compile(r".+o$")),
)
_FINAL_ACCENT = re.compile(r".*[áéíóúâêô]$")


@lru_cache(maxsize=4096)
def kind(word: str, inside: bool = False) -> str:
    """What stands for a word: itself, its form or its ending; a name where it is capital inside of a sentence."""
    if len(word) > 1 and word.isupper():
        return "off" if word == "OFF" else "<code>"
    low = word.lower()
    if low in _SAME or low in _FUNCTION:
        return _SAME.get(low, low)
    if inside and word[0].isupper():
        return "<name>"
    plain = fold(low)
    of_form = "<thing" if plain in _THINGS else "<noun"
    if plain in _ADJECTIVES:
        of_form = "<adjective"
    elif plain not in _NOUNS and plain not in _THINGS:
        found = next((name for name, form in _FORMS if form.fullmatch(plain) or form.fullmatch(low)), "")
        if found and found != "<-ed>":
            return found
        of_form = "<-ed" if found else "<noun"
    gender = next((name for name, ending in _GENDER if ending.fullmatch(plain)), "")
    if plain in _INVARIABLE or _FINAL_ACCENT.match(low):
        gender = ""
    elif plain.removesuffix("s") in _EITHER:
        gender = "s" if plain.endswith("s") else ""
    return f"{of_form}-{gender}>"


_COARSE = {
    **{f"<{name}{many}>": f"D{many}" for name in ("the", "one", "my", "this") for many in ("", "s")},
    **{f"<{name}-the{many}>": f"PD{many}" for name in ("of", "in", "to", "by") for many in ("", "s")},
    **dict.fromkeys(word_set("de em com sem por para até sobre entre desde após"), "P"),
    **dict.fromkeys(word_set("e mas porém se porque pois como quando enquanto que quem onde"), "C"),
    **dict.fromkeys(
        word_set("""
        já ainda hoje agora amanhã só aqui lá assim também bem tão muito mais menos não antes depois além acima abaixo
        perto <-mente>
        """),
        "A",
    ),
    **dict.fromkeys(("você", "vocês", "eu", "isso"), "I"),
    **dict.fromkeys(("te", "me", "lhe"), "CL"),
    **dict.fromkeys(("<is>", "<are>", "<can>", "<has>", "<verb>", "<come>", "foi", "ser", "ter"), "V"),
    **dict.fromkeys(("<percent>", "<money>"), "F"),
    **dict.fromkeys(("<figure>", "<number>"), "NU"),
    **dict.fromkeys(("<noun>", "<thing>", "<code>"), "N"),
    **dict.fromkeys(("<nouns>", "<things>"), "NS"),
    **dict.fromkeys((",", ";", "(", ")", ":"), ","),
}


def coarse(kind: str) -> str:
    """The word class of a kind; a kind without one is a class of its own."""
    return _COARSE.get(kind, f"~{kind}")


_NOUN_LIKE = ("<noun", "<thing")


def bare(kind: str) -> str:
    """A kind without its gender."""
    return _GENDERED.sub(lambda match: "s>" if "s" in match[0] else ">", kind)


def clash(one: str, other: str) -> bool:
    """Whether two neighbours disagree, an article or a noun and the word behind it, or are nouns without a link."""
    if one.startswith(_NOUN_LIKE) and other.startswith("<thing"):
        return True
    if one == "<come>" and other.startswith((*_NOUN_LIKE, "<name", "<my", "<one")):
        return True
    if one in ("<verb>", "<come>") and other == "<verb>":
        return True
    first, second = _GENDERED.search(one), _GENDERED.search(other)
    if not first or not second or not first[1] or not second[1]:
        return False
    if one.startswith((*_NOUN_LIKE, "<adj", "<-ed")):
        return other.startswith("<adj") and {first[1][:1], second[1][:1]} == {"o", "a"}
    many = first[1].endswith("s") != second[1].endswith("s") and one != "<the-a>"
    return many or {first[1][:1], second[1][:1]} == {"o", "a"}


def is_scrap(sentence: Sequence[str]) -> bool:
    """Whether a sentence is only the end of another: short, led on to by a link, without a verb."""
    leads = sentence[0] in ("e", "de", "mas", "para", ",") or sentence[0].startswith("<of-the")
    return leads and len(sentence) <= 3 and not any(coarse(bare(kind)) in ("V", "~<to>") for kind in sentence)
