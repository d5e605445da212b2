"""Numbers that are nobody's: dates, times, prices, quantities, and what a word calls a CEP, a model or a barcode."""

import re
from bisect import bisect_right
from functools import cached_property

from tucano.masking.page import BLANK, Page

UNIT = (
    r"(?:(?:reais|real|contos?|mil|milhao|milhoes|bilhoes|unidades?|unid|un|und|pecas?|pcs|itens|produtos|pares|caixas"
    r"|ml|litros?|mg|kg|gramas?|km|cm|mm|metros|mah|w|watts?|volts?|btus?|gb|mb|tb|ghz|mhz|hz|rpm|lumens|horas?|hs"
    r"|minutos|dias|meses|anos|pontos|milhas|clientes|pessoas|vezes|visualizacoes|seguidores|curtidas|usuarios"
    r"|avaliacoes|pedidos|vendas|folhas|paginas|linhas|pixels|dpi|habitantes|exemplares)(?![a-z])|%)"
)
DATE = (
    r"(?:\d{1,2}/\d{1,2}/(?:19|20)?\d\d|\d{1,2}-\d{1,2}-(?:19|20)?\d\d|\d{1,2}[.=]\d{1,2}[.=](?:19|20)?\d\d"
    r"|(?:19|20)\d\d[/.\-]\d\d[/.\-]\d\d|\d{1,2}[/\-](?:19|20)\d\d|(?:19|20)\d\d[/\-]\d{1,2}|\d{1,2}/\d{1,2}"
    r"|\d{1,2} ?[:h] ?\d\d)(?![/.\-]?\d)"
)
AMOUNT = (
    r"(?:(?!0\d)\d{1,3}(?:\.\d{3})+(?:,\d{1,2})?(?![.\-/]?\d)|\d{1,15},\d{1,6}(?!\d)"
    rf"|(?:\d{{1,3}}(?>(?:[ .]\d{{3}})+)|\d{{1,15}}+(?:\.\d\d?)?) ?{UNIT})"
)
_YEAR = r"(?:19|20)\d\d"
_SIZE = rf"(?:[345]\d|110|127|220|380|{_YEAR})"
_NEXT = r"[ ,/\-e]{1,3}"
SERIES = rf"(?:{_SIZE}(?:{_NEXT}{_SIZE}){{2,}}|{_YEAR}{_NEXT}{_YEAR})(?![/.\-]?\d)"
"""Sizes of clothes and shoes, voltages, years: 38 40 42, 110/127/220, 2018-2019."""

_DATE, _AMOUNT = re.compile(DATE), re.compile(AMOUNT)

_CODES = (
    r"cep|ean|gtin|upc|isbn|sku|ncm|imei|codigos? de barras?|cod|cods|codigo|ref|refs|referencia|modelo|mod|lote|serie"
    r"|serial|versao|part number|pn|anatel|inmetro|anvisa"
)
_THINGS = (
    r"(?<!pedido do )(?<!compra do )produto|artigo|item|registro|agencia|valor|preco|total|dia|data|ano"
    r"|medio|media|resolucao"
)
_WORD = re.compile(
    rf"(?<![a-z])(?=[acdegilmnprstuv])(?:(?P<code>{_CODES})|{_THINGS})(?![a-z\]])"
    r"(?! d[aeo]s? (?:meu |minha )?(?:pedido|compra|encomenda|rastreio|rastreamento|postagem|reserva))"
)
_DIRECTLY = re.compile(r"[ :;,.#()=-]{0,4}(?:(?:numero|nro|nr|no|n|do|da|de|e|eh)[ :.#-]{1,3}){0,2}")
_CLAIM = 15
"""Characters up to which the name of a code claims a number; the name of a thing has to stand directly before it."""


def is_amount(text: str, start: int) -> bool:
    """Whether a price or a quantity begins at `start`."""
    return is_price(text, start) or _AMOUNT.match(text, start) is not None


def is_price(text: str, start: int) -> bool:
    """Whether a currency stands before the number that begins at `start`."""
    return text[max(0, start - 2) : start].rstrip().endswith(("$", "€"))


def is_date(text: str, start: int) -> bool:
    return _DATE.match(text, start) is not None


class Harmless:
    """Which numbers of a page a word in front of them calls harmless: a code of a thing, or an amount or a date."""

    def __init__(self, page: Page) -> None:
        self._page, self._read = page, page.text

    @cached_property
    def _words(self) -> list[tuple[int, bool]]:
        """(end, whether it names a code) of each word."""
        return [(word.end(), word["code"] is not None) for word in _WORD.finditer(self._read)]

    def claims(self, number: int, behind: int = 0) -> bool:
        """Whether a word that ends at or behind the place `behind` claims the number that begins at `number`."""
        end, is_code = self._nearest(number)
        return behind <= end and (self._is_direct(end, number) or (is_code and self._is_near(end, number)))

    def claims_directly(self, number: int) -> bool:
        return self._is_direct(self._nearest(number)[0], number)

    def _nearest(self, number: int) -> tuple[int, bool]:
        """The last word that ends before a number; (-1, False) where none does."""
        place = bisect_right(self._words, (number, True)) - 1
        return self._words[place] if place >= 0 else (-1, False)

    def _is_direct(self, end: int, number: int) -> bool:
        return end >= max(0, number - _CLAIM) and _DIRECTLY.fullmatch(self._page.text, end, number) is not None

    def _is_near(self, end: int, number: int) -> bool:
        between = self._page.text[end:number]
        return len(between) <= _CLAIM and BLANK not in between and "]" not in between
