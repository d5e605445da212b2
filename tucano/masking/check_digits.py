"""The check digits of CPF, CNPJ and card numbers."""

from operator import mul

_CPF_WEIGHTS = (11, 10, 9, 8, 7, 6, 5, 4, 3, 2)
_CNPJ_WEIGHTS = (6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)
"""Of the characters in front of the second check digit; in front of the first they are the same less the leading one."""

_ZERO = ord("0")
_DOUBLED = bytes.maketrans(b"0123456789", bytes((0, 2, 4, 6, 8, 1, 3, 5, 7, 9)))
"""{a digit: the sum of the digits of twice the digit}."""


def luhn(digits: str) -> bool:
    """Luhn's check (ISO/IEC 7812-1, annex B): the sum of digits, every second one from the right doubled, ends in 0."""
    codes = digits.encode()
    others = codes[::-2]
    return (sum(others) - _ZERO * len(others) + sum(codes[-2::-2].translate(_DOUBLED))) % 10 == 0


def is_cpf(digits: str) -> bool:
    """Two check digits modulo 11 over weights 10..2 and 11..2; eleven equal digits are no CPF."""
    return len(digits) == 11 and digits != digits[0] * 11 and _checks(digits.encode(), _CPF_WEIGHTS)


def is_cnpj(characters: str) -> bool:
    """Two check digits modulo 11 over weights 5..2, 9..2 and 6..2, 9..2; fourteen equal digits are no CNPJ.

    Since July 2026 the first twelve characters may be letters, too, each worth the ASCII code of its capital less 48 (Receita Federal,
    technical note Cocad 49/2024).
    """
    if len(characters) != 14 or not characters[12:].isdigit() or characters == characters[0] * 14:
        return False
    return _checks(characters.upper().encode(), _CNPJ_WEIGHTS)


def _checks(codes: bytes, weights: tuple[int, ...]) -> bool:
    """Whether each of the last two characters is 11 less the weighted sum of those before it, modulo 11, or 0 instead of 10 and 11."""
    return _check_digit(codes, weights[1:]) == codes[-2] - _ZERO and _check_digit(codes, weights) == codes[-1] - _ZERO


def _check_digit(codes: bytes, weights: tuple[int, ...]) -> int:
    """What has to follow the first characters, as many as there are weights."""
    rest = (sum(map(mul, codes, weights)) - _ZERO * sum(weights)) % 11
    return 0 if rest < 2 else 11 - rest
