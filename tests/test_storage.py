"""The storage root is its user's alone and may have an odd name; remote objects cannot leave its folder."""

import json
import stat
from pathlib import Path

import pytest
from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository
from odd_files import ODD
from sqlalchemy import make_url

from deployments.gc import collect
from deployments.servers import mlflow_environment
from tucano.artifacts.store import Store
from tucano.errors import UserError
from tucano.storage.folder import Folder
from tucano.storage.root import FOLDERS, private, working_copy, writable
from tucano.tracking import Tracker
from tucano.training.checkpoints.attempts import last_record

LEADING_OUT = [
    "../evil.txt", "../../evil.txt", "a/../../../evil.txt", "..", "./x", "..\\evil.txt", "C:evil.txt", "a\nb", "a\0b",
]  # fmt: skip


@pytest.fixture
def place() -> Folder:
    made = Folder("memory://bucket/storage")
    made.fs.store.clear()
    return made


@pytest.mark.parametrize("name", LEADING_OUT)
def test_an_object_whose_name_leads_out_of_its_folder_is_refused(place: Folder, tmp_path: Path, name: str) -> None:
    place.write("artifacts/sft/0123/manifest.json", b"{}")
    place.fs.store[f"/bucket/storage/artifacts/sft/0123/{name}"] = place.fs.store[
        "/bucket/storage/artifacts/sft/0123/manifest.json"
    ]
    target = tmp_path / "deep" / "deeper" / "0123"
    target.parent.mkdir(parents=True)
    with pytest.raises(UserError, match="would be written outside the folder") as caught:
        place.pull("artifacts/sft/0123", target)
    assert "\n" not in str(caught.value) and "\0" not in str(caught.value)
    assert not target.exists() and not list(tmp_path.rglob("*evil*"))


def test_a_link_in_a_shared_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    (tmp_path / "shared" / "a").mkdir(parents=True)
    (tmp_path / "shared" / "a" / "x").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(UserError, match="outside the folder"):
        Folder((tmp_path / "shared").as_uri()).pull("a", tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_a_download_does_not_go_through_a_link_in_its_way(place: Folder, tmp_path: Path) -> None:
    place.write("a/x", b"new")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "a.draft").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError):
        place.pull("a", tmp_path / "a")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_the_record_of_an_attempt_names_no_other_folders(place: Folder) -> None:
    """Attempt 3 downloads what attempt 2 is said to have found."""
    fields = {"number": 2, "host": "h", "pid": 1, "began": "2026-11-21", "threads": 1}
    place.write("attempt-1.json", json.dumps({**fields, "number": 1, "found": ["attempt-1/checkpoint-5"]}).encode())
    place.write("attempt-2.json", json.dumps({**fields, "found": ["../../../../home/ana/checkpoint-5"]}).encode())
    record = last_record(place)
    assert record is not None and record.number == 1


@pytest.mark.parametrize(
    "name", ["../../elsewhere/0123456789abcdef", "/etc/0123456789abcdef", "sft/..", "sft", "sft/0123456789abcdef/x"]
)
def test_an_artifact_is_named_by_stage_and_key(tmp_path: Path, name: str) -> None:
    """The name comes from the parameters of a Prefect run."""
    with pytest.raises(UserError, match="is no name of an artifact"):
        Store(tmp_path).named(name)


def test_a_new_root_is_its_users_alone_and_an_old_one_stays_as_it_is(tmp_path: Path) -> None:
    assert stat.S_IMODE(writable(str(tmp_path / "new" / "runs")).stat().st_mode) == 0o700
    (tmp_path / "shared").mkdir(mode=0o775)
    (tmp_path / "shared").chmod(0o775)
    assert stat.S_IMODE(writable(str(tmp_path / "shared")).stat().st_mode) == 0o775


