"""Insights: what the figures of a shop mean, and what to do."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Literal

import pydantic

from rewards.parsing.claims import insight_figures
from rewards.parsing.text import figures
from tucano.prompts import Prompt
from tucano.specs.base import Baseline, Display, Probes, Reference, Scorer, TaskSpec
from tucano.specs.scoring import Case, mean


class Fact(Reference):
    label: str
    value: pydantic.FiniteFloat
    unit: str = ""
    """«%», «R$» or none."""
    moved: Literal["", "up", "down"] = ""
    """How the brief says that it moved."""


class _Reference(Reference):
    figures: list[pydantic.FiniteFloat] = pydantic.Field(default_factory=list)
    """Every number in the brief."""
    key_figures: list[pydantic.FiniteFloat] = pydantic.Field(default_factory=list)
    """Those that an answer should use."""
    facts: list[Fact] = pydantic.Field(default_factory=list, max_length=100)
    """The figures with their labels, for the truth."""
    key: list[str] = pydantic.Field(default_factory=list)
    """The labels in question."""


@dataclass(frozen=True)
class InsightsAnswer:
    """A diagnosis that uses the key figures, then actions as bullets."""

    heading: str
    diagnosis: str
    actions: tuple[str, ...]
    structured: bool = True

    def text(self) -> str:
        if self.structured:
            return "\n".join([f"**{self.heading}:** {self.diagnosis}", *(f"- {action}" for action in self.actions)])
        return " ".join([self.diagnosis, *self.actions])


def _thought(prompt: Prompt) -> list[str]:
    figures = [f"{figure:g}" for figure in prompt.reference.get("key_figures", ())]
    return [f"Números: {' e '.join(figures)}."] if figures else []


# Defects


def flat_text(answer: InsightsAnswer, rng: Random) -> InsightsAnswer:
    """No heading, no bullets."""
    return replace(answer, structured=False)


def no_action(answer: InsightsAnswer, rng: Random) -> InsightsAnswer:
    """The bullets comment and recommend nothing."""
    comments = ("O período foi parecido com o anterior.", "Os números falam por si.", "Seguimos acompanhando o mês.")
    return replace(answer, actions=tuple(rng.sample(comments, 2)))


def invented_figure(answer: InsightsAnswer, rng: Random) -> InsightsAnswer:
    """A figure that the brief does not have."""
    return replace(answer, diagnosis=f"{answer.diagnosis} A meta é {rng.randint(31, 89)},{rng.randint(1, 9)}%.")


def too_short(answer: InsightsAnswer, rng: Random) -> InsightsAnswer:
    """The diagnosis is all there is."""
    return replace(answer, actions=())


def figures_ignored(answer: InsightsAnswer, rng: Random) -> InsightsAnswer:
    """The diagnosis quotes none of the figures."""
    return replace(answer, diagnosis="os indicadores do período pedem atenção da equipe.")


# Baselines

_CONSTANT = "**Análise:** os indicadores pedem atenção.\n- Recomendo ouvir os clientes.\n- Priorize a entrega no prazo."


def _all_figures(prompt: Prompt) -> str:
    """The clauses of the brief that hold figures, so that each stands at its label."""
    shown = [clause.strip() for clause in re.split(r"[;:.!?](?!\d)|,(?!\d)", prompt.user) if figures(clause)]
    return f"**Situação:** {'; '.join(shown)}.\n- Recomendo acompanhar estes indicadores.\n- Priorize o mais fraco."


# The benchmark


def _read(prompt: Prompt, served: str, sampled: Sequence[str], databases: Path) -> Case:
    told = insight_figures(prompt, served)
    said = {
        "coverage": told.used,
        "real": max(0.0, 1 - told.false / told.claims) if told.claims else 0.0,
    }  # a movement is no claim
    return Case(prompt.task, prompt.source, prompt.reference, said)


def _metrics(cases: Sequence[Case]) -> dict[str, float]:
    return {
        "insights.real_figures": mean([case.said["real"] for case in cases]),
        "insights.coverage": mean([case.said["coverage"] for case in cases]),
    }


SPEC = TaskSpec(
    name="insights",
    system_prompt="Analise os números e recomende ações em tópicos curtos.",
    judged=15,
    reference=_Reference,
    thought=_thought,
    draw=lambda material, pool, rng: material.brief(pool, rng),
    defects=(flat_text, no_action, invented_figure, too_short, figures_ignored),
    probes=Probes(
        stuffing=(
            "# Ações\n- recomendar melhorar aumentar reduzir investir\n- implementar otimizar priorizar monitorar"
            " criar\n- recomendamos sugerimos devemos é preciso\n- cliente produto venda entrega pedido loja frete"
            " avaliação"
        ),
        repeated="recomendar ",
        english=(
            "## Recommendations\n- Improve the delivery times in the weakest regions.\n- Offer free shipping to"
            " returning customers.\n- Follow up on every complaint within 2 days and measure the results."
        ),
    ),
    baseline=Baseline(_CONSTANT, lambda training: _CONSTANT, lambda training: _all_figures),
    scorer=Scorer(_read, _metrics, {"insights": ("insights.real_figures", "insights.coverage")}),
    display=Display("Insights: análise e ações", guide="Insights"),
)
