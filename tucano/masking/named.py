"""Personal numbers that a word near by names: mistyped check digits and odd gaps count here, too."""

import re
from collections.abc import Iterator

from tucano.masking.amounts import AMOUNT, DATE, SERIES, Harmless, is_amount, is_date, is_price
from tucano.masking.page import BLANK, Mark, Page

_S, _C, _G = r"[ .\-/]{0,2}", r"[ .\-/+]{0,2}", r"[ .,\-/_()]{0,3}"
_MARKS = r"[ :;,.()'\"=*>-]{0,5}"
_MOBILE_NEXT = r"(?=[ :=-]{1,3}(?:[a-z]{1,5}[ :=-]{1,3}){0,3}[1-9]{2}9\d{8}(?!\d))"
"""«numero», which may be any thing's («contrato numero»), names a mobile phone with its area code only."""

_KEY = r"chave de acesso(?=[^\d]{1,30}\d(?:[ .-]{0,3}\d){30})"
"""Of an invoice, which is long; not of a network."""

_WORDS = {
    "cpf": r"cpfs?|c[. ]p[. ]f|cic",
    "cnpj": r"cnpjs?|c[. ]n[. ]p[. ]j|cgc",
    "rg": r"rg|r\.g|identidade|registro geral|documento",
    "card": r"cart(?:ao|oes)|visa|master(?:card)?|elo|amex|american express|hipercard|diners",
    "pix": r"pix|chave aleatoria|evp",
    "phone": (
        r"tel|tels|telefones?|fones?|cel|celular(?:es)?|zap|zapzap|zapp|whats|whatsapp|whatsap|wats|watsapp?|watts?zap|wpp"
        r"|wapp|fixo|contatos?|lig(?:a|ar|ue|uem|arem|ando)|retorn(?:a|ar|e|em|arem)|cham(?:a|ar|e|em|arem)|recados?"
        r"|sms|telegram|fax|ddd|(?:meu|nosso|seu) (?:numero|nr|n)"
        rf"|(?:numero(?<![a-z] numero)|(?:o|no|do|ao|um|pelo|n?es[st]e|novo|outro) numero|msg|mensagem){_MOBILE_NEXT}"
    ),
    "order": (
        r"(?:(?:numero|num|nro|nr|no|cod|codigo|id)_?)?pe?d+id+o|pedio|ped"
        r"|compra|encomenda|venda|reserva|protocolos?|rastreios?|rastreamento|rastrear|notas? fisca(?:l|is)"
        rf"|nf|nfs|nf-?e|nfc-?e|danfe|{_KEY}|ordem de (?:compra|servico)|o\.s|os(?= ?(?:numero|nro|nr|no|n|#)(?![a-z]))"
        r"|chamado|ticket(?! medio)|reclamacao|ocorrencia|solicitacao|atendimento|remessa|objeto|transacao|order|troca"
        r"|devolucao|localizador|oc"
    ),
}
_GLUED = ("cpf", "cnpj")
"""Told from other words even where they are glued to them («meucpf529»)."""

_VALUES = {
    "cpf": rf"\d{{11,14}}(?!\d)|\d(?:{_G}\d){{10}}(?!\d)|\d(?:{_G}\d){{8,9}}(?!\d)",
    "cnpj": rf"\d{{13,15}}(?!\d)|\d(?:{_G}\d){{13}}(?!\d)|\d(?:{_G}\d){{12}}(?!\d)",
    "rg": (
        rf"\d{{1,2}}{_G}\d{{3}}{_G}\d{{3}}{_G}(?:\d(?!-?\d)|x(?![0-9a-z]))|\d{{1,2}}{_G}\d{{3}}{_G}\d{{3}}(?!-?[\dx])"
        rf"|\d(?:{_S}\d){{4,12}}(?:-? ?x\b)?(?!\d)"
    ),
    "card": (
        rf"\d{{4}}{_C}\d{{4}}{_C}\d{{4}}{_C}\d{{4}}(?!\d)|\d{{4}}{_S}\d{{6}}{_S}\d{{4,5}}(?!\d)"
        rf"|\d(?:{_G}\d){{12,18}}(?!\d)"
    ),
    "pix": rf"(?!{AMOUNT})(?:\d(?:{_G}\d){{7,13}}(?!\d)|[0-9a-f]{{4,}}(?:[ -]?[0-9a-f]{{4,}}){{3,}}(?![0-9a-z]))",
    "phone": (
        rf"(?!{AMOUNT})(?:(?:55{_G})?(?:0?\d\d{_G})?9{_G}\d{{4}}{_G}\d{{4}}(?!\d)"
        rf"|(?:55{_G})?(?:0?\d\d{_G})?[2-9]\d{{3}}{_G}\d{{4}}(?!\d)|\d(?:{_G}\d){{7,12}}(?!\d))"
    ),
    "order": rf"(?!{AMOUNT})\d(?>(?:{_G}\d){{5,43}})(?!\d)[0-9a-z]*+",
}
"""The number of each kind as it may be written behind its word; the usual forms first, then any gaps."""

