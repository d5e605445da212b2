"""How people type: one hand per text, with its own capitals, marks, accents, short forms and slips.

Shares and rates are those that reviews of two Brazilian shops show, rounded; no text of theirs stands here.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

SHORT_FORMS = {
    "você": "vc|vc", "vocês": "vcs", "que": "q|q|k", "não": "n|ñ|nao|nao", "também": "tb|tbm",
    "muito": "mto|mt|muinto", "porque": "pq|pq|por que", "para": "pra|p|pra", "tudo": "td", "hoje": "hj",
    "está": "ta|tá", "estou": "to|tô", "com": "c", "quando": "qdo", "depois": "dps", "mesmo": "msm",
    "obrigado": "obg", "obrigada": "obg", "produto": "prod|podruto|produdo", "dias": "ds", "beleza": "blz",
    "quanto": "qto", "comigo": "cmg", "excelente": "exelente|ecelente|escelente",
    "expectativas": "espectativas|expectativa", "mas": "mais|mas", "atraso": "atrazo", "comprei": "conprei",
    "recomendo": "recomendo|recomento|recomendo!", "chegou": "xegou|chego", "qualidade": "qualidade|qualidde",
    "rápido": "rapido|rápido", "previsto": "previsto|previto", "mandaram": "mandarão",
    "vendedor": "vendendor|vendedor", "embalado": "enbalado|embalado", "compra": "conpra|compra", "veio": "veio|vieo",
}  # fmt: skip
EMOJI = ("👍", "👏👏👏", "😍", "❤️", "😊", "😡", "👍🏻", "🙏", ":)", "😃", ":(", "👏🏼👏🏼")
ENDS = ((".", 44), ("", 43), ("!", 6), ("!!", 1), ("!!!", 3), ("...", 2), ("..", 1), (" .", 1), (" !", 1), ("?", 1))
JOINTS = ((". ", 44), (", ", 22), (" ", 13), (" e ", 16), ("! ", 3), (".", 2), (",", 3), (" , ", 1), ("... ", 1),
          ("...", 2), ("!!! ", 1), (" pois ", 2))  # fmt: skip
LONGEST = 208
"""Characters that the form of a shop took: longer texts end in the middle of a word."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Hand:
    """Somebody's way to type. `short` and `slips`: of words; `bare`: of accents that are left out."""

    case: str
    end: str
    joint: str
    steady: bool
    short: float
    slips: float
    bare: float
    emoji: str

    def written(self, parts: Sequence[str], rng: Random) -> str:
        """The clauses as one text."""
        text = parts[0]
        for part in parts[1:]:
            text = _joined(text, self.joint if self.steady else _weighted(JOINTS, rng), part)
        text = _WORD.sub(lambda word: self.typed(word[0], rng), text)
        text = self._cased(text + self.end, rng) + self.emoji
        return text[:LONGEST].rstrip()

    def typed(self, word: str, rng: Random) -> str:
        """The word in a short form, with a slip, without its accents, or as it is."""
        if rng.random() < self.short and word in SHORT_FORMS:
            word = rng.choice(SHORT_FORMS[word].split("|"))
        if len(word) > 3 and rng.random() < self.slips and word.isalpha():
            word = _slipped(word, rng)
        return _plain(word) if rng.random() < self.bare else word

    def _cased(self, text: str, rng: Random) -> str:
        if self.case == "upper":
            return text.upper()
        if self.case == "lower":
            return text.lower() if rng.random() < 0.7 else text
        text = re.sub(r"(?<=[.!?] )\w", lambda found: found[0].upper() if self.case == "sentence" else found[0], text)
        return text[0].upper() + text[1:]


def draw_hand(rng: Random) -> Hand:
    case = rng.choices(("sentence", "first", "lower", "upper"), (68, 13, 15, 4))[0]
    careless = rng.random() < 0.3
    return Hand(
        case=case,
        end=_weighted(ENDS, rng),
        joint=_weighted(JOINTS, rng),
        steady=rng.random() < 0.6,
        short=rng.choice((0.1, 0.3)) if careless else 0.01,
        slips=rng.choice((0.02, 0.05)) if careless else 0.008,
        bare=rng.choices((0.03, 0.3, 1.0), (80, 10, 10))[0],
        emoji=rng.choice(("", " ")) + rng.choice(EMOJI) if rng.random() < 0.015 else "",
    )


def _joined(text: str, joint: str, part: str) -> str:
    """A clause that begins with a mark or «mas» brings its own joint."""
    if part[0] in ",.;":
        return text + part
    if joint == " e " and (part.split()[0] in ("e", "mas", "porém", "só") or " e " in text[-25:]):
        joint = ", "
    return text + joint + part


def _slipped(word: str, rng: Random) -> str:
    """The word with two letters swapped, one left out, one doubled or many times, or a neighbouring key."""
    place = rng.randrange(1, len(word) - 1)
    kind = rng.random()
    if kind < 0.3:
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    if kind < 0.65:
        return word[:place] + word[place + 1 :]
    if kind < 0.75:
        return word[:place] + word[place] + word[place:]
    if kind < 0.82:
        return word + word[-1] * rng.randint(2, 6)
    row = next((row for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm") if word[place] in row), "aeo")
    near = (row.index(word[place]) + rng.choice((-1, 1))) % len(row) if word[place] in row else 0
    return word[:place] + row[near] + word[place + 1 :]


def _plain(word: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKD", word) if not unicodedata.combining(letter))


def _weighted(choices: Sequence[tuple[str, int]], rng: Random) -> str:
    return rng.choices([choice for choice, _ in choices], [weight for _, weight in choices])[0]


def roughened(template: str, rng: Random) -> str:
    """A sentence as somebody types it in a hurry, or not; its open slots stay whole."""
    if rng.random() < 0.5:
        return template[0].upper() + template[1:]
    hand = draw_hand(rng)
    pieces = re.split(r"(\{\w+\})", template)
    typed = "".join(
        piece if piece.startswith("{") else _WORD.sub(lambda word: hand.typed(word[0], rng), piece) for piece in pieces
    )
    if rng.random() < 0.4:
        typed = typed.rstrip("?.! ")
    return typed[0].lower() + typed[1:] if hand.case == "lower" else typed[0].upper() + typed[1:]
