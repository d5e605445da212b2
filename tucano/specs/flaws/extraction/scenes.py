"""Extraction: further reviews of a prompt's thing, what else may be said of them, and what may not."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

from tucano.prompts import Prompt
from tucano.specs.flaws.objects import Flaw
from tucano.specs.objects import JsonObject, dumped

_FLAGS = ("delivery_issue", "product_issue", "seller_issue")
_THING = re.compile(r"(?:reclama d|gostou d|com |sobre )([oa]s? [^:,.]+)")
_TOLD = "told again as: "
_TURNS = 3
"""A prompt is told in every third scene: five prompts for each are judged by themselves."""
OF_NOTHING = "O violão desafinou no ensaio da banda."
NOTED = "JSON da avaliação de cliente, nota {s}: {t}"
NOTE_BEHIND = "Extraia em JSON. {t} Nota: {s}"
OF_FIVE = "Extraia em JSON ({s}/5): {t}"
IN_STARS = "Extraia em JSON: {t} Dei {s} estrelas."
DATED = "Extraia em JSON: {t} Comprei em {s}/5/2024, lote 2/{s}/5."
TENTHS = "Extraia em JSON: {t} Dei nota 10 à loja, nota 3 à transportadora e nota {s},5 ao aplicativo."
UNTOLD = (DATED, TENTHS)
"""Frames of reviews that state numbers, but no stars."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A review: its stars and frame, the flags that it sets, its complaint, its text and what happened in one sentence.

    `right`: other words for the complaint; `wrong`: what denies it, or complains of something else; `near`: what is
    less than right, and no more than a blemish; `category`: where it is not the thing's; `told`: further summaries;
    `delighted`: whether nobody may call it negative; `mixed`: whether it has words of praise
    and of complaint; `outspoken`: whether it tells what will be bought. `{o}`, `{do}`: the thing; `{c}`: its category.
    """

    stars: int
    frame: str
    flags: tuple[str, ...]
    complaint: str | None
    text: str
    gist: str
    right: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    category: str | None = None
    told: tuple[str, ...] = ()
    delighted: bool = False
    mixed: bool = False
    outspoken: bool = False


UNTOLD_CATEGORIES = (None, "outra", "outras", "não informada", "não informado", "Outros", "OUTROS")
"""A category that a review does not tell."""
SCENES: Mapping[str, Scene] = {
    "late": Scene(
        2, NOTED, ("delivery_issue",), "entrega atrasada",
        "{o} era para o dia cinco e só veio no dia dezoito.", "Esperou {o} treze dias além da data combinada.",
        ("atraso na entrega", "fora do prazo", "demora", "depois do prazo", "prazo não cumprido", "demorou demais",
         "prazo estourado", "prazo descumprido", "além do prazo", "prazo de entrega muito longo", "prazo grande demais",
         "prazo demorado", "atraso de treze dias", "não resolveram o atraso", "não avisaram do atraso"),
        ("entrega sem atraso", "não atrasou", "não houve atraso", "nem atrasou", "nunca atrasou", "não há atraso",
         "não teve atraso", "não tive atraso", "não houve nenhum atraso", "sem qualquer atraso", "sem sinal de atraso",
         "nenhum tipo de atraso", "nenhum problema de atraso", "não chegou com atraso", "não vi atraso",
         "não notei atraso", "não sofreu atraso", "não houve reclamação de atraso", "entrega não demorou",
         "não houve muita demora", "produto quebrado", "vendedor não responde", "qualidade ruim", "sem nota fiscal"),
    ),
    "missing": Scene(
        1, NOTE_BEHIND, ("delivery_issue",), "pedido não chegou",
        "Paguei há vinte dias e {o} não chegou até hoje.", "Pagou há vinte dias e continua esperando {o}.",
        ("produto não entregue", "não recebi o produto", "pedido não foi entregue", "nunca chegou", "ainda não chegou",
         "não me entregaram o produto", "não recebimento do produto", "entrega não realizada", "entrega pendente",
         "pedido extraviado", "produto não veio", "nunca recebeu o pedido", "sem receber o produto", "sem entrega",
         "entrega em aberto", "sumiço do pedido", "a encomenda desapareceu", "não se entregou o pedido"),
        ("pedido chegou no prazo", "produto entregue", "produto com defeito", "produto errado", "qualidade ruim",
         "diferente do anúncio", "embalagem danificada"),
    ),
    "packaging": Scene(
        2, OF_FIVE, ("delivery_issue",), "embalagem danificada",
        "A caixa {do} chegou toda amassada, rasgada, aberta e molhada.", "Recebeu a caixa {do} em péssimo estado.",
        ("embalagem rasgada", "pacote amassado", "pacote rasgado", "embrulho aberto", "embrulho molhado",
         "pacote violado", "pacote avariado", "caixa danificada", "caixa violada", "caixa avariada",
         "amassado o pacote", "rasgado o pacote", "violada a caixa"),
        ("embalagem não estava danificada", "embalagem não veio amassada", "nenhuma embalagem danificada",
         "pedido não chegou", "vendedor não responde", "troca negada", "sem nota fiscal"),
    ),
    "broken": Scene(
        2, IN_STARS, ("product_issue",), "produto com defeito",
        "{o} durou três dias e morreu.", "Usou {o} três dias, e deixou de funcionar.",
        ("produto defeituoso", "parou de vez", "não funciona", "quebrou", "veio com defeito", "quebrado", "estragou",
         "pifou", "não liga mais", "queimou", "chegou com problema", "veio com algum problema",
         "chegou com um problema", "não trocaram o produto quebrado"),
        ("produto sem defeito", "não veio com defeito", "nenhum defeito", "não apresentou defeito", "não quebrou",
         "não tem defeito", "não mostrou defeito", "não encontrou defeito", "não notou defeito", "não vi defeito",
         "não fica quebrado", "não ficou com defeito", "não tenho defeito", "não era defeito", "não me veio quebrado",
         "não veio mais com defeito", "não vieram quebrados", "entrega atrasada", "vendedor não responde"),
    ),
    "wrong": Scene(
        2, NOTED, ("product_issue",), "produto errado",
        "Pedi {o} e veio uma coisa que não comprei.", "Em vez {do} recebeu algo que não pediu.",
        ("item trocado", "mercadoria trocada", "outro produto", "outro item", "outro modelo", "outra mercadoria",
         "outro pedido", "item incorreto", "modelo incorreto", "produto divergente", "foi trocado",
         "diferente do pedido", "diferente do comprado", "recebeu o item errado"),
        ("produto não veio errado", "não estava errado", "nada errado", "pedido não chegou", "vendedor não responde",
         "embalagem danificada", "sem nota fiscal"),
    ),
    "poor": Scene(
        2, NOTE_BEHIND, ("product_issue",), "qualidade ruim",
        "{o} parece de papelão e vai durar pouco.", "Acha {o} fraco, como se fosse de papelão.",
        ("material fraco", "material frágil", "baixa qualidade", "acabamento péssimo", "má qualidade", "frágil",
         "material inferior", "mal acabado", "material de baixa resistência", "mal feito", "acabamento mal cuidado"),
        ("qualidade não é ruim", "material não é fraco", "a qualidade não está ruim", "acabamento não é ruim",
         "entrega atrasada", "pedido não chegou", "vendedor não responde", "sem nota fiscal"),
    ),
    "unlike": Scene(
        2, OF_FIVE, ("product_issue",), "diferente do anúncio",
        "{o} é bem menor que no anúncio.", "Esperava {o} maior, pelo anúncio.",
        ("menor que na foto", "não corresponde à foto", "não confere com a descrição", "não condiz com a foto",
         "não bate com a foto", "não é como na foto", "diverge do divulgado", "distinto da foto", "abaixo do prometido",
         "menor que o divulgado", "propaganda enganosa", "menor que na descrição", "diferente da foto",
         "não corresponde ao anúncio", "anúncio enganoso", "anúncio incorreto"),
        ("não é diferente do anúncio", "nada diferente do anúncio", "entrega atrasada", "pedido não chegou",
         "vendedor não responde", "embalagem danificada", "sem nota fiscal"),
    ),
    "silent": Scene(
        1, OF_FIVE, ("seller_issue",), "vendedor não responde",
        "Mandei três mensagens sobre {o} e nada até agora.", "Escreveu três vezes sobre {o} em vão.",
        ("loja ignora as mensagens", "loja em silêncio", "nunca retornam", "não me retornam", "não há retorno",
         "não deu retorno", "não dá retorno", "não consegue contato", "não consegui falar com a loja", "sem contato",
         "falta de contato", "ausência de retorno", "sem nenhum retorno", "nem retorno deram", "falta de resposta",
         "sem resposta do vendedor", "vendedor nunca responde"),
        ("entrega atrasada", "produto com defeito", "qualidade ruim", "produto errado", "embalagem danificada",
         "diferente do anúncio"),
    ),
    "refused": Scene(
        2, NOTED, ("seller_issue",), "troca negada",
        "Pedi a troca e o dinheiro {do} e a loja disse não a tudo.", "Quis trocar {o} ou receber de volta o valor.",
        ("troca recusada", "vendedor negou a troca", "reembolso recusado", "recusou o reembolso", "recusa do estorno",
         "recusou a devolução", "recusou o ressarcimento", "recusou a restituição", "devolução recusada",
         "restituição recusada", "estorno não aceito", "não quer devolver", "não quis o reembolso",
         "não aceita devolver", "não deixa devolver", "reembolso não caiu", "estorno até hoje não veio",
         "reembolso do produto não saiu", "reembolso não foi pago", "nada de reembolso", "falta de reembolso",
         "sem estorno", "reembolso ainda não entrou", "troca não aceita", "recusa em devolver o dinheiro"),
        ("não negou a troca", "não recusou a troca", "entrega atrasada", "embalagem danificada", "qualidade ruim",
         "pedido não chegou", "sem nota fiscal"),
    ),
    "rude": Scene(
        2, NOTE_BEHIND, ("seller_issue",), "atendimento ruim",
        "Gritaram comigo quando perguntei {do}.", "Ouviu gritos quando perguntou {do}.",
        ("vendedor grosseiro", "vendedor grosso", "atendente grossa", "vendedores grossos", "vendedor rude",
         "suporte horrível", "vendedor péssimo", "falta de respeito", "desrespeito", "descaso", "loja horrível",
         "descaso com o cliente", "desrespeito a quem compra", "descaso com o consumidor", "desrespeito com a cliente",
         "descaso com os clientes", "má educação", "falta de educação", "foi mal atendido"),
        ("atendimento não foi ruim", "vendedor não foi grosso", "entrega atrasada", "embalagem danificada",
         "produto com defeito", "pedido não chegou", "sem nota fiscal"),
    ),
    "without an invoice": Scene(
        2, OF_FIVE, ("seller_issue",), "sem nota fiscal",
        "{o} chegou sem a nota fiscal.", "Recebeu {o} e nenhum documento da compra.",
        ("nota fiscal não enviada", "falta da nota fiscal", "não emitiu nota fiscal", "não veio nota fiscal",
         "sem documento fiscal", "sem cupom fiscal", "nenhuma nota fiscal"),
        ("entrega atrasada", "embalagem danificada", "produto com defeito", "pedido não chegou", "produto errado"),
    ),
    "incomplete": Scene(
        2, IN_STARS, ("delivery_issue",), "entrega incompleta",
        "Comprei três unidades {do} e só veio uma.", "Pagou três unidades {do} e recebeu uma.",
        ("veio só uma de três", "pedido incompleto", "faltaram itens", "veio uma em vez de três", "faltou um item",
         "recebeu apenas uma das três", "mandaram uma ao invés de três", "enviaram somente 1 de 3", "faltando itens",
         "chegou uma e não três", "veio 1 dos 3", "vieram só 1 de 3"),
        ("não faltou nada", "entrega atrasada", "vendedor não responde", "qualidade ruim", "sem nota fiscal",
         "diferente do anúncio"),
    ),
    "out of stock": Scene(
        2, NOTED, ("seller_issue",), "venda sem estoque",
        "A loja vendeu {o} sem ter em estoque.", "Comprou {o}, e a loja não tinha nenhum para enviar.",
        ("produto sem estoque", "vendeu sem ter estoque", "falta de estoque", "item fora de estoque"),
        ("produto com defeito", "qualidade ruim", "embalagem danificada", "sem nota fiscal", "produto errado"),
    ),
    "noisy": Scene(
        2, NOTE_BEHIND, ("product_issue",), "barulho alto",
        "{o} faz um barulho alto e esquenta demais.", "Reclama que {o} é barulhento e aquece.",
        ("faz barulho alto", "barulho e aquecimento", "esquenta demais e faz barulho", "muito barulho",
         "produto barulhento", "barulho alto e esquenta demais"),
        ("cheiro forte", "entrega atrasada", "cor desbotada", "vendedor não responde", "produto errado"),
    ),
    "late and broken": Scene(
        1, NOTED, ("delivery_issue", "product_issue"), "entrega atrasada",
        "{o} chegou doze dias depois do prazo e parou de funcionar no mesmo dia.",
        "Recebeu {o} doze dias depois da data, e já não funcionava.",
        ("entrega atrasada e produto com defeito", "atraso e defeito", "chegou depois do prazo e parou de funcionar"),
        ("não atrasou", "troca negada", "vendedor não responde", "qualidade ruim", "sem nota fiscal"),
    ),
    "three troubles": Scene(
        1, OF_FIVE, ("delivery_issue", "product_issue"), "entrega atrasada",
        "{o} atrasou doze dias, veio com a caixa amassada e não funciona.",
        "Recebeu {o} doze dias depois, com a caixa amassada e sem funcionar.",
        ("entrega atrasada, caixa amassada e produto com defeito", "atraso, embalagem danificada e defeito"),
        ("entrega atrasada, troca negada, sem nota fiscal e atendimento ruim", "troca negada", "sem nota fiscal"),
    ),
    "lukewarm and late": Scene(
        3, NOTED, ("delivery_issue",), "entrega atrasada",
        "{o} serve, mas chegou doze dias depois do prazo.", "Acha {o} aceitável, mas esperou doze dias a mais.",
        ("atraso na entrega", "demora na entrega"),
        ("não atrasou", "produto com defeito", "vendedor não responde"),
    ),
    "pleased but late": Scene(
        4, DATED, ("delivery_issue",), "entrega atrasada",
        "Gostei {do}, mas chegou doze dias depois do prazo.", "Aprova {o}, mas esperou doze dias a mais.",
        ("atraso na entrega", "demora na entrega"),
        ("não atrasou", "produto com defeito", "vendedor não responde"),
    ),
    "angry without stars": Scene(
        1, TENTHS, ("product_issue",), "produto com defeito",
        "{o} parou de funcionar em três dias. Péssimo.", "Em três dias de uso {o} deixou de funcionar.",
        ("parou de funcionar", "veio com defeito"),
        ("produto sem defeito", "entrega atrasada", "vendedor não responde"),
    ),
    "pleased without stars": Scene(
        5, TENTHS, (), None,
        "Adorei {o}, funciona muito bem.", "Diz que {o} funciona muito bem e que adorou.",
        ("nenhuma", "sem reclamação"),
        ("produto com defeito", "entrega atrasada", "sem resposta do vendedor"),
    ),
    "lukewarm": Scene(
        3, IN_STARS, (), None,
        "{o} cumpre o básico, é mais ou menos. O acabamento é simples.",
         "Considera {o} mediano, com acabamento simples.",
        ("nenhuma", "não há"),
        ("produto com defeito", "entrega atrasada", "vendedor não responde", "troca negada", "qualidade ruim"),
        ("acabamento simples", "produto mediano", "esperava mais, é básico", "produto razoável", "nada demais",
         "abaixo da expectativa", "produto regular", "produto comum", "abaixo do esperado", "produto básico"),
    ),
    "of no category": Scene(
        5, NOTED, (), None,
        "Adorei a compra, chegou antes do prazo.", "Diz que a compra chegou antes do prazo e que adorou.",
        ("nenhuma", "não há"), ("produto com defeito", "entrega atrasada"), category="outros",
    ),
    "pleased": Scene(
        5, OF_FIVE, (), None,
        "Adorei {o}, funciona muito bem e chegou antes do prazo.", "Diz que {o} funciona muito bem e chegou cedo.",
        ("nenhuma", "nenhum problema", "sem reclamação", "sem reclamações", "não há", "não houve problemas",
         "nada a reclamar", "nada a declarar", "sem queixas", "nenhuma reclamação", "N/A", "Nenhuma.",
         "não há reclamação",
         "sem problemas", "nada a apontar", "-", "não houve"),
        ("sem resposta do vendedor", "nada de reembolso", "não houve entrega", "problemas na entrega",
         "sem nota fiscal",
         "reclamação do produto", "nenhuma resposta da loja", "queixas"),
    ),
}  # fmt: skip
"""What happens to buyers, each with the usual words for it."""


def told_again(prompt: Prompt, known_scenes: Mapping[str, Scene]) -> Iterator[tuple[str, Prompt]]:
    """Other reviews of the prompt's thing; their truth is known."""
    known = prompt.reference.get("fields", {})
    thing = _THING.search(str(known.get("summary")))
    if thing is None or not isinstance(known.get("category"), str):
        return
    turn = crc32(str(known["summary"]).encode())
    for place, (name, scene) in enumerate(known_scenes.items()):
        if (turn + place) % _TURNS == 0:
            told = f"{_TOLD}{name}"
            slots = {"o": thing[1], "do": f"d{thing[1]}", "c": known["category"]}
            text = scene.text.format(**slots)
            user = scene.frame.format(s=scene.stars, t=text[0].upper() + text[1:])
            fields = _truth(scene, scene.category or known["category"], scene.gist.format(**slots))
            yield (
                told,
                replace(
                    prompt, user=user, template=told, stars=scene.stars, reference={"fields": fields, "thing": thing[1]}
                ),
            )