@pytest.mark.parametrize("name", ["a?b", 'a"b', "a::b", "a\nb"])
def test_a_root_that_databases_cannot_take_is_refused_in_one_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="choose another folder") as caught:
        writable(str(tmp_path / name / "runs"))
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_storage_that_was_renamed_is_refused_before_a_database_lands_beside_it(tmp_path: Path) -> None:
    """`tucano gc` wrote MLflow's tables into a new file `a`."""
    place = tmp_path / "a?b"
    (place / "artifacts").mkdir(parents=True)
    (place / "mlflow").mkdir()
    (place / "mlflow" / "mlflow.db").touch()
    for opened in (lambda: collect(place, 30, False), lambda: Tracker.connect(None, place)):
        with pytest.raises(UserError, match=r"has '\?' in its path, .* rename it"):
            opened()
    with pytest.raises(UserError, match=r"tracking_uri=.* has '\?' in its path"):
        Tracker.connect(f"sqlite:///{place}/m.db", tmp_path / "runs")
    assert [path.name for path in tmp_path.iterdir()] == ["a?b"]


@pytest.mark.parametrize("name", ["a b", "a%20b", "a#b", "100%", "ação", "a;b&c=d", "~a", "$HOME", "a@b:c", "😀"])
def test_an_odd_name_is_the_same_folder_to_all_libraries(name: str, tmp_path: Path) -> None:
    """The files of MLflow's server went to `a b` where the storage is `a%20b`."""
    root = writable(str(tmp_path / name))
    assert writable((tmp_path / name).as_uri()) == root
    tracker = Tracker.connect(None, root)
    run = tracker.client.create_run(tracker.experiments[next(iter(tracker.experiments))])
    tracker.client.log_text(run.info.run_id, "oi", "said.txt")
    served = get_artifact_repository(
        mlflow_environment(root, "sqlite://", "tucano:abc")["MLFLOW_ARTIFACTS_DESTINATION"]
    )
    (tmp_path / "sent.txt").touch()
    served.log_artifact(str(tmp_path / "sent.txt"))
    prefect = make_url(f"sqlite+aiosqlite:///{root}/prefect/prefect.db")  # as Prefect and `tucano gc` write it
    assert prefect.database == f"{root}/prefect/prefect.db"
    Folder(str(root)).write("artifacts/x.json", b"{}")
    found = {path.name for path in root.rglob("*") if path.is_file()}
    assert found >= {"mlflow.db", "said.txt", "sent.txt", "x.json"}
    assert {path.name for path in tmp_path.iterdir()} == {name, "sent.txt"}


NO_STORAGES = {
    "is no address of a folder here; write the folder itself": [
        "file:runs", "file://host/runs", "file:///tmp/a#b", "file:///tmp/a?b",
    ],
    "zero byte": ["file:///tmp/x/%00", "/tmp/x/\0"],
    "not UTF-8": ["file:///tmp/x/%FF"],
    # fsspec's recursive remove takes such names for patterns
    "stand for other names": ["memory://bucket/a*b", "memory://bucket/a?b", "memory://bucket/[ab]"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("said", "storage"), [(said, one) for said, storages in NO_STORAGES.items() for one in storages]
)
def test_an_address_of_no_storage_is_refused(said: str, storage: str) -> None:
    with pytest.raises(UserError, match=said):
        writable(storage)


@pytest.mark.parametrize("place", [".", *FOLDERS])
@pytest.mark.parametrize("kind", ["file", "pipe", "socket", "dangling link"])
def test_what_is_no_folder_in_a_folders_place_is_refused_in_one_sentence(tmp_path: Path, place: str, kind: str) -> None:
    root = tmp_path / "runs"
    (root / place).parent.mkdir(exist_ok=True)
    (ODD | {"file": Path.touch})[kind](root / place)
    with pytest.raises(UserError, match=r"is no folder; move it away|cannot be written \(File exists\)"):
        private(root)


def test_links_that_lead_to_each_other_are_no_storage(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "a")
    with pytest.raises(UserError, match="links that lead to each other"):
        working_copy(str(tmp_path / "a" / "runs"))
