"""Personal data out of free text, before anything is stored, logged or shown (LGPD).

Masked: e-mails, CPF, CNPJ, card numbers (13 to 19 digits that pass Luhn's check), order numbers (Olist's 32 hexadecimal digits, or digits
announced by "pedido", "compra", "protocolo", "NF"), Brazilian phone numbers. Bare digits are a CPF or CNPJ when the check digits agree or
the word stands before them; a written form (000.000.000-00) always counts. Names and addresses are left out: no pattern tells them.
"""

import re
from collections import Counter
from collections.abc import Callable

KINDS = ("email", "cnpj", "cpf", "card", "order", "phone")

_Rule = tuple[str, re.Pattern[str], Callable[[re.Match[str]], bool]]


def mask(text: str) -> tuple[str, Counter[str]]:
    """(text with `[EMAIL]`, `[CPF]`... in place of personal data, how often each kind occurred)."""
    counts: Counter[str] = Counter()
    for kind, pattern, is_one in _RULES:

        def replacement(found: re.Match[str], kind: str = kind, is_one: Callable[[re.Match[str]], bool] = is_one) -> str:
            if not is_one(found):
                return found[0]
            counts[kind] += 1
            prefix = found.groupdict().get("before") or ""
            return f"{prefix}[{kind.upper()}]"

        text = pattern.sub(replacement, text)
    return text, counts


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def luhn(digits: str) -> bool:
    """Luhn's check (ISO/IEC 7812-1, annex B): the sum of digits, every second one from the right doubled, ends in 0."""
    doubled = [int(digit) * (1 + position % 2) for position, digit in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def is_cpf(digits: str) -> bool:
    """Two check digits modulo 11 over weights 10..2 and 11..2; eleven equal digits are no CPF."""
    if len(digits) != 11 or len(set(digits)) == 1:
        return False
    return all(_check_digit(digits[:end], range(end + 1, 1, -1)) == int(digits[end]) for end in (9, 10))


def is_cnpj(digits: str) -> bool:
    """Two check digits modulo 11 over weights 5..2, 9..2 and 6..2, 9..2."""
    if len(digits) != 14 or len(set(digits)) == 1:
        return False
    weights = (6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)
    return all(_check_digit(digits[:end], weights[13 - end :]) == int(digits[end]) for end in (12, 13))


def _check_digit(digits: str, weights: "range | tuple[int, ...]") -> int:
    rest = sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=True)) % 11
    return 0 if rest < 2 else 11 - rest


def _always(found: re.Match[str]) -> bool:
    return True


_EDGE, _END = r"(?<![\w.])", r"(?!\w)"
_RULES: tuple[_Rule, ...] = (
    ("email", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), _always),
    ("cnpj", re.compile(rf"{_EDGE}\d{{2}}\.\d{{3}}\.\d{{3}}/\d{{4}}-?\d{{2}}{_END}"), _always),
    ("cnpj", re.compile(r"(?P<before>\bCNPJ\W{0,5}(?:n[º°o.]{0,2}\s*)?)\d{14}\b", re.IGNORECASE), _always),
    ("cnpj", re.compile(rf"{_EDGE}\d{{14}}{_END}"), lambda found: is_cnpj(found[0])),
    ("cpf", re.compile(rf"{_EDGE}\d{{3}}\.\d{{3}}\.\d{{3}}[-./ ]?\d{{2}}{_END}"), _always),
    ("cpf", re.compile(rf"{_EDGE}\d{{9}}-\d{{2}}{_END}"), _always),
    ("cpf", re.compile(r"(?P<before>\bCPF\W{0,5}(?:n[º°o.]{0,2}\s*)?)\d{11}\b", re.IGNORECASE), _always),
    ("order", re.compile(rf"{_EDGE}[0-9a-f]{{32}}{_END}", re.IGNORECASE), _always),
    ("order", re.compile(r"(?<!\w)0[1-3][-_] ?\d{3,6} ?\d{3,9}\b"), _always),
    (
        "order",
        re.compile(
            r"(?P<before>\b(?:pedidos?|compra|protocolo|rastreio|rastreamento|nota fiscal|nf|nfe|o\.?s\.?)\b[\s:#-]*"
            r"(?:(?:n[uú]mero|n[ro]?\.?[º°]?|nº|n°|é|de)[\s:#-]*){0,2})(?=[\w.-]*\d{4})\d[\w.-]*\d\b",
            re.IGNORECASE,
        ),
        _always,
    ),
    ("order", re.compile(rf"{_EDGE}[A-Z]{{2}}\d{{9}}[A-Z]{{2}}{_END}"), _always),
    ("card", re.compile(rf"{_EDGE}\d(?:[ -]?\d){{12,18}}{_END}"), lambda found: luhn(_digits(found[0]))),
    ("cpf", re.compile(rf"{_EDGE}\d{{11}}{_END}"), lambda found: is_cpf(found[0])),
    ("phone", re.compile(r"(?<![\w.,$])(?:\+?55[ .-]?)?\(?0?[1-9]\d\)?[ .-]{0,2}(?:9[ .-]?)?[2-9]\d{3}[ .-]?\d{4}(?![\w,])"), _always),
    ("phone", re.compile(r"(?<![\w.,$/])(?:9[ .-]?)?[2-9]\d{3}-\d{4}(?![\w,/])"), _always),
    ("phone", re.compile(r"(?<![\w.,])0[38]00[ .-]?\d{3}[ .-]?\d{4}(?!\w)"), _always),
)
