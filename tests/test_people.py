"""People beside the numbers: a blind A/B, corrections of what was served, and what models may learn from both."""

import json
import stat
import urllib.error
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from math import comb
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from odd_files import ODD, put_in_place
from storages import answered
from test_rate import candidates, got, prompt, served, tucano_rate
from test_verdict_headline import ALIKE, answers, judged

from data.own import command as own_data
from data.own.feedback import DEMONSTRATIONS, PREFERENCES, Lesson, _obstacle, judged_prompts, learn
from data.own.prompts import read_own
from data.own.rows import LONGEST_TEXT
from tasks.compare import _people_files, _preference
from tasks.promote import _of_champion
from tucano.cli.rating.command import Desk
from tucano.cli.rating.page import render
from tucano.comparison.promotion import CHALLENGER, CHAMPION, HeldOut, Standing, standing
from tucano.comparison.verdict import told
from tucano.errors import UserError
from tucano.prompts import Prompt
from tucano.rating.choices import CHOSEN, Choosing, preference, read_choices
from tucano.rating.draw import Candidate, write_candidates
from tucano.rating.files import LONGEST_CORRECTION
from tucano.rating.pairs import PAIRS, PairDraw, key_of, open_pairs, read_pairs
from tucano.rating.ratings import RATINGS, read_ratings
from tucano.rating.session import Session, corrected
from tucano.settings import PipelineSettings
from tucano.settings.promotion import PromotionSettings
from tucano.specs.registry import spec_of
from tucano.statistics.preference import Preference, WinRate
from tucano.tracking import RegisteredModel

NEW, OLD = "seed-42", "champion"


# The win rate


def test_the_interval_of_a_win_rate_is_that_of_clopper_and_pearson() -> None:
    none, all_of_them = WinRate(0, 10, 3), WinRate(10, 0, 3)
    assert none.interval == (0.0, pytest.approx(1 - 0.025 ** (1 / 10)))  # no success in 10: (1 - p)^10 = .025
    assert all_of_them.interval == (pytest.approx(0.025 ** (1 / 10)), 1.0)
    assert none.worse and all_of_them.better and all_of_them.rate == 1.0
    low, high = WinRate(31, 19, 14).interval
    assert at_least(31, 50, low) == pytest.approx(0.025) and 1 - at_least(32, 50, high) == pytest.approx(0.025)
    assert WinRate(0, 0, 4).rate is None and WinRate(0, 0, 4).interval == (0.0, 1.0)
    assert not WinRate(0, 0, 4).better and not WinRate(0, 0, 4).worse


def at_least(wins: int, of: int, chance: float) -> float:
    """The probability of so many wins or more, summed up."""
    return sum(comb(of, k) * chance**k * (1 - chance) ** (of - k) for k in range(wins, of + 1))


# The blind A/B


def storage_of(folder: Path, count: int = 9, same: int = 2) -> Path:
    """A finished run in which the champion and a seed answered `count` prompts, `same` of them with the same words."""
    asked = [prompt(number) for number in range(count)]
    rows = [
        {"arm": arm, "prompt_id": one.id, "task": one.task}
        | {"completion": "Igual!" if place < same else f"{'Aproveite' if arm == NEW else 'Oferta'}: {place}"}
        for arm in (OLD, NEW)
        for place, one in enumerate(asked)
    ]
    made_of = {NEW: "digest of 42", OLD: "tucano version 2"}
    return answered(folder, asked, rows, "CREATE TABLE pedidos(pedido_id);", **made_of)


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    return storage_of(tmp_path / "runs")


@pytest.fixture
def ab(tmp_path: Path, storage: Path) -> Path:
    open_pairs(tmp_path / "ab", PairDraw(storage, [NEW, OLD], 24, 5))
    return tmp_path / "ab"


def sitting(folder: Path, rater: str = "ana", consent: bool = True) -> Choosing:
    return Choosing(folder, read_pairs(folder), rater, "human", consent)


def judge_all(folder: Path, better: str, rater: str = "ana", consent: bool = True) -> None:
    """Take the text that begins with `better`, wherever it stands; without one, none."""
    at_work = sitting(folder, rater, consent)
    while item := at_work.view().item:
        texts = {"first": item.completion, "second": str(item.other)}
        at_work.say(item.id, next((side for side, text in texts.items() if better and text.startswith(better)), "tie"))


