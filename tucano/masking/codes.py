"""Codes with letters in them: Pix codes and random keys, the CNPJ of 2026, ids of orders and parcels."""

import re
from collections.abc import Iterator

from tucano.masking.check_digits import is_access_key, is_cnpj
from tucano.masking.page import Mark, Page

_PAYLOAD = re.compile(r"(?<!\d)000201(?=\d)")
_FIELD = re.compile(r"(\d\d)(\d\d)")
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_KEY_IN_PAYLOAD = re.compile(rf"(?<=0136){_UUID}")
_SPACED_UUID = r"[0-9a-f]{8}(?:[ _-]{1,3}[0-9a-f]{4}){3}[ _-]{1,3}[0-9a-f]{12}(?![0-9a-z])"
_ACCESS_KEY = r"[1-5]\d{3}[ .-]{0,3}(?:0[1-9]|1[0-2])\d\d(?:[ .-]{0,3}\d{4}){9}"
"""The key of an invoice: state, year, month and more, as 44 digits or in groups of four."""

_PARCEL = r"[a-z]{2} ?\d{9} ?[a-z]{2}|[a-z]{2}(?:[ .-]?\d){9}[ .-]?(?:br|cn|hk|nl|sg|us)"
"""AA123456789BR; with gaps («de 123 456 789 em») only of countries whose code is no word."""

_IDS = re.compile(
    r"(?<![0-9a-z])(?=[0-9a-z]{4}(?:[0-9a-z]{4}|[ .-]{1,3}[01]\d{3})|[a-z]{2}(?:[ .-]?\d){9})"
    rf"(?:(?P<pix>{_UUID}|{_SPACED_UUID})"
    rf"|(?P<order>(?P<key>{_ACCESS_KEY})|[0-9a-f]{{32}}|{_PARCEL})(?![0-9a-z])"
    r"|(?P<cnpj>[0-9a-z]{12}\d\d)(?![0-9a-z]))"
)
_BRANCH = re.compile(r"/(?:(?<=[0-9a-z]{3}/)|(?<=[0-9a-z]{3} /)) ?[0-9a-z]{4} ?- ?\d\d(?!\d)")
_ROOT = re.compile(r"(?<![0-9a-z])[0-9a-z]{2}\.?[0-9a-z]{3}\.?[0-9a-z]{3} ?\Z")


def mark_long_codes(page: Page) -> None:
    """What may have few digits: has to be sought in the whole text."""
    if "000201" in page.text:
        page.mark(_payloads(page.text))
        page.mark((*found.span(), "pix") for found in _KEY_IN_PAYLOAD.finditer(page.text))
    page.mark(_lettered_cnpjs(page.text))


def mark_ids(page: Page) -> None:
    page.mark((*found.span(), str(found.lastgroup)) for found in _IDS.finditer(page.text) if _is_id(found))


def _is_id(found: re.Match[str]) -> bool:
    """No word of the letters a to f alone; a CNPJ has letters, it and the key of an invoice valid check digits."""
    if found["key"]:
        return is_access_key(re.sub(r"\D", "", found[0]))
    if found.lastgroup == "cnpj":
        return not found[0].isdigit() and is_cnpj(found[0])
    return any(map(str.isdigit, found[0]))


def _payloads(text: str) -> Iterator[Mark]:
    """Whole «copia e cola» codes: they hold key, name and city of who is paid."""
    last = 0
    for found in _PAYLOAD.finditer(text):
        end = _payload_end(text, found.start()) if found.start() >= last else None
        if end:
            yield found.start(), end, "pix"
            last = end


def _payload_end(text: str, start: int) -> int | None:
    """The end of fields `id, length, value` with rising ids, 63 the last (EMV QR code); None where there are none."""
    last = -1
    while (field := _FIELD.match(text, start)) and int(field[1]) > last:
        last = int(field[1])
        start = field.end() + int(field[2])
        if last == 63:
            return start if start <= len(text) else None
    return None


def _lettered_cnpjs(text: str) -> Iterator[Mark]:
    """12.ABC.345/01DE-35, and without dots where it is not a word («contrato/2018-10»)."""
    for branch in _BRANCH.finditer(text):
        root = _ROOT.search(text, max(0, branch.start() - 11), branch.start())
        if root and (not root[0].strip().isalpha() or is_cnpj(re.sub(r"\W", "", root[0] + branch[0]))):
            yield root.start(), branch.end(), "cnpj"
