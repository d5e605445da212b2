"""General demonstrations in SFT: their share, and what they must be apart from."""

import json
from collections import Counter
from pathlib import Path

import pytest
from own_rows import written

from data.general import OFTEN, SHIPPED, Elsewhere, general_demonstrations
from data.own.command import check
from data.own.prompts import read_own
from data.prepare import OWN_PASSAGES, prepare
from data.separation import NearDuplicates, jaccard, normal_form, shingles
from rewards.names import REPORTED as TASKS
from tucano.errors import UserError
from tucano.files.prompts import PromptFiles
from tucano.profiles import validated
from tucano.prompts import GENERAL, read_general, read_passages, read_prompts
from tucano.settings import DataSettings
from tucano.settings.data import GeneralSettings, GeneralShare
from tucano.settings.stages import of_data
from tucano.training.sft import demonstrated

SMALL = DataSettings(train_prompts=60, validation_prompts=26, test_prompts=26, demonstrations=63)
NC = "CC BY-NC 4.0"


def with_share(share: float) -> DataSettings:
    return SMALL.model_copy(update={"general": GeneralSettings(share=share)})


def row(prompt: str, answer: str = "Uma resposta curta.", **more: object) -> dict[str, object]:
    return {"prompt": prompt, "task": "general", "demonstration": answer, "licence": NC, "consent": True, **more}


@pytest.mark.parametrize(("share", "beside", "count"), [(0.1, 63, 7), (0.3, 63, 27), (0.5, 63, 63), (0.25, 3000, 1000)])
def test_the_share_is_met_exactly(share: float, beside: int, count: int) -> None:
    """By hand: 7 of 70 are a tenth, 27 of 90 are .3, 63 of 126 a half, 1,000 of 4,000 a quarter."""
    assert GeneralShare(share=share).beside(beside) == count
    assert count / (count + beside) == pytest.approx(share, abs=1e-12)


def test_each_is_taken_as_often_as_any_other_or_once_more() -> None:
    made = general_demonstrations(500, Elsewhere(), NearDuplicates(), seed=3)
    often = Counter(prompt.user for prompt in made.prompts)
    assert len(made.prompts) == 500 and len({prompt.id for prompt in made.prompts}) == 500
    assert len(often) == 230 and set(often.values()) == {2, 3} and made.warnings == []
    (said,) = general_demonstrations(230 * OFTEN + 1, Elsewhere(), NearDuplicates(), seed=3).warnings
    assert "beyond 4 times" in said


def test_the_tasks_sets_stay_byte_for_byte_and_sft_sees_both(tmp_path: Path) -> None:
    off, on = tmp_path / "off", tmp_path / "on"
    without, report = prepare(SMALL, 5, TASKS, off), prepare(with_share(0.3), 5, TASKS, on)
    ours = {path.name for path in off.iterdir()}
    assert {path.name for path in on.iterdir()} - ours == {"general_demonstrations.jsonl"}
    assert all((off / name).read_bytes() == (on / name).read_bytes() for name in ours - {"report.json"})
    assert "general" not in without.prompts and report.prompts["general"] == {"general": 27}
    examples, further = demonstrated(PromptFiles(on))
    assert Counter(example.task == GENERAL for example in examples) == {False: 63, True: 27} and further == []
    assert demonstrated(PromptFiles(off))[0] == read_prompts(off / "demonstrations.jsonl")


def test_those_that_ship_are_free_varied_and_apart_from_the_passages_of_forgetting() -> None:
    own = read_own(SHIPPED)
    assert len(own.general) == own.rows >= 200 and not own.masked and not own.notes.counts
    assert {prompt.licence for prompt in own.general} == {"CC0-1.0"}
    asked = [shingles(normal_form(prompt.user)) for prompt in own.general]
    assert max(jaccard(one, other) for place, one in enumerate(asked) for other in asked[:place]) < 0.6
    passages = [shingles(normal_form(passage)) for passage in read_passages(OWN_PASSAGES)]
    texts = [shingles(normal_form(text)) for p in own.general for text in (p.user, p.demonstration or "")]
    assert max(jaccard(text, passage) for text in texts for passage in passages) < 0.2


def test_near_copies_of_test_prompts_and_passages_are_left_out_and_the_licence_is_carried(tmp_path: Path) -> None:
    prepare(SMALL, 5, TASKS, tmp_path / "first")
    (judged, *_) = read_prompts(tmp_path / "first" / "test.jsonl")
    passage = read_passages(OWN_PASSAGES)[0]
    apart = row("Quem foi Pixinguinha?", "Um músico.")
    own = written(tmp_path / "own.jsonl", [row(f"{judged.user}!"), row("Continue o texto.", passage), apart])
    report = prepare(with_share(0.1), 5, TASKS, tmp_path / "set", elsewhere=Elsewhere(str(own)))
    kept = read_general(tmp_path / "set" / "general_demonstrations.jsonl")
    assert {prompt.user for prompt in kept} == {"Quem foi Pixinguinha?"}
    assert report.turned_away["general, near a held-out text"] == 2
    assert report.licences == ["CC BY-NC 4.0", "CC0-1.0"]  # tasks/promote.py reads them from here
    assert any("each of 1 demonstrations stands 7.0 times" in said for said in report.warnings)


def test_questions_of_a_public_benchmark_are_left_out(tmp_path: Path) -> None:
    asked = {"question": "Qual é a altura da torre da matriz?", "answers": [{"text": "vinte metros"}]}
    paragraph = {"context": "A torre da matriz tem vinte metros de altura.", "qas": [asked]}
    (tmp_path / "faquad").mkdir()
    (tmp_path / "faquad" / "dev.json").write_text(json.dumps({"data": [{"paragraphs": [paragraph]}]}), encoding="utf-8")
    own = written(tmp_path / "own.jsonl", [row("Qual é a altura da torre da matriz?"), row("O que é um fagote?")])
    elsewhere = Elsewhere(str(own), {"faquad": str(tmp_path / "faquad")})
    made = general_demonstrations(2, elsewhere, NearDuplicates(), seed=1)
    assert {prompt.user for prompt in made.prompts} == {"O que é um fagote?"}


def test_a_file_without_general_rows_is_refused(tmp_path: Path) -> None:
    own = written(tmp_path / "own.jsonl", [{"prompt": "Escreva um push da bolsa.", "task": "push"}])
    with pytest.raises(UserError, match="has no usable general demonstration; a row needs"):
        general_demonstrations(1, Elsewhere(str(own)), NearDuplicates(), seed=1)


def test_the_check_knows_general_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = written(tmp_path / "own.jsonl", [row("O que é um fagote?"), row("Sem resposta?", "")])
    assert check(own) == 1
    said = capsys.readouterr().out
    assert "1 usable (general 1)" in said and "is there for its demonstration, and has none" in said
    assert "--set data.general.share=0.1 --set data.general.path=" in said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"path": "x.jsonl"}, r"data\.general\.path is not read while"),
        ({"share": 1}, r"less than or equal to 0\.9"),
    ],
)
def test_what_would_do_nothing_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises((UserError, ValueError), match=said):
        validated({"data": {"general": given}})


def test_the_share_is_in_the_key_of_the_data_and_the_path_is_not() -> None:
    def key(**general: object) -> dict[str, object]:
        return of_data(validated({"data": {"general": general}})).model_dump()

    assert key(share=0.1) != key() and key(share=0.1) == key(share=0.1, path="own.jsonl")
