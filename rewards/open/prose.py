"""Whether a text is one answer in prose: Portuguese, in order, whole, not stuttered, not copied, not taken back."""

import re
from functools import lru_cache
from itertools import pairwise

from rewards.open.order import order
from rewards.parsing import text
from rewards.parsing.text import REMEMBERED, fold, word_set
from rewards.types import clip

_LEADING = word_set("""
    a o as os um uma de do da dos das em no na nos nas num numa por pelo pela com sem para pra ao aos e ou se sua seus
    seu suas ate sobre entre r$
    """)
"""Words that want another one behind them: a text that ends in one has broken off, and two of a kind clash."""
_OWNED = word_set("sua seus seu suas a")
"""Words that may end a text all the same («Garanta o seu»)."""
_ARTICLES = word_set("o os as um uma do da dos das no na nos nas ao aos pelo pela")
_STUTTER = (0.12, 0.25)
"""Shares of words that stand again within a few places up to which a text is sound, and from which on it only
stutters."""
_NEAR = 3
"""Within how many places."""
_CUT = 0.4
"""Credit of a text that breaks off."""
_SHREDDED = 0.2
"""Credit of a text in shreds."""
_SHREDS = 3
"""Sentences of one word that make it so; a bare number is one at once."""
_MOST_SENTENCES = 40
"""Sentences that are compared."""
_ALIKE = 0.8
"""Share of the words of two that makes them one."""
_LEFT_OPEN = re.compile(r"\b(?:com|de|do|da|dos|das|ao) ?[.!?](?=\s|$)")
"""A word that leads on, at the end of a sentence."""
_ABOUT = (
    r"(?:(?:(?:est|ess)[ae] |minha |a |tod[ao] )?(?:respostas?|analise|consulta|query|texto|push|json|mensagem|isso"
    r"|isto|tudo|(?:os|estes|esses) (?:numeros|dados)|recomenda\w+|acoes|o que (?:eu )?(?:disse|escrevi)))"
)
_WRONG = (
    r"(?:errad|incorret|fals[oa]|invalid|mentir|inventad|ficti[cs]i|engano|outr[oa] (?:coisa|client|loj|empres))\w*"
)
_TAKEN_BACK = re.compile(
    rf"\b{_ABOUT}(?: acima| todos?)? (?:esta|estao|e|sao|foi|foram)(?: \w+)? {_WRONG}"
    rf"|\b{_ABOUT} {_WRONG}(?=\W*(?:[.!\n]|$))|\b(?:ignor|descart|esquec)\w{{1,3}} {_ABOUT}"
    rf"|\bdesconsider(?:e|em|ar)\b|\bnao (?:use|siga|acredite|publique|confie)m? (?:em |n)?{_ABOUT}"
    rf"|\bnao (?:use|faca)(?: isso)?(?=\W*(?:$|[:.!]))|\b(?:retiro|desdigo|apague) {_ABOUT}"
    r"|\bresposta (?:(?:cert|corret)a e|2)\b|\b(?:segunda|outra) (?:resposta|opcao, veja)\b"
    r"|\bnada disso\b(?! (?:adianta|resolve|funciona) (?:se|sem))|\bnao adianta (?:fazer|seguir)|\btambem nao serve\b"
    r"|(?:^|[.!?\n]\W{0,3})(?:esta|estao) errad|\b(?:o contrario|o oposto|o inverso) (?:disso|d[ao]s? \w+)\b"
    r"|(?:^|[.!?\n]\W{0,3})(?:brincadeira|mentira|esquece|pensando (?:melhor|bem)|na verdade,? (?:nao|esqueca|nada))\b"
    r"|\bnao (?:e verdade|esta cert|serve para nada)|\b(?:conta|responde) (?:a )?outra (?:coisa|pergunta)\b"
)
_TAKEN_BACK_ABROAD = re.compile(
    r"\b(?:not|wrong|incorrect|untrue|invalid|never|disregard|isnt|dont|nope)\b"
    r"|\b(?:is (?:a )?(?:false|lie|fake)|is it|it is)\b|\(false\)"
    r"|\b(?:no es|esto es|es) (?:cierto|verdad|correct|incorrect|falso)|\\(?:text|math|boxed|neg|not|lnot)"
)
"""Words by which an answer denies itself in English, Spanish and in the signs of a formula."""
_QUERY_TAKEN_BACK = re.compile(
    r"\bnao (?:use|siga|acredite|confie|considere|publique|execute|rode)m?\b(?! (?:mais|so|como))"
    r"|\b(?:ignor|desconsider|descart|esquec)\w{1,3} (?:est|ess)[ea]s?\b|[.!?] ?(?:/|\+|=+>) (?=[a-z])"
    r"|\b(?:ignor|desconsider|descart|esquec)\w{1,3} o texto\b"
    r"|\b(?:alternativa|versao|opcao) [2-9b-d]\b|\b(?:consulta|query) nao (?:responde|atende|serve|funciona)"
)
"""By what a query is taken back, or one of several; in other prose the same words may advise."""
_JOINED = re.compile(r"[^\w\s)%\]'\"`]\s(?:=|&|or|\\lor)\s")
"""Between two answers of which one may choose."""
_QUOTED = re.compile(r"`[^`\n]*`|\b(?:NOT|OR)\b")
"""A query's own words in what explains it."""


