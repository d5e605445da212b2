"""The check digits of CPF, CNPJ, card numbers and the access keys of invoices."""

from collections.abc import Sequence
from operator import mul

_VALUES = bytes(max(0, code - ord("0")) for code in range(256))
"""What a character is worth: its ASCII code less 48."""
_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
"""The sum of the digits of twice a digit."""
_CPF_WEIGHTS = ((10, 9, 8, 7, 6, 5, 4, 3, 2), (11, 10, 9, 8, 7, 6, 5, 4, 3, 2))
_CNPJ_WEIGHTS = ((5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2), (6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2))
"""For the first and for the second check digit."""
_KEY_WEIGHTS = (4, 3, 2, *(9, 8, 7, 6, 5, 4, 3, 2) * 5)


def luhn(digits: str) -> bool:
    """Luhn's check (ISO/IEC 7812-1, annex B): the sum of digits, every second one from the right doubled, ends in 0."""
    values = digits.encode().translate(_VALUES)[::-1]
    return (sum(values[::2]) + sum(map(_DOUBLED.__getitem__, values[1::2]))) % 10 == 0


def is_cpf(digits: str) -> bool:
    """Two check digits modulo 11 over weights 10..2 and 11..2; eleven equal digits are no CPF."""
    return len(digits) == 11 and _checks(digits, *_CPF_WEIGHTS)


def is_cnpj(characters: str) -> bool:
    """Two check digits modulo 11 over weights 5..2, 9..2 and 6..2, 9..2; fourteen equal digits are no CNPJ.

    Since July 2026 the first twelve characters may be letters, too, each worth the ASCII code of its capital less 48
    (Receita Federal, technical note 49/2024).
    """
    if len(characters) != 14 or not characters[12:].isdigit():
        return False
    return _checks(characters.upper(), *_CNPJ_WEIGHTS)


def is_access_key(digits: str) -> bool:
    """One check digit modulo 11 over weights 2..9 from the right (NF-e, NFC-e, CT-e: 44 digits)."""
    values = digits.encode().translate(_VALUES)
    return len(digits) == 44 and values[-1] == -sum(map(mul, values, _KEY_WEIGHTS)) % 11 % 10


def _checks(characters: str, first: Sequence[int], second: Sequence[int]) -> bool:
    """Whether each of the last two is 11 less the weighted sum of those before it modulo 11, or 0 for 10 and 11."""
    values = characters.encode().translate(_VALUES)
    if values[-2] != -sum(map(mul, values, first)) % 11 % 10:
        return False
    return values[-1] == -sum(map(mul, values, second)) % 11 % 10 and characters.count(characters[0]) < len(characters)
