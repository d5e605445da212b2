"""Personal numbers that their written form or their check digits give away.

Patterns read folded text. They take linear time: a run of characters is entered at its start only, and what repeats is
counted or possessive. A lookahead at the start of an alternative only saves time. A pattern may tell several kinds
apart, each a group with its name.
"""

import re
from collections.abc import Callable, Iterator

from tucano.masking.amounts import UNIT, Harmless
from tucano.masking.check_digits import is_cnpj, is_cpf, luhn
from tucano.masking.page import Mark, Page

_S = r"[ .\-/]{0,2}+"
"""A gap. Possessive: a digit follows, so less of it never fits better."""

_L = r"[ .,_\-/]{0,3}+"
"""A looser gap, of numbers with check digits."""

_CNPJ = rf"\d\d{_S}\d{{3}}{_S}\d{{3}}(?: ?/ ?\d{{4}}[ .\-/]{{0,3}}| ?[.\-] ?\d{{4}} ?- ?)\d\d(?!\d)"
_CPF = rf"\d{{3}}{_S}\d{{3}}{_S}\d{{3}}[ .\-/]{{0,3}}\d\d(?!\d)"
_CPF_MARKS = re.compile(r".*- ?\d\d|\d{3} ?([.\-/]) ?\d{3} ?\1.*")
"""000.000.000-00, 000-000-000-00, 000.000.000/00, 000 000 000-00, 000000000-00: marks, not gaps alone."""

_RG = r"\d{1,2} ?\. ?\d{3} ?\. ?\d{3} ?- ?(?:\d(?!\d)|x(?![0-9a-z]))|(?<=\bmg[- ])\d{1,2}\.\d{3}\.\d{3}(?!\d)"
_ORDER = r"(?:0[1-3] ?[-_] ?\d{3,6} ?\d{3,9}|\d{3}-\d{7}-\d{7}|\d{13}-0[1-9]|(?<!\.)0\d\d\.\d{3}\.\d{3}(?!-))(?!\d)"
"""As large Brazilian shops number them, and the printed number of an invoice."""

_AREA = r"(?:1[1-9]|2[12478]|3[1-578]|4[1-9]|5[1345]|6[1-9]|7[134579]|8[1-9]|9[1-9])"
"""The area codes in use (Anatel)."""

_TRUNK = r"(?:0 ?(?:(?:xx|\*\*|\d\d) ?)?)?"
"""What may stand in front of it, with or without a carrier: 0, 0xx, 0 21."""

_IN_AREA = r"[1-9]\d[ .\-/)_]{1,3}[2-9]|0\d\d|0[ x*]{1,3}\d\d"
_MOBILE = r"9[ .\-_]{0,2}\d{4}[ .\-_]{0,3}\d{4}(?!\d)"
_ANY = r"(?:9[ .\-_]{0,2})?[2-9]\d{3}[ .\-_]{0,3}\d{4}(?!\d)"
_BRACKETED = re.compile(
    rf"[(\[] ?(?:ddd ?)?{_TRUNK}\d\d ?[)\]][ .\-/]{{0,3}}(?:{_ANY}|\d(?:[ .\-]{{0,2}}\d){{7,8}}(?!\d))"
)
_BRAZIL = re.compile(r"(?:\+ ?|00 ?)?(?<!\d)55[ .\-]{0,2}\Z")
_WITH_PLUS = re.compile(
    rf"\+ ?(?:55[ .\-]{{0,2}}{_TRUNK}{_AREA}[ .\-/]{{0,3}}{_ANY}"
    r"|(?:\d{10,15}|\d{1,3}(?:[ .\-(]{1,2}\)?\d{2,5}\)?){2,4})(?!\d))"
)
_WRITTEN = re.compile(
    rf"(?=\d)(?<!\d)(?:(?=55|{_IN_AREA})(?P<phone>(?:00 ?)?55[ .\-(]{{0,2}}{_TRUNK}{_AREA}[ .\-/)]{{0,3}}{_MOBILE}"
    rf"|{_TRUNK}{_AREA}[ .\-/)_]{{1,3}}{_MOBILE})"
    rf"|(?=[\d ]{{2,14}}+[.\-/_])(?:(?P<cnpj>{_CNPJ})|(?P<cpf>{_CPF})|(?P<rg>{_RG})|(?<![a-z])(?P<order>{_ORDER})))"
)

