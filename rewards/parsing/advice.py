"""What a text of insights is made of: rows of tables, steps of its advice, and how many of these say nothing; under
which heading a row stands, what it quotes and which indicators it names."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from rewards import v42
from rewards.parsing.kinds import kind
from rewards.parsing.prose import asks, concrete
from rewards.parsing.text import any_of, figures, without_copies, words
from rewards.types import clip

_ADVICE = any_of("use usem mantenha* vale valeria")
"""What advises beside the words that ask for action in v4.2."""
_ROW = re.compile(r"(?m)^[ \t]*\|(.+)\|[ \t]*$")
_RULED = re.compile(r"(?m)^(?:[ \t]*\|.*\|[ \t]*\n)?[ \t]*\|[ \t:|-]+\|[ \t]*$")
_GENERAL = (
    r"(?:experiencia|logistica|marketing|comunicacao|qualidade|satisfacao|relacionamento|fideliz\w+"
    r"|processos?|melhorias?"
    r"|acoes|condicoes|trafego|divulgacao|redes sociais|estrategias?|beneficios|promocoes|indicadores"
    r"|resultados?|clientes?"
    r"|desempenho|engajamento|parceiros|servicos?|site|programa de fidelidade|campanhas personalizadas)"
)
_ANY = (
    r"campanhas?|digita(?:l|is)|produtos?|vendas?|lojas?|empresa|negocios?|equipe|mercado|publico|geral|sempre"
    r"|melhor(?:es)?|rapid\w+|perto|atrativ\w+|eficientes?|estrategic[ao]s?|tomar|decis\w+|deixar|isso|forma|meio"
    r"|baix[ao]s?|precisa\w*|maneira|atraves|recomend\w+|suger\w+|sugir\w+|prioriz\w+|vale|para|pela|pelo|como|mais"
    r"|cada|quem|tod[ao]s?"
    r"|est[ae]|ess[ae]|entre|sobre|noss[ao]s?|conversao|recompra|receita|pedidos|ticket|notas?|medi[ao]"
    r"|importante|necessari\w+|proxim[ao]s?|mes(?:es)?|numeros?|dados|dois|duas|periodo"
)
"""Words that fit beside any advice."""
_DOES = (
    r"\b(?:melhor|otimi|aprimor|fortale|trabalh|invist|investi[rn]|foc|foqu|reforc|busc|busqu|acompanh"
    r"|monitor|avali|manter"
    r"|mantenh|continu|reduz|aument|elev|faz|fac|us|oferec|cri|desenvolv|ouv|ouc|engaj|promov|intensific"
    r"|valoriz|estimul"
    r"|atrai|fideliz)(?:\w*)"
)
_VAGUE = re.compile(rf"{_DOES}\s(?:\w+\s){{0,4}}?{_GENERAL}\b")
_LEFT = 1
"""Words of its own beside which a line says nothing."""
_OPEN = re.compile(
    r"\b(?:de alguma (?:forma|maneira)|de (?:um )?modo geral|acoes estrategicas|otimiza-l[ao]s?"
    r"|medidas (?:adequad|necessari|cabiv)\w+|formas? de (?:vender|crescer)|ir melhorando)\b"
    r"|\b(?:melhor|otimiz|aprimor|fortalec)\w* (?:tambem |ainda )?(?:n?[ao]s?|ess[ea]s?) (?:processos?|relacionamento"
    r"|comunicacao|condicoes|gestao|logistica|parte)(?: (?:com|d[aeo]s?)(?: \w+){1,3})?\W{0,3}$"
)
_AT_LARGE = re.compile(
    r"\balgo especial\b|\bmanter a nota\b|\b(?:acoes|campanhas) (?:diferenciad|criativ|especia)\w+"
    r"|\bacao de relacionamento\b|^\W*(?:(?:recomend|sug)\w+ )?(?:acompanh|monitor|observ|mant|cuid|trabalh"
    r"|melhor|aument|elev|reduz)\w* (?:[ao]s? )?\w+\W*$"
    r"|\b(?:melhor|otimiz|trabalh)\w* (?:melhor )?(?:n?[ao]s?|com) campanhas?(?: (?:com|d[aeo]s?)(?: \w+){1,3})?"
    r"\W{0,3}$"
)
"""Advice that leaves open what («tomar as medidas necessárias»), and advice that does where it names no means."""
_SERVES = {
    stem: re.compile(rf"\b(?:{stem}|{means})")
    for stem, means in {
        "receit": r"fatur|combo|kit|oferta|vendid|campanh|cupom|descont|prec|anunc",
        "pedido": r"campanh|reativ|cupom|oferta|anunc|antig|carrinho|frete gratis|midia",
        "atraso": r"transportad|prazo|entrega|rota|rastre|expedi|despach|estoque|avis",
        "nota": r"avaliac|atend|respond|respost|client|qualidade|reclama|pesquis",
        "recompr": r"fidel|compr|cupom|oferta|e-mail|ponto|client|retorn|volt",
        "devolu": r"devolv|foto|descric|medida|qualidade|troca|tamanho|embala|video",
        "frete": r"transportad|entrega|correio|envio",
        "cancel": r"estoque|aprova|confirm|pagament|prazo|desist|pix|boleto",
        "conver": r"checkout|pagina|foto|parcel|pagament|carrinho|frete|avaliac|anunc|busca|video|site",
        "ticket": r"kit|combo|complement|frete gratis|parcel|leve|premium",
    }.items()
}
"""What steps are about that serve an indicator, by the beginning of its name."""
_EMPTY = re.compile(rf"\b(?:{_DOES}|{_GENERAL}\b|(?:{_ANY})\b)|^[^:]*:")
_CONTENT = re.compile(r"\b[a-z]{4,}")
_HOW = re.compile(
    r"\d|\b(?:transportadora|cupom|cupons|whatsapp|e-mail|foto|medida|prazo|motivo|estoque|checkout|kit|combo|parcel"
    r"|pix|carrinho|frete gratis|troca|embalag|test[ae]|pergunt|lig(?:ar|ue)\b|itens|rota|hora|semana|ponto|respond"
    r"|antig|segunda compra|ja compr|desconto|por cep|quem (?:nao|ja|deu|recebeu))"
)
LONGEST_VAGUE = 16
"""Words of a step that says nothing more."""
SOME_VAGUE = 0.75
MOST_VAGUE = 0.55
"""Credit where a step says nothing, and where half of them or more do."""
_STEP = re.compile(r"(?:[:,;]\s+|\be\s+(?:tambem\s+)?)(?=[^\W\d_]{2,}(?:ar|er|ir)\s)")
MOST_STEPS = 3


def untabled(answer: str) -> str:
    """The text with every row of a table as an item of a list, without rules and heads of tables, and with items that
    have another mark than «1.» as numbered ones. A cell below the head of an aim is one."""
    answer = _NUMBERED.sub(r"\1\2. ", answer)
    if "|" not in answer:
        return answer
    ruled = _RULED.search(answer)
    heads = ruled[0].splitlines()[0].strip().strip("|").split("|") if ruled else []
    aims = [place for place, head in enumerate(heads) if _AIMS.match(head)]
    return _ROW.sub(lambda row: _item(row, aims), _RULED.sub("", answer))


_NUMBERED = re.compile(r"(?m)^([ \t]*)(?:[Ee]tapa )?(\d{1,2})(?:[ºª°][.):-]?|[ \t]?[-–—])[ \t]*(?=\*{0,2}[A-ZÀ-Ý])")
"""The number of a step as «1º», «1 -» or «Etapa 1 -»; what follows begins as a sentence."""
_AIMS = re.compile(r"(?i)\W{0,12}(?:metas?|alvos?)\b(?!.*\b(?:atingid|alcan[cç]ad|batid|cumprid|real\b|hoje\b))")


def _item(row: re.Match[str], aims: Sequence[int]) -> str:
    told = [cell.strip() for cell in row[1].split("|")]
    told = [f"meta {cell}" if cell and place in aims else cell for place, cell in enumerate(told)]
    cells = [cell.rstrip(".") for cell in told if cell]
    cells[2:] = [cell[:1].lower() + cell[1:] if cell[1:2].islower() else cell for cell in cells[2:]]
    return f"- {': '.join(cells[:2])}{''.join(f'; {cell}' for cell in cells[2:])}." if cells else ""


def steps(line: str) -> int:
    """How many steps a line of advice names: «registrar o motivo, refazer as fotos e oferecer troca» names three. A
    single one that an «e» joins to the first is one of its own where both say how.
    """
    found = _STEP.findall(line)
    if len(found) == 1 and all(map(concrete, _STEP.split(line))):
        return 2
    is_listed = len(found) > 1 and not found[0].startswith(":")
    return min(MOST_STEPS, max(1, len(found) + is_listed))


def says_nothing(line: str) -> bool:
    """Whether a folded line of advice would fit any shop («melhorar a experiência do cliente»)."""
    if len(line.split()) > LONGEST_VAGUE or (_HOW.search(line) and not _OPEN.search(line)):
        return False
    if _OPEN.search(line) or _AT_LARGE.search(line):
        return True
    own = set(_CONTENT.findall(_EMPTY.sub(" ", line)))
    return bool(_VAGUE.search(line)) and len(own) <= _LEFT


def substance(advice: Iterable[str]) -> float:
    """Credit by how many of the lines of advice say nothing."""
    lines = list(advice)
    found = list(map(says_nothing, lines))
    if not any(found):
        return 1.0
    return MOST_VAGUE if all(found) or (sum(found) > 1 and 2 * sum(found) >= len(found)) else SOME_VAGUE


def advises(line: str, planned: bool, brief: set[str]) -> float:
    """What a folded line counts as advice: with a means of its own 1, about a word of the brief alone a half. Under the
    heading of a plan it need not ask for anything («kits com 5% de desconto»)."""
    if _HOLLOW.search(line) or not (planned or v42.ACTION_WORDS.search(line) or _ADVICE.search(line) or asks(line)):
        return 0.0
    return 1.0 if concrete(line) else 0.5 * bool(brief.intersection(words(line)))


_PHRASE = (
    r"(?:melhorar|inovar|crescer|evoluir|vencer|sinergia|mindset(?: \w+)?|energia positiva|arregacar as mangas"
    r"|unir (?:as )?forcas|foco|sempre|juntos|empenho|uniao)"
)
_HOLLOW = re.compile(rf"\b(?:e preciso|e hora de|recomend\w+|vamos|devemos|basta) (?:{_PHRASE}(?:,? e |,? )?)+\W*$")
"""A line that asks for nothing but what is said on every wall."""
GENERIC = 0.6
LISTED = 0.89
"""Credit where figures are only listed: every step would fit any shop, a 3 to raters of six sets; or one is in detail,
a 4. Of 248 answers rated 5 one only lists its figures, of 107 rated 4 half do."""
DETAILED = 12
"""Words of a step that goes into detail. 141 of 144 answers rated 5 have such a step, or one with a figure of its own;
of those with right figures that are rated 3, hardly any."""
_READ = 2
"""Words of a sentence beside labels and figures that make something of them («é baixa para …»)."""
_LISTING = re.compile(r"^[^:]{0,30}:\W|\b(?:subiu|caiu|para|medi[oa]s?)\b|\*")


def detail(lines: Iterable[str], folded: str, brief: str) -> float:
    """Credit of a folded text for a sentence that makes something of a figure, else of its lines of advice for one that
    is long or has a figure which the brief lacks."""
    if _is_read(folded, brief):
        return 1.0
    known = {figure.value for figure in figures(brief)}
    is_detailed = any(len(words(line)) >= DETAILED or {one.value for one in figures(line)} - known for line in lines)
    return LISTED if is_detailed else GENERIC


def _is_read(folded: str, brief: str) -> bool:
    """Whether a sentence makes something of a figure of the brief."""
    known = {figure.value for figure in figures(brief)}
    told = set(words(brief))
    for sentence in re.split(r"[.!?]\s|\n", folded):
        if known & {figure.value for figure in figures(sentence)}:
            rest = [word for word in words(_LISTING.sub(" ", sentence)) if word.isalpha() and len(word) > 3]
            own = [word for word in rest if word not in told]
            if len(own) >= _READ or any(kind(word) == "<verb>" for word in own):
                return True
    return False


def parts(answer: str) -> list[str]:
    """The lines and sentences of three words and more: what tells one thing after the other, with marks or without."""
    return [part for part in re.split(r"\n|[.!?;]\s", answer) if len(words(part)) >= 3]


REPEATED = 0.85
"""Credit where a step is advised twice."""
_KEPT = re.compile(r"\b(?!recomend|suger|sugir|prioriz|vale\b)[a-z]{4,}|\d[\d.,]*")


def repeats(lines: Sequence[str]) -> bool:
    """Whether folded lines of advice are one line again, but for the word that advises."""
    told = [words for words in map(frozenset, map(_KEPT.findall, lines)) if words]
    return len(set(told)) < len(told)


ASTRAY = 0.6
"""Credit where no figure is told and no step serves what was asked about."""


def is_astray(lines: Sequence[str], asked: Iterable[str]) -> bool:
    """Whether no folded line of advice serves an indicator that was asked about. `asked`: the folded names of the
    indicators in question; none is missed of one that is not known here."""
    wanted = [served for name in asked for stem, served in _SERVES.items() if name.startswith(stem)]
    return bool(wanted and lines) and not any(served.search(line) for served in wanted for line in lines)


_FEWEST_TO_GO_ROUND = 24


def goes_round(tokens: Sequence[str]) -> float:
    """1 for a text whose words of four letters and more are different ones, 0 where it goes round a few: from 50 %
    of them down to 30 %."""
    told = [token for token in tokens if len(token) >= 4 and token.isalpha()]
    return clip((len(set(told)) / len(told) - 0.3) / 0.2) if len(told) >= _FEWEST_TO_GO_ROUND else 1.0


SAID_AGAIN = 0.25


def said_again(folded: str) -> float:
    """1, or a quarter for a folded text that has a sentence of four words and more twice, two answers in one, or four
    words in a row four times."""
    said = [tuple(words(part)) for part in re.split(r"[.!?;\n]", folded)]
    long = [sentence for sentence in said if len(sentence) >= _RUN]
    runs = Counter(one[place:][:_RUN] for one in long for place in range(len(one) - _RUN + 1))
    most = max((times for run, times in runs.items() if all(map(str.isalpha, run))), default=0)
    return SAID_AGAIN if len(set(long)) < len(long) or most >= _TOO_OFTEN else 1.0


_RUN, _TOO_OFTEN = 4, 4
"""Of 1,100 insights rated 3 to 5 none says a run of four words four times, of 295 rated 1 one in twenty."""


_PRAISED = re.compile(
    r"\bnotas?(?: medias?)?\W{1,3}(?:(?:de|em|e|foi|ficou)\s){0,2}[12],\d\b,?\s"
    r"(?:(?:mostra|demonstra|diz|indica|revela|confirma|prova|significa|comprova)m? que (?:\w+\s){0,5}"
    r"(?:esta|estao|saem|sai|ficam|seguem) (?:\w+\s)?(?:satisfeit|feliz|felizes|content)\w*"
    r"|(?:e|foi|esta) (?:muito |bem )?(?:boa|otima|excelente|alta)\b|[^.;!?\n]{0,60}\bcomo prova social)"
    r"|\bsatisfeit[oa]s: nota (?:media )?(?:de )?[12],\d"
)


def telling(folded: str, tokens: Sequence[str], brief: str) -> float:
    """Credit for how folded insights are told: not in circles, nothing word for word again, and not in the words of the
    brief: from a third of an answer in runs of four words and more to half of it. Of 248
    answers rated 5 the most is .06, of 107 rated 4 it is .23.
    """
    own = len(words(without_copies(folded, brief, 3))) / len(tokens) if tokens else 1.0
    return clip((own - 0.5) / 0.15) * goes_round(tokens) * said_again(folded)


def praises_low(folded: str) -> bool:
    """Whether a folded text takes a mean rating below three for a good one («a nota 2,4 mostra que estão
    satisfeitos»)."""
    return bool(_PRAISED.search(folded))


_ABOVE = re.compile(
    r"(?P<item>\s*[-•–*→▪·]\s)?[^\w\n]{0,6}(?:\d{1,2}[.)] )?(?:(?:slide|passo|etapa|parte|bloco"
    r"|fase) \d{1,2}\W{1,3})?[^.!;\d\n]{3,60}"
)
_CITED = re.compile(r"[\"“«]([^\"”»\n]{1,120})[\"”»]")
_LONGEST_NAME = 6
"""Words of what is quoted as a name; more are a message to send, and so is what holds a verb."""
_RETOLD = 2
"""Figures of the brief that a headline tells and no message does («"Nota sobe para 2,5, devolução é de 1,1%"»)."""


def rows(folded: str, known: Sequence[float]) -> Iterator[tuple[str, str]]:
    """The rows of a folded text without the messages that they quote, each with the heading above it. `known`: the
    brief's figures."""
    heading = ""
    for row in _CITED.sub(lambda quoted: _unquoted(quoted, known), folded).split("\n"):
        yield row, heading
        found = _ABOVE.fullmatch(row.rstrip())
        if found and not found["item"]:
            heading = row


