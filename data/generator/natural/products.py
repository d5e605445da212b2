"""What customers write of beside the catalogue: more products, weighed, and the marks of lines that only one category
has."""

from random import Random

from data.generator.words import CATALOGUE, Product

MORE: dict[str, str] = {
    "eletrônicos": "o relógio^30|o smartwatch|a lâmpada de led^2|o drone|o controle remoto^2|o rádio|o microfone^2"
    "|o conversor|a antena^2|a pilha recarregável|o amplificador|o aparelho de som|o tablet^2|o receptor|a tv box"
    "|o fone sem fio^2|o headset^2|o game|a luminária^4|o ventilador^2|o ar condicionado^2|o aspirador^2",
    "informática": "o cartucho^7|o toner^5|o roteador^2|o hd externo^2|a placa de vídeo|a memória|o adaptador^2"
    "|o estabilizador|a mesa digitalizadora|o cartão de memória^3|o cooler|a fonte^2|o cabo hdmi^2|o ssd",
    "telefonia": "a capa de celular^3|a película de vidro^4|o telefone sem fio|o carregador portátil|o smartphone^2"
    "|o display|a bateria do celular^2|o fone original|o bastão de selfie|a capa carteira^2",
    "móveis": "a cortina^6|o tapete de sala^4|a poltrona^2|o rack^2|a escrivaninha|a prateleira^3|a cabeceira|o puff"
    "|o espelho^2|o painel|a cama^3|a mesa de jantar|o banco|a sapateira^2|o criado-mudo|a cadeira de escritório^2"
    "|a cadeira^5|o nicho|a banqueta|o gaveteiro|o colchão^3|o beliche|a capa de sofá^4|o papel de parede^2",
    "cama e banho": "a colcha^3|o jogo de lençol^3|o jogo de cama^3|a almofada^3|a manta^2|o cobertor"
    "|o jogo de toalhas|o protetor de colchão^2|o mosquiteiro|a capa de almofada^2|o cobre-leito^2"
    "|o tapete de banheiro|o porta-travesseiro",
    "beleza": "o kit de pincéis^3|a escova^2|a chapinha^2|o hidratante^2|o condicionador|a base|o rímel|a máscara^2"
    "|o barbeador^2|o protetor solar|o óleo^2|a escova rotativa|o aparador de pelos^2|o sabonete|o creme^3|o sérum"
    "|a paleta de sombras|a maleta de maquiagem^2|o desodorante|a máquina de cortar cabelo",
    "esporte": "a mochila^5|a barraca^2|o tênis^5|a luva^2|o suplemento^2|a garrafa térmica^2|o skate|a joelheira"
    "|a corda|o colchonete|o selim|a bicicleta ergométrica|a chuteira^2|o colete|o canivete|a lanterna^3|o halter"
    "|a bomba de ar|o kimono|a camisa do time^2|a rede",
    "brinquedos": "o boneco^4|o jogo^4|o carrinho de controle|o lego|a massinha|o quebra cabeças|o triciclo"
    "|a piscina|o cubo mágico|a cozinha de brinquedo|a casinha de boneca|o robô^2|a pista de carrinhos|o ursinho"
    "|o pula-pula",
    "cozinha": "a chaleira^2|o jogo de panelas^3|o faqueiro^2|a batedeira^2|o micro-ondas|o jogo de copos^2"
    "|a garrafa|o processador^2|a sanduicheira|a jarra|o escorredor|o filtro de água^2|a geladeira^2|o fogão^2"
    "|o purificador^2|a forma de silicone^2|o mixer^2|a panela de pressão^2|o jogo de pratos|a tábua de corte"
    "|o porta-temperos|o depurador",
    "moda": "a blusa^3|a camisa^3|a bota^2|a sandália^2|o chinelo|a mala^2|a carteira^2|o óculos^2|o cinto"
    "|a pulseira^2|o colar^2|a aliança^2|o brinco|o boné^2|o pijama^2|a cinta|a jaqueta de couro|o moletom|o anel"
    "|o sutiã|a lingerie",
    "bebês": "o bebê conforto^3|a cadeirinha^2|o kit berço^3|o andador|o trocador|a babá eletrônica"
    "|o tapete de atividades|a saída de maternidade|o mordedor|o cercado|a bolsa maternidade^2|o móbile"
    "|a almofada de amamentação",
    "pet": "o tapete higiênico^2|a focinheira|a caixa de transporte^2|o brinquedo do cachorro|a guia|o bebedouro^2"
    "|o aquário|a areia|o antipulgas^2|a escova de pelos|a roupinha|o petisco|a cama do cachorro",
    "automotivo": "a capa de carro|o som automotivo^2|a lâmpada do farol^2|o volante|a calota^2|o jogo de rodas"
    "|o limpador|a central multimídia^2|a câmera de ré^2|o retrovisor^2|o amortecedor^2|o suporte veicular"
    "|o rastreador|o óleo do motor",
    "ferramentas": "o jogo de chaves^2|a lixadeira|a esmerilhadeira^2|o compressor|o nível|o macaco|o multímetro^2"
    "|a broca|a escada^2|a lavadora de alta pressão|o soprador|a maleta de ferramentas^2|o serrote|a torneira^2"
    "|o cortador de grama",
}  # fmt: skip
"""As the catalogue has them; `^`: how often a product is named, where it is not 1."""
CATALOGUE_WEIGHT = 0.6
MARKS = {
    "ELE": "eletrônicos", "INF": "informática", "TEL": "telefonia", "MOV": "móveis", "CAM": "cama e banho",
    "BEL": "beleza", "ESP": "esporte", "BRI": "brinquedos", "COZ": "cozinha", "MOD": "moda", "BEB": "bebês",
    "PET": "pet", "AUT": "automotivo", "FER": "ferramentas",
}  # fmt: skip
"""A line that begins with `{MOD}` speaks of clothes in words of its own: the category is told by it."""


def _read() -> tuple[tuple[Product, ...], tuple[float, ...]]:
    found = [(product, CATALOGUE_WEIGHT) for product in CATALOGUE]
    for category, entries in MORE.items():
        for entry in entries.split("|"):
            name, _, weight = entry.partition("^")
            found.append((Product(name[0], name[2:], category), float(weight or 1)))
    return tuple(product for product, _ in found), tuple(weight for _, weight in found)


PRODUCTS, WEIGHTS = _read()


def draw_product(rng: Random, category: str | None = None) -> Product:
    """Any, or one of a category."""
    fitting = [place for place, product in enumerate(PRODUCTS) if category in (None, product.category)]
    return PRODUCTS[rng.choices(fitting, [WEIGHTS[place] for place in fitting])[0]]


def marked(texts: list[str]) -> set[str]:
    """The categories that drawn lines tell by their marks."""
    return {category for mark, category in MARKS.items() for text in texts if f"{{{mark}}}" in text}
