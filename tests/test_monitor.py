"""Watching what is served: tests that may be looked at every day, a log that anybody may have written, one alarm."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, cast

import numpy as np
import pytest
from own_rows import insight, push
from storages import made

from benchmarks import monitor_alarms
from rewards import load_reward_set
from tucano.comparison.answers import Answer
from tucano.comparison.promotion import CHALLENGER, CHAMPION, HeldOut, Standing, noninferiority_bound, standing
from tucano.errors import UserError
from tucano.files.prompts import PromptFiles
from tucano.files.results import AnswerFiles
from tucano.monitoring import watch
from tucano.monitoring.alarms import read_alarm, taken
from tucano.monitoring.command import _advice
from tucano.monitoring.log import LONGEST_LINE, read_log, read_references
from tucano.monitoring.quantities import FLOOR, REWARD, TRUTH, Look, quantities
from tucano.monitoring.state import FILE, FOLDER, read_state
from tucano.monitoring.table import headline, lines_of
from tucano.monitoring.watch import Seen, look
from tucano.profiles import validated
from tucano.prompts import Prompt, Task, write_prompts
from tucano.serving.request_log import FOLDER as SERVING
from tucano.settings.promotion import PromotionSettings
from tucano.statistics.sequential import BETS, Mean, binned, counted, falling, ranks, unusual, wagered
from tucano.tracking import RegisteredModel, Tracker
from tucano.truth import truth
from tucano.truth.judge import FILE as JUDGES

GOOD = "Aproveite a nossa oferta: frete grátis só hoje."
BAD = "x"
OF_PUSH = {"product": "fone", "facts": []}
"""The reference that comes back for a push."""


# the tests


def test_a_rank_is_the_place_among_all_before_and_itself() -> None:
    seen = counted(binned([0.1, 0.2, 0.2, 0.9]))[None, :]
    found = ranks(seen, binned([0.2, 0.2, 0.05])[None, :], np.array([[0.5, 0.5, 0.0]]))
    # 1 smaller and 3 equal of 5; then 1 smaller and 4 equal of 6; then nobody smaller
    assert found.tolist() == [[pytest.approx((1 + 0.5 * 3) / 5), pytest.approx((1 + 0.5 * 4) / 6), 0.0]]


def test_half_of_the_stake_is_bet_in_the_first_look_and_a_sixth_in_the_second() -> None:
    returns = np.array([[[1.5, 2.0], [0.5, 0.5]]])
    stakes, highest = wagered(np.zeros((1, 2)), 1, returns)
    assert stakes.tolist() == [[0.25 * 3, 0.25 * 0.25]]
    assert highest.tolist() == [0.5 + 0.75 + 0.0625]
    again, _ = wagered(stakes, 2, np.ones((1, 2, 1)))
    assert again.tolist() == [[pytest.approx(0.75 + 1 / 12), pytest.approx(0.0625 + 1 / 12)]]


def test_no_bet_can_be_lost_whole_and_a_fair_one_returns_itself() -> None:
    uniform = np.linspace(0, 1, 101)[None, :]
    assert unusual(uniform).min() > 0 and unusual(uniform).mean(axis=2) == pytest.approx(1)
    assert falling(np.array([[0.0, 1.0]]), 0.5).min() > 0
    assert falling(np.array([[0.4, 0.6]]), 0.5).mean(axis=2) == pytest.approx(1)
    assert unusual(uniform).shape[1] == 2 * len(BETS)


def test_the_interval_holds_at_all_looks_together() -> None:
    random = np.random.default_rng(3)
    missed = 0
    for _ in range(100):
        mean, values = Mean(), list(random.beta(2, 3, 60))
        inside = [low <= 0.4 <= high for value in values for _, low, high in (mean.add([value]).interval,)]
        missed += not all(inside)
    assert missed <= 5
    _, low, high = Mean().add(list(random.beta(2, 3, 2000))).interval
    assert high - low < 0.06


def test_few_years_without_a_change_have_an_alarm() -> None:
    assert monitor_alarms.false_alarms(60, 120, 5, seed=1) <= 1


def test_a_fall_of_a_twentieth_is_found_within_the_promised_number_of_answers() -> None:
    needed = monitor_alarms.answers_needed(0.5, 0.45, 11, 200, True, 40, seed=1)
    assert np.quantile(needed, 0.9, method="higher") <= 2000


# a storage with a champion


@dataclass
class Watched:
    root: Path
    data: str
    answers: str
    version: int = 1
    digest: str = "g1"
    numbers: Iterator[int] = field(default_factory=count)

    @property
    def settings(self) -> Any:
        chosen = {"data": {"mix": {"push": 0.5, "insights": 0.5}}, "monitor": {"retrain": "train/laptop"}}
        return validated({"storage": str(self.root), **chosen})

    def look(self, again: bool = False, **monitor: Any) -> Seen:
        plain = self.settings.model_dump(mode="json")
        plain["monitor"] |= monitor
        return look(validated(plain), self.root, cast("Tracker", self), again)

    def champion(self, model: str) -> RegisteredModel:
        tags = {"digest.data": self.data, "digest.answers": self.answers, "digest.grpo": self.digest, "seed": "42"}
        return RegisteredModel(model, self.version, "run", "source", tags)

    @property
    def log(self) -> Path:
        return self.root / SERVING / "requests.jsonl"

    def refer(self, *rows: Any) -> None:
        """References that came back; a text stands as it is."""
        text = "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)
        (self.root / SERVING / "references.jsonl").write_text(text, encoding="utf-8")

    def serve(self, times: int, make: Callable[[int], dict[str, Any]], answer: str, **more: Any) -> list[str]:
        """Lines of the log, as the server writes them; returns their ids."""
        self.log.parent.mkdir(exist_ok=True)
        identities = []
        with self.log.open("a", encoding="utf-8") as file:
            for _ in range(times):
                number = next(self.numbers)
                asked = make(5000 + number)
                row = {"id": f"{number:032x}", "task": asked["task"], "text": asked["prompt"], "answer": answer}
                file.write(json.dumps({**row, "by": f"tucano/{self.version}", **more}) + "\n")
                identities.append(f"{number:032x}")
        return identities


def asked(number: int) -> dict[str, Any]:
    return push(number) if number % 2 else insight(number)


def prompts_of(many: int, begin: int) -> list[Prompt]:
    rows = [asked(begin + number) for number in range(many)]
    return [Prompt(f"p{begin + place}", row["task"], row["prompt"], "t", "own", "") for place, row in enumerate(rows)]


def true_of(prompt: Prompt) -> float:
    """The truth of `GOOD`, which is served as it was tested; of an analysis nothing is known, and .8 was found."""
    found = truth(replace(prompt, reference=OF_PUSH), GOOD) if prompt.task == "push" else None
    return 0.8 if found is None else found


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    """A champion whose test answers are good, with a log that is still empty."""
    test = prompts_of(60, 0)

    def data(draft: Path) -> None:
        files = PromptFiles(draft)
        write_prompts(files.train, prompts_of(200, 1000))
        write_prompts(files.demonstrations, [])
        write_prompts(files.test, test)

    def answers(draft: Path) -> None:
        rows = [Answer("seed-42", p.id, p.task, "served", 0, GOOD, 0.9, {}, true_of(p), 1.0, 9, False) for p in test]
        AnswerFiles(draft).answers.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows), encoding="utf-8")

    return Watched(tmp_path, made(tmp_path, "data", data).digest, made(tmp_path, "answers", answers).digest)


def test_nothing_has_changed(watched: Watched) -> None:
    watched.serve(150, asked, GOOD)
    seen = watched.look(floor=0.05)
    assert seen.alarm is None and (seen.new, seen.scored, seen.unreadable) == (150, 150, ())
    assert headline(seen) == "tucano/1: no alarm after 1 looks at 150 answers"
    assert len(seen.state.streams) == monitor_alarms.STREAMS
    assert seen.limit == monitor_alarms.LIMIT
    table = "\n".join(lines_of(seen))
    assert "| share of push" in table and "0.500" in table
    assert "tucano monitor" in "\n".join(_advice(seen, watched.settings, "laptop", watched.root))


def test_every_answer_is_counted_once_while_the_log_is_put_aside(watched: Watched) -> None:
    watched.serve(20, asked, GOOD)
    assert watched.look().scored == 20
    assert watched.look().scored == 0
    watched.serve(5, asked, GOOD)
    watched.log.rename(watched.log.with_name("requests.jsonl.1"))
    watched.serve(7, asked, GOOD)
    with watched.log.open("a", encoding="utf-8") as file:
        file.write('{"id": "half a line')
    seen = watched.look()
    assert (seen.scored, seen.unreadable) == (12, ())
    watched.log.with_name("requests.jsonl.1").unlink()
    assert watched.look().scored == 0
    assert Mean.of(watched.look().state.streams[REWARD].since).count == 32


def test_answers_of_others_and_lines_that_are_none_are_left_out(watched: Watched, tmp_path: Path) -> None:
    (first,) = watched.serve(1, asked, GOOD)
    watched.serve(3, asked, GOOD, by="rules")
    watched.serve(2, asked, GOOD, by="tucano/7")
    watched.serve(2, asked, GOOD, id=first)  # said again
    hostile = ["[" * 90_000, "{}", "7", "\x00", '{"id": 1}', "9" * 5000, '"' + "a" * LONGEST_LINE + '"', "NaN"]
    with watched.log.open("a", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in hostile))
    watched.serve(1, asked, GOOD, task="no such task")
    watched.serve(1, asked, "\x1b]0;oi\x07 \ud800 <script>", text="'; DROP TABLE \ud800 {{ 7 * 7 }}")
    seen = watched.look()
    assert (seen.scored, len(seen.unreadable)) == (2, len(hostile) + 1)


@pytest.mark.timeout(600)
def test_what_is_no_file_is_said_and_not_waited_for(watched: Watched) -> None:
    watched.serve(3, asked, GOOD)
    for name, put, reason in (
        ("requests.jsonl.1", os.mkfifo, "is no ordinary file"),
        ("requests.jsonl.2", lambda place: place.symlink_to(watched.log), "it is a link"),
        ("references.jsonl", Path.mkdir, "is no ordinary file"),
    ):
        place = watched.log.with_name(name)
        put(place)
        with pytest.raises(UserError, match=rf"{name} .*{reason}.*move it away"):
            watched.look()
        place.rename(watched.root / name)
    assert watched.look().scored == 3


def another_range(number: int) -> dict[str, Any]:
    words = ["gadget", "quantum", "blorft", "zynth", "krell", "vopar", "drusk", "flimp", "grawl"]
    return {"prompt": " ".join(Random(number).sample(words, 7)), "task": "push"}


def test_a_drift_is_one_alarm_with_the_prompts_and_settings_of_one_training(watched: Watched) -> None:
    watched.serve(60, asked, GOOD)
    assert watched.look(floor=0.05).alarm is None
    watched.serve(120, another_range, GOOD)
    seen = watched.look(floor=0.05)
    alarm = seen.alarm
    assert alarm is not None
    raised = {found.quantity for found in alarm.raised}
    assert {"vocabulary", "language", "share of push", "share of insights"} <= raised
    assert alarm.deployment == "train/laptop" and alarm.settings is not None
    trained = validated(alarm.settings)
    old, new = trained.data.sources
    assert (old.source, new.source) == ("synthetic", "jsonl")
    assert new.path == str(watched.root / FOLDER / f"prompts-{alarm.id}.jsonl")
    assert old.share + new.share == pytest.approx(1) and 0 < new.share <= 0.3
    assert trained.data.mix["push"] > 0.5 and trained.promotion.each_source
    rows = [json.loads(line) for line in Path(str(new.path)).read_text(encoding="utf-8").splitlines()]
    assert len(rows) == alarm.prompts and {row["source"] for row in rows} == {"served"}
    watched.serve(50, another_range, BAD)
    again = watched.look(floor=0.05)
    assert again.alarm == alarm
    assert "alarm of" in headline(again)
    assert "train/laptop" in "\n".join(_advice(again, watched.settings, "laptop", watched.root))


def test_a_champion_that_stays_after_an_alarm_is_watched_by_a_new_test(watched: Watched) -> None:
    """One alarm per champion for ever: who declined a training had switched the monitor off."""
    watched.serve(60, asked, GOOD)
    watched.look(again=True, floor=0.05)
    watched.serve(120, another_range, GOOD)
    first = watched.look(again=True, floor=0.05)
    assert first.alarm is not None and first.state.number == 1, "without an alarm the test goes on"
    watched.serve(120, another_range, GOOD)
    begun = watched.look(again=True, floor=0.05)
    assert begun.alarm is None and begun.state.number == 2 and begun.limit == 3 * first.limit
    assert begun.scored == 0, "it begins with what comes from then on"
    watched.serve(200, another_range, GOOD)
    second = watched.look(floor=0.05)
    assert second.alarm is not None and second.alarm.id != first.alarm.id


def test_a_mean_reward_below_the_floor_is_an_alarm(watched: Watched) -> None:
    for _ in range(4):
        watched.serve(100, asked, BAD)
        seen = watched.look(retrain=None)
    assert seen.alarm is not None and {FLOOR, REWARD} <= {found.quantity for found in seen.alarm.raised}
    assert seen.alarm.deployment is None and seen.alarm.why == "monitor.retrain names no deployment"


def test_a_look_that_was_killed_raises_the_same_alarm_again(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    watched.serve(10, asked, GOOD)
    watched.look()
    watched.serve(120, another_range, GOOD)
    identities = []

    def killed(folder: Path, state: Any) -> None:
        identities.append(state.alarm)
        raise KeyboardInterrupt

    monkeypatch.setattr(watch, "write_state", killed)
    with pytest.raises(KeyboardInterrupt):
        watched.look()
    monkeypatch.undo()
    seen = watched.look()
    assert seen.alarm is not None and identities == [seen.alarm.id] and seen.scored == 120


def test_a_new_champion_starts_anew_with_a_higher_limit_and_counts_no_line_twice(watched: Watched) -> None:
    watched.serve(10, asked, GOOD)
    watched.look()
    watched.serve(120, another_range, GOOD)
    first = watched.look()
    watched.version, watched.digest = 2, "g2"
    watched.serve(4, asked, GOOD)
    seen = watched.look()
    assert first.alarm is not None and seen.alarm is None
    assert (seen.state.champion, seen.scored, seen.limit) == ("tucano/2", 4, 3 * first.limit)


def test_a_reference_that_came_back_is_a_truth_and_is_counted_once(watched: Watched) -> None:
    identities = watched.serve(6, push, GOOD)
    watched.look()
    asked_of = [*identities[:2], "0" * 31 + "f"]
    watched.refer(*({"id": one, "reference": OF_PUSH} for one in asked_of), "no JSON")
    seen = watched.look()
    assert (seen.judged, seen.unreadable, seen.scored) == (2, (("references.jsonl", 4),), 0)
    assert seen.unknown == 1
    assert any(line.startswith("1 references are of requests that the log does not hold") for line in lines_of(seen))
    assert watched.look().judged == 0
    assert TRUTH in watched.look().state.streams


def test_references_that_nothing_is_judged_by_are_no_truths(watched: Watched) -> None:
    identities = watched.serve(3, push, GOOD)
    watched.look()
    given = zip(identities, (OF_PUSH, OF_PUSH, {"gold_sql": "SELECT nothing FROM nowhere"}), strict=True)
    watched.refer(*({"id": one, "reference": reference} for one, reference in given))
    seen = watched.look()
    assert (seen.judged, seen.unusable, seen.unreadable) == (2, 1, ())
    assert any(line.startswith("1 references cannot be judged by") for line in lines_of(seen))


@pytest.mark.parametrize(
    ("task", "reference"),
    [
        ("push", {"product": None}), ("push", {"figures": 5}), ("push", {"figures": ["x"]}), ("push", {"facts": 5}),
        ("extraction", {"fields": None}), ("sentiment", {"fields": 5}),
        ("sql_qa", {"sql": "select 1", "database": "../../other.sqlite"}),
    ],
)  # fmt: skip
def test_a_reference_that_is_none_of_its_task_is_no_truth(task: Task, reference: Any, tmp_path: Path) -> None:
    """Each ended the look in a traceback."""
    (watched,) = [one for one in quantities(load_reward_set("grounded"), set(), tmp_path) if one.name == TRUTH]
    assert watched.read(Look(Prompt("0" * 32, task, "Gostei.", "", "", "", reference=reference), "{}")) is None


@pytest.mark.parametrize("name", ["vocabulary", "language", "word order"])
def test_broken_portuguese_is_lower(name: str, tmp_path: Path) -> None:
    asked = "Crie uma notificação curta para quem deixou o fone no carrinho, com frete grátis até domingo."
    broken = "grts crnho ntfcao qm crta dmngo dxou frt cri fn"
    known = set(asked.lower().split())
    (watched,) = [one for one in quantities(load_reward_set("grounded"), known, tmp_path) if one.name == name]
    whole, less = (watched.read(Look(Prompt("", "push", text, "", "", ""), "")) for text in (asked, broken))
    assert whole is not None and less is not None and whole > less + 0.2


def test_a_damaged_judge_is_no_missing_truth(tmp_path: Path) -> None:
    (tmp_path / JUDGES).write_bytes(b"none")
    (watched,) = [one for one in quantities(load_reward_set("grounded"), set(), tmp_path) if one.name == TRUTH]
    prompt = Prompt("0" * 32, "push", "Crie um push.", "", "", "", reference={"product": "Fone"})
    with pytest.raises(UserError, match=r"judge\.json\.xz holds no judges: .*; prepare the prompts again"):
        watched.read(Look(prompt, "Fone novo!"))


@pytest.mark.parametrize(
    "reference",
    [
        f'{{"a": {"[" * 600 + "]" * 600}}}', '{"product": "a", "product": "b"}', '{"a": 1e999}', '{"a": [-1e999]}',
        r'{"a": "\ud83d"}', r'{"\ud83d": 1}',
    ],
)  # fmt: skip
def test_a_reference_that_not_every_program_reads_is_an_unreadable_line(reference: str, tmp_path: Path) -> None:
    line = f'{{"id": "{"0" * 32}", "reference": {reference}}}'
    (tmp_path / "references.jsonl").write_text(line, encoding="utf-8")
    assert read_references(tmp_path) == ({}, (("references.jsonl", 1),))


def test_a_byte_order_mark_costs_no_reference(tmp_path: Path) -> None:
    line = f'{{"id": "{"0" * 32}", "reference": {{"product": "bolsa"}}}}\n'
    (tmp_path / "references.jsonl").write_text(line, encoding="utf-8-sig")
    found, unreadable = read_references(tmp_path)
    assert list(found) == ["0" * 32] and unreadable == ()


@pytest.mark.parametrize("content", ["{}\n".encode("utf-16"), b"{}\r{}\r", b"{}\0"])
def test_a_log_that_another_program_has_saved_is_not_empty(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "requests.jsonl").write_bytes(content)
    assert read_log(tmp_path).unreadable[0] == ("requests.jsonl", 1)


def test_truths_are_held_against_those_of_their_own_task(watched: Watched) -> None:
    """References that came back for one task only were another mix than the test answers, and soon an alarm."""
    identities = watched.serve(300, asked, GOOD)
    pushes = [one for one in identities if int(one, 16) % 2]
    watched.refer(*({"id": one, "reference": OF_PUSH} for one in pushes))
    seen = watched.look(floor=0.05)
    assert seen.judged == len(pushes) == 150 and seen.alarm is None
    truths = seen.state.streams[TRUTH]
    expected = fmean(true_of(prompt) for prompt in prompts_of(300, 0) if prompt.task == "push")
    assert Mean.of(truths.since).interval[0] == pytest.approx(expected, abs=0.02)
    assert sum(truths.of_task["push"]) == 30 + 150
    assert sum(truths.of_task["insights"]) == 30 and truths.highest < 100


def test_the_state_is_private_whole_and_said_when_damaged(watched: Watched) -> None:
    watched.serve(3, asked, GOOD)
    watched.look()
    place = watched.root / FOLDER / FILE
    assert read_state(watched.root / FOLDER) is not None
    for damaged in ("", "{}", "[" * 90_000, place.read_text(encoding="utf-8").replace('"looks": 1', '"looks": "x"')):
        place.write_text(damaged, encoding="utf-8")
        with pytest.raises(UserError, match=r"state\.json is damaged; move it away"):
            watched.look()
    assert not list(place.parent.glob(".*.draft"))


def test_nothing_to_watch_is_a_sentence(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"holds no requests; keep some of them: tucano serve --set"):
        watched.look()
    watched.serve(1, asked, GOOD)
    watched.data = "0" * 64
    with pytest.raises(UserError, match="does not hold the data that tucano version 1 was judged by"):
        watched.look()
    monkeypatch.setattr(watched, "champion", lambda model: None)
    with pytest.raises(UserError, match="no tucano@champion that could be watched"):
        watched.look()


def test_a_run_that_could_not_write_its_name_has_taken_nothing_up(tmp_path: Path) -> None:
    """A mark without a name kept every later run away."""
    with pytest.raises(UnicodeEncodeError):
        taken(tmp_path, "a" * 32, "\ud800")
    assert list(tmp_path.iterdir()) == []
    assert taken(tmp_path, "a" * 32, "run-1") == "run-1"


def test_an_alarm_is_taken_up_by_one_run_and_named_by_its_id_alone(tmp_path: Path) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda n=n: found.append(taken(tmp_path, "a" * 32, f"run-{n}"))) for n in "12"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({*found}) == 1 and taken(tmp_path, "a" * 32, "run-3") == found[0]
    for named in ("../../etc/passwd", "", "A" * 32):
        with pytest.raises(UserError, match="is no alarm's id"):
            read_alarm(tmp_path, named)
    with pytest.raises(UserError, match="there is no alarm"):
        read_alarm(tmp_path, "b" * 32)


# the gate


IDS = {"synthetic": {f"s{n}" for n in range(12)}, "served": {f"n{n}" for n in range(12)}}
BLANK = Answer("", "", "push", "served", 0, "", 0.0, {}, None, 1.0, 9, False)
PLAIN, EACH = PromotionSettings(), PromotionSettings(each_source=True)


def against_the_champion(gain_of: Callable[[str, int], float]) -> list[Answer]:
    """Served answers of a seed, which gains by prompt and place among those of its source, and of the champion."""
    return [
        replace(BLANK, arm=arm, prompt_id=one, reward=0.5 + gain_of(source, place) * (arm == "seed-1"))
        for source in IDS
        for place, one in enumerate(sorted(IDS[source]))
        for arm in ("seed-1", CHAMPION)
    ]


def stands(answers: list[Answer], chosen: PromotionSettings, held_out: dict[str, set[str]]) -> Standing:
    return standing(answers, "seed-1", True, "served", chosen, HeldOut(held_out))


def test_the_successor_has_to_stand_by_the_prompts_of_each_source() -> None:
    gains = {"synthetic": 0.3, "served": -0.1}
    answers = against_the_champion(lambda source, place: gains[source] + 0.001 * place)
    assert stands(answers, PLAIN, IDS).status == CHAMPION
    found = stands(answers, EACH, IDS)
    assert found.status == CHALLENGER and "below the champion on the prompts of served" in found.reason
    few = {"served": {"n1"}, "synthetic": IDS["synthetic"]}
    assert "1 test prompts of served cannot say" in stands(answers, EACH, few).reason
    old = {"synthetic": IDS["synthetic"]}
    alone = [answer for answer in answers if answer.prompt_id in old["synthetic"]]
    assert stands(alone, EACH, old).status == CHAMPION


def test_the_bound_against_the_champion_takes_prompts_of_a_template_together() -> None:
    """Five templates of eight gain and three lose: over 80 prompts of their own a gain would be sure."""
    rng = np.random.default_rng(2)
    gains = np.repeat([0.2, 0.15, 0.12, 0.1, 0.08, -0.04, -0.06, -0.17], 10) + rng.normal(0, 0.001, 80)
    answers = [
        replace(BLANK, arm=arm, prompt_id=f"{place:02}", reward=0.5 + gain * (arm == "seed-1"))
        for place, gain in enumerate(gains)
        for arm in ("seed-1", CHAMPION)
    ]
    templates = {f"{place:02}": f"t{place // 10}" for place in range(80)}
    constant = [replace(answer, reward=0.5) for answer in answers]
    assert noninferiority_bound(constant, "seed-1", "served", {}) == -1, "a reward that never moves shows nothing"
    assert noninferiority_bound(answers, "seed-1", "served", {}) > 0
    assert noninferiority_bound(answers, "seed-1", "served", templates) < 0
    assert standing(answers, "seed-1", True, "served", PromotionSettings(), HeldOut({}, templates)).status == CHALLENGER


@pytest.mark.parametrize("gain", [0.0, 0.1])
def test_an_arm_that_differs_by_the_same_everywhere_is_not_known_to_be_no_worse(gain: float) -> None:
    answers = against_the_champion(lambda source, place: gain)
    for chosen in (PLAIN, EACH):
        found = stands(answers, chosen, IDS)
        assert found.status == CHALLENGER and "cannot be assessed: every prompt differs by the same" in found.reason
        assert "não dá para avaliar" in found.reason_pt


def test_a_few_large_losses_are_a_loss_of_the_mean_though_the_typical_prompt_stays() -> None:
    """Two prompts of 24 lose .5: every Walsh average near the middle is 0. The mean falls by .042, with an SE of .029."""
    answers = against_the_champion(lambda source, place: -0.5 * (place == 0))
    found = stands(answers, PLAIN, IDS)
    assert found.status == CHALLENGER and "may be 0.091 below the champion" in found.reason


def test_a_retraining_that_wins_nothing_replaces_nobody() -> None:
    """Hardly worse on either source is not enough: what raised the alarm would go on."""
    worse, better = (
        against_the_champion(lambda _, place, gain=gain: gain + 0.001 * (place % 5 - 2))  # type: ignore[misc]
        for gain in (-0.005, 0.01)
    )
    found = stands(worse, EACH, IDS)
    assert found.status == CHALLENGER and "does not win against the champion" in found.reason
    assert "não vence o campeão" in found.reason_pt
    assert stands(worse, PLAIN, IDS).status == stands(better, EACH, IDS).status == CHAMPION
