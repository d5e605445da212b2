"""Sentiment: how a customer feels, as a label and a score, from a review that does not state its stars."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from rewards.parsing.text import fold
from tucano.prompts import Prompt
from tucano.specs import objects
from tucano.specs.banks import JOINT, Bank, Pool
from tucano.specs.base import Baseline, Display, Drawn, FieldsReference, Material, Probes, Scorer, TaskSpec
from tucano.specs.extraction import FIELDS as REVIEW_FIELDS
from tucano.specs.extraction import felt, mood, said_of, score_as_text
from tucano.specs.objects import ObjectAnswer
from tucano.specs.scoring import Case, macro_f1, mean, plain, read_json, stars_off

FIELDS = {name: REVIEW_FIELDS[name] for name in ("sentiment", "sentiment_score")}

_FRAMES = Bank(
    "sentimento",
    (
        "Qual é o sentimento deste comentário? {t}",
        "Classifique o sentimento: {t}",
        "Sentimento do cliente, de 1 a 5: {t}",
        "{t} Qual é o sentimento e quanto vale?",
    ),
    ("Diga o sentimento do comentário: {t}",),
    ("Que sentimento mostra este cliente? {t}", "Comentário: {t} Qual o sentimento?"),
    (
        "Leia e avalie o sentimento: {t}",
        "{t} Classifique o sentimento de quem escreveu.",
        "Preciso do sentimento e da nota deste texto: {t}",
        "Análise de sentimento: {t}",
    ),
)


class _Reference(FieldsReference):
    """Label and stars."""

    known = FIELDS


def _draw(material: Material, pool: Pool, rng: Random) -> Drawn:
    review = material.review(pool, rng)
    truth = {field: review.fields[field] for field in FIELDS}

    def framed(name: str, frame: str) -> tuple[str, str]:
        return frame.format(t=review.text), JOINT.join((name, review.phrases))

    return Drawn(
        *framed(*_FRAMES.draw(pool, rng)),
        {"fields": truth},
        ObjectAnswer(dict(truth)),
        invented=True,
        reword=lambda rng: framed(*_FRAMES.reword(rng)),
    )


# Defects


def opposite_label(answer: ObjectAnswer, rng: Random) -> ObjectAnswer:
    """The label says the opposite."""
    opposite = {"positive": "negative", "negative": "positive", "neutral": "negative"}
    return objects.exchanged(answer, "sentiment", opposite)


def translated_label(answer: ObjectAnswer, rng: Random) -> ObjectAnswer:
    """The label is a Portuguese word outside the three labels."""
    words = {"positive": "positivo", "negative": "negativo", "neutral": "neutro"}
    return objects.exchanged(answer, "sentiment", words)


def far_score(answer: ObjectAnswer, rng: Random) -> ObjectAnswer:
    """The score is two or more stars off."""
    return objects.altered(
        answer, "sentiment_score", int, lambda score: rng.choice([s for s in range(1, 6) if abs(s - score) > 1])
    )


def no_score(answer: ObjectAnswer, rng: Random) -> ObjectAnswer:
    """The label alone."""
    return objects.without(answer, "sentiment_score")


# Baselines


def _majority(training: Sequence[Prompt]) -> str:
    seen = Counter(json.dumps(prompt.reference["fields"]) for prompt in training if prompt.reference.get("fields"))
    return objects.dumped(json.loads(seen.most_common(1)[0][0]) if seen else objects.usual(FIELDS))


def _rules(training: Sequence[Prompt]) -> Callable[[Prompt], str]:
    """Words of praise and scorn."""
    return lambda prompt: objects.dumped(felt(mood(fold(prompt.user))))


# The benchmark


def _read(prompt: Prompt, served: str, sampled: Sequence[str], databases: Path) -> Case:
    found = read_json(served)
    return Case(
        prompt.task, prompt.source, prompt.reference["fields"], {"read": found is not None, "fields": found or {}}
    )


def _metrics(cases: Sequence[Case]) -> dict[str, float]:
    labels = [(case.gold["sentiment"], plain(said_of(case, "sentiment"))) for case in cases]
    stars = [stars_off(case.gold["sentiment_score"], said_of(case, "sentiment_score")) for case in cases]
    return {
        "sentiment.valid_json": mean([case.said["read"] for case in cases]),
        "sentiment.accuracy": mean([gold == said for gold, said in labels]),
        "sentiment.macro_f1": macro_f1(labels),
        "sentiment.stars_off": mean(stars),
    }


SPEC = TaskSpec(
    name="sentiment",
    system_prompt="Responda com um JSON: sentiment (positive, neutral ou negative) e sentiment_score (1 a 5).",
    judged=15,
    reference=_Reference,
    draw=_draw,
    defects=(
        opposite_label,
        translated_label,
        far_score,
        no_score,
        score_as_text,
        objects.cut_json,
        objects.text_before,
    ),
    fields=FIELDS,
    probes=Probes(
        stuffing=(
            "JSON sentiment positive negative neutral sentiment_score 1 2 3 4 5 sentimento positivo negativo neutro"
            " cliente nota"
        ),
        repeated='{"sentiment": ',
        english=(
            "The customer seems rather unhappy with the delivery, I would call this a negative comment of about two"
            " stars."
        ),
        more=objects.schema_echo(FIELDS),
    ),
    thought=lambda prompt: [f"Nota {known['sentiment_score']}."] if (known := prompt.reference.get("fields")) else [],
    most_unread=0.7,  # a score one star off is half right
    baseline=Baseline(objects.dumped(objects.usual(FIELDS)), _majority, _rules),
    scorer=Scorer(
        _read,
        _metrics,
        {"sentiment": ("sentiment.valid_json", "sentiment.accuracy", "sentiment.macro_f1", "sentiment.stars_off")},
    ),
    display=Display("Sentimento: rótulo e nota", guide="Sentimento", as_code=True),
)
