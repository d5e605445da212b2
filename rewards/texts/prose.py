"""Whether a text is one answer in prose: Portuguese, in order, whole, not stuttered, not copied, not taken back."""

import re
from functools import lru_cache
from itertools import pairwise

from rewards.parsing import text
from rewards.parsing.text import REMEMBERED, fold, word_set
from rewards.texts.order import Limits, reads_well
from rewards.types import clip
from rewards.wording.beside import retracts

_LEADING = word_set("""
    a o as os um uma de do da dos das em no na nos nas num numa por pelo pela com sem para pra ao aos e ou se sua seus
    seu suas ate sobre entre r$
    """)
"""Words that want another one behind them: a text that ends in one has broken off, and two of a kind clash."""
_OWNED = word_set("sua seus seu suas a")
"""Words that may end a text all the same («Garanta o seu»)."""
_POSSESSIVE = word_set("seu seus sua suas r$")
_MAY_END = word_set("nos sobre ate um uma")
_ARTICLES = word_set("o os as um uma do da dos das no na nos nas ao aos pelo pela")
_STUTTER = (0.12, 0.25)
"""Shares of words that stand again within a few places up to which a text is sound, and from which on it only
stutters."""
_NEAR = 3
"""Within how many places."""
_CUT = 0.3
"""Credit of a text that breaks off."""
_SHREDDED = 0.2
"""Credit of a text in shreds."""
_SHREDS = 3
"""Sentences of one word that make it so; a bare number is one at once."""
_MOST_SENTENCES = 40
"""Sentences that are compared."""
_ALIKE = 0.8
"""Share of the words of two that makes them one."""
_ANOTHER = re.compile(
    r"(?:^|[.!?\n]\W{0,3})(?:alternativa|versao|opcao|notificacao|resposta) [2-9b-d]\b"
    r"|\bresposta (?:(?:cert|corret)a e|2)\b"
)
"""What offers another answer beside the first."""
_GLUE = re.compile(
    r"(?<!etc)[.!?][^\w\n]{0,9}?(?:(?:[=/|+&]+>?|\\[a-z]{1,9})\s*(?=[^\W\d_])|\bo[ur]\s+(?=[A-ZÀ-Ý][a-zà-ÿ]))"
)
"""A sign or «ou» by itself behind a sentence, and another one begins («! = Leve», «! ou Leve»)."""
_UNSAID = re.compile(
    r"\b(?:desconsider|ignor|descart|esquec)\w{1,3} (?:(?:est|ess)[ea]s? |isso|isto|tud|(?:o"
    r"|est[ea]) (?:texto|analise)|a analise|as (?:sugest|recomend|acoes))"
    r"|\bnao (?:use|siga|publique|faca)m?(?! mais\b)"
    r"(?: isso| (?:est|ess)\w+ (?:sugest|recomend|analise)\w*)?(?=\W*(?:$|[:.!]))"
    r"|\bnao (?:tenho como|posso|consigo|sei) (?:ajud|respond)|\b(?:retiro|desdigo) (?:o |tudo)"
    r"|\bnao e verdade\b|\bno es (?:verdad|cierto)|\bignore this"
    r"|\bnao (?:acredite|confie|considere)m? n?(?:isso|isto)\b"
    r"|\bnada disso\b(?! (?:adianta|resolve|funciona) (?:se|sem))|\btambem nao serve\b"
    r"|\b(?:o contrario|o oposto|o inverso) disso\b"
    r"|(?:^|[.!?\n]\W{0,3})(?:brincadeira|mentira|esquece|pensando (?:melhor|bem)|na verdade,? (?:nao|esqueca|nada))\b"
)
"""What takes back what was advised or offered, beside what rewards/wording/beside.py knows of any answer."""
_FORGOT = re.compile(r"(?i)\besque[cç]\w*")
"""What customers do with a cart, and an answer says of itself where `_UNSAID` has it."""
_ABROAD = 3
"""Words of a sentence from which on two fifths of them tell its language."""


@lru_cache(maxsize=REMEMBERED)
def stands(said: str) -> bool:
    """Whether a text is one answer, which neither its beginning nor its end takes back («desconsidere», «is wrong»)."""
    folded = "\n".join(" ".join(line.split()) for line in fold(said).splitlines())
    told = [line for line in _SENTENCE_END.split(_FORGOT.sub(" ", said)) if line.strip()]
    return not (
        any(map(retracts, {*told[:1], *told[-2:]}))
        or _UNSAID.search(folded)
        or _ANOTHER.search(folded)
        or _GLUE.search(said)
        or _goes_abroad(folded)
    )


def _goes_abroad(folded: str) -> bool:
    """Whether a sentence is in another language."""
    told = (text.words(line) for line in _SENTENCE_END.split(folded.replace("'", "")))
    return any(
        len(line) >= _ABROAD and 5 * sum(word in text.FOREIGN for word in line) >= 2 * len(line) for line in told
    )


def stutter(tokens: list[str]) -> float:
    """Share of the words, in [0, 1], that stand again by their stem within three places, or clash with the one behind
    («teclado do teclado», «de por»)."""
    stems = [token if token.isdigit() else token[:4] for token in tokens]
    again = sum(
        stem in stems[max(0, place - _NEAR) : place]
        for place, stem in enumerate(stems)
        if len(stem) > 2 and tokens[place] not in text.PORTUGUESE
    )
    clashing = sum(one in _ARTICLES and other in _LEADING - _POSSESSIVE for one, other in pairwise(tokens))
    return (again + clashing) / max(1, len(tokens))


