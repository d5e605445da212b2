"""The JSON object that an answer is, and nothing beside it: strict JSON but for how numbers are written. No repair, no
second object.
"""

import json
import re
from typing import Any

from tucano.truth.fluency import faults
from tucano.truth.reading import plain
from tucano.truth.single import stands
from tucano.truth.wording.complaints import value_told

_ALONE = re.compile(
    r"[\s\ufeff]*+(?:```(?:json)?[\s\ufeff]*+)?(?P<object>\{.*\})\s*+(?:```\s*+)?", re.DOTALL | re.IGNORECASE
)
_NUMBER = re.compile(
    r'"(?>(?:[^"\\]|\\.)*)"|(?<=:)(?P<space>\s*+)(?:R\$\s*+)?(?P<number>-?\d(?:[\d.,]*\d)?)(?:\s*+%)?(?=\s*+(?:,\s*+"|\}))',
    re.DOTALL,
)
_PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")
_PORTUGUESE = re.compile(r"-?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:\.\d{3})+)(?:,\d+)?")
_ENGLISH = re.compile(r"-?[1-9]\d{0,2}(?:(?:,\d{3})+\.\d+|(?:,\d{3}){2,})")
_DEEPEST = 64


def only_object(answer: str) -> dict[str, Any] | None:
    """The object where the answer is one and nothing else, as in `strict_object`; its numbers may be written as people
    write them: `4,5`, `R$ 1.234,56`, `105,000.00`, `4,5%` (docs/rewards.md has the table).
    """
    return strict_object(_NUMBER.sub(_as_json, answer))


def _as_json(match: re.Match[str]) -> str:
    number = match["number"]
    if number is None:
        return match[0]
    if not _PLAIN.fullmatch(number):
        if _PORTUGUESE.fullmatch(number):
            number = number.replace(".", "").replace(",", ".")
        elif _ENGLISH.fullmatch(number):
            number = number.replace(",", "")
        else:
            return match[0]
    return f"{match['space']}{number}"


def strict_object(answer: str) -> dict[str, Any] | None:
    """The object that a program reads of an answer: one that is alone, or alone between the marks of a code fence, of
    which either may be missing; else None.

    Refused, as RFC 8259 and any strict reader would: a name given twice, NaN and Infinity.
    """
    alone = _ALONE.fullmatch(answer)
    if alone is None or answer.count("{") + answer.count("[") > _DEEPEST:
        return None
    try:
        value = json.loads(alone["object"], object_pairs_hook=_once, parse_constant=_refused)
        json.dumps(value, ensure_ascii=False).encode()
    except ValueError:  # of half a character too: \ud83d alone
        return None
    return value if isinstance(value, dict) else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is given twice")
    return found