def test_sides_change_by_a_seed_and_each_stands_first_as_often(tmp_path: Path, storage: Path) -> None:
    def firsts(name: str, seed: int | None) -> list[str]:
        pairs = open_pairs(tmp_path / name, PairDraw(storage, [NEW, OLD], 24, seed))
        return [pair.first for pair in pairs]

    assert firsts("a", 5) == firsts("b", 5) != firsts("c", 6)
    for name in ("a", "c"):
        key = json.loads(key_of(tmp_path / name).read_text(encoding="utf-8"))
        assert sorted(Counter(key["first"].values()).values()) == [3, 4] and key["same"] == 2
    seeds = {firsts(name, None) and json.loads(key_of(tmp_path / name).read_text())["seed"] for name in "defg"}
    assert len(seeds) == 4, "without --seed nobody knows beforehand who stands first"


def test_neither_the_page_nor_the_folder_says_who_wrote_what(ab: Path) -> None:
    at_work = sitting(ab)
    shown = render(at_work.view(), at_work, [], "n")
    kept = "".join(path.read_text(encoding="utf-8") for path in ab.iterdir())
    for secret in (NEW, OLD, "digest of 42", "tucano version"):
        assert secret not in shown and secret not in kept
    assert "Resposta 1" in shown and "Resposta 2" in shown and "Aproveite" in shown and "Oferta" in shown
    key = key_of(ab)
    assert key.parent == ab.parent and stat.S_IMODE(key.stat().st_mode) == 0o600
    assert set(json.loads(key.read_text(encoding="utf-8"))["first"].values()) == {NEW, OLD}


def test_the_win_rate_is_told_when_all_is_judged_and_counts_ties(ab: Path) -> None:
    with pytest.raises(UserError, match="0 of 7 pairs are judged, and the key stays closed"):
        preference(ab)
    at_work = sitting(ab)
    for _ in range(2):
        item = at_work.view().item
        assert item is not None
        at_work.say(item.id, "tie")
    with pytest.raises(UserError, match="2 of 7 pairs are judged"):
        preference(ab)
    judge_all(ab, "Aproveite")  # goes on where it was
    found = preference(ab)
    assert found.wins == WinRate(5, 0, 2 + 2), "two ties, and two prompts with the same answer"
    assert (found.side, found.against, found.raters) == (NEW, OLD, 1)
    assert found.made_of == {NEW: "digest of 42", OLD: "tucano version 2"}


def test_a_prompt_counts_once_however_many_judge_it_and_only_people_do(ab: Path) -> None:
    judge_all(ab, "Aproveite")
    judge_all(ab, "Oferta", "bia")
    assert preference(ab).wins == WinRate(0, 0, 9), "one against one is a tie"
    judge_all(ab, "Oferta", "caio")
    assert preference(ab).wins == WinRate(0, 7, 2) and preference(ab).raters == 3
    model = Choosing(ab, read_pairs(ab), "gpt", "model", True)
    item = model.view().item
    assert item is not None
    model.say(item.id, "tie")
    begun = sitting(ab, "davi")
    begun.say(item.id, "tie")
    assert preference(ab).raters == 3, "a model is no person, and davi has only begun"


