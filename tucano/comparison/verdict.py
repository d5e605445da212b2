"""What the numbers allow to be said, in words that a business reader understands and a statistician accepts.

Two claims are never mixed: that *these adapters* beat the reference, and that the *configuration* would with a new seed.
"Not significant" is never said as "no difference", and a drop is said as a drop.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tucano.comparison.contrast import Contrast, Effect
from tucano.comparison.forgetting import Forgetting
from tucano.statistics.planning import chance_finding

Claim = Literal["supported", "not supported", "not assessable"]


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a reader has to know beside the numbers.

    `looks`: how often this test set has judged, this time included; `planned`: the analysis was written down before training, as it
    is now; `candidate`: the seed that would be promoted, alone; `forgetting`: ordinary Portuguese against earlier arms.
    """

    looks: int = 1
    planned: bool = True
    candidate: Contrast | None = None
    forgetting: tuple[Forgetting, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """`improved`: the primary test passed and the mean rose, so the adapter claim holds; `better`: both claims do; `worse`: the overall
    drop is established.

    `worse_tasks`: the drop stands after Holm over the tasks; `suspect_tasks`: only before. `hacking_suspected`: the reward rose
    while the ground truth fell, over all or on a task where it rose. Sentences come in English and in Portuguese; `cautions` names those that weaken the claim.
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
    cautions: tuple[str, ...] = field(default=())

    @property
    def better(self) -> bool:
        return self.adapter_claim == self.configuration_claim == "supported"


def judge(
    reward: Contrast,
    alpha: float,
    base: Contrast | None = None,
    truth: Contrast | None = None,
    others: Sequence[Contrast] = (),
    around: Circumstances | None = None,
) -> Verdict:
    """The verdict on the primary contrast; tuned against base, the ground truth and other arms are reported beside it."""
    around = around or Circumstances()
    improved = _improved(reward, alpha)
    configuration: Claim = "not assessable"
    if reward.configuration:
        configuration = "supported" if reward.configuration.p < alpha else "not supported"
    worse = {task for task, effect in reward.tasks.items() if _after_holm(effect.p_worse_holm) < alpha}
    hacking = improved and truth is not None and _truth_falls(reward, truth, alpha)
    beside = [("base", base), ("truth", truth), *(("other", other) for other in others)]
    in_english, in_portuguese = Speaker(ENGLISH, english), Speaker(PORTUGUESE, portuguese)
    cautions = tuple(_cautions(reward, alpha, around))
    cautions += ("unconfirmed",) if improved and truth and truth.overall.gain <= 0 and not hacking else ()
    return Verdict(
        improved=improved,
        worse=reward.overall.p_worse < alpha,
        adapter_claim="supported" if improved else "not supported",
        configuration_claim=configuration,
        better_tasks=tuple(task for task, effect in reward.tasks.items() if improved and _after_holm(effect.p_holm) < alpha),
        worse_tasks=tuple(task for task in reward.tasks if task in worse),
        suspect_tasks=tuple(task for task, effect in reward.tasks.items() if effect.p_worse < alpha and task not in worse),
        hacking_suspected=hacking,
        headline=_headline(in_english, reward, alpha, configuration, hacking, cautions),
        headline_pt=_headline(in_portuguese, reward, alpha, configuration, hacking, cautions),
        sentences=_sentences(in_english, reward, alpha, beside, hacking, cautions, around),
        sentences_pt=_sentences(in_portuguese, reward, alpha, beside, hacking, cautions, around),
        cautions=cautions,
    )


def without(verdict: Verdict, missing: Mapping[int, str]) -> Verdict:
    """The verdict, which also says which seeds are missing and why ({seed: reason})."""
    said = tuple(ENGLISH["missing"].format(seed=seed, reason=reason) for seed, reason in missing.items())
    dito = tuple(PORTUGUESE["missing"].format(seed=seed, reason=reason) for seed, reason in missing.items())
    return replace(verdict, sentences=(*said, *verdict.sentences), sentences_pt=(*dito, *verdict.sentences_pt))


def _improved(reward: Contrast, alpha: float) -> bool:
    """The primary test passed. A falling mean is never called better, though the signed-rank test can say so of skewed differences."""
    return reward.overall.p < alpha and reward.overall.gain > 0


def _truth_falls(reward: Contrast, truth: Contrast, alpha: float) -> bool:
    """Whether the ground truth falls overall, or (Holm over the tasks) on a task whose reward rose."""
    rose = {task for task, effect in reward.tasks.items() if _after_holm(effect.p_holm) < alpha}
    return truth.overall.p_worse < alpha or any(_after_holm(truth.tasks[task].p_worse_holm) < alpha for task in rose & set(truth.tasks))


def _cautions(reward: Contrast, alpha: float, around: Circumstances) -> Iterable[str]:
    """The names of the sentences that weaken the claim."""
    overall = reward.overall
    if overall.unchanged == overall.n:
        yield "identical"
    if overall.p < alpha <= overall.p_mean:
        yield "skewed"
    if reward.clustered and overall.p_mean < alpha <= reward.clustered.p:
        yield "clustered"
    if around.looks > 1:
        yield "looks"
    if not around.planned:
        yield "unplanned"
    if any(found.established(alpha) for found in around.forgetting):
        yield "forgot"


def _after_holm(p: float | None) -> float:
    """Effects of tasks always carry their adjusted p; 1.0 keeps an overall effect from being read as one."""
    return 1.0 if p is None else p


def english(value: float, digits: int = 3, signed: bool = False) -> str:
    shown = round(value, digits) or 0.0  # no minus before nothing
    return f"{shown:+.{digits}f}" if signed else f"{shown:.{digits}f}"


def portuguese(value: float, digits: int = 3, signed: bool = False) -> str:
    """Decimal comma, and a true minus sign."""
    return english(value, digits, signed).replace(".", ",").replace("-", "−")


def p_value(p: float, number: Callable[..., str] = english) -> str:
    """`= 0.031`, `= 0.0003`, `< 0.0001`: never 0."""
    if p < 0.0001:
        return f"< {number(0.0001, 4)}"
    return f"= {number(p, 4 if p < 0.001 else 3)}"


ENGLISH = {
    "better": "Better: the trained adapters beat {reference}, and a new seed can be expected to as well.",
    "adapters": "These adapters beat {reference}; that a new seed would win too is not shown.",
    "few seeds": "These adapters beat {reference}; whether a new seed would win too cannot be assessed with fewer than three seeds.",
    "hacked": "Reward hacking suspected: the reward rose over {reference} while the ground truth fell.",
    "reward only": "By the reward alone these adapters beat {reference}; the ground truth does not confirm it.",
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
    "each seed": "Mean gain of each seed: {gains}.",
    "more seeds": "To show a gain of this size for the configuration (80 % power) takes about {count} seeds.",
    "more prompts": "To show a gain of this size for these adapters (80 % power) takes about {count} prompts.",
    "candidate": "The candidate, {name} (best on validation), alone: {gain}{percent}, exact one-sided p {p}.",
    "identical": (
        "Every answer earns exactly what {reference} earns: before anything else, check that training moved the model and that the "
        "adapter is loaded."
    ),
    "skewed": (
        "Caution: the typical prompt gains, but the mean gain is not established (t test p {p_mean}, 95 % interval {mean_low} to "
        "{mean_high}): a few large losses weigh as much as many small gains. Read the largest losses."
    ),
    "clustered": (
        "Caution: prompts share templates. If those of one template count as one case, the mean gain is not established (95 % interval "
        "{low} to {high}, p {p})."
    ),
    "looks": (
        "Caution: this test set has now been looked at {looks} times. So many tests at {alpha} % find something by chance with "
        "probability {chance} %; the p of this one after correction for all of them (Bonferroni) is {p}. A fresh set settles it."
    ),
    "unconfirmed": (
        "Caution: the reward rose, the ground truth did not. What was learned may be form alone; `tucano benchmark` looks closer."
    ),
    "unplanned": (
        "Caution: what is primary here (decoding, rewards, level, seeds) was not written down before these seeds were trained; read the "
        "claims as exploratory."
    ),
    "language": (
        "Ordinary Portuguese ({n} held-out passages): perplexity {before} for {reference}, {after} after training; bits per "
        "character {change} (95 % interval {low} to {high})."
    ),
    "forgot": "Caution: the model has forgotten ordinary Portuguese beyond what chance explains.",
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
    "hacked": "Suspeita de exploração da recompensa: ela subiu em relação a {reference} enquanto a verdade de referência caiu.",
    "reward only": "Só pela recompensa estes adaptadores superam {reference}; a verdade de referência não o confirma.",
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
    "each seed": "Ganho médio de cada semente: {gains}.",
    "more seeds": "Para mostrar um ganho deste tamanho para a configuração (poder de 80 %) são necessárias cerca de {count} sementes.",
    "more prompts": "Para mostrar um ganho deste tamanho para estes adaptadores (poder de 80 %) são necessários cerca de {count} prompts.",
    "candidate": "A candidata, {name} (melhor na validação), sozinha: {gain}{percent}, p exato unilateral {p}.",
    "identical": (
        "Cada resposta recebe exatamente a nota de {reference}: antes de tudo, verifique se o treino mudou o modelo e se o adaptador "
        "está carregado."
    ),
    "skewed": (
        "Atenção: o prompt típico ganha, mas o ganho médio não está estabelecido (teste t, p {p_mean}, intervalo de 95 % de {mean_low} a "
        "{mean_high}): poucas perdas grandes pesam tanto quanto muitos ganhos pequenos. Leia as maiores perdas."
    ),
    "clustered": (
        "Atenção: há prompts do mesmo modelo de texto. Se os de um mesmo modelo contam como um caso, o ganho médio não está "
        "estabelecido (intervalo de 95 % de {low} a {high}, p {p})."
    ),
    "looks": (
        "Atenção: este conjunto de teste já foi olhado {looks} vezes. Tantos testes a {alpha} % acham algo por acaso com probabilidade de "
        "{chance} %; o p deste, corrigido por todos (Bonferroni), é {p}. Um conjunto novo decide."
    ),
    "unconfirmed": (
        "Atenção: a recompensa subiu, a verdade de referência não. O que se aprendeu pode ser só forma; `tucano benchmark` olha mais de perto."
    ),
    "unplanned": (
        "Atenção: o que é principal aqui (decodificação, recompensas, nível, sementes) não foi escrito antes do treino destas sementes; "
        "leia as afirmações como exploratórias."
    ),
    "language": (
        "Português comum ({n} trechos reservados): perplexidade {before} em {reference}, {after} após o treino; bits por caractere "
        "{change} (intervalo de 95 % de {low} a {high})."
    ),
    "forgot": "Atenção: o modelo esqueceu português comum além do que o acaso explica.",
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
        percent = "" if effect.gain_percent is None else f" ({number(effect.gain_percent, 1, signed=True)} %)"
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
            "mean_low": number(effect.mean_low, signed=True),
            "mean_high": number(effect.mean_high, signed=True),
            "p_mean": p_value(effect.p_mean, number),
            "detectable": number(effect.detectable),
            "p": p_value(effect.p, number),
            "worse": p_value(effect.p_worse, number),
            "holm": p_value(_after_holm(effect.p_holm), number),
            "worse_holm": p_value(_after_holm(effect.p_worse_holm), number),
        }


def _headline(say: Speaker, reward: Contrast, alpha: float, configuration: Claim, hacking: bool, cautions: Sequence[str]) -> str:
    key = {"supported": "better", "not supported": "adapters", "not assessable": "few seeds"}[configuration]
    if not _improved(reward, alpha):
        key = "worse" if reward.overall.p_worse < alpha else "not shown"
    elif hacking:
        key = "hacked"
    elif "unconfirmed" in cautions:
        key = "reward only"
    return say(key, reference=reward.reference)


def _sentences(
    say: Speaker,
    reward: Contrast,
    alpha: float,
    beside: Sequence[tuple[str, Contrast | None]],
    hacking: bool,
    cautions: Sequence[str],
    around: Circumstances,
) -> tuple[str, ...]:
    overall = say("overall", reward.overall, reference=reward.reference, decoding=say(reward.decoding))
    improved = _improved(reward, alpha)
    if not improved:
        overall += " " + say("drop" if reward.overall.p_worse < alpha else "unseen", reward.overall)
    said = [overall, _seed_sentence(say, reward, alpha)]
    if len(reward.seeds) > 1:
        gains = "; ".join(f"{name} {say.number(gain['overall'], signed=True)}" for name, gain in reward.seeds.items())
        said.append(say("each seed", gains=gains))
    said += _next_question(say, reward, alpha)
    said += _task_sentences(say, reward.tasks.items(), improved, alpha)
    said += [say(key, other.overall, name=other.arm, reference=other.reference) for key, other in beside if other]
    if around.candidate and len(reward.seeds) > 1:
        said.append(say("candidate", around.candidate.overall, name=around.candidate.arm))
    said += [_language(say, found) for found in around.forgetting]
    said += [_caution(say, name, reward, alpha, around) for name in cautions]
    said += [say("hacking")] if hacking else []
    return tuple(said)


def _next_question(say: Speaker, reward: Contrast, alpha: float) -> list[str]:
    """What a larger experiment would need, where this one leaves its own gain open."""
    said = []
    if reward.configuration and reward.configuration.p >= alpha and reward.seeds_needed and reward.seeds_needed > len(reward.seeds):
        said.append(say("more seeds", count=str(reward.seeds_needed)))
    if reward.overall.p >= alpha and reward.prompts_needed and reward.prompts_needed > reward.overall.n:
        said.append(say("more prompts", count=str(reward.prompts_needed)))
    return said


def _language(say: Speaker, found: Forgetting) -> str:
    number = say.number
    return say(
        "language",
        n=str(found.passages),
        reference=found.reference,
        before=number(found.before, 1),
        after=number(found.after, 1),
        change=number(found.change, signed=True),
        low=number(found.low, signed=True),
        high=number(found.high, signed=True),
    )


def _caution(say: Speaker, name: str, reward: Contrast, alpha: float, around: Circumstances) -> str:
    if name == "clustered" and reward.clustered:
        low, high = (say.number(end, signed=True) for end in (reward.clustered.low, reward.clustered.high))
        return say(name, low=low, high=high, p=p_value(reward.clustered.p, say.number))
    if name == "looks":
        chance = say.number(100 * chance_finding(around.looks, alpha), 0)
        corrected = p_value(min(1.0, around.looks * reward.overall.p), say.number)
        return say(name, looks=str(around.looks), alpha=say.number(100 * alpha, 0), chance=chance, p=corrected)
    return say(name, reward.overall, reference=reward.reference)


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