def _refused(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


MOST_AROUND = 30
"""Words beside an object that are a sentence about it."""


def framed_object(text: str) -> dict[str, Any] | None:
    """The one strict object of a text that says a sentence before or behind it and has no other braces or brackets."""
    start, end = text.find("{"), text.rfind("}") + 1
    around = f"{text[:start]} {text[end:]}".replace("```json", " ").replace("```", " ")
    if start < 0 or end <= start or re.search(r"[{}\[\]]", around) or not 3 <= len(around.split()) <= MOST_AROUND:
        return None
    said = (part.strip().rstrip(":,.!") for part in re.split(r"```\w*", f"{text[:start]}```{text[end:]}"))
    is_said = all(part[0].isupper() and not faults(f"{part}.") for part in said if part)
    return only_object(text[start:end]) if is_said else None


_WRONG_THING = re.compile(
    r"(?<!neste )(?<!e um )\b(?:produto|item|modelo|cor|tamanho|pedido|peca|endereco|numero|mercadoria|voltagem"
    r"|marca)s? (?:\w+ )?errad[oa]s?\b"
)
"""What a customer complains of, and no word about the object."""
_AGAINST = re.compile(
    "|".join(
        (
            r"(?:\A\s*|\b(?:d[eoa]|para|sobre|e|disse|quis) )(?:uma? )?outr[oa] (?:avaliac|client|loja|pessoa|texto"
            r"|comentario|review|coisa\b)",
            r"\b(?:(?:o|ao|pelo) (?:contrario|oposto|inverso)(?! d[aoe]s?\b)|ao acaso|sem ler|nao vale"
            r"|so um exemplo|corrigindo"
            r"|correcao)\b",
            r"\b(?:inventad|fictici|invertid|aleatori)|\bde teste\b|\b(?:json|dados?|tudo|valores) (?:fals|errad)",
            r"\b(?:sentiment\w*|nota|risco|categoria|reclamacao) (?:verdadeir|real|cert|corret)\w* (?:e|seria|era)\b",
        )
    )
)
_OF_ITSELF = re.compile(
    "|".join(
        (
            r"\bjson\b|\b(?:outros|demais|estes|esses) campos\b",
            r"\b(?:est[ae] neste objeto|este objeto (?:esta errad|e (?:fals|inventad|de outr)|nao (?:vale|serve)))\b",
            r"\b(?:este|esse) resumo\b|\bresumo (?:inventad|fals|errad|fictici|aleatori|qualquer)",
            r"\b(?:preenchi|inventei|chutei)\b",
            r"\A\W*(?:nao e verdade|e (?:fals[oa]|mentira)) que (?:[oa] )?(?:client\w*|el[ae]) "
            r"(?:reclam|gost|elogi|esta (?:in)?satisf)",
            r"\bnao li (?:[ao]|est[ae]|ess[ae]) (?:avaliacao|comentario|texto|review)\b",
            r"\bnao sei o que (?:[ao]|est[ae]) (?:client|consumid|comprador)",
            r"\b(?:contrario|oposto) de tudo is[st]o\b|\b(?:disse|diz|sent\w+|quis) o contrario d(?:e )?is[st]o\b",
            r"\b(?:ignore|desconsidere|descarte)m? (?:est[ae]|ess[ae]|is[st]o|tudo|os (?:outros )?campos)\b",
        )
    )
)
"""Words of a summary about its object, where it ought to speak of a customer."""
_IS_SOUND = re.compile(r"\b(?:valid|corret|cert[oa]\b|confia|confidence|verdadeir|util|aprovad|true|correct)")
_IS_UNSOUND = re.compile(r"\b(?:err[oa]|errad|invalid|fals|ignor|inventad|descart|fictici)")
_OUGHT = re.compile(r"\b(?:corret|correc|corrig|correct|real\b|verdadeir|errata|actual|true\b|cert[oa]\b)")
"""Names of further fields that judge the object, or say what it ought to be."""


def is_disowned(answer: str, found: dict[str, Any], fields: frozenset[str]) -> bool:
    """Whether an object is taken back by what stands beside it, by a field beyond those that were asked for, or by its
    own summary."""
    around = answer.replace(answer[answer.find("{") : answer.rfind("}") + 1], "\n")
    further = {name: value for name, value in found.items() if name not in fields}
    said = [around, *map(str, further.values())]
    own = [plain(str(found.get(name))) for name in ("main_complaint", "summary")]
    return (
        any(_speaks_against(text) for text in said)
        or any(_OF_ITSELF.search(text) for text in own)
        or any(_takes_back(name, value, found) for name, value in further.items())
    )


def _speaks_against(text: str) -> bool:
    told = _WRONG_THING.sub(" ", plain(text))
    return not stands(told) or bool(_AGAINST.search(told))


def _takes_back(name: str, value: Any, found: dict[str, Any]) -> bool:
    """Whether a further field says that the object is wrong («valido: false»), or another feeling («sentimento_real»)
    or value («versao_certa»)."""
    told = plain(name).replace("_", " ")
    value = value_told("repurchase_intent", value)
    if value in (True, False, None) or value == 0:
        return bool((_IS_SOUND if not value else _IS_UNSOUND).search(told))
    feeling = value_told("sentiment", value)
    if "sentiment" in told and isinstance(feeling, str):
        return bool(feeling != found.get("sentiment"))
    return bool(_OUGHT.search(told)) and value not in [found[other] for other in found if other != name]
