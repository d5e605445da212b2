"""Personal data out of free text, before anything is stored, logged or shown (LGPD).

Masked: e-mails, CPF, CNPJ (numeric and alphanumeric), RG, Pix keys, card numbers, Brazilian phone numbers, and the
numbers of orders, invoices, protocols and parcels. Three things tell them: a written form of their own
(529.982.247-25, (11) 98765-4321), a word near by that names them («zap», «meu pedido»), valid check digits. A number
that has none of these stays. docs/data.md has the recall of each kind.
"""

from collections import Counter

from tucano.masking.addresses import mark_addresses
from tucano.masking.amounts import Harmless
from tucano.masking.codes import mark_ids, mark_long_codes
from tucano.masking.folding import Folded
from tucano.masking.named import mark_named
from tucano.masking.numbers import mark_unsure, mark_written
from tucano.masking.page import Mark, Page

KINDS = ("email", "pix", "cnpj", "cpf", "rg", "card", "order", "phone")
NOT_MASKED = "names, street addresses and bank accounts follow no pattern and are not masked"


def mask(text: str) -> tuple[str, Counter[str]]:
    """(text with `[EMAIL]`, `[CPF]`... in place of personal data, how often each kind occurred); the rest as it was."""
    found = find(text)
    parts: list[str] = []
    last = 0
    for start, end, kind in found:
        parts += text[last:start], f"[{kind.upper()}]"
        last = end
    return "".join([*parts, text[last:]]), Counter(kind for _, _, kind in found)


def find(text: str) -> list[Mark]:
    """Where personal data is: (start, end, kind), in order, without overlap. Linear in the text's length."""
    folded = Folded(text)
    page = Page(folded.text)
    mark_long_codes(page)
    mark_addresses(page)
    near = page.near_digits()
    mark_ids(near)
    mark_written(near)
    harmless = Harmless(near)
    mark_named(near, harmless)
    mark_unsure(near, harmless)
    return folded.original(sorted(page.marks + near.original_marks()))
