"""A task is one place: what one has to have, what is said where something is missing, and what has to agree with its
spec.
"""

from dataclasses import MISSING, fields
from pathlib import Path
from random import Random
from typing import get_type_hints

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from data.sources.synthetic import SyntheticSource
from rewards import describe, extraction, load_reward_set
from tucano.artifacts.code_version import code_version
from tucano.errors import UserError
from tucano.prompts import TASKS, Task
from tucano.rating import aids as rating_aids
from tucano.settings import PipelineSettings
from tucano.settings.training.preflight import CHECKS
from tucano.specs import registry
from tucano.specs.base import TaskSpec
from tucano.specs.extraction import FIELDS
from tucano.specs.objects import json_object
from tucano.specs.registry import spec_of

PARTS = tuple(
    name for name, hint in get_type_hints(TaskSpec, include_extras=True).items() if hasattr(hint, "__metadata__")
)


def test_every_part_without_a_default_can_be_missed() -> None:
    needed = {part.name for part in fields(TaskSpec) if part.default is MISSING and part.default_factory is MISSING}
    assert set(PARTS) == needed and len(needed) == 10


@pytest.mark.parametrize("part", [part for part in PARTS if part != "name"])
def test_without_one_of_its_parts_a_task_is_refused_by_name(part: str) -> None:
    parts = {known.name: getattr(spec_of("push"), known.name) for known in fields(TaskSpec)}
    TaskSpec(**parts)  # whole, it is accepted
    for left in ({name: value for name, value in parts.items() if name != part}, parts | {part: None}):
        with pytest.raises(UserError, match=rf"^the task push has no `{part}` \(.+\); add it to the task's TaskSpec$"):
            TaskSpec(**left)


OBJECTS = [task for task in TASKS if spec_of(task).fields]
VALUES: tuple[object, ...] = ("x", None, 0, 1, 0.5, 5, 6, True, [], {}, "high", "positive")


@pytest.mark.parametrize("task", OBJECTS)
def test_the_schema_of_an_object_takes_what_its_fields_allow(task: Task) -> None:
    kinds, schema = spec_of(task).fields, registry.schema_of(task)
    assert schema is not None
    judge = Draft202012Validator(schema)
    whole = {name: kind.usual for name, kind in kinds.items()}
    assert judge.is_valid(whole) and not judge.is_valid(whole | {"stars": 5})
    for name, kind in kinds.items():
        assert not judge.is_valid({other: value for other, value in whole.items() if other != name})
        for value in (kind.wrong(kind.usual), *kind.wrong_types, *VALUES):
            assert judge.is_valid(whole | {name: value}) == kind.allows(value), (name, value)


def test_a_text_has_no_schema() -> None:
    assert [task for task in TASKS if registry.schema_of(task) is None] == [t for t in TASKS if t not in OBJECTS]


def test_a_task_without_its_section_in_the_rating_guide_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = rating_aids.GUIDE.read_text(encoding="utf-8")
    guide = tmp_path / "rating-guide.md"
    guide.write_text(text.replace("## Push", "## Notification"), encoding="utf-8")
    monkeypatch.setattr(rating_aids, "GUIDE", guide)
    with pytest.raises(UserError, match="no section «## Push» for the task push"):
        rating_aids.guides()


def test_a_name_that_is_not_its_files_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tucano.specs.push.SPEC", spec_of("insights"))
    with pytest.raises(UserError, match=r"push\.py describes the task insights"):
        registry._found("push")


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a": ' + "9" * 5000 + "}", "[1]", '{"a": 1'])
def test_what_cannot_be_read_is_no_object(text: str) -> None:
    assert json_object(text) is None


def test_the_ten_fields_stand_once_and_rewards_generator_and_system_prompt_agree(tmp_path: Path) -> None:
    assert tuple(FIELDS) == extraction.FIELDS
    assert [name for name, field in FIELDS.items() if field.wrong_types] == list(extraction.CHECKS)
    review = SyntheticSource(tmp_path, 1).review("known", Random(1))
    assert tuple(review.fields) == tuple(FIELDS)
    assert spec_of("extraction").system_prompt.endswith("churn_risk, repurchase_intent, main_complaint, summary.")


@pytest.mark.parametrize("task", TASKS)
def test_what_a_task_draws_is_what_its_spec_says(task: str, tmp_path: Path) -> None:
    spec, source = spec_of(task), SyntheticSource(tmp_path, 1)
    for pool in ("known", "validation", "test"):
        drawn = spec.draw(source, pool, Random(pool))
        fields = spec.reference.model_fields
        needed = {name for name, field in fields.items() if field.is_required()}
        assert needed <= set(drawn.reference) <= set(fields)
        spec.reference.model_validate(drawn.reference)
        assert all(pool in part for part in drawn.template.split("+")), (
            "judged prompts are made of templates of their own"
        )
    assert all(name.startswith(f"{task}.") for shown in spec.scorer.columns.values() for name in shown)


@pytest.mark.parametrize("task", TASKS)
def test_every_task_is_known_where_names_are_given(task: str) -> None:
    assert PipelineSettings(preflight={"allow_red": [f"signal: {task}"]}).preflight.allow_red == (f"signal: {task}",)
    assert f"signal: {task}" in CHECKS
    assert task in rating_aids.guides()
    assert load_reward_set("grounded").component_names(task)
    assert f"| {task} |" in describe()


def test_modules_found_by_name_are_part_of_the_code_version(tmp_path: Path) -> None:
    """`import_module(f"package.{name}")` may import any module of the package, one that is added later too."""
    package = tmp_path / "rewards"
    package.mkdir()
    (package / "sets.py").write_text('from importlib import import_module\nFOUND = import_module(f"rewards.{NAME}")\n')
    (package / "one.py").write_text("VALUE = 1\n")
    before = code_version("rewards.sets", tmp_path)
    (package / "one.py").write_text("VALUE = 2  # another value\n")
    changed = code_version("rewards.sets", tmp_path)
    (package / "two.py").write_text("VALUE = 3\n")
    assert len({before, changed, code_version("rewards.sets", tmp_path)}) == 3


def test_what_only_the_program_sees_of_a_type_is_part_of_the_code_version(tmp_path: Path) -> None:
    source = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    Name = {0}\nelse:\n    Name = {1}\n"
    versions: list[str] = []
    for hint, value in (("str", "1"), ("int", "1"), ("int", "2")):
        (tmp_path / "rewards").mkdir(exist_ok=True)
        (tmp_path / "rewards" / "names.py").write_text(source.format(hint, value) + "#" * len(versions))
        versions.append(code_version("rewards.names", tmp_path))
    assert versions[0] == versions[1] != versions[2]
