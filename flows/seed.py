"""The seed flow: one seed of a pipeline, or the few that share a machine. Started by the train flow."""

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Completed

from tasks.running.deployed import held
from tasks.running.handles import Preferences, PromptSet, Start
from tasks.running.labels import seed_name
from tasks.running.run import opened
from tasks.train import gather, train_seed
from tucano.settings import PipelineSettings


@flow(name="seed", flow_run_name=seed_name)
def seed(
    settings: PipelineSettings,
    seed: int | list[int],
    prompts: str,
    start: str | None,
    tracking_run: str,
    slot: str | None = None,
    preferences: str | None = None,
) -> State[None]:
    """GRPO with one seed, with DPO after it where asked for, from what the pipeline has made: `prompts`, `start` and
    `preferences` are names of artifacts in `settings.storage`.

    Several seeds train side by side. Ends Completed with the names of the SeedResults as its message. `slot` names a
    global concurrency limit to be held while training.
    """
    with opened(settings, tracking_run) as run, held(slot):
        asked = PromptSet(run.store.named(prompts))
        begun = Start(run.store.named(start)) if start else None
        preferred = Preferences(run.store.named(preferences)) if preferences else None
        work = train_seed.with_options(retries=settings.worker.retries)
        if isinstance(seed, int):
            return Completed(message=work(run, asked, begun, seed, preferred).artifact.name)
        made = gather(run, {one: work.submit(run, asked, begun, one, preferred) for one in seed}).trained
    return Completed(message=" ".join(one.artifact.name for one in made))
