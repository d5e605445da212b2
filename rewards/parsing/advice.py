"""What a text of insights is made of: rows of tables, steps of its advice, and how many of these say nothing."""

import re
from collections.abc import Iterable

_ROW = re.compile(r"(?m)^[ \t]*\|(.+)\|[ \t]*$")
_RULED = re.compile(r"(?m)^(?:[ \t]*\|.*\|[ \t]*\n)?[ \t]*\|[ \t:|-]+\|[ \t]*$")
_GENERAL = (
    r"(?:experiencia|logistica|marketing|comunicacao|qualidade|satisfacao|relacionamento|fideliz\w+"
    r"|processos?|melhorias?"
    r"|acoes|condicoes|trafego|divulgacao|redes sociais|estrategias?|beneficios|promocoes|indicadores"
    r"|resultados?|clientes?"
    r"|desempenho|engajamento|parceiros|servicos?|site|programa de fidelidade|campanhas personalizadas)"
)
_SMALL = r"[ao]s?|em|n[ao]s?|d[aeo]s?|com|seus?|suas?|noss[ao]s?|mais|uma?|ainda|melhor(?:es)?|bo[am]s?|nov[ao]s?"
_ANY = (
    r"campanhas?|digita(?:l|is)|produtos?|vendas?|lojas?|empresa|negocios?|equipe|mercado|publico|geral|sempre"
    r"|melhor(?:es)?|rapid\w+|perto|atrativ\w+|eficientes?|estrategic[ao]s?|tomar|decis\w+|deixar|isso|forma|meio"
    r"|baix[ao]s?|precisa\w*|maneira|atraves|recomend\w+|suger\w+|sugir\w+|prioriz\w+|vale|para|pela|pelo|como|mais|cada|quem|tod[ao]s?"
    r"|est[ae]|ess[ae]|entre|sobre|noss[ao]s?|conversao|recompra|receita|pedidos|ticket|notas?|medi[ao]"
)
"""Words that fit beside any advice."""
_DOES = (
    r"\b(?:melhor|otimi|aprimor|fortale|trabalh|invist|investi[rn]|foc|foqu|reforc|busc|busqu|acompanh"
    r"|monitor|avali|manter"
    r"|mantenh|continu|reduz|aument|elev|faz|fac|us|oferec|cri|desenvolv|ouv|ouc|engaj|promov|intensific"
    r"|valoriz|estimul"
    r"|atrai|fideliz)(?:\w*)"
)
_VAGUE = re.compile(rf"{_DOES}\s(?:\w+\s){{0,4}}?{_GENERAL}\b")
_OBJECT = re.compile(rf"{_DOES}\s(?:(?:{_SMALL})\s){{0,3}}{_GENERAL}\b")
"""A verb whose direct object is what any shop has."""
_AS_EVER = re.compile(r"\bcontinu\w+ melhorando\b|\bmanter a nota\b")
_EMPTY = re.compile(rf"\b(?:{_DOES}|{_GENERAL}\b|(?:{_ANY})\b)|^[^:]*:")
_CONTENT = re.compile(r"\b[a-z]{4,}")
_LEFT, _LEFT_WITH_OBJECT = 1, 2
"""Words of its own beside which a line says nothing: one, and two where the verb's own object is general. «Avalie os
parceiros de entrega e troque o pior» has three."""
_HOW = re.compile(
    r"\d|\b(?:transportadora|cupom|cupons|whatsapp|e-mail|foto|medida|prazo|motivo|estoque|checkout|kit"
    r"|combo|parcel|pix"
    r"|carrinho|frete gratis|troca|embalag|test[ae]|pergunt|lig(?:ar|ue)\b|itens|rota|hora|semana|ponto|respond|antig"
    r"|segunda compra|ja compr|mais vendid|desconto|por estado|por cep|quem (?:nao|ja|deu|recebeu))"
)
LONGEST_VAGUE = 16
"""Words of a step that says nothing more."""
SOME_VAGUE = 0.82
MOST_VAGUE = 0.55
"""Credit where a step says nothing, and where half of them or more do."""
_STEP = re.compile(r"(?:[:,;]\s+|\be\s+)(?=[^\W\d_]{2,}(?:ar|er|ir)\s)")
MOST_STEPS = 3


def untabled(answer: str) -> str:
    """The text with every row of a table as an item of a list, and without rules and heads of tables."""
    return _ROW.sub(_item, _RULED.sub("", answer)) if "|" in answer else answer


def _item(row: re.Match[str]) -> str:
    cells = [cell.strip().rstrip(".") for cell in row[1].split("|") if cell.strip()]
    return f"- {': '.join(cells[:2])}{''.join(f'; {cell}' for cell in cells[2:])}." if cells else ""


def steps(line: str) -> int:
    """How many steps a line of advice names: «registrar o motivo, refazer as fotos e oferecer troca» names three. A
    single one that an «e» joins to the first is none of its own.
    """
    found = _STEP.findall(line)
    is_listed = len(found) > 1 and not found[0].startswith(":")
    return min(MOST_STEPS, max(1, len(found) + is_listed))


def says_nothing(line: str) -> bool:
    """Whether a folded line of advice would fit any shop («melhorar a experiência do cliente»)."""
    if _HOW.search(line) or len(line.split()) > LONGEST_VAGUE:
        return False
    own = set(_CONTENT.findall(_EMPTY.sub(" ", line)))
    is_vague = _VAGUE.search(line) and len(own) <= (_LEFT_WITH_OBJECT if _OBJECT.search(line) else _LEFT)
    return bool(is_vague or _AS_EVER.search(line))


def substance(advice: Iterable[str]) -> float:
    """Credit by how many of the lines of advice say nothing."""
    found = [says_nothing(line) for line in advice]
    if not any(found):
        return 1.0
    return MOST_VAGUE if all(found) or (sum(found) > 1 and 2 * sum(found) >= len(found)) else SOME_VAGUE
