"""Extraction: flaws of ten fields, and the same review told otherwise."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tucano.prompts import Prompt
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
from tucano.specs.objects import Field, JsonObject, dumped, json_object

_FLAGS = ("delivery_issue", "product_issue", "seller_issue")
_FEELINGS = ("negative", "neutral", "positive")
_STATED = re.compile(r",? ?(?:em |com |\()?nota:? \d(?:/5)?\)?|\(nota \d,[^)]*\)", re.IGNORECASE)
_DENIALS = {
    "entrega atrasada": "nenhum atraso na entrega",
    "produto com defeito": "nenhum defeito no produto",
    "embalagem danificada": "embalagem não veio danificada",
    "atendimento ruim": "atendimento não foi ruim",
    "qualidade ruim": "qualidade não é ruim",
}
_ALL = ("pedido não chegou", "entrega atrasada", "produto com defeito", "produto errado", "atendimento ruim")


def edits(prompt: Prompt, text: str, others: Sequence[Prompt], fields: Mapping[str, Field]) -> Iterator[Flaw]:
    truth = prompt.reference.get("fields", {})
    yield from field_flaws(text, truth, fields)
    if len(truth) != 1:  # else what does not touch the one field that is known
        yield from form_flaws(text)
    answer = json_object(text)
    if answer is None or answer.keys() != fields.keys():
        return
    yield from _felt(text, answer, truth, prompt)
    yield from _blamed(text, answer, truth)
    yield from _worded(text, answer, truth, others)
    if len(truth) != 1:
        yield from _placeholders(text, answer)


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


def harmless(prompt: Prompt, text: str) -> Iterator[Change]:
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


def kinds(prompt: Prompt) -> tuple[str, ...]:
    truth = prompt.reference.get("fields", {})
    found = [f"{truth['sentiment']} reviews"] if "sentiment" in truth else []
    found += ["reviews without stars" if prompt.stars is None else "reviews with stars"]
    found += [f"reviews with {name}" for name in _FLAGS if truth.get(name)]
    found += ["reviews without a complaint"] if truth.get("main_complaint", "") is None else []
    return tuple(found)


def variants(prompt: Prompt, fields: Mapping[str, Field]) -> Iterator[tuple[str, Prompt]]:
    """Without its stars; with one field known; with none."""
    bare = _STATED.sub("", prompt.user)
    if bare != prompt.user:
        yield "reviews without stars", replace(prompt, user=bare, stars=None)
        yield "reviews whose stars nobody states", replace(prompt, user=bare)
    yield from known_alone(prompt, fields)
    yield "reviews of which nothing is known", replace(prompt, reference={})
