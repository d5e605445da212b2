"""The catalogue of the synthetic shop: products with their article (Portuguese needs the gender) and category."""

from dataclasses import dataclass

from data.generator.catalogue import CATALOGUE as ARTICLES


@dataclass(frozen=True)
class Product:
    """A thing one can review or advertise."""

    article: str
    name: str
    category: str

    @property
    def slots(self) -> dict[str, str]:
        """`{o}` the fan, `{do}` of the fan, `{p}` fan: what review templates need."""
        return {"o": f"{self.article} {self.name}", "do": f"d{self.article} {self.name}", "p": self.name}


THE_PRODUCT = {"o": "o produto", "do": "do produto", "p": "produto"}
"""The slots of a second sentence, which does not name the product again."""

CATALOGUE: tuple[Product, ...] = tuple(
    Product(entry[0], entry[2:], category) for category, entries in ARTICLES.items() for entry in entries.split("|")
)
CATEGORIES: tuple[str, ...] = tuple(ARTICLES)
STATES: tuple[str, ...] = ("SP", "RJ", "MG", "RS", "PR", "SC", "BA", "PE", "CE", "GO", "DF", "ES")
MONTHS: tuple[str, ...] = tuple(f"2018-{month:02d}" for month in range(1, 13))
PAYMENTS: tuple[str, ...] = ("cartão", "boleto", "voucher", "débito")