def test_a_key_that_is_left_is_not_written_over(ab: Path, tmp_path: Path, storage: Path) -> None:
    ab.rename(tmp_path / "handed over")
    before = key_of(ab).read_bytes()
    with pytest.raises(UserError, match=r"is the key of pairs that are not in .*ab; bring pairs\.jsonl back"):
        open_pairs(ab, PairDraw(storage, [NEW, OLD], 24, 5))
    assert key_of(ab).read_bytes() == before


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        (PAIRS, "{}", "line 1 is not a pair of answers"),
        (PAIRS, "[" * 9999, "line 1 is not a pair of answers"),
        (PAIRS, "\x1b[2J", "line 1 is not a pair of answers"),
        (CHOSEN, '{"pair": "../../x", "choice": "first", "rater": "a", "rater_kind": "human"}', "is not a choice"),
        (CHOSEN, '{"pair": "0123456789abcdef", "choice": "both", "rater": "a", "rater_kind": "human"}', "is not a choice"),
        ("key", "{}", "is not the key of an A/B"),
        ("key", '{"sides": ["a", "b"], "first": {}, "same": 0, "seed": 1, "made_of": {}}', "is not the key of the pairs"),
        ("key", '{"sides": ["a", "a"], "first": {}, "same": 0, "seed": 1, "made_of": {}}', "both sides are one model"),
        ("key", '{"sides": ["a", "b"], "first": {}, "same": -9, "seed": 1, "made_of": {}}', "same: Input should be"),
        ("key", '{"sides": ["a", "b\\nc"], "first": {}, "same": 0, "seed": 1, "made_of": {}}', "sides.1: String"),
    ],
)  # fmt: skip
def test_what_is_damaged_is_one_sentence(ab: Path, name: str, content: str, says: str) -> None:
    judge_all(ab, "Aproveite")
    (key_of(ab) if name == "key" else ab / name).write_text(content + "\n", encoding="utf-8")
    with pytest.raises(UserError) as refused:
        preference(ab)
    assert says in str(refused.value) and "\x1b" not in str(refused.value)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", sorted(ODD.keys() - {"dangling link"}))
@pytest.mark.parametrize("name", [PAIRS, CHOSEN, "key"])
def test_what_is_no_file_is_not_opened(ab: Path, kind: str, name: str) -> None:
    judge_all(ab, "Aproveite")
    put_in_place(kind, key_of(ab) if name == "key" else ab / name)
    with pytest.raises(UserError):
        preference(ab)


def test_two_models_are_named_whose_answers_there_are(tmp_path: Path, storage: Path) -> None:
    for sides in ([], [NEW], [NEW, NEW], [NEW, "gpt"]):
        with pytest.raises(UserError, match=r"--ab names two models whose answers are in .*it has: champion, seed-42"):
            open_pairs(tmp_path / "new", PairDraw(storage, sides, 24, 5))
    assert not (tmp_path / "new").exists()
    open_pairs(tmp_path / "ab", PairDraw(storage, [NEW, OLD], 24, 5))
    with pytest.raises(UserError, match=f"holds an A/B of {NEW} and {OLD}; name another folder"):
        open_pairs(tmp_path / "ab", PairDraw(storage, [NEW, "sft"], 24, 5))
    with pytest.raises(UserError, match="is no rating folder"):
        open_pairs(Path("/"), PairDraw(storage, [NEW, OLD], 24, 5))


def test_what_goes_on_is_what_was_begun() -> None:
    """A model's choices would otherwise go on as a person's."""
    desk = Desk(Path("ab"), "bot", "model", False, False, None)
    assert desk.command(" --ab") == "tucano rate ab --rater bot --ab --kind model --terminal"
    assert replace(desk, port=8080).command("") == "tucano rate ab --rater bot --kind model --port 8080"
    elsewhere = replace(desk, source="other runs")
    assert elsewhere.command("") == "tucano rate ab --rater bot --kind model --from 'other runs' --terminal"


def test_an_ab_in_the_terminal_goes_on_where_it_stopped(tmp_path: Path, storage: Path) -> None:
    folder = tmp_path / "ab"
    first = [str(folder), "--rater", "ana", "--terminal", "--ab"]
    began = tucano_rate(*first, NEW, OLD, "--from", str(storage), "--consent", keys="1\n0\nu\ns\nq\n")
    assert began.returncode == 0, began.stderr
    assert f"7 pairs of answers drawn from {storage}" in began.stdout and "RESPOSTA 2" in began.stdout
    assert f"Go on with: tucano rate {folder} --rater ana --ab --consent --terminal" in began.stdout
    assert NEW not in began.stdout and [record.consent for record in read_choices(folder)] == [True]
    ended = tucano_rate(*first, keys="2\n" * 6)
    assert "7 of 7 rated" in ended.stdout and "Nothing of this trains a model" in ended.stdout
    assert "Blind A/B, judged by 1: seed-42 was preferred to champion on " in ended.stdout
    assert f"In the verdict: tucano run laptop --set promotion.people={folder}" in ended.stdout
    refused = tucano_rate(str(folder), "--rater", "ana", "--terminal")
    assert refused.returncode == 2 and "holds a blind A/B; add --ab" in refused.stderr


# The verdict