def _unquoted(quoted: re.Match[str], known: Sequence[float]) -> str:
    """A name without its marks («o "frete médio"»), a headline, how an indicator moved; nothing of a message, for
    what that says is no claim."""
    said = words(quoted[1])
    if len(said) <= _LONGEST_NAME and not any(kind(word) in ("<verb>", "<to>", "<come>") for word in said):
        return quoted[1]
    if _MOVED.search(quoted[1]):
        return quoted[1]
    told = {figure.value for figure in figures(quoted[1])}
    return quoted[1] if len(told.intersection(known)) >= _RETOLD else " … "


_MOVED = re.compile(r"\b(?:cai|subi|cresce|aumento|dobro|disparo|avanco|diminui|reduzi|recuo|baixo|melhoro|pioro)u\b")


def named_by(fact: Mapping[str, Any]) -> re.Pattern[str]:
    """A label in a sentence: its first word's stem; one without a word stands nowhere."""
    return _label_pattern(str(fact["label"]))


@lru_cache(maxsize=256)
def _label_pattern(label: str) -> re.Pattern[str]:
    first = next(iter(words(label)), "")
    if not first:
        return _NOWHERE
    stem = _VERBAL.get(first) or re.escape(first[: max(4, len(first) - 2)])
    return re.compile(rf"\b{stem}\w*(?: medi[oa]s?)?")


_NOWHERE = re.compile(r"(?!)")
_VERBAL = {"devolucao": "devol", "cancelamento": "cancel", "atraso": "atras", "receita": "(?:receit|fatur)"}
"""What verbs share with the names of indicators («cancelados»)."""
