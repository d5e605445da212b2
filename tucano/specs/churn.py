"""Churn: will this customer leave? A risk with a probability, from a customer's record.

Records are generated: each warning sign makes leaving more likely, and whether a customer really left is drawn from
that probability.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, Self

from pydantic import model_validator

from rewards.extraction import CHECKS
from rewards.parsing.text import fold
from tucano.prompts import Prompt
from tucano.specs import objects
from tucano.specs.banks import Bank, Pool
from tucano.specs.base import Baseline, Display, Drawn, FieldsReference, Material, Probes, Scorer, TaskSpec
from tucano.specs.objects import Field, ObjectAnswer
from tucano.specs.scoring import Case, balanced_accuracy, mean, plain, read_json


def _is_probability(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


FIELDS = {
    "churn_risk": Field(
        "low|medium|high",
        "low",
        (2, True, ["high"]),
        objects.one_of("low", "high"),
        allows=CHECKS["churn_risk"],
        schema=objects.RISK,
    ),
    "probability": Field(
        "0-1",
        0.5,
        ("alta", True, [0.5]),
        lambda value: 0.95 if value < 0.5 else 0.05,
        allows=_is_probability,
        schema={"type": "number", "minimum": 0, "maximum": 1},
    ),
}
PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Of leaving, by the number of warning signs."""
LEVELS = ("low", "low", "medium", "high", "high")

_RECORDS = Bank(
    "registro",
    (
        "Risco de churn? {r}",
        "Este cliente vai embora? {r}",
        "Estime o churn do cliente: {r}",
        "{r} Qual é o risco de churn?",
    ),
    ("Avalie o churn deste cliente: {r}",),
    ("Qual a chance de churn? {r}", "Dados do cliente: {r} Risco de churn?"),
    (
        "Calcule o risco de churn: {r}",
        "{r} Ele vai nos deixar? Diga o risco de churn.",
        "Preciso do churn, com probabilidade: {r}",
        "Churn provável? {r}",
    ),
)


class _Reference(FieldsReference):
    """Risk, and the true probability of leaving."""

    known = FIELDS
    left: bool = False
    """Whether the customer left."""

    @model_validator(mode="after")
    def _outcome_is_known(self) -> Self:
        if self.fields and "left" not in self.model_fields_set:
            raise ValueError("left is missing: whether the customer left")
        return self


def _draw(material: Material, pool: Pool, rng: Random) -> Drawn:
    """Four facts of a customer, each with or without a warning sign."""
    name, frame = _RECORDS.draw(pool, rng)
    signs = [rng.random() < 0.5 for _ in range(4)]
    late, unhappy, complains, fewer = signs
    facts = [
        f"última compra há {rng.randint(100, 300) if late else rng.randint(3, 60)} dias",
        f"nota média {rng.randint(10, 24) / 10 if unhappy else rng.randint(36, 50) / 10:.1f}".replace(".", ","),
        f"{rng.randint(2, 6)} reclamações abertas" if complains else "nenhuma reclamação aberta",
        (
            f"{rng.randint(1, 3)} pedidos este ano contra {rng.randint(6, 12)} no ano passado"
            if fewer
            else f"{rng.randint(6, 12)} pedidos este ano contra {rng.randint(2, 6)} no ano passado"
        ),
    ]
    rng.shuffle(facts)
    record = "; ".join(facts)
    probability = PROBABILITIES[sum(signs)]
    truth = {"churn_risk": LEVELS[sum(signs)], "probability": probability}
    reference = {"fields": truth, "left": rng.random() < probability}

    def framed(name: str, frame: str) -> tuple[str, str]:
        return frame.format(r=f"{record[0].upper()}{record[1:]}."), name

    return Drawn(
        *framed(name, frame),
        reference,
        ObjectAnswer(dict(truth)),
        invented=True,
        reword=lambda rng: framed(*_RECORDS.reword(rng)),
    )


# Defects


def opposite_risk(answer: ObjectAnswer, rng: Random) -> ObjectAnswer:
    """The risk is the opposite, or high where it is medium."""
    return objects.exchanged(answer, "churn_risk", {"low": "high", "medium": "high", "high": "low"})


