"""The learned judge: its trees are scikit-learn's, its file is data, and what it learns from ratings can be trusted."""

import json
import lzma
import math
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from tucano.cli import main as cli
from tucano.errors import UserError
from tucano.files.prompts import PromptFiles
from tucano.judging import command, fit
from tucano.judging.examples import GENERATED, Example, directions, of_task
from tucano.judging.fit import fitted, judge_of, learning_curve, lineage, trust, trusts, write, written
from tucano.rating.table import read_tones
from tucano.truth import truth
from tucano.truth.explain import reasons
from tucano.truth.facts import MEANING as OF_TEXT
from tucano.truth.judge import FILE, JUDGED, Judge, committed, digest, judges, own_judges, read_judges

TREE: list[list[Any]] = [[0, -1, -1], [0.5, 0.2, 0.8], [1, 0, 0], [2, 0, 0], [1, 0, 0]]
LINEAGE = {"answers": 60, "tones": ["uma"], "trust": [["uma", 60, 0.5, 0.4, 0.6, math.nan, 0.1]]}


def made(tone: str, count: int = 80) -> list[Example]:
    """Answers that raters like the more of their product they name, and the less is invented."""
    rng = np.random.default_rng(list(tone.encode()))
    found = []
    for number in range(count):
        named, invented = rng.uniform(), float(rng.integers(0, 3))
        told = {name: float(rng.normal()) for name in committed()["push"].facts} | {
            "stands": 1.0, "known words": 0.9, "figures": 2.0, "words": 3.0, "characters": 4.0, "said twice": 0.0,
            "variety of threes": 1.0, "product whole": named, "offers invented": invented,
        }  # fmt: skip
        rating = min(1.0, max(0.0, named - 0.4 * invented + 0.3))
        found.append(Example("push", told, rating, f"{tone}/{number // 3}", tone))
    return found


def test_the_trees_give_what_scikit_learn_gives_with_facts_that_are_unknown_too() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(300, 4))
    values[rng.uniform(size=values.shape) < 0.1] = math.nan
    ratings = np.clip(np.nan_to_num(values[:, 0]) / 4 + 0.5, 0, 1)
    model = fitted(values, ratings, np.ones(300), [1, 0, 0, -1])
    whole = {"facts": list("abcd"), **written(model), "slope": 1.0, "offset": 0.0, "lineage": LINEAGE}
    data = lzma.compress(json.dumps({"form": 1, "tasks": {"push": whole}}).encode())
    read = read_judges(data)["push"]
    expected = np.clip(model.predict(values), 0, 1)
    found = [read.rating(dict(zip("abcd", row, strict=True))) for row in values]
    assert found == pytest.approx(expected.tolist(), abs=1e-6)
    assert read.value(dict(zip("abcd", values[0], strict=True))) == pytest.approx(
        (expected[0] + 1 / (1 + math.exp(-expected[0]))) / 2, abs=1e-6
    )


def file_of(**change: Any) -> bytes:
    whole = {"facts": ["a"], "trees": [TREE], "start": 0.0, "slope": 1.0, "offset": 0.0, "lineage": LINEAGE} | change
    return lzma.compress(json.dumps({"form": 1, "tasks": {"push": whole}}).encode())


def test_a_file_is_data_and_bounded() -> None:
    assert read_judges(file_of())["push"].rating({"a": 0.4}) == pytest.approx(0.2)
    for tree in (
        [[0], [0.5], [0], [0], [0]],  # leads back to itself
        [[7, -1, -1], [0.5, 0, 0], [1, 0, 0], [2, 0, 0], [1, 0, 0]],  # a fact that there is not
        [[0, -1], [0.5, 0], [1, 0], [9, 0], [1, 0]],  # beyond its end
    ):
        with pytest.raises(ValueError, match="do not lead to a leaf"):
            read_judges(file_of(trees=[tree]))
    with pytest.raises(ValueError, match="form"):
        read_judges(lzma.compress(b'{"form": 2, "tasks": {}}'))


def test_a_judge_beside_the_prompts_is_asked_and_those_that_come_along_for_other_tasks(tmp_path: Path) -> None:
    by_task = {answer.prompt.task: answer for answer in read_tones()["vinhos"] if answer.rating == 5}
    push, insights = by_task["push"], by_task["insights"]
    nothing = {"facts": ["words"], "trees": [], "start": 0.0, "offset": -50.0}  # whatever is said, it earns nothing
    PromptFiles(tmp_path).judge.write_bytes(file_of(**nothing))
    assert truth(push.prompt, push.completion) > 0.5  # type: ignore[operator]
    assert truth(push.prompt, push.completion, tmp_path) == 0.0
    said = reasons(push.prompt, push.completion, tmp_path, 5)
    assert said is not None and said.judged == pytest.approx(0.0)
    assert truth(insights.prompt, insights.completion, tmp_path) == truth(insights.prompt, insights.completion)


