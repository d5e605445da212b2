"""E-mail addresses, also with gaps (`ana @ gmail.com`), spelt out (`ana arroba gmail ponto com`) or mistyped."""

import re
from collections.abc import Iterator

from tucano.masking.page import Mark, Page

_PROVIDER = (
    r"(?:g-?mail|hotmail|outlook|yahoo|ymail|icloud|live|msn|uol|bol|terra|ig|globo(?:mail)?|r7"
    r"|oi|protonmail)(?:com(?:br)?)?\b"
)
_TOP = r"(?:com|net|org|gov|edu|ind|adv|br)\b"
_DOT = (
    r"(?:(?=[ .,(\[{])(?: {0,2}[.,]\.? {0,2}| {0,2}[(\[{] ?(?:\.|ponto|dot) ?[)\]}] {0,2}| {1,2}(?:ponto|dot) {1,2}))"
)
_DOMAIN = (
    rf"(?=[\w-]++[ .,(\[{{]|{_PROVIDER})(?:(?:[\w-]++\.)+[a-z]{{2,24}}"
    rf"|{_PROVIDER}(?:(?:{_DOT}|[ ,])com\b(?:(?:{_DOT}|[ ,])br\b)?)?"
    rf"|[\w-]++(?:{_DOT}[\w-]++){{0,3}}?{_DOT}{_TOP}(?:{_DOT}br\b)?)"
)
_KNOWN = re.compile(_PROVIDER)
_SIGNED = re.compile(rf"@[@.]?(?P<gap>[ )\]}}>]{{0,3}}){_DOMAIN}")
_BARE_AT = rf"\bat\b(?= {{1,2}}{_PROVIDER}(?:{_DOT}|[ ,])com\b)"
"""Unlike «arroba» an English word («look at this»): only a provider's whole domain makes it a sign."""

_SPELT = re.compile(
    rf"(?:\barr?oba\b|arr?oba(?={_PROVIDER})|[(\[{{<] ?(?:at|arroba) ?[)\]}}>]|{_BARE_AT})(?P<gap> {{0,2}}){_DOMAIN}"
)
_SPELLINGS = re.compile(r"a(?:rr?oba|t[ )\]}>])")
_NAME = re.compile(
    r"(?<![\w.+%'-])[.+%'-]*+"
    r"(?P<value>\w[\w.+%'-]*+(?>(?: (?:ponto|dot|underline|underscore|traco|hifen) [\w-]++){0,3}))"
    r"(?P<gap> {0,2}[(\[{<]? ?)\Z"
)
_ANNOUNCED = re.compile(r"\be[- ]?mail\b[^@]{0,20}\Z")
_SHOPPED = re.compile(r"compr\w*|ped(?:i|ido)|loja|site|app|vendid[oa]|[nd][ao]|vi|achei|peguei|assinei")
"""What one does at a shop («compra @ americanas.com»); any other word in front of such a sign may be a name."""

_IMAGE = re.compile(r"\.(?:png|jpe?g|gif|webp|svg)\Z")
_LONGEST_NAME = 100
"""RFC 5321 allows 64 characters; spelt out they are more."""


def mark_addresses(page: Page) -> None:
    if "@" in page.text:
        page.mark(_addresses(page.text, _SIGNED))
    if _SPELLINGS.search(page.text):
        page.mark(_addresses(page.text, _SPELT))


def _addresses(text: str, domains: re.Pattern[str]) -> Iterator[Mark]:
    end = 0
    for domain in domains.finditer(text):
        name = _NAME.search(text, max(end, domain.start() - _LONGEST_NAME), domain.start())
        if name and not _is_handle(name, domain) and not _IMAGE.search(domain[0]):
            end = domain.end()
            yield name.start("value"), end, "email"


def _is_handle(name: re.Match[str], domain: re.Match[str]) -> bool:
    """«siga @loja.oficial»: a gap in front of the sign, no provider of mail and no word for it.

    With a gap behind the sign, too («compra @ americanas.com»), only where the word in front says that it is a shop.
    """
    if not name["gap"] or not domain[0].startswith("@") or (domain["gap"] and not _SHOPPED.fullmatch(name["value"])):
        return False
    if _ANNOUNCED.search(name.string, max(0, name.start() - 30), name.start("value")):
        return False
    return _KNOWN.match(domain.string, domain.end("gap")) is None