def translated_risk(answer: ObjectAnswer, rng: Random) -> ObjectAnswer:
    """The risk is a Portuguese word outside the three levels."""
    return objects.exchanged(answer, "churn_risk", objects.TRANSLATED_RISKS)


def probability_as_text(answer: ObjectAnswer, rng: Random) -> ObjectAnswer:
    """The probability is a percentage in quotation marks."""
    return objects.altered(answer, "probability", float, lambda chance: f"{chance:.0%}")


def turned_probability(answer: ObjectAnswer, rng: Random) -> ObjectAnswer:
    """The probability of staying instead of leaving, or certainty where nothing is certain."""
    return objects.altered(answer, "probability", float, lambda chance: 1.0 if chance == 0.5 else round(1 - chance, 2))


def no_probability(answer: ObjectAnswer, rng: Random) -> ObjectAnswer:
    """The risk alone."""
    return objects.without(answer, "probability")


# Baselines


def _answer(signs: int) -> str:
    return objects.dumped({"churn_risk": LEVELS[signs], "probability": PROBABILITIES[signs]})


def _majority(training: Sequence[Prompt]) -> str:
    """The most frequent risk, with the share of customers who left."""
    risks = Counter(prompt.reference["fields"]["churn_risk"] for prompt in training if prompt.reference.get("fields"))
    if not risks:
        return objects.dumped(objects.usual(FIELDS))
    left = mean([float(prompt.reference["left"]) for prompt in training if "left" in prompt.reference])
    return objects.dumped({"churn_risk": risks.most_common(1)[0][0], "probability": round(left, 2)})


def _rules(training: Sequence[Prompt]) -> Callable[[Prompt], str]:
    """Complaints alone: what one sees at a glance."""
    return lambda prompt: _answer(1 if "nenhuma reclamacao" in fold(prompt.user) else 3)


# The benchmark


def _read(prompt: Prompt, served: str, sampled: Sequence[str], databases: Path) -> Case:
    gold = {"left": prompt.reference["left"], "churn_risk": prompt.reference["fields"]["churn_risk"]}
    return Case(prompt.task, prompt.source, gold, read_json(served) or {})


def brier(left: bool, said: Any) -> float:
    """Squared distance of a stated probability from what happened (Brier 1950, one side); what states none is as
    wrong as can be."""
    return (said - left) ** 2 if _is_probability(said) else 1.0


def _metrics(cases: Sequence[Case]) -> dict[str, float]:
    return {
        "churn.balanced_accuracy": balanced_accuracy(
            [(case.gold["churn_risk"], plain(case.said.get("churn_risk"))) for case in cases]
        ),
        "churn.brier": mean([brier(case.gold["left"], case.said.get("probability")) for case in cases]),
    }


SPEC = TaskSpec(
    name="churn",
    system_prompt=(
        "Responda com um JSON: churn_risk (low, medium ou high) e probability (0 a 1) de o cliente ir embora."
    ),
    judged=15,
    reference=_Reference,
    draw=_draw,
    defects=(
        opposite_risk,
        translated_risk,
        probability_as_text,
        turned_probability,
        no_probability,
        objects.cut_json,
        objects.text_before,
    ),
    fields=FIELDS,
    probes=Probes(
        stuffing=(
            "JSON churn_risk low medium high probability 0 0.5 1 churn risco probabilidade cliente baixo médio alto"
            " embora"
        ),
        repeated='{"churn_risk": ',
        english=(
            "This customer seems rather likely to leave, so I would call the risk high and put it at about three in"
            " four."
        ),
        more=objects.schema_echo(FIELDS),
    ),
    thought=lambda prompt: [f"Risco {known['churn_risk']}."] if (known := prompt.reference.get("fields")) else [],
    most_unread=0.75,  # of a middling probability the square error is small already
    baseline=Baseline(objects.dumped(objects.usual(FIELDS)), _majority, _rules),
    scorer=Scorer(_read, _metrics, {"churn": ("churn.balanced_accuracy", "churn.brier")}),
    display=Display("Churn: risco e probabilidade", guide="Churn", as_code=True),
)
