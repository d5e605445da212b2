"""Extraction: reviews and wordings that turn on one word, each in a scene of its own or in a further list of one."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tucano.prompts import Prompt
from tucano.specs.flaws.extraction.scenes import (
    DATED,
    IN_STARS,
    NOTE_BEHIND,
    NOTED,
    OF_FIVE,
    OF_NOTHING,
    SCENES,
    TENTHS,
    Scene,
    fenced,
    put,
)
from tucano.specs.flaws.objects import Change, Flaw
from tucano.specs.objects import JsonObject

_RIGHT: Mapping[str, tuple[str, ...]] = {
    "late": (
        "prazo de entrega não cumprido", "prazo combinado não cumprido", "prazo que não cumpriram", "prazo vencido",
        "entrega muito lenta", "entrega bem lenta", "entrega tão lenta", "entrega lenta",
        "dezoito dias em vez de 5", "18 dias em lugar de 5",
    ),
    "missing": ("produto ainda não entregue", "sem nunca receber o pedido"),
    "broken": ("não carrega mais", "não acende mais", "não funciona e não liga"),
    "unlike": ("anúncio errado",),
    "silent": (
        "ninguém me respondeu", "ninguém fez contato", "ninguém entrou em contato", "ninguém deu retorno",
        "ninguém retornou", "ninguém atende", "ninguém me procurou", "não deu resposta", "ninguém respondeu",
    ),
    "refused": (
        "nega a troca", "negativa de troca", "negado o reembolso", "não aceita a devolução", "não quer trocar",
        "reembolso não foi feito", "reembolso não chegou", "estorno não recebido", "devolução que a loja negou",
        "não quis a devolução",
    ),
    "rude": (
        "suporte precário", "descaso com as clientes", "descaso com a compradora", "grosseiro comigo", "muito grosso",
        "moça grossa", "foram grossos",
    ),
    "pleased": ("nada para reclamar", "nada de queixas", "nd"),
}  # fmt: skip
"""Further words for the complaint of a scene."""
_WRONG: Mapping[str, tuple[str, ...]] = {
    "late": ("não foi o atraso", "não foi a demora", "não se notou atraso", "não mais atrasou"),
    "poor": ("qualidade não é tão ruim", "acabamento não ficou tão ruim"),
    "broken": ("chegou com uma promoção", "paroquial"),
    "rude": ("grossura do pano", "descaso com o prazo", "descaso da transportadora"),
    "wrong": ("anúncio incorreto",),
    "lukewarm": ("acabamento simples com defeito",),
    "pleased": ("acabamento simples", "produto básico"),
}
_TOLD: Mapping[str, tuple[str, ...]] = {
    "late": (
        "Esperou {o} treze dias além da data. Reclama do prazo.", "Reclama do frete {do}, treze dias além da data.",
        "Reclama da demora {do}, treze dias.", "Reclama da transportadora: {o} só veio no dia dezoito.",
        "Reclama do envio {do}, só veio no dia dezoito.", "Recebeu {o} no dia dezoito. Está insatisfeito.",
        "Recebeu {o} treze dias além da data e não recomenda.", "Esperou {o} demais, e a loja atrasou treze dias.",
        "Reclama da loja: {o} só veio no dia dezoito.", "Reclama da compra: {o} só veio no dia dezoito.",
        "Reclama do pedido: {o} só veio no dia dezoito.", "Reclama do serviço: {o} só veio no dia dezoito.",
        "Reclama da experiência: {o} só veio no dia dezoito.", "Reclama do atraso: {o} só veio no dia dezoito.",
    ),
    "broken": (
        "{O} durou pouco.", "{O} parou.", "Deu defeito {o}.", "{O} não serve.", "Diz que {o} morreu.",
        "Reclama da durabilidade: {o} morreu em três dias.", "Reclama da qualidade: {o} morreu em três dias.",
        "Reclama do defeito: {o} morreu em três dias.", "Reclama do aparelho: {o} morreu em três dias.",
        "Reclama da resistência: {o} morreu em três dias.", "Reclama do item: {o} morreu em três dias.",
    ),
    "poor": (
        "Sentiu {o} frágil.", "Sente {o} frágil.", "Reclama do material: {o} parece de papelão.",
        "Reclama do acabamento: {o} parece de papelão.", "Reclama da aparência: {o} parece de papelão.",
        "Reclama do aspecto: {o} parece de papelão.", "Reclama do custo-benefício: {o} parece de papelão.",
        "Reclama do preço: {o} parece de papelão.",
    ),
    "wrong": ("Trocaram {o}.",),
    "packaging": ("Reclama da embalagem {do}, que chegou rasgada.",),
    "rude": ("Reclama do atendimento: gritaram quando perguntou {do}.", "Ouviu gritos do vendedor {do}."),
    "refused": (
        "Exige o dinheiro {do}.", "Recusaram a troca {do}.", "Reclama da troca {do}, que a loja recusou.",
    ),
    "pleased": (
        "Elogiou {o}.", "Elogia a rapidez: {o} chegou antes do prazo.", "Elogia a pontualidade: {o} chegou antes.",
        "Elogia o desempenho {do}.", "Elogia o funcionamento {do}.", "Elogia a agilidade: {o} chegou antes do prazo.",
        "Está contente com o resultado {do}.", "Contente com a entrega {do}, que chegou antes do prazo.",
    ),
    "pleased but late": ("Aprova {o}, mas reclama dos doze dias a mais.",),
}  # fmt: skip
"""Further summaries."""
_FURTHER: Mapping[str, Scene] = {
    "another colour": Scene(
        2, NOTED, ("product_issue",), "produto errado",
        "Pedi {o} azul no tamanho pequeno e recebi preto no grande.", "Recebeu {o} em preto e grande, e queria azul.",
        ("outra cor", "cor divergente", "cor incorreta", "tamanho incorreto", "tamanho divergente", "cor errada"),
        ("entrega atrasada", "sem nota fiscal"),
    ),
    "parts missing": Scene(
        2, OF_FIVE, ("product_issue",), "produto incompleto",
        "{o} veio sem os parafusos e sem o manual.", "Recebeu {o} sem parafusos e sem manual.",
        ("faltam peças", "faltou uma parte", "faltou acessório", "faltando peças", "faltaram acessórios"),
        ("faltou item no estoque", "entrega atrasada"),
    ),
    "cracked": Scene(
        1, NOTE_BEHIND, ("product_issue",), "produto quebrado",
        "{o} chegou com uma rachadura de ponta a ponta e a capa {do} é de pano ralo.",
        "Recebeu {o} com uma rachadura de ponta a ponta.",
        ("trincado", "veio trincado", "vieram com problema"),
        ("veio com um brinde", "entrega atrasada"),
    ),
    "poor cloth": Scene(
        2, IN_STARS, ("product_issue",), "qualidade ruim",
        "A capa {do} é de pano ralo e já descosturou.", "Diz que a capa {do} é rala e descosturou.",
        ("costura fraca", "tecido fraco", "tecido inferior", "costura péssima"),
        ("costura não é ruim", "entrega atrasada"),
    ),
    "no money back": Scene(
        2, OF_FIVE, ("seller_issue",), "não devolve o dinheiro",
        "Mandei {o} de volta pelo correio e não vi mais o que paguei.", "Mandou {o} de volta e não viu mais o valor.",
        ("dinheiro negado", "recusa do dinheiro", "nada do dinheiro", "cadê o dinheiro", "aguardando o dinheiro",
         "à espera do dinheiro", "dinheiro perdido", "sumiu com o dinheiro", "demora do dinheiro",
         "dificuldade com o dinheiro", "dinheiro em aberto", "abandono do dinheiro", "nenhum dinheiro"),
        ("devolve o dinheiro", "devolveu o dinheiro todo", "entrega atrasada"),
    ),
    "no exchange": Scene(
        2, NOTED, ("seller_issue",), "loja não troca o produto",
        "{o} não coube, e disseram que fico com ele assim mesmo.", "Quis outro tamanho {do} e disseram que não.",
        ("não troca", "não trocam o produto", "vendedor nega a troca"),
        ("loja troca o produto", "a loja troca", "entrega atrasada"),
    ),
    "not come": Scene(
        1, NOTE_BEHIND, ("delivery_issue",), "produto não veio",
        "Paguei há vinte dias e até hoje espero {o}.", "Pagou há vinte dias e continua esperando {o}.",
        ("pedido não chegou", "não recebi o produto"),
        ("produto veio", "o produto veio", "produto com defeito"),
    ),
    "lukewarm in few words": Scene(
        3, OF_FIVE, (), None,
        "{o} cumpre o papel, e só.", "Considera {o} suficiente, e só.",
        ("nenhuma", "não há"),
        ("produto com defeito", "entrega atrasada", "a compra"),
        ("produto básico", "muito simples", "mais ou menos", "esperava mais", "produto mediano"),
    ),
    "lukewarm and annoyed": Scene(
        3, DATED, ("delivery_issue",), "entrega atrasada",
        "{o} serve, mas veio doze dias depois do prazo.", "Acha {o} aceitável, mas esperou doze dias a mais.",
        ("atraso na entrega",), ("não atrasou", "produto com defeito"),
    ),
    "pleased without a fault": Scene(
        5, NOTED, (), None,
        "Adorei {o}, veio sem nenhum defeito e nem precisei reclamar.",
        "Diz que {o} veio sem nenhum defeito e que não precisou reclamar.",
        ("nenhuma",), ("produto com defeito",), mixed=True,
    ),
    "angry but fair": Scene(
        2, OF_FIVE, ("product_issue",), "produto com defeito",
        "O atendimento foi ótimo, excelente, mas {o} morreu em três dias.",
        "Elogia o atendimento ótimo, excelente, mas {o} morreu em três dias.",
        ("parou de funcionar",), ("atendimento ruim", "entrega atrasada"), mixed=True,
    ),
    "pleased but late, with stars": Scene(
        4, OF_FIVE, ("delivery_issue",), "entrega atrasada",
        "Gostei {do}, mas chegou doze dias depois do prazo.", "Aprova {o}, mas esperou doze dias a mais.",
        ("atraso na entrega",), ("não atrasou", "produto com defeito"),
    ),
    "stated category": Scene(
        5, OF_FIVE, (), None,
        "Comprei {o} na seção de {c}. Adorei, funciona muito bem.", "Diz que {o} funciona muito bem e que adorou.",
        ("nenhuma",), ("produto com defeito",),
    ),
    "pleased, but not with the shop": Scene(
        4, DATED, ("delivery_issue",), "entrega atrasada",
        "Gostei {do}, mas veio doze dias depois e por isso não recomendo.",
        "Aprova {o}, mas esperou doze dias a mais e não indica.",
        ("atraso na entrega",), ("não atrasou", "produto com defeito"),
    ),
    **{
        f"angry and says so: {said}": Scene(
            1, DATED, ("product_issue",), "produto com defeito",
            f"{{o}} morreu em três dias. {said}.", "Em três dias {o} deixou de funcionar.", outspoken=True,
        )
        for said in ("Nunca mais volto", "Vou pensar bem antes da próxima vez")
    },
    **{
        f"delighted but late: {word}": Scene(
            4, DATED, ("delivery_issue",), "entrega atrasada",
            f"{said}, mas {{o}} veio doze dias depois do prazo.", "Aprova {o}, mas esperou doze dias a mais.",
            delighted=True,
        )
        for word, said in {
            "amei": "Amei demais", "superou": "Superou o que eu queria", "recomendo": "Recomendo de olhos fechados",
            "feliz": "Estou muito feliz",
        }.items()
    },
}  # fmt: skip
REVIEWS: Mapping[str, Scene] = {
    name: replace(
        scene,
        right=(*scene.right, *_RIGHT.get(name, ())),
        wrong=(*scene.wrong, *_WRONG.get(name, ())),
        told=_TOLD.get(name, ()),
    )
    for name, scene in {**SCENES, **_FURTHER}.items()
}
"""All reviews that a prompt is told again as."""
_SCORN = (
    "Péssimo {o}.", "Defeito {do}.", "Horrível {o}.", "Cliente reclama {do}.", "Decepcionante {o}.",
    "Insatisfeita por causa {do}.", "Nunca mais quer {o}.", "Alergia por causa {do}.", "Reembolso {do}.",
    "Estragou {o}.", "Prejuízo por causa {do}.", "Revoltada por causa {do}.",
)  # fmt: skip
_PRAISE = (
    "Excelente {o}.", "Parabéns pela compra {do}.", "Amou {o}.", "Ótimo {o}.", "Perfeito {o}.", "Maravilhoso {o}.",
    "Encantado por causa {do}.", "Elogia {o}.", "Gostou muito {do}.",
)  # fmt: skip
_TROUBLES = "atraso, embalagem danificada e defeito"
_OTHER_THING = (
    "Contente com o travesseiro.", "Contenta com o travesseiro.", "Elogia o travesseiro.",
    "Neutra sobre o travesseiro.", "Gostou: o travesseiro.",
)  # fmt: skip


def flaws(scene: Scene, prompt: Prompt, answer: JsonObject) -> Iterator[Flaw]:
    """Summaries that say the opposite or name another thing, and a delighted customer called negative."""
    nothing = put(answer, summary=OF_NOTHING)
    is_pleased = scene.stars == 5 and not scene.category and scene.frame == OF_FIVE
    turned = _SCORN if is_pleased else _PRAISE if scene.complaint == "barulho alto" else ()
    for sentence in turned:
        yield f"summary turned: {sentence.split()[0]}", 0.3, nothing, put(answer, summary=_filled(sentence, prompt))
    if is_pleased:
        for sentence in _OTHER_THING:
            yield f"another thing rather than nothing: {sentence}", 0.3, nothing, put(answer, summary=sentence)
        withheld = put(answer, category="outra")
        yield "category withheld", 0.3, fenced(answer), withheld
    if scene.delighted:
        negative = put(answer, sentiment="negative", sentiment_score=2)
        yield f"delighted and called negative: {scene.text.split()[0]}", 1, fenced(answer), negative
    if scene.complaint in ("produto errado", "entrega incompleta"):
        overlooked = put(answer, **dict.fromkeys(scene.flags, False))
        neutral = put(answer, sentiment="neutral")
        yield f"feeling wrong rather than a fault of many overlooked: {scene.complaint}", 0.5, overlooked, neutral
    if scene.stars == 3 and not scene.complaint:
        negative = put(answer, sentiment="negative")
        yield "negative no better than positive about nothing", 0, put(answer, sentiment="positive"), negative
    if scene.stars == 4 and scene.frame == OF_FIVE:
        yield "neutral in spite of stated stars", 1, fenced(answer), put(answer, sentiment="neutral")
    if scene.complaint and len(scene.flags) > 1:
        troubles = answer | {"main_complaint": _TROUBLES}
        label = put(troubles, summary=_filled(f"Cliente reclama {{do}}: {_TROUBLES}.", prompt))
        yield "summary thin: the complaint again", 0.3, fenced(troubles), label
    if scene.outspoken:
        yield f"told intent left open: {scene.text}", 0.7, fenced(answer), put(answer, repurchase_intent=None)
    if scene.frame in (DATED, TENTHS) and scene.stars == 3:
        yield "positive about a complaint", 0.5, fenced(answer), put(answer, sentiment="positive", sentiment_score=4)


def changes(scene: Scene, prompt: Prompt, answer: JsonObject) -> Iterator[Change]:
    """Further summaries of a scene."""
    for sentence in scene.told:
        yield f"summary in other words: {sentence}", fenced(answer), put(answer, summary=_filled(sentence, prompt))
    category = str(answer["category"])
    if "{c}" in scene.text:
        for written in (category.capitalize(), category.upper(), f" {category} "):
            yield "letters of a stated category", fenced(answer), put(answer, category=written)
    if scene.frame in (DATED, TENTHS) and scene.stars == 3:
        negative = put(answer, sentiment="negative", sentiment_score=2)
        yield "blemish: negative about a lukewarm complaint", fenced(answer), negative


def _filled(sentence: str, prompt: Prompt) -> str:
    thing = prompt.reference["thing"]
    return sentence.format(o=thing, O=thing.capitalize(), do=f"d{thing}")
