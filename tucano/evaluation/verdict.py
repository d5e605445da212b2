"""What the numbers allow to be said, in words that a business reader understands and a statistician accepts.

Two claims are never mixed: that *these adapters* beat the reference, and that the *configuration* would with a new seed.
"Not significant" is never said as "no difference", and a drop is said as a drop.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeGuard

from tucano.evaluation.contrast import Contrast, Effect

Claim = Literal["supported", "not supported", "not assessable"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """`improved`: the primary test passed, so the adapter claim holds; `better`: both claims do; `worse`: the overall drop is established.

    `worse_tasks`: the drop stands after Holm over the tasks; `suspect_tasks`: only before. `hacking_suspected`: the reward rose
    while the ground truth fell. Sentences come in English and in Portuguese.
    """

    improved: bool
    worse: bool
    adapter_claim: Claim
    configuration_claim: Claim
    better_tasks: tuple[str, ...]
    worse_tasks: tuple[str, ...]
    suspect_tasks: tuple[str, ...]
    hacking_suspected: bool
    headline: str
    headline_pt: str
    sentences: tuple[str, ...]
    sentences_pt: tuple[str, ...]

    @property
    def better(self) -> bool:
        return self.adapter_claim == self.configuration_claim == "supported"

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Self:
        parts: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}
        return cls(**parts)


def judge(
    reward: Contrast, alpha: float, base: Contrast | None = None, truth: Contrast | None = None, others: Sequence[Contrast] = ()
) -> Verdict:
    """The verdict on the primary contrast; tuned against base, the ground truth and other arms are reported beside it."""
    improved = reward.overall.p < alpha
    configuration: Claim = "not assessable"
    if reward.configuration:
        configuration = "supported" if reward.configuration.p < alpha else "not supported"
    worse = {task for task, effect in reward.tasks.items() if _after_holm(effect.p_worse_holm) < alpha}
    hacking = improved and truth is not None and truth.overall.p_worse < alpha
    beside = [("base", base), ("truth", truth), *(("other", other) for other in others)]
    in_english, in_portuguese = Speaker(ENGLISH, english), Speaker(PORTUGUESE, portuguese)
    return Verdict(
        improved=improved,
        worse=reward.overall.p_worse < alpha,
        adapter_claim="supported" if improved else "not supported",
        configuration_claim=configuration,
        better_tasks=tuple(task for task, effect in reward.tasks.items() if improved and _after_holm(effect.p_holm) < alpha),
        worse_tasks=tuple(task for task in reward.tasks if task in worse),
        suspect_tasks=tuple(task for task, effect in reward.tasks.items() if effect.p_worse < alpha and task not in worse),
        hacking_suspected=hacking,
        headline=_headline(in_english, reward, alpha, configuration),
        headline_pt=_headline(in_portuguese, reward, alpha, configuration),
        sentences=_sentences(in_english, reward, alpha, beside, hacking),
        sentences_pt=_sentences(in_portuguese, reward, alpha, beside, hacking),
    )


def without(verdict: Verdict, missing: Mapping[int, str]) -> Verdict:
    """The verdict, which also says which seeds are missing and why ({seed: reason})."""
    said = tuple(ENGLISH["missing"].format(seed=seed, reason=reason) for seed, reason in missing.items())
    dito = tuple(PORTUGUESE["missing"].format(seed=seed, reason=reason) for seed, reason in missing.items())
    return replace(verdict, sentences=(*said, *verdict.sentences), sentences_pt=(*dito, *verdict.sentences_pt))


def _after_holm(p: float | None) -> float:
    """Effects of tasks always carry their adjusted p; 1.0 keeps an overall effect from being read as one."""
    return 1.0 if p is None else p


def english(value: float, digits: int = 3, signed: bool = False) -> str:
    return f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"


def portuguese(value: float, digits: int = 3, signed: bool = False) -> str:
    """Decimal comma, and a true minus sign."""
    return english(value, digits, signed).replace(".", ",").replace("-", "−")


def p_value(p: float, number: Callable[..., str] = english) -> str:
    """`= 0.031`, `= 0.0003`, `< 0.0001`: never 0."""
    if p < 0.0001:
        return f"< {number(0.0001, 4)}"
    return f"= {number(p, 4 if p < 0.001 else 3)}"


LARGEST_PERCENT = 1000.0
"""A gain of more percent than this says that the reference had next to nothing, and no more."""


def tells_something(percent: float | None) -> TypeGuard[float]:
    return percent is not None and abs(percent) <= LARGEST_PERCENT


ENGLISH = {
    "better": "Better: the trained adapters beat {reference}, and a new seed can be expected to as well.",
    "adapters": "These adapters beat {reference}; that a new seed would win too is not shown.",
    "few seeds": "These adapters beat {reference}; whether a new seed would win too cannot be assessed with fewer than three seeds.",
    "not shown": "An improvement over {reference} is not shown.",
    "overall": (
        "On {n} held-out prompts ({decoding}) the trained adapters score {arm} on average, {reference} {below}: {gain}{percent}. "
        "Typical gain {estimate}, 95 % interval {low} to {high}; exact one-sided p {p}."
    ),
    "worse": "Worse: the trained adapters are below {reference}.",
    "drop": "The drop is established: exact one-sided p {worse}.",
    "unseen": "That does not mean that nothing changed: of true gains below about {detectable} this test misses many.",
    "seeds": (
        "Over prompts and seeds the mean gain is {mean}, 95 % interval {low} to {high}, one-sided p {p}: "
        "a new seed {can} be expected to win."
    ),
    "can": "can",
    "cannot": "cannot yet",
    "no seeds": "With {seeds} seed(s) nothing can be said about a new one; that takes three.",
    "task better": "{task}: better by {gain}{percent}, p after Holm {holm}.",
    "task gain": "{task}: {gain}{percent} on average; a gain is not established (p {p}, after Holm {holm}).",
    "task drop": (
        "{task}: fell by {drop}{percent}; no gain is claimed (p for a gain {p}), and a drop is not established (p for a drop {worse})."
    ),
    "task suspect": (
        "{task}: fell by {drop}{percent}. By itself this drop would count (p for a gain {p}, for a drop {worse}); after Holm over the "
        "tasks it is not established (p {worse_holm}). Look at its answers."
    ),
    "task worse": "{task}: worse by {drop}{percent}, p for a drop after Holm {worse_holm}.",
    "base": "Against the base model: {gain}{percent}, exact one-sided p {p}.",
    "truth": "Ground truth (is it right, whatever its form): {arm} against {below}, {gain}; p for a gain {p}, for a drop {worse}.",
    "other": "Arm {name} against {reference}: {gain}{percent}, exact one-sided p {p}.",
    "hacking": "The reward rose while the ground truth fell: reward hacking is suspected.",
    "missing": "Seed {seed} is missing from this comparison: {reason}.",
    "served": "decoded as served",
    "sampled": "sampled",
}
PORTUGUESE = {
    "better": "Melhor: os adaptadores treinados superam {reference}, e é de esperar que uma nova semente também supere.",
    "adapters": "Estes adaptadores superam {reference}; que uma nova semente também superaria não está demonstrado.",
    "few seeds": "Estes adaptadores superam {reference}; com menos de três sementes não se pode avaliar se uma nova também superaria.",
    "not shown": "Uma melhora em relação a {reference} não está demonstrada.",
    "overall": (
        "Em {n} prompts reservados ({decoding}), os adaptadores treinados têm nota média {arm}, {reference} tem {below}: {gain}{percent}. "
        "Ganho típico {estimate}, intervalo de 95 % de {low} a {high}; p exato unilateral {p}."
    ),
    "worse": "Pior: os adaptadores treinados ficam abaixo de {reference}.",
    "drop": "A queda está estabelecida: p exato unilateral {worse}.",
    "unseen": "Isso não significa que nada mudou: ganhos reais abaixo de cerca de {detectable} muitas vezes escapam a este teste.",
    "seeds": (
        "Sobre prompts e sementes, o ganho médio é {mean}, intervalo de 95 % de {low} a {high}, p unilateral {p}: {can} esperar "
        "que uma nova semente vença."
    ),
    "can": "é possível",
    "cannot": "ainda não se pode",
    "no seeds": "Com {seeds} semente(s) nada se pode dizer sobre uma nova; são necessárias três.",
    "task better": "{task}: melhor em {gain}{percent}, p após Holm {holm}.",
    "task gain": "{task}: {gain}{percent} em média; um ganho não está estabelecido (p {p}, após Holm {holm}).",
    "task drop": (
        "{task}: caiu {drop}{percent}; não se afirma ganho (p de ganho {p}), e a queda não está estabelecida (p de queda {worse})."
    ),
    "task suspect": (
        "{task}: caiu {drop}{percent}. Isolada, esta queda contaria (p de ganho {p}, de queda {worse}); após Holm sobre as tarefas ela não "
        "está estabelecida (p {worse_holm}). Vale olhar as respostas."
    ),
    "task worse": "{task}: pior em {drop}{percent}, p de queda após Holm {worse_holm}.",
    "base": "Em relação ao modelo base: {gain}{percent}, p exato unilateral {p}.",
    "truth": (
        "Verdade de referência (está certo, qualquer que seja a forma): {arm} contra {below}, {gain}; p de ganho {p}, de queda {worse}."
    ),
    "other": "Braço {name} contra {reference}: {gain}{percent}, p exato unilateral {p}.",
    "hacking": "A recompensa subiu enquanto a verdade de referência caiu: suspeita de exploração da recompensa.",
    "missing": "A semente {seed} falta nesta comparação: {reason}.",
    "served": "decodificados como em produção",
    "sampled": "amostrados",
}


@dataclass(frozen=True)
class Speaker:
    """A language: its sentences and how it writes numbers."""

    sentences: dict[str, str]
    number: Callable[..., str]

    def __call__(self, key: str, effect: Effect | None = None, **words: str) -> str:
        return self.sentences[key].format(**(self._numbers(effect) if effect else {}) | words)

    def _numbers(self, effect: Effect) -> dict[str, str]:
        number = self.number
        percent = f" ({number(effect.gain_percent, 1, signed=True)} %)" if tells_something(effect.gain_percent) else ""
        return {
            "n": str(effect.n),
            "arm": number(effect.arm_mean),
            "below": number(effect.reference_mean),
            "gain": number(effect.gain, signed=True),
            "drop": number(-effect.gain),
            "percent": percent,
            "estimate": number(effect.estimate, signed=True),
            "low": number(effect.low, signed=True),
            "high": number(effect.high, signed=True),
            "detectable": number(effect.detectable),
            "p": p_value(effect.p, number),
            "worse": p_value(effect.p_worse, number),
            "holm": p_value(_after_holm(effect.p_holm), number),
            "worse_holm": p_value(_after_holm(effect.p_worse_holm), number),
        }


def _headline(say: Speaker, reward: Contrast, alpha: float, configuration: Claim) -> str:
    key = {"supported": "better", "not supported": "adapters", "not assessable": "few seeds"}[configuration]
    if reward.overall.p >= alpha:
        key = "worse" if reward.overall.p_worse < alpha else "not shown"
    return say(key, reference=reward.reference)


def _sentences(
    say: Speaker, reward: Contrast, alpha: float, beside: Sequence[tuple[str, Contrast | None]], hacking: bool
) -> tuple[str, ...]:
    overall = say("overall", reward.overall, reference=reward.reference, decoding=say(reward.decoding))
    improved = reward.overall.p < alpha
    if not improved:
        overall += " " + say("drop" if reward.overall.p_worse < alpha else "unseen", reward.overall)
    said = [overall, _seed_sentence(say, reward, alpha)]
    said += _task_sentences(say, reward.tasks.items(), improved, alpha)
    said += [say(key, other.overall, name=other.arm, reference=other.reference) for key, other in beside if other]
    said += [say("hacking")] if hacking else []
    return tuple(said)


def _seed_sentence(say: Speaker, reward: Contrast, alpha: float) -> str:
    test = reward.configuration
    if test is None:
        return say("no seeds", seeds=str(len(reward.seeds)))
    return say(
        "seeds",
        mean=say.number(test.mean, signed=True),
        low=say.number(test.low, signed=True),
        high=say.number(test.high, signed=True),
        p=p_value(test.p, say.number),
        can=say("can" if test.p < alpha else "cannot"),
    )


def _task_sentences(say: Speaker, tasks: Iterable[tuple[str, Effect]], improved: bool, alpha: float) -> list[str]:
    said = []
    for task, effect in tasks:
        if improved and _after_holm(effect.p_holm) < alpha:
            key = "task better"
        elif _after_holm(effect.p_worse_holm) < alpha:
            key = "task worse"
        elif effect.p_worse < alpha:
            key = "task suspect"
        else:
            key = "task gain" if effect.gain >= 0 else "task drop"
        said.append(say(key, effect, task=task))
    return said