_FEWEST = {"cpf": 9, "cnpj": 13, "rg": 5, "card": 13, "pix": 8, "phone": 8, "order": 6}
"""Digits of these numbers; a lookahead for so many saves the time of trying."""

_REACH = {"rg": 30, "order": 30}
"""Characters between word and number; 40 of other kinds."""

_OF_SOMEBODY = 80
"""Characters of «da titular NAME:» between them; not of orders, since what is bought has long names, too."""

_OUTSIDE = rf"[^\d{BLANK}\]]"


def _named(kind: str) -> str:
    """The word, characters without a digit, a small number or a date and its words perhaps, the number."""
    end = r"\]" if kind in _GLUED else r"[a-z\]]"
    state = "|(?<=[^a-z][a-z]{2})" if kind == "rg" else ""  # MG12345678
    name = "" if kind == "order" else rf"(?=[ (]{{1,2}}(?:d[aoe]|titular) ){_OUTSIDE}{{1,{_OF_SOMEBODY}}}|"
    reach = rf"(?>{name}{_OUTSIDE}{{1,{_REACH.get(kind, 40)}}})"
    gap = rf"(?:{reach}(?:(?<![a-z]){state}|(?<=[^a-z]n)|(?<=[^a-z]n[or])|(?<=n\.o)))?"
    skip = rf"(?:(?:\d{{1,2}}(?![\d./\-,])|{DATE}) ?[a-z]{_OUTSIDE}{{1,25}}+(?<![a-z]))??"
    fewest = rf"(?=[\da-f](?:{_G}[\da-f]){{{_FEWEST[kind] - 1}}})"
    return rf"(?:{_WORDS[kind]})(?!{end}){gap}{skip}{fewest}(?!{DATE}|{SERIES})(?P<{kind}>{_VALUES[kind]})"


_GLUED_NAMED = "|".join(map(_named, _GLUED))
_OTHERS_NAMED = "|".join(_named(kind) for kind in _WORDS if kind not in _GLUED)
_NAMED = re.compile(rf"(?=[a-z])(?:{_GLUED_NAMED}|(?<![a-z])(?:{_OTHERS_NAMED}))")

_NUMBER = rf"(?:(?:numero|numeracao|num|nro|nr|no|n|cod|codigo|id)(?![a-z])|#){_MARKS}"
_SMALL = rf"(?:(?:de|do|da|sob|com|o|a|e|eh|foi|era)(?![a-z]){_MARKS}){{0,2}}"
_FAR = rf"(?:[a-z]++(?!\d){_MARKS}){{0,6}}?"
"""Up to six words between."""

_MORE = rf"(?<=[^0-9a-z]\d{{4}}) (?!{AMOUNT})\d{{4}}(?!\d)"
"""1234 5678: the first of some groups, which are read as one number."""

_CODED = re.compile(
    rf"(?=[a-z])(?:(?<![a-z])(?:(?P<plural>pe?d+id+os|compras|encomendas|vendas)|{_WORDS['order']})(?![a-z\]]){_MARKS}"
    rf"{_SMALL}(?P<far_order>{_FAR})(?P<numbered>{_NUMBER}(?:{_NUMBER})?)?(?!{DATE})"
    rf"(?P<order>(?=[a-z]{{0,6}}[-_./]?\d)[0-9a-z]++(?>(?:[-_./][0-9a-z]++)*))(?!{_MORE})"
    rf"|(?:{_WORDS['cnpj']})(?!\]){_MARKS}(?P<far_cnpj>{_FAR})"
    rf"(?P<cnpj>[0-9a-z]{{2}}{_S}[0-9a-z]{{3}}{_S}[0-9a-z]{{3}}{_S}[0-9a-z]{{4}}{_S}\d\d(?![0-9a-z])))"
)
_SHORTENED = re.compile(
    rf"(?=c)(?<![a-z])(?:(?:{_WORDS['cpf']})(?!\])(?=[^\d]{{1,20}}\d{{7,8}}(?![0-9a-z])){_MARKS}{_SMALL}(?:{_NUMBER})?"
    r"(?P<cpf>\d{7,8})"
    rf"|(?:{_WORDS['cnpj']})(?!\])(?=[^\d]{{1,20}}\d{{9,12}}(?![0-9a-z])){_MARKS}{_SMALL}(?:{_NUMBER})?"
    r"(?P<cnpj>\d{9,12}))(?![0-9a-z])"
)
"""Kept as a number, so that its leading zeros are gone, directly behind its word."""
_QUANTITY = re.compile(rf"{AMOUNT}|(?:19|20)\d\d(?![0-9a-z])")
_LISTED = re.compile(
    rf"{BLANK} {{0,2}}(?:[,;/|+&]|e|ou) {{0,2}}(?:(?:o|a|no|n|numero) )?(?!{DATE})(?!{AMOUNT})"
    rf"(?P<value>\d(?:{_G}\d){{6,13}}(?!\d))"
)
_BEHIND = re.compile(
    r"(?=\d)(?<![0-9a-z])(?<!\d[ .\-/])(?P<value>\d(?>(?:[ .\-/]?\d){4,17})(?![0-9a-z])|\d{6}[0-9a-z]{4,14}+)"
    r"[ ,;:()\-=>]{1,5}+(?=[a-z])"
    r"(?:(?:e|eh|sao|o|a|meu|minha|no|do|da|de|numero|n|esse|este|pelo|como|so|campo)\b ?){0,6}[(]?"
    r"(?:(?P<cpf>cpf)|(?P<cnpj>cnpj)|(?P<phone>whats\w*+|zap\w*+|wpp|tel|telefone|fone|cel|celular)"
    r"|(?P<rg>rg|identidade|ssp|sesp|detran)|(?P<order>pedido|protocolo|nota fiscal)|(?P<pix>pix|chave pix)"
    r"|(?P<card>cartao))\b(?![ :=#\-]{0,3}(?:(?:numero|no|n)\b)?[ :.#\-]{0,3}\d)"
)
_LEAST_BEHIND = {"cpf": 9, "cnpj": 13, "phone": 8, "rg": 5, "order": 6, "pix": 8, "card": 13}
_MOST_BEHIND = {"cpf": 11, "cnpj": 14, "phone": 13, "rg": 11, "order": 18, "pix": 14, "card": 18}
"""Digits of a number in front of its word."""


