"""The promotion policy: which candidate is registered, and whether it becomes champion or waits as a challenger."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Protocol

from tucano.comparison.answers import Answer, Decoding, arms_of, prompt_means
from tucano.comparison.verdict import Verdict
from tucano.presentation.numbers import portuguese
from tucano.settings.data import SMALLEST_STRATUM
from tucano.settings.promotion import PromotionSettings
from tucano.statistics.inference import hodges_lehmann

CHAMPION = "champion"
CHALLENGER = "challenger"
NOT_PROMOTED = "not promoted"


@dataclass(frozen=True, slots=True)
class Standing:
    """What a candidate may become, and why, in both languages: champion, challenger or not promoted."""

    status: str
    reason: str
    reason_pt: str


@dataclass(frozen=True, slots=True)
class Promotion:
    """What became of a candidate and why; `version` is None when it was not registered."""

    candidate: str
    status: str
    reason: str
    model: str
    version: int | None
    reason_pt: str = ""


STAYS_CHAMPION = Standing(
    CHAMPION, "it is the champion since an earlier run", "é o campeão desde uma execução anterior"
)


class Alarm(Protocol):
    """An alarm that a training raised."""

    @property
    def name(self) -> str: ...
    @property
    def step(self) -> int: ...
    @property
    def evidence(self) -> str: ...


def refusal(
    verdict: Verdict, alarms: Sequence[Alarm], reaudit_failure: str | None, decayed: str | None
) -> Standing | None:
    """Why what was measured does not allow the candidate even to become challenger; None when it does.

    `reaudit_failure` and `decayed` say what the re-audit and the health of its texts have against it.
    """
    if not verdict.improved:
        return refused("the primary test does not show an improvement", "o teste principal não mostra melhora")
    if verdict.worse_tasks:
        tasks = ", ".join(verdict.worse_tasks)
        return refused(f"it is worse on {tasks}", f"é pior em {tasks}")
    if verdict.hacking_suspected:
        return refused(
            "the reward rose while the ground truth fell: reward hacking is suspected",
            "a recompensa subiu enquanto a verdade de referência caiu: suspeita de recompensa burlada",
        )
    for alarm in alarms:
        if alarm.name == "hacking":
            return refused(
                f"its training raised the hacking alarm at step {alarm.step}: {alarm.evidence}",
                f"o treino disparou o alarme de recompensa burlada no passo {alarm.step}",
            )
    if reaudit_failure is not None:
        return refused(
            f"the re-audit of its own samples failed: {reaudit_failure}",
            "a auditoria das suas próprias amostras reprovou",
        )
    return refused(f"its texts decayed: {decayed}", "os seus textos pioraram") if decayed is not None else None


def refused(why: str, why_pt: str) -> Standing:
    return Standing(NOT_PROMOTED, why, why_pt)


def unfaithful(difference: float) -> Standing:
    """Of a candidate that is not itself any more once merged; `difference` in nats per token."""
    moved = f"{difference:.3f} nats per token"
    return refused(
        f"merged into 16 bits it answers otherwise than it was trained ({moved})",
        f"fundido em 16 bits responde diferente do que foi treinado ({portuguese(difference)} nats por token)",
    )


def standing(
    answers: Sequence[Answer],
    candidate: str,
    has_champion: bool,
    primary: Decoding,
    settings: PromotionSettings,
    sources: Mapping[str, Set[str]],
) -> Standing:
    """What a candidate becomes that nothing refuses: where a person is asked, challenger at most until then. `sources`:
    the ids of the test prompts by their source.
    """
    found = _standing(answers, candidate, primary, settings) if has_champion else _FIRST
    if found.status == CHAMPION and has_champion and settings.each_source:
        found = _by_source(answers, candidate, primary, settings, sources) or found
    if found.status == CHAMPION and settings.approval_hours is not None:
        return Standing(
            CHALLENGER,
            f"{found.reason}; a person's approval is asked for",
            f"{found.reason_pt}; pede-se a aprovação de uma pessoa",
        )
    return found


_FIRST = Standing(
    CHAMPION,
    "it improves on its start, no task is worse, and there was no champion",
    "melhora sobre a sua partida, nenhuma tarefa piora, e não havia campeão",
)


def _standing(answers: Sequence[Answer], candidate: str, primary: Decoding, settings: PromotionSettings) -> Standing:
    """Against the champion: it has to be at most the margin below it, by the bound."""
    if CHAMPION not in arms_of(answers):
        return Standing(
            CHALLENGER,
            "it improves on its start, but a champion was registered since, which has not answered these prompts",
            "melhora sobre a sua partida, mas um campeão registrado depois não respondeu a estes prompts",
        )
    bound = noninferiority_bound(answers, candidate, CHAMPION, primary)
    below = max(0.0, -bound)
    if bound > -settings.margin:
        return Standing(
            CHAMPION,
            f"it improves on its start and is at most {below:.3f} below the champion (95 % bound)",
            f"melhora sobre a sua partida e fica no máximo {portuguese(below)} abaixo do campeão (limite de 95 %)",
        )
    return Standing(
        CHALLENGER,
        f"it improves on its start, but may be {below:.3f} below the champion (95 % bound, margin {settings.margin})",
        f"melhora sobre a sua partida, mas pode estar {portuguese(below)} abaixo do campeão (limite de 95 %, margem"
        f" {str(settings.margin).replace('.', ',')})",
    )


def _by_source(
    answers: Sequence[Answer],
    candidate: str,
    primary: Decoding,
    settings: PromotionSettings,
    sources: Mapping[str, Set[str]],
) -> Standing | None:
    """Why it stays challenger on the prompts of one source; None where it may be champion by each."""
    for source, ids in sorted(sources.items()):
        if len(ids) < SMALLEST_STRATUM:
            return Standing(
                CHALLENGER,
                f"{len(ids)} test prompts of {source} cannot say how it does on them",
                f"{len(ids)} prompts de teste de {source} não bastam para dizer como ele se sai neles",
            )
        here = [answer for answer in answers if answer.prompt_id in ids]
        bound = noninferiority_bound(here, candidate, CHAMPION, primary)
        if bound <= -settings.margin:
            return Standing(
                CHALLENGER,
                f"it may be {-bound:.3f} below the champion on the prompts of {source} (95 % bound, margin"
                f" {settings.margin})",
                f"pode estar {portuguese(-bound)} abaixo do campeão nos prompts de {source} (limite de 95 %, margem"
                f" {str(settings.margin).replace('.', ',')})",
            )
    return None


def noninferiority_bound(answers: Sequence[Answer], challenger: str, champion: str, decoding: Decoding) -> float:
    """One-sided 95 % lower bound of challenger - champion in mean reward per prompt (Hodges-Lehmann, exact signed-rank
    interval).
    """
    means = prompt_means(answers, "reward")
    challengers = means[challenger, decoding]
    champions = means[champion, decoding]
    differences = [challengers[prompt] - champions[prompt] for prompt in sorted(champions)]
    return hodges_lehmann(differences, level=0.90)[1]