def _truth(scene: Scene, category: str, gist: str) -> JsonObject:
    return {
        "sentiment": "positive" if scene.stars > 3 else "neutral" if scene.stars == 3 else "negative",
        "sentiment_score": scene.stars,
        "category": category,
        **{name: name in scene.flags for name in _FLAGS},
        "churn_risk": "low" if scene.stars > 3 else "medium" if scene.stars == 3 else "high",
        "repurchase_intent": scene.stars > 3,
        "main_complaint": scene.complaint,
        "summary": gist,
    }


def scene_of(prompt: Prompt, known_scenes: Mapping[str, Scene]) -> Scene | None:
    return known_scenes.get(prompt.template.removeprefix(_TOLD)) if prompt.template.startswith(_TOLD) else None


def fenced(answer: Mapping[str, Any]) -> str:
    """The object in a code fence: as good, and no text that other relations take apart field by field."""
    return f"```json\n{dumped(answer)}\n```"


# What is worse


def scene_flaws(scene: Scene, prompt: Prompt, answer: JsonObject) -> Iterator[Flaw]:
    """What this review cannot mean."""
    text = dumped(answer)
    for complaint in scene.wrong:
        wrong = put(answer, main_complaint=complaint)
        yield f"complaint that nobody made: {scene.complaint}, {complaint}", 1, text, wrong
    for complaint in scene.near:
        late = put(answer, main_complaint="entrega atrasada")
        yield (
            f"complaint invented rather than an opinion: {complaint}",
            1,
            put(answer, main_complaint=complaint),
            late,
        )
    thin = f"Cliente {'reclama do produto' if scene.complaint else 'gostou do produto'}."
    yield "summary thin", 0.5, text, put(answer, summary=thin)
    if scene.complaint == "entrega incompleta":
        product, seller = (dict.fromkeys(_FLAGS, False) | {name: True} for name in _FLAGS[1:])
        yield "fault of nobody rather than of the parcel", 1, dumped(answer | product), dumped(answer | seller)
    if len(scene.flags) > 1:
        none = put(answer, **dict.fromkeys(_FLAGS, False))
        for name in scene.flags:
            one = put(answer, **{name: False})
            yield f"both issues overlooked rather than one: {name}", 0.5, one, none
    if scene.category:
        for category in ("esporte", "moda", "beleza"):
            yield f"category invented: {category}", 0.5, text, put(answer, category=category)
    yield from _turned(scene, prompt, answer)
    yield from _felt_otherwise(scene, answer)


