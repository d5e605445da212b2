"""The end of the way: what was merged is registered, fetched, loaded and asked, as `tucano serve` does it."""

import asyncio

from tasks.promote import register
from tasks.running.handles import Merged, PromptSet, SeedResult
from tasks.running.run import Run, stage
from tucano.prompts import read_prompts
from tucano.serving.answers import Answer, Ask
from tucano.serving.metrics import Metrics
from tucano.serving.versions import Versions


@stage("served answer")
def answer_served(run: Run, prompts: PromptSet, best: SeedResult, merged: Merged) -> Answer:
    """The merged model's answer to a test prompt. Its version has no alias, in the rehearsal's own registry."""
    version = register(run, prompts, best, merged, [], {}, "of a rehearsal")
    prompt = read_prompts(prompts.files.test)[0]
    return asyncio.run(_answered(run, f"{run.settings.promotion.model}/{version}", Ask(prompt.task, prompt.user)))


async def _answered(run: Run, reference: str, ask: Ask) -> Answer:
    versions = Versions(run.settings, run.tracker, run.store.root / "serving", [reference], Metrics())
    try:
        await versions.open()
        return await versions.answer(reference, ask)
    finally:
        await versions.close()
