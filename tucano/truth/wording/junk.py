"""What no answer is made of: piles of marks, lists of verbs, the task's own words, a refusal, another kind of text."""

import re
from functools import lru_cache

from tucano.truth.catalogue import CATALOGUE
from tucano.truth.fluency import CORPUS, corpus
from tucano.truth.reading import plain, sentences, stem, words

_PILES = re.compile(r"([^\s\w.=*#_\u2500-\u259f-])\1{9,}|[\u200b\u200c\u2060\ufeff]{3}|[\x00-\x08]|\bNaN\b|`{4}")
"""Of one mark, of characters that nobody sees, scraps of code; rules and bars may be long."""
_EMPTY_ITEM = re.compile(r"(?m)^[ \t]*[-*•#][ \t]*$")
_VERBS = re.compile(r"\b(?:[a-z]{2,}[aei]r ){3}[a-z]{2,}[aei]r\b|\b[a-z]{3,}amos [a-z]{3,}[ei]mos [a-z]{3,}[ei]mos\b")
"""Four infinitives in a row; «quer comprar celular» looks like three."""
_TASK = re.compile(
    r"\brecomende (?:acoes em )?(?:topicos|itens|lista|bullets)\b"
    r"|\b(?:quais|com|de|sem) insights e\b|\banalise (?:os|estes) numeros e recomend\w+"
)
_REFUSES = re.compile(
    r"(?:\A|[.!?]\s|\n)(?:desculpe,? (?:mas )?nao\b|nao (?:sei|posso|consigo|vou) (?:responder|ajudar|fazer isso)\b"
    r"|sinto muito, mas nao\b|como um modelo de linguagem\b)"
)
"""At the beginning of a sentence; what stands in quotation marks is said to customers."""


def is_junk(answer: str) -> bool:
    """Whether prose holds something that no answer is made of."""
    text = plain(answer)
    return bool(
        _PILES.search(answer)
        or any(map(_tangles, sentences(answer, whole=True)))
        or len(_EMPTY_ITEM.findall(answer)) > 1
        or _VERBS.search(text)
        or _TASK.search(text)
        or _REFUSES.search(text)
    )


_ENTRY = re.compile(r"\d%?\s*;")
LONGEST_ENTRY = 4
"""Words before the figure of an entry («em queda: taxa de recompra»)."""


def _tangles(sentence: str) -> bool:
    """Whether a sentence strings figures («10,3%; apertar cancelamento 11,1%; viajar e deixar julho (clientes novos)»)
    where a list has entries («recompra 17%; setor 21%; distância que se fecha»), none twice, before what it says of
    them. Behind marks a model of word order begins anew, so that any words may stand there."""
    *entries, last = plain(sentence).split(";")
    if len(_ENTRY.findall(sentence)) < 2:
        return False
    named = [tuple(word for word in words(entry) if word.isalpha()) for entry in entries]
    listed = len(set(named)) == len(named) and all(0 < len(entry) <= LONGEST_ENTRY for entry in named)
    said = sum(word.isalpha() for word in words(last))
    return not listed or (said > LONGEST_ENTRY and any(mark.isdigit() for mark in last))


LONG = 4
"""Letters of a word that has a subject."""
STRAYS = {"shop": (2, 0.11), "push": (3, 0.25)}
"""So many different words, and more than this share of the long ones, make a text of another kind: of 2,000 rated
pushes and insights above 2 none has them. A push has few words, and one that praises may well be everyday."""


_EVERYDAY = """
    otimo real unico conquista leveza poupe cuide veloz topo pausa sentir sinta time movimento perfil imagem navegue
    descanso achado vitoria sozinho mundo jeito coisa verdade vida gente sonho amigo familia trabalho
"""
"""Words that belong to no kind of text, wherever the corpus happens to have them."""


def is_astray(answer: str, brief: str, part: str) -> bool:
    """Whether a text that belongs to this part of the corpus (`shop`, `push`) has the subjects of the other: words that
    the corpus knows from there alone, and that are not the brief's."""
    said, asked = _subjects([answer]), frozenset(_subjects([brief]))
    found = [word for word in said if word in _elsewhere(part) and word not in asked]
    fewest, share = STRAYS[part]
    return len(set(found)) >= fewest and len(found) > share * len(said)


def _subjects(lines: list[str]) -> list[str]:
    return [stem(word) for line in lines for word in words(line) if len(word) >= LONG and word.isalpha()]


@lru_cache(maxsize=2)
def _elsewhere(part: str) -> frozenset[str]:
    (other,) = {"shop", "push"} - {part}
    here = (name for name in CORPUS if name != other)
    known = _subjects([*corpus(*here), *CATALOGUE.values(), _EVERYDAY])
    return frozenset(_subjects(corpus(other))).difference(known)
