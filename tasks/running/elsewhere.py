"""Stages that hold a model, where `execution.stages` says: in this run, or each in a run of a deployment.

A stage elsewhere is the same task, called in the flow of `flows/stage.py` with the same handles: they travel as names
of artifacts, which both runs find in their common storage.
"""

import inspect
import types
import typing
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

from prefect.tasks import Task

from tasks.running.deployed import RunLost, artifact_of
from tasks.running.handles import Handle, SeedResult, Seeds
from tasks.running.run import Run, Untrained, stage
from tucano.artifacts.store import Store
from tucano.errors import UserError, WorkerFailed

P = ParamSpec("P")
R = TypeVar("R")
NOTHING = ""
"""The name of what a stage has not made, where it may make nothing."""


def where(run: Run, work: Task[P, R]) -> Callable[P, R]:
    """`work` in this run, or in one of the deployment that `execution.stages` names, unless its artifact is there
    already.
    """
    if run.settings.execution.stages is None:
        return work.with_options(retries=run.settings.worker.retries)

    def elsewhere(*args: P.args, **kwargs: P.kwargs) -> R:
        function: Callable[..., R] = work.fn
        given = inspect.signature(function).bind(*args, **kwargs).arguments
        try:
            return function(**{**given, "run": replace(run, makes=False)})
        except Untrained:
            packed = {name: pack(value) for name, value in given.items() if name != "run"}
            name = await_stage(run, work.name, packed)
        made: R = adopted(run, typing.get_type_hints(work.fn)["return"], name)
        return made

    return elsewhere


@stage("stage run", task_run_name="{name}")
def await_stage(run: Run, name: str, given: dict[str, Any]) -> str:
    """The name of the artifact that a run of the deployment `execution.stages` makes. WorkerFailed where it makes
    none.
    """
    try:
        parameters = {"stage": name, "given": given}
        return artifact_of(run, str(run.settings.execution.stages), name, parameters, failed_again=True)
    except RunLost as lost:
        raise WorkerFailed(
            f"{name} was not done: {lost}. Mend that, then Retry this run: it asks for {name} again"
        ) from None


def pack(value: Any) -> Any:
    """A stage's argument as JSON."""
    match value:
        case Handle():
            return value.artifact.name
        case Seeds():
            return {"trained": [pack(seed) for seed in value.trained], "missing": dict(value.missing)}
        case list() | tuple():
            return [pack(one) for one in value]
        case None | int() | str():
            return value
    raise AssertionError(f"a stage elsewhere cannot be given a {type(value).__name__}")


def unpack(store: Store, kind: Any, value: Any) -> Any:
    """What `pack` was given, by the type that the stage's parameter has."""
    if value is None:
        return None
    kind = _without_none(kind)
    if typing.get_origin(kind) is Sequence:
        (item,) = typing.get_args(kind)
        return tuple(unpack(store, item, one) for one in value)
    if kind is Seeds:
        trained = tuple(SeedResult(store.named(name)) for name in value["trained"])
        return Seeds(trained, {int(seed): why for seed, why in value["missing"].items()})
    return kind(store.named(value)) if issubclass(kind, Handle) else value


def given_to(work: Task[..., Any], store: Store, packed: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a stage beside its run. UserError where they are not those of this stage: a person may have
    written them into a form.
    """
    kinds = typing.get_type_hints(work.fn)
    wanted = [name for name in inspect.signature(work.fn).parameters if name != "run"]
    if sorted(packed) != sorted(wanted):
        raise UserError(f"{work.name} is given {', '.join(wanted)}; leave its start to the run that needs it")
    try:
        return {name: unpack(store, kinds[name], packed[name]) for name in wanted}
    except (AttributeError, KeyError, TypeError):
        raise UserError(
            f"what {work.name} is given are no names of artifacts; leave its start to the run that needs it"
        ) from None


def adopted(run: Run, kind: Any, name: str) -> Any:
    """The handle of an artifact that another run has made, or None where it had nothing to make."""
    return None if name == NOTHING else _without_none(kind)(run.adopt(name))


def _without_none(kind: Any) -> Any:
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        (kind,) = (one for one in typing.get_args(kind) if one is not type(None))
    return kind
