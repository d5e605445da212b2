"""The train flow: from data to a promoted adapter, one page."""

from prefect import flow

from tasks.audit import audit_rewards, pass_gate
from tasks.compare import answer_prompts, compare_arms
from tasks.context import opened
from tasks.evaluations import show_answers
from tasks.preflight import check_before_grpo, pass_preflight
from tasks.prepare import prepare_data
from tasks.promote import promote
from tasks.reaudit import audit_again
from tasks.report import write_report
from tasks.train import fine_tune, train_seed
from tucano.settings import PipelineSettings


@flow(name="train", flow_run_name="train-{settings.model.name}-{settings.grpo.rewards}-{settings.data.source}")
def train(settings: PipelineSettings) -> str:
    """Prepare data, audit the rewards, SFT, preflight, GRPO with every seed, audit again, compare on held-out prompts, promote, report.

    Returns the path of the report. Every stage is a retryable task whose valid artifact is reused.
    """
    with opened(settings) as run:
        prompts = prepare_data(run)
        audit = audit_rewards(run)
        pass_gate(run, audit)
        start = fine_tune(run, prompts) if settings.sft.enabled else None
        preflight = check_before_grpo(run, prompts, start)
        pass_preflight(run, preflight)
        training = [
            train_seed.with_options(retries=settings.worker.retries).submit(run, prompts, start, seed) for seed in settings.grpo.seeds
        ]
        seeds = [future.result() for future in training]
        answers = answer_prompts(run, prompts, start, seeds)
        reaudit = audit_again(run, prompts, start, seeds, answers)
        comparison = compare_arms(run, prompts, start, seeds, answers)
        shown = show_answers.submit(run, prompts, start, seeds, answers, comparison)
        promotion = promote(run, prompts, audit, start, seeds, answers, reaudit, comparison)
        shown.result()
        return write_report(run, prompts, audit, seeds, reaudit, comparison, promotion)
