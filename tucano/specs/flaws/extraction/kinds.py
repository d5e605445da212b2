"""Extraction: flaws of ten fields, and the same review told otherwise."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tucano.prompts import Prompt
from tucano.specs.flaws.extraction import scenes, turns
from tucano.specs.flaws.objects import (
    Change,
    Flaw,
    doubled_key,
    field_flaws,
    form_flaws,
    harmless_changes,
    known_alone,
    stars_off,
    strangers,
)
from tucano.specs.objects import Field, JsonObject, dumped, json_object, right_answer

_FLAGS = ("delivery_issue", "product_issue", "seller_issue")
_FEELINGS = ("negative", "neutral", "positive")
_STATED = re.compile(r",? ?(?:em |com |\()?nota:? \d(?:/5)?\)?|\(nota \d,[^)]*\)", re.IGNORECASE)
_LONG = 18
"""Words of a prompt from which on no field can hold it."""
_TOPICS = "Fala de entrega, troca, preço, atendimento e qualidade."
_YES, _NO = ("sim", "Sim", "verdadeiro", "true"), ("não", "Não", "falso", "false")
_WORDS: Mapping[str, Mapping[Any, tuple[str, ...]]] = {
    "sentiment": {
        "negative": ("negativo", "negativa", "Negativo"),
        "neutral": ("neutro", "neutra"),
        "positive": ("positivo", "positiva", "muito positivo"),
    },
    "sentiment_score": {
        1: ("um", "1", "nota um"), 2: ("dois", "2", "nota 2"), 3: ("três", "3", "nota três"),
        4: ("quatro", "4", "nota 4"), 5: ("cinco", "5", "nota cinco"),
    },
    "churn_risk": {
        "low": ("baixo", "baixa", "risco baixo"), "medium": ("médio", "média", "risco médio"),
        "high": ("alto", "alta", "Alto"),
    },
    "delivery_issue": {True: _YES, False: _NO},
    "product_issue": {True: _YES, False: _NO},
    "seller_issue": {True: _YES, False: _NO},
    "repurchase_intent": {True: _YES, False: _NO},
}  # fmt: skip
"""The words for the values of a field."""
_PORTUGUESE = {
    "sentiment": "sentimento",
    "category": "categoria",
    "main_complaint": "reclamacao_principal",
    "summary": "resumo",
}
_ENDINGS = {"negative": "Recomenda a loja.", "positive": "Nunca mais compra nela."}
_IMPOSSIBLE: tuple[tuple[str, Any], ...] = (
    ("sentiment", "mixed"), ("sentiment_score", 0), ("sentiment_score", 6), ("churn_risk", "critical"),
    ("category", "  "), ("category", "category"), ("main_complaint", "main_complaint"), ("main_complaint", "string"),
    ("summary", "summary"), ("summary", "  "),
)  # fmt: skip
"""Values that no field can have, whatever the review."""
_LEADS = (
    "Segue o JSON da avaliação:",
    "Aqui está o resultado da análise:",
    "Aqui está o JSON:",
    "Com certeza! Aqui está a extração:",
)
_ENDS = ("Espero ter ajudado.", "Qualquer dúvida, estou à disposição.", "Se precisar de mais alguma coisa, é só pedir.")
_DENIALS = {
    "entrega atrasada": "nenhum atraso na entrega",
    "produto com defeito": "nenhum defeito no produto",
    "embalagem danificada": "embalagem não veio danificada",
    "atendimento ruim": "atendimento não foi ruim",
    "qualidade ruim": "qualidade não é ruim",
}
_ALL = ("pedido não chegou", "entrega atrasada", "produto com defeito", "produto errado", "atendimento ruim")
_ASIDES = (
    "Escrevo no celular, no caminho para o trabalho, enquanto o ônibus dá a volta na praça das mangueiras.",
    "Moro numa rua de casas baixas, com dois filhos, um cachorro e uma avó que conversa com as plantas.",
    "Era domingo à noite quando fiz o pedido, e a televisão passava um filme antigo em preto e branco.",
    "A minha irmã estava na sala, o vizinho lia jornal na varanda e o café passava na cozinha.",
    "Naquela semana a escola do bairro fazia a festa de junho, com bandeirinhas, sanfona e fogueira.",
    "O meu marido pintava a parede do corredor, de azul, a mesma cor das cortinas e do tapete.",
    "Paguei à vista, no cartão, e guardei o comprovante na gaveta da escrivaninha, ao lado das fotos.",
)
"""What people tell besides, which says nothing of a purchase and changes no field."""


def edits(prompt: Prompt, text: str, others: Sequence[Prompt], fields: Mapping[str, Field]) -> Iterator[Flaw]:
    truth = prompt.reference.get("fields", {})
    if scene := scenes.scene_of(prompt, turns.REVIEWS):
        yield from scenes.scene_flaws(scene, prompt, truth)
        yield from turns.flaws(scene, prompt, truth)
        yield from _blamed(dumped(truth), truth, truth)
        return
    yield from field_flaws(text, truth, fields)
    if len(truth) != 1:  # else what does not touch the one field that is known
        yield from form_flaws(text)
    answer = json_object(text)
    if answer is None or answer.keys() != fields.keys():
        return
    yield from _felt(text, answer, truth, prompt)
    yield from _blamed(text, answer, truth)
    yield from _worded(text, answer, truth, others)
    if answer == truth:
        yield from _further_flaws(answer, truth, prompt)
    if len(truth) != 1:
        yield from _placeholders(text, answer)
    if not truth:
        for name, value in _IMPOSSIBLE:
            yield f"impossible value: {name}, {value}", 0.3, text, scenes.put(answer, **{name: value})


def _placeholders(text: str, answer: JsonObject) -> Iterator[Flaw]:
    """Fields that are filled with nothing, and one more that takes the others back."""
    names = {"category": "string", "main_complaint": "texto", "summary": "string"}
    yield "names of types as values", 1, text, dumped(answer | names)
    foreign = {"category": "all the things for the home", "summary": "The customer is not happy with the order."}
    yield "fields in English", 0.5, text, dumped(answer | foreign)
    yield "taken back in a field", 2, text, dumped(answer | {"nota": "A resposta está errada, não use."})


def _felt(text: str, answer: JsonObject, truth: Mapping[str, Any], prompt: Prompt) -> Iterator[Flaw]:
    """Sentiment, stars and what goes with them."""
    felt = truth.get("sentiment", answer["sentiment"])
    others = [word for word in _FEELINGS if word != felt]
    if felt == answer["sentiment"] and "sentiment" in truth:
        for word in others:
            points = 3 if len(truth) == 1 else 0.5
            yield f"sentiment wrong: {word} for {felt}", points, text, dumped(answer | {"sentiment": word})
    if felt != "neutral" and ("sentiment" in truth or (not truth and prompt.stars not in (None, 3))):
        opposite = "negative" if felt == "positive" else "positive"
        if truth:
            yield f"sentiment opposite: {felt}", 3, text, dumped(answer | {"sentiment": opposite})
        half, whole = (dumped(answer | {"sentiment": word}) for word in ("neutral", opposite))
        yield f"opposite rather than neutral: {felt}", 0.5, half, whole
    yield from stars_off(text, truth, 1.0 if len(truth) == 1 else 0.03)
    if truth.get("sentiment") == answer["sentiment"]:
        yield "sentiment twice", 1, text, doubled_key(answer, "sentiment", others[0])


def _blamed(text: str, answer: JsonObject, truth: Mapping[str, Any]) -> Iterator[Flaw]:
    """Who is to blame: the guide calls another kind of problem a 2."""
    blamed = [name for name in _FLAGS if truth.get(name) is True and answer[name] is True]
    if len(blamed) == 1 and all(truth.get(name) is answer[name] for name in _FLAGS):
        other = next(name for name in _FLAGS if name not in blamed)
        moved = dumped(answer | {blamed[0]: False, other: True})
        yield f"another problem: for {blamed[0]}", 2, text, moved
        yield f"problem overlooked: {blamed[0]}", 1, text, dumped(answer | {blamed[0]: False})
        for name in _FLAGS:
            if name not in blamed:
                yield (
                    f"overlooked beside invented: {blamed[0]}, {name}",
                    0.1,
                    dumped(answer | {name: True}),
                    dumped(answer | {blamed[0]: False}),
                )
    if not any(truth.get(name, True) for name in _FLAGS):
        for name in _FLAGS:
            if answer[name] is False:
                yield f"problem invented: {name}", FLAG_POINTS, text, dumped(answer | {name: True})


FLAG_POINTS = 0.5


def _worded(text: str, answer: JsonObject, truth: Mapping[str, Any], others: Sequence[Prompt]) -> Iterator[Flaw]:
    """The two fields of free words that are compared."""
    complaint, category = truth.get("main_complaint"), truth.get("category")
    points = 1.0 if len(truth) == 1 else 0.5
    if isinstance(complaint, str) and answer["main_complaint"] == complaint:
        everything = ", ".join(dict.fromkeys([complaint, *_ALL]))
        yield "complaint hedged: every one", points, text, dumped(answer | {"main_complaint": everything})
        stranger = next((word for word in _ALL if not {*word.split()} & {*complaint.split()}), "preço alto")
        yield "complaint of others", 1, text, dumped(answer | {"main_complaint": stranger})
        if complaint in _DENIALS:
            yield "complaint denied", 1, text, dumped(answer | {"main_complaint": _DENIALS[complaint]})
        yield "complaint withheld: null", 1, text, dumped(answer | {"main_complaint": None})
        yield "complaint withheld: none", 1, text, dumped(answer | {"main_complaint": "sem reclamação"})
    if "main_complaint" in truth and complaint is None and answer["main_complaint"] is None:
        yield "complaint invented", points, text, dumped(answer | {"main_complaint": "produto com defeito"})
    if isinstance(category, str) and answer["category"] == category:
        listed = [
            str(found["category"]) for found in strangers(others) if found.get("category") not in (None, category)
        ]
        hedge = ", ".join(dict.fromkeys([category, *listed[:6]]))
        if listed:
            small = 1.0 if len(truth) == 1 else 0.08
            yield "category hedged", small, text, dumped(answer | {"category": hedge})
            yield "category of others", small, text, dumped(answer | {"category": listed[0]})


def _further_flaws(answer: JsonObject, truth: Mapping[str, Any], prompt: Prompt) -> Iterator[Flaw]:
    """Of any answer whose fields are known to be right."""
    text = dumped(answer)
    for summary in (scenes.OF_NOTHING, _TOPICS, None, 5, "", "string", "<summary>", "resumo"):
        yield f"summary of nothing: {summary}", 0.5, text, scenes.put(answer, summary=summary)
    for complaint in (
        "avaliação em JSON",
        "campos do JSON",
        "string",
        "<main_complaint>",
        "texto|null",
        1,
        "the late delivery",
    ):
        yield f"complaint of nothing: {complaint}", 1, text, scenes.put(answer, main_complaint=complaint)
    if len(prompt.user.split()) > _LONG:
        yield "handed back: main_complaint", 1, text, scenes.put(answer, main_complaint=prompt.user)
        yield "handed back: summary", 0.5, text, scenes.put(answer, summary=prompt.user)
    yield "summary again and again", 1, text, scenes.put(answer, summary=" ".join([str(answer["summary"])] * 12))
    for name, other in _PORTUGUESE.items():
        renamed = dumped({other if name == key else key: value for key, value in answer.items()})
        yield f"field under another name: {other}", 0.5, text, renamed
    if (end := _ENDINGS.get(truth["sentiment"])) and not (truth["main_complaint"] and truth["sentiment"] == "positive"):
        yield "summary turned at its end", 0.5, text, scenes.put(answer, summary=f"{answer['summary']} {end}")
    for name in _WORDS:
        yield from _wrong_words(answer, truth, name)
    yield from _wrong_flags(answer, truth)
    yield from _unreadable(answer, truth)


def _wrong_words(answer: JsonObject, truth: Mapping[str, Any], name: str) -> Iterator[Flaw]:
    """A word for another value, and two words at once, rather than the word for the right one."""
    told = [(value, word) for value, words in _WORDS[name].items() for word in words]
    right = next((word for value, word in told if value == truth.get(name)), None)
    if right is None or type(answer.get(name)) is not type(truth[name]):
        return
    points = 0.02 if truth[name] is False else 0.1
    opposite = told[-1][1] if [value for value, _ in told].index(truth[name]) < len(told) // 2 else told[0][1]
    yield (
        f"word for another value: {name}, {opposite}",
        points,
        scenes.put(answer, **{name: right}),
        scenes.put(answer, **{name: opposite}),
    )
    denied = (f"longe de ser {right}",) if name in ("sentiment", "churn_risk") else ()
    for both in (f"{right} ou {opposite}", f"{opposite}, {right}", f"{right}/{opposite}", *denied):
        yield (
            f"two words for a value: {name}{', denied' if both in denied else ''}",
            points,
            scenes.put(answer, **{name: right}),
            scenes.put(answer, **{name: both}),
        )


def _wrong_flags(answer: JsonObject, truth: Mapping[str, Any]) -> Iterator[Flaw]:
    flags = [truth[name] for name in _FLAGS]
    if not all(flags):
        yield "flags: all of them", 0.5, dumped(answer), scenes.put(answer, **dict.fromkeys(_FLAGS, True))
    if any(flags):
        none = scenes.put(answer, **dict.fromkeys(_FLAGS, False))
        yield "flags: none", 1, dumped(answer), none


def _unreadable(answer: JsonObject, truth: Mapping[str, Any]) -> Iterator[Flaw]:
    """What a program stumbles over is better than what is false."""
    text = dumped(answer)
    yield "broken object: words of Python", 1, text, str(answer)
    yield "broken object: in a list", 1, text, f"[{text}]"
    yield "broken object: open fence and a comma", 1, text, f"```json\n{text[:-1]},}}"
    felt = truth["sentiment"]
    opposite = scenes.put(answer, sentiment="positive" if felt == "negative" else "negative")
    for spoilt in (None, "?", "misto", "", 3):
        yield f"spoilt rather than opposite: {spoilt}", 0, opposite, scenes.put(answer, sentiment=spoilt)
    if felt != "neutral":
        yield from _legible(answer, text, opposite)


def _legible(answer: JsonObject, text: str, false: str) -> Iterator[Flaw]:
    stumbles = [text.replace('"', "'"), f"{text[:-1]},}}", text[:-1], str(answer), f"JSON: {text}", f"Resposta: {text}"]
    stumbles += [f"{lead}\n{text}" for lead in _LEADS] + [f"{text}\n{end}" for end in _ENDS]
    for place, stumble in enumerate(stumbles):
        yield f"false rather than hard to read: {place}", 0.5, stumble, false


def harmless(prompt: Prompt, text: str) -> Iterator[Change]:
    truth = prompt.reference.get("fields", {})
    if scene := scenes.scene_of(prompt, turns.REVIEWS):
        yield from _scene_changes(scene, truth)
        yield from turns.changes(scene, prompt, truth)
        return
    yield from harmless_changes(text)
    answer = json_object(text)
    if (
        not answer
        or len(prompt.reference.get("fields", {})) == 1
        or not all(isinstance(answer.get(name), str) for name in ("category", "summary"))
    ):
        return
    yield "letters: category with a capital", text, dumped(answer | {"category": str(answer["category"]).capitalize()})
    yield "letters: category in capitals", text, dumped(answer | {"category": str(answer["category"]).upper()})
    yield "words: another summary", text, dumped(answer | {"summary": "A pessoa conta como foi a compra e a entrega."})
    if "main_complaint" in answer and answer["main_complaint"] is None:
        yield "words: no complaint as an empty text", text, dumped(answer | {"main_complaint": ""})
        yield "words: no complaint in words", text, dumped(answer | {"main_complaint": "nenhuma"})
    if isinstance(complaint := answer.get("main_complaint"), str):
        yield "letters: complaint with a capital", text, dumped(answer | {"main_complaint": complaint.capitalize()})
        yield "letters: complaint with a full stop", text, dumped(answer | {"main_complaint": f"{complaint}."})
        yield "words: complaint with an article", text, dumped(answer | {"main_complaint": f"o {complaint}"})
    if answer == truth:
        yield from _further_changes(answer, truth, prompt)


def _scene_changes(scene: scenes.Scene, answer: JsonObject) -> Iterator[Change]:
    """Other words for the same complaint, and what this review leaves open."""
    text = scenes.fenced(answer)
    for complaint in scene.right:
        yield (
            f"complaint in other words: {scene.complaint}, {complaint}",
            text,
            scenes.put(answer, main_complaint=complaint),
        )
    for complaint in scene.near:
        yield f"blemish: an opinion as a complaint, {complaint}", text, scenes.put(answer, main_complaint=complaint)
        opinion = scenes.put(answer, main_complaint=complaint, product_issue=True)
        yield f"blemish: an opinion about the product, {complaint}", text, opinion
    if len(scene.flags) < 2:
        words = {name: "sim" if answer[name] else "não" for name in _FLAGS}
        yield "blemish: flags in words", text, dumped(answer | words)
    yield from _summed_up(str(answer["summary"]), answer)
    if scene.category:
        for category in scenes.UNTOLD_CATEGORIES:
            yield f"category that nobody tells: {category}", text, scenes.put(answer, category=category)
    yield "blemish: one flag too many", text, dumped(answer | {name: True for name in _FLAGS[-1:]})
    yield from _left_open(scene, answer)


def _summed_up(gist: str, answer: JsonObject) -> Iterator[Change]:
    """The same sentence told a little otherwise."""
    led = gist[0].lower() + gist[1:]
    told = (f"Cliente relata: {led}", f"Em resumo: {led}", f"O cliente conta que {led}", f"{gist[:-1]}, segundo conta.")
    for number, summary in enumerate((*told, f"{gist} Está aguardando uma solução.", gist[:-1])):
        yield f"summary in other words: {number}", scenes.fenced(answer), scenes.put(answer, summary=summary)


def _left_open(scene: scenes.Scene, answer: JsonObject) -> Iterator[Change]:
    text, stars = scenes.fenced(answer), scene.stars
    near = stars + (1 if stars in (1, 4) else -1)
    if scene.frame in scenes.UNTOLD:
        if stars != 3:
            yield f"stars that nobody states: {stars}", text, scenes.put(answer, sentiment_score=near)
        yield "blemish: the next risk", text, scenes.put(answer, churn_risk="medium")
        if scene.stars > 3 and scene.complaint:
            neutral = scenes.put(answer, sentiment="neutral", sentiment_score=3)
            yield "blemish: neutral about a complaint", text, neutral
            negative = scenes.put(answer, sentiment="negative", sentiment_score=2)
            if not scene.delighted:
                yield "blemish: negative about a complaint", text, negative
        return
    for words in (f"{stars}/5", f"{stars} estrelas"):
        yield "blemish: stars as text", text, scenes.put(answer, sentiment_score=words)
    if near != 3:
        yield f"blemish: stars miscopied, {scene.frame}", text, scenes.put(answer, sentiment_score=near)


def _further_changes(answer: JsonObject, truth: Mapping[str, Any], prompt: Prompt) -> Iterator[Change]:
    """Words for values, and one minor field that is off."""
    text = dumped(answer)
    for name, told in _WORDS.items():
        words = next((told[value] for value in told if value == truth[name] and type(value) is type(truth[name])), ())
        for word in words:
            yield f"words: {name} as {word}", text, scenes.put(answer, **{name: word})
    yield "words: intent left open", text, scenes.put(answer, repurchase_intent=None)
    if _STATED.search(prompt.user):
        yield "words: intent off", text, scenes.put(answer, repurchase_intent=not truth["repurchase_intent"])
    risk = "medium" if truth["churn_risk"] != "medium" else "high"
    yield "words: risk off", text, scenes.put(answer, churn_risk=risk)
    yield "further field: neutral", text, scenes.put(answer, idioma="pt-BR")
    yield "further field: a number", text, scenes.put(answer, itens=1)


def kinds(prompt: Prompt) -> tuple[str, ...]:
    truth = prompt.reference.get("fields", {})
    found = [f"{truth['sentiment']} reviews"] if "sentiment" in truth else []
    found += ["reviews without stars" if prompt.stars is None else "reviews with stars"]
    found += [f"reviews with {name}" for name in _FLAGS if truth.get(name)]
    found += ["reviews without a complaint"] if truth.get("main_complaint", "") is None else []
    return tuple(found)


def variants(prompt: Prompt, fields: Mapping[str, Field]) -> Iterator[tuple[str, Prompt]]:
    """Without its stars; with one field known; at length; as another review; with none."""
    bare = _STATED.sub("", prompt.user)
    if bare != prompt.user:
        yield "reviews without stars", replace(prompt, user=bare, stars=None)
        yield "reviews whose stars nobody states", replace(prompt, user=bare)
    yield from known_alone(prompt, fields)
    for kind, sentences in (("long reviews", _ASIDES[:4]), ("very long reviews", _ASIDES * 2)):
        yield kind, replace(prompt, user=" ".join([f"{prompt.user.rstrip('.')}.", *sentences]))
    yield from scenes.told_again(prompt, turns.REVIEWS)
    yield "reviews of which nothing is known", replace(prompt, reference={})


def right_answers(prompt: Prompt, fields: Mapping[str, Field]) -> list[str]:
    truth = prompt.reference.get("fields", {})
    return [scenes.fenced(truth)] if scenes.scene_of(prompt, turns.REVIEWS) else right_answer(truth, fields)
