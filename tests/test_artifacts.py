"""An artifact is reused only while recipe, manifest and files are as they were; the store says why not."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from odd_files import ODD, put_in_place

from tucano.artifacts.code_version import _read, code_version
from tucano.artifacts.identity import digest
from tucano.artifacts.store import MANIFEST, Artifact, Recipe, Store, inspect
from tucano.errors import UserError
from tucano.storage.folder import Folder


class Kitchen:
    """A store with one stage that counts how often it ran and remembers what was said."""

    def __init__(self, root: Path, remote: Path | None = None) -> None:
        self.store, self.runs, self.said = Store(root, Folder(remote.as_uri()) if remote else None), 0, ""

    def make(self, steps: int = 3, **inputs: str) -> Artifact:
        return self.store.make(
            Recipe("stage", {"grpo": {"max_steps": steps}}, inputs, "code-1"), self.produce, self.hear
        )

    def produce(self, draft: Path) -> dict[str, object]:
        self.runs += 1
        (draft / "adapter").mkdir()
        (draft / "adapter" / "weights.bin").write_bytes(b"0123456789")
        return {"best_step": 2}

    def hear(self, sentence: str) -> None:
        self.said = sentence


@pytest.fixture
def kitchen(tmp_path: Path) -> Kitchen:
    return Kitchen(tmp_path)


def test_one_that_shares_what_matters_is_found_if_it_is_whole(kitchen: Kitchen) -> None:
    """As answers of other seeds of the same start are: then the start does not answer again."""
    before = kitchen.make(prompts="p", seed="1")

    def alike(steps: int = 3, prompts: str = "p", code: str = "code-1") -> Artifact | None:
        recipe = Recipe("later", {"grpo": {"max_steps": steps}}, {"prompts": prompts, "seed": "2"}, code)
        return kitchen.store.alike(recipe, lambda inputs: inputs["prompts"], "stage")

    assert alike() == before
    assert alike(steps=4) is None and alike(prompts="q") is None and alike(code="code-2") is None
    (before.folder / "adapter" / "weights.bin").write_bytes(b"x")
    assert alike() is None


def test_first_made_then_reused(kitchen: Kitchen) -> None:
    made = kitchen.make()
    assert kitchen.said == "stage: runs, for the first time"
    again = kitchen.make()
    assert (kitchen.runs, again.reused, again.digest, again.record) == (1, True, made.digest, {"best_step": 2})


def test_another_setting_or_input_runs_and_names_it(kitchen: Kitchen) -> None:
    kitchen.make(steps=3)
    kitchen.make(steps=4)
    assert kitchen.runs == 2 and "setting grpo.max_steps" in kitchen.said
    kitchen.make(steps=4, prompts="b")
    assert kitchen.runs == 3 and "input prompts" in kitchen.said
    kitchen.make(steps=3)
    assert kitchen.runs == 3, "the earlier artifact still stands"


def test_of_many_reasons_three_are_named(kitchen: Kitchen) -> None:
    kitchen.make(a="1", b="1", c="1", d="1")
    kitchen.make(steps=4, a="2", b="2", c="2", d="2")
    assert kitchen.said == "stage: runs, because of a new input a, input b, input c and 2 more"


def test_what_was_interrupted_goes_on_and_names_the_step(kitchen: Kitchen) -> None:
    kitchen.make(steps=3)
    work = kitchen.store.work_folder(Recipe("stage", {"grpo": {"max_steps": 9}}, {}, "code-1"))
    for place in ("attempt-1/checkpoint-2", "attempt-2/checkpoint-10", "attempt-2/checkpoint-", "drafts/checkpoint-12"):
        (work / place).mkdir(parents=True)
    kitchen.make(steps=9)
    assert kitchen.said == "stage: runs, it goes on at step 10"


DAMAGES: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "edited": lambda path: path.write_bytes(path.read_bytes().replace(b"2", b"7")),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["adapter/weights.bin", MANIFEST])
def test_any_damaged_file_runs_the_stage_again_and_is_named(kitchen: Kitchen, damage: str, name: str) -> None:
    first = kitchen.make()
    DAMAGES[damage](first.folder / name)
    second = kitchen.make()
    assert kitchen.runs == 2 and name.split("/")[-1] in kitchen.said
    assert second.digest == first.digest, "the same files again: nothing that depends on them has to run again"
    assert kitchen.make().reused


def sealed_anew(folder: Path, **changes: object) -> None:
    """As somebody would who edits a manifest and knows how its digest is made."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8")) | changes
    del manifest["seal"]
    own = {name: value for name, value in manifest.items() if name not in ("digest", "made_at", "seconds")}
    manifest["digest"] = digest(own)
    manifest["seal"] = digest(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


@pytest.mark.parametrize(
    "changes",
    [{"settings": {"grpo": {"max_steps": 9}}}, {"inputs": {"prompts": "b"}}, {"code": "code-2"}, {"files": []}],
)
def test_a_manifest_of_another_recipe_is_not_used_even_with_a_digest_that_fits(
    kitchen: Kitchen, changes: dict[str, object]
) -> None:
    sealed_anew(kitchen.make().folder, **changes)
    assert not kitchen.make().reused


@pytest.mark.parametrize("name", ["chat_template.jinja", "adapter/evil.py", "adapter/manifest.json"])
def test_a_file_that_the_artifact_was_not_made_with_makes_it_invalid(kitchen: Kitchen, name: str) -> None:
    (kitchen.make().folder / name).write_text("{}", encoding="utf-8")
    assert not kitchen.make().reused
    assert "a file that it was not made with" in kitchen.said and name in kitchen.said


@pytest.mark.parametrize("name", ["adapter/weights.bin", MANIFEST])
def test_a_link_to_a_file_of_the_same_content_makes_it_invalid(kitchen: Kitchen, tmp_path: Path, name: str) -> None:
    file = kitchen.make().folder / name
    file.symlink_to(file.rename(tmp_path / "elsewhere"))
    assert not kitchen.make().reused


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["adapter/weights.bin", MANIFEST])
@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_file_is_damage_and_is_not_opened(kitchen: Kitchen, kind: str, name: str) -> None:
    folder = kitchen.make().folder
    put_in_place(kind, folder / name)
    assert inspect(folder)[1] is not None
    kitchen.make(steps=4)
    assert not kitchen.make().reused and kitchen.runs == 3
    assert name.split("/")[-1] in kitchen.said


