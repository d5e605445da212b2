"""Relations between scores: each check passes for sound rewards and is red, by name and kind of prompt, for rewards that
break it.
"""

import json
import lzma
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from test_audit import Remembered, rating_set

from rewards import PromptLike, RewardSet, Score, load_reward_set
from tucano.audit.bench import Bench, Group, grouped
from tucano.audit.gate import MOST_WORDINGS
from tucano.audit.relations import table
from tucano.audit.relations.as_good import harmless_checks, kind_checks
from tucano.audit.relations.cases import MOST_OF_A_KIND, MOST_PLAIN, changed
from tucano.audit.relations.parts import _reaches, documented_lengths, part_checks
from tucano.audit.relations.sameness import sameness_checks
from tucano.audit.relations.table import PLAIN, TABLE, Row, read_table, stores
from tucano.audit.relations.worse import Cost, _worse_check, worse_checks
from tucano.audit.report import AuditCheck
from tucano.errors import UserError
from tucano.prompts import TASKS, Prompt, Task
from tucano.rating.ratings import RatedAnswer, read_ratings
from tucano.specs.extraction import FIELDS
from tucano.specs.objects import worse
from tucano.specs.texts import units_exchanged

__all__ = ["rating_set"]
Checks = Callable[[str, Bench, Sequence[Group], Sequence[Row]], list[AuditCheck]]


@dataclass
class Changed:
    """The grounded rewards of a text, and a prompt, that were changed before, with a score that is changed behind."""

    inner: RewardSet
    text: Callable[[str], str] = lambda text: text
    score_of: Callable[[Score, PromptLike], Score] = lambda score, prompt: score
    name: str = "grounded"

    def component_names(self, task: str) -> tuple[str, ...]:
        return self.inner.component_names(task)

    def component_weights(self, task: str) -> dict[str, float]:
        return self.inner.component_weights(task)

    def score(self, prompt: PromptLike, completion: str) -> Score:
        return self.score_of(Remembered(self.inner).score(prompt, self.text(completion)), prompt)


@dataclass
class KeptByNumber(Changed):
    """What was scored once is never scored again under the same number."""

    numbers: dict[tuple[str, str], Score] = field(default_factory=dict)

    def score(self, prompt: PromptLike, completion: str) -> Score:
        assert isinstance(prompt, Prompt)
        return self.numbers.setdefault((prompt.id, completion), self.inner.score(prompt, completion))


@dataclass
class Batched(Changed):
    """Its batches are in another order than its answer."""

    def score_batch(self, prompts: Sequence[PromptLike], completions: Sequence[str]) -> list[Score]:
        return [self.score(*pair) for pair in zip(prompts, sorted(completions), strict=True)]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return read_table()


@dataclass
class Rated:
    answers: list[RatedAnswer]
    sound: RewardSet
    rows: list[Row]


@pytest.fixture(scope="module")
def rated(rating_set: Path, rows: list[Row]) -> Iterator[Rated]:
    """A rating folder of one's own, with the committed table beside it."""
    with stores(rating_set) as databases:
        yield Rated(read_ratings(rating_set), load_reward_set("grounded", databases), rows)


def failed(checks: Checks, task: Task, rated: Rated, rewards: Changed | None = None, kind: str = "") -> dict[str, str]:
    """{name of each check that fails or warns: its message}; of the table the rows that hold such pairs, and no other
    pairs, if a kind is given."""
    bench = Bench(rewards or Changed(rated.sound))
    groups = grouped(bench, [answer for answer in rated.answers if answer.prompt.task == task])
    rows = [row for row in rated.rows if row.prompt.task == task]
    found = checks(task, bench, groups, [part for row in rows if (part := of_kind(row, kind))] if kind else rows)
    assert found and all(check.message.startswith(f"{task}: ") for check in found)
    return {check.name: check.message for check in found if not check.passed}


def of_kind(row: Row, kind: str) -> Row | None:
    worse, as_good = (
        [pair for pair in pairs if re.match(rf"{kind}(:|$)", pair[0])] for pairs in (row.worse, row.as_good)
    )
    return row.model_copy(update={"worse": worse, "as_good": as_good}) if worse or as_good else None


def same(task: str, bench: Bench, groups: Sequence[Group], rows: Sequence[Row]) -> list[AuditCheck]:
    return sameness_checks(task, bench, groups)


