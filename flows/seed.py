"""The seed flow: one seed of a pipeline, on a machine of its own. Started by the train flow, once per seed."""

from collections.abc import Iterator
from contextlib import contextmanager

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.concurrency.sync import concurrency
from prefect.states import Completed

from tasks.handles import PromptSet, Start
from tasks.running.labels import seed_name
from tasks.running.run import opened
from tasks.train import train_seed
from tucano.settings import PipelineSettings


@contextmanager
def held(slot: str | None) -> Iterator[None]:
    """Hold a slot of a global concurrency limit, if one is named. Once training, an outage of the server does not end
    it.
    """
    if slot is None:
        yield
    else:
        with concurrency(slot, strict=True, raise_on_lease_renewal_failure=False):
            yield


@flow(name="seed", flow_run_name=seed_name)
def seed(
    settings: PipelineSettings, seed: int, prompts: str, start: str | None, tracking_run: str, slot: str | None = None
) -> State[None]:
    """GRPO with one seed, from prompts and start that the pipeline has made (names of artifacts in `settings.storage`).

    Ends Completed with the name of the SeedResult as its message. `slot` names a global concurrency limit to be held
    while training.
    """
    with opened(settings, tracking_run) as run, held(slot):
        asked, begun = PromptSet(run.store.named(prompts)), Start(run.store.named(start)) if start else None
        made = train_seed.with_options(retries=settings.worker.retries)(run, asked, begun, seed)
    return Completed(message=made.artifact.name)
