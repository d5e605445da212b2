"""How the truth reads a text: what is judged of it, its words, its sentences. Shares nothing with the rewards."""

import re
import unicodedata

LONGEST = 8192
"""Characters; a longer completion is no answer to anything that is asked here."""

_WORD = re.compile(r"[^\W_]+(?:[-.,][^\W_]+)*")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")
_CLAUSE = re.compile(r"(?<=[.!?;…])\s+|\n+")
_PILED = re.compile(r"[\u0300-\u036f]{9}")
_BULLET = re.compile(r"^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+")


def readable(completion: str) -> str:
    """The completion in one Unicode form (NFC), no byte order mark; nothing of one too long or with piles of marks."""
    if len(completion) > LONGEST or _PILED.search(completion):
        return ""
    return unicodedata.normalize("NFC", completion).removeprefix("\ufeff").strip()


def plain(text: str) -> str:
    """Case and accents taken away; of the same length as the NFC text wherever one letter stays one letter."""
    letters = unicodedata.normalize("NFD", text.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def words(text: str) -> list[str]:
    """Words and numbers in plain form, in their order."""
    return _WORD.findall(plain(text))


def sentences(text: str, whole: bool = False) -> list[str]:
    """Sentences, bullets and lines, without marks of lists and of bold type; cut at semicolons too unless `whole`."""
    bare = text.replace("**", "").replace("__", "")
    lines = (_BULLET.sub("", line) for line in bare.splitlines())
    return [part.strip() for line in lines for part in (_SENTENCE if whole else _CLAUSE).split(line) if part.strip()]


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def stem(word: str) -> str:
    """The beginning of a word, enough to tell most Portuguese words apart in whatever form they stand."""
    return word[:5]


def clip(value: float) -> float:
    return min(1.0, max(0.0, value))


_STEP = (
    r"(?:(?i:etapa|passo|a[cç][aã]o|medida)[ \t]\d{1,2}[ \t]?[-–—:.)]|\d{1,2}[ºª°][.):]?|\d{1,2}(?:\)|[ \t]?[-–—])"
    r"|[a-hA-H][.)]|\([1-9a-hA-H]\))"
)
_MARK = re.compile(rf"(?m)^[ \t]*(?:[·▪▫◦‣●○■□☐☑✓✔✅➤►→⚠—–]\ufe0f?|[①-⑳ⓐ-ⓩ]|{_STEP}|\*\*{_STEP}\*\*)[ \t]+(?=\S)")
_ITEM = re.compile(r"(?m)^[ \t]*(?:[-*•]|\d{1,2}\.)[ \t]+[^\n]+")
_ENDED = re.compile(r"[.!?…:][\"”»)*]*\s*\Z")


def listed(text: str) -> str:
    """The text with all marks of lists as one («①», «▪», «☐», «1º.», «a)», «Etapa 1 -»): they say no more than a dash.
    Items of a list in which none ends in a full stop get theirs."""
    text = _MARK.sub("- ", text)
    if any(_ENDED.search(item) for item in _ITEM.findall(text)):
        return text
    return _ITEM.sub(lambda item: f"{item[0].rstrip(' ;')}.", text)


_ROW = re.compile(r"^[ \t]*\|(.*)\|[ \t]*$", re.MULTILINE)
_HEAD = re.compile(r"(?m)^[ \t]*\|.*\|[ \t]*\n(?=[ \t]*\|[ \t:|-]+\|[ \t]*$)")
_RULE = re.compile(r"[\s|:+-]*")


def untabled(text: str) -> str:
    """The text with every row of a table as a line of its cells («Nota média: ler as avaliações; 1 semana»)."""
    return _ROW.sub(_as_line, _HEAD.sub("", _TABLE.sub(_aimed, text)))


_TABLE = re.compile(r"(?m)^[ \t]*\|([^\n]*)\|[ \t]*\n[ \t]*\|[ \t:|-]+\|[ \t]*\n(?:[ \t]*\|[^\n]*(?:\n|\Z))+")
_AIMS = re.compile(
    r"\s*(?:metas?|alvos?|objetivos?)\b(?!.*\b(?:atingid|realizad|atual|alcan[cç]ad|batid|cumprid|superad|hoje|agora"
    r"|j[aá]\b))",
    re.IGNORECASE,
)
"""The head of a column of aims; one of aims that were reached tells of now."""


def _aimed(table: re.Match[str]) -> str:
    """A table whose cells under «Meta» say that they are aims."""
    columns = [bool(_AIMS.match(cell)) for cell in table[1].split("|")]
    if not any(columns):
        return table[0]
    head, rule, *rows = table[0].splitlines(keepends=True)
    for place, row in enumerate(rows):
        cells = row.split("|")
        marked = [
            f" meta: {cell.strip()} " if at < len(columns) and columns[at] and cell.strip() else cell
            for at, cell in enumerate(cells[1:])
        ]
        rows[place] = "|".join([cells[0], *marked])
    return "".join([head, rule, *rows])


def _as_line(row: re.Match[str]) -> str:
    cells = [cell.strip().rstrip(".") for cell in row[1].split("|") if cell.strip()]
    if _RULE.fullmatch(row[0]) or not cells:
        return ""
    return f"- {cells[0]}: {'; '.join(cells[1:])}." if len(cells) > 1 else f"- {cells[0]}."


def spoken(part: str) -> str:
    """A part of a list as a sentence: with a capital letter and a full stop."""
    bare = re.sub(r"^\W*(?:\(?\w{1,2}[.)]\s+)?", "", part).rstrip(" ;:,")
    return bare[:1].upper() + bare[1:] + ("" if bare[-1:] in (".", "!", "?", "") else ".")
