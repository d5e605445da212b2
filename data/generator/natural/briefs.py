"""Briefs for insights as managers write them: figures in several forms, some with the way they moved, and a question
about one, two or three of them.
"""

from collections.abc import Mapping
from random import Random

from data.generator.insights import BY_LABEL, Brief, Segment
from data.generator.natural.tables import table
from data.generator.natural.writing import roughened
from tucano.specs.banks import JOINT, Pool
from tucano.specs.insights import InsightsAnswer

JOINTS = ("; ", "; ", ", ", " | ", " / ", " - ")
FORMS = ("{label} {value}", "{label}: {value}", "{label} de {value}", "{label} em {value}", "{label} = {value}")
MOVED_FORMS: dict[str, tuple[str, ...]] = {
    "up": ("{label} subiu para {value}", "{label} {value} (alta)", "{label} aumentou: {value}"),
    "down": ("{label} caiu para {value}", "{label} {value} (queda)", "{label} baixou: {value}"),
}
MOVED_SHARE = 0.25
CLOSED_SHARE = 0.35
MOVED = {"": "de", "up": "subiu para", "down": "caiu para"}
OPENINGS = ("Recomendo", "Priorize", "Vale", "Sugiro", "Recomendamos")


class NaturalBrief(Brief):
    """A brief whose answer tells how the figures moved, and has an action for each figure asked about, at least two."""

    def answer(self, rng: Random) -> InsightsAnswer:
        indicators = [BY_LABEL[label] for label in self.key]
        told = [
            f"{one.label} {MOVED[self._said(one.label)]} {one.written(self.figures[one.label])}" for one in indicators
        ]
        actions = [rng.choice(one.actions) for one in indicators]
        if len(indicators) == 1:
            actions = list(indicators[0].actions)
        openings = rng.sample(OPENINGS, len(actions))
        diagnosis = " e ".join([", ".join(told[:-1]), told[-1]] if told[1:] else told)
        return InsightsAnswer(
            self.heading,
            f"{diagnosis}.",
            tuple(f"{opening} {action}." for opening, action in zip(openings, actions, strict=True)),
        )

    def _said(self, label: str) -> str:
        """How the answer says that it moved; «nota média caiu» would be hard to read."""
        return "" if " " in label else self.moved.get(label, "")


def write_brief(pool: Pool, segment: Segment, rng: Random) -> Brief:
    """Three to six of the segment's figures and a question about one to three of them."""
    labels = rng.sample(list(segment.figures), min(rng.randint(3, 6), len(segment.figures)))
    key = labels[: rng.choices((1, 2, 3), (20, 60, 20))[0]]
    figures = {label: segment.figures[label] for label in rng.sample(labels, len(labels))}
    moved = {label: rng.choice(("up", "down")) for label in figures if rng.random() < MOVED_SHARE}
    asked, template = _asked(pool, len(key), rng)
    slots = dict(zip("abc", key, strict=False))
    slots |= {"s": _spoken(segment.label, rng), "l": _listed(figures, moved, rng)}
    heading = rng.choice(("Diagnóstico", "Análise", "Situação", "Leitura", "Resumo"))

    def reword(rng: Random) -> tuple[str, str]:
        asked, template = _asked("known", len(key), rng)
        return asked.format(**slots), template

    return NaturalBrief(asked.format(**slots), template, figures, tuple(key), heading, moved, reword)


def _asked(pool: Pool, count: int, rng: Random) -> tuple[str, str]:
    """(text with open slots, template) of a brief that asks about so many figures."""
    drawn = [table("briefs").draw(bank, pool, rng) for bank in ("brief", f"pergunta{count}")]
    text = roughened(drawn[0][1].replace("{q}", drawn[1][1]), rng)
    if rng.random() < CLOSED_SHARE:
        drawn.append(table("briefs").draw("fecho", pool, rng))
        text = f"{text} {drawn[-1][1]}" + rng.choice((".", "", "."))
    return text, JOINT.join(name for name, _ in drawn)


def _spoken(label: str, rng: Random) -> str:
    """«março (loja online)» in one of several ways to say it."""
    period, _, rest = label.partition(" (")
    channel = rest.rstrip(")")
    if not channel:
        return label
    return rng.choice(
        (label, f"{period}, {channel}", f"{period} - {channel}", f"{period} / {channel}", f"{channel} em {period}")
    )


def _listed(figures: Mapping[str, float], moved: Mapping[str, str], rng: Random) -> str:
    form = rng.choice(FORMS)
    forms = {label: rng.choice(MOVED_FORMS[moved[label]]) if label in moved else form for label in figures}
    written = [
        forms[label].format(label=label, value=BY_LABEL[label].written(value)) for label, value in figures.items()
    ]
    return rng.choice(JOINTS).join(written)