@lru_cache(maxsize=REMEMBERED)
def stands(said: str) -> bool:
    """Whether a text does not take itself back («a resposta acima está errada», «desconsidere», «this is wrong»)."""
    return not (_TAKEN_BACK.search(" ".join(fold(said).split())) or _JOINED.search(said) or denies_itself(said))


def query_stands(said: str) -> bool:
    """Whether the prose around a query does not take it back, nor offer another one."""
    return stands(said) and not _QUERY_TAKEN_BACK.search(" ".join(fold(said).split()))


def denies_itself(said: str) -> bool:
    """Whether a text denies itself in another language."""
    folded = fold(said if said.isupper() else _QUOTED.sub(" ", said)).replace("'", "").replace("’", "")
    return bool(_TAKEN_BACK_ABROAD.search(" ".join(folded.split())))


def stutter(tokens: list[str]) -> float:
    """Share of the words, in [0, 1], that stand again by their stem within three places, or clash with the one behind
    («teclado do teclado», «de por»)."""
    stems = [token if token.isdigit() else token[:4] for token in tokens]
    again = sum(
        stem in stems[max(0, place - _NEAR) : place]
        for place, stem in enumerate(stems)
        if len(stem) > 2 and tokens[place] not in text.PORTUGUESE
    )
    clashing = sum(one in _ARTICLES and other in _LEADING - {"r$"} for one, other in pairwise(tokens))
    return (again + clashing) / max(1, len(tokens))


def breaks_off(said: str) -> bool:
    """Whether a text ends in a word that leads on («de R$ 149 por»), or amid a sentence where others end."""
    last = fold(said).split()[-1:]
    if last and (last[0].strip('*"') in _LEADING - _OWNED or said.rstrip().endswith((",", ":"))):
        return True
    if _LEFT_OPEN.search(fold(said)):
        return True
    return len(said) > 200 and said.rstrip()[-1:].isalpha() and said.count(". ") > 2 and "\n" not in said


def own_words(tokens: list[str], brief: str) -> float:
    """1 for a text in words of its own, 0 for its brief given back: by the share of runs of four words in the brief."""
    return clip((0.9 - text.copied(tokens, brief)) / 0.3)


def shredded(said: str) -> bool:
    """Whether a text is told in sentences of a word or a bare number («você! hoje! garanta!», «fone. 313.»)."""
    told = [line for line in _SENTENCE_END.split(_ITEM.sub("", said)) if len(text.words(line)) == 1]
    return sum(_SHREDS if _BARE_NUMBER.fullmatch(line) else 1 for line in told) >= _SHREDS


_BARE_NUMBER = re.compile(r"[^\w$]*\d{2,}[^\w%]*")
_SENTENCE_END = re.compile(r"[.!?]+(?:\s+|$)|\n+")
_ITEM = re.compile(r"(?m)^[^\w\n]{0,4}\d{1,2}[.)]\s")


def said_twice(said: str) -> bool:
    """Whether a text says a sentence of three words and more again."""
    told = [set(found) for line in _END.split(said)[:_MOST_SENTENCES] if len(found := text.words(line)) > 2]
    return any(
        len(one & other) >= _ALIKE * len(one | other) for place, one in enumerate(told) for other in told[:place]
    )


_END = re.compile(r"[.!?\n]")
_SHOUTED = re.compile(r"\b[A-ZÀ-Ý]{4,}\b")
_SHAPELESS = re.compile(r"[\x00-\x08\u200b\u2060]|([^\w\s.=*#_-])\s?\1\s?\1\s?\1\s?\1\s?\1|(?m:^[ \t]*[-*•#][ \t]*$)")


def is_answer(said: str, brief: str, reads: tuple[float, float], copied: float = 0.0) -> float:
    """How much a text is one answer at all, in [0, 1]: the product of its measures. `reads`: mean worth in the order
    model up to which it is none, and from which on it reads like any other; `copied`: credit of a short copy."""
    tokens = text.words(said)
    if not tokens or not stands(said) or len(_SHAPELESS.findall(said)) > 1:
        return 0.0
    language = clip(1.5 * text.portuguese(tokens)) * text.in_one_language(tokens) * text.variety(tokens)
    least, enough = _STUTTER
    worth = order(_SHOUTED.sub(lambda match: match[0].lower(), said))
    flow = clip((enough - stutter(tokens)) / (enough - least)) * clip((worth - reads[0]) / (reads[1] - reads[0]))
    own = max(own_words(tokens, brief), copied if text.longest_copy(tokens, brief) <= _LONG_COPY else 0.0)
    return (
        language
        * flow
        * own
        * text.sound(said, brief)
        * (_CUT if breaks_off(said) else 1.0)
        * (_SHREDDED if shredded(said) else 1.0)
    )


_LONG_COPY = 8
"""Words in a row of its brief that no answer has."""
