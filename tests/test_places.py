"""What is refused before the first stage of a run whose stages or seeds work elsewhere."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from prefect.client.schemas.objects import WorkPool, WorkPoolStatus
from prefect.exceptions import ObjectNotFound

from tasks.running import places
from tasks.running.places import require_places
from tucano.errors import UserError
from tucano.profiles import validated

MLFLOW = "https://mlflow.shop.example"
BUCKET = {"storage": "gs://shop-bucket/tucano"}


class Server:
    """The two calls of Prefect's client: deployments of a pool that becomes ready after some looks."""

    def __init__(self, kind: str, ready_after: int | None, paused: bool) -> None:
        self.kind, self.ready_after, self.paused = kind, ready_after, paused
        self.looks = 0

    def read_deployment_by_name(self, name: str) -> SimpleNamespace:
        if name == "stage/gone":
            raise ObjectNotFound(ValueError())
        pool = None if name == "stage/without-pool" else "vertex-l4"
        return SimpleNamespace(work_pool_name=pool)

    def read_work_pool(self, name: str) -> WorkPool:
        self.looks += 1
        ready = self.ready_after is not None and self.looks > self.ready_after
        status = WorkPoolStatus.PAUSED if self.paused else WorkPoolStatus.READY if ready else WorkPoolStatus.NOT_READY
        return WorkPool(name=name, type=self.kind, status=status, is_paused=self.paused, default_queue_id=uuid4())


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(places, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(places, "WORKER_SECONDS", 0.2)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", MLFLOW)

    def asking(
        kind: str = "vertex-ai",
        ready_after: int | None = 0,
        paused: bool = False,
        attempt: int = 1,
        stages: str = "stage/vertex-l4",
        **settings: Any,
    ) -> Server:
        server = Server(kind, ready_after, paused)
        monkeypatch.setattr(places, "get_client", lambda sync_client: nullcontext(server))
        monkeypatch.setattr(places, "runtime", SimpleNamespace(flow_run=SimpleNamespace(run_count=attempt)))
        require_places(validated({"execution": {"stages": stages}, **settings}))
        return server

    return asking


def test_what_is_there_and_reachable_may_begin(ask: Any) -> None:
    ask(**BUCKET)
    ask("process")  # on this machine, every folder and address is known


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"stages": "stage/gone", **BUCKET}, "stage/gone is no deployment of this Prefect server"),
        ({"stages": "stage/without-pool", **BUCKET}, "the work pool of stage/without-pool was deleted"),
        ({}, r"storage=runs is a folder of this machine, which a job of work pool vertex-l4 \(vertex-ai\) does not see"),
        ({"model": {"name": str(Path(__file__).parent)}, **BUCKET}, "model.name=.* is a folder of this machine"),
        ({"tracking_uri": "http://127.0.0.1:5000", **BUCKET}, "is an address of this machine"),
        ({"tracking_uri": "sqlite:////shop/mlflow.db", **BUCKET}, "to a file of this machine; name the server"),
        ({"paused": True, **BUCKET}, "work pool vertex-l4 is paused: prefect work-pool resume vertex-l4"),
        ({"ready_after": None, **BUCKET}, "no worker polls work pool vertex-l4"),
    ],
)  # fmt: skip
def test_what_would_end_it_later_is_one_sentence(settings: dict[str, Any], said: str, ask: Any) -> None:
    with pytest.raises(UserError, match=said):
        ask(**settings)


def test_without_an_mlflow_server_its_jobs_would_write_elsewhere(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI")
    with pytest.raises(UserError, match="this run would write to one beside its storage; name the server in MLFLOW_TR"):
        ask(**BUCKET)


def test_a_run_that_goes_on_does_not_ask_for_a_worker(ask: Any) -> None:
    """Its jobs may train on without one; they are waited for."""
    ask(ready_after=None, attempt=2, **BUCKET)
