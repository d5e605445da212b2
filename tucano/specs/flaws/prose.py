"""Flaws that any prose can have: broken words, repetition, another language."""

import re
from collections.abc import Iterator

from tucano.specs.flaws.objects import Flaw

_SPANISH = "El cliente no está contento con las ofertas, pero hay muchas oportunidades en la tienda y los precios."


def broken(text: str) -> Iterator[Flaw]:
    """Words run into each other, one place and several."""
    places = [found.start() for found in re.finditer(r"(?<=[a-zà-ÿ]{3}) (?=[a-zà-ÿ]{4})", text)]
    if len(places) < 4:
        return
    glued = [_glued(text, places[1 : 1 + number]) for number in range(3)]
    yield "words run together: one place", 0.4, text, glued[1]
    yield "words run together: a second place", 0.2, glued[1], glued[2]
    yield "words in no order: at the end", 0.4, text, f"{text} O a de para cliente o na."
    yield "a character that is none", 0.4, text, text.replace(" ", " \ufffd ", 1)


def _glued(text: str, places: list[int]) -> str:
    for place in reversed(places):
        text = f"{text[:place]}{text[place + 1].upper() + text[place + 2 :]}"
    return text


def repeated(text: str) -> Iterator[Flaw]:
    yield "said again: three times", 1, text, "\n".join([text] * 3)


def spanish(text: str) -> Iterator[Flaw]:
    yield "another language: in the middle", 0.5, text, f"{text}\n{_SPANISH} {_SPANISH.replace('cliente', 'equipo')}"
