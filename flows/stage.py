"""The stage flow: one stage of a pipeline that holds a model, on a machine of its own. Started by other flows."""

from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Completed

from tasks.benchmark import answer_with_models, time_models
from tasks.compare import answer_prompts
from tasks.preflight import check_before_grpo
from tasks.promote import merge
from tasks.public import answer_public
from tasks.running.deployed import held
from tasks.running.elsewhere import NOTHING, given_to
from tasks.running.labels import stage_name
from tasks.running.run import opened
from tasks.train import fine_tune
from tucano.errors import UserError
from tucano.security.printable import short
from tucano.settings import PipelineSettings

STAGES = {
    work.name: work
    for work in (fine_tune, check_before_grpo, answer_prompts, merge, answer_with_models, time_models, answer_public)
}
"""The stages that can be asked for, by name."""


@flow(name="stage", flow_run_name=stage_name)
def stage(
    settings: PipelineSettings, stage: str, given: dict[str, Any], tracking_run: str, slot: str | None = None
) -> State[None]:
    """One stage, from what the pipeline has made (`given`: names of artifacts in `settings.storage`).

    Ends Completed with the name of its artifact as the message. `slot` names a global concurrency limit to be held
    meanwhile.
    """
    work = STAGES.get(stage)
    if work is None:
        raise UserError(f"{short(stage)} is no stage that can run by itself; those are {', '.join(STAGES)}")
    with opened(settings, tracking_run) as run, held(slot):
        made = work.with_options(retries=settings.worker.retries)(run, **given_to(work, run.store, given))
    return Completed(message=made.artifact.name if made is not None else NOTHING)
