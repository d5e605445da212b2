"""The seed flow: one seed of a pipeline, on a machine of its own. Started by the train flow, once per seed."""

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Completed

from tasks.running.deployed import held
from tasks.running.handles import Preferences, PromptSet, Start
from tasks.running.labels import seed_name
from tasks.running.run import opened
from tasks.train import train_seed
from tucano.settings import PipelineSettings


@flow(name="seed", flow_run_name=seed_name)
def seed(
    settings: PipelineSettings,
    seed: int,
    prompts: str,
    start: str | None,
    tracking_run: str,
    slot: str | None = None,
    preferences: str | None = None,
) -> State[None]:
    """GRPO with one seed, with DPO after it where asked for, from what the pipeline has made: `prompts`, `start` and
    `preferences` are names of artifacts in `settings.storage`.

    Ends Completed with the name of the SeedResult as its message. `slot` names a global concurrency limit to be held
    while training.
    """
    with opened(settings, tracking_run) as run, held(slot):
        asked = PromptSet(run.store.named(prompts))
        begun = Start(run.store.named(start)) if start else None
        preferred = Preferences(run.store.named(preferences)) if preferences else None
        made = train_seed.with_options(retries=settings.worker.retries)(run, asked, begun, seed, preferred)
    return Completed(message=made.artifact.name)
