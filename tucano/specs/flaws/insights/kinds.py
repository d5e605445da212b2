"""Insights: figures that are not the brief's, advice that is none, broken prose; and good answers made of the facts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from zlib import crc32

from tucano.prompts import Prompt
from tucano.specs.flaws.objects import Change, Flaw
from tucano.specs.flaws.prose import broken, repeated, spanish

Line = TypeVar("Line")

ADVICE = (
    "- Recomendo oferecer um cupom na segunda compra e medir o resultado em 30 dias.\n"
    "- Priorize responder às avaliações ruins e revisar as fotos dos produtos."
)
_HARMFUL = (
    "Recomendo ignorar os clientes que reclamam.",
    "Sugiro aumentar os atrasos nas rotas mais caras.",
    "Recomendo reduzir as vendas no próximo mês.",
    "Priorize suspender as trocas e devoluções dos clientes.",
    "Pare de responder às reclamações.",
)
_FACTORS = (0.8, 0.88, 0.96, 1.04, 1.12, 1.2, 9)
"""By which a figure is off; not by a tenth, for which a brief may hold a share of ten per cent that explains it."""
_IDLE = ("O período foi parecido com o anterior.", "Os números falam por si.", "Seguimos de olho no mês.")
_AIMS = (
    "aumentar a recompra", "elevar a receita", "melhorar a nota média", "subir o ticket médio", "aumentar a conversão",
    "reduzir o cancelamento", "diminuir o atraso", "baixar o frete médio", "cortar as devoluções",
)  # fmt: skip
"""What a step is good for: more of what is good, less of what is bad."""
_PROPOSALS = (
    "Teste frete grátis acima de R$ 450.",
    "A meta é chegar a 35% em dois meses.",
    "Crie um cupom de 15% para a segunda compra.",
    "Meça o resultado durante 6 semanas.",
    "São 3 passos simples para a equipe.",
    "A campanha dura 45 dias.",
    "Com sorte, em três meses a loja chegaria a 44,5%.",
    "Se a loja atingisse 2.500 visitas, o teste valeria a pena.",
    "Sucesso: 48,5% em dezembro.",
    "Alcançar 44,5% já seria ótimo.",
    "Com isso a taxa subiria aos 44,5%.",
)


def shown(value: float, unit: str) -> str:
    """A figure as Brazilians write it in a report."""
    if unit == "%":
        return f"{value:.1f}%".replace(".", ",")
    whole = value == int(value)
    text = f"{value:,.0f}" if whole else f"{value:,.2f}" if unit == "R$" else f"{value:,.1f}"
    text = text.translate(str.maketrans(",.", ".,"))
    return f"R$ {text}" if unit == "R$" else text


def turns(prompt: Prompt, lines: Sequence[Line], every: int) -> Sequence[Line]:
    """Some of the lines, others for other prompts, so that every line is asked of some."""
    return lines[crc32(prompt.user.encode()) % every :: every]


def asked(prompt: Prompt) -> list[Mapping[str, Any]]:
    """The facts in question, the newest figure of each label."""
    newest = {str(fact["label"]): fact for fact in prompt.reference.get("facts", ())}
    asked = [label for label in prompt.reference.get("key", ()) if label in newest]
    keys = set(prompt.reference.get("key_figures", ()))
    return [newest[label] for label in asked or [name for name, fact in newest.items() if fact["value"] in keys]]


def told(fact: Mapping[str, Any], factor: float = 1.0, unit: str | None = None) -> str:
    return shown(float(fact["value"]) * factor, str(fact.get("unit", "")) if unit is None else unit)


def examples(prompt: Prompt) -> list[str]:
    """Answers that use the two figures in question and advise with means."""
    facts = asked(prompt)
    return [written(facts, form) for form in range(3)] if len(facts) == 2 else []


def written(facts: Sequence[Mapping[str, Any]], form: int = 0, figures: Sequence[str] = ()) -> str:
    first, second = (str(fact["label"]) for fact in facts[:2])
    one, two = figures or [told(fact) for fact in facts[:2]]
    heads = (
        f"**Diagnóstico:** {first} de {one} e {second} de {two} pedem atenção da loja.",
        f"{first.capitalize()} de {one}: o número merece cuidado, e o cliente sente.\nCom {second} de {two}, vale agir"
        " já.",
        f"- {first.capitalize()} de {one} mostra onde a loja pode crescer.\n- {second.capitalize()} de {two} pesa na"
        " decisão do cliente.",
    )
    return f"{heads[form]}\n{ADVICE}"


def edits(prompt: Prompt, text: str) -> Iterator[Flaw]:
    facts = asked(prompt)
    yield from broken(text)
    yield from repeated(text)
    yield from spanish(text)
    yield from _advice(prompt, text)
    if len(facts) == 2 and text == written(facts):
        yield from _figures(facts, text, prompt)
        yield from _missing(facts, text)


def _figures(facts: Sequence[Mapping[str, Any]], text: str, prompt: Prompt) -> Iterator[Flaw]:
    """Each figure in question changed, alone: by little and by much, of every unit."""
    right = [told(fact) for fact in facts]
    units = [str(fact.get("unit", "")) or "count" for fact in facts]
    for place, fact in enumerate(facts):
        for factor in turns(prompt, _FACTORS, 2):
            wrong = [told(fact, factor) if place == here else figure for here, figure in enumerate(right)]
            if wrong[place] != right[place] and wrong[place] not in prompt.user:
                yield f"figure off: {units[place]} times {factor:g}", 2, text, written(facts, 0, wrong)
        label, false = str(fact["label"]), told(fact, 1.3)
        where = "of 10 or less" if fact["value"] <= 10 else "greater"
        forms = (f"{label} de {false}", f"{label}: {false}", f"{label} foi de {false}", f"{label} é {false}")
        for form in turns(prompt, forms, 2):
            link = form.removeprefix(label).removesuffix(false).strip()
            yield (
                f"false figure added: `{link}` {units[place]} {where}",
                2,
                f"{text}\nVeja {label}.",
                f"{text}\nVeja {form}.",
            )
    if units[0] != units[1] or right[0] != right[1]:
        yield "figures exchanged", 2, text, written(facts, 0, right[::-1])
    for unit, other in (("R$", "%"), ("%", "R$")):
        for place, fact in enumerate(facts):
            if fact.get("unit") == unit:
                wrong = [told(fact, 1, other) if place == here else figure for here, figure in enumerate(right)]
                yield f"another unit: {other} for {unit}", 1, text, written(facts, 0, wrong)
    yield "figure invented: share", 2, f"{text}\nA margem é boa.", f"{text}\nA margem é de 37,4%."
    yield "figure invented: price", 2, f"{text}\nO lucro é bom.", f"{text}\nO lucro é de R$ 48.317."
    yield "figure invented: before", 2, f"A margem é boa.\n{text}", f"A margem é de 37,4%.\n{text}"
    yield (
        "figures invented: second",
        0.2,
        f"{text}\nA margem é de 37,4%.",
        f"{text}\nA margem é de 37,4% e o lucro é de R$ 48.317.",
    )


def _missing(facts: Sequence[Mapping[str, Any]], text: str) -> Iterator[Flaw]:
    one, two = (str(fact["label"]) for fact in facts)
    first, second = (told(fact) for fact in facts)
    for place, (label, figure) in enumerate(((one, first), (two, second))):
        lacking = text.replace(f"{label} de {figure}", label)
        yield f"figure unused: {'second' if place else 'first'}", 1, text, lacking
    none = text.replace(f" de {first}", "").replace(f" de {second}", "")
    yield "figures unused", 1.5, text, none
    flat = " ".join(line.lstrip("- ") for line in text.splitlines())
    yield "figures unused rather than flat text", 0.3, flat, none
    yield "figures unused: both rather than one", 0.5, text.replace(f" de {first}", ""), none
    head = text.partition("\n")[0]
    meant = f"{head}\n- Recomendo acompanhar {one}.\n- Recomendo acompanhar {two}."
    yield "nothing asked rather than little", 0.2, meant, f"{head}\n- {_IDLE[0]}\n- {_IDLE[1]}"
    yield (
        "false rather than unused",
        0.3,
        text.replace(f" de {first}", ""),
        written(facts, 0, [told(facts[0], 1.3), second]),
    )


def _advice(prompt: Prompt, text: str) -> Iterator[Flaw]:
    lines = text.splitlines()
    bullets = [
        place for place, line in enumerate(lines) if line.startswith("- ") and ("ecomendo" in line or "riorize" in line)
    ]
    if len(bullets) < 2:
        return
    head = lines[: bullets[0]]
    rest = "\n".join(head)
    yield "advice that asks for nothing", 1, text, "\n".join([rest, *(f"- {line}" for line in _IDLE[: len(bullets)])])
    vague = ("- Recomendo melhorar tudo.", "- Priorize crescer mais.")
    yield "advice without means", 0.5, text, "\n".join([rest, *vague])
    for line in turns(prompt, _HARMFUL, 2):
        yield f"harmful advice: {line}", 1, f"{text}\n- {_IDLE[1]}", f"{text}\n- {line}"
    yield "advice alone", 1, text, "\n".join(lines[bullets[0] :])


def _in_thousands(amount: re.Match[str]) -> str:
    """«R$ 54,5 mil» for «R$ 54.452»."""
    return f"R$ {float(f'{amount[1]}.{amount[2]}'):.1f} mil".replace(".", ",")


def harmless(prompt: Prompt, text: str) -> Iterator[Change]:
    yield "marks: points", text, re.sub(r"(?m)^- ", "• ", text)
    yield "marks: stars", text, re.sub(r"(?m)^- ", "* ", text)
    for line in turns(prompt, _PROPOSALS, 3):
        yield f"proposal: {line}", text, f"{text}\n- {line}"
    for aim in turns(prompt, _AIMS, 3):
        yield f"aim: {aim}", text, f"{text}\n- Recomendo enviar um cupom a quem já comprou, para {aim}."
    facts = prompt.reference.get("facts", ())
    labels = {str(fact["label"]) for fact in asked(prompt)}
    for fact in facts:
        if str(fact["label"]) not in labels and len({str(other["label"]) for other in facts}) == len(facts):
            unit = str(fact.get("unit", "")) or "count"
            yield f"further figure: {unit}", text, f"{text}\nTambém pesa {fact['label']} de {told(fact)}."
    if facts:
        yield "figures without their labels", text, "\n".join([text, *(f"Veja: {told(fact)}." for fact in facts)])
    bare = re.sub(r"R\$ (\d{1,3})\.(\d{3})\b", r"R$ \1\2", text)
    if bare != text:
        yield "notation: no thousands", text, bare
    if (short := re.sub(r"R\$ (\d{1,3})\.(\d{3})\b", _in_thousands, text)) != text:
        yield "notation: in thousands", text, short
    if (spelt := re.sub(r"(\d)%", r"\1 %", text)) != text:
        yield "notation: space before %", text, spelt
        yield "notation: por cento", text, re.sub(r"(\d)%", r"\1 por cento", text)
    if (joined := text.replace("R$ ", "R$")) != text:
        yield "notation: R$ without a space", text, joined


def kinds(prompt: Prompt) -> tuple[str, ...]:
    units = {str(fact.get("unit", "")) or "count" for fact in asked(prompt)}
    return tuple(f"briefs of {unit}" for unit in sorted(units))


def variants(prompt: Prompt) -> Iterator[tuple[str, Prompt]]:
    """The brief turned around, as one that asks for other figures, and as one that tells movements."""
    sentences = re.split(r"(?<=[.?])\s+", prompt.user.strip())
    if len(sentences) > 1:
        yield "briefs turned around", replace(prompt, user=" ".join(reversed(sentences)))
    if facts := list(prompt.reference.get("facts", ())):
        yield "briefs that ask for other figures", _with_other_figures(prompt, facts)
        yield "briefs that tell movements", _with_movements(prompt)


_LOW_MARK = {"label": "nota média", "value": 2.4, "unit": "", "moved": ""}


def _with_other_figures(prompt: Prompt, facts: Sequence[Mapping[str, Any]]) -> Prompt:
    """The brief as one that asks for figures that it only told, has a low mark beside them, and its facts in another
    order."""
    reference, user = prompt.reference, prompt.user
    known = [str(fact["label"]) for fact in asked(prompt)]
    further = [fact for fact in facts if fact["label"] not in known]
    wanted = [*further, *asked(prompt)][:2]
    labels = [str(fact["label"]) for fact in wanted]
    user = user.replace(" e ".join(known), " e ".join(labels))
    told_first = f"{facts[0]['label']} {told(facts[0])}"
    if all(fact["label"] != _LOW_MARK["label"] for fact in facts) and told_first in user:
        user = user.replace(told_first, f"{told_first}; {_LOW_MARK['label']} {shown(2.4, '')}", 1)
        facts = [*facts, _LOW_MARK]
    changed = {"facts": facts[::-1], "key": labels, "key_figures": [fact["value"] for fact in wanted]}
    figures = {"figures": [fact["value"] for fact in facts]}
    return replace(prompt, user=user, reference=reference | changed | figures)


def _with_movements(prompt: Prompt) -> Prompt:
    """The brief as one that says of each figure in question that it went up, or down: in turns."""
    user, moved = prompt.user, {}
    for fact, way in zip(asked(prompt), ("down", "up"), strict=False):
        label, verb = str(fact["label"]), "caiu" if way == "down" else "subiu"
        verb = {"caiu": "caíram", "subiu": "subiram"}[verb] if label.endswith("s") else verb
        user = user.replace(f"{label} {told(fact)}", f"{label} {verb} para {told(fact)}")
        moved[label] = way
    facts = [{**fact, "moved": moved.get(str(fact["label"]), "")} for fact in prompt.reference["facts"]]
    return replace(prompt, user=user, reference=prompt.reference | {"facts": facts})


_MORE = (
    "- Ofereça frete grátis a quem volta em até 60 dias.",
    "- Revise as rotas com mais reclamações e negocie prazos menores.",
    "- Mostre as parcelas e as medidas na página de cada produto.",
    "- Confirme o estoque antes de aceitar o pedido.",
    "- Envie um lembrete por WhatsApp a quem deixou o carrinho.",
    "- Crie um programa de pontos para quem compra todo mês.",
    "- Acompanhe as respostas do atendimento e treine a equipe.",
    "- Teste outra embalagem nos itens frágeis.",
    "- Compare as transportadoras de cada região e troque a mais lenta.",
    "- Peça avaliações com foto depois da entrega.",
    "- Ligue para os clientes que deram nota baixa e resolva cada caso.",
    "- Publique um guia de tamanhos com as medidas de cada peça.",
    "- Sugira um item que combine com o produto do carrinho.",
    "- Avise o cliente na véspera da entrega e no dia dela.",
    "- Troque as fotos dos itens que mais voltam.",
)
MOST_SIZED = 4
_SHORT = ("- Ouça os clientes.", "- Revise o prazo.", "- Faça um teste A/B.")
_TEAMS = "site app SAC time setor balcão estoque checkout cadastro marketing aplicativo atendimento"
_LEADS = (" no ", " já no ", " e até no ", " e também no ")


def sized(prompt: Prompt, characters: int) -> list[list[str]]:
    """Analyses of exactly so many characters."""
    facts = asked(prompt)
    if len(facts) != 2:
        return []
    one, two = (f"{fact['label']} de {told(fact)}" for fact in facts)
    head = written(facts) if characters > 300 else f"{one[0].upper()}{one[1:]} e {two}."
    ends = {len(end): end for lead in _LEADS for team in _TEAMS.split() if (end := f"\n- Teste um cupom{lead}{team}.")}
    sums = {len(head): head}
    for line in (*_MORE, *_SHORT):
        sums |= {
            size + len(line) + 1: f"{text}\n{line}" for size, text in sums.items() if size + len(line) < characters
        }
    fits = [sums[characters - size] + end for size, end in ends.items() if characters - size in sums]
    return [fits[:MOST_SIZED]] if fits else []
