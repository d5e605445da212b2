"""Insights, told in many ways: figures beside their labels, what follows from them, aims, steps, whole and broken
prose; each right way with its false twin.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tucano.prompts import Prompt
from tucano.specs.flaws.insights import texts
from tucano.specs.flaws.insights.kinds import ADVICE, asked, shown, told, turns, written
from tucano.specs.flaws.insights.texts import capital
from tucano.specs.flaws.objects import Change, Flaw
from tucano.specs.texts import without_accents

Fact = Mapping[str, Any]
_FALSE = 1.3
"""By which a false figure is off."""
_FURTHER = 43
"""And by how many more a false share of a hundred: a small one would be rounded to the right one."""


def the(label: str) -> str:
    """A label with its article."""
    first = label.split()[0]
    return f"{'os' if first.endswith('s') else 'a' if first.endswith(('a', 'ão')) else 'o'} {label}"


def edits(prompt: Prompt, text: str) -> Iterator[Flaw]:
    facts = asked(prompt)
    if moving := [fact for fact in facts if fact.get("moved")]:
        yield from _turned_around(prompt, moving, text)
    elif len(facts) == 2 and text == written(facts):
        yield from _told_falsely(prompt, facts, text)
        yield from _false_results(prompt, text)
        yield from _false_claims(prompt, facts, text)
        yield from _poor_advice(prompt, facts, text)
        yield from _poor_prose(prompt, text)


def harmless(prompt: Prompt, text: str) -> Iterator[Change]:
    facts = asked(prompt)
    if moving := [fact for fact in facts if fact.get("moved")]:
        yield from _as_it_moved(prompt, moving, text)
    elif len(facts) == 2 and text == written(facts):
        yield from _told_rightly(prompt, facts, text)
        yield from _right_results(prompt, text)
        yield from _aims(prompt, facts, text)
        yield from _good_advice(prompt, facts, text)
        yield from _good_prose(prompt, text)


# Figures beside their labels


def _head(one: str, two: str) -> str:
    return f"**Diagnóstico:** {one}; {two}, e os dois números pedem atenção da loja.\n{ADVICE}"


def _figure_at(form: str, fact: Fact, figure: str) -> str:
    return form.format(label=fact["label"], the=the(str(fact["label"])), figure=figure)


def _both(form: str, facts: Sequence[Fact], figures: Sequence[str]) -> str:
    """Both figures in one sentence."""
    one, two = (str(fact["label"]) for fact in facts)
    line = form.format(one=one, two=two, a=figures[0], b=figures[1], the_one=the(one), the_two=the(two))
    return f"**Diagnóstico:** {line}\n{ADVICE}"


def _in_own_words(form: str, facts: Sequence[Fact], place: int, figure: str) -> str:
    other = facts[1 - place]
    return _head(form.format(figure), f"{other['label']} de {told(other)}")


def _table(facts: Sequence[Fact], figures: Sequence[str]) -> str:
    rows = (f"| {capital(str(fact['label']))} | {figure} |" for fact, figure in zip(facts, figures, strict=True))
    return "\n".join(
        ["| Indicador | Valor |", "|---|---|", *rows, f"\nOs dois números pedem atenção da loja.\n{ADVICE}"]
    )


def _told_rightly(prompt: Prompt, facts: Sequence[Fact], text: str) -> Iterator[Change]:
    right = [told(fact) for fact in facts]
    for form in turns(prompt, texts.TELLINGS, 4):
        one, two = (_figure_at(form, fact, figure) for fact, figure in zip(facts, right, strict=True))
        yield f"told: {form}", text, _head(one, two)
    for form in turns(prompt, texts.TOGETHER, 4):
        yield f"told: {form}", text, _both(form, facts, right)
    for place, fact in enumerate(facts):
        if own := texts.OWN_WORDS.get(str(fact["label"])):
            yield f"words: {fact['label']}", text, _in_own_words(own, facts, place, right[place])
    yield "blemish: figures in a table", text, _table(facts, right)
    for place, fact in enumerate(facts):
        ways = _notations(fact)
        for name in turns(prompt, list(ways), 2):
            written_so = [ways[name] if here == place else known for here, known in enumerate(right)]
            yield f"notation: {name}", text, written(facts, 0, written_so)


def _told_falsely(prompt: Prompt, facts: Sequence[Fact], text: str) -> Iterator[Flaw]:
    right = [told(fact) for fact in facts]
    false = [told(fact, _FALSE) for fact in facts]
    for form in turns(prompt, texts.TELLINGS, 6):
        one, two = (_figure_at(form, fact, figure) for fact, figure in zip(facts, right, strict=True))
        yield f"told falsely: {form}", 2, _head(one, two), _head(_figure_at(form, facts[0], false[0]), two)
    for form in turns(prompt, texts.TOGETHER, 4):
        before = _both(form, facts, right)
        yield f"told falsely: {form}", 2, before, _both(form, facts, [right[0], false[1]])
        if "(" not in form and facts[0].get("unit") != facts[1].get("unit"):
            yield f"told exchanged: {form}", 2, before, _both(form, facts, right[::-1])
    if own := texts.OWN_WORDS.get(str(facts[0]["label"])):
        before, after = (_in_own_words(own, facts, 0, figure) for figure in (right[0], false[0]))
        yield f"told falsely in other words: {facts[0]['label']}", 2, before, after
    yield "told falsely: in a table", 2, _table(facts, right), _table(facts, false)
    for place, fact in enumerate(facts):
        ways = _false_notations(fact)
        for name in turns(prompt, list(ways), 2):
            written_so = [ways[name] if here == place else known for here, known in enumerate(right)]
            yield f"notation that misleads: {name}", 2, text, written(facts, 0, written_so)


def _notations(fact: Fact) -> dict[str, str]:
    """Other ways to write a figure."""
    value = float(fact["value"])
    unit = str(fact.get("unit", ""))
    plain = shown(value, unit)
    if unit == "%":
        return {
            "share with a point": f"{value:.1f}%",
            "share in bold": f"**{plain}**",
            "share of two decimals": f"{value:.2f}%".replace(".", ","),
            "about a share": f"cerca de {plain}",
        }
    if unit == "R$":
        amount = plain.removeprefix("R$ ")
        found = {"reais": f"{amount} reais", "amount in bold": f"**{plain}**", "about an amount": f"perto de {plain}"}
        rounded = {"amount rounded": f"R$ {shown(round(value), '')}", "amount with cents": f"{plain},00"}
        name = "amount rounded" if value != int(value) else "amount with cents"
        thousands = f"{value / 1000:.1f} mil".replace(".", ",")
        of_many = {"thousands of reais": f"{thousands} reais", "nearly": f"quase R$ {round(value / 1000)} mil"}
        return found | {name: rounded[name]} | (of_many if value > 10_000 else {})
    return {"count in bold": f"**{plain}**", "exactly": f"exatos {plain}" if value > 10 else f"só {plain}"}


def _false_notations(fact: Fact) -> dict[str, str]:
    """Figures that look like the right one and are another: ten times as much, a digit less, another scale."""
    value = float(fact["value"])
    unit = str(fact.get("unit", ""))
    found = {f"{unit or 'count'} {name}": told(fact, factor) for name, factor in (("times ten", 10), ("a tenth", 0.1))}
    if unit == "R$" and value > 10_000:
        found |= {"millions": f"R$ {value / 1000:.1f} milhões".replace(".", ",")}
        found |= {"no thousands": f"R$ {round(value / 1000)}"}
    return found


# What follows from the figures


def _values(prompt: Prompt) -> dict[str, float]:
    return {str(fact["label"]): float(fact["value"]) for fact in prompt.reference.get("facts", ())}


def _results(prompt: Prompt, factor: float = 1.0) -> Iterator[tuple[str, str]]:
    """Sentences with what can be worked out of the brief, by kind; with another factor than 1 they are false."""
    values = _values(prompt)
    more = 0 if factor == 1 else _FURTHER
    for label, (rest, part) in texts.SHARES.items():
        if (share := values.get(label)) is not None:
            yield f"rest: {label}", rest.format(shown(100 - share * factor - more, "%"))
            if share >= 5:
                yield f"of a hundred: {label}", part.format(round(share * factor + more))
            if label in texts.ONE_IN_EACH and share >= 5:
                yield f"one in each: {label}", texts.ONE_IN_EACH[label].format(round(100 / share) + more)
    orders = values.get("pedidos")
    receipts = values.get("receita")
    for label, sentence in texts.PARTS.items():
        if orders and label in values:
            yield f"part: {label}", sentence.format(shown(round(orders * values[label] * factor / 100), ""))
    if orders and receipts:
        yield "per order", f"Isso dá R$ {round(receipts / orders * factor)} por pedido."
    if orders and (ticket := values.get("ticket médio")):
        product = shown(round(orders * ticket * factor), "R$")
        yield "product", f"A conta é {shown(orders, '')} pedidos × {shown(ticket, 'R$')} = {product}."
    if (freight := values.get("frete médio")) and (ticket := values.get("ticket médio")):
        yield "ratio", f"O frete leva {shown(100 * freight / ticket * factor, '%')} do ticket."


def _right_results(prompt: Prompt, text: str) -> Iterator[Change]:
    for name, line in _results(prompt):
        yield f"result: {name}", text, f"{text}\n{line}"


def _false_results(prompt: Prompt, text: str) -> Iterator[Flaw]:
    false_ones = dict(_results(prompt, 1.6))
    for name, right in turns(prompt, list(_results(prompt)), 2):
        false = false_ones[name]
        yield f"false result: {name}", 1, f"{text}\n{right}", f"{text}\n{false}"


# Aims and claims


def _aims(prompt: Prompt, facts: Sequence[Fact], text: str) -> Iterator[Change]:
    for line in turns(prompt, texts.PROPOSALS, 7):
        yield f"proposal: {line}", text, f"{text}\n- {line}"
    fact = facts[len(prompt.user) % 2]
    for form in turns(prompt, texts.WISHES, 4):
        wish = form.format(the=the(str(fact["label"])), label=fact["label"], now=told(fact), then=told(fact, _FALSE))
        yield f"aim at a label: {form}", text, f"{text}\n- {capital(wish)}"


def _false_claims(prompt: Prompt, facts: Sequence[Fact], text: str) -> Iterator[Flaw]:
    for line in turns(prompt, texts.CLAIMS, 5):
        yield f"figure invented: {line}", 2, f"{text}\nA margem é boa.", f"{text}\n{line}"
    fact = facts[len(prompt.user) % 2]
    label = str(fact["label"])
    for form in turns(prompt, texts.ASSERTED, 3):
        claim = form.format(the=the(label), label=label, now=told(fact), then=told(fact, _FALSE))
        yield f"false figure beside an aim: {form}", 2, f"{text}\nVeja {label}.", f"{text}\n{capital(claim)}"
    subject = capital(the(label))
    for one, many in turns(prompt, texts.MOVEMENTS, 5):
        line = f"{subject} {many if label.endswith('s') else one} no mês."
        yield f"invented movement: {one}", 1, f"{text}\n{subject} no mês pede atenção.", f"{text}\n{line}"
    yield from _of_another(prompt, fact, text)


def _of_another(prompt: Prompt, fact: Fact, text: str) -> Iterator[Flaw]:
    """A figure of the brief told of what the brief does not have, and a further one that is false."""
    values = _values(prompt)
    for label in texts.LABELS.get(str(fact.get("unit", "")), ()):
        if label not in values:
            line = f"Já {the(label)} de {told(fact)} preocupa."
            yield f"figure of another: {label}", 2, f"{text}\nJá {the(label)} preocupa.", f"{text}\n{line}"
    for other in prompt.reference.get("facts", ()):
        if other["label"] not in prompt.reference.get("key", ()):
            line = f"Também pesa {other['label']} de "
            unit = str(other.get("unit", "")) or "count"
            yield (
                f"further figure false: {unit}",
                2,
                f"{text}\n{line}{told(other)}.",
                f"{text}\n{line}{told(other, 1.3)}.",
            )


# Movements that the brief tells

_OPPOSITE = {"up": "down", "down": "up"}
_UPWARD = 5
"""So many of the verbs say that something went up."""


def _as_it_moved(prompt: Prompt, facts: Sequence[Fact], text: str) -> Iterator[Change]:
    for fact in facts:
        for verb in turns(prompt, _verbs(fact, str(fact["moved"])), 2):
            line = f"{capital(the(str(fact['label'])))} {verb}"
            yield f"movement: {verb}", text, f"{text}\n{line} no mês."
            yield f"movement to: {verb}", text, f"{text}\n{line} para {told(fact)}."


def _turned_around(prompt: Prompt, facts: Sequence[Fact], text: str) -> Iterator[Flaw]:
    for fact in facts:
        way = str(fact["moved"])
        label = capital(the(str(fact["label"])))
        verbs = _verbs(fact, way)
        for right, wrong in turns(prompt, list(zip(verbs, _verbs(fact, _OPPOSITE[way]), strict=False)), 2):
            yield f"movement turned: {wrong}", 1, f"{text}\n{label} {right} no mês.", f"{text}\n{label} {wrong} no mês."
        line = f"{text}\n{label} {verbs[0]}"
        yield "movement to a false figure", 2, f"{line} no mês.", f"{line} para {told(fact, _FALSE)}."


def _verbs(fact: Fact, way: str) -> list[str]:
    """How it is said that an indicator went up, or down."""
    verbs = texts.MOVEMENTS[:_UPWARD] if way == "up" else texts.MOVEMENTS[_UPWARD:]
    return [many if str(fact["label"]).endswith("s") else one for one, many in verbs]


# Advice


def _with_advice(text: str, *lines: str) -> str:
    return "\n".join([text.partition("\n")[0], *(f"- {line}" for line in lines)])


_WATCHING_WITH_MEANS = (
    "Acompanhe o prazo de cada transportadora toda semana.",
    "Monitore o estoque dos itens mais vendidos.",
)


def _good_advice(prompt: Prompt, facts: Sequence[Fact], text: str) -> Iterator[Change]:
    head = text.partition("\n")[0]
    for name in turns(prompt, list(texts.FORMS), 6):
        yield f"form: {name}", text, f"{head}\n{texts.FORMS[name]}"
    for lead in turns(prompt, texts.LEADS, 6):
        yield f"lead: {lead}", text, _with_advice(text, *(f"{lead} {line}" for line in texts.INFINITIVES))
    steps = turns(prompt, texts.STEPS, 7)
    for one, two in zip(steps[::2], steps[1::2], strict=False):
        yield f"steps: {one}", text, _with_advice(text, one, two)
    yield "steps: watching with means", text, _with_advice(text, *_WATCHING_WITH_MEANS)
    yield "steps: many", text, "\n".join([text, *(f"- {step}" for step in texts.STEPS[:8])])
    for line in turns(prompt, texts.NO_HARM, 6):
        yield f"step that serves: {line}", text, f"{text}\n- {line}"
    for line in turns(prompt, texts.VAGUE, 8):
        yield f"blemish: one of three steps is vague ({line})", text, f"{text}\n- {line}"
    yield "blemish: a figure left unused", text, text.replace(f" de {told(facts[1])}", "")
    yield "blemish: no bullets", text, " ".join(line.removeprefix("- ") for line in text.splitlines())
    yield "blemish: no heading", text, capital(text.removeprefix("**Diagnóstico:** "))
    if (mark := _values(prompt).get("nota média", 0)) >= 4:
        yield "praise: of a high mark", text, f"{text}\nA nota média {shown(mark, '')} mostra que estão satisfeitos."


def _poor_advice(prompt: Prompt, facts: Sequence[Fact], text: str) -> Iterator[Flaw]:
    good = ADVICE.replace("- ", "").splitlines()
    vague = turns(prompt, texts.VAGUE, 4)
    for one, two in zip(vague[::2], vague[1::2], strict=False):
        yield f"vague advice: {one}", 1, text, _with_advice(text, one, two)
    for line in turns(prompt, texts.VAGUE, 6):
        yield f"a vague step: {line}", 0.3, text, _with_advice(text, good[0], line)
    for line in turns(prompt, texts.HARMS, 6):
        yield f"harm: {line}", 2, f"{text}\n- Vale conversar com a equipe.", f"{text}\n- {line}"
    yield "vague advice: only watching", 1, text, _with_advice(text, *texts.WATCHING)
    yield "a step twice", 0.2, text, _with_advice(text, good[0], good[1], good[0].replace("Recomendo", "Sugiro"))
    yield "a step alone", 0.2, text, text.rpartition("\n")[0]
    none = text
    for fact in facts:
        none = none.replace(f" de {told(fact)}", "")
    for fact in facts:
        label = str(fact["label"])
        serving = _with_advice(none, *texts.SERVING[label])
        yield f"steps beside the question: {label}", 0.5, serving, _with_advice(none, *texts.ASTRAY)
    yield "the brief given back: first", 1, text, f"{prompt.user}\n{ADVICE}"
    yield "the brief given back: last", 1, text, f"{ADVICE}\n{prompt.user}"
    yield (
        "as long as an article",
        0.5,
        text,
        "\n".join([text, *texts.WHOLE, *texts.STEPS, *texts.PROPOSALS, *texts.NO_HARM]),
    )
    listed = "\n".join(f"- {capital(str(fact['label']))}: {told(fact)}" for fact in facts)
    yield "figures only listed", 0.5, text, f"{listed}\n{texts.SHORT_STEPS}"
    if 0 < (mark := _values(prompt).get("nota média", 0)) < 3:
        line = f"A nota média {shown(mark, '')} mostra que os clientes estão satisfeitos."
        yield (
            "praise of a low mark",
            1,
            f"{text}\nA nota média {shown(mark, '')} mostra que falta cuidado.",
            f"{text}\n{line}",
        )


# Prose


def _good_prose(prompt: Prompt, text: str) -> Iterator[Change]:
    for line in turns(prompt, texts.WHOLE, 6):
        yield f"prose: {line}", text, f"{text}\n{line}"
    for name in turns(prompt, list(texts.CLUMSY), 3):
        yield f"blemish: {name}", text, f"{text}\n{texts.CLUMSY[name]}"
    if turns(prompt, (True,), 2):
        yield "blemish: no accents", text, without_accents(text)
        yield "blemish: no bold", text, text.replace("**", "")


def _poor_prose(prompt: Prompt, text: str) -> Iterator[Flaw]:
    for line in turns(prompt, texts.TAKEN_BACK, 4):
        yield f"taken back: {line}", 3, text, f"{text}\n{line}"
    for line in turns(prompt, texts.BROKEN, 6):
        yield f"broken: {line}", 0.5, f"{text}\nVeja os números da loja.", f"{text}\n{line}"
    for line in turns(prompt, texts.FOREIGN, 3):
        yield f"another language: {line}", 0.5, text, f"{text}\n{line}"
    letter = f"Prezados senhores,\n{text}\nAtenciosamente, equipe de análise."
    yield "a letter", 0.3, text, letter
    yield (
        "worthless rather than false",
        0.3,
        written(asked(prompt), 0, [told(fact, 1.3) for fact in asked(prompt)]),
        texts.STUFFED,
    )