def test_the_verdict_says_what_people_preferred_and_warns_of_a_loss() -> None:
    numbers = judged([*answers(ALIKE, per_task=9)])
    won = told(numbers, Preference(NEW, OLD, 2, WinRate(31, 19, 14), {}))
    assert won.verdict.sentences[-1] == (
        "Blind A/B, judged by 2: seed-42 was preferred to champion on 31 of 50 prompts that they decided (0.62; 95 %"
        " interval 0.47 to 0.75); 14 ties. Which of the two people prefer stays open."
    )
    assert "(0,62; intervalo de 95 % de 0,47 a 0,75); 14 empates" in won.verdict.sentences_pt[-1]
    lost = told(numbers, Preference(NEW, OLD, 2, WinRate(9, 31, 0), {}))
    assert lost.verdict.cautions[-1] == "lost people" and "people preferred the other" in lost.verdict.sentences[-1]
    assert won.verdict.cautions == numbers.verdict.cautions and lost.verdict.headline == numbers.verdict.headline
    assert told(numbers, None) == numbers


def test_whom_people_like_less_than_the_champion_stays_challenger() -> None:
    rows = [
        replace(one, arm=arm, reward=0.5 + place / 1000 * (arm == "seed-1"))
        for place, one in enumerate(answers(ALIKE, per_task=9)[:54])
        for arm in ("seed-1", CHAMPION)
    ]

    def stands(people: Preference | None) -> Standing:
        return standing(rows, "seed-1", True, "served", PromotionSettings(), HeldOut(), people)

    assert stands(None).status == CHAMPION
    assert stands(Preference("seed-1", OLD, 2, WinRate(20, 30, 0), {})).status == CHAMPION, "open"
    found = stands(Preference("seed-1", OLD, 2, WinRate(9, 31, 5), {}))
    assert (
        found.status == CHALLENGER and "it won 9 of 40 decided prompts (95 % interval 0.108 to 0.385)" in found.reason
    )


def test_a_run_takes_the_ab_of_its_own_seed_and_holds_it_against_the_champion_of_then(ab: Path) -> None:
    judge_all(ab, "Oferta")
    settings = PipelineSettings.model_validate({"promotion": {"people": str(ab)}})
    found = _preference(settings, seeds_of("digest of 42"))
    assert found is not None and found.wins == WinRate(0, 7, 2)
    with pytest.raises(UserError, match="is an A/B of seed-42, which is no seed of this run"):
        _preference(settings, seeds_of("another digest"))
    assert _preference(PipelineSettings(), seeds_of("digest of 42")) is None
    then, later = (RegisteredModel("tucano", version, "", "", {}) for version in (2, 3))
    assert _of_champion(found, then) == found and _of_champion(found, later) is _of_champion(found, None) is None


def seeds_of(digest: str) -> Any:
    return SimpleNamespace(trained=[SimpleNamespace(digest=digest)])


def test_another_choice_is_another_key_of_the_verdict(ab: Path) -> None:
    settings = PipelineSettings.model_validate({"promotion": {"people": str(ab)}})
    before = _people_files(settings)
    judge_all(ab, "Oferta")
    after = _people_files(settings)
    assert after.keys() - before.keys() == {f"people/{CHOSEN}"} and len(after) == 3
    judge_all(ab, "Aproveite", "bia")
    assert _people_files(settings)[f"people/{CHOSEN}"] != after[f"people/{CHOSEN}"]
    assert _people_files(PipelineSettings()) == {}


# Corrections


def correcting(folder: Path, drawn: list[Candidate], consent: bool = True, rater: str = "ana") -> Session:
    folder.mkdir(exist_ok=True)
    return Session(folder, drawn, rater, "human", consent)


def test_a_correction_stands_with_its_rating_masked_and_the_audit_reads_it(tmp_path: Path) -> None:
    drawn = candidates(prompts=1, completions=1)
    correcting(tmp_path, drawn).say(drawn[0].id, "2", "Fale com ana@gmail.com!\r\nHoje.\r\n")
    (line,) = (tmp_path / RATINGS).read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["correction"] == "Fale com [EMAIL]!\nHoje." and json.loads(line)["consent"] is True
    assert [answer.rating for answer in read_ratings(tmp_path)] == [2]


