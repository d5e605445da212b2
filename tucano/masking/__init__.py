"""Personal data out of free text, before anything is stored, logged or shown (LGPD).

Masked: e-mails, CPF, CNPJ (numeric and alphanumeric), RG, Pix keys, card numbers, Brazilian phone numbers, and the numbers of orders,
invoices, protocols and parcels. Three things tell them: a written form of their own (529.982.247-25, (11) 98765-4321), a word near by
that names them («zap», «meu pedido»), valid check digits. A number that has none of these stays. Names and street addresses are left
out: no pattern tells them. docs/data.md has the recall of each kind.
"""

from collections import Counter

from tucano.masking.addresses import mark_addresses
from tucano.masking.amounts import Harmless
from tucano.masking.codes import mark_ids, mark_long_codes
from tucano.masking.folding import Folded
from tucano.masking.named import mark_named
from tucano.masking.numbers import mark_likely_phones, mark_with_check_digits, mark_written
from tucano.masking.page import Page

KINDS = ("email", "pix", "cnpj", "cpf", "rg", "card", "order", "phone")


def mask(text: str) -> tuple[str, Counter[str]]:
    """(text with `[EMAIL]`, `[CPF]`... in place of personal data, how often each kind occurred). Everything else stays as it is.

    Takes time in proportion to the text's length, whatever it holds.
    """
    folded = Folded(text)
    page = Page(folded.text)
    mark_long_codes(page)
    mark_addresses(page)
    near = page.near_digits()
    mark_ids(near)
    mark_written(near)
    harmless = Harmless(near)
    mark_named(near, harmless)
    mark_with_check_digits(near, harmless)
    mark_likely_phones(near, harmless)
    marks = sorted(page.marks + near.original_marks())
    parts, last = [], 0
    for start, end, kind in marks:
        start, end = folded.span(start, end)
        parts += text[last:start], f"[{kind.upper()}]"
        last = end
    return "".join([*parts, text[last:]]), Counter(kind for _, _, kind in marks)
