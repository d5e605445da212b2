"""The synthetic prompt set: its sizes, its separation, its truth, and that it can be repeated."""

import sqlite3
from contextlib import closing
from pathlib import Path
from statistics import fmean

import pytest
from own_rows import require_apart

from data.prepare import DataReport, prepare
from data.separation import jaccard, normal_form, shingles
from data.shares import apportion
from rewards import classify_task
from rewards.names import REPORTED as TASKS
from tucano.artifacts.identity import digests_at
from tucano.errors import UserError
from tucano.masking import mask
from tucano.prompts import Prompt, read_prompts
from tucano.settings import DataSettings
from tucano.specs.banks import JOINT
from tucano.truth import truth

FILES = ("train", "validation", "test", "demonstrations", "demonstrations_validation")
JUDGED = {"extraction": 20, "sql_qa": 15, "insights": 15, "push": 15}
SMALL = DataSettings(train_prompts=100, validation_prompts=26, test_prompts=26, demonstrations=80)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def report(folder: Path) -> DataReport:
    return prepare(DataSettings(), 7, TASKS, folder)


@pytest.fixture(scope="module")
def files(folder: Path, report: DataReport) -> dict[str, list[Prompt]]:
    return {name: read_prompts(folder / f"{name}.jsonl") for name in FILES}


def seen(files: dict[str, list[Prompt]]) -> list[Prompt]:
    return files["train"] + files["demonstrations"] + files["demonstrations_validation"]


def test_every_set_has_its_sizes(report: DataReport) -> None:
    assert report.prompts["train"] == {"extraction": 592, "sql_qa": 592, "insights": 148, "push": 148}
    assert report.prompts["validation"] == report.prompts["test"] == JUDGED
    assert report.prompts["demonstrations"] == {"extraction": 1000, "sql_qa": 1000, "insights": 500, "push": 500}
    assert sum(report.prompts["demonstrations_validation"].values()) == 150
    assert report.warnings == [] and report.masked == {} and report.licences == ["CC0-1.0"]


def test_ids_and_texts_are_unique(files: dict[str, list[Prompt]]) -> None:
    everything = [prompt for prompts in files.values() for prompt in prompts]
    assert len({prompt.id for prompt in everything}) == len(everything)
    assert len({normal_form(prompt.user) for prompt in everything}) == len(everything)


def test_no_near_copy_of_a_judged_prompt_by_brute_force(files: dict[str, list[Prompt]]) -> None:
    test, validation = ([shingles(normal_form(p.user)) for p in files[name]] for name in ("test", "validation"))
    assert all(jaccard(one, other) < 0.8 for one in test for other in validation)
    for prompt in seen(files):
        grams = shingles(normal_form(prompt.user))
        assert max(jaccard(grams, other) for other in test + validation) < 0.8


def test_no_gold_query_and_no_text_inside_of_another_crosses_the_sets(files: dict[str, list[Prompt]]) -> None:
    """With the default settings of a laptop."""
    require_apart(seen(files), files["validation"], files["test"])


def test_half_of_each_tasks_judged_prompts_use_only_unseen_templates(
    files: dict[str, list[Prompt]], report: DataReport
) -> None:
    parts = {(prompt.task, part) for prompt in seen(files) for part in prompt.template.split(JOINT)}
    for name in ("validation", "test"):
        for task, total in JUDGED.items():
            templates = [prompt.template.split(JOINT) for prompt in files[name] if prompt.task == task]
            unseen = [found for found in templates if not any((task, part) in parts for part in found)]
            assert len(unseen) == report.held_out[name][task] >= total / 2


def test_texts_are_short_and_classified_and_hold_no_personal_data(files: dict[str, list[Prompt]]) -> None:
    longest = {"extraction": 330, "sql_qa": 350, "insights": 350, "push": 260}
    for prompts in files.values():
        for prompt in prompts:
            assert len(prompt.user) <= 350 and not mask(prompt.user)[1]
            assert classify_task(prompt.user) == prompt.task
            assert len(prompt.demonstration or "") <= longest[prompt.task]


def test_good_demonstrations_are_true(tmp_path: Path) -> None:
    worth: dict[str, list[float]] = {}
    prepare(SMALL.model_copy(update={"defect_share": 0.0, "demonstrations": 600}), 3, TASKS, tmp_path)
    for prompt in read_prompts(tmp_path / "demonstrations.jsonl"):
        flat = 0.25 if prompt.task in JUDGED else 1  # what raters would make of the generator's turns
        value = truth(prompt, prompt.demonstration or "", tmp_path)
        assert value is not None and flat <= value <= 1, prompt
        worth.setdefault(prompt.task, []).append(value)
    assert min(map(fmean, worth.values())) >= 0.6


def test_the_share_of_flawed_demonstrations_is_the_one_asked_for(report: DataReport) -> None:
    assert abs(report.flawed_demonstrations / 3000 - 0.35) < 0.03  # three standard errors of a binomial
    assert len(report.defects) == 23


def test_gold_queries_have_an_answer(folder: Path, files: dict[str, list[Prompt]]) -> None:
    with closing(sqlite3.connect(folder / "store.sqlite")) as store:
        for prompt in files["test"] + files["validation"]:
            if prompt.task == "sql_qa":
                first = store.execute(prompt.reference["sql"]).fetchone()
                assert first and first[0] not in (None, 0)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_other_texts(tmp_path: Path) -> None:
    for name, seed in (("one", 5), ("two", 5), ("other", 6)):
        prepare(SMALL, seed, TASKS, tmp_path / name)
    one, two, other = (digests_at(tmp_path / name, "*") for name in ("one", "two", "other"))
    assert one == two and len(one) == 13
    assert all(one[name] != other[name] for name in one if name not in ("system_prompts.json", "portuguese.txt"))


def test_no_demonstrations_are_possible(tmp_path: Path) -> None:
    report = prepare(SMALL.model_copy(update={"demonstrations": 0}), 1, TASKS, tmp_path)
    assert report.prompts["demonstrations"] == report.prompts["demonstrations_validation"] == {}


@pytest.mark.parametrize(
    ("change", "part"),
    [({"test_prompts": 15}, "test"), ({"validation_prompts": 12}, "validation"), ({"train_prompts": 30}, "train")],
)
def test_a_task_with_fewer_than_five_prompts_is_refused(tmp_path: Path, change: dict[str, int], part: str) -> None:
    said = rf"data\.{part}_prompts: only \d prompts of \w+ in the {part} set, 5 are needed"
    with pytest.raises(UserError, match=said):
        prepare(SMALL.model_copy(update=change), 1, TASKS, tmp_path)


def test_apportion_by_hand() -> None:
    assert apportion(65, {"extraction": 20, "sql_qa": 15, "insights": 15, "push": 15}) == JUDGED
    assert apportion(10, {"extraction": 2 / 3, "push": 1 / 3}) == {"extraction": 7, "push": 3}