_CARD = (
    r"(?:(?:2[2-7]|[3-6]\d)\d\d(?:(?: {1,3}\d{4}){3}|(?P<gap>[,_]|[ .\-/+]{0,3}+)\d{4}(?P=gap)\d{4}(?P=gap)\d{4})"
    rf"|3\d{{3}}{_L}\d{{6}}{_L}\d{{4,5}}"
    r"|4\d{12}|[56]\d{16,18})(?!\d)"
)
_CARD_FORM = re.compile(r"[3-6]\d{3}([ .\-_])\d{4}\1\d{4}\1\d{4}")
_GROUPS = r"(?!(?:19|20)\d\d[ .-]{1,2}(?:19|20)\d\d|\d\d00[ .-]{1,2}\d\d00|\d{4}[ .-]{1,2}(?:1080|1440|2160|4320))"
"""Two groups of four digits that are no years (2018-2019), no round numbers (2500-3000), no pixels of a screen."""

_PHONE = (
    rf"(?=[\d ./x*)]{{2,12}}+-)(?:{_TRUNK}{_AREA}[ .\-/)]{{0,3}}(?:9[ .\-]{{0,2}})?)?{_GROUPS}[2-9]\d{{3}}-\d{{4}}"
    rf"|(?={_IN_AREA}){_TRUNK}{_AREA}[ .\-/]{{1,3}}{_GROUPS}[2-9]\d{{3}}[ .]{{1,2}}\d{{4}}"
    rf"|9[ .\-]?{_GROUPS}\d{{4}}[ .\-]\d{{4}}|0[38]00[ .-]?\d{{3}}[ .-]?\d{{4}}"
)
_UNSURE = re.compile(
    r"(?=\d\d|9[ .\-]\d{4}|0[ x*]{1,3}\d\d)"
    rf"(?<![\d$€])(?<![$€] )(?:(?P<cpf>\d{{3}}{_L}\d{{3}}{_L}\d{{3}}{_L}\d\d(?!\d))|(?P<card>{_CARD})"
    rf"|(?P<cnpj>\d\d{_L}\d{{3}}{_L}\d{{3}}{_L}\d{{4}}{_L}\d\d(?!\d))"
    rf"|(?<![a-z])(?<!\d[-./])(?P<phone>{_PHONE})(?![-/]?\d| ?{UNIT}))"
)


def mark_written(page: Page) -> None:
    """What looks like nothing else."""
    page.mark(_bracketed(page.text))
    page.mark((*found.span(), "phone") for found in _WITH_PLUS.finditer(page.text))
    page.mark(_written(page.text))


def mark_unsure(page: Page, harmless: Harmless) -> None:
    """What may be something else: numbers with valid check digits, and phone numbers without brackets."""
    page.mark(_unsure(page.text, harmless))


def _bracketed(text: str) -> Iterator[Mark]:
    """Phone numbers with a bracketed area code, and the country code in front of it."""
    last = 0
    for found in _BRACKETED.finditer(text):
        country = _BRAZIL.search(text, max(last, found.start() - 8), found.start())
        last = found.end()
        yield (country or found).start(), last, "phone"


def _written(text: str) -> Iterator[Mark]:
    for found in _WRITTEN.finditer(text):
        if found.lastgroup != "cpf" or _CPF_MARKS.fullmatch(found[0]):
            yield *found.span(), str(found.lastgroup)


def _unsure(text: str, harmless: Harmless) -> Iterator[Mark]:
    for found in _UNSURE.finditer(text):
        kind, start = str(found.lastgroup), found.start()
        if kind in _CHECKS and not _CHECKS[kind](found[0]):
            continue
        claims = harmless.claims if kind == "phone" else harmless.claims_directly
        if not claims(start):
            yield start, found.end(), kind


def _digits(written: str) -> str:
    return written if written.isdigit() else re.sub(r"\D", "", written)


def _is_card(written: str) -> bool:
    """One that is written as a card (0000 0000 0000 0000) may be mistyped."""
    return luhn(_digits(written)) or _CARD_FORM.fullmatch(written) is not None


_CHECKS: dict[str, Callable[[str], bool]] = {
    "cpf": lambda written: is_cpf(_digits(written)),
    "cnpj": lambda written: is_cnpj(_digits(written)),
    "card": _is_card,
}