def mark_named(page: Page, harmless: Harmless) -> None:
    """Behind a word («zap 98765 4321»), listed («e 3456 7890»), in front of a word («98765 4321, meu zap»)."""
    page.mark(_coded(page.text, harmless))
    page.mark(_behind_words(page.text, harmless))
    page.mark((*found.span(str(found.lastgroup)), str(found.lastgroup)) for found in _SHORTENED.finditer(page.text))
    for _ in range(2):
        page.mark(_listed(page.text, page.marks))
    page.mark(_before_words(page.text))


def _coded(text: str, harmless: Harmless) -> Iterator[Mark]:
    """Codes with letters, or of few digits, a few words behind the word at most."""
    for found in _CODED.finditer(text):
        kind = str(found.lastgroup)
        start = found.start(kind)
        is_code = _is_cnpj_code(found) if kind == "cnpj" else _is_order_code(found)
        is_claimed = bool(found[f"far_{kind}"]) and harmless.claims(start, behind=found.start())
        if is_code and not is_claimed and not is_price(text, start):
            yield *found.span(kind), kind


def _is_cnpj_code(found: re.Match[str]) -> bool:
    """Fourteen letters and digits in a row; with gaps not words («em que nao veio 12»)."""
    return found["cnpj"].isalnum() or sum(map(str.isdigit, found["cnpj"])) > 3


def _is_order_code(found: re.Match[str]) -> bool:
    """The farther from the word, the more digits a code needs; after «n.» or «#» fewer. A plural counts orders."""
    code = found["order"]
    is_far = bool(found["far_order"])
    digits = sum(map(str.isdigit, code))
    if found["numbered"]:
        return digits >= (5 if is_far else 3)
    if found["plural"] and is_far:
        return False
    needed = 6 if found["plural"] or is_far else 4 if code.isdigit() else 5
    return digits >= needed and not _QUANTITY.match(found.string, found.start("order"))


def _behind_words(text: str, harmless: Harmless) -> Iterator[Mark]:
    for found in _NAMED.finditer(text):
        kind = str(found.lastgroup)
        start = found.start(kind)
        if not harmless.claims(start, behind=found.start()) and not is_price(text, start):
            yield *found.span(kind), kind


def _listed(text: str, marks: list[Mark]) -> Iterator[Mark]:
    """More of the same kind: «telefones X e Y»."""
    listed = list(_LISTED.finditer(text))
    kinds = {end: kind for _, end, kind in marks if kind in ("phone", "cpf", "rg", "order")} if listed else {}
    for found in listed:
        kind = kinds.get(found.start() + len(BLANK))
        if kind:
            yield *found.span("value"), kind


def _before_words(text: str) -> Iterator[Mark]:
    for found in _BEHIND.finditer(text):
        kind = str(found.lastgroup)
        start = found.start()
        fits = _LEAST_BEHIND[kind] <= sum(map(str.isdigit, found["value"])) <= _MOST_BEHIND[kind]
        if fits and not is_date(text, start) and not is_amount(text, start):
            yield *found.span("value"), kind