def test_what_a_judge_does_not_know_is_said_with_its_reasons() -> None:
    push = next(answer for answer in read_tones()["vinhos"] if answer.prompt.task == "push" and answer.rating == 5)
    foreign = reasons(push.prompt, "Only this weekend: our finest bottles, delivered to your doorstep!", None, 5)
    known = reasons(push.prompt, push.completion, None, 5)
    assert foreign is not None and not foreign.known
    assert known is not None and known.known


def test_a_judge_of_facts_that_nobody_tells_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(file_of())
    with pytest.raises(ValueError, match="a judge of push that asks for 'a', which is not told"):
        own_judges(tmp_path / "x")
    (tmp_path / "x").write_bytes(lzma.compress(lzma.decompress(FINE).replace(b"push", b"churn")))
    with pytest.raises(ValueError, match="a judge of 'churn', where extraction"):
        own_judges(tmp_path / "x")


@pytest.fixture
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 250: the trees that come first say nearly all of it, and each takes as long."""
    monkeypatch.setattr(fit, "HistGradientBoostingRegressor", partial(cut, HistGradientBoostingRegressor))


def cut(model: Any, max_iter: int, **more: Any) -> Any:
    return model(max_iter=max_iter // 6, **more)


@pytest.mark.usefixtures("few_trees")
def test_a_judge_learns_what_raters_like_and_finds_it_in_a_tone_that_it_has_not_seen(tmp_path: Path) -> None:
    learned = [*made("uma"), *made("outra"), *made(GENERATED)]
    whole, judged = judge_of(learned)
    fresh = made("nova")
    told = trust("nova", fresh, judged(fresh))
    assert told.rho > 0.85 and told.low < told.rho < told.high and told.good > 0.45 and told.poor < 0.1
    trusted = trusts(learned)
    assert [one.tone for one in trusted] == ["outra", "uma"]
    path = tmp_path / "judge.json.xz"
    known = {**whole, "lineage": lineage(learned, trusted)}
    assert write({"push": known}, path) == write({"push": known}, path)  # the same bytes
    again = read_judges(path.read_bytes())["push"]
    values = [again.value(one.told) * of_task("push").exact(one.told) for one in fresh]
    assert values == pytest.approx(judged(fresh).tolist(), abs=1e-6)


@pytest.mark.usefixtures("few_trees")
def test_more_ratings_help() -> None:
    curve = learning_curve([*made("uma"), *made("outra")], [30, 80])
    assert curve[80] > curve[30]


def test_no_answer_gains_by_a_fact_that_guards() -> None:
    found = judges(None)["push"]
    told = dict.fromkeys(found.facts, 0.0) | {"product": 1.0, "product whole": 1.0, "stands": 1.0}
    for name, way in zip(found.facts, directions("push", found.facts), strict=True):
        if way:
            values = [found.value(told | {name: told[name] + way * step}) for step in (0.0, 0.5, 1.0, 3.0, 50.0)]
            assert values == sorted(values), name


@pytest.mark.parametrize("task", JUDGED)
def test_every_fact_has_a_meaning_and_the_judge_reads_it(task: str) -> None:
    known = {**OF_TEXT, **of_task(task).MEANING}
    if task in ("push", "insights"):
        from tucano.truth.contexts import MEANING

        known |= MEANING
    assert set(committed()[task].facts) == set(known)
    assert set(of_task(task).RISING | of_task(task).FALLING) <= set(known)


def test_the_committed_judge_was_learned_from_the_committed_ratings() -> None:
    tones = read_tones()
    assert len(tones) >= 16 and all(len(answers) == 180 for answers in tones.values())
    for task in ("extraction", "insights", "push"):
        told = committed()[task].lineage
        assert set(told.tones) == {*tones, GENERATED}
        rhos = [row[2] for row in told.trust]
        assert min(rhos) > 0.5 and sum(rhos) / len(rhos) > 0.7
    assert len(digest()) == 16


@pytest.mark.parametrize(
    "text",
    [
        "Our leather bag is on sale until Sunday, grab yours before it is gone!",
        "La borsa di pelle è in offerta fino a domenica, approfittane prima che finisca.",
        "Die Ledertasche ist bis Sonntag reduziert, greifen Sie schnell zu.",
    ],
)
def test_the_judge_says_of_another_language_that_it_does_not_know(text: str) -> None:
    found: Judge = judges(None)["push"]
    assert not found.knows({"known words": text_facts_of(text)})
    assert found.knows({"known words": text_facts_of("A bolsa de couro está com desconto até domingo, aproveite!")})


def text_facts_of(text: str) -> float:
    from tucano.truth.facts import text_facts

    return text_facts("", text, text)["known words"]


def test_the_command_shows_what_is_learned_and_refuses_what_is_no_file_of_judges(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command._show(None) == 0
    assert "push: learned from " in capsys.readouterr().out
    (tmp_path / "mine").write_bytes(files("tucano.truth").joinpath(FILE).read_bytes())
    assert command._show(tmp_path / "mine") == 0 and digest() in capsys.readouterr().out
    (tmp_path / "x").write_text("nothing", encoding="utf-8")
    with pytest.raises(UserError, match="holds no judges"):
        command._show(tmp_path / "x")
    with pytest.raises(UserError, match="cannot be written"):
        command._fit([], tmp_path / "none" / "judge.json.xz", False)
    with pytest.raises(UserError, match="holds no judges"):
        command._fit([], tmp_path / "x", False)
    assert (tmp_path / "x").read_text(encoding="utf-8") == "nothing" and "judge" in cli.COMMANDS


def test_own_ratings_of_any_task_are_read_and_a_query_that_does_not_run_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rated classifications have no judge: they had ended the command in a traceback."""
    line: dict[str, Any] = {
        "prompt": {
            "id": "p", "task": "sentiment", "user": "Gostei.", "template": "t", "source": "jsonl", "licence": "CC0-1.0",
            "reference": {"fields": {"sentiment": "positive", "sentiment_score": 5}},
        },
        "completion": "{}", "origin": "written", "rating": 1, "rater": "ana", "rater_kind": "human",
    }  # fmt: skip
    push = {**line, "prompt": {**line["prompt"], "id": "q", "task": "push", "reference": {"product": "bolsa"}}}
    file = tmp_path / "ratings.jsonl"
    file.write_text(f"{json.dumps(line)}\n{json.dumps(push)}\n", encoding="utf-8")
    (only,) = command._own(tmp_path)
    assert "1 of 2 rated answers teach no judge" in capsys.readouterr().err
    assert (only.task, only.rating, only.weight) == ("push", 0.0, 1.0)
    assert only.tone == f"own: {tmp_path.name}"  # a folder called like a shipped tone stays one of its own
    query = {"sql": "SELECT 1 FROM none", "database": "store.sqlite"}
    file.write_text(json.dumps({**line, "prompt": {**line["prompt"], "task": "sql_qa", "reference": query}}), "utf-8")
    with pytest.raises(UserError, match=tmp_path.name):
        command._own(tmp_path)