def breaks_off(said: str) -> bool:
    """Whether a text ends in a word that leads on («de R$ 149 por»), or amid a sentence where others end."""
    last = fold(said).split()[-1:]
    if last and (last[0].strip('*"') in _LEADING - _OWNED or said.rstrip().endswith((",", ":"))):
        return True
    ends = (found[-1] for line in _SENTENCE_END.split(said.lower()) if len(found := line.split()) > 1)
    if any(end in _LEADING - _OWNED - _MAY_END for end in ends):
        return True
    return len(said) > 200 and said.rstrip()[-1:].isalpha() and said.count(". ") > 2 and "\n" not in said


def own_words(tokens: list[str], brief: str) -> float:
    """1 for a text in words of its own, 0 for its brief given back: by the share of runs of four words in the brief."""
    return clip((0.9 - text.copied(tokens, brief)) / 0.3)


def shredded(said: str) -> bool:
    """Whether a text is told in sentences of a word or a bare number («você! hoje! garanta!», «fone. 313.»)."""
    told = [line for line in _SENTENCE_END.split(_ITEM.sub("", said)) if len(text.words(line)) == 1]
    return (
        bool(_VERBS_IN_A_ROW.search(fold(said)))
        or sum(_SHREDS if _BARE_NUMBER.fullmatch(line) else 1 for line in told) >= _SHREDS
    )


_VERBS_IN_A_ROW = re.compile(
    r"\b(?:[a-z]{2,}[aei]r ){3}[a-z]{2,}[aei]r\b|\b(?:[a-z]{3,}[aei]mos ){2}[a-z]{3,}[aei]mos\b"
)
_BARE_NUMBER = re.compile(r"[^\w$]*\d{2,}[^\w%]*")
_SENTENCE_END = re.compile(r"[.!?]+(?:\s+|$)|\n+")
_ITEM = re.compile(r"(?m)^[^\w\n]{0,4}\d{1,2}[.)]\s")


def said_twice(said: str) -> bool:
    """Whether a text says a sentence of three words and more again."""
    told = [set(found) for line in _END.split(said)[:_MOST_SENTENCES] if len(found := text.words(line)) > 2]
    return any(
        len(one & other) >= _ALIKE * len(one | other) and not any(map(_is_number, one ^ other))
        for place, one in enumerate(told)
        for other in told[:place]
    )


def _is_number(word: str) -> bool:
    return word[0].isdigit()


LETTER = re.compile(
    r"\bprezad|\batenciosamente|\bcordialmente|\bestimad|\bvimos por|\bvenho por|\bvossa|\bassunto:"
    r"|\binforma(?:mos|-se)\b|\bcar[oa]s? (?:amig|client|senhor|equipe)|\brespeitosamente|\bilustr"
)
"""The tone of a letter."""
_END = re.compile(r"[.!?\n]")
_SHOUTED = re.compile(r"\b[A-ZÀ-Ý]{4,}\b")
_SCRAPS = re.compile(r"`{3,}|\b(?:NaN|null|None|undefined)\b|(?i:\b([a-zà-ÿ]{4,}) \1\b)")
"""Marks of programs, and a word that stands twice."""
_BRACKETS = re.compile(r"[:;]-?[()]|(?m:^\W*\w{1,2}\))")
_BLEMISHED = 0.77
"""Credit of a text with one place without shape, an open bracket or bare words in a row."""
_BARE_WORDS = 5


def _is_open(said: str) -> bool:
    plain = _BRACKETS.sub(" ", said)
    return plain.count("(") != plain.count(")")


def _lists_words(said: str) -> bool:
    """Whether a sentence is of bare words in a row, none of which links others («casa sol rua festa»)."""
    told = (line.split() for line in _SENTENCE_END.split(fold(said)))
    return any(
        len(line) >= _BARE_WORDS and all(word.isalpha() and word not in text.PORTUGUESE for word in line)
        for line in told
    )


_SHAPELESS = re.compile(r"[\x00-\x08\u200b\u2060]|([^\w\s.=*#_-])\s?\1\s?\1\s?\1\s?\1\s?\1|(?m:^[ \t]*[-*•#][ \t]*$)")


def is_answer(said: str, brief: str, reads: Limits, copied: float = 0.0) -> float:
    """How much a text is one answer at all, in [0, 1]: the product of its measures. `reads`: mean worth in the order
    model up to which it is none, and from which on it reads like any other; `copied`: credit of a short copy."""
    tokens = text.words(said)
    if not tokens or not stands(said) or len(shapeless := _SHAPELESS.findall(said)) > 1:
        return 0.0
    language = clip(1.5 * text.portuguese(tokens)) * text.in_one_language(tokens) * text.variety(tokens)
    least, enough = _STUTTER
    flow = clip((enough - stutter(tokens)) / (enough - least)) * reads_well(
        _SHOUTED.sub(lambda match: match[0].lower(), said), reads
    )
    own = max(own_words(tokens, brief), copied if text.longest_copy(tokens, brief) <= _LONG_COPY else 0.0)
    return (
        language
        * flow
        * own
        * text.sound(said, brief)
        * (_GIVEN_BACK if text.longest_copy(tokens, brief) > _PASTED else 1.0)
        * (_CUT if breaks_off(said) else 1.0)
        * (_BLEMISHED if shapeless or _SCRAPS.search(said) or _is_open(said) or _lists_words(said) else 1.0)
        * (_SHREDDED if shredded(said) else 1.0)
    )


_PASTED, _GIVEN_BACK = 14, 0.85
"""From how many words in a row of its brief on a text has it pasted in, and its credit."""
_LONG_COPY = 8
"""Words in a row of its brief that no answer has."""