def test_what_is_not_changed_is_no_correction() -> None:
    odd = "um\r\n\x1b[2Jdois\u2028três"
    for said in (None, "", " \n ", odd, "um␍\r\n␛[2Jdois\ufffdtrês\r\n"):
        assert corrected(odd, said) is None
    with pytest.raises(ValueError, match="mais de 8000"):
        corrected("a", "b" * (LONGEST_CORRECTION + 1))
    with pytest.raises(ValueError, match="caracteres de controle"):
        corrected("a", "b\x00")
    assert LONGEST_CORRECTION == LONGEST_TEXT


def test_the_page_takes_a_correction_and_refuses_one_that_is_not_of_the_tasks_form(tmp_path: Path) -> None:
    push, extraction = candidates(1, 1)[0], candidates(1, 1, ("extraction",))[0]
    evil = replace(push, completion="</textarea><script>alert(1)</script>")
    with served(tmp_path, correcting(tmp_path, [evil])) as server:
        page = got(server.url)
        assert "<script>alert" not in page and "&lt;/textarea&gt;" in page
    with served(tmp_path, correcting(tmp_path, [evil, extraction])) as server:
        with pytest.raises(urllib.error.HTTPError) as refused:
            got(server.url, do="2", item=extraction.id, correction='{"sentiment": "positive"}')
        assert "objeto JSON com os campos" in refused.value.read().decode("utf-8")
        got(server.url, do="2", item=extraction.id, correction=extraction.completion)  # as it came: nothing to refuse
        got(server.url, do="1", item=evil.id, correction="ç" * LONGEST_CORRECTION)
    said = [json.loads(line)["correction"] for line in (tmp_path / RATINGS).read_text(encoding="utf-8").splitlines()]
    assert said == [None, "ç" * LONGEST_CORRECTION]


def log_of(storage: Path, rows: list[dict[str, str]]) -> None:
    (storage / "serving").mkdir()
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (storage / "serving" / "requests.jsonl").write_text(text, encoding="utf-8")


def row(number: int, text: str, answer: str = "Oi") -> dict[str, str]:
    return {"id": f"{number:032x}", "task": "push", "text": text, "answer": answer, "by": "tucano/2"}


def test_what_was_served_is_corrected_in_the_terminal_and_becomes_training_data(tmp_path: Path, storage: Path) -> None:
    odd = {"id": "x", "task": "push", "text": "t", "answer": "a", "by": "b"}
    log_of(storage, [row(1, "Push para a bolsa, zap 98765 4321", "\x1b[2JCompre"), odd, row(2, prompt(3).user)])
    folder = tmp_path / "fixes"
    keys = "c\nBolsa nova!\n.\n2\n" * 2
    found = tucano_rate(
        str(folder), "--rater", "ana", "--terminal", "--correct", "--consent", "--from", str(storage), keys=keys
    )
    assert found.returncode == 0 and "\x1b" not in found.stdout, found.stderr
    assert "1 lines of the request log are none" in found.stdout and "2 of 2 rated" in found.stdout
    assert f"Train with them: tucano data feedback {folder}" in found.stdout
    learned = learn(folder, storage)
    (demonstration,) = learned.demonstrations
    assert (demonstration.user, demonstration.demonstration) == ("Push para a bolsa, zap [PHONE]", "Bolsa nova!")
    assert learned.left_out == {"a test prompt, or near one": 1}, "push-3 is in the run's test set"
    assert own_data.feedback(folder, storage) == own_data.SOME_BAD
    own = read_own(folder / DEMONSTRATIONS)
    assert [(one.user, one.demonstration, one.source) for one in own.prompts] == [
        (demonstration.user, "Bolsa nova!", "corrected")
    ]
    assert not own.bad.counts and "no consent stated" not in own.notes.counts
    (pair,) = map(json.loads, (folder / PREFERENCES).read_text(encoding="utf-8").splitlines())
    said = [(turn["role"], turn["content"]) for part in ("prompt", "chosen", "rejected") for turn in pair[part]]
    assert said == [
        ("system", spec_of("push").system_prompt), ("user", "Push para a bolsa, zap [PHONE]"),
        ("assistant", "Bolsa nova!"), ("assistant", "\x1b[2JCompre"),
    ]  # fmt: skip


# What models may learn