WHOLES = (b"[]", b"3", b'{"form": 1}', b'{"form": 1, "tasks": {}}', b'{"form": 1, "tasks": {"push": 3}}', b"[" * 5000)
CHANGES: tuple[dict[str, Any], ...] = (
    {"offset": -1000.0},  # no power of it is a number
    {"slope": math.nan},
    {"start": math.inf},
    {"start": 10**400},
    {"lineage": {}},
    {"trees": [[[], [], [], [], []]]},
    {"trees": [[TREE[0], [0.5], *TREE[2:]]]},
    {"trees": [[TREE[0], [0.5, "a", 0.8], *TREE[2:]]]},
    {"trees": [[TREE[0], [0.5, math.nan, 0.8], *TREE[2:]]]},
    {"trees": [[*TREE[:2], [1.0, 0, 0], *TREE[3:]]]},
)
FINE = file_of(facts=["words"])
TORN = (FINE[:-20], FINE + b"more", lzma.compress(lzma.decompress(FINE) + b" " * 2**25))


@pytest.mark.parametrize(
    "content",
    [*map(lzma.compress, WHOLES), *(file_of(facts=["words"], **change) for change in CHANGES), *TORN],
    ids=lambda content: f"{len(content)} bytes",
)
def test_a_file_of_a_stranger_is_one_sentence(content: bytes, tmp_path: Path) -> None:
    """What cannot be asked is refused when it is read, not at an answer in the midst of a run."""
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(UserError, match="holds no judges"):
        command._show(tmp_path / "x")