def _turned(scene: Scene, prompt: Prompt, answer: JsonObject) -> Iterator[Flaw]:
    """A summary that says the opposite of the review, rather than nothing of it."""
    thing = prompt.reference["thing"]
    nothing = put(answer, summary=OF_NOTHING)
    if scene.stars < 3 and not scene.mixed:
        for praise in (f"Adorou {thing}, excelente.", f"Está satisfeito com {thing} e recomenda a loja."):
            yield f"summary turned: {praise.split()[0]}", 0.3, nothing, put(answer, summary=praise)
    if scene.stars > 3 and not (scene.complaint or scene.category or scene.mixed):
        for scorn in (f"Quebrou {thing}, péssimo.", f"Furioso: {thing} veio com defeito."):
            yield f"summary turned: {scorn.split()[0]}", 0.3, nothing, put(answer, summary=scorn)


def _felt_otherwise(scene: Scene, answer: JsonObject) -> Iterator[Flaw]:
    """Stars and what goes with them: a slip where they are stated, hardly one where nobody states them."""
    text = dumped(answer)
    stars = scene.stars
    next_risk = put(answer, churn_risk="medium")
    near = put(answer, sentiment_score=stars + (1 if stars < 4 else -1))
    if scene.frame not in UNTOLD:
        yield f"stated stars miscopied: {scene.frame}", 1, text, near
        if scene.stars == 3 and scene.complaint:
            positive = put(answer, sentiment="positive")
            yield (
                "positive rather than negative about a lukewarm complaint",
                1,
                put(answer, sentiment="negative"),
                positive,
            )
        return
    far = put(answer, churn_risk="high" if scene.stars > 3 else "low")
    if scene.stars != 3:
        yield "risk opposite rather than next", 0.5, next_risk, far
    middle = put(answer, sentiment="neutral", sentiment_score=3)
    if not scene.complaint:
        yield "neutral without a complaint", 1, text, middle


def put(answer: JsonObject, **values: Any) -> str:
    return dumped(answer | values)