@pytest.mark.parametrize("checks", [worse_checks, harmless_checks, kind_checks, same])
def test_sound_rewards_pass_but_for_a_wording(checks: Checks, rated: Rated) -> None:
    assert len(failed(checks, "push", rated)) <= MOST_WORDINGS


def without(pattern: str, instead: str = "") -> Callable[[str], str]:
    return lambda text: re.sub(pattern, instead, text, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("task", "text", "name", "said"),
    [
        pytest.param("push", without(" com brinde surpresa"), "offer added", "a gift", id="an offer that is free"),
        pytest.param(
            "push", without("Estimado cliente", "Oi, cliente amigo"), "tone of a letter", "Estimado", id="a formal word"
        ),
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
    messages = failed(worse_checks, task, rated, Changed(rated.sound, text), name)
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

    messages = failed(harmless_checks, task, rated, harsh(rated.sound), name)
    assert said in messages[f"harmless: {name}"]


def halved(score: Score) -> Score:
    return Score(score.total / 2, {name: value / 2 for name, value in score.components.items()})


def test_the_kind_of_prompt_that_goes_wrong_is_named(rated: Rated) -> None:
    rewards = Changed(rated.sound, score_of=lambda score, prompt: halved(score) if prompt.stars is None else score)
    assert "in reviews without stars" in failed(kind_checks, "extraction", rated, rewards)["kinds of prompts"]
    rewards = Changed(rated.sound, score_of=lambda score, prompt: score if prompt.reference else halved(score))
    assert "of which nothing is known" in failed(kind_checks, "sql_qa", rated, rewards)["kinds of prompts"]


@pytest.mark.parametrize(("longest", "kind"), [(330, "in long reviews"), (1000, "in very long reviews")])
def test_rewards_that_read_no_long_review_are_found(longest: int, kind: str, rated: Rated) -> None:
    assert max(len(answer.prompt.user) for answer in rated.answers) < 330, "nobody rated an answer to one"
    rewards = Changed(rated.sound, score_of=lambda score, asked: halved(score) if len(asked.user) > longest else score)
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
    assert "nameless" in failed(same, "push", rated, KeptByNumber(rated.sound))


def test_a_batch_that_is_scored_in_another_order_is_found(rated: Rated) -> None:
    assert set(failed(same, "push", rated, Batched(rated.sound))) == {"batches"}


def with_part(name: str, change: Callable[[float], float]) -> Callable[[Score, PromptLike], Score]:
    def changed(score: Score, prompt: PromptLike) -> Score:
        parts = score.components | {name: change(score.components[name])}
        return Score(min(1.0, max(0.0, sum(parts.values()))), parts)

    return changed


def test_a_component_that_pays_for_bad_answers_is_named(rated: Rated) -> None:
    rewards = Changed(rated.sound, score_of=with_part("push.product", lambda value: 0.3 - value))
    assert "`push.product`" in failed(part_checks, "push", rated, rewards)["direction"]


def test_a_component_that_does_not_reach_its_weight_is_named(rated: Rated) -> None:
    rewards = Changed(rated.sound, score_of=with_part("push.length", lambda value: value * 0.8))

    def asked_last(task: Task, bench: Bench, groups: Sequence[Group], rows: Sequence[Row]) -> list[AuditCheck]:
        harmless_checks(task, bench, groups, rows)  # as in the audit, after good answers in many forms
        return part_checks(task, bench, groups, rows)

    assert "1 of 6 components" in failed(asked_last, "push", rated, rewards)["reach"]
    assert "`push.length` reaches 0.200 of 0.250" in failed(asked_last, "push", rated, rewards)["reach"]


def test_lengths_are_read_from_the_table_of_components(rated: Rated) -> None:
    assert documented_lengths(rated.sound, "push") == {"push.length": [120, 200]}
    assert documented_lengths(rated.sound, "insights") == {"insights.length": [1000, 1600]}
    assert documented_lengths(rated.sound, "sql_qa") == documented_lengths(object(), "push") == {}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(lambda text: text[:-20] if len(text) > 60 else text, id="twenty later"),
        pytest.param(lambda text: text + "." * 20, id="twenty sooner"),
        pytest.param(lambda text: text + "." * (len(text.encode()) - len(text)), id="bytes"),
    ],
)
def test_a_moved_length_is_found(text: Callable[[str], str], rated: Rated) -> None:
    assert {"length: 120", "length: 200"} <= failed(part_checks, "push", rated, Changed(rated.sound, text)).keys()
    assert not {"length: 120", "length: 200"} & failed(part_checks, "push", rated).keys()


