"""Which product a text names, and whether it names another one."""

import re
from collections.abc import Sequence

from tucano.truth.catalogue import CATALOGUE
from tucano.truth.reading import plain, word_set, words

_LINKS = word_set(
    """
    de do da dos das e para com
    """
)
_SOLD = tuple(tuple(words(entry)[1:]) for entries in CATALOGUE.values() for entry in entries.split("|"))
"""The names of the synthetic shop's products, as words."""
_NO_THING = word_set(
    """
    desconto voce voces seu sua hoje graca novo nova casa verdade volta presente cliente loja
    """
)
_AMBIGUOUS = word_set(
    """
    mesa bola bolsa banheira carrinho chip forno faca esteira bateria alarme farol serra saia
    """
)
"""Products whose name is also a word of other sentences («finalize o carrinho»); they alone name no other product."""


def names_product(text: str, product: str, terms: Sequence[str] = ()) -> bool:
    """Whether the text names the product: its whole name, or its first word where nothing else is made of it
    («fone de ouvido» is named by «fone», not by «fone de parede»)."""
    said, name = words(text), words(product)
    if not name:
        return False
    forms = {name[0], f"{name[0]}s", *(words(terms[0])[:1] if terms else ())}
    for place, word in enumerate(said):
        if word not in forms:
            continue
        after = said[place + 1 : place + 3]
        if said[place : place + len(name)] == name:
            return True
        if (
            len(after) == 2
            and after[0] in ("de", "do", "da")
            and after[1] not in (*name, *_NO_THING)
            and after[1].isalpha()
        ):
            continue
        return True
    return False


def names_another(text: str, product: str, brief: str) -> bool:
    """Whether the text names a product of the catalogue that is neither its own nor stands in its brief."""
    said = f" {' '.join(words(text))} "
    own = f" {plain(' '.join(words(brief)))} {' '.join(words(product))} "
    return any(
        f" {' '.join(name)} " in said and f" {' '.join(name)} " not in own
        for name in _SOLD
        if not (len(name) == 1 and name[0] in _AMBIGUOUS)
    )


def bare(text: str) -> str:
    """The text in plain form without marks."""
    return re.sub(r"[^\w\s]", " ", plain(text))
