"""Insights, in turns of speech that are rarer: each way to offer, to want, to compare and to take back once, and what
only looks like it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tucano.prompts import Prompt
from tucano.specs.flaws.insights import turns_forms as forms
from tucano.specs.flaws.insights import turns_texts as texts
from tucano.specs.flaws.insights.kinds import ADVICE, asked, shown, told, turns, written
from tucano.specs.flaws.insights.texts import ASTRAY, capital
from tucano.specs.flaws.insights.told import the
from tucano.specs.flaws.objects import Change, Flaw

Fact = Mapping[str, Any]
_FALSE = 1.3
_AT_ONCE = 3
"""Harmless lines that one answer gets: more would make it too long."""


def edits(prompt: Prompt, text: str) -> Iterator[Flaw]:
    facts = asked(prompt)
    if len(facts) != 2 or text != written(facts):
        return
    if moving := [fact for fact in facts if fact.get("moved")]:
        yield from _moved_falsely(moving, text)
        return
    yield from _added(prompt, text)
    yield from _told_falsely(prompt, facts, text)
    yield from _poor_steps(prompt, facts, text)


def harmless(prompt: Prompt, text: str) -> Iterator[Change]:
    facts = asked(prompt)
    if len(facts) != 2 or text != written(facts):
        return
    if moving := [fact for fact in facts if fact.get("moved")]:
        yield from _headed_moves(moving, text)
        return
    for kind, lines in texts.HARMLESS.items():
        for some in turns(prompt, _by(lines, _AT_ONCE), 2):
            yield f"{kind}: {' '.join(some)}", text, "\n".join([text, *(f"- {line}" for line in some)])
    for lead in turns(prompt, forms.LEADS, 4):
        yield f"lead and noun: {lead}", text, _with_steps(text, *(f"{lead} {line}" for line in forms.NOUNS))
    for heading in turns(prompt, forms.HEADINGS, 3):
        yield f"heading: {heading}", text, "\n".join([text.partition("\n")[0], heading, forms.PLANNED])
    yield from _told_rightly(prompt, facts, text)
    yield from _wanted(prompt, facts, text)
    yield from _compared(facts, text)
    yield from _worked_out(prompt, text)


def _by(lines: Sequence[str], many: int) -> list[Sequence[str]]:
    """The lines in groups of so many."""
    return [lines[place : place + many] for place in range(0, len(lines), many)]


def _with_steps(text: str, *lines: str) -> str:
    return "\n".join([text.partition("\n")[0], *(f"- {line}" for line in lines)])


def _put(form: str, fact: Fact, **more: str) -> str:
    label = str(fact["label"])
    return capital(form.format(label=label, the=the(label), now=told(fact), then=told(fact, _FALSE), **more))


# Lines that are added


def _added(prompt: Prompt, text: str) -> Iterator[Flaw]:
    """A line of each kind that costs what stands with it."""
    for kind, (points, every, before, lines) in texts.FLAWS.items():
        for line in turns(prompt, lines, every):
            yield f"{kind}: {line}", points, f"{text}\n{before}" if before else text, f"{text}\n{line}"
    for opening, end in turns(prompt, forms.LETTERS, 2):
        yield f"a letter: {opening} {end}", 0.3, text, f"{opening}\n{text}\n{end}"
    mark = next((float(fact["value"]) for fact in prompt.reference["facts"] if fact["label"] == "nota média"), 0)
    for form in forms.PRAISES if 0 < mark < 3 else ():
        low = shown(mark, "")
        yield (
            f"praise of a low mark: {form}",
            1,
            f"{text}\nA nota média {low} pede cuidado.",
            f"{text}\n{form.format(low)}",
        )


# Figures beside their labels


def _head(one: str, two: str) -> str:
    return f"**Diagnóstico:** {one}; {two}, e os dois números pedem atenção da loja.\n{ADVICE}"


def _under_labels(form: str, facts: Sequence[Fact], figures: Sequence[str]) -> str:
    """Each figure as the first item under its label as a heading."""
    parts = (
        f"**{capital(str(fact['label']))}**\n- {form.format(figure)}, e isso pede atenção da loja."
        for fact, figure in zip(facts, figures, strict=True)
    )
    return "\n".join([*parts, ADVICE])


def _told_rightly(prompt: Prompt, facts: Sequence[Fact], text: str) -> Iterator[Change]:
    for form in turns(prompt, forms.TELLINGS, 4):
        one, two = (form.format(label=fact["label"], the=the(str(fact["label"])), figure=told(fact)) for fact in facts)
        yield f"told: {form}", text, _head(one, two)
    for form in turns(prompt, forms.UNDER, 2):
        yield f"told under a heading: {form}", text, _under_labels(form, facts, [told(fact) for fact in facts])


def _told_falsely(prompt: Prompt, facts: Sequence[Fact], text: str) -> Iterator[Flaw]:
    right = [told(fact) for fact in facts]
    false = [told(fact, _FALSE) for fact in facts]
    for form in turns(prompt, forms.TELLINGS, 4):
        one, two, wrong = (
            form.format(label=fact["label"], the=the(str(fact["label"])), figure=figure)
            for fact, figure in zip((*facts, facts[0]), (*right, false[0]), strict=True)
        )
        yield f"told falsely: {form}", 2, _head(one, two), _head(wrong, two)
    for form in turns(prompt, forms.UNDER, 2):
        before, after = (_under_labels(form, facts, figures) for figures in (right, [right[0], false[1]]))
        yield f"told falsely under a heading: {form}", 2, before, after
    for form in turns(prompt, forms.SAID_TO_BE, 3):
        fact = facts[len(prompt.user) % 2]
        yield f"false figure added: {form}", 2, f"{text}\nVeja {fact['label']}.", f"{text}\n{_put(form, fact)}"


def _verbs(fact: Fact) -> Sequence[str]:
    way = str(fact["moved"])
    return [many if str(fact["label"]).endswith("s") else one for one, many in forms.MOVES.get(way, ())]


def _moved_falsely(facts: Sequence[Fact], text: str) -> Iterator[Flaw]:
    for fact in facts:
        label = capital(the(str(fact["label"])))
        for verb in _verbs(fact):
            for word in ("para", "a"):
                line = f"{text}\n{label} da loja {verb}"
                yield (
                    f"movement to a false figure: {verb} {word}",
                    2,
                    f"{line} no mês.",
                    f"{line} {word} {told(fact, _FALSE)}.",
                )
        for verb in _verbs({**fact, "moved": "up" if fact["moved"] == "down" else "down"}):
            yield f"movement turned: {verb}", 1, f"{text}\n{label} mudou.", f"{text}\n{label} {verb}."


def _headed_moves(facts: Sequence[Fact], text: str) -> Iterator[Change]:
    for fact in facts:
        label = capital(the(str(fact["label"])))
        for verb in _verbs(fact):
            yield f"movement: {verb}", text, f"{text}\n{label} da loja {verb} para {told(fact)}."


# What somebody wants


def _wanted(prompt: Prompt, facts: Sequence[Fact], text: str) -> Iterator[Change]:
    fact = facts[len(prompt.user) % 2]
    for some in turns(prompt, _by(forms.WANTED, 2), 2):
        lines = [f"- {_put(form, fact)}" for form in some]
        yield f"aim at a label: {' '.join(some)}", text, "\n".join([text, *lines])
    for fact in facts:
        label = str(fact["label"])
        for form in forms.WANTED_OF.get(label, ()):
            yield f"aim at one label: {form}", text, f"{text}\n- {_put(form, fact)}"


# Figures side by side, and what follows


def _compared(facts: Sequence[Fact], text: str) -> Iterator[Change]:
    one, two = (str(fact["label"]) for fact in facts)
    a, b = map(told, facts)
    same = facts[0].get("unit") == facts[1].get("unit")
    for form in forms.COMPARED if same else forms.BESIDE:
        line = form.format(one=one, two=two, a=a, b=b)
        yield f"side by side: {form}", text, f"{text}\n{capital(line)}"


def _worked_out(prompt: Prompt, text: str) -> Iterator[Change]:
    values = {str(fact["label"]): float(fact["value"]) for fact in prompt.reference.get("facts", ())}
    for label, sentences in forms.FOLLOWS.items():
        if (share := values.get(label, 0)) >= 5:
            for some in _by(sentences, _AT_ONCE):
                lines = (
                    form.format(
                        now=shown(share, "%"),
                        rest=shown(100 - share, "%"),
                        about=f"{round((100 - share) * 0.96)}%",
                        of_hundred=round(share),
                        each=round(100 / share),
                    )
                    for form in some
                )
                yield f"result: {' '.join(some)}", text, "\n".join([text, *lines])
    shares = [float(fact["value"]) for fact in asked(prompt) if fact.get("unit") == "%"]
    if len(shares) == 2 and min(shares) > 1:
        both = shown(shares[0] * shares[1] / 100, "%")
        yield "result: both", text, f"{text}\nOs dois ao mesmo tempo: {both} dos casos."
    if {"frete médio", "ticket médio"} <= set(values):
        freight, ticket = values["frete médio"], values["ticket médio"]
        line = f"Quantas vezes a compra cobre o frete médio: {shown(ticket, 'R$')} ÷ {shown(freight, 'R$')}"
        yield "result: how often", text, f"{text}\n{line} = {shown(ticket / freight, '')}."


# Steps


def _poor_steps(prompt: Prompt, facts: Sequence[Fact], text: str) -> Iterator[Flaw]:
    good = ADVICE.partition("\n")[0].removeprefix("- ")
    for line in turns(prompt, forms.VAGUE, 3):
        yield f"a vague step: {line}", 0.3, text, _with_steps(text, good, line)
    for form in turns(prompt, forms.WATCHING, 3):
        yield f"vague advice: {form}", 1, text, _with_steps(text, *(_put(form, fact) for fact in facts))
    yield from _beside_the_question(facts)


def _beside_the_question(facts: Sequence[Fact]) -> Iterator[Flaw]:
    """Where no figure is told, one step that serves an indicator rather than none."""
    one, two = (str(fact["label"]) for fact in facts)
    head = f"**Diagnóstico:** {two} e também {one} pedem atenção da loja."
    astray = _with_steps(head, *ASTRAY)
    for label in (one, two):
        for line in forms.SERVING.get(label, ()):
            serving = _with_steps(head, line, ASTRAY[1])
            yield f"steps beside the question: {label}: {line}", 0.2, serving, astray
