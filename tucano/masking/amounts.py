"""Numbers that are nobody's: dates, times, prices, quantities, and what a word calls a CEP, a model or a barcode."""

import re
from bisect import bisect_right
from functools import cached_property

from tucano.masking.page import BLANK, Page

_UNITS = (
    r"reais|real|contos?|mil|milhao|milhoes|bilhoes|unidades?|unid|un|und|pecas?|pcs|itens|produtos|pares|caixas|ml|litros?|mg|kg|gramas?|km|cm|mm"
    r"|metros|mah|w|watts?|volts?|btus?|gb|mb|tb|ghz|mhz|hz|rpm|lumens|horas?|hs|minutos|dias|meses|anos|pontos|milhas|clientes|pessoas|vezes"
    r"|visualizacoes|seguidores|curtidas|usuarios|avaliacoes|pedidos|vendas|folhas|paginas|linhas|pixels|dpi|habitantes|exemplares"
)
DATE = (
    r"(?:\d{1,2}/\d{1,2}/(?:19|20)?\d\d|\d{1,2}-\d{1,2}-(?:19|20)?\d\d|\d{1,2}[.=]\d{1,2}[.=](?:19|20)?\d\d|(?:19|20)\d\d[/.\-]\d\d[/.\-]\d\d"
    r"|\d{1,2}[/\-](?:19|20)\d\d|(?:19|20)\d\d[/\-]\d{1,2}|\d{1,2}/\d{1,2}|\d{1,2} ?[:h] ?\d\d)(?![/.\-]?\d)"
)
AMOUNT = (
    rf"(?:\d{{1,3}}(?:\.\d{{3}})+(?:,\d{{1,2}})?(?![.\-/]?\d)|\d{{1,15}},\d{{1,6}}(?!\d)|\d[\d .]{{0,14}} ?(?:(?:{_UNITS})(?![a-z])|%))"
)
_DATE, _AMOUNT = re.compile(DATE), re.compile(AMOUNT)

_CODES = (
    r"cep|ean|gtin|upc|isbn|sku|ncm|imei|codigos? de barras?|cod|cods|codigo|ref|refs|referencia|modelo|mod|lote|serie|serial|versao"
    r"|part number|pn|anatel|inmetro|anvisa|produto|artigo|item|registro|agencia"
)
_WORD = re.compile(
    rf"(?<![a-z])(?=[acdegilmnprstuv])(?:(?P<code>{_CODES})|valor|preco|total|dia|data|ano|medio|media)(?![a-z\]])"
    r"(?! d[aeo]s? (?:meu |minha )?(?:pedido|compra|encomenda|rastreio|rastreamento|postagem|reserva))"
)
_CLAIM = 15
"""Characters up to which a word claims a number behind it."""


def is_amount(text: str, start: int) -> bool:
    """Whether a price or a quantity begins at `start`."""
    return text[max(0, start - 2) : start].rstrip().endswith(("$", "€")) or _AMOUNT.match(text, start) is not None


def is_date(text: str, start: int) -> bool:
    return _DATE.match(text, start) is not None


def are_years_or_round(first: str, last: str) -> bool:
    """Whether two groups of four digits are two years (2018-2019) or a range of round numbers (2500-3000)."""
    return (first[:2] in ("19", "20") and last[:2] in ("19", "20")) or (first.endswith("00") and last.endswith("00"))


class Harmless:
    """Which numbers of a page a word in front of them calls harmless: a code of a thing, or an amount or a date."""

    def __init__(self, page: Page) -> None:
        self._page, self._read = page, page.text

    @cached_property
    def _words(self) -> list[re.Match[str]]:
        return list(_WORD.finditer(self._read))

    @cached_property
    def _ends(self) -> list[int]:
        return [word.end() for word in self._words]

    @cached_property
    def _code_ends(self) -> list[int]:
        return [word.end() for word in self._words if word["code"]]

    def claims(self, number: int, behind: int = 0) -> bool:
        """Whether a word that ends at or behind the place `behind` claims the number that begins at `number`."""
        return self._near(self._ends, number, behind)

    def is_code(self, number: int) -> bool:
        return self._near(self._code_ends, number, 0)

    def _near(self, ends: list[int], number: int, behind: int) -> bool:
        place = bisect_right(ends, number) - 1
        if place < 0 or ends[place] < max(behind, number - _CLAIM):
            return False
        between = self._page.text[ends[place] : number]
        return BLANK not in between and "]" not in between
