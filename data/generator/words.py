"""The synthetic shop: products with their article (Portuguese needs the gender) and category, and how numbers are
written there.
"""

from dataclasses import dataclass

ARTICLES: dict[str, str] = {
    "eletrônicos": "o fone de ouvido|a caixa de som|a câmera|o carregador|a smart tv|o relógio digital|o projetor",
    "informática": "o teclado|o mouse|o notebook|a impressora|o monitor|o pendrive|a webcam",
    "telefonia": "o celular|a capinha|a película|o cabo usb|o suporte de celular|o chip",
    "móveis": "o sofá|a cadeira|a estante|a mesa|o armário|a cômoda|o guarda-roupa",
    "cama e banho": "o lençol|a toalha|o edredom|o travesseiro|a fronha|o roupão",
    "beleza": "o perfume|o batom|o xampu|a maquiagem|o secador|o creme facial|o esmalte",
    "esporte": "a bicicleta|a bola|a esteira|o tênis de corrida|a raquete|o capacete|o haltere",
    "brinquedos": "a boneca|o carrinho|o quebra-cabeça|o jogo de tabuleiro|a pelúcia|o patinete",
    "cozinha": "a panela|a cafeteira|o liquidificador|a faca|a frigideira|a fritadeira|o forno",
    "moda": "a camiseta|a calça|o vestido|a jaqueta|o sapato|a bolsa|a saia",
    "bebês": "o carrinho de bebê|a mamadeira|a fralda|o berço|a chupeta|a banheira",
    "pet": "a ração|a coleira|a casinha|o arranhador|o comedouro|a caminha",
    "automotivo": "o pneu|a bateria|o tapete|o farol|a capa de banco|o alarme",
    "ferramentas": "a furadeira|o martelo|a serra|a parafusadeira|a trena|o alicate",
}
"""{category: «article name|article name»}"""


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


def brazilian(value: float, decimals: int | None = None) -> str:
    """`1234.5` as `1.234,50` (two decimals), integers without decimals, unless `decimals` says otherwise."""
    places = decimals if decimals is not None else (0 if isinstance(value, int) else 2)
    return f"{value:,.{places}f}".translate(str.maketrans(",.", ".,"))
