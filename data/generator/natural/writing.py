"""How people type: one hand per text, with its own capitals, marks, accents, short forms and slips.

Shares and rates are those that reviews of two Brazilian shops show, rounded; no text of theirs stands here.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from data.separation import without_accents

SHORT_FORMS = {
    "você": "vc|vc|vc|voce", "vocês": "vcs|vcs|vcs|voces", "que": "q", "não": "n|nao|nao|nao|nao|nao|nao|ñ",
    "também": "tb|tbm|tbm|tambem", "muito": "mto|mt|muito|muito|muito|muinto", "porque": "pq|pq|pq|porque",
    "para": "pra|pra|p|para", "tudo": "td|tudo", "hoje": "hj|hj|hoje", "está": "ta|tá|esta|esta|esta|esta",
    "estou": "to|estou|estou|estou", "com": "c|com|com", "quando": "qdo|quando|quando", "depois": "dps|depois|depois",
    "mesmo": "msm|mesmo|mesmo|mesmo", "obrigado": "obg|obrigado", "obrigada": "obg|obrigada", "quanto": "qto|quanto",
    "expectativas": "espectativas|expectativa|expectativa", "excelente": "exelente|excelente|excelente|excelente",
    "mas": "mais|mais|mas|mas", "chegou": "chego|chegou|chegou", "recebi": "recebir|recebi|recebi|recebi",
    "estorno": "extorno|estorno|estorno", "esse": "este|esse", "até": "ate",
    "é": "e|e|é|é",
}  # fmt: skip
BARE = {
    "já": ("ja", 0.14), "ótimo": ("otimo", 0.15), "ótima": ("otima", 0.2), "rápido": ("rapido", 0.18),
    "rápida": ("rapida", 0.08), "hoje": ("hj", 0.1), "várias": ("varias", 0.3), "relógio": ("relogio", 0.1),
    "anúncio": ("anuncio", 0.15), "ninguém": ("ninguem", 0.08), "mês": ("mes", 0.1), "há": ("a", 0.25),
    "péssima": ("pessima", 0.1), "você": ("vc", 0.3), "vocês": ("vcs", 0.25),
}  # fmt: skip
"""What many write so who type well otherwise, and the share of them."""
BY_EAR = (
    ("mp", "np"), ("mb", "nb"), ("nf", "mf"), ("nt", "mt"), ("^en", "in"), ("^em", "en"), ("ou$", "o"), ("ei$", "e"),
    ("ss", "s"), ("lh", "li"), ("rr", "r"), ("ç", "s"), ("z", "s"), ("xc", "x"), ("sc", "s"), ("s(?=[aeo])", "ss"),
    ("ém$", "em"), ("am$", "ao"), ("^ex", "es"), ("lm", "um"), ("e(?=[rl])", "i"), ("o(?=[mn])", "u"), ("[ae]r$", "a"),
    ("que", "qe"),
)  # fmt: skip
"""How letters are mistaken by those who write as they hear."""
EMOJI = (
    "👍", "👏👏👏", "😍", "❤️", "😊", "😡", "👍🏻", "🙏", ":)", "😃", ":(", "👏🏼👏🏼", "😉", "😁", "😠", "💕", "🤗",
    "☹️", "=)",
)  # fmt: skip
ENDS = ((".", 388), ("", 435), ("!", 80), ("!!", 10), ("!!!", 20), ("...", 15), ("..", 6), (" .", 10), (" !", 7),
        ("?", 6), ("??", 1), (",", 5), ("!!!!", 4), ("....", 3), (" ?", 2), (".....", 2), (" !!!", 2), ("!!!!!", 2),
        (" ...", 2), ("????", 1), ("???", 2), ("!!!!!!!", 1), (" ....", 1), (";", 1), ("......", 1),
        ("?!", 1))  # fmt: skip
JOINTS = ((". ", 315), (", ", 223), (" ", 115), (" e ", 145), ("! ", 44), (".", 21), (",", 26), (" , ", 21),
          ("... ", 12), ("...", 7), ("!!! ", 3), (", pois ", 6), (" ,", 8), (".. ", 7), (" . ", 6), ("! ", 8),
          ("!! ", 4), (" - ", 5), ("; ", 4), ("..", 4), ("....", 2), (" ... ", 3), (" / ", 1), (" + ", 1),
          (", e ", 14), ("\n", 45), (" .", 3), ("? ", 2), (" ! ", 2), (": ", 1), (". E ", 7), ("......", 1),
          (",e ", 2))  # fmt: skip
"""What stands between two clauses; a line break becomes a blank, so that a capital follows a word."""
LONGEST = 200
TITLE = 25
"""Characters that the form of a shop took, and those of a title: longer texts end in the middle of a word."""
_MARK = re.compile(r"(?<=\w)(?=[,.!] )")
_BLANK = re.compile(r"(?<=\w[,.!]) (?=\w)")
SHORT = 40
LONG = 110
LOUD = 0.045
"""Of texts of `LONG` characters that have a few words in capitals."""
_WORD = re.compile(r"\w+")
_LONG_COMMA = re.compile(r"(?<=[^,.;!?]{25}), (?!que\b|e\b|nem\b)(?=[^,.;!?]{18})")
_LONG_AND = re.compile(
    r"(?<=[^,.;!?]{30}) e (?=(?:não|o|até|já|quando|agora|ninguém|só|estou|fiquei|ainda|quero|a loja|no)\b[^,.;!?]{20})"
)


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
    capitals: float
    """Of words within a sentence that begin with one."""
    commas: float
    """Of commas that are left out."""
    loose: float
    tight: float
    """Of marks that have a blank before them, and of those that have none behind them."""
    stops: float
    """Of commas between two long clauses, and half as many of «e», that are a full stop instead."""

    def written(self, parts: Sequence[str], rng: Random, title: str = "") -> str:
        """The clauses as one text, behind its title, which has capitals of its own."""
        text = parts[0]
        for part in parts[1:]:
            text = _joined(text, self.joint if self.steady else _weighted(JOINTS, rng), part)
        text = _at_times(_LONG_COMMA, ". ", self.stops, text, rng)
        text = _at_times(_LONG_AND, ". ", self.stops / 2, text, rng)
        if self.commas:
            text = re.sub(r",(?= )", lambda found: "" if rng.random() < self.commas else ",", text)
        text = _at_times(_MARK, " ", self.loose, text, rng)
        text = _at_times(_BLANK, "", self.tight, text, rng)
        text = re.sub(r"(?<=\w) (?=\w)", lambda found: "" if rng.random() < self.slips / 8 else " ", text)
        text = _WORD.sub(lambda word: self.typed(word[0], rng), text)
        text = self._cased(text + _ended(text, self.end, len(text) + len(title), rng), rng)
        if rng.random() < LOUD * (len(text) / LONG) ** 1.5:
            text = _loud(text, rng)
        text = (" ".join(text.split()) + self.emoji)[:LONGEST].rstrip()
        if title:
            title = _WORD.sub(lambda word: self.typed(word[0], rng), title)[:TITLE].strip(" .")
            title = title if rng.random() < 0.24 else title.upper() if text.isupper() else title[0].upper() + title[1:]
            text = f"{title}{'' if title[-1] in '!?,' else '.'} {text}"
        return text

    def typed(self, word: str, rng: Random) -> str:
        """The word in a short form, with a slip, without its accents, or as it is."""
        if word in BARE and rng.random() < BARE[word][1]:
            word = BARE[word][0]
        if rng.random() < self.short and word in SHORT_FORMS:
            word = rng.choice(SHORT_FORMS[word].split("|"))
        if len(word) > 3 and rng.random() < self.slips and word.isalpha():
            word = _slipped(word, rng)
        return without_accents(word) if rng.random() < self.bare else word

    def _cased(self, text: str, rng: Random) -> str:
        if self.case == "upper":
            return text.upper()
        if self.case == "lower":
            return text.lower() if rng.random() < 0.7 else text
        begins = r"(?<=[.!?] )\w|(?<=[.!?])(?!com\b)[^\W\d](?=\w{2})|(?<=\n)\w"
        if self.case == "sentence" or rng.random() < 0.3:
            text = re.sub(begins, lambda found: found[0].upper(), text)
        if self.capitals:
            text = _WORD.sub(lambda word: _capital(word[0]) if rng.random() < self.capitals else word[0], text)
        return _capital(text)


def draw_hand(rng: Random, size: int = 70) -> Hand:
    """Whoever writes `size` characters: those who write little care least for capitals and accents."""
    short = size < SHORT
    long = size > LONG
    lower, upper = (24, 6) if short else (9, 2) if long else (15, 3)
    case = rng.choices(("sentence", "first", "lower", "upper"), (77, 6, lower, upper))[0]
    careless = rng.random() < 0.3
    return Hand(
        case=case,
        end=_weighted(ENDS, rng),
        joint=_weighted(JOINTS, rng),
        steady=rng.random() < 0.6,
        short=rng.choice((0.1, 0.3)) if careless else 0.01,
        slips=rng.choice((0.015, 0.04)) if careless else 0.004,
        bare=rng.choices((0.03, 0.3, 1.0), (80, 11, 9) if short else (95, 4, 1) if long else (88, 7, 5))[0],
        emoji=rng.choice(("", " ")) + rng.choice(EMOJI) if rng.random() < 0.008 else "",
        capitals=rng.choices((0, 0.06, 0.5), (91, 8, 1))[0],
        commas=rng.choices((0, 0.5, 1), (70, 17, 13))[0],
        loose=0.6 if rng.random() < 0.05 else 0,
        tight=0.7 if rng.random() < 0.09 else 0,
        stops=rng.choices((0, 0.4, 0.9), (50, 28, 22))[0],
    )


def _joined(text: str, joint: str, part: str) -> str:
    """A clause that begins with a mark or «mas» brings its own joint."""
    if part[0] in ",.;":
        return text + part
    if joint == " e " and (part.split()[0] in ("e", "mas", "porém", "só") or " e " in text[-25:]):
        joint = ", "
    if joint == " e " and len(text) > 70:
        joint = ". "
    if text[-1] in "?!" and joint[0] in ".,":
        joint = " "
    if joint in (". ", " ") and part.startswith(("mas ", "porém ")):
        joint = ", "
    return text + joint + part


def _at_times(pattern: re.Pattern[str], written: str, share: float, text: str, rng: Random) -> str:
    """The text with `written` for a share of what the pattern finds."""
    return pattern.sub(lambda found: written if rng.random() < share else found[0], text) if share else text


def _ended(text: str, end: str, size: int, rng: Random) -> str:
    """A short text has less often a full stop behind it than others, a long one more often."""
    if text[-1] in "?!" and end[:1] in (".", ","):
        return ""
    if size < SHORT:
        return "" if end == "." and rng.random() < 0.45 else end
    share = 0.5 if size > LONG else 0.25 if size > 70 else 0
    return "." if end == "" and rng.random() < share else end


def _loud(text: str, rng: Random) -> str:
    """One to four words in a row in capitals."""
    words = text.split(" ")
    place = rng.randrange(len(words))
    until = place + rng.choice((1, 1, 1, 2, 3, 4))
    return " ".join(word.upper() if place <= number < until else word for number, word in enumerate(words))


def _slipped(word: str, rng: Random) -> str:
    """The word with a letter left out, hit beside its key, doubled or put in, two swapped, or as it is heard."""
    place = rng.randrange(1, len(word))
    before, letter, after = word[:place], word[place], word[place + 1 :]
    row = next((row for row in ("qwertyuiop", "asdfghjklç", "zxcvbnm") if letter in row), "aeo")
    near = row[(row.index(letter) + rng.choice((-1, 1))) % len(row)] if letter in row else "a"
    kind = rng.random()
    if kind < 0.32:
        return before + after
    if kind < 0.5:
        return before + near + after
    if kind < 0.58:
        return before + letter + (near if rng.random() < 0.6 else letter) + after
    if kind < 0.7 and after:
        return before + after[0] + letter + after[1:]
    if kind < 0.72:
        return word + word[-1] * rng.randint(1, 5)
    fitting = [pair for pair in BY_EAR if re.search(pair[0], word)]
    if not fitting:
        return before + after
    heard, written = rng.choice(fitting)
    return re.sub(heard, written, word, count=1)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _weighted(choices: Sequence[tuple[str, float]], rng: Random) -> str:
    return rng.choices([choice for choice, _ in choices], [weight for _, weight in choices])[0]


_OFFERED = re.compile(r"frete|entrega|gr[áa]tis|cupo[mn]s?|c[óo]digo|descontos?|brindes?|oferta", re.IGNORECASE)
"""Words that say what a brief grants: with a slip in one nobody could tell whether it does."""


def roughened(template: str, rng: Random) -> str:
    """A sentence as somebody types it in a hurry, or not; its open slots stay whole."""
    if rng.random() < 0.5:
        return template[0].upper() + template[1:]
    hand = draw_hand(rng)
    pieces = re.split(r"(\{\w+\})", template)

    def typed_word(found: re.Match[str]) -> str:
        word = hand.typed(found[0], rng)
        return found[0] if _OFFERED.fullmatch(found[0]) and without_accents(word) != without_accents(found[0]) else word

    typed = "".join(piece if piece.startswith("{") else _WORD.sub(typed_word, piece) for piece in pieces)
    if rng.random() < 0.4:
        typed = typed.rstrip("?.! ")
    return typed[0].lower() + typed[1:] if hand.case == "lower" else typed[0].upper() + typed[1:]