def test_the_table_holds_pairs_of_two_texts_for_every_task_and_texts_of_documented_lengths(rows: list[Row]) -> None:
    assert {row.prompt.task for row in rows} == set(TASKS)
    pairs = [(pair[-2], pair[-1]) for row in rows for pair in (*row.worse, *row.as_good, *row.same)]
    assert len(pairs) > 30_000 and all(before != after for before, after in pairs)
    assert all(points >= 0 for row in rows for _, points, *_ in row.worse)
    sizes = Counter(len(text) for row in rows for texts in row.sized.values() for text in texts)
    assert min(sizes[length + step] for length in (100, 120, 200, 1000) for step in (-6, 0, 6)) > 10


def test_few_of_each_kind_are_changed_by_rules_and_own_prompts_too(rated: Rated, rows: list[Row]) -> None:
    groups = grouped(Bench(Changed(rated.sound)), [one for one in rated.answers if one.prompt.task == "extraction"])
    kinds = Counter(case.kinds[0] for case in changed(groups, rows) if case.made)
    assert kinds[PLAIN] == MOST_PLAIN and max(kinds[kind] for kind in kinds if kind != PLAIN) == MOST_OF_A_KIND
    alone = [case for case in changed(groups, []) if case.made]
    assert [case.prompt for case in alone] == [group.prompt for group in groups]


def test_what_is_known_of_another_prompt_is_worse_where_it_differs_most() -> None:
    truth = {"sentiment": "negative", "sentiment_score": 2}
    near, far = ({"sentiment": "negative", "sentiment_score": 1}, {"sentiment": "positive", "sentiment_score": 5})
    found = {kind: after for kind, _, _, after in worse(json.dumps(truth), truth, [truth, near, far], FIELDS)}
    assert json.loads(found["another review's facts"]) == far
    assert "two objects" not in {kind for kind, *_ in worse(json.dumps(truth), truth, [truth], FIELDS)}


ROW: dict[str, Any] = {
    "prompt": {
        "id": "push-mine", "task": "push", "user": "Crie um push: rede de algodão.", "template": "t", "source": "own",
        "licence": "none", "reference": {"product": "rede de algodão", "terms": ["rede"], "figures": []},
    },
    "worse": [["shouted", 1, "Sua rede espera por você!", "SUA REDE ESPERA POR VOCÊ!!!"]],
}  # fmt: skip


def test_a_row_is_added_without_code(tmp_path: Path, rows: list[Row], rated: Rated) -> None:
    path = Path(shutil.copy(TABLE, tmp_path))
    with lzma.open(path, "at", encoding="utf-8") as file:
        file.write(f"{json.dumps(ROW)}\n")
    *before, added = read_table(path)
    assert before == rows and added.prompt.reference["terms"] == ["rede"]
    bench = Bench(Changed(rated.sound, lambda text: text.lower()))
    (check,) = worse_checks("push", bench, [], [added])
    assert (check.name, check.passed, check.value) == ("degradation: shouted", False, 0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"prompts": {}}, "prompts: Extra inputs"),
        ({"worse": [["shouted", "one", "a", "b"]]}, "worse.0.1"),
        ({"kinds": []}, "kinds"),
        ({"prompt": {**ROW["prompt"], "reference": {"product": 5}}}, "prompt"),
    ],
)
def test_a_line_that_is_no_row_is_named(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.xz"
    path.write_bytes(lzma.compress(f"{json.dumps(ROW)}\n{json.dumps(ROW | change)}\n".encode()))
    with pytest.raises(UserError, match=rf"mine\.xz line 2 is not a row \({said}"):
        read_table(path)


def test_a_table_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST_BYTES", 2**20)
    path = tmp_path / "mine.xz"
    path.write_bytes(lzma.compress(bytes(2**21)))
    with pytest.raises(UserError, match="more than 1 MB"):
        read_table(path)


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
