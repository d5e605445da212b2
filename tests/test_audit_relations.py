"""Relations between scores: each check passes for sound rewards and is red, by name and kind of prompt, for rewards that
break it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from test_audit import rating_set

from rewards import PromptLike, RewardSet, Score, load_reward_set
from tucano.audit.bench import Bench, Group, grouped
from tucano.audit.gate import MOST_WORDINGS
from tucano.audit.relations.as_good import harmless_checks, kind_checks
from tucano.audit.relations.cases import PLAIN, spread
from tucano.audit.relations.parts import _reaches, documented_lengths, part_checks
from tucano.audit.relations.sameness import sameness_checks
from tucano.audit.relations.worse import Cost, _worse_check, worse_checks
from tucano.audit.report import AuditCheck
from tucano.prompts import Prompt, Task
from tucano.rating.ratings import RatedAnswer, read_ratings
from tucano.rating.store import rating_store
from tucano.specs.flaws.insights import kinds as insights
from tucano.specs.flaws.push import kinds as push
from tucano.specs.registry import spec_of
from tucano.specs.texts import units_exchanged

__all__ = ["rating_set"]
Checks = Callable[[str, Bench, Sequence[Group]], list[AuditCheck]]


@dataclass
class Changed:
    """The grounded rewards of a text, and a prompt, that were changed before, with a score that is changed behind."""

    inner: RewardSet
    text: Callable[[str], str] = lambda text: text
    score_of: Callable[[Score, PromptLike], Score] = lambda score, prompt: score
    name: str = "grounded"
    kept: dict[tuple[str, str], Score] = field(default_factory=dict)

    def component_names(self, task: str) -> tuple[str, ...]:
        return self.inner.component_names(task)

    def component_weights(self, task: str) -> dict[str, float]:
        return self.inner.component_weights(task)

    def score(self, prompt: PromptLike, completion: str) -> Score:
        return self.score_of(self.inner.score(prompt, self.text(completion)), prompt)


@dataclass
class KeptByNumber(Changed):
    """What was scored once is never scored again under the same number."""

    def score(self, prompt: PromptLike, completion: str) -> Score:
        assert isinstance(prompt, Prompt)
        return self.kept.setdefault((prompt.id, completion), self.inner.score(prompt, completion))


@dataclass
class Batched(Changed):
    """Its batches are in another order than its answer."""

    def score_batch(self, prompts: Sequence[PromptLike], completions: Sequence[str]) -> list[Score]:
        return [self.score(*pair) for pair in zip(prompts, sorted(completions), strict=True)]


@pytest.fixture(scope="module")
def rated(rating_set: Path) -> Iterator[tuple[list[RatedAnswer], RewardSet]]:
    with rating_store(rating_set) as databases:
        yield read_ratings(rating_set), load_reward_set("grounded", databases)


Rated = tuple[list[RatedAnswer], RewardSet]


def failed(checks: Checks, task: Task, rated: Rated, rewards: Changed | None = None) -> dict[str, str]:
    """{name of each check that fails or warns: its message}"""
    answers, sound = rated
    bench = Bench(rewards or Changed(sound))
    groups = grouped(bench, [answer for answer in answers if answer.prompt.task == task])
    found = checks(task, bench, groups)
    assert found and all(check.message.startswith(f"{task}: ") for check in found)
    return {check.name: check.message for check in found if not check.passed}


@pytest.mark.parametrize("task", ["extraction", "sql_qa", "insights", "push"])
@pytest.mark.parametrize("checks", [worse_checks, harmless_checks, kind_checks, sameness_checks])
def test_sound_rewards_pass_but_for_a_wording(checks: Checks, task: Task, rated: Rated) -> None:
    assert len(failed(checks, task, rated)) <= MOST_WORDINGS


def without(pattern: str, instead: str = "") -> Callable[[str], str]:
    return lambda text: re.sub(pattern, instead, text, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("task", "text", "name", "said"),
    [
        pytest.param("push", without(" com brinde surpresa"), "offer added", "a gift", id="an offer that is free"),
        pytest.param("push", without("Estimado", "Meu"), "tone of a letter", "Estimado", id="a formal word"),
        pytest.param(
            "insights", without(r"é de 37,4%", "é boa"), "figure invented", "figure invented: ", id="a false share"
        ),
        pytest.param("push", without(r"(\d+)%", r"R$ \1"), "wording with another unit", "{n}%", id="another unit"),
        pytest.param("insights", without(r"([a-z])([A-Z])", r"\1 \2"), "words run together", "one place", id="glued"),
        pytest.param("sql_qa", without(r"1\+COUNT", "COUNT"), "result off", "one more", id="one more"),
        pytest.param("sql_qa", without(r"1\.01\*"), "result off", "times 1.01", id="a hundredth more"),
        pytest.param("extraction", without(r"^[^{]*"), "talk around the object", "Segue", id="talk before"),
        pytest.param("extraction", without("neutral", "negative"), "sentiment wrong", "neutral", id="neutral"),
    ],
)
def test_a_flaw_that_is_free_is_named(
    task: Task, text: Callable[[str], str], name: str, said: str, rated: Rated
) -> None:
    messages = failed(worse_checks, task, rated, Changed(rated[1], text))
    assert said in messages[f"degradation: {name}"]


@pytest.mark.parametrize(
    ("task", "text", "name", "said"),
    [
        pytest.param("push", lambda text: text + "." * (len(text.encode()) - len(text)), "fills the screen", "accents", id="bytes"),
        pytest.param("push", lambda text: text + "." * 20 * (len(text) > 110), "fills the screen", "costs", id="twenty fewer"),
        pytest.param("sql_qa", without(r"COUNT\(1\)", "COUNT(1, 2)"), "form", "COUNT(1)", id="another count"),
        pytest.param("sql_qa", lambda text: text if "```sql" in text else "", "around it", "without", id="a fence is a must"),
        pytest.param("insights", without("15%", "15 %!"), "proposal", "15%", id="a proposal"),
        pytest.param("extraction", without("```", "x"), "layout", "fence", id="no fence"),
    ],
)  # fmt: skip
def test_a_change_that_nobody_minds_and_that_costs_is_named(
    task: Task, text: Callable[[str], str], name: str, said: str, rated: Rated
) -> None:
    def harsh(inner: RewardSet) -> Changed:
        if name != "proposal":
            return Changed(inner, text)
        return Changed(inner, lambda answer: answer if text(answer) == answer else "")

    messages = failed(harmless_checks, task, rated, harsh(rated[1]))
    assert said in messages[f"harmless: {name}"]


def halved(score: Score) -> Score:
    return Score(score.total / 2, {name: value / 2 for name, value in score.components.items()})


def test_the_kind_of_prompt_that_goes_wrong_is_named(rated: Rated) -> None:
    rewards = Changed(rated[1], score_of=lambda score, prompt: halved(score) if prompt.stars is None else score)
    assert "in reviews without stars" in failed(kind_checks, "extraction", rated, rewards)["kinds of prompts"]
    rewards = Changed(rated[1], score_of=lambda score, prompt: score if prompt.reference else halved(score))
    assert "of which nothing is known" in failed(kind_checks, "sql_qa", rated, rewards)["kinds of prompts"]


@pytest.mark.parametrize(("longest", "kind"), [(330, "in long reviews"), (1000, "in very long reviews")])
def test_rewards_that_read_no_long_review_are_found(longest: int, kind: str, rated: Rated) -> None:
    assert max(len(answer.prompt.user) for answer in rated[0]) < 330, "nobody rated an answer to one"
    rewards = Changed(rated[1], score_of=lambda score, asked: halved(score) if len(asked.user) > longest else score)
    assert kind in failed(kind_checks, "extraction", rated, rewards)["kinds of prompts"]


@pytest.mark.parametrize(
    ("text", "exchanged"),
    [
        ("Bola por R$ 284.", "Bola por 284%."),
        ("Bola por 1.284,90 reais!", "Bola por 1.284,90%!"),
        ("Atraso de 6,9% e 20 % OFF, 3 dias", "Atraso de R$ 6,9 e R$ 20 OFF, 3 dias"),
        ("Com 20 por cento a menos", "Com R$ 20 a menos"),
    ],
)
def test_units_are_exchanged_and_figures_stay(text: str, exchanged: str) -> None:
    assert units_exchanged(text) == exchanged


def test_a_score_that_is_kept_by_a_prompts_number_is_found(rated: Rated) -> None:
    assert "nameless" in failed(sameness_checks, "push", rated, KeptByNumber(rated[1]))


def test_a_batch_that_is_scored_in_another_order_is_found(rated: Rated) -> None:
    assert set(failed(sameness_checks, "push", rated, Batched(rated[1]))) == {"batches"}


def with_part(name: str, change: Callable[[float], float]) -> Callable[[Score, PromptLike], Score]:
    def changed(score: Score, prompt: PromptLike) -> Score:
        parts = score.components | {name: change(score.components[name])}
        return Score(min(1.0, max(0.0, sum(parts.values()))), parts)

    return changed


def test_a_component_that_pays_for_bad_answers_is_named(rated: Rated) -> None:
    rewards = Changed(rated[1], score_of=with_part("push.product", lambda value: 0.3 - value))
    assert "`push.product`" in failed(part_checks, "push", rated, rewards)["direction"]


def test_a_component_that_does_not_reach_its_weight_is_named(rated: Rated) -> None:
    rewards = Changed(rated[1], score_of=with_part("push.length", lambda value: value * 0.8))

    def asked_last(task: Task, bench: Bench, groups: Sequence[Group]) -> list[AuditCheck]:
        harmless_checks(task, bench, groups)  # as in the audit, after good answers in many forms
        return part_checks(task, bench, groups)

    assert "1 of 6 components" in failed(asked_last, "push", rated, rewards)["reach"]
    assert "`push.length` reaches 0.200 of 0.250" in failed(asked_last, "push", rated, rewards)["reach"]


def test_lengths_are_read_from_the_table_of_components(rated: Rated) -> None:
    assert documented_lengths(rated[1], "push") == {"push.length": [120, 200]}
    assert documented_lengths(rated[1], "insights") == {"insights.length": [100, 1000]}
    assert documented_lengths(rated[1], "sql_qa") == documented_lengths(object(), "push") == {}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(lambda text: text[:-20] if len(text) > 60 else text, id="twenty later"),
        pytest.param(lambda text: text + "." * 20, id="twenty sooner"),
        pytest.param(lambda text: text + "." * (len(text.encode()) - len(text)), id="bytes"),
    ],
)
def test_a_moved_length_is_found(text: Callable[[str], str], rated: Rated) -> None:
    assert {"length: 120", "length: 200"} <= failed(part_checks, "push", rated, Changed(rated[1], text)).keys()
    assert not {"length: 120", "length: 200"} & failed(part_checks, "push", rated).keys()


def test_texts_of_a_length_have_it() -> None:
    brief = Prompt(
        "p", "push", "Push para bola. Preço: R$ 215.", "t", "s", "l", None, {"product": "bola", "figures": [215]}
    )
    for characters in (114, 120, 126, 194, 200):
        written = push.sized(brief, characters)
        assert len(written) == 2 and any(written)
        assert {len(text) for texts in written for text in texts} == {characters}


def test_prompts_of_every_kind_come_first() -> None:
    def asked(number: int, sentiment: str) -> Prompt:
        return Prompt(str(number), "extraction", "x", "t", "s", "l", 3, {"fields": {"sentiment": sentiment}})

    prompts = [asked(number, "negative") for number in range(9)] + [asked(9, "neutral")]
    assert [prompt.id for prompt in spread(prompts, 3)] == ["0", "1", "9"]
    assert spread(prompts, 99) == prompts


@pytest.mark.parametrize(
    ("value", "unit", "written"),
    [(6.9, "%", "6,9%"), (192.0, "R$", "R$ 192"), (94668.0, "R$", "R$ 94.668"), (42.08, "R$", "R$ 42,08"), (2.4, "", "2,4")],
)  # fmt: skip
def test_figures_are_written_as_in_a_report(value: float, unit: str, written: str) -> None:
    assert insights.shown(value, unit) == written


def test_variants_leave_a_faultless_answer_faultless(rated: Rated) -> None:
    answers, _ = rated
    for prompt in {answer.prompt.id: answer.prompt for answer in answers}.values():
        for _, variant in spec_of(prompt.task).variants(prompt):
            assert variant.task == prompt.task and variant.id == prompt.id
            assert variant != replace(prompt)


@pytest.mark.parametrize(
    ("value", "weight", "reaches"), [(0.3, 0.3, True), (0.1, 0.3, False), (0.31, 0.3, False), (0.0, 0.0, True)]
)
def test_a_component_reaches_its_weight_and_no_more(value: float, weight: float, reaches: bool) -> None:
    assert _reaches(value, weight) == reaches


def test_a_variant_that_few_answers_have_closes_no_gate_and_four_do() -> None:
    """It costs enough in the mean, and too little in every other answer."""

    def check(pairs: int) -> AuditCheck:
        usual, dear, cheap = (
            Cost(name, (PLAIN,), cost, 0.10, True) for name, cost in (("u", 0.3), ("r", 0.5), ("r", 0.05))
        )
        return _worse_check("push", "some flaw", [usual] * 20 + [dear, cheap] * pairs)

    assert check(1).passed
    assert not check(2).passed and "50% of 4 cases" in check(2).message
