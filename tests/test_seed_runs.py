"""The runs of seeds on a work pool, and what Prefect calls late."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
from prefect.client.schemas.objects import FlowRun, State
from prefect.states import Cancelled, Cancelling, Pending, Running

from tasks.running import deployed


class Server:
    """The two calls of Prefect's client that the hook makes, on a pipeline's run and the run of its seed."""

    def __init__(self, parent: State[Any], child: State[Any]) -> None:
        self.parent = FlowRun(flow_id=uuid4(), state=parent)
        self.child = FlowRun(flow_id=uuid4(), state=child)

    def read_flow_run(self, identity: UUID) -> FlowRun:
        assert identity == self.parent.id
        return self.parent

    def read_flow_runs(self, flow_run_filter: Any) -> list[FlowRun]:
        assert flow_run_filter.parent_flow_run_id.any_ == [self.parent.id]
        return [self.child]

    def set_flow_run_state(self, identity: UUID, state: State[Any]) -> None:
        assert identity == self.child.id
        self.child.state = state


@pytest.mark.parametrize("parent", [Cancelling(), Cancelled()])
def test_seeds_of_a_cancelled_run_are_cancelled_with_it(monkeypatch: pytest.MonkeyPatch, parent: State[Any]) -> None:
    server = Server(parent, Running())
    monkeypatch.setattr(deployed, "get_client", lambda sync_client: nullcontext(server))
    deployed.cancel_children(SimpleNamespace(), server.parent, Cancelled())
    assert server.child.state is not None and server.child.state.is_cancelling()


def test_a_late_hook_leaves_the_seeds_of_a_run_that_was_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen on a busy machine: a retry within seconds, and the hook of the cancellation took one seed away from it."""
    server = Server(Running(), Pending())
    cancelled = FlowRun(id=server.parent.id, flow_id=uuid4(), state=Cancelled())
    monkeypatch.setattr(deployed, "get_client", lambda sync_client: nullcontext(server))
    deployed.cancel_children(SimpleNamespace(), cancelled, Cancelled())
    assert server.child.state is not None and server.child.state.is_pending()