def test_no_test_prompt_no_tie_and_nothing_without_consent_is_learned(ab: Path, storage: Path, tmp_path: Path) -> None:
    judge_all(ab, "Aproveite")
    assert learn(ab, storage).pairs == [] and learn(ab, storage).left_out == {"a test prompt, or near one": 7}
    elsewhere = storage_of(tmp_path / "other", count=1)
    elsewhere_too = learn(ab, elsewhere)
    assert elsewhere_too.pairs == [], "the pairs say themselves that they are of a test set"
    made = [
        Candidate(Prompt(f"p{n}", "push", text, "", "own", "CC0"), f"{model} {n}", "sampled", model)
        for n, text in enumerate(["Push do tênis azul", "Push da mesa de jantar", prompt(2).user.upper()])
        for model in ("novo", "velho")
    ]
    write_candidates(tmp_path / "answers.jsonl", made)
    folder = tmp_path / "own"
    open_pairs(folder, PairDraw(tmp_path / "answers.jsonl", ["novo", "velho"], 9, 1))
    judge_all(folder, "novo")
    judge_all(folder, "velho", "bia", consent=False)
    found = learn(folder, storage)
    assert {pair["chosen"][0]["content"] for pair in found.pairs} == {"novo 0", "novo 1"}, "bia does not agree"
    assert found.left_out == {"a test prompt, or near one": 1} and found.demonstrations == []
    judge_all(folder, "velho", "caio")
    assert learn(folder, storage).left_out == {"a tie": 3}


def test_an_answer_with_a_zero_byte_is_not_learned(storage: Path) -> None:
    """The file of pairs would be refused as a whole."""
    asked = Prompt("p", "push", "Push do tênis azul", "", "own", "CC0")
    assert _obstacle(Lesson(asked, "Oi", "a\0b", written=False), judged_prompts(storage)) == "a zero byte"


def test_corrections_without_consent_are_not_learned_and_the_last_one_is(tmp_path: Path, storage: Path) -> None:
    drawn = [Candidate(Prompt("p", "push", "Push do tênis azul", "", "own", "CC0"), "Oi", "sampled", "m")]
    folder = tmp_path / "fixes"
    for rater, text, consent in (("ana", "Um", True), ("bia", "Dois", False), ("caio", "Três", True)):
        correcting(folder, drawn, consent, rater).say(drawn[0].id, "2", text)
    found = learn(folder, storage)
    assert [one.demonstration for one in found.demonstrations] == ["Três"] and len(found.pairs) == 2
    assert found.left_out == {"no consent": 1, "corrected again later": 1}


@pytest.mark.parametrize("put", [Path.unlink, Path.touch, *ODD.values()], ids=["missing", "empty", *ODD])
def test_an_unreadable_test_set_lets_nothing_through(ab: Path, storage: Path, put: Callable[[Path], object]) -> None:
    (path,) = storage.glob("artifacts/data/*/test.jsonl")
    path.unlink()
    if put is not Path.unlink:
        put(path)
    with pytest.raises(UserError, match="holds a damaged prompt set"):
        learn(ab, storage)


def test_a_test_prompt_is_not_learned_wherever_it_stands_and_names_are_masked(tmp_path: Path, storage: Path) -> None:
    tested = prompt(3).user
    hidden = "\u200b".join(tested)
    name, mail = "Push do tênis azul", "ana@example.com"
    for number, (asked, correction, licence) in enumerate(
        [(hidden, "Um", ""), (name, f"Segundo «{tested}»", ""), (name, "Três", tested), (name, "Quatro", mail)]
    ):
        drawn = [Candidate(Prompt(mail, "push", asked, "", "own", licence), f"Oi {number}", "sampled", "m")]
        correcting(tmp_path / "fixes", drawn, rater=f"r{number}").say(drawn[0].id, "2", correction)
    found = learn(tmp_path / "fixes", storage)
    assert [one.demonstration for one in found.demonstrations] == ["Quatro"]
    assert found.left_out == {"a test prompt, or near one": 3} and mail not in str(found)


def test_without_a_prompt_set_to_keep_apart_from_nothing_is_learned(tmp_path: Path, ab: Path) -> None:
    with pytest.raises(UserError, match="holds no prompt set, so nobody can tell which prompts are its test"):
        learn(ab, tmp_path / "nowhere")
    with pytest.raises(UserError, match="holds no ratings"):
        learn(tmp_path, tmp_path)