@pytest.mark.parametrize(
    "changes",
    [
        {"record": None}, {"digest": ["x"]}, {"made_at": "yesterday"}, {"seconds": 1e999},
        {"files": {"adapter/weights.bin": None}}, {"inputs": {"prompts": {}}}, {"settings": {"text": "\ud800"}},
    ],
    ids=lambda changes: next(iter(changes)),
)  # fmt: skip
def test_a_manifest_of_odd_values_is_damaged(kitchen: Kitchen, changes: dict[str, object]) -> None:
    folder = kitchen.make().folder
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8")) | changes
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    assert inspect(folder) == (None, f"its manifest {folder / MANIFEST} is damaged")


def elsewhere(path: Path) -> None:
    (path.parent / "elsewhere").mkdir()
    path.symlink_to(path.parent / "elsewhere")


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "place",
    ["artifacts", "artifacts/stage", "artifacts/stage/{}", "artifacts/stage/{}.draft", "work/stage/{}", "locks"],
)
@pytest.mark.parametrize("put", [Path.touch, elsewhere, *(ODD[kind] for kind in ("pipe", "dangling link"))])
def test_what_stands_in_an_artifacts_way_is_said_before_the_stage_works(
    kitchen: Kitchen, tmp_path: Path, place: str, put: Callable[[Path], object]
) -> None:
    in_the_way = tmp_path / place.format(Recipe("stage", {"grpo": {"max_steps": 3}}, {}, "code-1").key)
    in_the_way.parent.mkdir(parents=True, exist_ok=True)
    put(in_the_way)
    with pytest.raises(UserError, match="is no folder of its own; move it away") as caught:
        kitchen.make()
    assert str(in_the_way) in str(caught.value) and kitchen.runs == 0
    assert not list(tmp_path.rglob("elsewhere/*"))


def test_an_artifact_is_found_by_name_only_where_it_is_what_it_says(kitchen: Kitchen) -> None:
    made = kitchen.make()
    assert kitchen.store.named(made.name).digest == made.digest
    moved = made.folder.with_name("0123456789abcdef")
    made.folder.rename(moved)
    with pytest.raises(UserError, match="it is another artifact"):
        kitchen.store.named("stage/0123456789abcdef")


def test_a_stage_that_dies_leaves_no_artifact(kitchen: Kitchen) -> None:
    def dies(draft: Path) -> dict[str, object]:
        (draft / "half").write_text("half", encoding="utf-8")
        raise KeyboardInterrupt

    recipe = Recipe("stage", {"grpo": {"max_steps": 3}}, {}, "code-1")
    with pytest.raises(KeyboardInterrupt):
        kitchen.store.make(recipe, dies, kitchen.hear)
    assert not kitchen.make().reused
    assert not (kitchen.make().folder / "half").exists()


def test_code_version_is_the_same_from_many_threads() -> None:
    """The seeds of a run ask at the same time; on Python 3.11 parsing in two threads at once fails."""
    _read.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(code_version, ["tucano.training.grpo"] * 8))) == 1
    assert _read.cache_info().misses == _read.cache_info().currsize, "each file is read once"


def test_an_upload_that_failed_stops_nothing_and_is_made_up(tmp_path: Path) -> None:
    obstacle = tmp_path / "remote" / "artifacts"
    first = Kitchen(tmp_path / "one", tmp_path / "remote")

    def produce_and_block(draft: Path) -> dict[str, object]:
        obstacle.parent.mkdir()
        obstacle.write_text("a file is in the way", encoding="utf-8")
        return Kitchen.produce(first, draft)

    first.produce = produce_and_block  # type: ignore[method-assign]
    assert not first.make().reused
    assert "not uploaded" in first.said
    obstacle.unlink()
    assert first.make().reused
    assert Kitchen(tmp_path / "two", tmp_path / "remote").make().reused


def test_a_half_uploaded_artifact_is_not_fetched(tmp_path: Path) -> None:
    made = Kitchen(tmp_path / "one", tmp_path / "remote").make()
    (tmp_path / "remote" / made.folder.relative_to(tmp_path / "one") / MANIFEST).unlink()
    second = Kitchen(tmp_path / "two", tmp_path / "remote")
    assert not second.make().reused and second.runs == 1
